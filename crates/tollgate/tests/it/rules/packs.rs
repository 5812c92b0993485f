//! The packs: each rule does what its own examples say, asked through the real program.

use serde_json::{Value, json};

use super::examples::{self, Call, Example, Surroundings};
use super::{answer, command, ruled};
use crate::events::{Event as _, stop, tool};
use crate::project::{TestProject, running};

/// A project as examples want it.
fn project(around: &Surroundings) -> TestProject {
    let project = match &around.phase {
        Some(phase) => TestProject::new().state(&running(phase, "in_progress")),
        None => TestProject::empty(),
    };
    for file in ["sub/x", "web/x", "db/migrations/x", "src/x"] {
        project.file(file, "");
    }
    // A home that is not in a directory for temporary files, which `destructive` leaves alone.
    let project = project.env("HOME", "/home/you").with_toml(&around.rules);
    let state = project.outside().join("state").display().to_string();
    let project = project
        .env("XDG_STATE_HOME", &state)
        .on_branch(&around.branch);
    project.must(&["rules", "test"]).says("all as expected");
    project.commit("all");
    if let Some(file) = &around.read_before {
        project
            .hook(&command(&format!("cat {file}")))
            .says_nothing();
    }
    project
}

fn event(project: &TestProject, example: &Example) -> Value {
    let event = match &example.call {
        Call::Run(text) => return command(text),
        Call::Write(path) => tool(
            "Edit",
            &json!({ "file_path": path, "old_string": "a", "new_string": "b" }),
        ),
        Call::Read(path) => tool("Read", &json!({ "file_path": path })),
        Call::Changed(files) => {
            for file in files {
                project.file(file, "changed");
            }
            stop()
        }
    };
    event.in_session("s").with("permission_mode", "default")
}

#[test]
fn every_example_of_every_pack_and_of_the_page_comes_out_through_the_program() {
    let mut asked = 0;
    for (around, examples) in examples::all() {
        let usual = project(&around);
        for example in &examples {
            // Other agents' own words are tried elsewhere.
            if example.agent.is_some() {
                continue;
            }
            let fresh = matches!(example.call, Call::Changed(_)).then(|| project(&around));
            let project = fresh.as_ref().unwrap_or(&usual);
            let run = project.hook(&event(project, example));
            let is_met = run.stdout.contains(&example.code);
            assert_eq!(is_met, example.is_match, "{around:?} {example:?}: {run:?}");
            if example.is_match && matches!(example.call, Call::Run(_) | Call::Write(_)) {
                let answer = answer(&run);
                let is_as_wanted = answer.as_deref() == Some(example.verdict);
                assert!(is_as_wanted || answer.as_deref() == Some("deny"), "{run:?}");
            }
            asked += 1;
        }
    }
    assert!(asked > 150, "{asked}");
}

#[test]
fn a_pack_is_added_once_and_in_the_mode_that_is_asked_for() {
    let project = ruled("");
    project
        .must(&["rules", "add"])
        .says("git-safety")
        .says("phase-order");
    project.must(&["rules", "add", "git-safety", "--mode", "watch"]);
    project
        .hook(&command("git push --force origin main"))
        .says_nothing();
    project
        .tollgate(&["rules", "add", "git-safety"])
        .exits(1)
        .says("the rules of git-safety are there already: tollgate.toml:")
        .says("without a `mode` they are enforced");
    project.must(&["rules", "add", "git-safety", "--local"]);
    project
        .tollgate(&["rules", "add", "git-safty"])
        .exits(2)
        .says("did you mean `git-safety`?");
    project
        .must(&["rules", "list"])
        .says("git-force-push  deny, watch")
        .says("watched 1×");
}

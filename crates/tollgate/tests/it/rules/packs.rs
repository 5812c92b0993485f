//! The packs: each rule does what its own examples say, asked through the real program.

use serde_json::{Value, json};
use toml_edit::{DocumentMut, Item, Table, Value as Toml};

use super::{answer, command, ruled};
use crate::events::{Event as _, tool};
use crate::project::TestProject;

const PACKS: [&str; 5] = [
    "git-safety",
    "destructive",
    "secrets",
    "migrations",
    "phase-order",
];

/// The event of an example, if it says nothing that one event alone does not show.
fn event(example: &Toml) -> Option<Value> {
    if let Some(text) = example.as_str() {
        return Some(command(text));
    }
    let table = example.as_inline_table()?;
    if table.len() > 1 {
        return None;
    }
    let (key, path) = table.iter().next()?;
    let path = path.as_str()?;
    let event = match key {
        "edit" => tool(
            "Edit",
            &json!({ "file_path": path, "old_string": "a", "new_string": "b" }),
        ),
        "write" => tool("Write", &json!({ "file_path": path, "content": "b" })),
        "read" => tool("Read", &json!({ "file_path": path })),
        "run" => return Some(command(path)),
        _ => return None,
    };
    Some(event.in_session("s").with("permission_mode", "default"))
}

fn examples<'t>(rule: &'t Table, key: &str) -> impl Iterator<Item = &'t Toml> {
    rule.get(key).and_then(Item::as_array).into_iter().flatten()
}

#[test]
fn every_example_of_every_pack_comes_out_through_the_program() {
    let mut asked = 0;
    for pack in PACKS {
        // A home that is not in a directory for temporary files, which `destructive` leaves alone.
        let project = TestProject::empty()
            .on_branch("main")
            .env("HOME", "/home/you");
        let state = project.outside().join("state").display().to_string();
        let project = project.env("XDG_STATE_HOME", &state);
        for file in ["sub/x", "web/x", "db/migrations/x", "src/x"] {
            project.file(file, "");
        }
        project.must(&["rules", "add", pack]);
        project.must(&["rules", "test"]).says("all as they should");
        let text = project.read("tollgate.toml");
        let file: DocumentMut = text.parse().unwrap();
        for rule in file["rule"].as_array_of_tables().unwrap() {
            let id = rule["id"].as_str().unwrap();
            let code = format!("RULE:{id}");
            // What holds in a phase or after something else is asked elsewhere.
            if ["when", "after", "changed_with"]
                .iter()
                .any(|key| rule.contains_key(key))
            {
                continue;
            }
            let wanted = ["deny", "ask"]
                .into_iter()
                .find(|key| rule.contains_key(key));
            for event in examples(rule, "match").filter_map(event) {
                let run = project.hook(&event);
                assert!(run.stdout.contains(&code), "{code} {event}: {run:?}");
                let answer = answer(&run);
                assert!(
                    answer.as_deref() == wanted || answer.as_deref() == Some("deny"),
                    "{run:?}"
                );
                asked += 1;
            }
            for event in examples(rule, "not_match").filter_map(event) {
                let run = project.hook(&event);
                assert!(!run.stdout.contains(&code), "{code} {event}: {run:?}");
                asked += 1;
            }
        }
    }
    assert!(asked > 90, "{asked}");
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
        .exits(2)
        .says("is there already");
    project
        .tollgate(&["rules", "add", "git-safty"])
        .exits(2)
        .says("did you mean `git-safety`?");
    project
        .must(&["rules", "list"])
        .says("git-force-push  deny, watch")
        .says("watched 1×");
}

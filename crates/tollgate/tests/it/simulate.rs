//! What a person reads when they try an event by hand.

use serde_json::Value;

use crate::events::{Event as _, bash, task};
use crate::project::{TestProject, running, with_branch};

#[test]
fn the_readmes_first_command_shows_a_block_and_why() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let project = TestProject::empty();
    let file = format!("{root}/examples/out-of-order.json");
    let place = format!("{root}/examples/shop");
    let run = project.run(
        &["simulate", &file, "--project", &place, "--exit-code"],
        b"",
    );
    assert_eq!(run.code, 1, "{run:?}");
    let run = project.run(&["simulate", &file, "--project", &place], b"");
    assert_eq!(run.code, 0, "{run:?}");
    let text = run.stdout.lines().skip(1).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(text);
    assert!(
        !std::path::Path::new(&place).join(".tollgate").exists(),
        "nothing is touched"
    );
}

#[test]
fn simulate_decides_from_standard_input_and_prints_json() {
    let project = TestProject::new().state(&running("06-implementation", "in_progress"));
    project.file("docs/isdlc/tasks.md", "");
    let event = task("software-developer", "x").to_string();
    let run = project.run(&["simulate", "-", "--json"], event.as_bytes());
    assert_eq!(run.code, 0, "{run:?}");
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answer["blocked"], false);
    let guards = answer["guards"].as_array().unwrap();
    assert!(guards.len() >= 3, "{answer}");
    assert!(
        guards.iter().all(|guard| guard["verdict"] == "allow"),
        "{answer}"
    );
}

#[test]
fn simulate_says_what_is_wrong_and_what_to_do() {
    let project = TestProject::empty();
    let run = project.run(&["simulate", "nowhere.json"], b"");
    assert_eq!(run.code, 2);
    assert!(
        run.stderr
            .contains("nowhere.json: No such file or directory"),
        "{run:?}"
    );
    let run = project.run(&["simulate", "-"], b"[]");
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("an array") && run.stderr.contains("hint"),
        "{run:?}"
    );
    let run = project.run(&["simulate", "-"], b"{}");
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("is not in a project"), "{run:?}");
}

/// What leads out of a block is a part of what the agent reads.
#[test]
fn the_next_step_is_shown_as_the_agent_reads_it() {
    let project = TestProject::new()
        .state(&with_branch("active"))
        .on_branch("main");
    project.git(&["branch", "feature/x"]);
    let event = bash("git commit -m x").in_session("s");
    let next = "Next: run `git switch feature/x`";
    let run = project.hook(&event);
    assert!(run.stdout.contains(next), "{run:?}");
    let text = event.to_string();
    let shown = project.run(&["simulate", "-"], text.as_bytes());
    shown.exits(0).says(next);
    let shown = project
        .run(&["simulate", "-", "--json"], text.as_bytes())
        .json();
    let guards = shown["guards"].as_array().unwrap();
    let found = guards
        .iter()
        .find(|one| one["guard"] == "branch-guard")
        .unwrap();
    let next = found["findings"][0]["next"].as_str().unwrap();
    assert!(next.starts_with("run `git switch feature/x`"), "{shown}");
}

//! Settings in the shape of specification 000 §5: each guard alone by its name.

use serde_json::{Value, json};

use crate::context::{Project, running, task};

#[test]
fn every_guard_answers_to_its_name_and_to_the_originals_file_name() {
    let project = Project::new().state(&running("03-architecture", "in_progress"));
    let listed = project.run(&["guards", "--json"], b"");
    let guards: Value = serde_json::from_str(&listed.stdout).unwrap();
    let names: Vec<_> = guards
        .as_array()
        .unwrap()
        .iter()
        .map(|g| g["name"].as_str().unwrap())
        .collect();
    for expected in [
        "phase-loop-controller",
        "plan-surfacer",
        "phase-sequence-guard",
        "branch-guard",
        "state-write-validator",
        "walkthrough-tracker",
        "discover-menu-guard",
        "iteration-corridor",
        "gate-blocker",
        "constitution-validator",
        "constitutional-iteration-validator",
        "test-adequacy-blocker",
        "blast-radius-validator",
        "state-file-guard",
        "explore-readonly-enforcer",
        "delegation-gate",
    ] {
        assert!(names.contains(&expected), "{expected}");
    }
    let event = task("software-developer", "x");
    for name in names {
        for form in [name.to_owned(), format!("{name}.cjs")] {
            let run = project.guard(&form, &event);
            assert_eq!(run.code, 0);
            let speaks = matches!(name, "phase-sequence-guard" | "phase-loop-controller");
            assert_eq!(!run.stdout.is_empty(), speaks, "{form} {run:?}");
        }
    }
}

#[test]
fn event_supplies_a_missing_name_and_wire_decides_the_dialect() {
    let project = Project::new().state(&running("03-architecture", "in_progress"));
    let event = task("software-developer", "x").to_string();
    // After the fact there is nothing left to block.
    project
        .run(&["hook", "--event", "PostToolUse"], event.as_bytes())
        .says_nothing();
    let run = project.run(
        &["hook", "--wire", "claude", "--event", "PreToolUse"],
        event.as_bytes(),
    );
    assert!(run.denies().starts_with("OUT-OF-ORDER"));
    let run = project.run(
        &["hook", "--wire=copilot", "--event=preToolUse"],
        event.as_bytes(),
    );
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answer["permissionDecision"], json!("deny"));
}

//! Settings in the shape of specification 000 §5: each guard alone by its name.

use serde_json::{Value, json};

use crate::events::task;
use crate::project::{TestProject, running};

#[test]
fn every_guard_answers_to_its_name_and_to_the_originals_file_name() {
    let project = TestProject::new().state(&running("03-architecture", "in_progress"));
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
fn event_supplies_a_missing_name_and_protocol_decides_the_dialect() {
    let project = TestProject::new().state(&running("03-architecture", "in_progress"));
    let event = task("software-developer", "x").to_string();
    // After the fact there is nothing left to block.
    project
        .run(&["hook", "--event", "PostToolUse"], event.as_bytes())
        .says_nothing();
    // Registrations of earlier versions say `--wire`.
    for option in ["--protocol", "--wire"] {
        let run = project.run(
            &["hook", option, "claude", "--event", "PreToolUse"],
            event.as_bytes(),
        );
        assert!(run.denies().starts_with("OUT-OF-ORDER"));
        let copilot = format!("{option}=copilot");
        let run = project.run(&["hook", &copilot, "--event=preToolUse"], event.as_bytes());
        let answer: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(answer["permissionDecision"], json!("deny"));
    }
}

/// The twenty registrations of specification 000 §5.
pub(crate) const REGISTRATIONS: &[(&str, &str, &[&str])] = &[
    (
        "PreToolUse",
        "Task",
        &[
            "iteration-corridor",
            "skill-validator",
            "phase-loop-controller",
            "plan-surfacer",
            "phase-sequence-guard",
            "gate-blocker",
            "constitution-validator",
        ],
    ),
    (
        "PreToolUse",
        "Skill",
        &["iteration-corridor", "gate-blocker"],
    ),
    ("PreToolUse", "Bash", &["branch-guard"]),
    (
        "PostToolUse",
        "Task",
        &[
            "log-skill-usage",
            "menu-tracker",
            "walkthrough-tracker",
            "discover-menu-guard",
        ],
    ),
    ("PostToolUse", "Skill", &["skill-delegation-enforcer"]),
    ("PostToolUse", "Bash", &["test-watcher", "review-reminder"]),
    ("PostToolUse", "Write", &["state-write-validator"]),
    ("PostToolUse", "Edit", &["state-write-validator"]),
    ("Stop", "", &["delegation-gate"]),
];

#[test]
fn the_twenty_registrations_of_specification_000_work() {
    let project = TestProject::new().state(&running("03-architecture", "in_progress"));
    let mut count = 0;
    for (event, tool, guards) in REGISTRATIONS {
        for guard in *guards {
            count += 1;
            let input = json!({ "hook_event_name": event, "session_id": "s", "tool_name": tool,
                "tool_input": { "subagent_type": "software-developer", "command": "ls", "skill": "isdlc",
                    "file_path": "x", "content": "x", "old_string": "a", "new_string": "b" },
                "tool_response": "ok" });
            let run = project.guard(guard, &input);
            assert_eq!(run.code, 0, "{guard} {run:?}");
            assert!(!run.stdout.contains("no such guard"), "{guard} {run:?}");
        }
    }
    assert_eq!(count, 20);
}

#[test]
fn the_dispatchers_of_the_original_stand_for_their_events() {
    let project = TestProject::new().state(&running("03-architecture", "in_progress"));
    let event = task("software-developer", "x");
    project
        .guard("pre-task-dispatcher", &event)
        .blocks("OUT-OF-ORDER");
    project
        .guard("pre-task-dispatcher.cjs", &event)
        .blocks("OUT-OF-ORDER");
    for name in [
        "post-task-dispatcher",
        "post-bash-dispatcher",
        "post-write-edit-dispatcher",
    ] {
        assert_eq!(project.guard(name, &event).stdout, "", "{name}");
    }
    let skill = json!({ "tool_name": "Skill", "tool_input": { "skill": "x" } });
    project.guard("pre-skill-dispatcher", &skill).says_nothing();
}

#[test]
fn a_bare_stop_is_answered_as_its_guard_expects() {
    let marker = json!({ "skill": "isdlc", "args": "feature x", "required_agent": "sdlc-orchestrator",
        "invoked_at": jiff::Timestamp::now().to_string() });
    let project = TestProject::new().state(&json!({ "pending_delegation": marker }));
    let event = json!({ "stop_hook_active": false });
    let run = project.guard("delegation-gate", &event);
    assert!(
        run.stdout
            .starts_with("{\"decision\":\"block\",\"reason\":\"You loaded /isdlc"),
        "{run:?}"
    );
    TestProject::new()
        .state(&json!({}))
        .guard("delegation-gate", &event)
        .says_nothing();
}

#[test]
fn a_guard_that_is_asked_afterwards_takes_a_bare_event_for_one() {
    // The originals' hooks do not look whether a result came along.
    let project = TestProject::new().state(&json!({ "active_workflow": null }));
    let skill =
        json!({ "tool_name": "Skill", "tool_input": { "skill": "isdlc", "args": "feature x" } });
    let told = project.guard("skill-delegation-enforcer", &skill).stdout;
    let line = "MANDATORY: You have loaded the /isdlc command.";
    assert!(told.starts_with(line), "{told}");
    // And a stop says nothing about itself at all.
    let stopped = project.run(&["hook", "--guard", "delegation-gate"], b"{}");
    let block = r#"{"decision":"block","reason":"You loaded /isdlc"#;
    assert!(stopped.stdout.starts_with(block), "{stopped:?}");

    let project = TestProject::new().state(&running("06-implementation", "in_progress"));
    // What the event says itself, and what `--event` says, goes first.
    let event = task("software-developer", "x");
    let mut before = event.clone();
    before["hook_event_name"] = json!("PreToolUse");
    project.guard("log-skill-usage", &before).allows();
    let args = [
        "hook",
        "--event",
        "PreToolUse",
        "--guard",
        "log-skill-usage",
    ];
    project.run(&args, event.to_string().as_bytes()).allows();
    let state = project.read(".isdlc/state.json");
    assert!(!state.contains("skill_usage_log"), "{state}");
    project.guard("log-skill-usage", &event).says_nothing();
    let state: Value = serde_json::from_str(&project.read(".isdlc/state.json")).unwrap();
    assert_eq!(state["skill_usage_log"][0]["agent"], "software-developer");
}

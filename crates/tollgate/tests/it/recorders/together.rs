//! Events that end at the same time, and guards that meet at one event.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use super::{finished, state};
use crate::events::{Event as _, task};
use crate::project::{TestProject, running};

/// R25: writes at the same time lost entries and reset the version.
#[test]
fn r25_eight_tasks_that_end_together_leave_eight_entries() {
    let project = TestProject::new().state(&running("06-implementation", "in_progress"));
    let children: Vec<_> = (0..8)
        .map(|n| {
            let mut command = project.command(&["hook"]);
            command
                .env("CLAUDE_PROJECT_DIR", project.root())
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            let mut child = command.spawn().unwrap();
            let event = task(&format!("agent-{n}"), "x")
                .in_session("s")
                .call(&format!("t{n}"))
                .done(json!({ "status": "completed", "content": [] }));
            let mut stdin = child.stdin.take().unwrap();
            stdin.write_all(event.to_string().as_bytes()).unwrap();
            child
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    // What had to wait for the lock is brought in by the next event.
    project.hook(&finished("last", "x", "y"));
    let state = state(&project);
    let mut agents: Vec<_> = state["skill_usage_log"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["agent"].as_str().unwrap().to_owned())
        .collect();
    agents.sort();
    let mut expected: Vec<_> = (0..8).map(|n| format!("agent-{n}")).collect();
    expected.push("last".to_owned());
    assert_eq!(agents, expected);
    assert!(state["state_version"].as_u64().unwrap() > 1);
}

#[test]
fn all_changes_of_one_event_are_one_write() {
    let project = TestProject::new().state(&running("01-requirements", "in_progress"));
    let run = project.hook(&finished("requirements-analyst", "x", "selected: [S] Save"));
    assert!(
        run.stdout
            .starts_with("✅ INTERACTIVE ELICITATION COMPLETED"),
        "{run:?}"
    );
    let state = state(&project);
    assert_eq!(state["state_version"], 2);
    assert_eq!(state["skill_usage_log"].as_array().unwrap().len(), 1);
    let record = &state["phases"]["01-requirements"]["iteration_requirements"];
    assert_eq!(record["interactive_elicitation"]["final_selection"], "save");
}

/// D4: the guards that watch discovery run after every Task, whatever the workflow.
#[test]
fn d4_all_guards_of_a_task_run_whatever_the_workflow() {
    let mut state = running("01-requirements", "in_progress");
    state["discovery_context"] = json!({ "x": 1 });
    let project = TestProject::new().state(&state);
    let result = format!(
        "1. New Project\nWould you like to proceed?\n[1] One\n[O] Other\n{}",
        "x".repeat(300)
    );
    project.hook(&finished("discover-orchestrator", "discover", &result));
    assert_eq!(project.codes(), ["WT-001", "DMG-001", "PTE-001", "MHE-001"]);
    let log: Value = super::state(&project)["skill_usage_log"].clone();
    assert_eq!(log.as_array().unwrap().len(), 1);
}

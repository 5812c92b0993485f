//! §13.2, 12 cases.

use serde_json::json;

use crate::events::{Event as _, bash, task};
use crate::project::{TestProject, running};

const NAME: &str = "phase-loop-controller";
const PREFIX: &str = "PHASE DELEGATION WITHOUT PROGRESS TRACKING: You are delegating to phase agent 'software-developer' for phase '06-implementation', but the phase task has not been marked as in_progress.";

fn in_phase(status: &str) -> TestProject {
    TestProject::new().state(&running("06-implementation", status))
}

/// Case 1: a delegation while the phase is pending is blocked.
#[test]
fn t01_blocks_a_delegation_while_the_phase_is_pending() {
    let project = in_phase("pending");
    let reason = project
        .guard(NAME, &task("software-developer", "build it"))
        .blocks(PREFIX);
    assert!(
        reason.ends_with("Current phase status: pending"),
        "{reason}"
    );
    assert!(reason.contains("2. Call TaskUpdate to set the task status to in_progress"));
    assert_eq!(project.codes(), ["PLC-001"]);
}

#[test]
fn a_real_agent_is_told_the_command_that_helps() {
    let project = in_phase("pending");
    let bare = project
        .guard(NAME, &task("software-developer", "build it"))
        .blocks(PREFIX);
    let event = task("software-developer", "build it")
        .in_session("s")
        .in_directory(project.root());
    let reason = project.guard(NAME, &event).denies();
    let next = "Next: run `tollgate phase begin 06-implementation`, then try again.";
    assert_eq!(reason, format!("{bare}\n\n{next}"));
    let begun = project.run(&["phase", "begin", "06-implementation"], b"");
    assert_eq!(begun.code, 0, "{begun:?}");
    project.guard(NAME, &event).says_nothing();
}

/// Case 2: a delegation without an entry for the phase is blocked.
#[test]
fn t02_blocks_when_there_is_no_phase_entry() {
    for phases in [
        json!({}),
        json!(null),
        json!({ "01-requirements": { "status": "completed" } }),
    ] {
        let mut state = running("06-implementation", "pending");
        state["phases"] = phases;
        let project = TestProject::new().state(&state);
        let reason = project
            .guard(NAME, &task("software-developer", "build it"))
            .blocks(PREFIX);
        assert!(
            reason.ends_with("Current phase status: not set"),
            "{reason}"
        );
    }
}

/// Case 3: the phase is in progress: allowed.
#[test]
fn t03_allows_while_the_phase_is_in_progress() {
    in_phase("in_progress")
        .guard(NAME, &task("software-developer", "build it"))
        .says_nothing();
}

/// Case 4: the phase is completed: allowed.
#[test]
fn t04_allows_when_the_phase_is_completed() {
    in_phase("completed")
        .guard(NAME, &task("software-developer", "build it"))
        .says_nothing();
}

/// Case 5: tools other than Task are allowed.
#[test]
fn t05_allows_other_tools() {
    in_phase("pending").guard(NAME, &bash("ls")).says_nothing();
}

/// Case 6: what is no delegation is allowed.
#[test]
fn t06_allows_what_is_no_delegation() {
    in_phase("pending")
        .guard(NAME, &task("Explore", "look around"))
        .says_nothing();
}

/// Case 7: without a workflow everything is allowed.
#[test]
fn t07_allows_without_a_workflow() {
    for none in [json!({ "active_workflow": null }), json!({ "phases": {} })] {
        let project = TestProject::new().state(&none);
        project
            .guard(NAME, &task("software-developer", "build it"))
            .says_nothing();
    }
}

/// Case 8: without a current phase everything is allowed.
#[test]
fn t08_allows_without_a_current_phase() {
    let project = TestProject::new().state(&json!({ "active_workflow": { "type": "feature" } }));
    project
        .guard(NAME, &task("software-developer", "build it"))
        .says_nothing();
}

/// Case 9: setup commands are allowed.
#[test]
fn t09_allows_setup_commands() {
    let project = in_phase("pending");
    project
        .guard(NAME, &task("discover-orchestrator", "discover the project"))
        .says_nothing();
    project
        .guard(
            NAME,
            &task("", "configure the cloud for software-developer"),
        )
        .says_nothing();
}

/// Case 10: empty input is allowed.
#[test]
fn t10_allows_on_empty_input() {
    in_phase("pending")
        .run(&["hook", "--guard", NAME], b"")
        .allows();
}

/// Case 11: input that is no JSON is allowed.
#[test]
fn t11_allows_on_input_that_is_no_json() {
    in_phase("pending")
        .run(&["hook", "--guard", NAME], b"not json")
        .allows();
}

/// Case 12: without a state everything is allowed.
#[test]
fn t12_allows_without_a_state() {
    TestProject::new()
        .guard(NAME, &task("software-developer", "build it"))
        .says_nothing();
}

/// R2: a sub-agent may ask helpers of its own phase.
#[test]
fn r2_a_sub_agent_may_ask_helpers_of_its_own_phase() {
    let project = TestProject::new().state(&running("02-tracing", "pending"));
    let mut event = task("symptom-analyzer", "trace it");
    project.guard(NAME, &event).blocks("PHASE DELEGATION");
    event["agent_id"] = json!("a1");
    project.guard(NAME, &event).says_nothing();
}

/// R3: the status of the phase that is delegated to decides, not that of the current one.
#[test]
fn r3_the_target_phase_must_be_under_way_too() {
    let mut state = running("05-test-strategy", "in_progress");
    state["phases"]["06-implementation"] = json!({ "status": "pending" });
    let project = TestProject::new().state(&state);
    project
        .guard(NAME, &task("software-developer", "build it"))
        .blocks(PREFIX);
}

#[test]
fn the_label_is_the_phase_when_no_agent_is_named() {
    let project = in_phase("pending");
    project
        .guard(NAME, &task("general-purpose", "Phase key: 06-implementation"))
        .blocks("PHASE DELEGATION WITHOUT PROGRESS TRACKING: You are delegating to phase agent '06-implementation' for phase '06-implementation'");
}

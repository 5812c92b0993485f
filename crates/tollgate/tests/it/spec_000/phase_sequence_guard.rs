//! §13.2, 12 cases.

use serde_json::json;

use crate::events::{bash, task};
use crate::project::{TestProject, running};

const NAME: &str = "phase-sequence-guard";

fn in_phase(phase: &str) -> TestProject {
    TestProject::new().state(&running(phase, "in_progress"))
}

/// Case 1: a delegation to a later phase is blocked.
#[test]
fn t01_blocks_a_later_phase() {
    let project = in_phase("03-architecture");
    let reason = project.guard(NAME, &task("software-developer", "build it")).blocks(
        "OUT-OF-ORDER PHASE DELEGATION: Attempting to delegate to phase '06-implementation' (agent: software-developer), but the current workflow phase is '03-architecture'.",
    );
    assert!(reason.contains("- Complete the current phase '03-architecture' and pass GATE-03"));
    assert!(reason.ends_with("Current phase: 03-architecture\nTarget phase:  06-implementation"));
    assert_eq!(project.codes(), ["PSG-001"]);
}

/// Case 2: a delegation to an earlier phase is blocked.
#[test]
fn t02_blocks_an_earlier_phase() {
    in_phase("06-implementation")
        .guard(NAME, &task("requirements-analyst", "ask again"))
        .blocks("OUT-OF-ORDER PHASE DELEGATION");
}

/// Case 3: a delegation to the current phase is allowed.
#[test]
fn t03_allows_the_current_phase() {
    in_phase("06-implementation")
        .guard(NAME, &task("software-developer", "build it"))
        .says_nothing();
}

/// Case 4: tools other than Task are allowed.
#[test]
fn t04_allows_other_tools() {
    in_phase("01-requirements")
        .guard(NAME, &bash("ls"))
        .says_nothing();
}

/// Case 5: what is no delegation is allowed.
#[test]
fn t05_allows_what_is_no_delegation() {
    in_phase("01-requirements")
        .guard(NAME, &task("Explore", "look around"))
        .says_nothing();
}

/// Case 6: without a workflow everything is allowed.
#[test]
fn t06_allows_without_a_workflow() {
    let project = TestProject::new().state(&json!({ "active_workflow": null }));
    project
        .guard(NAME, &task("software-developer", "build it"))
        .says_nothing();
}

/// Case 7: setup commands are allowed.
#[test]
fn t07_allows_setup_commands() {
    in_phase("01-requirements")
        .guard(NAME, &task("discover-orchestrator", "discover"))
        .says_nothing();
}

/// Case 8: without a current phase everything is allowed.
#[test]
fn t08_allows_without_a_current_phase() {
    let project = TestProject::new().state(&json!({ "active_workflow": {} }));
    project
        .guard(NAME, &task("software-developer", "build it"))
        .says_nothing();
}

/// Case 9: empty input is allowed.
#[test]
fn t09_allows_on_empty_input() {
    in_phase("01-requirements")
        .run(&["hook", "--guard", NAME], b" \n")
        .allows();
}

/// Case 10: input that is no JSON is allowed.
#[test]
fn t10_allows_on_input_that_is_no_json() {
    in_phase("01-requirements")
        .run(&["hook", "--guard", NAME], b"[1,2")
        .allows();
}

/// Case 11: without a state everything is allowed.
#[test]
fn t11_allows_without_a_state() {
    TestProject::new()
        .guard(NAME, &task("software-developer", "build it"))
        .says_nothing();
}

/// Case 12: without a manifest an agent that nobody knows is allowed.
#[test]
fn t12_allows_an_agent_nobody_knows_without_a_manifest() {
    let project = TestProject::bare().state(&running("01-requirements", "in_progress"));
    project
        .guard(NAME, &task("software-developer", "build it"))
        .says_nothing();
}

#[test]
fn renumbering_02_04_ts008_an_old_phase_key_is_the_same_phase() {
    in_phase("13-test-deploy")
        .guard(NAME, &task("deployment-engineer-staging", "go"))
        .says_nothing();
}

/// F3: `15-upgrade` of the manifest stands for the phases `15-upgrade-plan` and `15-upgrade-
/// execute`.
#[test]
fn f3_the_upgrade_engineer_may_upgrade() {
    for phase in ["15-upgrade-plan", "15-upgrade-execute", "16-upgrade-plan"] {
        in_phase(phase)
            .guard(NAME, &task("upgrade-engineer", "go"))
            .says_nothing();
    }
}

#[test]
fn an_unknown_phase_key_is_told_and_not_invented() {
    let project = in_phase("01-requirements");
    project
        .guard(NAME, &task("general-purpose", "Phase key: 99-unknown"))
        .warns("[phase-sequence-guard] WARNING: Unknown phase key in a delegation.\n  Phase key: 99-unknown\n");
    assert_eq!(project.codes(), ["PSG-002"]);
}

#[test]
fn a_phase_without_a_number_has_no_gate_number() {
    let reason = in_phase("R1-behavior-extraction")
        .guard(NAME, &task("software-developer", "x"))
        .blocks("OUT-OF-ORDER");
    assert!(reason.contains("pass GATE-??"), "{reason}");
}

/// E16: `Agent` is the new name of the tool `Task`; the original did not know it.
#[test]
fn e16_agent_is_the_new_name_of_task() {
    let project = in_phase("01-requirements");
    let mut event = task("software-developer", "build it");
    event["tool_name"] = json!("Agent");
    project.guard(NAME, &event).blocks("OUT-OF-ORDER");
    event["tool_name"] = json!("SomethingNew");
    project.guard(NAME, &event).blocks("OUT-OF-ORDER");
}

#[test]
fn the_whole_hook_speaks_of_order_before_it_speaks_of_progress() {
    let mut state = running("05-test-strategy", "in_progress");
    state["phases"]["06-implementation"] = json!({ "status": "pending" });
    TestProject::new()
        .state(&state)
        .hook(&task("software-developer", "x"))
        .blocks("OUT-OF-ORDER");
}

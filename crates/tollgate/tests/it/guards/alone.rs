//! AC-004f, IR-005: without a workflow a guard that is asked alone goes by the project's own
//! `current_phase`; an event for all guards needs a workflow.

use serde_json::{Value, json};

use super::{ADVANCE, skill, with_requirements};
use crate::events::task;
use crate::project::TestProject;

/// A project in phase 06 without a workflow, whose tests failed and whose validation is open.
fn between_workflows() -> TestProject {
    let tests = json!({ "completed": false, "last_test_result": "failed", "current_iteration": 1 });
    let state = json!({
        "active_workflow": null,
        "current_phase": "06-implementation",
        "phases": { "06-implementation": {
            "status": "in_progress", "iteration_requirements": { "test_iteration": tests } } },
    });
    let required = json!({
        "test_iteration": { "enabled": true },
        "constitutional_validation": { "enabled": true, "articles": ["I"] },
    });
    with_requirements(
        &state,
        &json!({ "phase_requirements": { "06-implementation": required } }),
    )
}

fn asked() -> [(&'static str, Value, &'static str); 4] {
    let advance = task("sdlc-orchestrator", ADVANCE);
    let completed = task("general-purpose", "Phase complete, please record it");
    [
        ("gate-blocker", advance.clone(), "GATE BLOCKED: "),
        ("gate-blocker", skill("isdlc", "advance"), "GATE BLOCKED: "),
        ("iteration-corridor", advance, "ITERATION CORRIDOR: "),
        (
            "constitution-validator",
            completed,
            "PHASE COMPLETION BLOCKED: ",
        ),
    ]
}

/// AC-004f: the workflow's phase counts, and without one the top-level one for a guard alone.
#[test]
fn ac_004f_a_guard_asked_alone_falls_back_to_the_top_level_phase() {
    for (guard, event, blocked) in asked() {
        let reason = between_workflows().guard(guard, &event).blocks(blocked);
        assert!(!reason.contains("''"), "{reason}");
    }
}

/// AC-004f: the workflow's phase counts, and without one the top-level one for a guard alone.
#[test]
fn ac_004f_an_event_for_all_guards_needs_a_workflow() {
    for (_, event, _) in asked() {
        between_workflows().hook(&event).says_nothing();
    }
}

/// AC-004f: the workflow's phase counts, and without one the top-level one for a guard alone.
#[test]
fn ac_004f_a_project_in_no_phase_or_another_is_allowed() {
    for phase in [json!(null), json!(""), json!("01-requirements")] {
        for (guard, event, _) in asked() {
            let project = between_workflows();
            let mut state: Value =
                serde_json::from_str(&project.read(".isdlc/state.json")).unwrap();
            state["current_phase"] = phase.clone();
            project.file(".isdlc/state.json", state.to_string());
            project.guard(guard, &event).allows();
        }
    }
}

/// IR-005: the workflow's phase goes before the top-level one for a guard alone, too.
#[test]
fn ir_005_the_workflows_phase_goes_before_the_top_level_one() {
    for (guard, event, _) in asked() {
        let project = between_workflows();
        let mut state: Value = serde_json::from_str(&project.read(".isdlc/state.json")).unwrap();
        state["active_workflow"] = json!({ "type": "feature", "current_phase": "01-requirements", "phases": ["01-requirements"] });
        project.file(".isdlc/state.json", state.to_string());
        project.guard(guard, &event).allows();
    }
}

/// AC-004f: the workflow's phase counts, and without one the top-level one for a guard alone.
#[test]
fn ac_004f_other_guards_alone_still_need_a_workflow() {
    let project = between_workflows();
    for guard in [
        "plan-surfacer",
        "phase-loop-controller",
        "phase-sequence-guard",
    ] {
        let event = task("software-developer", "Phase 06-implementation");
        project.guard(guard, &event).says_nothing();
    }
}

//! Facts 1.15.

use serde_json::{Value, json};

use super::{in_phase, skill};
use crate::events::task;
use crate::project::{TestProject, running};

const NAME: &str = "constitutional-iteration-validator";
const BLOCKED: &str =
    "CONSTITUTIONAL VALIDATION INCOMPLETE: Phase '06-implementation' cannot pass its gate yet.";

fn with(validation: &Value) -> TestProject {
    in_phase(
        "06-implementation",
        &json!({}),
        &json!({ "constitutional_validation": validation }),
    )
}

fn good() -> Value {
    json!({ "completed": true, "iterations_used": 1, "status": "compliant", "articles_checked": ["I"] })
}

#[test]
fn each_gap_in_the_record_is_told() {
    with(&good())
        .guard(NAME, &skill("isdlc", "advance"))
        .says_nothing();
    for (key, value, issue) in [
        ("completed", json!("true"), "completed is not true"),
        ("completed", json!(false), "completed is not true"),
        (
            "iterations_used",
            json!(0),
            "iterations_used must be at least 1",
        ),
        (
            "iterations_used",
            json!(null),
            "iterations_used must be at least 1",
        ),
        ("status", json!("pending"), "status is 'pending'"),
        ("articles_checked", json!([]), "articles_checked is empty"),
        ("articles_checked", json!("I"), "articles_checked is empty"),
    ] {
        let mut record = good();
        record[key] = value;
        let project = with(&record);
        let reason = project
            .guard(NAME, &skill("isdlc", "advance"))
            .blocks(BLOCKED);
        assert!(reason.contains(issue), "{reason}");
        assert_eq!(project.codes(), ["CIV-001"]);
    }
    let mut escalated = good();
    escalated["status"] = json!("escalated");
    with(&escalated)
        .guard(NAME, &skill("isdlc", "advance"))
        .says_nothing();
}

#[test]
fn which_calls_ask_for_the_gate() {
    let project = with(&json!({}));
    for event in [
        skill("isdlc", "gate-check"),
        skill("/isdlc", "gate_check"),
        skill("sdlc", "advance"),
        skill("ISDLC", "gatecheck"),
        skill("isdlc", "gate-validation"),
        skill("isdlc", "phase_transition"),
        json!({ "tool_name": "Skill", "tool_input": { "prompt": "run the gate-check now" } }),
    ] {
        project.guard(NAME, &event).blocks(BLOCKED);
    }
    for event in [
        skill("isdlc", "analyze \"advance gate-check\""),
        skill("isdlc", "advanced"),
        skill("brainstorm", "advance"),
        task("sdlc-orchestrator", "advance"),
    ] {
        project.guard(NAME, &event).says_nothing();
    }
}

#[test]
fn without_a_record_a_workflow_or_enforcement_it_allows() {
    let event = skill("isdlc", "advance");
    with(&json!(null)).guard(NAME, &event).says_nothing();
    TestProject::new().guard(NAME, &event).says_nothing();
    let mut state = running("06-implementation", "in_progress");
    state["phases"]["06-implementation"]["constitutional_validation"] = json!({});
    state["iteration_enforcement"] = json!({ "enabled": false });
    TestProject::new()
        .state(&state)
        .guard(NAME, &event)
        .says_nothing();
    state["iteration_enforcement"] = json!({ "enabled": true });
    state["active_workflow"] = json!(null);
    TestProject::new()
        .state(&state)
        .guard(NAME, &event)
        .says_nothing();
}

/// R11: old names of phases are understood everywhere, not only in three guards.
/// F6: what is recorded under an old key of a phase was not seen.
#[test]
fn r11_f6_a_record_under_an_old_key_counts() {
    let mut state = running("12-test-deploy", "in_progress");
    state["phases"] = json!({ "13-test-deploy": { "constitutional_validation": {} } });
    TestProject::new()
        .state(&state)
        .guard(NAME, &skill("isdlc", "advance"))
        .blocks("CONSTITUTIONAL VALIDATION INCOMPLETE: Phase '12-test-deploy'");
}

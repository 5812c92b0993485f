//! The evidence of each requirement, and what is none.

use super::*;
use serde_json::{Value, json};

const CONFIG: &str = r#"{"phase_requirements":{"06-implementation":{"timeout_minutes":90,
    "test_iteration":{"enabled":true,"max_iterations":10},
    "constitutional_validation":{"enabled":true,"articles":["I","II"]},
    "interactive_elicitation":{"enabled":true,"min_menu_interactions":3,"required_final_selection":["save"]},
    "artifact_validation":{"enabled":true,"paths":["docs/x/{artifact_folder}/a.md","docs/x/{artifact_folder}/b.md"]}},
    "12-test-deploy":{"timeout_minutes":7}},
    "workflow_overrides":{"fix":{"06-implementation":{"interactive_elicitation":{"enabled":false},
    "constitutional_validation":{"articles":["IX"]}}}}}"#;

fn held(required: &PhaseRequirements<'_>, phase: &str, state: &Value) -> Vec<Unmet> {
    let text = state.to_string();
    let evidence = Evidence {
        state: &State::parse(&text).unwrap(),
        manifest: &Manifest::built_in(),
        exists: &|path| path == "docs/x/REQ-1/b.md",
        since: &|_| None,
    };
    required.unmet(phase, &evidence)
}

fn unmet(entry: &Value, workflow: &str) -> Vec<&'static str> {
    let requirements = ProjectRequirements::parse(Some(CONFIG), Some("{}")).unwrap();
    let state =
        json!({"active_workflow":{"artifact_folder":"REQ-1"},"phases":{"06-implementation":entry}});
    let phase = requirements.of(workflow, "06-implementation");
    held(&phase, "06-implementation", &state)
        .iter()
        .map(|u| u.requirement)
        .collect()
}

#[test]
fn missing_evidence_satisfies_nothing() {
    assert_eq!(
        unmet(&json!({}), "feature"),
        [
            "test_iteration",
            "constitutional_validation",
            "interactive_elicitation"
        ]
    );
    assert_eq!(
        unmet(&json!({}), "fix"),
        ["test_iteration", "constitutional_validation"]
    );
}

/// AC-004a: failing tests that are not completed keep the gate closed.
/// AC-004b: an open constitutional validation keeps the gate closed.
/// AC-004c: an elicitation in which nobody was asked keeps the gate closed.
#[test]
fn ac_004a_ac_004b_ac_004c_each_requirement_has_its_evidence() {
    let done = json!({
        "constitutional_validation": {"completed": true, "status": "compliant", "iterations_used": 1},
        "iteration_requirements": {
            "test_iteration": {"completed": true, "last_test_result": "passed", "current_iteration": 1},
            "interactive_elicitation": {"completed": true, "menu_interactions": 3, "final_selection": "Save"}}});
    assert!(unmet(&done, "feature").is_empty());
    for (pointer, value, missing) in [
        (
            "/iteration_requirements/test_iteration/completed",
            json!(false),
            "test_iteration",
        ),
        (
            "/iteration_requirements/test_iteration/current_iteration",
            json!(0),
            "test_iteration",
        ),
        (
            "/constitutional_validation/status",
            json!("iterating"),
            "constitutional_validation",
        ),
        (
            "/constitutional_validation/iterations_used",
            json!(0),
            "constitutional_validation",
        ),
        (
            "/constitutional_validation/completed",
            json!("true"),
            "constitutional_validation",
        ),
        (
            "/iteration_requirements/interactive_elicitation/menu_interactions",
            json!(2),
            "interactive_elicitation",
        ),
        (
            "/iteration_requirements/interactive_elicitation/final_selection",
            json!("exit"),
            "interactive_elicitation",
        ),
    ] {
        let mut entry = done.clone();
        *entry.pointer_mut(pointer).unwrap() = value;
        assert_eq!(unmet(&entry, "feature"), [missing], "{pointer}");
    }
}

#[test]
fn failing_tests_close_the_gate_even_where_nobody_asked_for_tests() {
    let state = json!({"phases":{"01-requirements":{"iteration_requirements":{
        "test_iteration":{"completed":false,"last_test_result":"failed","current_iteration":2,"max_iterations":5}}}}});
    let requirements = ProjectRequirements::built_in();
    let phase = requirements.of("feature", "01-requirements");
    let found = held(&phase, "01-requirements", &state);
    assert_eq!(
        found[0].what,
        "Test iteration incomplete. 2/5 iterations used. Last result: FAILED. Fix the code and \
         run the tests again."
    );
    let text = state["phases"]["01-requirements"].to_string();
    let entry = Object::parse(&text).unwrap();
    assert_eq!(phase.corridor(&entry), Some(Corridor::Tests));
}

#[test]
fn overrides_are_merged_deeply_and_old_keys_are_found() {
    let requirements = ProjectRequirements::parse(Some(CONFIG), None).unwrap();
    let fix = requirements.of("fix", "06-implementation");
    assert_eq!(fix.articles(), ["IX"]);
    assert_eq!(fix.timeout_minutes(), Some(90));
    assert_eq!(
        requirements
            .of("feature", "13-test-deploy")
            .timeout_minutes(),
        Some(7)
    );
}

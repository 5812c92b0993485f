//! What a verdict depends on, and what it does not.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use tollgate_core::guard::GUARDS;

use super::generated::{PHASES, events, states};
use super::project::Project;

/// P8: where the workflow says which phase it is in, the field at the top of the state, which
/// everything else may have written, changes no verdict.
#[test]
fn p8_the_phase_at_the_top_changes_no_verdict_of_a_workflow() {
    let project = Project::new();
    let others = prop::sample::select([&PHASES[..], &["", "no-such-phase"]].concat());
    let mut runner = TestRunner::new(Config {
        cases: 3_000,
        failure_persistence: None,
        ..Config::default()
    });
    let cases = (states("1970-01-01T00:00:00.000Z"), events(), others);
    let run = runner.run(&cases, |(mut state, event, other)| {
        prop_assume!(state["active_workflow"].is_object());
        let event = event.to_string();
        project.state(&state);
        let verdict = || {
            let outcome = project.decide(&event, GUARDS);
            let mut warnings = outcome.warnings;
            // That the two fields contradict each other is told, of course.
            warnings.retain(|report| report.code != "SWV-009");
            (outcome.block, warnings)
        };
        let before = verdict();
        state["current_phase"] = json!(other);
        project.state(&state);
        prop_assert_eq!(before, verdict(), "{}", event);
        Ok(())
    });
    run.unwrap();
}

/// All that the gate of a phase wants, as far as it is there.
fn with_evidence(there: [bool; 5]) -> Value {
    let [passed, ran, validated, spoke, delegated] = there;
    json!({
        "state_version": 7,
        "current_phase": "06-implementation",
        "iteration_enforcement": { "enabled": true },
        "active_workflow": {
            "type": "feature", "current_phase": "06-implementation", "current_phase_index": 1,
            "phases": PHASES, "phase_status": { "06-implementation": "in_progress" },
        },
        "phases": { "06-implementation": {
            "status": "in_progress",
            "iteration_requirements": {
                "test_iteration": if ran { json!({
                    "completed": passed, "current_iteration": 1,
                    "last_test_result": if passed { "passed" } else { "failed" },
                }) } else { json!({}) },
                "interactive_elicitation": { "completed": spoke, "menu_interactions": u64::from(spoke) * 3 },
            },
            "constitutional_validation": {
                "completed": validated, "status": if validated { "compliant" } else { "pending" },
                "iterations_used": u64::from(validated), "articles_checked": if validated { json!(["I"]) } else { json!([]) },
            },
        } },
        "skill_usage_log": if delegated { json!([{
            "agent": "software-developer", "agent_phase": "06-implementation",
            "timestamp": "1970-01-01T00:00:00.000Z", "status": "executed",
        }]) } else { json!([]) },
    })
}

/// P7: more evidence never closes a gate that was open, and without any it is closed.
#[test]
fn p7_more_evidence_never_closes_a_gate() {
    let project = Project::new();
    let event =
        json!({ "tool_name": "Skill", "tool_input": { "skill": "isdlc", "args": "advance" } });
    let event = event.to_string();
    let blocked = |there: [bool; 5]| {
        project.state(&with_evidence(there));
        project.decide(&event, GUARDS).block
    };
    let passes = |there: [bool; 5]| blocked(there).is_none();
    let all: Vec<[bool; 5]> = (0..32_u32)
        .map(|bits| std::array::from_fn(|at| bits >> at & 1 == 1))
        .collect();
    let open: Vec<bool> = all.iter().copied().map(passes).collect();
    for (less, is_open) in all.iter().zip(&open) {
        for (more, is_open_with_more) in all.iter().zip(&open) {
            let is_more = less.iter().zip(more).all(|(a, b)| b >= a);
            assert!(
                !(is_more && *is_open && !is_open_with_more),
                "{less:?} passes and {more:?} does not"
            );
        }
    }
    assert!(!passes([false; 5]), "nothing at all passes");
    assert_eq!(blocked([true; 5]), None, "everything does not pass");
}

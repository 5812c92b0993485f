//! Facts 1.14.

use serde_json::{Value, json};

use super::{escalation, in_phase, state, with_requirements};
use crate::events::task;
use crate::project::{TestProject, running};

const NAME: &str = "constitution-validator";
const BLOCKED: &str = "PHASE COMPLETION BLOCKED: Constitutional validation required.\n";

fn required() -> Value {
    json!({ "constitutional_validation": { "enabled": true, "max_iterations": 5, "articles": ["I", "VII"] } })
}

fn with(validation: &Value) -> TestProject {
    let mut data = json!({ "status": "in_progress" });
    data["constitutional_validation"] = validation.clone();
    in_phase("06-implementation", &required(), &data)
}

fn done() -> Value {
    task("general-purpose", "Phase complete, please record it")
}

/// R5: constitution-validator blocks; 000 says in its table that it does not.
#[test]
fn r5_rule_1_which_words_call_a_phase_complete() {
    let project = with(&json!(null));
    for words in [
        "phase complete",
        "Phase done",
        "phase\nfinished",
        "ready for gate",
        "ready for GATE-06",
        "gate validation",
        "Submit for review",
        "finalize artifacts",
        "declare complete",
        "mark as complete",
        "Phase 06 complete",
        "implementation complete",
        "testing complete",
        "requirements complete",
        "The implementation is complete",
    ] {
        project
            .guard(NAME, &task("general-purpose", words))
            .blocks(BLOCKED);
    }
    for words in [
        "complete the implementation",
        "the phase is not complete",
        "phases",
        "submit forms for reviewers",
        "do not mark as complete",
    ] {
        project
            .guard(NAME, &task("general-purpose", words))
            .says_nothing();
    }
    project
        .guard(NAME, &super::skill("isdlc", "phase complete"))
        .says_nothing();
}

/// BUG-0008: delegations were blocked for words such as "complete" or "GATE-06" in their prompt.
#[test]
fn bug_0008_delegating_a_phase_does_not_call_it_complete() {
    let project = with(&json!(null));
    let prompt = "Execute Phase 06. When implementation complete, ready for gate validation.";
    project
        .guard(NAME, &task("software-developer", prompt))
        .says_nothing();
    project
        .guard(NAME, &task("sdlc-orchestrator", "setup: mark as complete"))
        .says_nothing();
}

/// D2: setup words somewhere in a prompt switched the guards of delegations off.
#[test]
fn d2_setup_words_inside_the_text_switch_nothing_off() {
    with(&json!(null))
        .guard(
            NAME,
            &task("general-purpose", "The initial definition: phase complete"),
        )
        .blocks(BLOCKED);
}

#[test]
fn rule_2_when_nothing_is_asked() {
    TestProject::new().guard(NAME, &done()).says_nothing();
    let mut off = running("06-implementation", "in_progress");
    off["iteration_enforcement"] = json!({ "enabled": false });
    let config = json!({ "phase_requirements": { "06-implementation": required() } });
    with_requirements(&off, &config)
        .guard(NAME, &done())
        .says_nothing();
    in_phase(
        "06-implementation",
        &json!({ "constitutional_validation": { "enabled": false } }),
        &json!({}),
    )
    .guard(NAME, &done())
    .says_nothing();
    let nothing = json!({ "phase_requirements": {} });
    let project = with_requirements(&running("06-implementation", "in_progress"), &nothing);
    project.guard(NAME, &done()).warns(
        "[SELF-HEAL] constitution-validator: No requirements for phase '06-implementation'.",
    );
}

#[test]
fn rule_3_how_far_the_validation_is() {
    for (validation, status) in [
        (json!(null), Some("not_started")),
        (
            json!({ "status": "iterating", "completed": true }),
            Some("in_progress"),
        ),
        (json!({ "status": "pending" }), Some("in_progress")),
        (
            json!({ "status": "compliant", "completed": false }),
            Some("in_progress"),
        ),
        (json!({ "status": "escalated" }), Some("escalated_pending")),
        (
            json!({ "status": "odd", "completed": true }),
            Some("unknown"),
        ),
        // As at the gate, a text is no evidence.
        (
            json!({ "status": "compliant", "completed": "true" }),
            Some("in_progress"),
        ),
        (
            json!({ "status": "escalated", "escalation_approved": "yes" }),
            Some("escalated_pending"),
        ),
        (
            json!({ "status": "escalated", "escalation_approved": true }),
            None,
        ),
        (json!({ "status": "compliant", "completed": true }), None),
    ] {
        let run = with(&validation).guard(NAME, &done());
        match status {
            Some(status) => assert!(
                run.blocks(BLOCKED)
                    .contains(&format!("\nStatus: {status}\n")),
                "{validation}"
            ),
            None => run.says_nothing(),
        }
    }
}

#[test]
fn rule_4_the_block_says_what_to_do_and_begins_the_validation() {
    let project = with(&json!(null));
    let reason = project.guard(NAME, &done()).blocks(BLOCKED);
    for step in ["\n1. ", "\n5. ", "\n  - Article I\n", "\n  - Article VII\n"] {
        assert!(reason.contains(step), "{reason}");
    }
    assert!(
        reason.ends_with("Iteration 0/5 — you have 5 attempts remaining."),
        "{reason}"
    );
    let after = state(&project);
    let begun = &after["phases"]["06-implementation"]["constitutional_validation"];
    let mut expected = json!({
        "required": true, "completed": false, "status": "pending", "iterations_used": 0, "max_iterations": 5,
        "articles_required": ["I", "VII"], "articles_checked": [], "violations_found": [], "history": [],
    });
    expected["started_at"] = begun["started_at"].clone();
    assert_eq!(*begun, expected);
    assert_eq!(escalation(&project)["type"], "constitution_blocked");
    assert_eq!(project.codes(), ["CV-001"]);
    // R29: the original kept this block out of its log.
    assert!(
        project
            .read(".isdlc/hook-activity.log")
            .contains(r#""hook":"constitution-validator","event":"block""#)
    );
    // A validation that has begun is left alone.
    let project =
        with(&json!({ "status": "iterating", "iterations_used": 2, "max_iterations": 3 }));
    assert!(
        project
            .guard(NAME, &done())
            .blocks(BLOCKED)
            .ends_with("Iteration 2/3 — you have 1 attempts remaining.")
    );
    assert_eq!(
        state(&project)["phases"]["06-implementation"]["constitutional_validation"]["status"],
        "iterating"
    );
}

#[test]
fn a_phase_without_an_entry_gets_no_status_from_here() {
    let mut bare = running("06-implementation", "in_progress");
    bare["phases"] = json!({});
    let project = with_requirements(
        &bare,
        &json!({ "phase_requirements": { "06-implementation": required() } }),
    );
    project.guard(NAME, &done()).blocks(BLOCKED);
    assert_eq!(state(&project)["phases"], json!({}));
}

/// D9: `workflow_overrides` were merged in three ways, and under old phase keys not at all.
#[test]
fn d9_the_workflows_overrides_are_seen() {
    let config = json!({
        "phase_requirements": { "06-implementation": required() },
        "workflow_overrides": { "feature": { "06-implementation": { "constitutional_validation": { "articles": ["IX"] } } } },
    });
    let project = with_requirements(&running("06-implementation", "in_progress"), &config);
    let reason = project.guard(NAME, &done()).blocks(BLOCKED);
    assert!(
        reason.contains("Article IX") && !reason.contains("Article VII"),
        "{reason}"
    );
    let off = json!({
        "phase_requirements": { "06-implementation": required() },
        "workflow_overrides": { "feature": { "06-implementation": { "constitutional_validation": { "enabled": false } } } },
    });
    with_requirements(&running("06-implementation", "in_progress"), &off)
        .guard(NAME, &done())
        .says_nothing();
}

/// F6: what is recorded under an old key of a phase was not seen.
/// BUG-0005: guards read the phase at the top of the state first, and acted on the wrong one.
#[test]
fn f6_bug_0005_the_right_phase_under_any_of_its_names() {
    let mut state = running("13-test-deploy", "in_progress");
    state["current_phase"] = json!("01-requirements");
    state["phases"] = json!({ "13-test-deploy": { "constitutional_validation": { "status": "compliant", "completed": true } } });
    let config = json!({ "phase_requirements": { "12-test-deploy": required(), "01-requirements": required() } });
    with_requirements(&state, &config).guard(NAME, &done()).warns("[SELF-HEAL] constitution-validator: Phase key '13-test-deploy' normalized to '12-test-deploy'.");
}

//! Facts 1.13, steps 1 to 7 and 9 to 11: when the gate is asked for, and what precedes its
//! requirements. The requirements themselves are in `gate_requirements` and `gate_artifacts`.

use serde_json::{Value, json};

use super::{ADVANCE, escalation, in_phase, skill, state, with_requirements};
use crate::events::{bash, task};
use crate::project::{TestProject, running};

const NAME: &str = "gate-blocker";
const BLOCKED: &str = "GATE BLOCKED: Iteration requirements not satisfied for phase '06-implementation'.\n\nBlocking requirements: test_iteration\n- test_iteration: Test iteration not started.";

fn tests_required() -> Value {
    json!({ "test_iteration": { "enabled": true } })
}

fn closed() -> TestProject {
    in_phase(
        "06-implementation",
        &tests_required(),
        &json!({ "status": "in_progress" }),
    )
}

fn open() -> Value {
    json!({ "iteration_requirements": { "test_iteration": { "completed": true, "current_iteration": 1 } } })
}

fn workflow(fields: &Value) -> TestProject {
    let mut state = running("06-implementation", "in_progress");
    for (key, value) in fields.as_object().unwrap() {
        state["active_workflow"][key] = value.clone();
    }
    state["phases"]["06-implementation"] = open();
    with_requirements(
        &state,
        &json!({ "phase_requirements": { "06-implementation": tests_required() } }),
    )
}

fn advance() -> Value {
    task("sdlc-orchestrator", ADVANCE)
}

#[test]
fn rule_1_who_asks_for_the_gate() {
    let project = closed();
    for words in [
        "advance",
        "Validate GATE-06",
        "next phase please",
        "Proceed",
        "move to phase 08",
        "progress to 08",
    ] {
        project
            .guard(NAME, &task("sdlc-orchestrator", words))
            .blocks(BLOCKED);
        let event = json!({ "tool_name": "Agent", "tool_input": { "subagent_type": "isdlc:SDLC_Orchestrator", "prompt": "", "description": words } });
        project.guard(NAME, &event).blocks(BLOCKED);
    }
    for verb in ["advance", "gate", "gate-check", "Advance now"] {
        project.guard(NAME, &skill("isdlc", verb)).blocks(BLOCKED);
        project.guard(NAME, &skill("/iSDLC", verb)).blocks(BLOCKED);
    }
    for other in [
        task("general-purpose", ADVANCE),
        task("sdlc-orchestrator", "report what was done"),
        task("sdlc-orchestrator", "investigate the delegates"),
        skill("discover", "advance"),
        skill("isdlc", "feature \"advance search\""),
        bash("echo advance gate"),
    ] {
        project.guard(NAME, &other).says_nothing();
    }
}

/// BUG-0008: delegations were blocked for words such as "complete" or "GATE-06" in their prompt.
/// AC-004d: a delegation of the phase is no attempt to leave it.
#[test]
fn bug_0008_ac_004d_delegating_the_phase_is_no_attempt() {
    let prompt =
        "Execute Phase 06 - Implementation. Delegate, complete, validate GATE-06 and proceed.";
    let project = closed();
    project
        .guard(NAME, &task("software-developer", prompt))
        .says_nothing();
    // An orchestrator that owns a phase is one of its agents.
    project
        .guard(
            NAME,
            &task("tracing-orchestrator", "Trace, then proceed to the gate"),
        )
        .says_nothing();
}

/// d63d0b53, AC-004e: setup commands were blocked by gates; they never are.
#[test]
fn d63d0b53_ac_004e_setup_commands_are_never_blocked() {
    let project = closed();
    for setup in [
        "discover",
        "constitution",
        "init",
        "setup",
        "configure",
        "status",
        "install",
        "new project",
    ] {
        project
            .guard(
                NAME,
                &task("sdlc-orchestrator", &format!("{setup} before the gate")),
            )
            .says_nothing();
        project
            .guard(NAME, &skill("isdlc", &format!("{setup} gate")))
            .says_nothing();
    }
}

/// D2: setup words somewhere in a prompt switched the guards of delegations off.
#[test]
fn d2_setup_words_inside_the_text_switch_nothing_off() {
    let project = closed();
    for words in [
        "Advance. Initial status: definitions installed, constitution set up",
        "Proceed with constitutional_validation to the gate",
    ] {
        project
            .guard(NAME, &task("sdlc-orchestrator", words))
            .blocks(BLOCKED);
    }
}

/// GH-65, BUG-0031: `analyze` and `add` were blocked for the word "gate" in their text.
/// F7: the verb of `/isdlc` is its first word that is no flag; the original searched the whole
/// text.
#[test]
fn gh_65_bug_0031_f7_the_first_word_that_is_no_flag_is_the_verb() {
    let project = closed();
    for words in [
        "analyze \"gate-blocker fails\"",
        "add \"advance the gate\"",
        "--light analyze gate",
    ] {
        project.guard(NAME, &skill("isdlc", words)).says_nothing();
    }
    project
        .guard(NAME, &skill("isdlc", "advance --status"))
        .blocks(BLOCKED);
}

#[test]
fn rule_2_without_state_enforcement_or_requirements_it_allows() {
    TestProject::new().guard(NAME, &advance()).says_nothing();
    let mut state = running("06-implementation", "in_progress");
    TestProject::new()
        .state(&state)
        .guard(NAME, &advance())
        .says_nothing();
    state["iteration_enforcement"] = json!({ "enabled": false });
    let config = json!({ "phase_requirements": { "06-implementation": tests_required() } });
    with_requirements(&state, &config)
        .guard(NAME, &advance())
        .says_nothing();
}

/// BUG-0006/0.6: configuration of another type crashed the guards.
#[test]
fn bug_0006_0_6_configuration_of_another_kind_hides_nothing() {
    let state = running("06-implementation", "in_progress");
    with_requirements(&state, &json!({}))
        .guard(NAME, &advance())
        .says_nothing();
    let odd = json!({ "phase_requirements": { "06-implementation": { "test_iteration": null, "constitutional_validation": 7, "interactive_elicitation": { "enabled": true } } }, "workflow_overrides": [] });
    with_requirements(&state, &odd)
        .guard(NAME, &advance())
        .blocks("GATE BLOCKED: Iteration requirements");
}

#[test]
fn rule_4_index_and_phase_must_agree() {
    let phases = json!(["05-test-strategy", "06-implementation", "08-code-review"]);
    let project = workflow(&json!({ "phases": phases, "current_phase_index": 0 }));
    project.guard(NAME, &advance()).blocks("GATE BLOCKED: Workflow state mismatch. Expected phase '05-test-strategy' at index 0 but current is '06-implementation'.");
    assert_eq!(project.codes(), ["GB-002"]);
    assert_eq!(state(&project)["pending_escalations"], json!(null));
    workflow(&json!({ "phases": phases, "current_phase_index": 1 }))
        .guard(NAME, &advance())
        .says_nothing();
    // The workflow's own list goes before the definition.
    let project = workflow(&json!({ "phases": null, "current_phase_index": 0 }));
    project.file(
        ".isdlc/config/workflows.json",
        r#"{"workflows":{"feature":{"phases":["01-requirements","06-implementation"]}}}"#,
    );
    project.guard(NAME, &advance()).blocks(
        "GATE BLOCKED: Workflow state mismatch. Expected phase '01-requirements' at index 0",
    );
}

#[test]
fn rule_4_holds_for_types_that_are_defined() {
    let phases = json!(["05-test-strategy", "06-implementation"]);
    let project = workflow(&json!({ "type": "spike", "phases": phases, "current_phase_index": 0 }));
    project.guard(NAME, &advance()).says_nothing();
    project.file(
        ".isdlc/config/workflows.json",
        r#"{"workflows":{"spike":{}}}"#,
    );
    let told = project.guard(NAME, &advance());
    let told = told.blocks("GATE BLOCKED: Workflow state mismatch.");
    let way = "`tollgate workflow audit --repair`";
    assert!(told.contains(way), "{told}");
}

/// F8: between two phases the index is one ahead; that is no contradiction.
#[test]
fn f8_between_two_phases_the_index_is_one_ahead() {
    let phases = json!(["05-test-strategy", "06-implementation", "08-code-review"]);
    workflow(&json!({ "phases": phases, "current_phase_index": 2 }))
        .guard(NAME, &advance())
        .says_nothing();
    // AC-010a: one past the end when the last phase is done.
    let phases = json!(["05-test-strategy", "06-implementation"]);
    workflow(&json!({ "phases": phases, "current_phase_index": 2 }))
        .guard(NAME, &advance())
        .says_nothing();
}

/// BUG-0008/0.4: an index that is negative or no number was compared.
#[test]
fn bug_0008_0_4_what_is_no_place_in_the_list_is_not_compared() {
    for index in [json!(-1), json!(1.5), json!("0"), json!(null), json!(99)] {
        let phases = json!(["01-requirements", "06-implementation"]);
        workflow(&json!({ "phases": phases, "current_phase_index": index }))
            .guard(NAME, &advance())
            .says_nothing();
    }
    for phases in [json!([]), json!("x"), json!({})] {
        workflow(&json!({ "phases": phases, "current_phase_index": 0 }))
            .guard(NAME, &advance())
            .says_nothing();
    }
}

/// BUG-0008/0.5: empty definitions of workflows hid the built-in ones.
#[test]
fn bug_0008_0_5_empty_definitions_switch_no_requirement_off() {
    let project = closed();
    project.file(".isdlc/config/workflows.json", "{}");
    project.guard(NAME, &advance()).blocks(BLOCKED);
}

#[test]
fn rule_5_old_keys_and_phases_without_requirements_are_noted() {
    let project = in_phase("13-test-deploy", &tests_required(), &open());
    project.guard(NAME, &advance()).warns(
        "[SELF-HEAL] gate-blocker: Phase key '13-test-deploy' normalized to '12-test-deploy'.",
    );
    let state = running("R1-behavior-extraction", "in_progress");
    let project = with_requirements(&state, &json!({ "phase_requirements": {} }));
    project.guard(NAME, &advance()).warns("[SELF-HEAL] gate-blocker: No requirements defined for phase 'R1-behavior-extraction'. Allowing gate advancement.");
}

/// F6: what is recorded under an old key of a phase was not seen.
/// TS-008: `13-test-deploy`, an old key, means `12-test-deploy` everywhere.
#[test]
fn f6_ts008_state_under_an_old_key_counts() {
    for (named, filed) in [
        ("13-test-deploy", "13-test-deploy"),
        ("12-test-deploy", "13-test-deploy"),
        ("13-test-deploy", "12-test-deploy"),
    ] {
        let mut state = running(named, "in_progress");
        state["phases"] = json!({ filed: open() });
        let config = json!({ "phase_requirements": { "12-test-deploy": tests_required() } });
        let project = with_requirements(&state, &config);
        project.guard(NAME, &advance()).allows();
        // And what the guard writes goes where the phase is filed.
        state["phases"] = json!({ filed: { "status": "in_progress" } });
        let project = with_requirements(&state, &config);
        project.guard(NAME, &advance()).blocks("GATE BLOCKED");
        let after = super::state(&project);
        assert_eq!(after["phases"].as_object().unwrap().len(), 1);
        assert_eq!(
            after["phases"][filed]["gate_validation"]["status"],
            "blocked"
        );
    }
}

/// BUG-0005: guards read the phase at the top of the state first, and acted on the wrong one.
/// TS-006: a stale `current_phase` at the top is not read where the workflow has its own.
/// AC-004f: the workflow's own current phase is read first, the one at the top only without it.
#[test]
fn bug_0005_ts006_ac_004f_the_workflows_phase_counts() {
    let mut state = running("03-architecture", "in_progress");
    state["current_phase"] = json!("01-requirements");
    state["phases"]["03-architecture"] = open();
    let config = json!({ "phase_requirements": { "01-requirements": tests_required(), "03-architecture": tests_required() } });
    with_requirements(&state, &config)
        .guard(NAME, &advance())
        .says_nothing();
}

/// BUG-0008/0.8: a phase could be left during its supervised review.
/// TS-014: a supervised phase waits for a person, who continues, reviews or has it done again.
#[test]
fn bug_0008_0_8_ts014_a_supervised_review_holds_the_gate() {
    let review = |review: &Value| workflow(&json!({ "supervised_review": review }));
    let project = review(&json!({ "status": "reviewing" }));
    project
        .guard(NAME, &advance())
        .blocks("GATE BLOCKED: Supervised review in progress for phase '06-implementation'.");
    assert_eq!(project.codes(), ["GB-003"]);
    assert_eq!(state(&project)["pending_escalations"], json!(null));
    let rejected = json!({ "status": "rejected", "rejection_reason": "names are unclear." });
    review(&rejected).guard(NAME, &advance()).blocks("GATE BLOCKED: Supervised review rejected for phase '06-implementation'. Reason: names are unclear.");
    for status in ["gate_presented", "completed", "redo_pending"] {
        review(&json!({ "status": status }))
            .guard(NAME, &advance())
            .says_nothing();
    }
}

/// BUG-0007/0.1: a phase status of `completed` opened the gate unchecked.
#[test]
fn bug_0007_0_1_a_completed_phase_status_opens_nothing() {
    let mut state = running("06-implementation", "completed");
    state["active_workflow"]["phase_status"]["06-implementation"] = json!("completed");
    let config = json!({ "phase_requirements": { "06-implementation": tests_required() } });
    with_requirements(&state, &config)
        .guard(NAME, &advance())
        .blocks(BLOCKED);
}

/// D6: a phase without an entry, or a workflow that is over, opened every gate.
#[test]
fn d6_a_missing_entry_is_not_satisfied() {
    for phases in [
        json!({}),
        json!(null),
        json!({ "06-implementation": null }),
        json!("gone"),
    ] {
        let mut state = running("06-implementation", "in_progress");
        state["phases"] = phases;
        let config = json!({ "phase_requirements": { "06-implementation": tests_required() } });
        let project = with_requirements(&state, &config);
        project.guard(NAME, &advance()).blocks(BLOCKED);
        escalation(&project);
    }
}

/// D6: a phase without an entry, or a workflow that is over, opened every gate.
#[test]
fn d6_a_workflow_that_is_over_has_no_gate_to_open() {
    for status in ["completed", "cancelled"] {
        let mut state = running("06-implementation", "in_progress");
        state["active_workflow"]["status"] = json!(status);
        let config = json!({ "phase_requirements": { "06-implementation": tests_required() } });
        let project = with_requirements(&state, &config);
        project
            .guard(NAME, &advance())
            .blocks(&format!("GATE BLOCKED: The workflow is already {status}"));
        assert_eq!(project.codes(), ["GB-004"]);
    }
}

#[test]
fn rule_9_a_passed_gate_asks_once_for_the_cloud() {
    let mut required = tests_required();
    required["on_gate_pass"] = json!({ "trigger_cloud_config": { "enabled": true } });
    let project = in_phase("07-testing", &required, &open());
    for _ in 0..2 {
        project.guard(NAME, &advance()).says_nothing();
        let triggers = state(&project)["pending_triggers"].clone();
        assert_eq!(triggers.as_array().unwrap().len(), 1, "{triggers}");
        assert_eq!(triggers[0]["trigger"], "cloud_configuration");
        assert_eq!(triggers[0]["phase"], "07-testing");
        assert!(triggers[0]["triggered_at"].is_string());
    }
    let mut decided = running("07-testing", "in_progress");
    decided["phases"]["07-testing"] = open();
    decided["cloud_configuration"] = json!({ "provider": "aws" });
    let project = with_requirements(
        &decided,
        &json!({ "phase_requirements": { "07-testing": required } }),
    );
    project.guard(NAME, &advance()).says_nothing();
    assert_eq!(state(&project), decided, "nothing was written");
}

#[test]
fn rule_11_a_block_is_recorded_in_the_state_and_the_log() {
    let project = closed();
    let reason = project.guard(NAME, &advance()).blocks(BLOCKED);
    assert!(
        reason.ends_with("\n\nComplete the required iterations before advancing."),
        "{reason}"
    );
    let after = state(&project);
    let validation = &after["phases"]["06-implementation"]["gate_validation"];
    assert_eq!(validation["status"], "blocked");
    assert_eq!(
        validation["blocking_requirements"],
        json!(["test_iteration"])
    );
    assert!(validation["blocked_at"].is_string() && validation["details"].is_array());
    assert_eq!(after["state_version"], 2, "one write");
    assert_eq!(
        after["phases"]["06-implementation"]["status"],
        "in_progress"
    );
    let entry = escalation(&project);
    assert_eq!(
        (&entry["type"], &entry["detail"]),
        (&json!("gate_blocked"), &json!(reason))
    );
    assert_eq!(project.codes(), ["GB-001"]);
    // R29: the original kept this block out of its log.
    assert!(
        project
            .read(".isdlc/hook-activity.log")
            .contains(r#""hook":"gate-blocker","event":"block""#)
    );
}

//! Facts 1.13 step 8 a–d: what the gate asks of tests, constitution, elicitation and agents.

use serde_json::{Value, json};

use super::{in_phase, minutes_ago, with_requirements};
use crate::events::task;
use crate::project::{TestProject, running};

/// What the gate says about one requirement, or nothing if it opens.
fn gate(required: &Value, data: &Value) -> Option<String> {
    ask(&in_phase("06-implementation", required, data))
}

fn ask(project: &TestProject) -> Option<String> {
    let run = project.guard("gate-blocker", &task("sdlc-orchestrator", "advance"));
    if run.stdout.is_empty() {
        return None;
    }
    let reason = run.blocks("GATE BLOCKED: Iteration requirements not satisfied for phase '");
    let (_, why) = reason.split_once("\n- ")?;
    why.split_once(": ")
        .map(|(_, why)| why.lines().next().unwrap().to_owned())
}

#[track_caller]
fn says(found: Option<&str>, expected: &str) {
    assert!(
        found.is_some_and(|found| found.starts_with(expected)),
        "{found:?}"
    );
}

fn tests(data: &Value) -> Option<String> {
    let data = json!({ "iteration_requirements": { "test_iteration": data } });
    gate(
        &json!({ "test_iteration": { "enabled": true, "max_iterations": 10 } }),
        &data,
    )
}

#[test]
fn a_tests_r10_ts004() {
    says(
        tests(&json!(null)).as_deref(),
        "Test iteration not started.",
    );
    let failing = json!({ "completed": false, "last_test_result": "failed", "current_iteration": 2, "max_iterations": 5 });
    says(
        tests(&failing).as_deref(),
        "Test iteration incomplete. 2/5 iterations used. Last result: FAILED.",
    );
    // R10: not completed is enough, whatever the last result was.
    says(
        tests(&json!({ "completed": false, "last_test_result": "passed" })).as_deref(),
        "Test iteration not completed.",
    );
    let escalated = json!({ "completed": true, "status": "escalated", "current_iteration": 10 });
    says(
        tests(&escalated).as_deref(),
        "Test iteration escalated but not approved. Human approval required.",
    );
    let mut approved = escalated;
    approved["escalation_approved"] = json!(true);
    assert_eq!(tests(&approved), None);
    assert_eq!(
        tests(&json!({ "completed": true, "current_iteration": 2 })),
        None
    );
    assert_eq!(
        gate(
            &json!({ "test_iteration": { "enabled": false } }),
            &json!({})
        ),
        None
    );
}

fn constitution(data: &Value) -> Option<String> {
    let data = json!({ "constitutional_validation": data });
    gate(
        &json!({ "constitutional_validation": { "enabled": true } }),
        &data,
    )
}

#[test]
fn b_constitution_r8_ts005() {
    says(
        constitution(&json!(null)).as_deref(),
        "Constitutional validation not started.",
    );
    says(
        constitution(&json!({ "status": "in_progress", "iterations_used": 1 })).as_deref(),
        "Constitutional validation incomplete.",
    );
    // R8: an escalation opens the gate only when a person approved it.
    says(
        constitution(&json!({ "status": "escalated", "completed": false })).as_deref(),
        "Constitutional validation incomplete.",
    );
    let escalated = json!({ "completed": true, "status": "escalated", "iterations_used": 5 });
    says(
        constitution(&escalated).as_deref(),
        "Constitutional validation escalated but not approved. Human decision required.",
    );
    let mut approved = escalated;
    approved["escalation_approved"] = json!(true);
    assert_eq!(constitution(&approved), None);
    says(
        constitution(&json!({ "completed": true, "status": "iterating", "iterations_used": 1 }))
            .as_deref(),
        "Constitutional validation status: iterating. Must be 'compliant'.",
    );
    assert_eq!(
        constitution(&json!({ "completed": true, "status": "compliant", "iterations_used": 1 })),
        None
    );
}

fn elicitation(data: &Value) -> Option<String> {
    let data = json!({ "iteration_requirements": { "interactive_elicitation": data } });
    let required = json!({ "enabled": true, "min_menu_interactions": 3, "required_final_selection": ["save", "continue"] });
    gate(&json!({ "interactive_elicitation": required }), &data)
}

#[test]
fn c_elicitation_r9() {
    says(
        elicitation(&json!(null)).as_deref(),
        "Interactive elicitation incomplete.",
    );
    // R9: not completed is enough, however many menus there were.
    says(
        elicitation(&json!({ "completed": false, "menu_interactions": 7 })).as_deref(),
        "Interactive elicitation incomplete.",
    );
    let exit = json!({ "completed": true, "menu_interactions": 4, "final_selection": "exit" });
    says(
        elicitation(&exit).as_deref(),
        "Interactive elicitation ended with an invalid selection 'exit'.",
    );
    assert_eq!(
        elicitation(
            &json!({ "completed": true, "menu_interactions": 3, "final_selection": "SAVE" })
        ),
        None
    );
}

/// D7: `completed: true` was enough for the gate, without any menu or iteration.
/// GH-209: gates believed what the agent said of itself.
#[test]
fn d7_gh_209_completed_by_word_alone_is_no_evidence() {
    let few = json!({ "completed": true, "menu_interactions": 2, "final_selection": "save" });
    says(
        elicitation(&few).as_deref(),
        "Interactive elicitation had 2 menu interactions. At least 3 required.",
    );
    says(
        elicitation(&json!({ "completed": true, "final_selection": "save" })).as_deref(),
        "Interactive elicitation had 0",
    );
    says(
        constitution(&json!({ "completed": true, "status": "compliant" })).as_deref(),
        "Constitutional validation is marked completed but no iteration is recorded.",
    );
    says(
        constitution(&json!({ "completed": true, "status": "compliant", "iterations_used": 0 }))
            .as_deref(),
        "Constitutional validation is marked completed",
    );
    says(
        tests(&json!({ "completed": true, "current_iteration": 0 })).as_deref(),
        "Test iteration is marked completed but no test run is recorded.",
    );
}

fn agents(fields: &Value) -> Option<String> {
    let mut state = running("06-implementation", "in_progress");
    state["active_workflow"]["started_at"] = json!(minutes_ago(60));
    for (key, value) in fields.as_object().unwrap() {
        state[key] = value.clone();
    }
    let required = json!({ "agent_delegation_validation": { "enabled": true } });
    ask(&with_requirements(
        &state,
        &json!({ "phase_requirements": { "06-implementation": required } }),
    ))
}

/// D8: that a phase is in progress was taken as proof that its agent had worked.
#[test]
fn d8_the_phases_agent_must_have_worked_and_in_progress_proves_nothing() {
    says(
        agents(&json!({})).as_deref(),
        "Agent 'software-developer' has not worked in this phase.",
    );
    let log = |agent: &str, phase: &str, at: &str| json!({ "skill_usage_log": [{ "agent": agent, "agent_phase": phase, "timestamp": at }] });
    let now = minutes_ago(1);
    assert_eq!(
        agents(&log("software-developer", "06-implementation", &now)),
        None
    );
    assert_eq!(
        agents(
            &json!({ "skill_usage_log": [{ "agent": "software-developer", "agent_phase": "06-implementation" }] })
        ),
        None
    );
    assert!(agents(&log("qa-engineer", "06-implementation", &now)).is_some());
    assert!(agents(&log("software-developer", "08-code-review", &now)).is_some());
    // The log outlives workflows.
    assert!(
        agents(&log(
            "software-developer",
            "06-implementation",
            &minutes_ago(90)
        ))
        .is_some()
    );
    assert_eq!(
        agents(&json!({ "pending_delegation": { "required_agent": "software-developer" } })),
        None
    );
    assert!(
        agents(&json!({ "pending_delegation": { "required_agent": "sdlc-orchestrator" } }))
            .is_some()
    );
}

#[test]
fn d_without_an_owner_nobody_can_be_missing() {
    let required = json!({ "agent_delegation_validation": { "enabled": true } });
    assert_eq!(ask(&in_phase("99-mine", &required, &json!({}))), None);
    let project = in_phase("06-implementation", &required, &json!({}));
    std::fs::remove_file(project.path(".claude/hooks/config/skills-manifest.json")).unwrap();
    assert_eq!(ask(&project), None);
}

/// F3: `15-upgrade` of the manifest stands for the phases `15-upgrade-plan` and `15-upgrade-
/// execute`.
#[test]
fn f3_the_upgrade_engineer_owns_both_upgrade_phases() {
    let required = json!({ "agent_delegation_validation": { "enabled": true } });
    let project = in_phase("15-upgrade-plan", &required, &json!({}));
    says(
        ask(&project).as_deref(),
        "Agent 'upgrade-engineer' has not worked in this phase.",
    );
    let mut state = running("15-upgrade-plan", "in_progress");
    state["skill_usage_log"] =
        json!([{ "agent": "upgrade-engineer", "agent_phase": "15-upgrade" }]);
    assert_eq!(
        ask(&with_requirements(
            &state,
            &json!({ "phase_requirements": { "15-upgrade-plan": required } })
        )),
        None
    );
}

#[test]
fn all_that_is_missing_is_told_at_once() {
    let required = json!({
        "test_iteration": { "enabled": true }, "constitutional_validation": { "enabled": true },
        "interactive_elicitation": { "enabled": true }, "agent_delegation_validation": { "enabled": true },
        "artifact_validation": { "enabled": true, "paths": ["docs/x.md"] },
    });
    let project = in_phase("06-implementation", &required, &json!({}));
    let reason = project
        .guard("gate-blocker", &task("sdlc-orchestrator", "advance"))
        .blocks("GATE BLOCKED");
    assert!(reason.contains("Blocking requirements: test_iteration, constitutional_validation, interactive_elicitation, agent_delegation_validation, artifact_validation\n"), "{reason}");
    assert_eq!(reason.matches("\n- ").count(), 5);
}

/// D9: `workflow_overrides` were merged in three ways, and under old phase keys not at all.
#[test]
fn d9_overrides_are_merged_deep() {
    let mut state = running("01-requirements", "in_progress");
    state["active_workflow"]["type"] = json!("fix");
    let asked = json!({ "completed": true, "menu_interactions": 1, "final_selection": "save" });
    state["phases"]["01-requirements"]["iteration_requirements"] =
        json!({ "interactive_elicitation": asked });
    let config = |overrides: &Value| {
        json!({
            "phase_requirements": { "01-requirements": {
                "interactive_elicitation": { "enabled": true, "min_menu_interactions": 3, "required_final_selection": ["save"] },
            } },
            "workflow_overrides": { "fix": { "01-requirements": overrides } },
        })
    };
    assert!(ask(&with_requirements(&state, &config(&json!({})))).is_some());
    let fewer = json!({ "interactive_elicitation": { "min_menu_interactions": 1 } });
    assert_eq!(ask(&with_requirements(&state, &config(&fewer))), None);
    let other = json!({ "interactive_elicitation": { "min_menu_interactions": 1, "required_final_selection": ["continue"] } });
    assert!(
        ask(&with_requirements(&state, &config(&other)))
            .unwrap()
            .contains("invalid selection")
    );
}

//! Facts 1.21; R20.

use serde_json::{Value, json};

use super::{minutes_ago, state};
use crate::project::{Run, TestProject, running};

const BLOCKED: &str =
    "You loaded /isdlc but did not delegate to \"sdlc-orchestrator\" for initialization.";

fn marker(args: &str, minutes: i64) -> Value {
    json!({ "skill": "isdlc", "required_agent": "sdlc-orchestrator", "invoked_at": minutes_ago(minutes), "args": args })
}

fn with(mut state: Value, marker: &Value) -> TestProject {
    state["state_version"] = json!(1);
    state["pending_delegation"] = marker.clone();
    TestProject::new().state(&state)
}

fn stop(project: &TestProject) -> Run {
    project.run(
        &["hook", "--guard", "delegation-gate", "--event", "Stop"],
        b"{}",
    )
}

/// The stop is held; returns why.
#[track_caller]
fn holds(run: &Run) -> String {
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
    assert_eq!(answer["decision"], "block", "{run:?}");
    let reason = answer["reason"].as_str().unwrap().to_owned();
    assert!(reason.starts_with(BLOCKED), "{reason}");
    reason
}

#[track_caller]
fn clears(project: &TestProject) {
    let run = stop(project).allows();
    let after = state(project);
    assert_eq!(after["pending_delegation"], json!(null), "{run:?}");
    assert_eq!(after["_delegation_gate_error_count"], json!(null));
}

#[test]
fn rule_8_a_command_that_was_not_handed_on_holds_the_stop() {
    let project = with(json!({}), &marker("feature \"x\"", 1));
    let reason = holds(&stop(&project));
    assert!(
        reason.contains("subagent_type \"sdlc-orchestrator\""),
        "{reason}"
    );
    assert_eq!(project.codes(), ["DG-001"]);
    assert!(state(&project)["pending_delegation"].is_object());
}

#[test]
fn rule_1_without_a_marker_there_is_nothing_to_say() {
    stop(&TestProject::new()).says_nothing();
    for none in [json!(null), json!(false), json!("x"), json!([])] {
        stop(&with(json!({}), &none)).says_nothing();
    }
}

/// GH-62: another session's marker blocked every stop; it expires.
#[test]
fn gh_62_rule_2_an_old_marker_is_cleared() {
    let project = with(
        json!({ "_delegation_gate_error_count": 3 }),
        &marker("feature", 31),
    );
    clears(&project);
    assert!(
        project
            .read(".isdlc/hook-activity.log")
            .contains("self-heal")
    );
    holds(&stop(&with(json!({}), &marker("feature", 29))));
    // A time that cannot be read, or that is yet to come, proves nothing.
    let mut odd = marker("feature", -600);
    clears(&with(json!({}), &odd));
    odd["invoked_at"] = json!("soon");
    clears(&with(json!({}), &odd));
    odd.as_object_mut().unwrap().remove("invoked_at");
    let told = stop(&with(json!({}), &odd))
        .warns("[SELF-HEAL] delegation-gate: Stale pending delegation cleared");
    assert_eq!(told.lines().count(), 1);
}

/// BUG-0021, GH-5: after `/isdlc analyze` no stop was ever let go.
#[test]
fn bug_0021_gh_5_rule_3_verbs_that_the_agent_does_itself() {
    for args in [
        "add \"x\"",
        "analyze GH-5",
        "--light -x analyze y",
        "ANALYZE",
    ] {
        clears(&with(json!({}), &marker(args, 1)));
    }
    for args in ["feature \"add and analyze\"", "", "--add"] {
        holds(&stop(&with(json!({}), &marker(args, 1))));
    }
}

#[test]
fn rule_5_the_orchestrator_was_asked_since() {
    let log = |agent: &str, minutes| json!({ "skill_usage_log": [{ "agent": agent, "timestamp": minutes_ago(minutes) }] });
    for agent in [
        "sdlc-orchestrator",
        "SDLC_Orchestrator",
        "sdlc orchestrator",
        "00-sdlc-orchestrator",
        "my-sdlc-orchestrator",
    ] {
        clears(&with(log(agent, 1), &marker("feature", 2)));
    }
    holds(&stop(&with(
        log("sdlc-orchestrator", 3),
        &marker("feature", 2),
    )));
    holds(&stop(&with(log("qa-engineer", 1), &marker("feature", 2))));
}

#[test]
fn rule_6_a_workflow_that_went_on_clears_it() {
    let mut state = running("06-implementation", "in_progress");
    state["active_workflow"]["current_phase_index"] = json!(1);
    clears(&with(state, &marker("feature", 1)));
}

#[test]
fn parallel_sessions_02_22_7f04d505_3ffdbf48_a_running_workflow_is_not_held_by_a_marker() {
    let project = with(running("01-requirements", "pending"), &marker("feature", 1));
    stop(&project).says_nothing();
    assert!(
        state(&project)["pending_delegation"].is_object(),
        "it may be another session's"
    );
}

#[test]
fn rule_7_a_phase_in_progress_clears_it() {
    let state = json!({ "current_phase": "01-requirements", "phases": { "01-requirements": { "status": "in_progress" } } });
    let project = with(state, &marker("feature", 1));
    clears(&project);
    assert!(
        project
            .read(".isdlc/hook-activity.log")
            .contains("Phase '01-requirements' is in progress")
    );
}

/// R20: delegation-gate honours `stop_hook_active` and lets the agent go on an error.
#[test]
fn r20_stop_hook_active_is_honoured() {
    let project = with(json!({}), &marker("feature", 1));
    let event = json!({ "hook_event_name": "Stop", "session_id": "s", "stop_hook_active": false });
    holds(&project.hook(&event));
    for (key, value) in [
        ("stop_hook_active", json!(true)),
        ("permission_mode", json!("plan")),
        ("background_tasks", json!([{ "id": "1" }])),
    ] {
        let mut event = event.clone();
        event[key] = value;
        let run = project.guard("delegation-gate", &event);
        assert!(!run.stdout.contains("block"), "{key} {run:?}");
    }
    assert!(state(&project)["pending_delegation"].is_object());
}

/// R20: delegation-gate honours `stop_hook_active` and lets the agent go on an error.
/// 431006b3: an error must not clear the marker of a delegation.
#[test]
fn r20_431006b3_what_cannot_be_read_lets_the_agent_stop() {
    let project = TestProject::new();
    project.file(
        ".isdlc/state.json",
        r#"{"pending_delegation": {"skill": "isdlc","#,
    );
    let run = stop(&project);
    assert!(!run.stdout.contains("block"), "{run:?}");
    assert_eq!(project.codes(), ["state-corrupt"]);
    // Nobody to delegate to is nothing to hold for; the marker stays for those who can read it.
    let odd = json!({ "skill": "isdlc", "invoked_at": minutes_ago(1), "required_agent": 7 });
    let project = with(json!({}), &odd);
    stop(&project).says_nothing();
    assert_eq!(state(&project)["pending_delegation"], odd);
}

#[test]
fn a_subagents_stop_is_not_the_agents() {
    let project = with(json!({}), &marker("feature", 1));
    let event = json!({ "hook_event_name": "SubagentStop", "session_id": "s" });
    assert!(!project.hook(&event).stdout.contains("block"));
}

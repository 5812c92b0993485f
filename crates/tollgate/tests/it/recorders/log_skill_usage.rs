//! Facts 1.22.

use serde_json::{Value, json};

use super::{finished, state};
use crate::events::{Event as _, bash, task};
use crate::project::{TestProject, running};

const NAME: &str = "log-skill-usage";

fn entry(project: &TestProject) -> Value {
    state(project)["skill_usage_log"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone()
}

fn in_mode(mode: Option<&str>) -> TestProject {
    let mut state = running("06-implementation", "in_progress");
    if let Some(mode) = mode {
        state["skill_enforcement"] = json!({ "mode": mode });
    }
    TestProject::new().state(&state)
}

#[test]
fn an_entry_has_all_its_fields() {
    let project = in_mode(Some("observe"));
    let mut event = finished("05-software-developer", "build it", "done");
    event["tool_input"]["description"] = json!("Build");
    project.guard(NAME, &event).says_nothing();
    let mut entry = entry(&project);
    let moment = entry["timestamp"].take();
    assert!(moment.as_str().unwrap().ends_with('Z'));
    let expected = json!({
        "timestamp": null, "agent": "software-developer", "agent_phase": "06-implementation",
        "current_phase": "06-implementation", "description": "Build", "status": "executed",
        "reason": "authorized-phase-match", "enforcement_mode": "observe",
        "external_skills_registered": 0,
    });
    assert_eq!(entry, expected);
    assert_eq!(state(&project)["state_version"], 2);
}

#[test]
fn status_and_reason_follow_from_agent_phase_and_mode() {
    for (agent, mode, status, reason) in [
        (
            "sdlc-orchestrator",
            None,
            "executed",
            "authorized-orchestrator",
        ),
        (
            "software-developer",
            None,
            "executed",
            "authorized-phase-match",
        ),
        ("somebody-new", None, "executed", "allowed"),
        (
            "qa-engineer",
            Some("observe"),
            "observed",
            "cross-phase-usage",
        ),
        ("qa-engineer", Some("warn"), "warned", "cross-phase-usage"),
        ("qa-engineer", Some("audit"), "audited", "cross-phase-usage"),
        (
            "qa-engineer",
            Some("strict"),
            "observed",
            "cross-phase-usage",
        ),
        ("qa-engineer", None, "observed", "cross-phase-usage"),
        (
            "discover-orchestrator",
            None,
            "observed",
            "cross-phase-usage",
        ),
    ] {
        let project = in_mode(mode);
        project
            .guard(NAME, &finished(agent, "x", "y"))
            .says_nothing();
        let entry = entry(&project);
        assert_eq!(entry["status"], status, "{agent} {mode:?}");
        assert_eq!(entry["reason"], reason, "{agent} {mode:?}");
        assert_eq!(entry["enforcement_mode"], mode.unwrap_or("strict"));
        assert_eq!(entry["description"], "N/A");
    }
}

#[test]
fn nothing_is_written_without_an_agent_a_state_or_enforcement() {
    let project = in_mode(None);
    let before = project.read(".isdlc/state.json");
    project.guard(NAME, &finished("", "x", "y")).says_nothing();
    let mut before_it_runs = task("software-developer", "x");
    before_it_runs["hook_event_name"] = json!("PreToolUse");
    project.guard(NAME, &before_it_runs).allows();
    project.guard(NAME, &bash("ls")).says_nothing();
    assert_eq!(project.read(".isdlc/state.json"), before);
    let off = TestProject::new().state(&json!({ "skill_enforcement": { "enabled": false } }));
    off.guard(NAME, &finished("software-developer", "x", "y"))
        .says_nothing();
    assert!(state(&off).get("skill_usage_log").is_none());
    TestProject::new()
        .guard(NAME, &finished("software-developer", "x", "y"))
        .says_nothing();
}

#[test]
fn without_a_workflow_the_top_level_phase_or_the_first_counts() {
    let project = TestProject::new().state(&json!({ "current_phase": "05-test-strategy" }));
    project.guard(NAME, &finished("x", "x", "y")).says_nothing();
    assert_eq!(entry(&project)["current_phase"], "05-test-strategy");
    let project = TestProject::new().state(&json!({ "project": {} }));
    project.guard(NAME, &finished("x", "x", "y")).says_nothing();
    assert_eq!(entry(&project)["current_phase"], "01-requirements");
    assert_eq!(entry(&project)["agent_phase"], "");
}

/// F6: what is recorded under an old key of a phase was not seen.
/// F3: `15-upgrade` of the manifest stands for the phases `15-upgrade-plan` and `15-upgrade-
/// execute`.
#[test]
fn f6_f3_old_and_family_keys_match_their_phase() {
    let project = TestProject::new().state(&running("16-upgrade-plan", "in_progress"));
    project.file(
        ".claude/hooks/config/skills-manifest.json",
        r#"{"ownership":{"upgrade-engineer":{"phase":"15-upgrade"}}}"#,
    );
    project
        .guard(NAME, &finished("upgrade-engineer", "x", "y"))
        .says_nothing();
    assert_eq!(entry(&project)["reason"], "authorized-phase-match");
}

#[test]
fn external_skills_are_counted_in_both_shapes() {
    for (skills, count) in [
        (json!({ "a": {}, "b": {} }), 2),
        (json!([{}]), 1),
        (json!(7), 0),
    ] {
        let project = in_mode(None);
        let text = json!({ "skills": skills }).to_string();
        project.file("docs/isdlc/external-skills-manifest.json", &text);
        project.guard(NAME, &finished("x", "x", "y")).says_nothing();
        assert_eq!(entry(&project)["external_skills_registered"], count);
    }
}

#[test]
fn lsu_001_a_log_that_is_no_list_is_begun_anew_and_noted() {
    let project = TestProject::new().state(&json!({ "skill_usage_log": "gone" }));
    project
        .guard(NAME, &finished("x", "x", "y"))
        .warns("[SELF-HEAL] log-skill-usage: skill_usage_log was a string");
    assert_eq!(
        state(&project)["skill_usage_log"].as_array().unwrap().len(),
        1
    );
    assert!(
        project
            .read(".isdlc/hook-activity.log")
            .contains("self-heal")
    );
}

/// D3: a tool's result is `tool_response` in today's agents; the original read only `tool_result`.
#[test]
fn d3_a_real_agents_task_is_logged_even_while_it_still_runs() {
    let project = in_mode(None);
    project
        .hook(
            &task("software-developer", "x")
                .with("tool_name", "Agent")
                .in_session("s")
                .call("t1")
                .done(json!({ "status": "async_launched", "agentId": "a" })),
        )
        .allows();
    assert_eq!(entry(&project)["agent"], "software-developer");
}

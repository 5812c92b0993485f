//! Facts 1.32, 2.11, 2.12, 2.14.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::state;
use crate::project::TestProject;

const NAME: &str = "workflow-completion-enforcer";
const FIRST: &str = "[SELF-HEAL] workflow-completion-enforcer: Added 2 phase snapshots and metrics to workflow_history entry";

fn ago(seconds: i64) -> String {
    let then = Timestamp::now() - SignedDuration::from_secs(seconds);
    then.to_string()
}

fn ended(seconds: i64) -> Value {
    json!({
        "state_version": 7, "active_workflow": null, "current_phase": "08-code-review",
        "pending_escalations": [{ "type": "x" }],
        "phases": {
            "06-implementation": {
                "status": "completed", "started": ago(3600), "completed": ago(1800), "gate_passed": ago(1800),
                "summary": "built", "artifacts": ["a.rs"],
                "iteration_requirements": { "test_iteration": { "completed": true, "current_iteration": 2 } },
            },
            "08-code-review": { "status": "completed", "started": ago(1800), "completed": ago(60), "gate_passed": ago(60) },
        },
        "workflow_history": [{
            "type": "feature", "description": "d", "artifact_folder": "REQ-0001-x", "started_at": ago(7200),
            "completed_at": ago(seconds), "status": "completed",
            "phases": ["06-implementation", "08-code-review"],
        }],
    })
}

fn wrote(project: &TestProject) -> Value {
    json!({
        "tool_name": "Edit", "tool_result": "ok",
        "tool_input": { "file_path": project.path(".isdlc/state.json"), "old_string": "a", "new_string": "b" },
    })
}

#[test]
fn a_workflow_ended_by_hand_gets_its_snapshots_and_figures() {
    let project = TestProject::new().state(&ended(10));
    project.guard(NAME, &wrote(&project)).warns(FIRST);
    let state = state(&project);
    let entry = &state["workflow_history"][0];
    let first = &entry["phase_snapshots"][0];
    assert_eq!(first["key"], "06-implementation");
    assert_eq!(first["duration_minutes"], 30);
    assert_eq!(first["summary"], "built");
    assert_eq!(
        first["test_iterations"],
        json!({ "count": 2, "result": "passed", "escalated": false })
    );
    let metrics = &entry["metrics"];
    assert_eq!(metrics["total_phases"], 2);
    assert_eq!(metrics["phases_completed"], 2);
    assert_eq!(metrics["total_duration_minutes"], 120);
    assert_eq!(metrics["gates_passed_first_try"], 1);
    assert_eq!(metrics["gates_required_iteration"], 1);
    for (field, empty) in [
        ("current_phase", json!(null)),
        ("active_agent", json!(null)),
        ("phases", json!({})),
        ("blockers", json!([])),
        ("pending_escalations", json!([])),
        ("pending_delegation", json!(null)),
    ] {
        assert_eq!(state[field], empty, "{field}");
    }
    let archive: Value = serde_json::from_str(&project.read(".isdlc/state-archive.json")).unwrap();
    assert_eq!(archive["records"].as_array().unwrap().len(), 1);
    assert!(
        project
            .read(".isdlc/hook-activity.log")
            .contains("self-heal")
    );
    // Once is enough.
    project.guard(NAME, &wrote(&project)).says_nothing();
}

/// Agents leave the zone out.
#[test]
fn a_moment_without_a_zone_is_a_moment() {
    let mut state = ended(10);
    let bare = |value: &mut Value| *value = json!(value.as_str().unwrap().trim_end_matches('Z'));
    bare(&mut state["workflow_history"][0]["completed_at"]);
    bare(&mut state["phases"]["06-implementation"]["started"]);
    let project = TestProject::new().state(&state);
    project.guard(NAME, &wrote(&project)).warns(FIRST);
    let entry = &self::state(&project)["workflow_history"][0];
    assert_eq!(entry["phase_snapshots"][0]["duration_minutes"], 30);
    assert_eq!(entry["metrics"]["total_duration_minutes"], 120);
}

/// The archive calls a branch merged where git shows it.
#[test]
fn a_branch_that_is_called_merged_is_so_in_the_archive_if_git_shows_it() {
    for (is_merged, is_deleted) in [(true, false), (true, true), (false, false), (false, true)] {
        let mut state = ended(10);
        state["workflow_history"][0]["git_branch"] =
            json!({ "name": "feature/x", "created_from": "main", "status": "merged" });
        let project = TestProject::new().state(&state).on_branch("feature/x");
        project.file("a", "a");
        project.git(&["add", "a"]);
        project.git(&["commit", "-q", "-m", "a"]);
        project.git(&["switch", "-q", "main"]);
        if is_merged {
            project.git(&["merge", "-q", "--squash", "feature/x"]);
            project.git(&["commit", "-q", "-m", "a (#1)"]);
        }
        if is_deleted {
            project.git(&["branch", "-q", "-D", "feature/x"]);
        }
        project.guard(NAME, &wrote(&project)).warns(FIRST);
        let archive = project.read(".isdlc/state-archive.json");
        let archive: Value = serde_json::from_str(&archive).unwrap();
        let expected = if is_merged { "merged" } else { "completed" };
        assert_eq!(
            archive["records"][0]["outcome"], expected,
            "{is_merged} {is_deleted}"
        );
    }
}

#[test]
fn nothing_is_done_while_one_runs_or_long_after_or_about_other_files() {
    let mut running = ended(10);
    running["active_workflow"] = json!({ "type": "fix", "phases": [] });
    let mut unreadable = ended(10);
    unreadable["workflow_history"][0]["completed_at"] = json!("yesterday");
    for state in [
        ended(121),
        running,
        unreadable,
        json!({ "workflow_history": [] }),
        json!({ "x": 1 }),
    ] {
        let project = TestProject::new().state(&state);
        let before = project.read(".isdlc/state.json");
        project.guard(NAME, &wrote(&project)).says_nothing();
        assert_eq!(project.read(".isdlc/state.json"), before);
    }
    let project = TestProject::new().state(&ended(10));
    let mut event = wrote(&project);
    event["tool_input"]["file_path"] = json!(project.path("README.md"));
    project.guard(NAME, &event).says_nothing();
}

/// R18: history entries that lack snapshots are completed, and lists cut to 50, 100 and 50.
#[test]
fn r18_an_entry_without_a_moment_and_a_cancelled_one_are_completed_too() {
    let mut state = ended(10);
    state["workflow_history"][0]["completed_at"] = json!(null);
    TestProject::new()
        .state(&state)
        .guard(NAME, &wrote(&TestProject::new()))
        .says_nothing();
    for field in ["", "cancelled_at"] {
        let mut state = ended(10);
        let entry = state["workflow_history"][0].as_object_mut().unwrap();
        let moment = entry.remove("completed_at").unwrap();
        if !field.is_empty() {
            entry.insert(field.to_owned(), moment);
        }
        let project = TestProject::new().state(&state);
        project.guard(NAME, &wrote(&project)).warns(FIRST);
    }
}

#[test]
fn a_workflow_that_took_much_longer_is_told() {
    let mut state = ended(10);
    let old = json!({ "metrics": { "total_duration_minutes": 50 }, "phase_snapshots": [] });
    let last = state["workflow_history"][0].clone();
    state["workflow_history"] = json!([old, old, last]);
    let project = TestProject::new().state(&state);
    project
        .guard(NAME, &wrote(&project))
        .warns("PERFORMANCE_REGRESSION: ");
    assert_eq!(project.codes(), ["WCE-002"]);
    let entry = super::state(&project)["workflow_history"][2].clone();
    assert_eq!(entry["regression_check"]["average_minutes"], 50);
}

/// BUG-0004: the state grew without bound, because nothing was pruned.
#[test]
fn bug_0004_long_lists_are_pruned() {
    let mut state = ended(10);
    state["skill_usage_log"] = (0..80).map(|n| json!({ "n": n })).collect();
    state["history"] = (0..150)
        .map(|n| json!({ "action": n.to_string() }))
        .collect();
    let project = TestProject::new().state(&state);
    project.guard(NAME, &wrote(&project)).warns(FIRST);
    let state = super::state(&project);
    assert_eq!(state["skill_usage_log"].as_array().unwrap().len(), 50);
    assert_eq!(state["skill_usage_log"][0]["n"], 30);
    assert_eq!(state["history"].as_array().unwrap().len(), 100);
}

//! Workflows and plans: `workflow status`, `phase …`, `plan status`.

use serde_json::json;

use super::assert_shows;
use crate::project::TestProject;

const PHASES: [&str; 3] = ["01-requirements", "06-implementation", "08-code-review"];

/// A workflow in its first phase.
fn started() -> TestProject {
    let project = TestProject::new().on_branch("main").with_workflow(&PHASES);
    project.must(&["workflow", "start", "t", "Gift cards"]);
    project
}

#[test]
fn a_workflow_from_phase_to_phase() {
    assert_shows!(
        started(),
        &[
            "workflow status",
            "phase brief",
            "phase complete --summary clear",
            "workflow status",
            "phase begin",
            "phase complete 08-code-review --summary x",
            "workflow audit",
        ]
    );
}

#[test]
fn a_phase_that_may_not_be_left() {
    let project = started();
    let requirements = json!({ "phase_requirements": { "01-requirements": {
        "interactive_elicitation": { "enabled": true },
        "constitutional_validation": { "enabled": true },
    } } });
    project.file(
        ".claude/hooks/config/iteration-requirements.json",
        requirements.to_string(),
    );
    assert_shows!(
        project,
        &["phase complete --summary x", "phase begin 08-code-review"]
    );
}

#[test]
fn no_workflow() {
    assert_shows!(
        TestProject::bare(),
        &[
            "workflow status",
            "phase complete --summary x",
            "workflow audit",
            "phase begin"
        ]
    );
}

#[test]
fn a_state_that_contradicts_itself() {
    let project = started();
    let mut state: serde_json::Value =
        serde_json::from_str(&project.text(".isdlc/state.json")).unwrap();
    state["active_agent"] = json!("qa-engineer");
    state["active_workflow"]["current_phase_index"] = json!(2);
    let project = project.state(&state);
    assert_shows!(project, &["workflow audit", "workflow status"]);
}

#[test]
fn a_state_that_is_no_json() {
    let project = started();
    project.file(".isdlc/state.json", "{ \"current_phase\": ");
    assert_shows!(project, &["workflow status", "phase complete --summary x"]);
}

#[test]
fn a_plan_in_review() {
    let project =
        TestProject::empty().with_plan("cards", "| 1 | pending | high | Show the balance |\n");
    let state = json!({
        "max_reviews": 8, "current_task": "1", "phase": "code-review", "phase_iteration": 2,
        "next_phase": "post-code-review", "review_model": "opus", "consecutive_clean": 1,
        "tdd": false,
    });
    project.file(".taskie/plans/cards/state.json", state.to_string());
    assert_shows!(project, &["plan status", "plan validate", "plan next"]);
}

#[test]
fn a_plan_with_faults() {
    let project =
        TestProject::empty().with_plan("cards", "| 1 | pending | high | Show the balance |\n");
    project.file(".taskie/plans/cards/nested/extra.md", "# Extra\n");
    project.file(".taskie/plans/cards/notes.md", "# Notes\n");
    project.file(".taskie/plans/cards/state.json", "[]");
    assert_shows!(project, &["plan status", "plan validate"]);
}

#[test]
fn no_plan() {
    assert_shows!(
        TestProject::empty(),
        &["plan status", "plan validate", "plan new a/b"]
    );
}

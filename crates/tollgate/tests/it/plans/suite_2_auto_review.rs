//! Suite 2: when a review runs.

use serde_json::{Value, json};

use super::fixture::Fixture;

#[track_caller]
fn triggers(fields: &Value, file: &str) {
    let fixture = Fixture::at(fields);
    let reason = fixture.stop().blocks();
    assert!(reason.contains(file), "{reason}");
    assert_eq!(fixture.calls().len(), 1);
    assert!(fixture.has(file));
}

#[track_caller]
fn falls_through(fields: &Value) -> String {
    let fixture = Fixture::at(fields);
    let before = fixture.read("state.json");
    let told = fixture.stop().validates();
    assert!(fixture.calls().is_empty());
    assert_eq!(fixture.read("state.json"), before);
    told
}

/// Suite 2, test 1: `next_phase: code-review` starts a review of the task and blocks.
#[test]
fn t01_code_review() {
    triggers(&json!({}), "task-1-review-1.md");
}

/// Suite 2, test 2: `next_phase: plan-review` starts a review of the plan and blocks.
#[test]
fn t02_plan_review() {
    triggers(
        &json!({ "phase": "new-plan", "next_phase": "plan-review", "current_task": null }),
        "plan-review-1.md",
    );
}

/// Suite 2, test 3: `next_phase: tasks-review` starts a review of the tasks and blocks.
#[test]
fn t03_tasks_review() {
    triggers(
        &json!({ "phase": "create-tasks", "next_phase": "tasks-review", "current_task": null }),
        "tasks-review-1.md",
    );
}

/// Suite 2, test 4: `next_phase: null` means standalone: no review, the plan is validated.
#[test]
fn t04_standalone() {
    falls_through(&json!({ "next_phase": null }));
}

/// Suite 2, test 5: a post-review is the work of the agent, not of the hook.
#[test]
fn t05_post_review_is_the_agents() {
    falls_through(
        &json!({ "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1 }),
    );
}

/// Suite 2, test 6: at `max_reviews` no further review is started.
#[test]
fn t06_the_limit_is_a_hard_stop() {
    let told = falls_through(&json!({ "phase": "post-code-review", "phase_iteration": 8 }));
    assert!(
        told.contains("Max review limit (8) reached for code-review"),
        "{told}"
    );
}

/// Suite 2, test 7: `max_reviews` may be another number.
#[test]
fn t07_another_limit() {
    let told = falls_through(&json!({ "phase_iteration": 3, "max_reviews": 3 }));
    assert!(told.contains("Max review limit (3)"), "{told}");
}

/// Suite 2, test 8: without state.json the plan is only validated.
#[test]
fn t08_no_state() {
    let fixture = Fixture::new();
    fixture.stop().validates();
    assert!(fixture.calls().is_empty());
}

/// Suite 2, test 9: with a state that is no JSON the plan is only validated, with a warning.
#[test]
fn t09_a_malformed_state() {
    let fixture = Fixture::new();
    fixture.file("state.json", "not json");
    let told = fixture.stop().validates();
    assert!(told.contains("Warning"), "{told}");
    assert_eq!(fixture.read("state.json"), "not json");
}

/// Suite 2, test 10: `complete-task` is no review.
#[test]
fn t10_complete_task_is_no_review() {
    falls_through(&json!({ "phase": "post-code-review", "next_phase": "complete-task" }));
}

/// Suite 2, test 11: `create-tasks` is no review.
#[test]
fn t11_create_tasks_is_no_review() {
    falls_through(&json!({ "phase": "post-plan-review", "next_phase": "create-tasks" }));
}

/// Suite 2, test 12: `next_phase: all-code-review` starts a review of all code and blocks.
#[test]
fn t12_all_code_review() {
    triggers(
        &json!({ "phase": "post-code-review", "next_phase": "all-code-review" }),
        "all-code-review-1.md",
    );
}

/// Suite 2, test 13: one clean review is not enough to advance.
#[test]
fn t13_one_clean_review_is_not_enough() {
    let fixture = Fixture::at(&json!({}));
    let reason = fixture.verdicts(&["PASS"]).stop().blocks();
    assert!(
        reason.contains("perform the post-code-review action"),
        "{reason}"
    );
    assert_eq!(fixture.read_state()["consecutive_clean"], 1);
}

/// Suite 2, test 14: the second clean review in a row advances.
#[test]
fn t14_two_clean_reviews_advance() {
    let fixture = Fixture::at(&json!({ "consecutive_clean": 1, "phase_iteration": 1 }));
    let told = fixture.verdicts(&["PASS"]).stop().approves();
    assert!(told.contains("code-review passed"), "{told}");
    assert!(
        told.contains("Run /taskie:continue-plan to proceed."),
        "{told}"
    );
    assert_eq!(fixture.read_state()["next_phase"], "complete-task");
}

/// Suite 2, test 15: a review with issues sets the count of clean ones back.
#[test]
fn t15_a_dirty_one_starts_again() {
    let fixture = Fixture::at(&json!({ "consecutive_clean": 1, "phase_iteration": 1 }));
    let reason = fixture.stop().blocks();
    assert!(reason.contains("post-code-review"), "{reason}");
    assert_eq!(fixture.read_state()["consecutive_clean"], 0);
}

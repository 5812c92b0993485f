//! Suite 3: what a review does to the state.

use serde_json::{Value, json};

use super::fixture::Fixture;

/// The state after a stop with this verdict.
fn after(fields: &Value, verdict: &str) -> Value {
    let fixture = Fixture::at(fields);
    fixture.verdicts(&[verdict]).stop().answer();
    fixture.read_state()
}

#[track_caller]
fn becomes(fields: &Value, verdict: &str, expected: &Value) {
    let state = after(fields, verdict);
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(state[key], *value, "{key} of {state}");
    }
}

/// Suite 3, test 1: a code review leads to post-code-review.
#[test]
fn t01_code_review() {
    becomes(
        &json!({ "phase": "next-task" }),
        "FAIL",
        &json!({ "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1,
            "review_model": "sonnet", "current_task": "1", "consecutive_clean": 0 }),
    );
}

/// Suite 3, test 2: a plan review leads to post-plan-review.
#[test]
fn t02_plan_review() {
    becomes(
        &json!({ "phase": "new-plan", "next_phase": "plan-review", "current_task": null }),
        "FAIL",
        &json!({ "phase": "plan-review", "next_phase": "post-plan-review", "phase_iteration": 1,
            "review_model": "sonnet", "current_task": null, "consecutive_clean": 0 }),
    );
}

/// Suite 3, test 3: a tasks review leads to post-tasks-review.
#[test]
fn t03_tasks_review() {
    becomes(
        &json!({ "phase": "create-tasks", "next_phase": "tasks-review" }),
        "FAIL",
        &json!({ "phase": "tasks-review", "next_phase": "post-tasks-review", "phase_iteration": 1,
            "review_model": "sonnet", "consecutive_clean": 0 }),
    );
}

/// Suite 3, test 4: after opus comes sonnet.
#[test]
fn t04_opus_to_sonnet() {
    becomes(
        &json!({}),
        "FAIL",
        &json!({ "review_model": "sonnet", "phase_iteration": 1 }),
    );
}

/// Suite 3, test 5: after sonnet comes opus.
#[test]
fn t05_sonnet_to_opus() {
    becomes(
        &json!({ "review_model": "sonnet", "phase_iteration": 1 }),
        "FAIL",
        &json!({ "review_model": "opus", "phase_iteration": 2 }),
    );
}

/// Suite 3, test 6: each review adds one to `phase_iteration`.
#[test]
fn t06_the_count_goes_up() {
    becomes(
        &json!({ "phase_iteration": 4 }),
        "FAIL",
        &json!({ "phase_iteration": 5 }),
    );
}

/// Suite 3, test 7: `max_reviews` is not changed.
#[test]
fn t07_max_reviews_stays() {
    becomes(
        &json!({ "max_reviews": 5 }),
        "FAIL",
        &json!({ "max_reviews": 5 }),
    );
}

/// Suite 3, test 8: `current_task` is not changed.
#[test]
fn t08_current_task_stays_as_it_was_written() {
    becomes(
        &json!({ "current_task": "3" }),
        "FAIL",
        &json!({ "current_task": "3" }),
    );
    becomes(
        &json!({ "current_task": 3 }),
        "FAIL",
        &json!({ "current_task": 3 }),
    );
}

/// Suite 3, test 9: a clean review adds one to `consecutive_clean`.
#[test]
fn t09_a_clean_one_counts() {
    becomes(&json!({}), "PASS", &json!({ "consecutive_clean": 1 }));
}

/// Suite 3, test 10: a review with issues sets `consecutive_clean` to 0.
#[test]
fn t10_a_dirty_one_resets() {
    becomes(
        &json!({ "consecutive_clean": 1 }),
        "FAIL",
        &json!({ "consecutive_clean": 0 }),
    );
}

/// Suite 3, test 11: two clean code reviews lead to complete-task.
#[test]
fn t11_code_advances_to_the_next_task() {
    let clean = json!({ "consecutive_clean": 1 });
    becomes(
        &clean,
        "PASS",
        &json!({ "next_phase": "complete-task", "phase": "code-review" }),
    );
    let tdd = json!({ "consecutive_clean": 1, "tdd": true });
    becomes(&tdd, "PASS", &json!({ "next_phase": "complete-task-tdd" }));
}

/// Suite 3, test 12: two clean plan reviews lead to create-tasks.
#[test]
fn t12_the_plan_advances_to_tasks() {
    becomes(
        &json!({ "consecutive_clean": 1, "next_phase": "plan-review" }),
        "PASS",
        &json!({ "next_phase": "create-tasks" }),
    );
}

/// Suite 3, test 13: two clean tasks reviews lead to complete-task.
#[test]
fn t13_tasks_advance_to_the_first_task() {
    becomes(
        &json!({ "consecutive_clean": 1, "next_phase": "tasks-review" }),
        "PASS",
        &json!({ "next_phase": "complete-task" }),
    );
}

/// Suite 3, test 14: two clean reviews of all code lead to complete.
#[test]
fn t14_all_code_advances_to_complete() {
    becomes(
        &json!({ "consecutive_clean": 1, "next_phase": "all-code-review" }),
        "PASS",
        &json!({ "next_phase": "complete" }),
    );
}

/// Suite 3, test 15: advancing writes every field that changed.
#[test]
fn t15_advancing_writes_every_field() {
    becomes(
        &json!({ "consecutive_clean": 1, "phase_iteration": 3 }),
        "PASS",
        &json!({ "phase_iteration": 4, "review_model": "sonnet", "consecutive_clean": 2 }),
    );
}

/// Suite 3, test 16: the state is valid JSON with all its fields.
#[test]
fn t16_the_state_is_whole_and_nothing_is_added() {
    let state = after(&json!({}), "FAIL");
    let keys: Vec<_> = state
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let mut keys = keys;
    keys.sort_unstable();
    assert_eq!(
        keys,
        [
            "consecutive_clean",
            "current_task",
            "max_reviews",
            "next_phase",
            "phase",
            "phase_iteration",
            "review_model",
            "tdd"
        ]
    );
}

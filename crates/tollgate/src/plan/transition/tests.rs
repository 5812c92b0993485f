//! Every row of the specification's "who writes what".

use serde_json::json;

use super::*;

fn document(fields: &Value) -> Document {
    let mut state = json!({
        "max_reviews": 5, "current_task": "1", "phase": "next-task", "phase_iteration": 3,
        "next_phase": null, "review_model": "sonnet", "consecutive_clean": 1, "tdd": true,
        "mine": [1.0],
    });
    for (key, value) in fields.as_object().unwrap() {
        state[key] = value.clone();
    }
    Document::parse(state.to_string().as_bytes()).unwrap()
}

/// The fields that a change makes different.
fn made(fields: &Value, step: impl Fn(&State) -> Change) -> Value {
    let mut document = document(fields);
    let before = document.members().unwrap().clone();
    step(&State::read(&document)).apply(&mut document);
    let after = document.members().unwrap();
    assert_eq!(after["mine"].to_string(), "[1.0]");
    let changed = after
        .iter()
        .filter(|(key, value)| before.get(*key) != Some(value));
    Value::Object(
        changed
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
    )
}

fn known(task: &str) -> Known {
    Known {
        dir: ".taskie/plans/p".to_owned(),
        has_tasks: true,
        task: TaskId::new(task),
        answered: true,
        is_named: false,
    }
}

fn action(name: &str) -> Action {
    Action::parse(name).unwrap()
}

#[track_caller]
fn does(name: &str, fields: &Value, expected: &Value) {
    let change = made(fields, |state| {
        done(state, action(name), &known("2")).unwrap()
    });
    assert_eq!(change, *expected, "done {name}");
}

#[test]
fn new_plan_creates_from_scratch() {
    let mut document = Document::default();
    first(Some(Phase::Review(Review::Plan))).apply(&mut document);
    assert_eq!(
        document.to_text().replace(['\n', ' '], ""),
        r#"{"max_reviews":8,"current_task":null,"phase":"new-plan","phase_iteration":0,"next_phase":"plan-review","review_model":"opus","consecutive_clean":0,"tdd":false}"#
    );
}

#[test]
fn create_tasks() {
    does(
        "create-tasks",
        &json!({}),
        &json!({ "phase": "create-tasks", "next_phase": "tasks-review",
        "current_task": null, "phase_iteration": 0, "review_model": "opus", "consecutive_clean": 0 }),
    );
}

#[test]
fn complete_task_in_both_variants() {
    does(
        "complete-task",
        &json!({}),
        &json!({ "phase": "complete-task", "next_phase": "code-review",
        "current_task": "2", "phase_iteration": 0, "review_model": "opus", "consecutive_clean": 0,
        "tdd": false }),
    );
    does(
        "complete-task-tdd",
        &json!({ "tdd": false }),
        &json!({ "phase": "complete-task-tdd",
        "next_phase": "code-review", "current_task": "2", "phase_iteration": 0,
        "review_model": "opus", "consecutive_clean": 0, "tdd": true }),
    );
}

#[test]
fn next_task_is_standalone() {
    does(
        "next-task",
        &json!({ "phase": "complete" }),
        &json!({ "phase": "next-task", "current_task": "2",
        "phase_iteration": null }),
    );
    does(
        "next-task-tdd",
        &json!({}),
        &json!({ "phase": "next-task-tdd", "current_task": "2",
        "phase_iteration": null }),
    );
}

#[test]
fn continue_task_passes_next_phase_through() {
    does(
        "continue-task",
        &json!({ "next_phase": "code-review" }),
        &json!({ "phase": "continue-task" }),
    );
    does(
        "continue-task",
        &json!({ "phase_iteration": null }),
        &json!({ "phase": "continue-task" }),
    );
    // Begun in the loop and interrupted: the loop goes on.
    does(
        "continue-task",
        &json!({ "phase": "complete-task", "phase_iteration": 0 }),
        &json!({ "phase": "continue-task", "next_phase": "code-review", "review_model": "opus",
            "consecutive_clean": 0 }),
    );
}

#[test]
fn add_task_names_the_current_one_only_if_there_is_none() {
    does(
        "add-task",
        &json!({ "current_task": null }),
        &json!({ "current_task": "2" }),
    );
    does("add-task", &json!({}), &json!({}));
}

#[test]
fn reviews_and_answers_standalone_and_in_the_loop() {
    for review in Review::ALL {
        let name = review.as_str();
        does(
            name,
            &json!({ "phase_iteration": null, "next_phase": "complete-task" }),
            &json!({ "phase": name, "next_phase": null }),
        );
        for next in [name, review.post()] {
            does(name, &json!({ "next_phase": next }), &json!({}));
        }
        // After a cycle, also the last one.
        for next in ["create-tasks", "complete-task", "complete"] {
            does(
                name,
                &json!({ "phase": name, "next_phase": next, "phase_iteration": 2 }),
                &json!({ "next_phase": null, "phase_iteration": null }),
            );
        }
        // Without reviews, a plan completes with the number 0.
        for iteration in [0, 2] {
            does(
                name,
                &json!({ "phase": "complete", "next_phase": null, "phase_iteration": iteration }),
                &json!({ "phase": name, "phase_iteration": null }),
            );
        }
        // While an action is under way, its own review is still to come.
        does(
            name,
            &json!({ "phase": "complete-task", "next_phase": null, "phase_iteration": 0 }),
            &json!({}),
        );
        does(
            review.post(),
            &json!({ "phase": name, "next_phase": null }),
            &json!({ "phase": review.post() }),
        );
        does(
            review.post(),
            &json!({ "phase_iteration": null }),
            &json!({ "phase": review.post() }),
        );
        does(
            review.post(),
            &json!({ "phase": name, "next_phase": review.post() }),
            &json!({ "phase": review.post(), "next_phase": name }),
        );
    }
}

#[test]
fn an_answer_needs_its_file_and_its_review() {
    let state = State::read(&document(
        &json!({ "phase": "code-review", "next_phase": "post-code-review" }),
    ));
    let unanswered = Known {
        answered: false,
        ..known("2")
    };
    let refusal = done(&state, action("post-code-review"), &unanswered).unwrap_err();
    assert!(
        refusal.what.contains("task-1-post-review-3.md"),
        "{refusal:?}"
    );
    let refusal = done(&state, action("post-plan-review"), &known("2")).unwrap_err();
    assert!(
        refusal.what.contains("no plan-review is waiting"),
        "{refusal:?}"
    );
}

#[test]
fn continue_plan_completes() {
    does(
        "continue-plan",
        &json!({ "next_phase": "complete" }),
        &json!({ "phase": "complete", "next_phase": null }),
    );
    does("continue-plan", &json!({}), &json!({}));
}

#[test]
fn nobody_leaves_the_loop_by_starting_something_else() {
    for next in ["code-review", "post-code-review"] {
        let state = State::read(&document(&json!({ "next_phase": next })));
        for name in [
            "new-plan",
            "create-tasks",
            "complete-task",
            "complete-task-tdd",
            "next-task",
        ] {
            begin(&state, action(name), &known("2")).unwrap_err();
            done(&state, action(name), &known("2")).unwrap_err();
        }
    }
    // What was not reviewed yet may be taken up again.
    let state = State::read(&document(
        &json!({ "phase": "complete-task", "next_phase": "code-review", "phase_iteration": 0 }),
    ));
    begin(&state, action("complete-task"), &known("1")).unwrap();
}

#[test]
fn what_is_begun_is_not_reviewed() {
    for (name, phase) in [
        ("new-plan", Phase::NewPlan),
        ("create-tasks", Phase::CreateTasks),
        ("complete-task", Phase::CompleteTask),
    ] {
        let mut document =
            document(&json!({ "phase": "tasks-review", "next_phase": "complete-task" }));
        begin(&State::read(&document), action(name), &known("2"))
            .unwrap()
            .apply(&mut document);
        let state = State::read(&document);
        assert_eq!(
            (state.phase, state.next(), state.phase_iteration),
            (Some(phase), None, Some(0))
        );
    }
}

#[test]
fn without_an_open_task_all_code_is_next() {
    let none = Known {
        has_tasks: true,
        ..Known::default()
    };
    let next = |fields: &Value| {
        made(fields, |state| {
            begin(state, action("complete-task"), &none).unwrap()
        })
    };
    assert_eq!(
        next(&json!({})),
        json!({ "next_phase": "all-code-review", "phase_iteration": 0, "review_model": "opus", "consecutive_clean": 0 })
    );
    assert_eq!(
        next(&json!({ "max_reviews": 0 })),
        json!({ "phase": "complete" })
    );
    let complete = State::read(&document(&json!({ "phase": "complete" })));
    begin(&complete, action("complete-task"), &none).unwrap_err();
    let planning = State::read(&document(
        &json!({ "phase": "new-plan", "next_phase": null }),
    ));
    let refusal = begin(&planning, action("complete-task"), &Known::default()).unwrap_err();
    assert!(refusal.next.contains("create-tasks"), "{refusal:?}");
}

#[test]
fn the_hooks_rows() {
    let due = json!({ "phase": "complete-task-tdd", "next_phase": "code-review", "consecutive_clean": 0 });
    let after = |fields: &Value, is_clean, left| {
        made(fields, |state| {
            reviewed(state, Review::Code, is_clean, left).0
        })
    };
    assert_eq!(
        after(&due, true, true),
        json!({ "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 4,
            "review_model": "opus", "consecutive_clean": 1 })
    );
    let clean = json!({ "phase": "post-code-review", "next_phase": "code-review" });
    assert_eq!(
        after(&clean, false, true),
        json!({ "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 4,
            "review_model": "opus", "consecutive_clean": 0 })
    );
    assert_eq!(
        after(&clean, true, true),
        json!({ "phase": "code-review", "next_phase": "complete-task-tdd", "phase_iteration": 4,
            "review_model": "opus", "consecutive_clean": 2 })
    );
    assert_eq!(
        after(&clean, true, false),
        json!({ "phase": "code-review", "next_phase": "all-code-review", "phase_iteration": 0,
            "review_model": "opus", "consecutive_clean": 0 })
    );
    let skip = made(&clean, |state| skipped(state, Review::Code).0);
    assert_eq!(
        skip,
        json!({ "phase": "code-review", "next_phase": "complete-task-tdd" })
    );
}

#[test]
fn release_and_limit() {
    let left = made(&json!({ "next_phase": "code-review" }), release);
    assert_eq!(left, json!({ "next_phase": null }));
    let left = made(
        &json!({ "next_phase": "code-review", "phase_iteration": 0 }),
        release,
    );
    assert_eq!(left, json!({ "next_phase": null, "phase_iteration": null }));
    assert_eq!(
        made(&json!({}), |_| set_max_reviews(2)),
        json!({ "max_reviews": 2 })
    );
}

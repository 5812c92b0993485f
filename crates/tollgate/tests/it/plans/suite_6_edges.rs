//! Suite 6: edges and whole runs.

use serde_json::json;

use super::fixture::{Fixture, Session, obeys};

/// Suite 6, test 1: of several plans the one changed last counts.
#[test]
fn t01_the_newest_plan() {
    let fixture = Fixture::new();
    fixture.project.file(".taskie/plans/broken/strange.md", "x");
    fixture.age("broken", 1000);
    fixture.stop().validates();
    fixture.age("test-plan", 2000);
    assert!(fixture.stop().blocks().starts_with("Plan 'broken':"));
    // The state alone makes a plan the newest.
    fixture.state(&json!({ "next_phase": null }));
    fixture.stop().validates();
}

/// Suite 6, test 2: unknown fields of the state are kept.
#[test]
fn t02_unknown_fields_stay() {
    let fixture = Fixture::at(&json!({ "custom_field": 42 }));
    fixture.stop().blocks();
    assert_eq!(fixture.read_state()["custom_field"], 42);
}

/// Suite 6, test 3: `phase_iteration: null` outside of a review is fine.
#[test]
fn t03_no_iteration() {
    let fixture = Fixture::at(&json!({ "phase_iteration": null, "next_phase": null }));
    fixture.stop().validates();
    assert!(fixture.calls().is_empty());
}

/// Suite 6, test 4: an unknown `review_model` is handed to the reviewer.
#[test]
fn t04_another_model() {
    let fixture = Fixture::at(&json!({ "review_model": "haiku" }));
    fixture.stop().blocks();
    assert!(fixture.calls()[0].contains("--model haiku "));
    assert_eq!(fixture.read_state()["review_model"], "opus");
}

/// Suite 6, test 5: a state without plan.md blocks for the missing plan.
#[test]
fn t05_a_state_without_a_plan() {
    let fixture = Fixture::bare();
    fixture.state(&json!({ "phase": "new-plan", "next_phase": null, "current_task": null }));
    assert!(
        fixture
            .stop()
            .blocks()
            .contains("Missing required file: plan.md")
    );
    // Nothing is paid for a review of nothing.
    fixture.state(&json!({ "phase": "new-plan", "next_phase": "plan-review" }));
    assert!(
        fixture
            .stop()
            .blocks()
            .contains("Missing required file: plan.md")
    );
    assert!(fixture.calls().is_empty());
}

/// Suite 6, test 6: a due review goes before the validation.
#[test]
fn t06_a_review_goes_before_validation() {
    let fixture = Fixture::at(&json!({}));
    fixture.file("nested/x.md", "x");
    let reason = fixture.stop().blocks();
    assert!(reason.contains("post-code-review action"), "{reason}");
    // Difference: the findings are reported all the same (decision 19).
    assert!(
        reason.contains("Files found in nested directories"),
        "{reason}"
    );
}

/// Suite 6, test 7: a plans directory without plans is approved.
#[test]
fn t07_no_plans() {
    let fixture = Fixture::bare();
    fixture.project.file("README.md", "x");
    assert_eq!(fixture.stop().0.stdout, "{\"suppressOutput\": true}\n");
    std::fs::create_dir(fixture.project.path(".taskie/plans/empty")).unwrap();
    assert_eq!(fixture.stop().0.stdout, "{\"suppressOutput\": true}\n");
}

/// Suite 6, test 8: `max_reviews: 0` advances without a review.
#[test]
fn t08_no_reviews_wanted() {
    let fixture = Fixture::at(&json!({ "max_reviews": 0 }));
    let told = fixture.stop().approves();
    assert!(
        told.contains("Reviews disabled (max_reviews=0). Auto-advanced to complete-task."),
        "{told}"
    );
    let state = fixture.read_state();
    assert_eq!(
        (&state["next_phase"], &state["phase_iteration"]),
        (&json!("complete-task"), &json!(0))
    );
    assert_eq!(
        (&state["phase"], &state["review_model"]),
        (&json!("code-review"), &json!("opus"))
    );
    assert!(fixture.calls().is_empty());
}

/// Suite 6, test 9: a plan without a state is validated as before.
#[test]
fn t09_a_plan_from_before_the_state() {
    Fixture::new().stop().validates();
}

/// Suite 6, test 10: over four reviews the models take turns.
#[test]
fn t10_models_take_turns() {
    let fixture = Fixture::at(&json!({}));
    for _ in 0..4 {
        let reason = fixture.stop().blocks();
        obeys(&fixture, &reason);
    }
    let models: Vec<_> = fixture
        .calls()
        .iter()
        .map(|call| call.split(' ').nth(2).unwrap().to_owned())
        .collect();
    assert_eq!(models, ["opus", "sonnet", "opus", "sonnet"]);
    assert_eq!(fixture.read_state()["review_model"], "opus");
}

/// Suite 6, test 11: two clean reviews in one session advance.
#[test]
fn t11_two_clean_reviews_in_a_session() {
    let fixture = Fixture::at(&json!({}));
    fixture.verdicts(&["PASS"]);
    let mut session = Session::new(&fixture);
    session.turn(obeys);
    assert_eq!((session.stops, session.blocks), (2, 1));
    assert_eq!(fixture.read_state()["next_phase"], "complete-task");
}

/// Suite 6, test 12: no temporary files are left.
#[test]
fn t12_nothing_is_left_behind() {
    let fixture = Fixture::at(&json!({}));
    fixture.stop().blocks();
    assert_eq!(fixture.leftovers(), [""; 0]);
    let local = fixture.project.path(".tollgate/local/plans/test-plan");
    assert!(!local.join("review.json").exists() && !local.join("review.out").exists());
}

//! Suite 5: the texts of blocks.

use serde_json::{Value, json};

use super::fixture::{Fixture, PLAN, Session, obeys};

fn reason(fields: &Value) -> String {
    Fixture::at(fields).stop().blocks()
}

#[track_caller]
fn contains(reason: &str, texts: &[&str]) {
    for text in texts {
        assert!(reason.contains(text), "{text} in {reason}");
    }
}

/// Suite 5, test 1: the block after a code review names its file, the next step and the state.
#[test]
fn t01_code_review() {
    let reason = reason(&json!({ "current_task": "2", "phase_iteration": 2 }));
    contains(
        &reason,
        &["task-2-review-3.md", "post-code-review", "state.json"],
    );
    let text = r#"A code review (iteration 3) has been written to .taskie/plans/test-plan/task-2-review-3.md by an independent reviewer. Read this review file and perform the post-code-review action: address all issues, update the code, then create .taskie/plans/test-plan/task-2-post-review-3.md documenting your fixes. AFTER completing all post-review work and writing the post-review file, update state.json atomically (read current file, modify only phase and next_phase, write complete JSON back): set phase to "post-code-review", set next_phase to "code-review". Keep all other fields (max_reviews, current_task, phase_iteration, review_model, consecutive_clean) unchanged. Write via temp file then mv to prevent corruption. Update tasks.md and push to remote. (To stop the review loop, set next_phase to null in state.json.)"#;
    assert!(reason.starts_with(text), "{reason}");
}

/// Suite 5, test 2: the block after a plan review names its file, the next step and plan.md.
#[test]
fn t02_plan_review() {
    let reason = reason(&json!({ "next_phase": "plan-review" }));
    contains(
        &reason,
        &["plan-review-1.md", "post-plan-review", "plan.md"],
    );
    let text = r#"A plan review (iteration 1) has been written to .taskie/plans/test-plan/plan-review-1.md by an independent reviewer. Read this review file and perform the post-plan-review action: address all issues in plan.md, then create .taskie/plans/test-plan/plan-post-review-1.md documenting your fixes. AFTER completing all post-review work and writing the post-review file, update state.json atomically (read current file, modify only phase and next_phase, write complete JSON back): set phase to "post-plan-review", set next_phase to "plan-review". Keep all other fields (max_reviews, current_task, phase_iteration, review_model, consecutive_clean) unchanged. Write via temp file then mv to prevent corruption. Push to remote. (To stop the review loop, set next_phase to null in state.json.)"#;
    assert!(reason.starts_with(text), "{reason}");
}

/// Suite 5, test 3: the block after a tasks review names its file, the next step and tasks.md.
#[test]
fn t03_tasks_review() {
    let reason = reason(&json!({ "next_phase": "tasks-review", "phase_iteration": 1 }));
    contains(
        &reason,
        &[
            "tasks-review-2.md",
            "post-tasks-review",
            "tasks.md",
            "address all issues in tasks.md and task files, then create",
            "corruption. Push to remote.",
        ],
    );
}

/// Suite 5, test 4: the block after a review of all code names its file and the next step.
#[test]
fn t04_all_code_review() {
    let reason = reason(&json!({ "next_phase": "all-code-review" }));
    contains(
        &reason,
        &[
            "An all-code review (iteration 1)",
            "all-code-review-1.md",
            "post-all-code-review",
            "all-code-post-review-1.md",
            "address all issues across all tasks, then create",
            "Update tasks.md and push to remote.",
        ],
    );
}

/// Suite 5, test 5: the block names the plan's directory.
#[test]
fn t05_the_plans_directory() {
    contains(&reason(&json!({})), &[&format!(".taskie/plans/{PLAN}/")]);
}

/// Suite 5, test 6: the block is valid JSON with `decision: block`.
#[test]
fn t06_valid_json() {
    let stop = Fixture::at(&json!({})).stop();
    assert_eq!(stop.answer()["decision"], "block");
    assert!(
        stop.0
            .stdout
            .starts_with("{\"decision\": \"block\", \"reason\": \""),
        "{stop:?}"
    );
}

#[test]
fn what_is_new_and_what_returned_is_named() {
    let fixture = Fixture::at(&json!({}));
    fixture.stop().blocks();
    fixture.state(&json!({ "phase": "post-code-review", "phase_iteration": 1 }));
    let reason = fixture.stop().blocks();
    contains(
        &reason,
        &[
            "New since task-1-review-1.md: \"Finding of call xx alone\".",
            "Returned unchanged from task-1-review-1.md: \"Minor: variable naming inconsistency\".",
            "`tollgate plan done post-code-review`",
            "`tollgate plan release`",
        ],
    );
}

/// The specification's text asks for fixes whatever the verdict was.
#[test]
fn after_a_clean_review_the_text_says_so_and_that_one_more_is_needed() {
    let fixture = Fixture::at(&json!({}));
    fixture.verdicts(&["PASS", "FAIL", "PASS"]);
    let mut session = Session::new(&fixture);
    for is_clean in [true, false, true] {
        let reason = session.stop().blocks();
        assert!(reason.starts_with("A code review (iteration "), "{reason}");
        let says = reason.contains("This review was clean")
            && reason.contains("One more clean review in a row is needed");
        assert_eq!(says, is_clean, "{reason}");
        let next = fixture.plan(&["next"]).stdout;
        assert_eq!(next.contains("was clean"), is_clean, "{next}");
        let log = fixture.project.tollgate(&["log"]).stdout;
        let block = log.lines().rfind(|line| line.contains("PLAN-REVIEW"));
        let short = block.unwrap_or_default();
        assert_eq!(
            short.contains("was clean, one more is needed"),
            is_clean,
            "{log}"
        );
        obeys(&fixture, &reason);
    }
    let told = session.stop().approves();
    assert!(
        told.contains("two reviews in a row found nothing"),
        "{told}"
    );
}

/// Line numbers and limits are part of what was found.
#[test]
fn findings_that_differ_in_a_number_are_two() {
    let fixture = Fixture::at(&json!({}));
    fixture.reviewer(
        "after",
        r#"printf '# Review\n%s. Wait 30 s\n- Wait %s s longer\n' "$n" "$n" > "$file""#,
    );
    let mut session = Session::new(&fixture);
    obeys(&fixture, &session.stop().blocks());
    let reason = session.stop().blocks();
    assert!(
        reason.contains(r#"New since task-1-review-1.md: "Wait 2 s longer"."#),
        "{reason}"
    );
    assert!(
        reason.contains(r#"Returned unchanged from task-1-review-1.md: "Wait 30 s"."#),
        "{reason}"
    );
}

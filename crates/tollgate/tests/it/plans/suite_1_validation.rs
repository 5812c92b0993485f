//! Suite 1: validation rules.

use serde_json::json;

use super::fixture::{Fixture, PLAN, Stop};
use crate::project::TestProject;

/// Suite 1, test 1: the hook needs jq; Tollgate needs no other program.
#[test]
fn t01_no_jq_is_needed() {
    // Difference: the specification tests for jq; Tollgate needs no other program.
    let fixture = Fixture::new();
    let mut command = fixture.project.command(&["hook"]);
    command.env("PATH", "/nonexistent");
    let event = json!({ "cwd": fixture.project.root(), "stop_hook_active": false });
    Stop(crate::project::run(command, event.to_string().as_bytes())).validates();
}

/// Suite 1, test 2: input that is no JSON is reported.
#[test]
fn t02_invalid_json_is_told_and_allowed() {
    // Difference: exit 0, not 2, because exit 2 blocks a stop in Claude Code (decision 19).
    let run = TestProject::empty().run(&["hook", "--protocol", "taskie"], b"invalid json");
    assert_eq!(run.code, 0);
    assert!(run.stderr.contains("Invalid JSON"), "{run:?}");
}

/// Suite 1, test 3: a directory that is not there is reported.
#[test]
fn t03_an_invalid_directory_is_told_and_allowed() {
    // Difference: exit 0, not 2, as above.
    let project = TestProject::empty();
    for event in [
        json!({ "cwd": "/nonexistent" }),
        json!({ "cwd": "/nonexistent", "stop_hook_active": false }),
    ] {
        let mut command = project.command(&["hook"]);
        command.current_dir("/");
        let run = crate::project::run(command, event.to_string().as_bytes());
        assert_eq!(run.code, 0);
        assert!(run.stdout.contains("Cannot change"), "{run:?}");
        assert!(run.stderr.contains("Cannot change"), "{run:?}");
    }
}

/// Suite 1, test 4: `stop_hook_active` is approved without output.
#[test]
fn t04_stop_hook_active_is_approved() {
    let run = TestProject::empty().hook(&json!({ "stop_hook_active": true }));
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (0, "{\"suppressOutput\": true}\n")
    );
    let fixture = Fixture::at(&json!({}));
    let stop = fixture.hook(&json!({ "stop_hook_active": true }));
    assert_eq!(stop.0.stdout, "{\"suppressOutput\": true}\n");
    assert!(fixture.calls().is_empty());
}

/// Suite 1, test 5: a project without `.taskie/plans` is approved without output.
#[test]
fn t05_no_taskie_directory() {
    let project = TestProject::empty();
    let run = project.hook(&json!({ "cwd": project.root(), "stop_hook_active": false }));
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (0, "{\"suppressOutput\": true}\n")
    );
}

/// Suite 1, test 6: a plan with plan.md and a table in tasks.md is validated.
#[test]
fn t06_valid_structure() {
    let stop = Fixture::new().stop();
    assert_eq!(
        stop.0.stdout,
        "{\"systemMessage\": \"Plan 'test-plan' structure validated successfully\", \"suppressOutput\": true}\n"
    );
    assert_eq!(stop.0.stderr, "");
}

#[test]
fn an_event_that_only_says_where_is_a_stop() {
    let fixture = Fixture::at(&json!({}));
    let event = json!({ "cwd": fixture.project.root() });
    assert!(fixture.hook(&event).blocks().contains("task-1-review-1.md"));
    let project = TestProject::empty();
    let run = project.hook(&json!({ "cwd": project.root() }));
    assert_eq!(run.stdout, "{\"suppressOutput\": true}\n");
}

/// Suite 1, test 7: no plan.md and a file name that is not allowed block.
#[test]
fn t07_missing_plan_and_invalid_name() {
    let fixture = Fixture::bare();
    fixture.file("invalid-file.md", "x");
    assert_eq!(
        fixture.stop().0.stdout,
        "{\"decision\": \"block\", \"reason\": \"Plan 'test-plan': Missing required file: plan.md; Invalid filename: invalid-file.md\"}\n"
    );
}

fn plan_with(name: &str, text: &str) -> String {
    let fixture = Fixture::bare();
    fixture.file("plan.md", "# Plan\n");
    fixture.file(name, text);
    fixture.stop().blocks()
}

/// Suite 1, test 8: nested directories block.
#[test]
fn t08_nested_directories() {
    assert_eq!(
        plan_with("nested/extra.md", "x"),
        format!("Plan '{PLAN}': Files found in nested directories")
    );
}

/// Suite 1, test 9: a review of a file that is not there blocks.
#[test]
fn t09_a_review_without_its_base() {
    let reason = plan_with("design-review-1.md", "x");
    assert!(
        reason.ends_with("design-review-1.md requires design.md"),
        "{reason}"
    );
}

/// Suite 1, test 10: an answer to a review that is not there blocks.
#[test]
fn t10_an_answer_without_its_review() {
    let reason = plan_with("plan-post-review-1.md", "x");
    assert!(
        reason.ends_with("plan-post-review-1.md requires plan-review-1.md"),
        "{reason}"
    );
}

/// Suite 1, test 11: task files without tasks.md block.
#[test]
fn t11_task_files_without_a_table() {
    let reason = plan_with("task-1.md", "x");
    assert!(
        reason.ends_with("Task files exist but tasks.md is missing"),
        "{reason}"
    );
}

/// Suite 1, test 12: tasks.md with prose blocks.
#[test]
fn t12_prose_in_the_table() {
    let reason = plan_with("tasks.md", "Some prose.\n");
    assert!(
        reason.ends_with("tasks.md contains non-table content"),
        "{reason}"
    );
}

/// Suite 1, test 13: an empty tasks.md blocks.
#[test]
fn t13_an_empty_table() {
    let reason = plan_with("tasks.md", "");
    assert!(reason.ends_with("tasks.md has no table rows"), "{reason}");
    // Difference: a table without a task is an error too (decision 19).
    let reason = plan_with("tasks.md", "| Id | Status |\n|---|---|\n");
    assert!(reason.contains("header-only table"), "{reason}");
}

/// Suite 1, test 14: state.json breaks no rule about file names.
#[test]
fn t14_the_state_is_no_stray_file() {
    let fixture = Fixture::at(&json!({ "next_phase": null }));
    fixture.stop().validates();
}

/// Suite 1, test 15: a state that is no JSON is a warning, and the plan is validated.
#[test]
fn t15_an_invalid_state_is_a_warning() {
    let fixture = Fixture::new();
    fixture.file("state.json", "not valid json");
    let stop = fixture.stop();
    for told in [&stop.validates(), &stop.0.stderr] {
        assert!(told.contains("state.json contains invalid JSON"), "{told}");
    }
}

/// Suite 1, test 16: a state without its required fields is a warning, and the plan is validated.
#[test]
fn t16_missing_fields_are_a_warning() {
    let fixture = Fixture::new();
    fixture.file("state.json", r#"{"phase": "new-plan"}"#);
    let told = fixture.stop().validates();
    assert!(
        told.contains("state.json missing required fields: next_phase review_model max_reviews consecutive_clean tdd"),
        "{told}"
    );
}

/// Suite 1, test 17: a complete state is no warning.
#[test]
fn t17_a_valid_state_is_no_warning() {
    let fixture = Fixture::at(&json!({ "next_phase": null }));
    let told = fixture.stop().validates();
    assert!(!told.contains("Warning"), "{told}");
}

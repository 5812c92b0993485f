//! Suite 4: how the reviewer is called.

use serde_json::{Value, json};

use super::fixture::Fixture;

fn call(fields: &Value) -> String {
    let fixture = Fixture::at(fields);
    fixture.stop().blocks();
    fixture.calls().remove(0)
}

#[track_caller]
fn called_with(fields: &Value, texts: &[&str]) {
    let call = call(fields);
    for text in texts {
        assert!(call.contains(text), "{text} in {call}");
    }
}

/// No review was made: allowed, told, and nothing was counted.
#[track_caller]
fn no_review(fixture: &Fixture, told: &str) {
    let before = fixture.read("state.json");
    let stop = fixture.stop();
    let said = stop.validates();
    assert!(said.contains(told), "{said}");
    // The specification's own tests look for the warning there.
    assert!(stop.0.stderr.contains(told), "{stop:?}");
    assert_eq!(fixture.read("state.json"), before);
}

/// Suite 4, test 1: the reviewer is started with `--model opus`.
#[test]
fn t01_opus() {
    called_with(&json!({}), &["--model opus "]);
}

/// Suite 4, test 2: the reviewer is started with `--model sonnet`.
#[test]
fn t02_sonnet() {
    called_with(&json!({ "review_model": "sonnet" }), &["--model sonnet "]);
}

/// Suite 4, test 3: the reviewer may use its tools without asking.
#[test]
fn t03_permissions() {
    called_with(&json!({}), &["--dangerously-skip-permissions"]);
}

/// Suite 4, test 4: the reviewer prints and ends.
#[test]
fn t04_print() {
    called_with(&json!({}), &["--print"]);
}

/// Suite 4, test 5: the prompt of a code review names the task and its review file.
#[test]
fn t05_the_prompt_of_a_code_review() {
    called_with(
        &json!({ "current_task": "3" }),
        &["task-3.md", "task-3-review-1.md"],
    );
}

/// Suite 4, test 6: the prompt of a plan review names plan.md and its review file.
#[test]
fn t06_the_prompt_of_a_plan_review() {
    called_with(
        &json!({ "next_phase": "plan-review" }),
        &["/plan.md", "plan-review-1.md"],
    );
}

/// Suite 4, test 7: the prompt of a tasks review names tasks.md and its review file.
#[test]
fn t07_the_prompt_of_a_tasks_review() {
    called_with(
        &json!({ "next_phase": "tasks-review" }),
        &[
            "tasks.md and the task files: .taskie/plans/test-plan/task-1.md .taskie/plans/test-plan/task-2.md",
            "tasks-review-1.md",
        ],
    );
}

/// Suite 4, test 8: the prompt of a review of all code names its review file.
#[test]
fn t08_the_prompt_of_an_all_code_review() {
    called_with(
        &json!({ "next_phase": "all-code-review" }),
        &["actions/all-code-review.md", "all-code-review-1.md"],
    );
}

#[test]
fn the_prompts_are_the_specifications_to_the_letter() {
    let fixture = Fixture::at(&json!({}));
    fixture.stop().blocks();
    let root = fixture.project.path(".tollgate/local/plans/prompts");
    let root = root.display();
    let dir = ".taskie/plans/test-plan";
    let expected = format!(
        "Read the ground rules in {root}/ground-rules.md, then read the plan in {dir}/plan.md, then read {dir}/task-1.md. Now perform the code review action described in {root}/actions/code-review.md for this task. Write your review to {dir}/task-1-review-1.md. Be very critical."
    );
    assert!(
        fixture.calls()[0].ends_with(&expected),
        "{}",
        fixture.calls()[0]
    );
    let plugin = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plugin");
    let fixture = Fixture::at(&json!({ "next_phase": "plan-review" }));
    let mut command = fixture.project.command(&["hook"]);
    command.env("CLAUDE_PLUGIN_ROOT", plugin);
    let event = json!({ "cwd": fixture.project.root(), "stop_hook_active": false });
    crate::project::run(command, event.to_string().as_bytes());
    let expected = format!(
        "Read the ground rules in {plugin}/ground-rules.md, then read {dir}/plan.md. Perform the plan review action described in {plugin}/actions/plan-review.md. Write your review to {dir}/plan-review-1.md. Be very critical."
    );
    assert!(
        fixture.calls()[0].ends_with(&expected),
        "{}",
        fixture.calls()[0]
    );
}

/// Suite 4, test 9: the review file is where and what it should be.
#[test]
fn t09_the_review_is_where_it_belongs() {
    let fixture = Fixture::at(&json!({ "current_task": "2", "phase_iteration": 2 }));
    fixture.stop().blocks();
    assert!(fixture.has("task-2-review-3.md"));
}

/// Suite 4, test 10: without a reviewer on the path the stop is approved, with a warning.
#[test]
fn t10_no_reviewer() {
    let fixture = Fixture::at(&json!({}));
    std::fs::remove_file(fixture.project.programs().join("claude")).unwrap();
    no_review(&fixture, "claude CLI not found");
}

/// Suite 4, test 11: a reviewer that fails: approved, with a warning.
#[test]
fn t11_a_reviewer_that_fails() {
    let fixture = Fixture::at(&json!({}));
    fixture.reviewer("last", "echo it broke >&2; exit 1");
    no_review(&fixture, "Exited with code 1");
    let log = fixture.read(".review-1.log");
    assert!(
        log.contains("it broke") && log.contains("Exited with code 1"),
        "{log}"
    );
}

/// Suite 4, test 12: a reviewer that writes no file: approved, with a warning.
#[test]
fn t12_a_reviewer_that_writes_nothing() {
    let fixture = Fixture::at(&json!({}));
    fixture.reviewer("after", "rm \"$file\"");
    no_review(&fixture, "did not write task-1-review-1.md");
}

/// Suite 4, test 13: a reviewer that takes too long: approved, with a warning.
#[test]
fn t13_a_slow_reviewer() {
    let fixture = Fixture::at(&json!({}));
    fixture.config(&json!({ "timeout_seconds": 0.3 }));
    fixture.reviewer("before", "sleep 5");
    no_review(&fixture, "Timed out after 0.3s");
}

/// Suite 4, test 14: the reviewer answers in JSON of a given schema.
#[test]
fn t14_structured_output() {
    called_with(
        &json!({}),
        &[
            "--output-format json",
            "--json-schema {\"type\":\"object\",\"properties\":{\"verdict\":{\"type\":\"string\",\"enum\":[\"PASS\",\"FAIL\"]}},\"required\":[\"verdict\"]}",
        ],
    );
}

#[test]
fn the_child_runs_without_hooks_and_marked() {
    let fixture = Fixture::at(&json!({}));
    fixture.stop().blocks();
    let call = &fixture.calls()[0];
    assert!(
        call.contains("--settings {\"disableAllHooks\":true}"),
        "{call}"
    );
    let env = fixture.project.read("control/env");
    assert!(
        env.contains("TASKIE_HOOK_SKIP=true") && env.contains("TOLLGATE_DEPTH=1"),
        "{env}"
    );
}

//! §13.2, 10 cases.

use serde_json::{Value, json};

use crate::events::{bash, task};
use crate::project::TestProject;

const NAME: &str = "walkthrough-tracker";
const TEXT: &str = "\
[walkthrough-tracker] WARNING: Discovery completed without constitution walkthrough.
  The /discover command completed, but the constitution walkthrough step was not
  recorded as completed (discovery_context.walkthrough_completed is not true).
  The walkthrough ensures the user reviews and approves the project constitution
  before starting SDLC work. Consider running the walkthrough manually.";

fn finished(agent: &str, result: Value) -> Value {
    let mut event = task(agent, "discover");
    event["tool_result"] = result;
    event
}

fn with(context: &Value) -> TestProject {
    TestProject::new().state(&json!({ "discovery_context": context }))
}

/// Case 1: a discovery without a walkthrough of the constitution is a warning.
#[test]
fn t01_warns_when_the_walkthrough_is_missing() {
    let project = with(&json!({ "completed_at": "2026-02-08" }));
    project
        .guard(NAME, &finished("discover-orchestrator", json!("done")))
        .warns(TEXT);
    assert_eq!(project.codes(), ["WT-001"]);
}

/// Case 2: a walkthrough that is false, or anything but true, is a warning.
#[test]
fn t02_warns_when_it_is_false_or_not_quite_true() {
    for value in [json!(false), json!("true"), json!(1)] {
        let project = with(&json!({ "walkthrough_completed": value }));
        project
            .guard(NAME, &finished("discover-orchestrator", json!("done")))
            .warns(TEXT);
    }
}

/// Case 3: a walkthrough that happened is no warning.
#[test]
fn t03_is_silent_when_it_was_walked_through() {
    let project = with(&json!({ "walkthrough_completed": true }));
    project
        .guard(NAME, &finished("discover-orchestrator", json!("done")))
        .says_nothing();
}

/// Case 4: other agents are not looked at.
#[test]
fn t04_is_silent_about_other_agents() {
    with(&json!({}))
        .guard(NAME, &finished("software-developer", json!("done")))
        .says_nothing();
}

/// Case 5: other tools are not looked at.
#[test]
fn t05_is_silent_about_other_tools() {
    with(&json!({})).guard(NAME, &bash("ls")).says_nothing();
}

/// Case 6: a Task that has not ended is no warning.
#[test]
fn t06_is_silent_while_the_task_runs() {
    let project = with(&json!({}));
    project
        .guard(NAME, &task("discover-orchestrator", "discover"))
        .says_nothing();
    for unfinished in [
        json!(""),
        json!(null),
        json!({ "status": "async_launched" }),
    ] {
        project
            .guard(NAME, &finished("discover-orchestrator", unfinished))
            .says_nothing();
    }
}

/// Case 7: without a discovery in the state there is no warning.
#[test]
fn t07_is_silent_without_a_discovery() {
    let project = TestProject::new().state(&json!({ "active_workflow": null }));
    project
        .guard(NAME, &finished("discover-orchestrator", json!("done")))
        .says_nothing();
}

/// Case 8: empty input is allowed.
#[test]
fn t08_allows_on_empty_input() {
    with(&json!({}))
        .run(&["hook", "--guard", NAME], b"")
        .allows();
}

/// Case 9: input that is no JSON is allowed.
#[test]
fn t09_allows_on_input_that_is_no_json() {
    with(&json!({}))
        .run(&["hook", "--guard", NAME], b"nope")
        .allows();
}

/// Case 10: without a state there is no warning.
#[test]
fn t10_allows_without_a_state() {
    TestProject::new()
        .guard(NAME, &finished("discover-orchestrator", json!("done")))
        .says_nothing();
}

/// D4: the guards that watch discovery run after every Task, whatever the workflow.
#[test]
fn d4_it_runs_on_every_task_without_a_workflow_and_under_every_name() {
    for agent in ["D0", "discover_orchestrator", "isdlc:discover-orchestrator"] {
        let project = with(&json!({ "x": 1 }));
        project.hook(&finished(agent, json!("done"))).warns(TEXT);
    }
}

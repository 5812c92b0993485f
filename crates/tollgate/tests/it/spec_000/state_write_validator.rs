//! §13.2, 14 cases.

use serde_json::{Value, json};

use crate::events::bash;
use crate::project::{Run, TestProject};

const NAME: &str = "state-write-validator";
const TITLE: &str = "[state-write-validator] WARNING: Suspicious state.json write detected.";

/// The validator after a Write of `phase` as phase 01's data.
fn after_write(phase: &Value) -> (TestProject, Run) {
    let project = TestProject::new().state(&json!({ "phases": { "01-requirements": phase } }));
    let event = write_event(&project.path(".isdlc/state.json").display().to_string());
    let run = project.guard(NAME, &event);
    (project, run)
}

fn write_event(path: &str) -> Value {
    json!({ "tool_name": "Write", "tool_input": { "file_path": path } })
}

#[track_caller]
fn warns(phase: &Value, issue: &str, rule: &str, code: &str) {
    let (project, run) = after_write(phase);
    let text = run.warns(TITLE);
    let path = project.path(".isdlc/state.json");
    let expected = format!(
        "{TITLE}\n  Phase: 01-requirements\n  Issue: {issue}\n  Rule: {rule}\n  Path: {}",
        path.display()
    );
    assert!(text.contains(&expected), "{text}");
    assert_eq!(project.codes(), [code]);
}

/// Case 1: V1, completed with no iterations, is a warning.
#[test]
fn t01_v1_warns_about_a_validation_without_iterations() {
    warns(
        &json!({ "constitutional_validation": { "completed": true, "iterations_used": 0 } }),
        "constitutional_validation.completed is true but iterations_used is 0",
        "A completed constitutional validation must have at least 1 iteration",
        "SWV-001",
    );
}

/// Case 2: V1, completed without a count of iterations, is a warning.
#[test]
fn t02_v1_warns_when_the_count_is_missing() {
    warns(
        &json!({ "constitutional_validation": { "completed": true } }),
        "constitutional_validation.completed is true but iterations_used is undefined",
        "A completed constitutional validation must have at least 1 iteration",
        "SWV-001",
    );
}

/// Case 3: V2, completed with no menu interactions, is a warning.
#[test]
fn t03_v2_warns_about_an_elicitation_without_menus() {
    warns(
        &json!({ "iteration_requirements": { "interactive_elicitation": { "completed": true, "menu_interactions": null } } }),
        "interactive_elicitation.completed is true but menu_interactions is null",
        "A completed elicitation must have at least 1 menu interaction",
        "SWV-002",
    );
}

/// Case 4: V3, completed with no test runs, is a warning.
#[test]
fn t04_v3_warns_about_tests_that_never_ran() {
    warns(
        &json!({ "iteration_requirements": { "test_iteration": { "completed": true, "current_iteration": 0 } } }),
        "test_iteration.completed is true but current_iteration is 0",
        "A completed test iteration must have at least 1 test run",
        "SWV-003",
    );
}

/// Case 5: several findings are several warnings.
#[test]
fn t05_warns_about_all_at_once() {
    let (project, run) = after_write(&json!({
        "constitutional_validation": { "completed": true },
        "iteration_requirements": {
            "interactive_elicitation": { "completed": true },
            "test_iteration": { "completed": true },
        },
    }));
    assert_eq!(run.warns(TITLE).matches(TITLE).count(), 3);
    assert_eq!(project.codes(), ["SWV-001", "SWV-002", "SWV-003"]);
}

/// Case 6: a valid state is no warning.
#[test]
fn t06_is_silent_about_a_valid_state() {
    let (_project, run) = after_write(&json!({
        "constitutional_validation": { "completed": true, "iterations_used": 1 },
        "iteration_requirements": {
            "interactive_elicitation": { "completed": true, "menu_interactions": 3 },
            "test_iteration": { "completed": true, "current_iteration": 2 },
        },
    }));
    run.says_nothing();
}

/// Case 7: nothing is completed: no warning.
#[test]
fn t07_is_silent_while_nothing_is_completed() {
    let (_project, run) = after_write(&json!({
        "constitutional_validation": { "completed": false, "iterations_used": 0 },
    }));
    run.says_nothing();
}

/// Case 8: phases without such fields are no warning.
#[test]
fn t08_is_silent_about_phases_without_such_fields() {
    for phase in [
        json!({ "status": "pending" }),
        json!(7),
        json!(null),
        json!("x"),
    ] {
        let (_project, run) = after_write(&phase);
        run.says_nothing();
    }
}

/// Case 9: other files are not looked at.
#[test]
fn t09_is_silent_about_other_files() {
    let project = TestProject::new();
    project
        .guard(NAME, &write_event("/tmp/other.json"))
        .says_nothing();
    project
        .guard(NAME, &write_event("state.json"))
        .says_nothing();
}

/// Case 10: other tools are not looked at.
#[test]
fn t10_is_silent_about_other_tools() {
    TestProject::new()
        .guard(NAME, &bash("cat .isdlc/state.json"))
        .says_nothing();
}

/// Case 11: empty input is allowed.
#[test]
fn t11_allows_on_empty_input() {
    TestProject::new()
        .run(&["hook", "--guard", NAME], b"")
        .allows();
}

/// Case 12: input that is no JSON is allowed.
#[test]
fn t12_allows_on_input_that_is_no_json() {
    TestProject::new()
        .run(&["hook", "--guard", NAME], b"}{")
        .allows();
}

/// Case 13: a file that is absent or no JSON is allowed.
#[test]
fn t13_allows_when_the_file_is_absent_or_no_json() {
    let project = TestProject::new();
    let event = write_event(&project.path(".isdlc/state.json").display().to_string());
    project.guard(NAME, &event).says_nothing();
    project.file(".isdlc/state.json", "{\"phases\": ");
    project.guard(NAME, &event).allows();
}

/// Case 14: Edit, `filePath` and states of monorepo projects count, too.
#[test]
fn t14_works_for_edits_filepath_and_monorepos() {
    let project = TestProject::new();
    let state =
        json!({ "phases": { "p": { "constitutional_validation": { "completed": true } } } });
    project.file(".isdlc/projects/api/state.json", state.to_string());
    let path = project.path(".isdlc/projects/api/state.json");
    for input in [
        json!({ "file_path": path }),
        json!({ "filePath": path }),
        json!({ "file_path": ".isdlc/projects/api/state.json" }),
    ] {
        project
            .guard(NAME, &json!({ "tool_name": "Edit", "tool_input": input }))
            .warns(TITLE);
    }
}

#[test]
fn after_the_fact_nothing_is_ever_printed_on_stdout() {
    let project = TestProject::new().state(
        &json!({ "phases": { "p": { "constitutional_validation": { "completed": true } } } }),
    );
    let event = write_event(".isdlc/state.json");
    let run = project.run(
        &["hook", "--guard", NAME, "--event", "PostToolUse"],
        event.to_string().as_bytes(),
    );
    run.warns(TITLE);
}

#[test]
fn a_second_name_of_the_same_file_hides_nothing() {
    let project = TestProject::new().state(
        &json!({ "phases": { "p": { "constitutional_validation": { "completed": true } } } }),
    );
    std::fs::hard_link(project.path(".isdlc/state.json"), project.path("notes.txt")).unwrap();
    project.guard(NAME, &write_event("notes.txt")).warns(TITLE);
    project.file("other.txt", "{}");
    std::fs::hard_link(project.path("other.txt"), project.path("others.txt")).unwrap();
    project
        .guard(NAME, &write_event("others.txt"))
        .says_nothing();
}

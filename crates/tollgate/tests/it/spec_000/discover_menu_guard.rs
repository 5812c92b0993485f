//! §13.2, 10 cases.

use serde_json::{Value, json};

use crate::events::{bash, task};
use crate::project::TestProject;

const NAME: &str = "discover-menu-guard";
const TITLE: &str = "[discover-menu-guard] WARNING: Incorrect discover menu detected.";
const GOOD: &str = "Please choose:\n[1] New Project\n[2] Existing Project\n[3] Chat / Explore\n";

fn shown(menu: Value) -> Value {
    let mut event = task("discover-orchestrator", "show the menu");
    event["tool_result"] = menu;
    event
}

/// Case 1: the right menu is no warning.
#[test]
fn t01_is_silent_about_the_right_menu() {
    TestProject::new()
        .guard(NAME, &shown(json!(GOOD)))
        .says_nothing();
}

/// Case 2: a menu that lacks an option is a warning.
#[test]
fn t02_warns_about_a_missing_option() {
    let project = TestProject::new();
    let menu = "Please choose one of these:\n[1] New Project\n[2] Existing Project\n";
    let text = project.guard(NAME, &shown(json!(menu))).warns(TITLE);
    assert!(text.contains(
        "  Expected 3 options: [1] New Project, [2] Existing Project, [3] Chat/Explore\n  Missing options: chat|explore\n  The /discover command should present exactly 3 options. See REQ-0001."
    ), "{text}");
    assert_eq!(project.codes(), ["DMG-001"]);
}

/// Case 3: an option that was removed is a warning.
#[test]
fn t03_warns_about_a_removed_option() {
    let project = TestProject::new();
    let menu = format!("{GOOD}[4] Scoped  Analysis\n");
    let text = project.guard(NAME, &shown(json!(menu))).warns(TITLE);
    assert!(text.contains(
        "  Found removed options: scoped\\s+analysis\n  These options were removed in REQ-0001 and should not appear.\n  Expected 3 options:"
    ), "{text}");
    assert_eq!(project.codes(), ["DMG-002"]);
}

/// Case 4: `Auto-detect` in any form is a warning.
#[test]
fn t04_warns_about_auto_detect_in_every_form_and_about_both() {
    for form in ["Auto-detect", "auto detect", "AutoDetect"] {
        let project = TestProject::new();
        project
            .guard(
                NAME,
                &shown(json!(format!(
                    "Please choose what to do now:\n1. {form}\n2. New\tProject\n"
                ))),
            )
            .warns(TITLE);
        assert_eq!(project.codes(), ["DMG-001", "DMG-002"]);
    }
}

/// Case 5: other agents and tools are not looked at.
#[test]
fn t05_is_silent_about_other_tasks_and_tools() {
    let project = TestProject::new();
    let mut event = task("software-developer", "build it");
    event["tool_result"] = json!("1. one\n2. two\nsome text that is longer than fifty characters");
    project.guard(NAME, &event).says_nothing();
    project.guard(NAME, &bash("discover")).says_nothing();
}

/// Case 6: text that is no menu is no warning.
#[test]
fn t06_is_silent_about_text_that_is_no_menu() {
    let project = TestProject::new();
    project
        .guard(NAME, &shown(json!("short [1]")))
        .says_nothing();
    project
        .guard(
            NAME,
            &shown(json!(
                "A long report about what was discovered, without any numbers."
            )),
        )
        .says_nothing();
}

/// Case 7: results that are objects are read, and the prompt.
#[test]
fn t07_reads_objects_and_the_prompt() {
    let menu = json!({ "content": [{ "type": "text", "text": "Choose:\n[1] New Project\n[2] Existing Project, nothing more" }] });
    TestProject::new()
        .guard(NAME, &shown(menu))
        .warns("  Missing options: chat|explore");
    let mut event = task("general-purpose", "Run discover now");
    event["tool_result"] =
        json!("Select option 1 for a new project or another one, it is up to you.");
    TestProject::new().guard(NAME, &event).warns(TITLE);
}

/// Every digit used to be the start of a walk over all that follow it: minutes for this text.
#[test]
fn a_number_as_long_as_the_text_is_read_once() {
    let digits = "1".repeat(2_000_000);
    TestProject::new()
        .guard(NAME, &shown(json!(digits)))
        .says_nothing();
    TestProject::new()
        .guard(NAME, &shown(json!(format!("[{digits}] New Project"))))
        .warns(TITLE);
}

/// Case 8: without a result there is no warning.
#[test]
fn t08_is_silent_without_a_result() {
    TestProject::new()
        .guard(NAME, &task("discover-orchestrator", "discover"))
        .says_nothing();
    TestProject::new()
        .guard(NAME, &shown(json!("")))
        .says_nothing();
}

/// Case 9: empty input is allowed.
#[test]
fn t09_allows_on_empty_input() {
    TestProject::new()
        .run(&["hook", "--guard", NAME], b"")
        .allows();
}

/// Case 10: input that is no JSON is allowed.
#[test]
fn t10_allows_on_input_that_is_no_json() {
    TestProject::new()
        .run(&["hook", "--guard", NAME], b"<menu>")
        .allows();
}

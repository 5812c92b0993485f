//! Facts 1.25.

use serde_json::json;

use super::finished;
use crate::project::{TestProject, running};

const NAME: &str = "phase-transition-enforcer";
const FIRST: &str = "TRANSITION WARNING: Agent asked for permission to proceed.";

#[test]
fn every_question_is_noticed_in_any_case() {
    for question in [
        "Would you like to proceed?",
        "Ready to advance",
        "should I continue",
        "Shall we  proceed",
        "do you want me to move forward",
        "Want me to go ahead?",
    ] {
        let project = TestProject::new().state(&running("03-architecture", "in_progress"));
        let text = project
            .guard(NAME, &finished("solution-architect", "x", question))
            .warns(FIRST);
        let shown = question.trim_end_matches('?');
        assert!(
            text.contains(&format!("Pattern detected: '{shown}'")),
            "{text}"
        );
        assert_eq!(project.codes(), ["PTE-001"]);
        assert!(
            project
                .read(".isdlc/hook-activity.log")
                .contains("\"warn\"")
        );
    }
}

#[test]
fn other_words_and_other_times_are_fine() {
    let asks = finished("x", "x", "Would you like to proceed?");
    TestProject::new()
        .state(&running("03-architecture", "in_progress"))
        .guard(
            NAME,
            &finished("x", "Would you like to proceed?", "All done."),
        )
        .says_nothing();
    TestProject::new()
        .state(&json!({ "active_workflow": null }))
        .guard(NAME, &asks)
        .says_nothing();
    TestProject::new().guard(NAME, &asks).says_nothing();
}

#[test]
fn the_text_member_of_a_result_is_read() {
    let mut event = finished("x", "x", "");
    event["tool_result"] = json!({ "text": "Shall we proceed?" });
    TestProject::new()
        .state(&running("03-architecture", "in_progress"))
        .guard(NAME, &event)
        .warns(FIRST);
}

//! Facts 1.16.

use serde_json::{Value, json};

use crate::events::task;
use crate::project::{TestProject, running};

const NAME: &str = "test-adequacy-blocker";
const BLOCKED: &str = "TEST ADEQUACY REQUIRED: ";

fn with(phase: &str, summary: &Value) -> TestProject {
    let mut state = running(phase, "in_progress");
    state["discovery_context"] = json!({ "coverage_summary": summary });
    TestProject::new().state(&state)
}

fn upgrade() -> Value {
    task("upgrade-engineer", "plan the upgrade")
}

/// F3: `15-upgrade` of the manifest stands for the phases `15-upgrade-plan` and `15-upgrade-
/// execute`.
#[test]
fn f3_an_upgrade_needs_tests_that_notice() {
    for (summary, why) in [
        (
            json!({ "total_tests": 0, "unit_test_pct": 0 }),
            Some("has no tests"),
        ),
        (json!({ "unit_test_pct": 90 }), Some("has no tests")),
        (
            json!({ "total_tests": 10, "unit_test_pct": 49.9 }),
            Some("Only 49.9% of"),
        ),
        (json!({ "total_tests": 10, "unit_test_pct": 50 }), None),
        (json!({ "total_tests": 10 }), None),
        (json!(null), None),
    ] {
        for phase in ["15-upgrade-plan", "15-upgrade-execute", "16-upgrade-plan"] {
            let project = with(phase, &summary);
            let run = project.guard(NAME, &upgrade());
            if let Some(why) = why {
                let reason = run.blocks(BLOCKED);
                assert!(
                    reason.contains(why) && reason.contains("/isdlc test generate"),
                    "{reason}"
                );
                assert_eq!(project.codes(), ["TAB-001"]);
            } else {
                run.says_nothing();
            }
        }
    }
}

#[test]
fn which_calls_are_upgrade_work() {
    let project = with("15-upgrade-plan", &json!({ "total_tests": 0 }));
    for event in [
        upgrade(),
        task("14-upgrade-engineer", "x"),
        task("", "Phase key: 15-upgrade-plan"),
        task("general-purpose", "work as upgrade engineer"),
        task("general-purpose", "upgrade react, this is phase 14"),
    ] {
        project.guard(NAME, &event).blocks(BLOCKED);
    }
    for event in [
        task("general-purpose", "upgrade the wording"),
        task("qa-engineer", "x"),
        task("Explore", "what does upgrade-engineer do?"),
    ] {
        project.guard(NAME, &event).says_nothing();
    }
}

/// BUG-0006/0.7: the quality loop was taken for an upgrade.
#[test]
fn bug_0006_0_7_the_quality_loop_is_no_upgrade() {
    for phase in ["16-quality-loop", "06-implementation"] {
        let project = with(phase, &json!({ "total_tests": 0 }));
        project
            .guard(
                NAME,
                &task("quality-loop-engineer", "upgrade engineer says: run it"),
            )
            .says_nothing();
        project.guard(NAME, &upgrade()).says_nothing();
    }
}

#[test]
fn without_a_workflow_it_allows() {
    let state = json!({ "current_phase": "15-upgrade-plan", "discovery_context": { "coverage_summary": { "total_tests": 0 } } });
    TestProject::new()
        .state(&state)
        .guard(NAME, &upgrade())
        .says_nothing();
}

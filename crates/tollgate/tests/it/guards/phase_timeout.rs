//! Facts 1.3 step 2 and 2.13.

use serde_json::{Value, json};

use super::{in_phase, minutes_ago};
use crate::events::task;

const NAME: &str = "phase-timeout";

fn warned(required: &Value, data: &Value) -> bool {
    let project = in_phase("06-implementation", required, data);
    let run = project
        .guard(NAME, &task("software-developer", "x"))
        .allows();
    !run.stderr.is_empty()
}

/// D5: when a phase began is in `started_at`, `started` or `timing.started_at`; all three are read.
#[test]
fn d5_every_field_that_tells_the_beginning_is_seen() {
    let at = minutes_ago(100);
    for data in [
        json!({ "started": at }),
        json!({ "timing": { "started_at": at } }),
        json!({ "started_at": at }),
        json!({ "started_at": "yesterday", "started": at }),
        json!({ "iteration_requirements": { "test_iteration": { "started_at": at } } }),
        json!({ "iteration_requirements": { "interactive_elicitation": { "started_at": at } } }),
    ] {
        assert!(warned(&json!({ "timeout_minutes": 90 }), &data), "{data}");
        assert!(!warned(&json!({ "timeout_minutes": 120 }), &data), "{data}");
        assert!(!warned(&json!({}), &data), "{data}");
    }
    assert!(!warned(
        &json!({ "timeout_minutes": 90 }),
        &json!({ "status": "in_progress" })
    ));
}

/// BUG-0006/0.12: the warning about a timeout did not say what to do.
#[test]
fn bug_0006_0_12_the_warning_says_what_to_do_and_never_blocks() {
    let required =
        json!({ "timeout_minutes": 600, "interactive_elicitation": { "timeout_minutes": 60 } });
    let project = in_phase(
        "06-implementation",
        &required,
        &json!({ "started": minutes_ago(61), "status": "in_progress" }),
    );
    let told = project.guard(NAME, &task("software-developer", "x")).warns(
        "TIMEOUT WARNING: Phase '06-implementation' has been active for 61 minutes (limit: 60). Consider escalating to human review.\n",
    );
    let hint = told
        .lines()
        .find_map(|line| line.strip_prefix("DEGRADATION_HINT: "))
        .unwrap();
    let hint: Value = serde_json::from_str(hint).unwrap();
    assert_eq!(hint["type"], "timeout_degradation");
    assert_eq!((&hint["elapsed"], &hint["limit"]), (&json!(61), &json!(60)));
    assert_eq!(
        hint["actions"],
        json!([
            "reduce_debate_rounds",
            "reduce_parallelism",
            "skip_optional_steps"
        ])
    );
    assert_eq!(project.codes(), ["PT-001"]);
}

#[test]
fn a_clock_that_was_set_back_is_no_timeout() {
    assert!(!warned(
        &json!({ "timeout_minutes": 1 }),
        &json!({ "started": minutes_ago(-600) })
    ));
}

//! phase-timeout: a phase that takes longer than its limit gets a warning.
//!
//! It never blocks: only a person can say whether the work is stuck or merely large.

use jiff::{SignedDuration, Timestamp};

use super::fields::PHASE;
use super::sample::{DELEGATION, REQUIREMENTS};
use super::{Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample};
use crate::workflow::evidence::{ELICITATION, TESTS};
use tollgate_store::json::Object;
use tollgate_store::timestamp;

pub(super) const GUARD: Guard = Guard {
    name: "phase-timeout",
    about: "warns when the phase has been active for longer than its limit",
    is_general: false,
    on: &[(EventKind::PreTool, Class::Delegate)],
    codes: &[Code::warns(
        "PT-001",
        "the phase takes longer than it should (warning)",
        "finish the phase, do less in it, or ask the person",
    )
    .passes_with(&["phases.{}.started_at = {now}"])],
    reads: &[
        PHASE,
        "phases.{}.started_at",
        "phases.{}.timing.started_at",
        "phases.{}.started",
    ],
    sample: Some(Sample {
        state: r#"{"active_workflow":{"current_phase":"06-implementation"},
                "phases":{"06-implementation":{"started":"2026-01-01T00:00:00.000Z"}}}"#,
        files: &[REQUIREMENTS],
        event: DELEGATION,
        ..Sample::WARNED
    }),
    check,
};

/// Where the beginning of a phase may stand, best first. The first is what the original looked
/// for, the next two are what its workflow really writes.
const BEGINNINGS: &[&[&str]] = &[
    &["started_at"],
    &["timing", "started_at"],
    &["started"],
    &["iteration_requirements", TESTS, "started_at"],
    &["iteration_requirements", ELICITATION, "started_at"],
];

fn check(context: &EventContext<'_>) -> Option<Decision> {
    let phase = context.current_phase()?;
    let begun = beginning(&context.state()?.phase(&phase)?)?;
    let limit = context.requirements()?.timeout_minutes()?;
    let elapsed = minutes(context.now().duration_since(begun));
    if i128::from(elapsed) <= i128::from(limit) {
        return None;
    }
    let hint = serde_json::json!({
        "type": "timeout_degradation",
        "phase": phase,
        "elapsed": elapsed,
        "limit": limit,
        "actions": ["reduce_debate_rounds", "reduce_parallelism", "skip_optional_steps"],
    });
    let text = format!(
        "TIMEOUT WARNING: Phase '{phase}' has been active for {elapsed} minutes (limit: \
         {limit}). Consider escalating to human review.\nDEGRADATION_HINT: {hint}"
    );
    let reason = format!("Phase active for {elapsed} minutes, limit {limit}");
    let finding = Finding::new("PT-001", text, reason).phase(&phase);
    Some(Decision::warn([finding]))
}

fn beginning(phase: &Object<'_>) -> Option<Timestamp> {
    BEGINNINGS.iter().find_map(|path| {
        let (first, rest) = path.split_first()?;
        let mut rest = rest.iter();
        let node = rest.try_fold(phase.get(first)?, |node, key| node.get(key))?;
        timestamp::parse(&node.str()?)
    })
}

/// Whole minutes, rounded.
fn minutes(duration: SignedDuration) -> i64 {
    duration.as_secs().saturating_add(30).div_euclid(60)
}

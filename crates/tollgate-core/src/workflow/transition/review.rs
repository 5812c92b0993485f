//! The supervised review after a phase: continue, pause for reading, or repeat the phase.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Change, Edits, Refusal, moment};
use crate::workflow::evidence::TESTS;
use crate::workflow::position::{Doing, PhasePlace, WorkflowPosition};
use tollgate_store::document::{Document, whole};

/// How often a phase may be done again.
pub const MAX_REDOS: u64 = 3;

/// What a person says at a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// `[C]`: the workflow goes on.
    Continue,
    /// `[R]`: the person reads; nothing goes on meanwhile.
    Review,
}

const REVIEW: [&str; 2] = ["active_workflow", "supervised_review"];
const HISTORY: [&str; 2] = ["active_workflow", "review_history"];

pub(super) fn apply(
    choice: Choice,
    document: &Document,
    now: Timestamp,
) -> Result<Change, Refusal> {
    let position = WorkflowPosition::of(document)?;
    let place = reviewed(&position)?;
    let [workflow, review] = REVIEW;
    let mut edits = Edits::default();
    let reading = position.review() == Some("reviewing");
    let what = match choice {
        Choice::Review if reading => {
            return Err(Refusal::misplaced(
                format!("phase '{}' is paused for reading already", place.key),
                "`tollgate phase review --continue` approves the phase",
            ));
        }
        Choice::Review => {
            edits.set(&[workflow, review, "status"], "reviewing");
            edits.set(&[workflow, review, "paused_at"], moment(now));
            format!("phase {} is being read", place.key)
        }
        Choice::Continue => {
            let mut entry =
                json!({ "phase": place.key, "action": "continue", "timestamp": moment(now) });
            if reading && let Some(entry) = entry.as_object_mut() {
                let paused = document.get(&[workflow, review, "paused_at"]).cloned();
                entry.insert("action".to_owned(), "review".into());
                entry.insert("paused_at".to_owned(), paused.unwrap_or(Value::Null));
                entry.insert("resumed_at".to_owned(), moment(now));
            }
            edits.push(&HISTORY, entry);
            edits.remove(&REVIEW);
            format!("phase {} passed its review", place.key)
        }
    };
    Ok(Change::new("phase review", Some(place.key), what, edits))
}

pub(super) fn redo(guidance: &str, document: &Document, now: Timestamp) -> Result<Change, Refusal> {
    let position = WorkflowPosition::of(document)?;
    let place = reviewed(&position)?;
    let [workflow, review] = REVIEW;
    let redone = document.get(&[workflow, review, "redo_count"]);
    let redone = redone.and_then(whole).unwrap_or(0);
    if redone >= MAX_REDOS {
        return Err(Refusal::closed(
            format!("phase '{}' was redone {redone} times already", place.key),
            "`tollgate phase review --continue` goes on with it as it is, `tollgate workflow cancel --reason …` ends the workflow",
        ));
    }
    let guidance = guidance.trim();
    if guidance.is_empty() {
        return Err(Refusal::misplaced(
            "the guidance is empty",
            "say what to improve: `--guidance \"…\"`",
        ));
    }
    let mut edits = Edits::default();
    edits.set(&[workflow, review, "redo_count"], redone + 1);
    edits.push(&[workflow, review, "redo_guidance_history"], guidance);
    edits.set(&[workflow, review, "status"], "redo_pending");
    edits.push(&HISTORY, json!({ "phase": place.key, "action": "redo", "timestamp": moment(now), "redo_count": redone + 1, "guidance": guidance }));
    let key = position.filed(place.key);
    edits.set(&["phases", key, "status"], "in_progress");
    // What is done again has passed no gate. When it first began stays.
    edits.set(&["phases", key, "completed"], Value::Null);
    edits.set(&["phases", key, "gate_passed"], Value::Null);
    edits.remove(&["phases", key, super::GATES]);
    forget_tests(&mut edits, &position, place);
    let retries = position.retries(place.key);
    let timed = position.field(place.key, &["timing", "started_at"]);
    if timed.is_none() {
        // The original does not always record when a phase was first run.
        let started = position.field(place.key, &["started"]).cloned();
        let started = started.filter(Value::is_string);
        let started = started.unwrap_or_else(|| moment(now));
        edits.set(&["phases", key, "timing", "started_at"], started);
    }
    let retries = retries.saturating_add(1);
    edits.set(&["phases", key, "timing", "retries"], retries);
    edits.set(&position.status_path(place.key), "in_progress");
    let what = format!(
        "phase {} is redone ({} of {MAX_REDOS}): {}",
        place.key,
        redone + 1,
        super::cut(guidance, super::SUMMARY)
    );
    Ok(Change::new("phase redo", Some(place.key), what, edits))
}

/// Tests that passed before the work is done again say nothing about the new work, and the runs
/// of the first time are not counted against it. Their history stays.
fn forget_tests(edits: &mut Edits, position: &WorkflowPosition<'_>, place: PhasePlace<'_>) {
    let way = ["iteration_requirements", TESTS];
    let Some(record) = position.field(place.key, &way).and_then(Value::as_object) else {
        return;
    };
    let [requirements, tests] = way;
    let key = position.filed(place.key);
    for (field, fresh) in [
        ("completed", Value::Bool(false)),
        ("current_iteration", 0.into()),
        ("failures_count", 0.into()),
        ("identical_failure_count", 0.into()),
    ] {
        if record.contains_key(field) {
            edits.set(&["phases", key, requirements, tests, field], fresh);
        }
    }
    for field in [
        "status",
        "completed_at",
        "escalation_reason",
        "escalated_at",
        "escalation_approved",
    ] {
        if record.contains_key(field) {
            edits.remove(&["phases", key, requirements, tests, field]);
        }
    }
}

/// The completed phase whose review is open.
fn reviewed<'a>(position: &WorkflowPosition<'a>) -> Result<PhasePlace<'a>, Refusal> {
    let place = match position.doing()? {
        Doing::Between { done, .. } | Doing::Finished(done) => done,
        Doing::Redoing(place) => {
            return Err(Refusal::misplaced(
                format!("phase '{}' is being redone", place.key),
                "complete it first: `tollgate phase complete --summary …`",
            ));
        }
        Doing::Waiting(place) | Doing::Running(place) => {
            return Err(Refusal::misplaced(
                format!(
                    "phase '{}' is not completed, so there is nothing to review",
                    place.key
                ),
                "a phase in progress is run again with `tollgate phase begin`",
            ));
        }
    };
    match position.review() {
        // Whatever it says, it keeps the next phase from beginning: `rejected` is done again.
        Some(_) => Ok(place),
        None => Err(Refusal::misplaced(
            format!("no review of phase '{}' is open", place.key),
            "reviews are asked for with `tollgate workflow start --supervised`; otherwise go on with `tollgate phase begin`",
        )),
    }
}

//! Skips a phase. The current one counts as done without meeting its exit criteria; a later one is
//! removed from the workflow.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Change, Edits, Refusal, Rules, begin, complete, cut, moment};
use crate::workflow::position::{Doing, PhasePlace, WorkflowPosition};
use tollgate_store::document::Document;

pub(super) fn apply(
    phase: Option<&str>,
    reason: &str,
    document: &Document,
    rules: &Rules<'_>,
    now: Timestamp,
) -> Result<Change, Refusal> {
    let position = WorkflowPosition::of(document)?;
    let reason = cut(reason, 120);
    if reason.is_empty() {
        return Err(Refusal::no_reason());
    }
    let doing = position.doing()?;
    let turn = doing.turn().ok_or_else(Refusal::finished)?;
    if let Doing::Between { .. } = doing {
        position.require_reviewed()?;
    }
    let place = match phase {
        None => turn,
        Some(name) => position
            .place(name)
            .ok_or_else(|| Refusal::unknown_phase(name, "the workflow", &position.phases))?,
    };
    if place.at < turn.at {
        return Err(Refusal::misplaced(
            format!("phase '{}' is completed already", place.key),
            "only a phase that is not completed can be skipped",
        ));
    }
    let mut edits = Edits::default();
    if !position.escalations().is_empty() {
        edits.set(&["pending_escalations"], json!([]));
    }
    let what = if place == turn {
        pass(&mut edits, &position, place, &reason, rules, now);
        if let Doing::Redoing(_) = doing {
            edits.remove(&["active_workflow", "supervised_review"]);
        }
        format!("phase {} was skipped: {reason}", place.key)
    } else {
        if !matches!(position.status(place.key), None | Some("pending")) {
            let what = format!("phase '{}' comes later but is not pending", place.key);
            return Err(Refusal::contradiction(&what));
        }
        complete::remove(&mut edits, &position, &[place.key]);
        let gone = json!({ "phase": place.key, "reason": reason, "timestamp": moment(now) });
        edits.push(&["active_workflow", "removed_phases"], gone);
        let key = place.key;
        format!("phase {key} was removed from the workflow: {reason}")
    };
    Ok(Change {
        agent: rules.agent(place.key),
        ..Change::new("phase skip", Some(place.key), what, edits)
    })
}

/// The phase is over without having passed its gate.
fn pass(
    edits: &mut Edits,
    position: &WorkflowPosition<'_>,
    place: PhasePlace<'_>,
    reason: &str,
    rules: &Rules<'_>,
    now: Timestamp,
) {
    let agent = rules.agent(place.key);
    begin::activate(edits, position, place, agent.as_deref(), now);
    let filed = position.filed(place.key);
    let skipped = json!({ "reason": reason, "timestamp": moment(now) });
    for (field, value) in [
        ("status", "completed".into()),
        ("completed", moment(now)),
        ("gate_passed", Value::Null),
        ("summary", format!("Skipped ({reason})").into()),
        ("skipped", skipped),
    ] {
        edits.set(&["phases", filed, field], value);
    }
    if begin::is_timed(position, place) {
        edits.set(&["phases", filed, "timing", "completed_at"], moment(now));
        if position.lacks(place.key, &["timing", "wall_clock_minutes"]) {
            edits.set(&["phases", filed, "timing", "wall_clock_minutes"], 0);
        }
    }
    edits.set(&position.status_path(place.key), "completed");
    edits.set(&["active_workflow", "current_phase_index"], place.at + 1);
}

//! 3c-prime: a phase becomes the current one, before work in it is delegated.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Change, Edits, Escalations, Refusal, Rules, moment};
use crate::workflow::phases;
use crate::workflow::position::{Doing, PhasePlace, WorkflowPosition};
use tollgate_store::document::Document;

pub(super) fn apply(
    phase: Option<&str>,
    escalations: Escalations,
    document: &Document,
    rules: &Rules<'_>,
    now: Timestamp,
) -> Result<Change, Refusal> {
    let position = WorkflowPosition::of(document)?;
    let doing = position.doing()?;
    let (place, again) = match doing {
        Doing::Waiting(place) => (place, false),
        // A phase that `start` opened has no timing until it is first begun; a retry has
        // been there.
        Doing::Running(place) => {
            let is_retry = matches!(escalations, Escalations::Clear);
            (place, is_retry || is_timed(&position, place))
        }
        Doing::Redoing(place) => (place, true),
        Doing::Between { next, .. } => {
            position.require_reviewed()?;
            (next, false)
        }
        Doing::Finished(_) => {
            position.require_reviewed()?;
            return Err(Refusal::finished());
        }
    };
    named(phase, &position, place)?;
    let mut edits = Edits::default();
    let waiting = position.escalations();
    if !waiting.is_empty() {
        match escalations {
            Escalations::Heed => return Err(blocked(waiting, place.key)),
            Escalations::Clear => edits.set(&["pending_escalations"], json!([])),
        }
    }
    let agent = rules.agent(place.key);
    activate(&mut edits, &position, place, agent.as_deref(), now);
    timing(&mut edits, &position, place, again, now);
    let happened = if again { "is run again" } else { "began" };
    let what = format!("phase {} {happened}", place.key);
    Ok(Change {
        agent,
        ..Change::new("phase begin", Some(place.key), what, edits)
    })
}

pub(super) fn is_timed(position: &WorkflowPosition<'_>, place: PhasePlace<'_>) -> bool {
    let timing = position.field(place.key, &["timing"]);
    timing.is_some_and(Value::is_object)
}

/// When the phase was first begun, and how often again.
fn timing(
    edits: &mut Edits,
    position: &WorkflowPosition<'_>,
    place: PhasePlace<'_>,
    again: bool,
    now: Timestamp,
) {
    let path = position.entry(place.key, "timing");
    if !again && !is_timed(position, place) {
        let fresh = json!({ "started_at": moment(now), "retries": 0 });
        return edits.set(&path, fresh);
    }
    let [top, key, timing] = path;
    if position.lacks(place.key, &["timing", "started_at"]) {
        edits.set(&[top, key, timing, "started_at"], moment(now));
    }
    let retries = [top, key, timing, "retries"];
    if again {
        edits.set(&retries, position.retries(place.key).saturating_add(1));
    } else if position.lacks(place.key, &["timing", "retries"]) {
        // Timing without a run: another program's field is kept.
        edits.set(&retries, 0);
    }
}

/// The fields that make a phase the current one, in the specification's order.
pub(super) fn activate(
    edits: &mut Edits,
    position: &WorkflowPosition<'_>,
    place: PhasePlace<'_>,
    agent: Option<&str>,
    now: Timestamp,
) {
    let key = position.place(place.key).map_or(place.key, |own| own.key);
    if position.lacks(key, &[]) {
        edits.set(&["phases", position.filed(key)], new_entry("pending"));
    }
    edits.set(&position.entry(key, "status"), "in_progress");
    if position.lacks(key, &["started"]) {
        edits.set(&position.entry(key, "started"), moment(now));
    }
    edits.set(&["active_workflow", "current_phase"], key);
    edits.set(&position.status_path(key), "in_progress");
    if position.index().is_none() {
        edits.set(&["active_workflow", "current_phase_index"], place.at);
    }
    edits.set(&["current_phase"], key);
    edits.set(&["active_agent"], agent.map_or(Value::Null, Value::from));
}

/// A phase's entry as a workflow starts with it.
pub(in crate::workflow) fn new_entry(status: &str) -> Value {
    json!({ "status": status, "started": null, "completed": null, "gate_passed": null, "artifacts": [] })
}

/// The phase that was named must be the one whose turn it is.
pub(super) fn named(
    phase: Option<&str>,
    position: &WorkflowPosition<'_>,
    place: PhasePlace<'_>,
) -> Result<(), Refusal> {
    let Some(name) = phase else {
        return Ok(());
    };
    if position.place(name).is_none() {
        let phases = &position.phases;
        return Err(Refusal::unknown_phase(name, "the workflow", phases));
    }
    if phases::equal(name, place.key) {
        return Ok(());
    }
    Err(Refusal::misplaced(
        format!(
            "phase '{name}' is not due: the current phase is '{}'",
            place.key
        ),
        "`tollgate workflow status` shows the current phase",
    ))
}

/// How many escalations wait, the newest of them.
pub const MAX_ESCALATIONS: usize = 20;

/// An escalation on a line: what it is, who raised it where, and why.
pub fn escalation(one: &Value) -> String {
    let text = |key: &str| one.get(key).and_then(Value::as_str).unwrap_or("?");
    let (kind, hook, phase) = (text("type"), text("hook"), text("phase"));
    let detail = super::cut(text("detail"), 200);
    format!("  - {kind} ({hook}, phase {phase}): {detail}")
}

/// What waits for a person, and the three ways on.
fn blocked(waiting: &[Value], phase: &str) -> Refusal {
    let list: Vec<String> = waiting.iter().map(escalation).collect();
    Refusal::closed(
        format!(
            "BLOCKER: {} escalation(s) wait for a person before phase '{phase}':\n{}",
            waiting.len(),
            list.join("\n")
        ),
        "[Retry] `tollgate phase begin --retry`  [Skip] `tollgate phase skip --reason …`  [Cancel] `tollgate workflow cancel --reason …`",
    )
}

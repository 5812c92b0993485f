//! 3c-prime: a phase becomes the current one, before anybody is asked to work in it.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Change, Edits, Escalations, Refusal, Rules, moment};
use crate::workflow::phases;
use crate::workflow::position::{Doing, Place, WorkflowPosition};
use tollgate_store::document::Document;

pub(super) fn apply(
    phase: Option<&str>,
    escalations: Escalations,
    document: &Document,
    rules: &Rules<'_>,
    now: Timestamp,
) -> Result<Change, Refusal> {
    let standing = WorkflowPosition::of(document)?;
    let doing = standing.doing()?;
    let (place, again) = match doing {
        Doing::Waiting(place) => (place, false),
        // A phase that `start` opened has no timing until it is first begun.
        Doing::Running(place) => (
            place,
            standing
                .field(place.key, &["timing"])
                .is_some_and(Value::is_object),
        ),
        Doing::Redoing(place) => (place, true),
        Doing::Between { done, next } => {
            if standing.review().is_some() {
                return Err(Refusal::unfinished_review(done.key));
            }
            (next, false)
        }
        Doing::Finished(done) => {
            return Err(match standing.review() {
                Some(_) => Refusal::unfinished_review(done.key),
                None => Refusal::misplaced(
                    "every phase is completed",
                    "`tollgate workflow finalize` archives the workflow",
                ),
            });
        }
    };
    named(phase, &standing, place)?;
    let mut edits = Edits::default();
    let waiting = standing.escalations();
    if !waiting.is_empty() {
        match escalations {
            Escalations::Heed => return Err(blocked(waiting, place.key)),
            Escalations::Clear => edits.set(&["pending_escalations"], json!([])),
        }
    }
    let agent = rules.agent(place.key);
    activate(&mut edits, &standing, place, agent.as_deref(), now);
    let timing = ["phases", standing.filed(place.key), "timing"];
    let [top, key, timing] = timing;
    if again {
        let retries = standing.retries(place.key);
        if standing
            .field(place.key, &["timing", "started_at"])
            .is_none_or(Value::is_null)
        {
            edits.set(&[top, key, timing, "started_at"], moment(now));
        }
        edits.set(&[top, key, timing, "retries"], retries.saturating_add(1));
    } else if standing
        .field(place.key, &["timing"])
        .is_some_and(Value::is_object)
    {
        // Timing without a run: somebody else's field is kept.
        if standing
            .field(place.key, &["timing", "started_at"])
            .is_none_or(Value::is_null)
        {
            edits.set(&[top, key, timing, "started_at"], moment(now));
        }
        if standing
            .field(place.key, &["timing", "retries"])
            .is_none_or(Value::is_null)
        {
            edits.set(&[top, key, timing, "retries"], 0);
        }
    } else {
        edits.set(
            &[top, key, timing],
            json!({ "started_at": moment(now), "retries": 0 }),
        );
    }
    let told = if again {
        format!("phase {} is run again", place.key)
    } else {
        format!("phase {} began", place.key)
    };
    Ok(Change {
        step: "phase begin",
        phase: Some(place.key.to_owned()),
        agent,
        told,
        notes: Vec::new(),
        edits: edits.0,
    })
}

/// The fields that make a phase the current one, in the specification's order.
pub(super) fn activate(
    edits: &mut Edits,
    standing: &WorkflowPosition<'_>,
    place: Place<'_>,
    agent: Option<&str>,
    now: Timestamp,
) {
    let key = standing.place(place.key).map_or(place.key, |own| own.key);
    let filed = standing.filed(key);
    if standing.field(key, &[]).is_none_or(Value::is_null) {
        edits.set(&["phases", filed], new_entry("pending"));
    }
    edits.set(&["phases", filed, "status"], "in_progress");
    if standing.field(key, &["started"]).is_none_or(Value::is_null) {
        edits.set(&["phases", filed, "started"], moment(now));
    }
    edits.set(&["active_workflow", "current_phase"], key);
    edits.set(
        &[
            "active_workflow",
            "phase_status",
            standing.filed_status(key),
        ],
        "in_progress",
    );
    if standing.index().is_none() {
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
    standing: &WorkflowPosition<'_>,
    place: Place<'_>,
) -> Result<(), Refusal> {
    let Some(name) = phase else {
        return Ok(());
    };
    if standing.place(name).is_none() {
        return Err(Refusal::unknown_phase(name, &standing.phases));
    }
    if phases::equal(name, place.key) {
        Ok(())
    } else {
        Err(Refusal::misplaced(
            format!(
                "it is not the turn of phase '{name}': phase '{}' is",
                place.key
            ),
            "`tollgate workflow status` shows where the workflow stands",
        ))
    }
}

/// What waits for a person, and the three ways on.
fn blocked(waiting: &[Value], phase: &str) -> Refusal {
    let list: Vec<String> = waiting
        .iter()
        .map(|one| {
            let text = |key: &str| one.get(key).and_then(Value::as_str).unwrap_or("?");
            let detail = super::cut(text("detail"), 200);
            format!(
                "  - {} ({}, phase {}): {detail}",
                text("type"),
                text("hook"),
                text("phase")
            )
        })
        .collect();
    Refusal::closed(
        format!(
            "BLOCKER: {} escalation(s) wait for a person before phase '{phase}':\n{}",
            waiting.len(),
            list.join("\n")
        ),
        "[Retry] `tollgate phase begin --retry`  [Skip] `tollgate phase skip --reason …`  [Cancel] `tollgate workflow cancel --reason …`",
    )
}

//! Leaving a phase out. The one whose turn it is counts as done, without a passed gate; a later
//! one is taken out of the workflow.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Change, Edits, Refusal, Rules, begin, complete, cut, moment};
use crate::workflow::position::{Doing, Place, WorkflowPosition};
use tollgate_store::document::Document;

pub(super) fn apply(
    phase: Option<&str>,
    reason: &str,
    document: &Document,
    rules: &Rules<'_>,
    now: Timestamp,
) -> Result<Change, Refusal> {
    let standing = WorkflowPosition::of(document)?;
    let reason = cut(reason, 120);
    if reason.is_empty() {
        return Err(Refusal::misplaced(
            "the reason is empty",
            "say why: `--reason \"…\"`",
        ));
    }
    let doing = standing.doing()?;
    let turn = match doing {
        Doing::Waiting(place) | Doing::Running(place) | Doing::Redoing(place) => place,
        Doing::Between { done, next } => {
            if standing.review().is_some() {
                return Err(Refusal::unfinished_review(done.key));
            }
            next
        }
        Doing::Finished(_) => {
            return Err(Refusal::misplaced(
                "every phase is completed",
                "`tollgate workflow finalize` archives the workflow",
            ));
        }
    };
    let place = match phase {
        None => turn,
        Some(name) => standing
            .place(name)
            .ok_or_else(|| Refusal::unknown_phase(name, &standing.phases))?,
    };
    if place.at < turn.at {
        return Err(Refusal::misplaced(
            format!("phase '{}' is completed already", place.key),
            "only what is still to do can be left out",
        ));
    }
    let mut edits = Edits::default();
    if !standing.escalations().is_empty() {
        edits.set(&["pending_escalations"], json!([]));
    }
    let told = if place == turn {
        pass(&mut edits, &standing, place, &reason, rules, now);
        if let Doing::Redoing(_) = doing {
            edits.remove(&["active_workflow", "supervised_review"]);
        }
        format!("phase {} was skipped: {reason}", place.key)
    } else {
        if !matches!(standing.status(place.key), None | Some("pending")) {
            return Err(Refusal::contradiction(&format!(
                "phase '{}' comes later but is not pending",
                place.key
            )));
        }
        complete::remove(&mut edits, &standing, &[place.key.to_owned()]);
        let gone = json!({ "phase": place.key, "reason": reason, "timestamp": moment(now) });
        edits.push(&["active_workflow", "removed_phases"], gone);
        format!(
            "phase {} was taken out of the workflow: {reason}",
            place.key
        )
    };
    Ok(Change {
        step: "phase skip",
        phase: Some(place.key.to_owned()),
        agent: rules.agent(place.key),
        told,
        notes: Vec::new(),
        edits: edits.0,
    })
}

/// The phase is over without having passed its gate.
fn pass(
    edits: &mut Edits,
    standing: &WorkflowPosition<'_>,
    place: Place<'_>,
    reason: &str,
    rules: &Rules<'_>,
    now: Timestamp,
) {
    begin::activate(
        edits,
        standing,
        place,
        rules.agent(place.key).as_deref(),
        now,
    );
    let filed = standing.filed(place.key);
    edits.set(&["phases", filed, "status"], "completed");
    edits.set(&["phases", filed, "completed"], moment(now));
    edits.set(&["phases", filed, "gate_passed"], Value::Null);
    edits.set(&["phases", filed, "summary"], format!("Skipped ({reason})"));
    edits.set(
        &["phases", filed, "skipped"],
        json!({ "reason": reason, "timestamp": moment(now) }),
    );
    if standing
        .field(place.key, &["timing"])
        .is_some_and(Value::is_object)
    {
        edits.set(&["phases", filed, "timing", "completed_at"], moment(now));
        if standing
            .field(place.key, &["timing", "wall_clock_minutes"])
            .is_none_or(Value::is_null)
        {
            edits.set(&["phases", filed, "timing", "wall_clock_minutes"], 0);
        }
    }
    edits.set(
        &[
            "active_workflow",
            "phase_status",
            standing.filed_status(place.key),
        ],
        "completed",
    );
    edits.set(&["active_workflow", "current_phase_index"], place.at + 1);
}

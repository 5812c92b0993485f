//! Ends a workflow, completed or cancelled: it moves to the history and out of `active_workflow` in
//! one step.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{Change, Edits, Refusal, moment, snapshot};
use crate::workflow::position::{self, WorkflowPosition};
use crate::workflow::prune::{self, MAX_WORKFLOWS};
use tollgate_store::document::Document;

/// How the work left its branch.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ending<'a> {
    /// The commit that merged the branch.
    pub merged_commit: Option<&'a str>,
}

pub(super) fn finalize(
    ending: &Ending<'_>,
    document: &Document,
    now: Timestamp,
) -> Result<Change, Refusal> {
    let position = WorkflowPosition::of(document)?;
    if let Some(place) = position.doing()?.turn() {
        return Err(Refusal::misplaced(
            format!("phase '{}' is not completed", place.key),
            "`tollgate workflow status` shows what is left; `tollgate workflow cancel --reason …` ends the workflow early",
        ));
    }
    position.require_reviewed()?;
    let mut phases = position.phases.iter();
    if let Some(open) = phases.find(|key| position.status(key) != Some("completed")) {
        return Err(Refusal::contradiction(&format!(
            "phase '{open}' is not completed, but the index is behind the last phase"
        )));
    }
    let entry = json!({ "completed_at": moment(now), "status": "completed" });
    let (branch, commit) = match ending.merged_commit {
        Some(commit) => ("merged", commit.into()),
        None => ("kept", Value::Null),
    };
    let edits = archive(document, entry, (branch, commit), now);
    let workflow = position.workflow;
    let what = format!("the {workflow} workflow is completed and archived");
    Ok(Change::new("workflow finalize", None, what, edits))
}

pub(super) fn cancel(reason: &str, document: &Document, now: Timestamp) -> Result<Change, Refusal> {
    let Some(fields) = position::running(document) else {
        return Err(position::odd(document).unwrap_or_else(Refusal::no_workflow));
    };
    let workflow = fields.get("type").and_then(Value::as_str);
    let workflow = workflow.unwrap_or("feature");
    let reason = reason.trim();
    if reason.is_empty() {
        return Err(Refusal::no_reason());
    }
    // A workflow whose fields contradict each other, or that has no phases, can still be
    // cancelled: that is a way out.
    let position = WorkflowPosition::of(document).ok();
    let place = position.and_then(|position| position.current());
    let phase = place.map_or(Value::Null, |place| place.key.into());
    let entry = json!({
        "completed_at": null, "cancelled_at": moment(now), "cancelled_at_phase": phase,
        "cancellation_reason": reason, "status": "cancelled",
    });
    let edits = archive(document, entry, ("abandoned", Value::Null), now);
    let reason = super::cut(reason, super::SUMMARY);
    let what = format!("the {workflow} workflow is cancelled: {reason}");
    Ok(Change::new("workflow cancel", phase.as_str(), what, edits))
}

/// The history entry, the pruned lists and the cleared fields.
fn archive(
    document: &Document,
    outcome: Value,
    (branch, commit): (&str, Value),
    now: Timestamp,
) -> Edits {
    let field = |key: &str| {
        let value = document.get(&["active_workflow", key]);
        value.cloned().unwrap_or_default()
    };
    // Before anything is pruned.
    let (snapshots, metrics) = snapshot::collect(document, now);
    let mut entry = Map::new();
    let mut put = |key: &str, value: Value| {
        entry.insert(key.to_owned(), value);
    };
    put("type", field("type"));
    put("id", identity(document));
    for key in ["artifact_folder", "description", "started_at"] {
        put(key, field(key));
    }
    if let Value::Object(outcome) = outcome {
        for (key, value) in outcome {
            put(&key, value);
        }
    }
    put("phases", field("phases"));
    put("phase_snapshots", snapshots.into());
    put("metrics", metrics);
    put("merged_commit", commit);
    let mut git = field("git_branch");
    if let Value::Object(git) = &mut git {
        git.insert("status".to_owned(), branch.into());
    }
    put("git_branch", git);
    for key in [
        "review_history",
        "sizing",
        "budget_status",
        "budget_exceeded_at_phase",
        "removed_phases",
        "options",
        "flags",
    ] {
        let value = field(key);
        if !value.is_null() {
            put(key, value);
        }
    }
    let supervised = document.bool(&["supervised_mode", "enabled"]) == Some(true);
    put("supervised_mode_enabled", supervised.into());

    let mut edits = Edits(prune::lists(document, MAX_WORKFLOWS - 1));
    let entry = Value::Object(entry);
    if document.array(&["workflow_history"]).is_some() {
        edits.push(&["workflow_history"], entry);
    } else {
        // What is no list must not keep a workflow from ending.
        edits.set(&["workflow_history"], vec![entry]);
    }
    // What `start --supervised` switched on goes with its workflow.
    if supervised && document.bool(&["active_workflow", "flags", "supervised"]) == Some(true) {
        edits.set(&["supervised_mode", "enabled"], false);
    }
    edits.set(&["active_workflow"], Value::Null);
    edits.0.extend(prune::transient());
    edits
}

/// `REQ-0031` of the folder `REQ-0031-x`, else the whole folder.
fn identity(document: &Document) -> Value {
    let Some(folder) = document.str(&["active_workflow", "artifact_folder"]) else {
        return Value::Null;
    };
    let mut parts = folder.splitn(3, '-');
    match (parts.next(), parts.next()) {
        (Some(prefix), Some(number)) if number.bytes().all(|b| b.is_ascii_digit()) => {
            format!("{prefix}-{number}").into()
        }
        _ => folder.into(),
    }
}

//! The end of a workflow, good or early: its story goes to the history in the same step that
//! takes it out of the way.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{Change, Edits, Refusal, moment, snapshot};
use crate::state::document::Document;
use crate::state::edit::Edit;
use crate::workflow::standing::{Doing, Standing};

/// How many entries `workflow_history` keeps.
pub const MAX_WORKFLOWS: usize = 50;
/// How many entries `history` keeps.
pub const MAX_HISTORY: usize = 100;
/// How many entries `skill_usage_log` keeps.
pub const MAX_SKILL_LOG: usize = 50;
/// How long a text in a pruned entry may be.
const MAX_TEXT: usize = 200;

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
    let standing = Standing::of(document)?;
    match standing.doing()? {
        Doing::Finished(last) => {
            if standing.review().is_some() {
                return Err(Refusal::unfinished_review(last.key));
            }
        }
        Doing::Waiting(place)
        | Doing::Running(place)
        | Doing::Redoing(place)
        | Doing::Between { next: place, .. } => {
            return Err(Refusal::misplaced(
                format!("phase '{}' is not completed", place.key),
                "`tollgate workflow status` shows what is left; `tollgate workflow cancel --reason …` ends the workflow early",
            ));
        }
    }
    if let Some(open) = standing
        .phases
        .iter()
        .find(|key| standing.status(key) != Some("completed"))
    {
        return Err(Refusal::contradiction(&format!(
            "phase '{open}' is not completed, but the index is behind the last phase"
        )));
    }
    let entry = json!({ "completed_at": moment(now), "status": "completed" });
    let branch = if ending.merged_commit.is_some() {
        "merged"
    } else {
        "kept"
    };
    let commit = ending.merged_commit.map_or(Value::Null, Value::from);
    let edits = archive(document, entry, (branch, commit), now);
    Ok(Change {
        step: "workflow finalize",
        phase: None,
        agent: None,
        told: format!(
            "the {} workflow is completed and archived",
            standing.workflow
        ),
        notes: Vec::new(),
        edits,
    })
}

pub(super) fn cancel(reason: &str, document: &Document, now: Timestamp) -> Result<Change, Refusal> {
    let standing = Standing::of(document)?;
    let reason = reason.trim();
    if reason.is_empty() {
        return Err(Refusal::misplaced(
            "the reason is empty",
            "say why: `--reason \"…\"`",
        ));
    }
    // A workflow whose fields contradict each other can still be cancelled: that is a way out.
    let phase = standing
        .current()
        .map_or(Value::Null, |place| place.key.into());
    let entry = json!({
        "completed_at": null, "cancelled_at": moment(now), "cancelled_at_phase": phase,
        "cancellation_reason": reason, "status": "cancelled",
    });
    let edits = archive(document, entry, ("abandoned", Value::Null), now);
    Ok(Change {
        step: "workflow cancel",
        phase: phase.as_str().map(str::to_owned),
        agent: None,
        told: format!(
            "the {} workflow is cancelled: {}",
            standing.workflow,
            super::cut(reason, 150)
        ),
        notes: Vec::new(),
        edits,
    })
}

/// The history entry, the pruned lists and the cleared fields.
fn archive(
    document: &Document,
    outcome: Value,
    (branch, commit): (&str, Value),
    now: Timestamp,
) -> Vec<Edit> {
    let field = |key: &str| {
        document
            .get(&["active_workflow", key])
            .cloned()
            .unwrap_or(Value::Null)
    };
    // Before anything is pruned.
    let (snapshots, metrics) = snapshot::collect(document, now);
    let mut entry = Map::new();
    let mut put = |key: &str, value: Value| {
        entry.insert(key.to_owned(), value);
    };
    put("type", field("type"));
    put("id", identity(document));
    put("artifact_folder", field("artifact_folder"));
    put("description", field("description"));
    put("started_at", field("started_at"));
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

    let mut edits = Edits::default();
    let mut workflows = tail(document, "workflow_history", MAX_WORKFLOWS - 1);
    for old in &mut workflows {
        shorten(old, "description");
    }
    workflows.push(Value::Object(entry));
    edits.set(&["workflow_history"], workflows);
    let mut history = tail(document, "history", MAX_HISTORY);
    for old in &mut history {
        shorten(old, "action");
    }
    if document.get(&["history"]).is_some() {
        edits.set(&["history"], history);
    }
    if document.get(&["skill_usage_log"]).is_some() {
        edits.set(
            &["skill_usage_log"],
            tail(document, "skill_usage_log", MAX_SKILL_LOG),
        );
    }
    // What `start --supervised` switched on goes with its workflow.
    if supervised && document.bool(&["active_workflow", "flags", "supervised"]) == Some(true) {
        edits.set(&["supervised_mode", "enabled"], false);
    }
    edits.set(&["active_workflow"], Value::Null);
    for (key, value) in TRANSIENT {
        edits.set(&[key], value());
    }
    edits.0
}

/// A field, and what it is without a workflow.
pub(crate) type Transient = (&'static str, fn() -> Value);

/// The fields that belong to a running workflow, and what they are without one.
pub(crate) const TRANSIENT: [Transient; 6] = [
    ("current_phase", || Value::Null),
    ("active_agent", || Value::Null),
    ("phases", || json!({})),
    ("blockers", || json!([])),
    ("pending_escalations", || json!([])),
    ("pending_delegation", || Value::Null),
];

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

fn tail(document: &Document, key: &str, most: usize) -> Vec<Value> {
    let all = document.array(&[key]).unwrap_or_default();
    all.get(all.len().saturating_sub(most)..)
        .unwrap_or_default()
        .to_vec()
}

fn shorten(entry: &mut Value, key: &str) {
    let long = entry
        .get(key)
        .and_then(Value::as_str)
        .filter(|text| text.chars().count() > MAX_TEXT);
    if let Some(text) = long {
        let short: String = text.chars().take(MAX_TEXT).collect();
        if let Some(entry) = entry.as_object_mut() {
            entry.insert(key.to_owned(), format!("{short}...").into());
        }
    }
}

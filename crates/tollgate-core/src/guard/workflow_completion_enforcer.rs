//! workflow-completion-enforcer: a workflow that an agent ended itself still leaves its
//! snapshots and figures behind.
//!
//! `tollgate workflow finalize` writes all of it in one step. An agent that edits the state
//! itself forgets the snapshots; shortly after, the phases they are made from are still there.

use serde_json::Value;

use super::{Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample};
use crate::workflow::transition::snapshot;
use crate::workflow::{pace, prune};
use tollgate_store::document::{Document, whole};
use tollgate_store::edit::Edit;
use tollgate_store::timestamp;

pub(super) const GUARD: Guard = Guard {
    name: "workflow-completion-enforcer",
    about: "adds missing data when an agent ends a workflow itself",
    is_general: true,
    on: &[(EventKind::PostTool, Class::File)],
    codes: &[
        Code::warns(
            "WCE-001",
            "snapshots and metrics were added to the ended workflow (noted)",
            "nothing; `tollgate workflow finalize` writes all of it at once",
        ),
        Code::warns(
            "WCE-002",
            "the workflow took markedly longer than those before it",
            "nothing; the phases that took longest show why",
        )
        .passes_with(&["workflow_history = {faster}"]),
    ],
    reads: &[],
    sample: Some(Sample {
        state: r#"{"active_workflow":null,"phases":{"01-requirements":{"status":"completed"}},
            "workflow_history":[{"type":"feature","completed_at":"2026-01-01T00:09:30.000Z"}]}"#,
        event: r#"{"tool_name":"Write","tool_input":{"file_path":".isdlc/state.json"},"tool_result":"ok"}"#,
        ..Sample::RECORDED
    }),
    check,
};

/// Later than this the phases may belong to something else.
const WINDOW_SECONDS: i64 = 120;

const HISTORY: &str = "workflow_history";

fn check(context: &EventContext<'_>) -> Option<Decision> {
    let file = context.state_file();
    let files = context.tool()?.files();
    let is_state = |path: &str| {
        let path = context.call.absolute(path);
        path == file
            || (context.layout().is_state_file(&path)
                && context.call.real(&path) == context.call.real(&file))
    };
    if !files.iter().any(|path| is_state(path)) || context.state()?.workflow().is_some() {
        return None;
    }
    let mut document = Document::parse(context.state_text()?.as_bytes()).ok()?;
    let history = document.array(&[HISTORY])?.to_vec();
    let (entry, before) = history.split_last()?;
    let at = (history.len() - 1).to_string();
    let ended = moment(entry, context)?;
    let metrics = entry.get("metrics").and_then(Value::as_object);
    if entry.get("phase_snapshots").is_some_and(Value::is_array)
        && metrics.is_some_and(|metrics| !metrics.is_empty())
    {
        return None;
    }

    // The entry stands in for the workflow that it was.
    let gone = document.get(&["active_workflow"]).cloned();
    let gone = gone.unwrap_or(Value::Null);
    let phases = entry.get("phases").filter(|phases| phases.is_array());
    let phases = phases.cloned().or_else(|| {
        let filed = document.object(&["phases"])?;
        Some(filed.keys().map(|key| Value::from(key.as_str())).collect())
    })?;
    let mut workflow = entry.as_object().cloned().unwrap_or_default();
    workflow.insert("phases".to_owned(), phases);
    document.set(&["active_workflow"], workflow).ok()?;
    let (snapshots, metrics) = snapshot::collect(&document, ended);
    document.set(&["active_workflow"], gone.clone()).ok()?;

    let count = snapshots.len();
    let mut whole_entry = entry.clone();
    let mut edits = vec![
        Edit::require(&["active_workflow"], gone),
        Edit::require(&[HISTORY, &at], entry.clone()),
    ];
    let mut put = |key: &str, value: Value| {
        if let Some(fields) = whole_entry.as_object_mut() {
            fields.insert(key.to_owned(), value.clone());
        }
        edits.push(Edit::set(&[HISTORY, &at, key], value));
    };
    let minutes = metrics.get("total_duration_minutes").and_then(whole);
    put("phase_snapshots", snapshots.into());
    put("metrics", metrics);
    if let Some(commit) = merged_commit(entry, context) {
        put("merged_commit", commit.into());
    }
    let size = entry.pointer("/sizing/effective_intensity");
    let size = size.and_then(Value::as_str);
    let slower = minutes.and_then(|minutes| pace::check(minutes, size, before));
    let decision = match slower {
        None => Decision::allow(),
        Some(slower) => {
            put("regression_check", slower.record);
            let text = format!("PERFORMANCE_REGRESSION: {}", slower.what);
            Decision::warn([Finding::new("WCE-002", text, slower.what)])
        }
    };
    edits.extend(prune::edits(&document));
    let what = format!("Added {count} phase snapshots and metrics to workflow_history entry");
    let text = format!("[SELF-HEAL] workflow-completion-enforcer: {what}");
    Some(
        decision
            .editing(edits)
            .noting(Finding::new("WCE-001", text, what))
            .remembering(whole_entry),
    )
}

/// The commit that has the work of a branch which the entry calls merged, if git shows it and the
/// entry does not. The archive takes it for the evidence.
fn merged_commit(entry: &Value, context: &EventContext<'_>) -> Option<String> {
    let branch = entry.get("git_branch")?;
    let text = |key: &str| branch.get(key).and_then(Value::as_str);
    let is_named = entry.get("merged_commit").is_some_and(Value::is_string);
    if is_named || text("status") != Some("merged") {
        return None;
    }
    context
        .git
        .commit_with(text("name")?, text("created_from").unwrap_or("main"))
}

/// When the workflow ended, if that was just now; an entry that does not say it ended now.
fn moment(entry: &Value, context: &EventContext<'_>) -> Option<jiff::Timestamp> {
    let mut said = ["completed_at", "cancelled_at"]
        .iter()
        .filter_map(|key| entry.get(key));
    let Some(said) = said.find(|value| !value.is_null()) else {
        return Some(context.now());
    };
    let ended = timestamp::of(Some(said))?;
    let age = context.now().duration_since(ended).as_secs();
    (age <= WINDOW_SECONDS).then_some(ended)
}

//! Ended workflows: what must be in the history, and what must be cleared.

use serde_json::{Value, json};

use super::{Findings, Scan, show};
use crate::workflow::position;
use crate::workflow::prune::TRANSIENT;
use tollgate_store::edit::Edit;

/// A workflow that is over is not running.
pub(super) fn ended(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    let path = ["active_workflow"];
    let Some(fields) = position::running(scan.document()) else {
        return;
    };
    let status = fields.get("status").and_then(Value::as_str);
    let over = matches!(status, Some("completed" | "cancelled" | "finished"));
    let same = |entry: &Value, key: &str| {
        let own = fields.get(key).and_then(Value::as_str);
        own.is_some() && own == entry.get(key).and_then(Value::as_str)
    };
    let filed = history(scan)
        .iter()
        .any(|entry| same(entry, "artifact_folder") && same(entry, "started_at"));
    if over || filed {
        let why = if filed {
            "it is in the history already".to_owned()
        } else {
            format!("its status is {}", show(fields.get("status")))
        };
        let what = format!("active_workflow is still there, but {why}");
        let repair = "set it aside: no workflow is running";
        findings.replace("AC-010d", &path, what, repair, Value::Null);
    }
}

fn history<'a>(scan: &Scan<'a>) -> &'a [Value] {
    let path = ["workflow_history"];
    scan.document().array(&path).unwrap_or_default()
}

/// Without a workflow nothing of one is left.
pub(super) fn transient(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    // A project that never ran one has the installer's fields, which mean nothing.
    if scan.running || (history(scan).is_empty() && scan.get(&[super::SET_ASIDE]).is_none()) {
        return;
    }
    for (key, empty) in TRANSIENT {
        let Some(value) = scan.get(&[key]) else {
            continue;
        };
        if *value != empty() && !value.is_null() {
            let what = format!("no workflow is running, but {key} is {}", show(Some(value)));
            let repair = "clear it, and keep it aside";
            findings.replace("AC-010d", &[key], what, repair, empty());
        }
    }
}

/// An entry of the history tells the whole story.
pub(super) fn entries(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    for (n, entry) in history(scan).iter().enumerate() {
        let at = n.to_string();
        let Some(fields) = entry.as_object() else {
            let path = ["workflow_history", at.as_str()];
            let what = format!("the entry is {}, not an object", show(Some(entry)));
            findings.set_aside("AC-010c", &path, what);
            // Taking it away moves the ones behind it.
            return;
        };
        let mut missing = |id: &'static str, key: &str, value: Value| {
            if fields.get(key).is_none_or(Value::is_null) {
                let path = ["workflow_history", at.as_str(), key];
                let what = format!("the entry has no {key}");
                let repair = format!("put {} there", show(Some(&value)));
                findings.repair(id, &path, what, repair, vec![Edit::set(&path, value)]);
            }
        };
        let ended = if fields.get("status").and_then(Value::as_str) == Some("cancelled") {
            "cancelled_at"
        } else {
            "completed_at"
        };
        let other = |key: &str| {
            let text = fields.get(key).filter(|value| value.is_string());
            text.cloned().unwrap_or_else(|| scan.now())
        };
        missing("AC-010c", ended, other("started_at"));
        missing("AC-010c", "started_at", other(ended));
        missing("AC-010c", "phases", json!([]));
        let phases = fields.get("phases").and_then(Value::as_array);
        let phases = phases.map(Vec::as_slice).unwrap_or_default();
        let unknown = |key: &Value| json!({ "key": key, "status": "unknown", "started": null, "completed": null, "gate_passed": null, "duration_minutes": null, "summary": null });
        let snapshots: Vec<Value> = phases.iter().map(unknown).collect();
        missing("AC-010e", "phase_snapshots", snapshots.into());
        missing(
            "AC-010e",
            "metrics",
            json!({ "total_phases": phases.len(), "phases_completed": 0, "total_duration_minutes": null, "test_iterations_total": 0,
                "gates_passed_first_try": 0, "gates_required_iteration": 0, "reconstructed": true }),
        );
    }
}

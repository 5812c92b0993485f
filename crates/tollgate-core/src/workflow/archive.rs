//! `state-archive.json`: what is remembered of workflows for good, after the history is pruned.

use std::path::Path;

use serde_json::{Value, json};

use super::transition::snapshot;
use crate::text_file::MAX_FILE;
use tollgate_store::document::{Document, InTheWay};
use tollgate_store::fs::{self, Durability};

/// Adds entries of the history to the archive at `path`, unless it has them.
///
/// An archive that cannot be read is left alone and reported: the original began a new one
/// and lost the old records.
pub fn remember(path: &Path, entries: &[Value]) -> Result<(), String> {
    let failed = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
    let mut document = match fs::read_regular(path, MAX_FILE).map_err(|fault| failed(&fault))? {
        None => Document::default(),
        Some(contents) => Document::parse(&contents.bytes).map_err(|flaw| failed(&flaw))?,
    };
    let added = add_missing(&mut document, entries).map_err(|fault| failed(&fault))?;
    if added > 0 {
        let text = document.to_text();
        fs::replace(path, text.as_bytes(), Durability::Synced).map_err(|fault| failed(&fault))?;
    }
    Ok(())
}

/// Adds the records of ended workflows that the archive does not have yet, and says how many.
///
/// The archive is written after the state. If Tollgate was killed between the two, the next
/// workflow's end brings the missing record along.
pub fn add_missing(archive: &mut Document, history: &[Value]) -> Result<usize, InTheWay> {
    if archive.is_empty() {
        archive.set(&["version"], 1)?;
        archive.set(&["records"], json!([]))?;
        archive.set(&["index"], json!({}))?;
    }
    let mut added = 0;
    for entry in history
        .iter()
        .filter(|entry| entry.get("phase_snapshots").is_some())
    {
        let record = record(entry);
        if holds(archive, &record) {
            continue;
        }
        let position = archive.array(&["records"]).map_or(0, <[Value]>::len);
        let names = ["source_id", "slug"]
            .map(|key| record.get(key).and_then(Value::as_str).map(str::to_owned));
        archive.push(&["records"], record, None)?;
        for name in names.iter().flatten() {
            archive.push(&["index", name.as_str()], position, None)?;
        }
        added += 1;
    }
    Ok(added)
}

/// Whether a history entry has its record.
pub fn has(archive: &Document, entry: &Value) -> bool {
    holds(archive, &record(entry))
}

fn holds(archive: &Document, record: &Value) -> bool {
    archive
        .array(&["records"])
        .unwrap_or_default()
        .iter()
        .any(|old| {
            old.get("slug") == record.get("slug")
                && old.get("completed_at") == record.get("completed_at")
        })
}

fn record(entry: &Value) -> Value {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let outcome = match (
        text("status"),
        entry.get("merged_commit").is_some_and(Value::is_string),
    ) {
        (Some("cancelled"), _) => "cancelled",
        (_, true) => "merged",
        (_, false) => "completed",
    };
    let ended = text("completed_at").or_else(|| text("cancelled_at"));
    let snapshots = entry.get("phase_snapshots").and_then(Value::as_array);
    let phases: Vec<Value> = snapshots
        .into_iter()
        .flatten()
        .map(|one| {
            let (status, summary) = (one.get("status"), one.get("summary"));
            match snapshot::verified(one) {
                None => json!({ "phase": one.get("key"), "status": status, "summary": summary }),
                Some(verified) => json!({ "phase": one.get("key"), "status": status, "summary": summary, "verified": verified }),
            }
        })
        .collect();
    json!({
        "source_id": entry.get("id"),
        "slug": entry.get("artifact_folder"),
        "workflow_type": entry.get("type"),
        "completed_at": ended,
        "branch": entry.get("git_branch").and_then(|branch| branch.get("name")),
        "outcome": outcome,
        "reason": entry.get("cancellation_reason"),
        "phase_summary": phases,
        "metrics": entry.get("metrics"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_added_once_and_found_by_its_names() {
        let history = [
            json!({"id":"REQ-0001","artifact_folder":"REQ-0001-x","status":"completed","completed_at":"t","phase_snapshots":[{"key":"01-requirements","status":"completed","summary":"s"}],"merged_commit":"c"}),
            json!({"id":"old"}),
        ];
        let mut archive = Document::default();
        assert_eq!(add_missing(&mut archive, &history).unwrap(), 1);
        assert_eq!(add_missing(&mut archive, &history).unwrap(), 0);
        assert_eq!(
            archive.get(&["records", "0", "outcome"]),
            Some(&json!("merged"))
        );
        assert_eq!(archive.get(&["index", "REQ-0001-x"]), Some(&json!([0])));
        assert!(has(&archive, &history[0]));
    }
}

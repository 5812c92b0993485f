//! A phase's status stands in two places: both exist for every phase, both say one of three
//! words, and the same one.

use serde_json::{Map, Value};

use super::{Findings, STATUSES, Scan, show};
use crate::workflow::phases;
use crate::workflow::transition::new_entry;
use tollgate_store::edit::Edit;

const WORDS: [&str; 3] = ["pending", "in_progress", "completed"];

/// A phase that is filed under an old name and its present one.
pub(super) fn spellings(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    let [top, map] = STATUSES;
    for key in &scan.workflow.phases {
        for other in phases::spellings(key).filter(|other| other != key) {
            if let (Some(own), Some(old)) =
                (scan.get(&["phases", key]), scan.get(&["phases", other]))
            {
                let mut merged = old.as_object().cloned().unwrap_or_else(Map::new);
                for (name, value) in own.as_object().into_iter().flatten() {
                    if !value.is_null() || !merged.contains_key(name) {
                        merged.insert(name.clone(), value.clone());
                    }
                }
                let mut edits = scan.move_away(&["phases", other]);
                edits.push(Edit::set(&["phases", key], merged));
                let what = format!("the phase is filed as '{key}' and as '{other}'");
                let repair = format!("put both together as '{key}'");
                findings.repair("AC-009e", &["phases", other], what, repair, edits);
                return;
            }
            if scan.get(&[top, map, key]).is_some() && scan.get(&[top, map, other]).is_some() {
                let what = format!("the status is filed under '{key}' and under '{other}'");
                let path = [top, map, other];
                let edits = scan.move_away(&path);
                findings.repair("AC-005d", &path, what, format!("keep '{key}'"), edits);
                return;
            }
        }
    }
}

/// What another word may have meant.
fn meant(word: &str) -> Option<&'static str> {
    match word.trim().to_lowercase().replace(['-', ' '], "_").as_str() {
        "pending" | "todo" | "open" | "not_started" | "blocked" => Some("pending"),
        "in_progress" | "active" | "started" | "running" | "iterating" => Some("in_progress"),
        "completed" | "complete" | "done" | "passed" | "finished" | "skipped" => Some("completed"),
        _ => None,
    }
}

/// A status is one of three words.
pub(super) fn words(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    for key in &scan.workflow.phases {
        for path in [
            scan.workflow.entry(key, "status"),
            scan.workflow.status_path(key),
        ] {
            let Some(value) = scan.get(&path) else {
                continue;
            };
            if value.as_str().is_some_and(|word| WORDS.contains(&word)) {
                continue;
            }
            let word = value.as_str().and_then(meant);
            let word = word.unwrap_or_else(|| by_times(scan, key));
            let (shown, words) = (show(Some(value)), WORDS.join(", "));
            let what = format!("the status is {shown}, none of {words}");
            findings.set_instead("AC-012e", &path, what, word);
        }
    }
}

/// The status that the moments of an entry tell.
fn by_times(scan: &Scan<'_>, key: &str) -> &'static str {
    let is = |field: &str| {
        let value = scan.workflow.field(key, &[field]);
        value.is_some_and(Value::is_string)
    };
    if is("completed") || is("gate_passed") {
        "completed"
    } else if is("started") {
        "in_progress"
    } else {
        "pending"
    }
}

/// Every phase has its entry and its status; nothing else has.
pub(super) fn entries(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    if scan.workflow.phases.is_empty() {
        return;
    }
    for key in &scan.workflow.phases {
        if scan.workflow.field(key, &[]).is_none() {
            let status = scan.workflow.short_status(key).unwrap_or("pending");
            let edits = vec![Edit::set(&["phases", key], new_entry(status))];
            let what = "the workflow has this phase, but phases has no entry for it: its gate would check nothing";
            let repair = format!("make the entry, {status}");
            findings.repair("AC-008d", &["phases", key], what, repair, edits);
        } else if scan.workflow.field(key, &["status"]).is_none() {
            let status = scan.workflow.short_status(key);
            let status = status.unwrap_or_else(|| by_times(scan, key));
            let path = scan.workflow.entry(key, "status");
            findings.set("AC-008d", &path, "the entry has no status", status);
        }
        let path = scan.workflow.status_path(key);
        if scan.get(&path).is_none() {
            let status = scan.workflow.long_status(key).unwrap_or("pending");
            let what = "phase_status has no entry for this phase";
            findings.set("AC-008b", &path, what, status);
        }
    }
    for (way, id) in [(&["phases"][..], "AC-009c"), (&STATUSES[..], "AC-009a")] {
        for (name, _) in scan.document().object(way).into_iter().flatten() {
            if scan.workflow.place(name).is_none() {
                let path = [way, &[name]].concat();
                let what = format!(
                    "'{name}' is not a phase of this workflow: it belongs to an earlier one, or was removed"
                );
                findings.set_aside(id, &path, what);
            }
        }
    }
}

/// Both places say the same.
pub(super) fn agreement(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    for (at, key) in scan.workflow.phases.iter().enumerate() {
        let long = scan.workflow.long_status(key);
        let Some((long, short)) = long.zip(scan.workflow.short_status(key)) else {
            continue;
        };
        if long == short {
            continue;
        }
        let is_current = scan.current().is_some_and(|(current, _)| current == *key);
        let rank = |word: &str| WORDS.iter().position(|known| *known == word).unwrap_or(0);
        let further = if rank(long) > rank(short) {
            long
        } else {
            short
        };
        // Which of the two was written last is shown by the index; without one, the further one
        // counts, because work that was done is not undone by a missing write.
        let truth = match scan.workflow.index() {
            Some(index) if at < index => further,
            Some(_) if is_current => "in_progress",
            Some(_) if further == "completed" => "pending",
            Some(_) | None => further,
        };
        let id = match (long, short) {
            ("completed", _) | (_, "completed") => "AC-001a",
            ("in_progress", _) if is_current => "AC-001b",
            (_, "in_progress") if is_current => "AC-002b",
            ("in_progress", _) => "AC-003a",
            _ => "AC-003b",
        };
        let what = format!(
            "phases['{key}'].status is '{long}' but active_workflow.phase_status['{key}'] is '{short}'"
        );
        let repair = format!("set both to {truth}");
        let path = ["phases", key, "status"];
        findings.repair(id, &path, what, repair, scan.both(key, truth));
    }
}

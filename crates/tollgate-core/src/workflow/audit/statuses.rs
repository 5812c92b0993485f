//! A phase's status stands in two places: both exist for every phase, both say one of three
//! words, and the same one.

use serde_json::{Map, Value, json};

use super::{Finding, Scan, found, show};
use crate::workflow::phases;
use tollgate_store::edit::Edit;

const WORDS: [&str; 3] = ["pending", "in_progress", "completed"];
const SHORT: [&str; 2] = ["active_workflow", "phase_status"];

/// A phase that is filed under an old name and its present one.
pub(super) fn spellings(scan: &Scan<'_>, findings: &mut Vec<Finding>) {
    if !scan.running {
        return;
    }
    let [top, map] = SHORT;
    for key in &scan.phases {
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
                findings.push(found(
                    "AC-009e",
                    &["phases", other],
                    what,
                    format!("put both together as '{key}'"),
                    edits,
                ));
                return;
            }
            if scan.get(&[top, map, key]).is_some() && scan.get(&[top, map, other]).is_some() {
                let what = format!("the status is filed under '{key}' and under '{other}'");
                findings.push(found(
                    "AC-005d",
                    &[top, map, other],
                    what,
                    format!("keep '{key}'"),
                    scan.move_away(&[top, map, other]),
                ));
                return;
            }
        }
    }
}

/// What somebody may have meant with another word.
fn meant(word: &str) -> Option<&'static str> {
    match word.trim().to_lowercase().replace(['-', ' '], "_").as_str() {
        "pending" | "todo" | "open" | "not_started" | "blocked" => Some("pending"),
        "in_progress" | "active" | "started" | "running" | "iterating" => Some("in_progress"),
        "completed" | "complete" | "done" | "passed" | "finished" | "skipped" => Some("completed"),
        _ => None,
    }
}

/// A status is one of three words.
pub(super) fn words(scan: &Scan<'_>, findings: &mut Vec<Finding>) {
    if !scan.running {
        return;
    }
    let [top, map] = SHORT;
    for key in &scan.phases {
        let filed = scan.filed(&["phases"], key);
        let short = scan.filed(&SHORT, key);
        for path in [["phases", filed, "status"], [top, map, short]] {
            let Some(value) = scan.get(&path) else {
                continue;
            };
            if value.as_str().is_some_and(|word| WORDS.contains(&word)) {
                continue;
            }
            let word = value
                .as_str()
                .and_then(meant)
                .unwrap_or_else(|| by_times(scan, key));
            let what = format!(
                "the status is {}, none of {}",
                show(Some(value)),
                WORDS.join(", ")
            );
            findings.push(found(
                "AC-012e",
                &path,
                what,
                format!("set it to {word}"),
                scan.put_instead(&path, word.into()),
            ));
        }
    }
}

/// The status that the moments of an entry tell.
fn by_times(scan: &Scan<'_>, key: &str) -> &'static str {
    let is = |field: &str| scan.field(key, &[field]).is_some_and(Value::is_string);
    if is("completed") || is("gate_passed") {
        "completed"
    } else if is("started") {
        "in_progress"
    } else {
        "pending"
    }
}

/// Every phase has its entry and its status; nothing else has.
pub(super) fn entries(scan: &Scan<'_>, findings: &mut Vec<Finding>) {
    if !scan.running || scan.phases.is_empty() {
        return;
    }
    let [top, map] = SHORT;
    for key in &scan.phases {
        if scan.field(key, &[]).is_none() {
            let status = scan.short(key).unwrap_or("pending");
            let entry = json!({ "status": status, "started": null, "completed": null, "gate_passed": null, "artifacts": [] });
            let what = "the workflow has this phase, but phases has no entry for it: its gate would check nothing";
            findings.push(found(
                "AC-008d",
                &["phases", key],
                what,
                format!("make the entry, {status}"),
                vec![Edit::set(&["phases", key], entry)],
            ));
        } else if scan.field(key, &["status"]).is_none() {
            let status = scan.short(key).unwrap_or_else(|| by_times(scan, key));
            let path = ["phases", scan.filed(&["phases"], key), "status"];
            findings.push(found(
                "AC-008d",
                &path,
                "the entry has no status",
                format!("set it to {status}"),
                vec![Edit::set(&path, status)],
            ));
        }
        if scan.get(&[top, map, scan.filed(&SHORT, key)]).is_none() {
            let status = scan.long(key).unwrap_or("pending");
            let what = "phase_status has no entry for this phase";
            findings.push(found(
                "AC-008b",
                &[top, map, key],
                what,
                format!("set it to {status}"),
                vec![Edit::set(&[top, map, key], status)],
            ));
        }
    }
    for (way, id) in [(&["phases"][..], "AC-009c"), (&SHORT[..], "AC-009a")] {
        for name in scan
            .document()
            .object(way)
            .into_iter()
            .flatten()
            .map(|(name, _)| name.as_str())
        {
            if scan.position(name).is_none() {
                let mut path = way.to_vec();
                path.push(name);
                let what = format!(
                    "'{name}' is no phase of this workflow: it is left from an earlier one, or was removed"
                );
                findings.push(found(
                    id,
                    &path,
                    what,
                    "set it aside",
                    scan.move_away(&path),
                ));
            }
        }
    }
}

/// Both places say the same.
pub(super) fn agreement(scan: &Scan<'_>, findings: &mut Vec<Finding>) {
    if !scan.running {
        return;
    }
    for (at, key) in scan.phases.iter().enumerate() {
        let (Some(long), Some(short)) = (scan.long(key), scan.short(key)) else {
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
        // Which of the two was written last is told by the index; without one, the further one
        // counts, because work that was done is not undone by a missing write.
        let truth = match scan.index() {
            Some(index) if at < index => further,
            Some(_) if is_current => "in_progress",
            Some(_) => {
                if further == "completed" {
                    "pending"
                } else {
                    further
                }
            }
            None => further,
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
        findings.push(found(
            id,
            &["phases", key, "status"],
            what,
            format!("set both to {truth}"),
            scan.both(key, truth),
        ));
    }
}

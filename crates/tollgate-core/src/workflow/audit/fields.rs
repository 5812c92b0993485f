//! Fields of the wrong kind, and fields that stand alone.

use serde_json::{Value, json};

use super::{Findings, Scan, show};
use crate::workflow::definitions::{Definition, is_key};
use crate::workflow::phases;
use crate::workflow::transition::{MAX_ESCALATIONS, MAX_REDOS, slug};
use tollgate_store::document::whole;
use tollgate_store::edit::Edit;
use tollgate_store::timestamp::{self, iso};

/// Lists that a step appends to, whether a workflow runs or not.
const LISTS: &[(&str, &[&str])] = &[
    ("AC-010f", &["workflow_history"]),
    ("AC-010f", &["history"]),
    ("AC-010f", &["skill_usage_log"]),
    ("AC-010f", &["pending_escalations"]),
    ("AC-010f", &["blockers"]),
    ("TS-014", &["active_workflow", "review_history"]),
    ("AC-009a", &["active_workflow", "removed_phases"]),
    (
        "TS-014",
        &[
            "active_workflow",
            "supervised_review",
            "redo_guidance_history",
        ],
    ),
];

/// Objects that a step writes into, and how they are repaired.
const OBJECTS: &[(&str, &str)] = &[("AC-008d", "phases"), ("AC-007b", "counters")];

/// The value at `path` that is there and not of the `right` kind.
fn odd<'a>(scan: &Scan<'a>, path: &[&str], right: fn(&Value) -> bool) -> Option<&'a Value> {
    let value = scan.get(path)?;
    (!right(value) && !value.is_null()).then_some(value)
}

/// Lists and objects that are something else.
pub(super) fn kinds(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    for (id, path) in LISTS {
        if let Some(odd) = odd(scan, path, Value::is_array) {
            let name = path.last().copied().unwrap_or_default();
            let what = format!("{name} is {}, not a list", show(Some(odd)));
            let repair = "set it aside and start an empty list";
            findings.replace(id, path, what, repair, json!([]));
        }
    }
    for (id, key) in OBJECTS {
        if let Some(odd) = odd(scan, &[key], Value::is_object) {
            let what = format!("{key} is {}, not an object", show(Some(odd)));
            let repair = "set it aside and start an empty object";
            findings.replace(id, &[key], what, repair, json!({}));
        }
    }
    let path = ["active_workflow"];
    let none = [json!(false), json!(""), json!(0)];
    if let Some(odd) = odd(scan, &path, Value::is_object).filter(|odd| !none.contains(odd)) {
        let what = format!("active_workflow is {}, not an object", show(Some(odd)));
        let repair = "set it aside: no workflow is running";
        findings.replace("AC-008a", &path, what, repair, Value::Null);
    }
}

/// Entries and statuses of phases that are something else.
pub(super) fn entry_kinds(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    for (key, entry) in scan.document().object(&["phases"]).into_iter().flatten() {
        if !entry.is_object() {
            let what = format!("the entry is {}, not an object", show(Some(entry)));
            findings.set_aside("AC-008d", &["phases", key], what);
        }
    }
    let path = ["active_workflow", "phase_status"];
    if let Some(odd) = odd(scan, &path, Value::is_object) {
        let what = format!("phase_status is {}, not an object", show(Some(odd)));
        let repair = "set it aside and make it from the phases";
        findings.replace("AC-008b", &path, what, repair, json!({}));
    }
}

/// The version counts every write.
pub(super) fn version(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    let path = ["state_version"];
    match scan.get(&path).filter(|value| !value.is_null()) {
        None if scan.running => findings.repair(
            "AC-003f",
            &path,
            "a workflow runs, but the state has no version: stale writes cannot be detected",
            "count from 1",
            vec![Edit::set(&path, 1)],
        ),
        Some(value) if value.is_number() && whole(value).is_some_and(|n| n > 0) => {}
        Some(value) => {
            let digits = value.as_str().and_then(|text| text.trim().parse().ok());
            let next = digits.filter(|n: &u64| *n > 0).unwrap_or(1);
            let what = format!(
                "state_version is {}, not a whole number above 0",
                show(Some(value))
            );
            let edits = vec![Edit::set(&path, next)];
            findings.repair("AC-011a", &path, what, format!("count from {next}"), edits);
        }
        None => {}
    }
}

const LIST: [&str; 2] = ["active_workflow", "phases"];

/// `active_workflow.phases`: what will be done, each phase once.
pub(super) fn list(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    let path = LIST;
    let kind = scan.str(&["active_workflow", "type"]);
    let definition = kind.and_then(|kind| scan.evidence.rules.definitions.get(kind));
    if scan.workflow.phases.is_empty() {
        let what = format!("phases is {}", scan.show(&path));
        match definition {
            Some(definition) => {
                let repair = format!("take the phases of '{}'", definition.name);
                let phases = definition.phases.clone();
                findings.replace("AC-008a", &path, what, repair, phases.into());
            }
            None => findings.note("AC-008a", "active_workflow.phases", what),
        }
        return;
    }
    let given = scan.document().array(&path).unwrap_or_default().len();
    let mut once: Vec<&str> = Vec::new();
    for key in &scan.workflow.phases {
        if !once.iter().any(|known| phases::equal(known, key)) {
            once.push(key);
        }
    }
    if once.len() < given {
        let named = once.len();
        let what = format!("{given} entries, of which {named} are phases named once");
        findings.replace("AC-009e", &path, what, "keep each phase once", once.into());
        return;
    }
    if let Some(definition) = definition {
        foreign(scan, definition, findings);
    } else {
        let shown = scan.show(&["active_workflow", "type"]);
        let what = format!("type is {shown}, which no definition knows");
        findings.note("AC-008a", "active_workflow.type", what);
    }
}

/// Phases that the workflow's definition does not have.
fn foreign(scan: &Scan<'_>, definition: &Definition, findings: &mut Findings<'_>) {
    let current = scan.current().map(|(key, _)| key);
    for key in &scan.workflow.phases {
        if definition.has_phase(key) {
            continue;
        }
        let what = format!("'{key}' is not a phase of '{}'", definition.name);
        let begun = current == Some(*key)
            || !matches!(scan.workflow.long_status(key), None | Some("pending"));
        if begun {
            findings.note("AC-008a", "active_workflow.phases", what);
        } else {
            let mut others = scan.workflow.phases.clone();
            others.retain(|other| other != key);
            let repair = format!("take '{key}' out: it has not begun");
            findings.replace("AC-008a", &LIST, what, repair, others.into());
        }
    }
}

/// The folder of artifacts, the number it took, and when it all began.
pub(super) fn folder(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    let path = ["active_workflow", "artifact_folder"];
    let kind = scan.str(&["active_workflow", "type"]).unwrap_or("feature");
    let definition = scan.evidence.rules.definitions.get(kind);
    let used = scan.document().u64(&["active_workflow", "counter_used"]);
    if !scan.str(&path).is_some_and(is_key) {
        let branch = scan.str(&["active_workflow", "git_branch", "name"]);
        let from_branch = branch.and_then(|name| name.rsplit('/').next());
        let from_branch = from_branch.filter(|name| is_key(name));
        let prefix = definition.map_or("REQ", |definition| definition.prefix.as_str());
        let about = scan.str(&["active_workflow", "description"]);
        let words = slug(about.unwrap_or_default());
        let made = format!("{prefix}-{:04}-{words}", used.unwrap_or(0));
        let name = from_branch.map_or_else(|| made.trim_end_matches('-').to_owned(), str::to_owned);
        let what = format!(
            "artifact_folder is {}, so no phase finds what the others wrote",
            scan.show(&path)
        );
        findings.replace("AC-007a", &path, what, format!("use {name}"), name.into());
    }
    let counter = definition.map_or("next_req_id", |definition| definition.counter.as_str());
    let counter = ["counters", counter];
    if let (Some(used), Some(next)) = (used, scan.document().u64(&counter))
        && next <= used
        && used < u64::MAX
    {
        let what = format!("the next folder would get number {next}, but {used} is taken");
        let next = used + 1;
        let (repair, edits) = (
            format!("go on with {next}"),
            vec![Edit::set(&counter, next)],
        );
        findings.repair("AC-007b", &counter, what, repair, edits);
    }
    let path = ["active_workflow", "started_at"];
    if timestamp::of(scan.get(&path)).is_none() {
        let started = |key: &&str| timestamp::of(scan.workflow.field(key, &["started"]));
        let first = scan.workflow.phases.iter().filter_map(started).min();
        let value = Value::from(iso(first.unwrap_or(scan.evidence.now)));
        let what = format!("started_at is {}", scan.show(&path));
        findings.set_instead("AC-010c", &path, what, value);
    }
}

/// The supervised review is about the current phase and counts its redos.
pub(super) fn review(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    let path = ["active_workflow", "supervised_review"];
    let [top, name] = path;
    let Some(review) = scan.get(&path).filter(|value| !value.is_null()) else {
        return;
    };
    let phase = review.get("phase").and_then(Value::as_str);
    let current = scan.current().map(|(key, _)| key);
    let about = phase.zip(current).is_some_and(|(a, b)| phases::equal(a, b));
    if !about {
        let what = format!(
            "the review is about {}, but the current phase is {}",
            show(review.get("phase")),
            current.unwrap_or("unknown")
        );
        let edits = scan.move_away(&path);
        findings.repair("TS-014", &path, what, "set the review aside", edits);
        return;
    }
    let status = review.get("status").and_then(Value::as_str);
    let running = current.and_then(|key| scan.workflow.long_status(key)) == Some("in_progress");
    let fits = match status {
        Some("redo_pending") => running,
        Some("gate_presented" | "reviewing" | "rejected") => !running,
        Some(_) | None => false,
    };
    if !fits {
        let right = if running {
            "redo_pending"
        } else {
            "gate_presented"
        };
        let what = format!(
            "status is {}, but the phase is {}",
            show(review.get("status")),
            if running { "in progress" } else { "completed" }
        );
        findings.set("TS-014", &[top, name, "status"], what, right);
    }
    let count = review.get("redo_count").and_then(whole);
    if count.is_none_or(|count| count > MAX_REDOS) {
        let what = format!(
            "redo_count is {}, not 0 to {MAX_REDOS}",
            show(review.get("redo_count"))
        );
        let path = [top, name, "redo_count"];
        let right = if count.is_some() { MAX_REDOS } else { 0 };
        findings.set_instead("TS-014", &path, what, right);
    }
}

/// The queue of escalations is bounded; what fell out of it is not lost.
pub(super) fn escalations(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    let path = ["pending_escalations"];
    let waiting = scan.document().array(&path).unwrap_or_default();
    if waiting.len() > MAX_ESCALATIONS {
        let count = waiting.len();
        let newest = waiting.get(count - MAX_ESCALATIONS..).unwrap_or_default();
        let what = format!("{count} escalations wait, more than {MAX_ESCALATIONS}");
        let repair = "keep the newest in the queue and set the whole list aside";
        findings.replace("Risk-006", &path, what, repair, newest.to_vec().into());
    }
}

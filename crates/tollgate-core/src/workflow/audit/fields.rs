//! Fields of the wrong kind, and fields that stand alone.

use serde_json::{Value, json};

use super::{Finding, Scan, found, seen, show};
use crate::workflow::definitions::is_key;
use crate::workflow::phases;
use crate::workflow::transition::{MAX_REDOS, slug};
use tollgate_store::document::whole;
use tollgate_store::edit::Edit;

/// The largest queue of escalations.
const MAX_ESCALATIONS: usize = 20;

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

/// Lists and objects that are something else.
pub(super) fn kinds(scan: &Scan<'_>, findings: &mut Vec<Finding>) {
    for (id, path) in LISTS {
        if let Some(odd) = scan
            .get(path)
            .filter(|value| !value.is_array() && !value.is_null())
        {
            let name = path.last().copied().unwrap_or_default();
            let what = format!("{name} is {}, not a list", show(Some(odd)));
            findings.push(found(
                id,
                path,
                what,
                "set it aside and start an empty list",
                scan.put_instead(path, json!([])),
            ));
        }
    }
    for (id, key) in [("AC-008d", "phases"), ("AC-007b", "counters")] {
        if let Some(odd) = scan
            .get(&[key])
            .filter(|value| !value.is_object() && !value.is_null())
        {
            let what = format!("{key} is {}, not an object", show(Some(odd)));
            findings.push(found(
                id,
                &[key],
                what,
                "set it aside and start an empty object",
                scan.put_instead(&[key], json!({})),
            ));
        }
    }
    if let Some(odd) = scan.get(&["active_workflow"]) {
        let none = odd.is_null() || odd == &json!(false) || odd == &json!("") || odd == &json!(0);
        if !odd.is_object() && !none {
            let what = format!("active_workflow is {}, not an object", show(Some(odd)));
            findings.push(found(
                "AC-008a",
                &["active_workflow"],
                what,
                "set it aside: no workflow is running",
                scan.put_instead(&["active_workflow"], Value::Null),
            ));
        }
    }
    if !scan.running {
        return;
    }
    for phase in scan.document().object(&["phases"]).into_iter().flatten() {
        if !phase.1.is_object() {
            let path = ["phases", phase.0.as_str()];
            let what = format!("the entry is {}, not an object", show(Some(phase.1)));
            findings.push(found(
                "AC-008d",
                &path,
                what,
                "set it aside",
                scan.move_away(&path),
            ));
        }
    }
    let path = ["active_workflow", "phase_status"];
    if let Some(odd) = scan
        .get(&path)
        .filter(|value| !value.is_object() && !value.is_null())
    {
        let what = format!("phase_status is {}, not an object", show(Some(odd)));
        findings.push(found(
            "AC-008b",
            &path,
            what,
            "set it aside and make it from the phases",
            scan.put_instead(&path, json!({})),
        ));
    }
}

/// The version counts every write.
pub(super) fn version(scan: &Scan<'_>, findings: &mut Vec<Finding>) {
    let version = scan
        .get(&["state_version"])
        .filter(|value| !value.is_null());
    let path = ["state_version"];
    match version {
        None if scan.running => findings.push(found(
            "AC-003f",
            &path,
            "a workflow runs, but the state has no version: stale writes cannot be told",
            "count from 1",
            vec![Edit::set(&path, 1)],
        )),
        Some(value) if value.is_number() && whole(value).is_some_and(|n| n > 0) => {}
        Some(value) => {
            let digits = value
                .as_str()
                .and_then(|text| text.trim().parse::<u64>().ok())
                .filter(|n| *n > 0);
            let mended = digits.unwrap_or(1);
            let what = format!(
                "state_version is {}, not a whole number above 0",
                show(Some(value))
            );
            findings.push(found(
                "AC-011a",
                &path,
                what,
                format!("count from {mended}"),
                vec![Edit::set(&path, mended)],
            ));
        }
        None => {}
    }
}

/// `active_workflow.phases`: what will be done, each phase once.
pub(super) fn list(scan: &Scan<'_>, findings: &mut Vec<Finding>) {
    if !scan.running {
        return;
    }
    let path = ["active_workflow", "phases"];
    let kind = scan.str(&["active_workflow", "type"]);
    let definition = kind.and_then(|kind| scan.evidence.rules.definitions.get(kind));
    if scan.phases.is_empty() {
        let what = format!("phases is {}", show(scan.get(&path)));
        match definition {
            Some(definition) => findings.push(found(
                "AC-008a",
                &path,
                what,
                format!("take the phases of '{}'", definition.name),
                scan.put_instead(&path, definition.phases.clone().into()),
            )),
            None => findings.push(seen("AC-008a", "active_workflow.phases", what)),
        }
        return;
    }
    let given = scan
        .get(&path)
        .and_then(Value::as_array)
        .map_or(0, Vec::len);
    let mut once: Vec<&str> = Vec::new();
    for key in &scan.phases {
        if !once
            .iter()
            .any(|known| phases::canonical(known) == phases::canonical(key))
        {
            once.push(key);
        }
    }
    if once.len() < given {
        let what = format!(
            "{given} entries, of which {} are phases named once",
            once.len()
        );
        findings.push(found(
            "AC-009e",
            &path,
            what,
            "keep each phase once",
            scan.put_instead(&path, once.into()),
        ));
        return;
    }
    let Some(definition) = definition else {
        let what = format!(
            "type is {}, which no definition knows",
            show(scan.get(&["active_workflow", "type"]))
        );
        findings.push(seen("AC-008a", "active_workflow.type", what));
        return;
    };
    let current = scan.current().map(|(key, _)| key);
    for key in &scan.phases {
        let known = definition
            .phases
            .iter()
            .any(|own| phases::canonical(own) == phases::canonical(key));
        if known {
            continue;
        }
        let what = format!("'{key}' is no phase of '{}'", definition.name);
        let begun = current == Some(*key) || !matches!(scan.long(key), None | Some("pending"));
        if begun {
            findings.push(seen("AC-008a", "active_workflow.phases", what));
        } else {
            let kept: Vec<&str> = scan
                .phases
                .iter()
                .copied()
                .filter(|other| other != key)
                .collect();
            findings.push(found(
                "AC-008a",
                &path,
                what,
                format!("take '{key}' out: it has not begun"),
                scan.put_instead(&path, kept.into()),
            ));
        }
    }
}

/// The folder of artifacts, the number it took, and when it all began.
pub(super) fn folder(scan: &Scan<'_>, findings: &mut Vec<Finding>) {
    if !scan.running {
        return;
    }
    let path = ["active_workflow", "artifact_folder"];
    let kind = scan.str(&["active_workflow", "type"]).unwrap_or("feature");
    let definition = scan.evidence.rules.definitions.get(kind);
    if !scan.str(&path).is_some_and(is_key) {
        let branch = scan.str(&["active_workflow", "git_branch", "name"]);
        let from_branch = branch
            .and_then(|name| name.rsplit('/').next())
            .filter(|name| is_key(name));
        let prefix = definition.map_or("REQ", |definition| definition.prefix.as_str());
        let number = scan
            .document()
            .u64(&["active_workflow", "counter_used"])
            .unwrap_or(0);
        let words = slug(
            scan.str(&["active_workflow", "description"])
                .unwrap_or_default(),
        );
        let made = format!("{prefix}-{number:04}-{words}");
        let name = from_branch.map_or_else(|| made.trim_end_matches('-').to_owned(), str::to_owned);
        let what = format!(
            "artifact_folder is {}, so no phase finds what the others wrote",
            show(scan.get(&path))
        );
        findings.push(found(
            "AC-007a",
            &path,
            what,
            format!("use {name}"),
            scan.put_instead(&path, name.into()),
        ));
    }
    let counter = definition.map_or("next_req_id", |definition| definition.counter.as_str());
    let counter = ["counters", counter];
    let used = scan.document().u64(&["active_workflow", "counter_used"]);
    if let (Some(used), Some(next)) = (used, scan.document().u64(&counter))
        && next <= used
        && used < u64::MAX
    {
        let what = format!("the next folder would get number {next}, but {used} is taken");
        findings.push(found(
            "AC-007b",
            &counter,
            what,
            format!("go on with {}", used + 1),
            vec![Edit::set(&counter, used + 1)],
        ));
    }
    let path = ["active_workflow", "started_at"];
    if super::moment(scan.get(&path)).is_none() {
        let begun = scan
            .phases
            .iter()
            .filter_map(|key| super::moment(scan.field(key, &["started"])))
            .min();
        let value = begun.map_or_else(
            || scan.now(),
            |at| tollgate_store::timestamp::iso(at).into(),
        );
        let what = format!("started_at is {}", show(scan.get(&path)));
        findings.push(found(
            "AC-010c",
            &path,
            what,
            format!("set it to {value}"),
            scan.put_instead(&path, value),
        ));
    }
}

/// The supervised review is about the current phase and counts its redos.
pub(super) fn review(scan: &Scan<'_>, findings: &mut Vec<Finding>) {
    let path = ["active_workflow", "supervised_review"];
    let [top, name] = path;
    let Some(review) = scan
        .get(&path)
        .filter(|value| !value.is_null() && scan.running)
    else {
        return;
    };
    let phase = review.get("phase").and_then(Value::as_str);
    let current = scan.current().map(|(key, _)| key);
    let about = phase
        .zip(current)
        .is_some_and(|(a, b)| phases::canonical(a) == phases::canonical(b));
    if !about {
        let what = format!(
            "the review is about {}, but the current phase is {}",
            show(review.get("phase")),
            current.unwrap_or("unknown")
        );
        findings.push(found(
            "TS-014",
            &path,
            what,
            "set the review aside",
            scan.move_away(&path),
        ));
        return;
    }
    let status = review.get("status").and_then(Value::as_str);
    let running = current.and_then(|key| scan.long(key)) == Some("in_progress");
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
        findings.push(found(
            "TS-014",
            &[top, name, "status"],
            what,
            format!("set it to {right}"),
            vec![Edit::set(&[top, name, "status"], right)],
        ));
    }
    let count = review.get("redo_count").and_then(whole);
    if count.is_none_or(|count| count > MAX_REDOS) {
        let what = format!(
            "redo_count is {}, not 0 to {MAX_REDOS}",
            show(review.get("redo_count"))
        );
        let path = [top, name, "redo_count"];
        let right = if count.is_some() { MAX_REDOS } else { 0 };
        findings.push(found(
            "TS-014",
            &path,
            what,
            format!("set it to {right}"),
            scan.put_instead(&path, right.into()),
        ));
    }
}

/// The queue of escalations is bounded; what fell out of it is not lost.
pub(super) fn escalations(scan: &Scan<'_>, findings: &mut Vec<Finding>) {
    let path = ["pending_escalations"];
    let waiting = scan.document().array(&path).unwrap_or_default();
    if waiting.len() > MAX_ESCALATIONS {
        let newest = waiting
            .get(waiting.len() - MAX_ESCALATIONS..)
            .unwrap_or_default()
            .to_vec();
        let what = format!(
            "{} escalations wait, more than {MAX_ESCALATIONS}",
            waiting.len()
        );
        findings.push(found(
            "Risk-006",
            &path,
            what,
            "keep the newest in the queue and set the whole list aside",
            scan.put_instead(&path, newest.into()),
        ));
    }
}

//! Where the workflow is: the current phase, the index, and nothing open before or behind it.

use serde_json::Value;

use super::{Finding, Scan, found, show};
use crate::workflow::phases;
use tollgate_store::edit::Edit;

const CURRENT: [&str; 2] = ["active_workflow", "current_phase"];
const INDEX: [&str; 2] = ["active_workflow", "current_phase_index"];

/// The current phase is one of the workflow's.
pub(super) fn current(scan: &Scan<'_>, findings: &mut Vec<Finding>) {
    if !scan.running || scan.phases.is_empty() || scan.current().is_some() {
        return;
    }
    let top = scan
        .str(&["current_phase"])
        .and_then(|key| scan.position(key));
    let open = scan
        .phases
        .iter()
        .position(|key| scan.long(key) != Some("completed"));
    let at = top
        .or_else(|| scan.index().filter(|at| *at < scan.phases.len()))
        .or(open)
        .unwrap_or(scan.phases.len() - 1);
    let Some(key) = scan.phases.get(at).copied() else {
        return;
    };
    let what = format!(
        "current_phase is {}, none of the workflow's phases",
        show(scan.get(&CURRENT))
    );
    findings.push(found(
        "AC-009b",
        &CURRENT,
        what,
        format!("set it to {key}"),
        scan.put_instead(&CURRENT, key.into()),
    ));
}

/// The index is a number that points into the phases, or just behind them.
pub(super) fn index_kind(scan: &Scan<'_>, findings: &mut Vec<Finding>) {
    let Some(right) = expected(scan) else {
        return;
    };
    let value = scan.get(&INDEX);
    let number = value
        .is_some_and(Value::is_number)
        .then(|| scan.index())
        .flatten();
    let set = || scan.put_instead(&INDEX, right.into());
    match number {
        None => findings.push(found(
            "AC-001c",
            &INDEX,
            format!("the index is {}", show(value)),
            format!("set it to {right}"),
            set(),
        )),
        Some(index) if index > scan.phases.len() => findings.push(found(
            "AC-009b",
            &INDEX,
            format!(
                "the index is {index}, but there are {} phases",
                scan.phases.len()
            ),
            format!("set it to {right}"),
            set(),
        )),
        Some(_) => {}
    }
}

/// The index that goes with the current phase and its status.
fn expected(scan: &Scan<'_>) -> Option<usize> {
    if !scan.running {
        return None;
    }
    let (key, at) = scan.current()?;
    let done = scan.long(key) == Some("completed") || scan.redoing(key);
    Some(at + usize::from(done))
}

/// Every phase before the current one is completed.
pub(super) fn holes(scan: &Scan<'_>, findings: &mut Vec<Finding>) {
    let Some((current, at)) = scan.current().filter(|_| scan.running) else {
        return;
    };
    let hole = scan
        .phases
        .iter()
        .take(at)
        .enumerate()
        .find(|(_, key)| scan.long(key) != Some("completed"));
    let Some((at, key)) = hole else {
        return;
    };
    let status = scan.long(key).unwrap_or("missing");
    let path = ["phases", key, "status"];
    let is = |field: &str| scan.field(key, &[field]).is_some_and(Value::is_string);
    if is("completed") || is("gate_passed") {
        let what = format!(
            "phase '{key}' is {status}, but it was completed and '{current}' came after it: its status went backwards"
        );
        findings.push(found(
            "AC-012b",
            &path,
            what,
            "set it to completed again",
            scan.both(key, "completed"),
        ));
        return;
    }
    let what = format!("phase '{key}' is {status}, but the workflow is in '{current}' behind it");
    let mut edits = scan.both(key, "in_progress");
    if !is("started") {
        edits.push(Edit::set(
            &["phases", scan.filed(&["phases"], key), "started"],
            scan.now(),
        ));
    }
    edits.push(Edit::set(&CURRENT, *key));
    edits.push(Edit::set(&INDEX, at));
    for later in scan.phases.iter().skip(at + 1) {
        if scan.long(later) != Some("pending") {
            edits.extend(reopen(scan, later));
        }
    }
    findings.push(found(
        "AC-009d",
        &path,
        what,
        format!("go back to '{key}': what comes after it waits"),
        edits,
    ));
}

/// A phase waits again; what it had reached is kept aside.
fn reopen(scan: &Scan<'_>, key: &str) -> Vec<Edit> {
    let filed = scan.filed(&["phases"], key);
    let mut edits = scan.both(key, "pending");
    for field in ["completed", "gate_passed"] {
        let path = ["phases", filed, field];
        if scan.get(&path).is_some_and(|value| !value.is_null()) {
            edits.extend(scan.put_instead(&path, Value::Null));
        }
    }
    edits
}

/// No phase behind the current one has begun.
pub(super) fn ahead(scan: &Scan<'_>, findings: &mut Vec<Finding>) {
    let Some((current, at)) = scan.current().filter(|_| scan.running) else {
        return;
    };
    for key in scan.phases.iter().skip(at + 1) {
        let path = ["phases", key, "status"];
        match scan.long(key) {
            Some("in_progress") => {
                let what = format!(
                    "phase '{key}' is in progress, but the current phase is '{current}': it was begun without becoming current"
                );
                findings.push(found(
                    "AC-003b",
                    &path,
                    what,
                    "let it wait for `tollgate phase begin`",
                    scan.both(key, "pending"),
                ));
            }
            Some("completed") => {
                let what = format!(
                    "phase '{key}' is completed, but the current phase '{current}' comes before it"
                );
                findings.push(found(
                    "AC-009d",
                    &path,
                    what,
                    "let it wait for its turn",
                    reopen(scan, key),
                ));
            }
            Some(_) | None => {}
        }
    }
}

/// The index is that of the current phase, one more when that is completed.
pub(super) fn index(scan: &Scan<'_>, findings: &mut Vec<Finding>) {
    let (Some(right), Some(index), Some((key, at))) =
        (expected(scan), scan.index(), scan.current())
    else {
        return;
    };
    if index == right
        || !scan.get(&INDEX).is_some_and(Value::is_number)
        || index > scan.phases.len()
    {
        return;
    }
    let last = at + 1 == scan.phases.len();
    let status = scan.long(key).unwrap_or("missing");
    let id = match (status, index == at) {
        ("completed", true) if last => "AC-010a",
        ("completed", true) => "AC-003e",
        _ => "AC-001c",
    };
    let what = format!("the index is {index}, but phase '{key}' is number {at} and {status}");
    findings.push(found(
        id,
        &INDEX,
        what,
        format!("set it to {right}"),
        vec![Edit::set(&INDEX, right)],
    ));
}

/// The current phase has begun.
pub(super) fn pending(scan: &Scan<'_>, findings: &mut Vec<Finding>) {
    let Some((key, _)) = scan.current().filter(|_| scan.running) else {
        return;
    };
    if scan.long(key) == Some("pending") {
        let mut edits = scan.both(key, "in_progress");
        if scan.field(key, &["started"]).is_none_or(Value::is_null) {
            edits.push(Edit::set(
                &["phases", scan.filed(&["phases"], key), "started"],
                scan.now(),
            ));
        }
        let what = format!("the current phase is '{key}', which is pending");
        findings.push(found(
            "AC-001e",
            &["phases", key, "status"],
            what,
            "it is in progress",
            edits,
        ));
    }
}

/// The top-level fields repeat what the workflow says.
pub(super) fn mirrors(scan: &Scan<'_>, findings: &mut Vec<Finding>) {
    let Some((key, at)) = scan.current().filter(|_| scan.running) else {
        return;
    };
    let top = scan.str(&["current_phase"]);
    if top.map(phases::canonical) != Some(phases::canonical(key)) {
        let ahead = top
            .and_then(|top| scan.position(top))
            .is_some_and(|position| position > at);
        let id = match (ahead, scan.index()) {
            (true, _) => "AC-003d",
            (false, Some(0)) => "AC-008e",
            (false, _) => "AC-001b",
        };
        let what = format!(
            "current_phase is {} but active_workflow.current_phase is '{key}'",
            show(scan.get(&["current_phase"]))
        );
        findings.push(found(
            id,
            &["current_phase"],
            what,
            format!("set it to {key}"),
            vec![Edit::set(&["current_phase"], key)],
        ));
    }
    let rules = scan.evidence.rules;
    let Some(agent) = rules.agent(key) else {
        return;
    };
    let named = scan.str(&["active_agent"]);
    if named != Some(agent.as_str()) {
        let next = scan.phases.get(at + 1).and_then(|next| rules.agent(next));
        let id = if named.is_some() && next.as_deref() == named {
            "AC-003d"
        } else {
            "AC-001d"
        };
        let what = format!(
            "active_agent is {}, but '{agent}' works in phase '{key}'",
            show(scan.get(&["active_agent"]))
        );
        findings.push(found(
            id,
            &["active_agent"],
            what,
            format!("set it to {agent}"),
            vec![Edit::set(&["active_agent"], agent)],
        ));
    }
}

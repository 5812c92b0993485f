//! Where the workflow is: the current phase, the index, and nothing open before or behind it.

use serde_json::Value;

use super::{Findings, Scan};
use crate::workflow::phases;
use tollgate_store::edit::Edit;

const CURRENT: [&str; 2] = ["active_workflow", "current_phase"];
const INDEX: [&str; 2] = ["active_workflow", "current_phase_index"];

/// The current phase is one of the workflow's.
pub(super) fn current(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    if scan.workflow.phases.is_empty() || scan.current().is_some() {
        return;
    }
    let workflow = &scan.workflow;
    let top = scan.str(&["current_phase"]);
    let top = top
        .and_then(|key| workflow.place(key))
        .map(|place| place.at);
    let index = workflow.index().filter(|at| *at < workflow.phases.len());
    let is_open = |key: &&str| workflow.long_status(key) != Some("completed");
    let open = workflow.phases.iter().position(is_open);
    let at = top.or(index).or(open).unwrap_or(workflow.phases.len() - 1);
    let Some(key) = workflow.phases.get(at).copied() else {
        return;
    };
    let what = format!(
        "current_phase is {}, not one of the workflow's phases",
        scan.show(&CURRENT)
    );
    findings.set_instead("AC-009b", &CURRENT, what, key);
}

/// The index is a number that points into the phases, or just behind them.
pub(super) fn index_kind(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    let Some(right) = expected(scan) else {
        return;
    };
    let count = scan.workflow.phases.len();
    match scan.workflow.index().filter(|_| is_number(scan)) {
        None => {
            let what = format!("the index is {}", scan.show(&INDEX));
            findings.set_instead("AC-001c", &INDEX, what, right);
        }
        Some(index) if index > count => {
            let what = format!("the index is {index}, but there are {count} phases");
            findings.set_instead("AC-009b", &INDEX, what, right);
        }
        Some(_) => {}
    }
}

fn is_number(scan: &Scan<'_>) -> bool {
    scan.get(&INDEX).is_some_and(Value::is_number)
}

/// The index that goes with the current phase and its status.
fn expected(scan: &Scan<'_>) -> Option<usize> {
    let (key, at) = scan.current()?;
    let done = scan.workflow.long_status(key) == Some("completed") || scan.redoing(key);
    Some(at + usize::from(done))
}

/// Every phase before the current one is completed.
pub(super) fn holes(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    let Some((current, at)) = scan.current() else {
        return;
    };
    let mut before = scan.workflow.phases.iter().take(at).enumerate();
    let Some((at, key)) =
        before.find(|(_, key)| scan.workflow.long_status(key) != Some("completed"))
    else {
        return;
    };
    let status = scan.workflow.long_status(key).unwrap_or("missing");
    let path = ["phases", key, "status"];
    let is = |field: &str| {
        let value = scan.workflow.field(key, &[field]);
        value.is_some_and(Value::is_string)
    };
    if is("completed") || is("gate_passed") {
        let what = format!(
            "phase '{key}' is {status}, but it was completed and '{current}' came after it: its status went backwards"
        );
        let edits = scan.both(key, "completed");
        findings.repair("AC-012b", &path, what, "set it to completed again", edits);
        return;
    }
    let what = format!("phase '{key}' is {status}, but the workflow is in '{current}' behind it");
    let mut edits = scan.both(key, "in_progress");
    if !is("started") {
        edits.push(Edit::set(&scan.workflow.entry(key, "started"), scan.now()));
    }
    edits.push(Edit::set(&CURRENT, *key));
    edits.push(Edit::set(&INDEX, at));
    for later in scan.workflow.phases.iter().skip(at + 1) {
        if scan.workflow.long_status(later) != Some("pending") {
            edits.extend(reopen(scan, later));
        }
    }
    let repair = format!("go back to '{key}': later phases become pending");
    findings.repair("AC-009d", &path, what, repair, edits);
}

/// A phase waits again; what it had reached is kept aside.
fn reopen(scan: &Scan<'_>, key: &str) -> Vec<Edit> {
    let mut edits = scan.both(key, "pending");
    for field in ["completed", "gate_passed"] {
        let path = scan.workflow.entry(key, field);
        if scan.get(&path).is_some_and(|value| !value.is_null()) {
            edits.extend(scan.put_instead(&path, Value::Null));
        }
    }
    edits
}

/// No phase behind the current one has begun.
pub(super) fn ahead(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    let Some((current, at)) = scan.current() else {
        return;
    };
    for key in scan.workflow.phases.iter().skip(at + 1) {
        let path = ["phases", key, "status"];
        match scan.workflow.long_status(key) {
            Some("in_progress") => {
                let what = format!(
                    "phase '{key}' is in progress, but the current phase is '{current}': it was begun without becoming current"
                );
                let repair = "set it to pending until `tollgate phase begin`";
                findings.repair("AC-003b", &path, what, repair, scan.both(key, "pending"));
            }
            Some("completed") => {
                let what = format!(
                    "phase '{key}' is completed, but the current phase '{current}' comes before it"
                );
                let repair = "set it to pending";
                findings.repair("AC-009d", &path, what, repair, reopen(scan, key));
            }
            Some(_) | None => {}
        }
    }
}

/// The index is that of the current phase, one more when that is completed.
pub(super) fn index(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    let (Some(right), Some(index), Some((key, at))) =
        (expected(scan), scan.workflow.index(), scan.current())
    else {
        return;
    };
    if index == right || !is_number(scan) || index > scan.workflow.phases.len() {
        return;
    }
    let last = at + 1 == scan.workflow.phases.len();
    let status = scan.workflow.long_status(key).unwrap_or("missing");
    let id = match (status, index == at) {
        ("completed", true) if last => "AC-010a",
        ("completed", true) => "AC-003e",
        _ => "AC-001c",
    };
    let what = format!("the index is {index}, but phase '{key}' is number {at} and {status}");
    findings.set(id, &INDEX, what, right);
}

/// The current phase has begun.
pub(super) fn pending(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    let Some((key, _)) = scan.current() else {
        return;
    };
    if scan.workflow.long_status(key) == Some("pending") {
        let mut edits = scan.both(key, "in_progress");
        if scan.workflow.lacks(key, &["started"]) {
            edits.push(Edit::set(&scan.workflow.entry(key, "started"), scan.now()));
        }
        let what = format!("the current phase is '{key}', which is pending");
        let path = ["phases", key, "status"];
        findings.repair("AC-001e", &path, what, "it is in progress", edits);
    }
}

/// The top-level fields repeat what the workflow says.
pub(super) fn mirrors(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    let Some((key, at)) = scan.current() else {
        return;
    };
    let top = scan.str(&["current_phase"]);
    if !top.is_some_and(|top| phases::equal(top, key)) {
        let position = top.and_then(|top| scan.workflow.place(top));
        let id = match scan.workflow.index() {
            _ if position.is_some_and(|place| place.at > at) => "AC-003d",
            Some(0) => "AC-008e",
            Some(_) | None => "AC-001b",
        };
        let what = format!(
            "current_phase is {} but active_workflow.current_phase is '{key}'",
            scan.show(&["current_phase"])
        );
        findings.set(id, &["current_phase"], what, key);
    }
    let rules = scan.evidence.rules;
    let Some(agent) = rules.agent(key) else {
        return;
    };
    let named = scan.str(&["active_agent"]);
    if named != Some(agent.as_str()) {
        let next = scan.workflow.phases.get(at + 1);
        let next = next.and_then(|next| rules.agent(next));
        let id = if named.is_some() && next.as_deref() == named {
            "AC-003d"
        } else {
            "AC-001d"
        };
        let what = format!(
            "active_agent is {}, but '{agent}' works in phase '{key}'",
            scan.show(&["active_agent"])
        );
        findings.set(id, &["active_agent"], what, agent);
    }
}

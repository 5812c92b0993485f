//! What is kept of a workflow's phases when it ends: one snapshot each, and figures.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{cut, minutes};
use crate::workflow::evidence::TESTS;
use crate::workflow::phases;
use crate::workflow::position::WorkflowPosition;
use tollgate_store::document::{Document, whole};
use tollgate_store::timestamp;

/// The snapshots of all phases, in order, and the metrics over them.
pub fn collect(document: &Document, now: Timestamp) -> (Vec<Value>, Value) {
    let Ok(position) = WorkflowPosition::of(document) else {
        return (Vec::new(), metrics(&[], 0, None));
    };
    let snapshots = position.phases.iter().filter_map(|key| {
        let entry = position.field(key, &[])?.as_object()?;
        Some(snapshot(document, key, entry))
    });
    let snapshots: Vec<Value> = snapshots.collect();
    let total = position.phases.len();
    let spent = minutes(document.get(&["active_workflow", "started_at"]), now);
    let figures = metrics(&snapshots, total, spent);
    (snapshots, figures)
}

fn snapshot(document: &Document, key: &str, entry: &Map<String, Value>) -> Value {
    let moment = |name: &str| timestamp::of(entry.get(name));
    let duration = match (moment("started"), moment("completed")) {
        (Some(from), Some(to)) if to >= from => minutes(entry.get("started"), to),
        _ => None,
    };
    let summary = entry.get("summary").and_then(Value::as_str);
    let summary = summary.filter(|text| !text.is_empty()).map(str::to_owned);
    let summary = summary.or_else(|| from_history(document, key, entry));
    let pending = json!("pending");
    let mut snapshot = json!({
        "key": key,
        "status": entry.get("status").unwrap_or(&pending),
        "started": entry.get("started"),
        "completed": entry.get("completed"),
        "gate_passed": entry.get("gate_passed"),
        "duration_minutes": duration,
        "summary": summary.map(|text| cut(&text, super::SUMMARY)),
    });
    let artifacts = entry.get("artifacts").and_then(Value::as_array);
    let artifacts = artifacts.filter(|list| !list.is_empty());
    let timing = entry.get("timing").filter(|timing| timing.is_object());
    let more = [
        ("artifacts", artifacts.map(|list| json!(list))),
        ("test_iterations", tests(entry)),
        ("timing", timing.cloned()),
        ("skipped", entry.get("skipped").cloned()),
        (super::GATES, entry.get(super::GATES).cloned()),
    ];
    for (name, value) in more {
        if let (Some(snapshot), Some(value)) = (snapshot.as_object_mut(), value) {
            snapshot.insert(name.to_owned(), value);
        }
    }
    snapshot
}

/// How often the phase's tests were run, and what came of it.
fn tests(entry: &Map<String, Value>) -> Option<Value> {
    let tests = entry.get("iteration_requirements")?.get(TESTS)?;
    let count = tests.get("current_iteration")?;
    whole(count).filter(|count| *count > 0)?;
    let escalated = tests.get("status").and_then(Value::as_str) == Some("escalated");
    let result = match tests.get("completed") {
        _ if escalated => "escalated",
        Some(Value::Bool(true)) => "passed",
        Some(_) | None => "unknown",
    };
    Some(json!({ "count": count, "result": result, "escalated": escalated }))
}

/// The last thing the phase's agent noted while the phase ran.
fn from_history(document: &Document, key: &str, entry: &Map<String, Value>) -> Option<String> {
    let agent = phases::agent(key)?;
    let from = timestamp::of(entry.get("started"))?;
    let to =
        timestamp::of(entry.get("completed")).or_else(|| timestamp::of(entry.get("gate_passed")));
    let history = document.array(&["history"]).unwrap_or_default();
    history.iter().rev().find_map(|noted| {
        let at = timestamp::of(noted.get("timestamp"))?;
        let ended = to.is_none_or(|to| at.duration_since(to).as_secs() <= 60);
        let own = noted.get("agent").and_then(Value::as_str) == Some(agent);
        let action = noted.get("action").and_then(Value::as_str)?;
        (own && at >= from && ended).then(|| action.to_owned())
    })
}

/// Whether the gates were verified when the phase of a snapshot was completed; nothing if it did not
/// need them.
pub fn verified(snapshot: &Value) -> Option<bool> {
    snapshot.get(super::GATES)?.get("verified")?.as_bool()
}

fn metrics(snapshots: &[Value], total: usize, spent: Option<u64>) -> Value {
    let count = |is: &dyn Fn(&Value) -> bool| snapshots.iter().filter(|one| is(one)).count();
    let iterations = |one: &Value| {
        let count = one.pointer("/test_iterations/count");
        count.and_then(whole).unwrap_or(0)
    };
    let passed = |one: &Value| one.get("gate_passed").is_some_and(Value::is_string);
    let again = count(&|one| passed(one) && iterations(one) > 1);
    let mut metrics = json!({
        "total_phases": total,
        "phases_completed": count(&|one| one.get("status") == Some(&json!("completed"))),
        "total_duration_minutes": spent,
        "test_iterations_total": snapshots.iter().map(iterations).fold(0, u64::saturating_add),
        "gates_passed_first_try": count(&passed) - again,
        "gates_required_iteration": again,
    });
    // Only a workflow whose phases need verified gates can say how many were.
    let needed = count(&|one| verified(one).is_some());
    if let Some(metrics) = metrics.as_object_mut().filter(|_| needed > 0) {
        let verified = count(&|one| verified(one) == Some(true));
        metrics.insert("phases_verified".to_owned(), verified.into());
    }
    metrics
}

//! What is kept of a workflow's phases when it ends: one snapshot each, and figures.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{cut, minutes};
use crate::workflow::phases;
use crate::workflow::position::WorkflowPosition;
use tollgate_store::document::{Document, whole};

/// The snapshots of all phases, in order, and the metrics over them.
pub fn collect(document: &Document, now: Timestamp) -> (Vec<Value>, Value) {
    let Ok(position) = WorkflowPosition::of(document) else {
        return (Vec::new(), metrics(&[], 0, None));
    };
    let mut snapshots = Vec::new();
    for key in &position.phases {
        let Some(entry) = position.field(key, &[]).and_then(Value::as_object) else {
            continue;
        };
        snapshots.push(snapshot(document, key, entry));
    }
    let total = position.phases.len();
    let spent = minutes(document.get(&["active_workflow", "started_at"]), now);
    let figures = metrics(&snapshots, total, spent);
    (snapshots, figures)
}

fn snapshot(document: &Document, key: &str, entry: &Map<String, Value>) -> Value {
    let field = |name: &str| entry.get(name).cloned().unwrap_or(Value::Null);
    let mut out = Map::new();
    let mut put = |name: &str, value: Value| {
        out.insert(name.to_owned(), value);
    };
    let parsed = |name: &str| entry.get(name)?.as_str()?.parse::<Timestamp>().ok();
    let duration = match (parsed("started"), parsed("completed")) {
        (Some(from), Some(to)) if to >= from => minutes(entry.get("started"), to),
        _ => None,
    };
    put("key", key.into());
    put(
        "status",
        entry
            .get("status")
            .cloned()
            .unwrap_or_else(|| "pending".into()),
    );
    put("started", field("started"));
    put("completed", field("completed"));
    put("gate_passed", field("gate_passed"));
    put(
        "duration_minutes",
        duration.map_or(Value::Null, Value::from),
    );
    let own = entry
        .get("summary")
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty());
    let summary = own
        .map(str::to_owned)
        .or_else(|| from_history(document, key, entry));
    put(
        "summary",
        summary.map_or(Value::Null, |text| {
            cut(&text, super::complete::SUMMARY).into()
        }),
    );
    if let Some(artifacts) = entry
        .get("artifacts")
        .and_then(Value::as_array)
        .filter(|list| !list.is_empty())
    {
        put("artifacts", artifacts.clone().into());
    }
    let tests = entry
        .get("iteration_requirements")
        .and_then(|all| all.get("test_iteration"));
    if let Some(tests) = tests.filter(|tests| {
        tests
            .get("current_iteration")
            .and_then(whole)
            .is_some_and(|n| n > 0)
    }) {
        let escalated = tests.get("status").and_then(Value::as_str) == Some("escalated");
        let passed = tests.get("completed") == Some(&Value::Bool(true));
        let result = if escalated {
            "escalated"
        } else if passed {
            "passed"
        } else {
            "unknown"
        };
        put(
            "test_iterations",
            json!({ "count": tests.get("current_iteration"), "result": result, "escalated": escalated }),
        );
    }
    if let Some(timing) = entry.get("timing").filter(|timing| timing.is_object()) {
        put("timing", timing.clone());
    }
    if let Some(skipped) = entry.get("skipped") {
        put("skipped", skipped.clone());
    }
    Value::Object(out)
}

/// The last thing the phase's agent noted while the phase ran.
fn from_history(document: &Document, key: &str, entry: &Map<String, Value>) -> Option<String> {
    let agent = phases::agent(key)?;
    let parsed = |value: Option<&Value>| value?.as_str()?.parse::<Timestamp>().ok();
    let from = parsed(entry.get("started"))?;
    let to = parsed(entry.get("completed")).or_else(|| parsed(entry.get("gate_passed")));
    let history = document.array(&["history"]).unwrap_or_default();
    history.iter().rev().find_map(|noted| {
        let at = parsed(noted.get("timestamp"))?;
        let ended = to.is_none_or(|to| at.duration_since(to).as_secs() <= 60);
        let own = noted.get("agent").and_then(Value::as_str) == Some(agent);
        let action = noted.get("action").and_then(Value::as_str)?;
        (own && at >= from && ended).then(|| action.to_owned())
    })
}

fn metrics(snapshots: &[Value], total: usize, spent: Option<u64>) -> Value {
    let is = |name: &str| {
        snapshots
            .iter()
            .filter(|one| one.get(name).is_some_and(Value::is_string))
            .count()
    };
    let completed = snapshots
        .iter()
        .filter(|one| one.get("status").and_then(Value::as_str) == Some("completed"))
        .count();
    let iterations = |one: &Value| {
        one.get("test_iterations")
            .and_then(|tests| whole(tests.get("count")?))
            .unwrap_or(0)
    };
    let gates = is("gate_passed");
    let again = snapshots
        .iter()
        .filter(|one| one.get("gate_passed").is_some_and(Value::is_string) && iterations(one) > 1)
        .count();
    json!({
        "total_phases": total,
        "phases_completed": completed,
        "total_duration_minutes": spent,
        "test_iterations_total": snapshots.iter().map(iterations).fold(0, u64::saturating_add),
        "gates_passed_first_try": gates - again,
        "gates_required_iteration": again,
    })
}

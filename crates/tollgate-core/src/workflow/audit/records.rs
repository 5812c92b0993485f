//! What a phase's entry claims: moments, summaries, iterations, a passed gate.

use serde_json::{Value, json};

use super::{Finding, Scan, found, moment, show};
use tollgate_store::document::whole;
use tollgate_store::edit::Edit;

/// The longest summary.
const SUMMARY: usize = 150;

/// Moments of phases that have begun or ended.
pub(super) fn times(scan: &Scan<'_>, findings: &mut Vec<Finding>) {
    if !scan.running {
        return;
    }
    for key in &scan.phases {
        let status = scan.long(key);
        if !matches!(status, Some("in_progress" | "completed")) {
            continue;
        }
        let filed = scan.filed(&["phases"], key);
        let at = |field: &[&str]| moment(scan.field(key, field));
        let path = ["phases", filed, "started"];
        if at(&["started"]).is_none() {
            let known = scan
                .field(key, &["timing", "started_at"])
                .filter(|value| moment(Some(value)).is_some());
            let known = known.or_else(|| {
                scan.get(&["active_workflow", "started_at"])
                    .filter(|value| moment(Some(value)).is_some())
            });
            let value = known.cloned().unwrap_or_else(|| scan.now());
            let what = format!(
                "the phase has begun, but started is {}",
                show(scan.get(&path))
            );
            findings.push(found(
                "AC-002d",
                &path,
                what,
                format!("set it to {value}"),
                vec![Edit::set(&path, value)],
            ));
        }
        timing(scan, key, filed, findings);
        if status != Some("completed") {
            continue;
        }
        let path = ["phases", filed, "completed"];
        if at(&["completed"]).is_none() {
            let known = scan
                .field(key, &["timing", "completed_at"])
                .filter(|value| moment(Some(value)).is_some());
            let value = known.cloned().unwrap_or_else(|| scan.now());
            let what = format!(
                "the phase is completed, but completed is {}: its duration would be lost",
                show(scan.get(&path))
            );
            findings.push(found(
                "AC-003g",
                &path,
                what,
                format!("set it to {value}"),
                vec![Edit::set(&path, value)],
            ));
        }
    }
}

fn timing(scan: &Scan<'_>, key: &str, filed: &str, findings: &mut Vec<Finding>) {
    let path = ["phases", filed, "timing"];
    let Some(timing) = scan.get(&path).filter(|value| !value.is_null()) else {
        return;
    };
    if !timing.is_object() {
        let what = format!("timing is {}, not an object", show(Some(timing)));
        findings.push(found(
            "AC-002e",
            &path,
            what,
            "set it aside",
            scan.move_away(&path),
        ));
        return;
    }
    let mut set = |rule, name: &str, why: &str, value: Value| {
        let path = ["phases", filed, "timing", name];
        let what = format!("timing.{name} is {}{why}", show(timing.get(name)));
        let remedy = format!("set it to {value}");
        findings.push(found(
            rule,
            &path,
            what,
            remedy,
            vec![Edit::set(&path, value)],
        ));
    };
    // What the phase says beside its timing, or now, which is the latest that it can have been.
    let moment_or_now = |field| {
        let said = scan.field(key, &[field]).cloned();
        said.filter(|value| moment(Some(value)).is_some())
            .unwrap_or_else(|| scan.now())
    };
    if moment(timing.get("started_at")).is_none() {
        set("AC-002e", "started_at", "", moment_or_now("started"));
    }
    if timing.get("retries").and_then(whole).is_none() {
        set("AC-002e", "retries", ", not a count", 0.into());
    }
    if scan.long(key) != Some("completed") {
        return;
    }
    let ended = moment(timing.get("completed_at"));
    if ended.is_none() {
        set("AC-003g", "completed_at", "", moment_or_now("completed"));
        return;
    }
    if timing.get("wall_clock_minutes").and_then(whole).is_none() {
        let spent = moment(timing.get("started_at"))
            .zip(ended)
            .map_or(0, |(from, to)| to.duration_since(from).as_mins().max(0));
        set(
            "AC-003g",
            "wall_clock_minutes",
            ", not a count",
            spent.into(),
        );
    }
}

/// A completed phase says in a sentence what it did.
pub(super) fn summaries(scan: &Scan<'_>, findings: &mut Vec<Finding>) {
    if !scan.running {
        return;
    }
    for key in scan
        .phases
        .iter()
        .filter(|key| scan.long(key) == Some("completed"))
    {
        let path = ["phases", scan.filed(&["phases"], key), "summary"];
        let text = scan.str(&path).unwrap_or_default();
        if text.trim().is_empty() {
            let what = format!(
                "the phase is completed, but its summary is {}",
                show(scan.get(&path))
            );
            findings.push(found(
                "IR-001",
                &path,
                what,
                "say that none was recorded",
                vec![Edit::set(&path, "(no summary was recorded)")],
            ));
        } else if text.chars().count() > SUMMARY {
            let short: String = text.chars().take(SUMMARY).collect();
            let what = format!(
                "the summary has {} characters, more than {SUMMARY}",
                text.chars().count()
            );
            findings.push(found(
                "IR-001",
                &path,
                what,
                "shorten it, and keep the whole aside",
                scan.put_instead(&path, short.into()),
            ));
        }
    }
}

/// Where a claim is, what must be counted for it, and whether the record was left undone.
const CLAIMS: &[(&[&str], &str)] = &[
    (&["constitutional_validation"], "iterations_used"),
    (
        &["iteration_requirements", "interactive_elicitation"],
        "menu_interactions",
    ),
    (
        &["iteration_requirements", "test_iteration"],
        "current_iteration",
    ),
];

/// V1–V3: completed without an iteration.
pub(super) fn fabricated(scan: &Scan<'_>, findings: &mut Vec<Finding>) {
    if !scan.running {
        return;
    }
    for key in &scan.phases {
        let filed = scan.filed(&["phases"], key);
        for (way, count) in CLAIMS {
            let Some(record) = scan.field(key, way) else {
                continue;
            };
            let claimed = record.get("completed") == Some(&json!(true));
            if claimed && record.get(count).and_then(whole).unwrap_or(0) < 1 {
                let mut path = vec!["phases", filed];
                path.extend(*way);
                path.push("completed");
                let what = format!(
                    "completed is true, but {count} is {}: it never happened",
                    show(record.get(count))
                );
                findings.push(found(
                    "AC-004g",
                    &path,
                    what,
                    "it is not completed",
                    vec![Edit::set(&path, false)],
                ));
            }
        }
    }
}

/// A gate that passed although what it asks for is open.
pub(super) fn gates(scan: &Scan<'_>, findings: &mut Vec<Finding>) {
    if !scan.running {
        return;
    }
    for key in &scan.phases {
        let path = ["phases", scan.filed(&["phases"], key), "gate_passed"];
        let passed = scan
            .get(&path)
            .is_some_and(|value| !value.is_null() && value != &json!(false));
        if !passed {
            continue;
        }
        let record = |way: &[&str]| scan.field(key, way);
        let open = |record: &Value| record.get("completed") != Some(&json!(true));
        let text = |record: &Value, name: &str| {
            record.get(name).and_then(Value::as_str).map(str::to_owned)
        };
        let tests = record(&["iteration_requirements", "test_iteration"]);
        let law = record(&["constitutional_validation"]);
        let talk = record(&["iteration_requirements", "interactive_elicitation"]);
        let broken = [
            (
                "AC-004a",
                "tests fail",
                tests.is_some_and(|r| {
                    open(r) && text(r, "last_test_result").as_deref() == Some("failed")
                }),
            ),
            (
                "AC-004b",
                "the constitutional validation is open",
                law.is_some_and(|r| open(r) && text(r, "status").as_deref() != Some("escalated")),
            ),
            (
                "AC-004c",
                "nobody was asked",
                talk.is_some_and(|r| {
                    open(r) && r.get("menu_interactions").and_then(whole).unwrap_or(0) < 1
                }),
            ),
        ];
        for (id, why, is_broken) in broken {
            if is_broken {
                let what = format!("the gate of '{key}' counts as passed, but {why}");
                findings.push(found(
                    id,
                    &path,
                    what,
                    "it did not pass",
                    scan.put_instead(&path, Value::Null),
                ));
                break;
            }
        }
    }
}

/// Iterations that were recorded for a phase that has not begun: they belong to another.
pub(super) fn misplaced(scan: &Scan<'_>, findings: &mut Vec<Finding>) {
    if !scan.running {
        return;
    }
    for key in scan
        .phases
        .iter()
        .filter(|key| scan.long(key) == Some("pending"))
    {
        for name in [
            "iteration_requirements",
            "constitutional_validation",
            "gate_validation",
        ] {
            let path = ["phases", scan.filed(&["phases"], key), name];
            if scan
                .get(&path)
                .and_then(Value::as_object)
                .is_some_and(|record| !record.is_empty())
            {
                let what = format!(
                    "phase '{key}' has not begun, but has {name}: it was recorded for the wrong phase"
                );
                findings.push(found(
                    "AC-013f",
                    &path,
                    what,
                    "set it aside",
                    scan.move_away(&path),
                ));
            }
        }
    }
}

//! What a phase's entry claims: moments, summaries, iterations, a passed gate.

use serde_json::{Value, json};

use super::{Findings, Scan, show};
use crate::workflow::evidence::{CONSTITUTION, ELICITATION, TESTS};
use crate::workflow::transition::SUMMARY;
use tollgate_store::document::whole;
use tollgate_store::edit::Edit;
use tollgate_store::timestamp;

/// Moments of phases that have begun or ended.
pub(super) fn times(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    for key in &scan.workflow.phases {
        let status = scan.workflow.long_status(key);
        if !matches!(status, Some("in_progress" | "completed")) {
            continue;
        }
        let path = scan.workflow.entry(key, "started");
        if timestamp::of(scan.get(&path)).is_none() {
            let timed = scan.workflow.field(key, &["timing", "started_at"]);
            let value = first_moment(scan, [timed, scan.get(&["active_workflow", "started_at"])]);
            let what = format!("the phase has begun, but started is {}", scan.show(&path));
            findings.set_instead("AC-002d", &path, what, value);
        }
        timing(scan, key, findings);
        if status != Some("completed") {
            continue;
        }
        let path = scan.workflow.entry(key, "completed");
        if timestamp::of(scan.get(&path)).is_none() {
            let timed = scan.workflow.field(key, &["timing", "completed_at"]);
            let value = first_moment(scan, [timed]);
            let what = format!(
                "the phase is completed, but completed is {}: its duration would be lost",
                scan.show(&path)
            );
            findings.set_instead("AC-003g", &path, what, value);
        }
    }
}

/// The first of the values that is a moment, or now, which is the latest that it can have been.
fn first_moment<const N: usize>(scan: &Scan<'_>, values: [Option<&Value>; N]) -> Value {
    let mut given = values.into_iter().flatten();
    let known = given.find(|value| timestamp::of(Some(value)).is_some());
    known.cloned().unwrap_or_else(|| scan.now())
}

fn timing(scan: &Scan<'_>, key: &str, findings: &mut Findings<'_>) {
    let path = scan.workflow.entry(key, "timing");
    let Some(timing) = scan.get(&path).filter(|value| !value.is_null()) else {
        return;
    };
    if !timing.is_object() {
        let what = format!("timing is {}, not an object", show(Some(timing)));
        findings.set_aside("AC-002e", &path, what);
        return;
    }
    let mut set = |rule, name: &str, why: &str, value: Value| {
        let what = format!("timing.{name} is {}{why}", show(timing.get(name)));
        let [top, filed, timing] = path;
        findings.set(rule, &[top, filed, timing, name], what, value);
    };
    let moment_or_now = |field| first_moment(scan, [scan.workflow.field(key, &[field])]);
    if timestamp::of(timing.get("started_at")).is_none() {
        set("AC-002e", "started_at", "", moment_or_now("started"));
    }
    if timing.get("retries").and_then(whole).is_none() {
        set("AC-002e", "retries", ", not a count", 0.into());
    }
    if scan.workflow.long_status(key) != Some("completed") {
        return;
    }
    let ended = timestamp::of(timing.get("completed_at"));
    if ended.is_none() {
        set("AC-003g", "completed_at", "", moment_or_now("completed"));
        return;
    }
    if timing.get("wall_clock_minutes").and_then(whole).is_none() {
        let spent = timestamp::of(timing.get("started_at"))
            .zip(ended)
            .map_or(0, |(from, to)| to.duration_since(from).as_mins().max(0));
        let why = ", not a count";
        set("AC-003g", "wall_clock_minutes", why, spent.into());
    }
}

/// A completed phase says in a sentence what it did.
pub(super) fn summaries(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    for key in scan.having("completed") {
        let path = scan.workflow.entry(key, "summary");
        let text = scan.str(&path).unwrap_or_default();
        if text.trim().is_empty() {
            let shown = scan.show(&path);
            let what = format!("the phase is completed, but its summary is {shown}");
            let edits = vec![Edit::set(&path, "(no summary was recorded)")];
            findings.repair("IR-001", &path, what, "say that none was recorded", edits);
        } else if text.chars().count() > SUMMARY {
            let short: String = text.chars().take(SUMMARY).collect();
            let count = text.chars().count();
            let what = format!("the summary has {count} characters, more than {SUMMARY}");
            let repair = "shorten it, and keep the whole aside";
            findings.replace("IR-001", &path, what, repair, short.into());
        }
    }
}

const VALIDATION: &[&str] = &[CONSTITUTION];
const MENUS: &[&str] = &["iteration_requirements", ELICITATION];
const TEST_RUNS: &[&str] = &["iteration_requirements", TESTS];

/// V1–V3: where a claim is, and what must be counted for it.
pub(crate) const CLAIMS: [(&[&str], &str); 3] = [
    (VALIDATION, "iterations_used"),
    (MENUS, "menu_interactions"),
    (TEST_RUNS, "current_iteration"),
];

/// V1–V3: completed without an iteration.
pub(super) fn fabricated(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    for key in &scan.workflow.phases {
        let filed = scan.workflow.filed(key);
        for (way, count) in CLAIMS {
            let Some(record) = scan.workflow.field(key, way) else {
                continue;
            };
            let claimed = record.get("completed") == Some(&json!(true));
            if claimed && record.get(count).and_then(whole).unwrap_or(0) < 1 {
                let mut path = vec!["phases", filed];
                path.extend(way);
                path.push("completed");
                let shown = show(record.get(count));
                let what =
                    format!("completed is true, but {count} is {shown}: nothing was recorded");
                let edits = vec![Edit::set(&path, false)];
                findings.repair("AC-004g", &path, what, "it is not completed", edits);
            }
        }
    }
}

/// What a gate asks for: the rule, what is wrong, where the record is, and whether one that is
/// not completed keeps the gate closed.
type GateRule = (
    &'static str,
    &'static str,
    &'static [&'static str],
    fn(&Value) -> bool,
);

const GATES: &[GateRule] = &[
    ("AC-004a", "tests fail", TEST_RUNS, |tests| {
        tests.get("last_test_result").and_then(Value::as_str) == Some("failed")
    }),
    (
        "AC-004b",
        "the constitutional validation is open",
        VALIDATION,
        |law| law.get("status").and_then(Value::as_str) != Some("escalated"),
    ),
    ("AC-004c", "the person was not asked", MENUS, |talk| {
        talk.get("menu_interactions").and_then(whole).unwrap_or(0) < 1
    }),
];

/// A gate that passed although what it asks for is open.
pub(super) fn gates(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    for key in &scan.workflow.phases {
        let path = scan.workflow.entry(key, "gate_passed");
        let passed = scan.get(&path);
        let passed = passed.is_some_and(|value| !value.is_null() && value != &json!(false));
        let open = |record: &&Value| record.get("completed") != Some(&json!(true));
        let mut broken = GATES.iter().filter(|(_, _, way, is_broken)| {
            let record = scan.workflow.field(key, way);
            record.filter(open).is_some_and(is_broken)
        });
        if passed && let Some((id, why, ..)) = broken.next() {
            let what = format!("the gate of '{key}' counts as passed, but {why}");
            findings.replace(id, &path, what, "it did not pass", Value::Null);
        }
    }
}

/// Iterations that were recorded for a phase that has not begun: they belong to another.
pub(super) fn misplaced(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    for key in scan.having("pending") {
        for name in ["iteration_requirements", CONSTITUTION, "gate_validation"] {
            let path = scan.workflow.entry(key, name);
            let record = scan.document().object(&path);
            if record.is_some_and(|record| !record.is_empty()) {
                let what = format!(
                    "phase '{key}' has not begun, but has {name}: it was recorded for the wrong phase"
                );
                findings.set_aside("AC-013f", &path, what);
            }
        }
    }
}

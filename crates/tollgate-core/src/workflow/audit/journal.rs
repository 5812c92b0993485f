//! What the journal tells about the state: a version or a phase that went backwards, and steps
//! in an order in which no command makes them.

use serde_json::Value;

use super::{Findings, Scan};
use crate::workflow::position;
use crate::workflow::transition::SUMMARY;
use tollgate_store::edit::Edit;

/// One step as the journal has it.
struct Line<'a> {
    step: &'a str,
    phase: Option<&'a str>,
    version: u64,
    index: Option<u64>,
    at: &'a Value,
    what: &'a str,
}

/// The steps since the last start. A line is written after the lock is given back, so two
/// processes may write theirs the other way round: the version says which was first.
fn lines<'a>(scan: &Scan<'a>) -> Vec<Line<'a>> {
    let is =
        |line: &Value, key: &str, word: &str| line.get(key).and_then(Value::as_str) == Some(word);
    let journal = scan.evidence.journal.iter();
    // A change of another program that was adopted has a code; it is no step of a command.
    let changes = journal.filter(|line| {
        let step = is(line, "verdict", "change") && line.get("code").is_none();
        step || is(line, "event", UNDONE)
    });
    let read = |line: &'a Value| {
        let text = |key: &str| line.get(key).and_then(Value::as_str);
        Some(Line {
            step: text("event")?,
            phase: text("phase"),
            version: line.get("version")?.as_u64()?,
            index: line.get("index").and_then(Value::as_u64),
            at: line.get("ts")?,
            what: text("reason").unwrap_or_default(),
        })
    };
    let mut all: Vec<Line<'_>> = changes.filter_map(read).collect();
    let start = all.iter().rposition(|line| line.step == "workflow start");
    all.drain(..start.unwrap_or(0));
    all.sort_by_key(|line| line.version);
    without_undone(all)
}

/// The step that takes the version before it back.
pub const UNDONE: &str = "state undo";

/// The steps that were not taken back; what took a step back may itself have been taken back.
fn without_undone(all: Vec<Line<'_>>) -> Vec<Line<'_>> {
    let mut undone = None;
    let mut left: Vec<Line<'_>> = Vec::new();
    for line in all.into_iter().rev() {
        if undone == Some(line.version) {
            undone = None;
        } else if line.step == UNDONE {
            undone = line.version.checked_sub(1);
        } else {
            left.push(line);
        }
    }
    left.reverse();
    left
}

/// The step by which a person has the state repaired: what was before it no longer counts.
const REPAIRED: &str = "workflow audit --repair";

/// The steps of the workflow that runs, if the journal saw it start; since it was repaired.
fn own<'a, 'l>(scan: &Scan<'_>, lines: &'l [Line<'a>]) -> &'l [Line<'a>] {
    let running = position::running(scan.document());
    let began = running.and_then(|fields| fields.get("started_at"));
    let is_start = |line: &Line<'_>| line.step == "workflow start" && Some(line.at) == began;
    let start = lines.iter().position(is_start);
    let Some(own) = start.and_then(|start| lines.get(start..)) else {
        return &[];
    };
    let repaired = own.iter().rposition(|line| line.step == REPAIRED);
    repaired.and_then(|at| own.get(at + 1..)).unwrap_or(own)
}

/// A phase that was completed stays completed, unless it was asked to be done again.
pub(super) fn completions(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    let all = lines(scan);
    let own = own(scan, &all);
    for key in &scan.workflow.phases {
        let of = |line: &&Line<'_>| {
            line.phase == Some(*key)
                && matches!(line.step, "phase complete" | "phase redo" | "phase skip")
        };
        let Some(last) = own.iter().rfind(of) else {
            continue;
        };
        let asked = last.step == "phase redo" || scan.redoing(key);
        let gone_back = !asked && scan.workflow.long_status(key) != Some("completed");
        if !gone_back {
            continue;
        }
        let status = scan.workflow.long_status(key).unwrap_or("missing");
        let what = format!(
            "phase '{key}' is {status}, but the journal saw it completed with version {}",
            last.version
        );
        let mut edits = scan.both(key, "completed");
        if scan.workflow.lacks(key, &["completed"]) {
            let path = scan.workflow.entry(key, "completed");
            edits.push(Edit::set(&path, last.at.clone()));
        }
        if scan.workflow.lacks(key, &["summary"]) {
            let what = last.what.split_once(": ");
            let what = what.map_or(last.what, |(_, what)| what);
            let short: String = what.chars().take(SUMMARY).collect();
            edits.push(Edit::set(&scan.workflow.entry(key, "summary"), short));
        }
        let path = ["phases", key, "status"];
        findings.repair("AC-012b", &path, what, "it is completed", edits);
    }
}

/// The state is not older than what the journal saw written.
pub(super) fn versions(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    let all = lines(scan);
    let Some(newest) = all.iter().map(|line| line.version).max() else {
        return;
    };
    let version = scan.document().u64(&["state_version"]).unwrap_or(0);
    if version < newest && scan.get(&["state_version"]).is_some() {
        let what = format!(
            "state_version is {version}, but the journal saw version {newest}: the file was replaced by an older one"
        );
        let repair = format!("count on from {newest}");
        let edits = vec![Edit::set(&["state_version"], newest)];
        findings.repair("AC-011c", &["state_version"], what, repair, edits);
    }
    let own = own(scan, &all);
    let index = own.iter().filter_map(|line| line.index).max();
    let path = ["active_workflow", "current_phase_index"];
    let have = scan.document().u64(&path);
    if let (Some(index), Some(have)) = (index, have)
        && have < index
    {
        let what = format!("the index is {have}, but the journal saw {index}");
        findings.note("AC-012a", "active_workflow.current_phase_index", what);
    }
}

/// Steps that follow each other directly are in an order that commands make.
pub(super) fn order(scan: &Scan<'_>, findings: &mut Findings<'_>) {
    let all = lines(scan);
    // The last step that moved the workflow: taking a later phase out does not.
    let mut moved = all.first();
    for (before, after) in all.iter().zip(all.iter().skip(1)) {
        let place = format!("journal, version {}", after.version);
        let last = moved.unwrap_or(before);
        if after.step != "phase skip" || after.index != before.index {
            moved = Some(after);
        }
        if after.version == before.version {
            let what = format!(
                "'{}' and '{}' were both written with version {}: the state was set back between them",
                before.step, after.step, after.version
            );
            findings.note("AC-011a", &place, what);
            continue;
        }
        // Between versions that are not neighbours something was written that is not a step.
        if Some(after.version) != before.version.checked_add(1) {
            moved = Some(after);
            continue;
        }
        if after.index < before.index
            && after.index.is_some()
            && !matches!(after.step, "workflow start" | REPAIRED)
        {
            let index = |line: &Line<'_>| line.index.unwrap_or_default();
            let what = format!(
                "'{}' took the index from {} back to {}",
                after.step,
                index(before),
                index(after)
            );
            findings.note("AC-012a", &place, what);
        }
        let twice =
            after.step == "phase complete" && matches!(last.step, "phase complete" | "phase skip");
        let ended = matches!(before.step, "workflow finalize" | "workflow cancel")
            && !matches!(after.step, "workflow start" | REPAIRED);
        if twice || ended {
            let what = format!(
                "'{}' came directly after '{}', which no command does",
                after.step,
                if twice { last.step } else { before.step }
            );
            findings.note("AC-002a", &place, what);
        }
    }
}

//! What a run says in a project of Tollgate's own: a line per gate, and what matters of a failure.

use std::path::Path;
use std::time::Duration;

use super::super::global::{self, Verbosity};
use super::super::{DIM, ERROR, GOOD, WARN};
use crate::gate::result::GateResult;
use crate::gate::run::RunResult;
use crate::plain::{Plain, fit};
use crate::review::outcome::Outcome;

/// What precedes the lines that belong to a gate.
const INDENT: &str = "      ";

/// The lines of a gate that ended; those of its output fit into so many columns.
pub(super) fn of_gate(result: &GateResult, root: &Path, columns: usize) -> Vec<String> {
    let verbosity = global::verbosity();
    if result.outcome == Outcome::Pass && verbosity == Verbosity::Quiet {
        return Vec::new();
    }
    let mut lines: Vec<String> = Vec::new();
    if result.slots.is_empty() {
        lines.push(line(
            result.outcome,
            &result.id,
            result.took,
            &result.message,
        ));
    }
    for slot in &result.slots {
        let name = format!("{} by {}", result.id, slot.label);
        lines.push(line(slot.outcome, &name, slot.took, &slot.message));
    }
    let room = columns.saturating_sub(INDENT.len() + 2);
    let mut quote = |text: &str| {
        let text = fit(&Plain(&text.replace('\t', "    ")).to_string(), room);
        let text = text.trim_end();
        lines.push(
            format!("{INDENT}{DIM}| {text}{DIM:#}")
                .trim_end()
                .to_owned(),
        );
    };
    let is_verbose = verbosity == Verbosity::Verbose;
    match is_verbose.then(|| whole_output(result)).flatten() {
        Some(text) => text.lines().for_each(&mut quote),
        None => result.excerpt.iter().for_each(|text| quote(text)),
    }
    let findings = &result.findings;
    let mut say = |text: String| lines.push(format!("{INDENT}{}", Plain(&text)));
    for finding in &findings.fixed {
        say(format!("fixed: {finding}"));
    }
    for (finding, reason) in &findings.skipped {
        say(format!("skipped: {finding} ({reason})"));
    }
    for finding in &findings.advisory {
        say(format!("note: {finding}"));
    }
    if result.outcome != Outcome::Pass || is_verbose {
        for file in result.files() {
            let file = file.strip_prefix(root).unwrap_or(&file).display();
            say(format!("more: {file}"));
        }
    }
    lines
}

fn line(outcome: Outcome, name: &str, took: Duration, message: &str) -> String {
    let (style, word) = match outcome {
        Outcome::Pass => (GOOD, "pass"),
        Outcome::Fail => (ERROR, "fail"),
        Outcome::Error => (ERROR, "error"),
        Outcome::Inconclusive => (WARN, "inconclusive"),
        Outcome::NotRun => (WARN, "not run"),
    };
    let took = took.as_secs_f64();
    let why = match message {
        "" => String::new(),
        message => format!(": {}", Plain(message)),
    };
    format!(
        "{style}{word:<4}{style:#}  {} {DIM}({took:.2}s){DIM:#}{why}",
        Plain(name)
    )
}

/// All that a check printed.
fn whole_output(result: &GateResult) -> Option<String> {
    let file = result.file.as_ref()?;
    let text = std::fs::read(file).ok()?;
    let text = String::from_utf8_lossy(&text).into_owned();
    Some(anstream::adapter::strip_str(&text).to_string())
}

/// `1 failed, 2 passed`
pub(super) fn counts(result: &RunResult) -> String {
    let gates = &result.gates;
    let count = |is: fn(Outcome) -> bool, word: &str| {
        let count = gates.iter().filter(|gate| is(gate.outcome)).count();
        (count > 0).then(|| format!("{count} {word}"))
    };
    let skipped = result.skipped.len();
    let said = [
        count(Outcome::is_failure, "failed"),
        count(|outcome| outcome == Outcome::Inconclusive, "inconclusive"),
        count(|outcome| outcome == Outcome::NotRun, "not run"),
        (skipped > 0).then(|| format!("{skipped} skipped")),
        count(|outcome| outcome == Outcome::Pass, "passed"),
    ];
    let said: Vec<String> = said.into_iter().flatten().collect();
    if said.is_empty() {
        return "nothing to run".to_owned();
    }
    said.join(", ")
}

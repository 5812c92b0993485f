//! The screen: one label per subject, nothing of others obeyed by the terminal.

use anstyle::Style;
use jiff::Timestamp;

use tollgate_store::journal::Verdict;

use super::overview::{Overview, Tally};
use crate::cli::wrap::{columns, wrap};
use crate::cli::{BOLD, DIM, ERROR, GOOD, WARN};
use crate::gate::accepted;
use crate::gate::evidence::{GateVerification, SIGN, Verification};
use crate::plain::{Plain, age, count, fit};
use crate::plan::rounds::cost;
use crate::project_view::{GatesNow, Phase, Plan, Running, Workflow};

/// How wide it is at most, and at least.
const WIDTH: usize = 80;
const NARROW: usize = 30;

/// What is said of what cannot be read; the reason is among what is wrong.
const UNREADABLE: &str = "cannot be read, see below";

/// Where texts begin.
const LABEL: usize = 11;

pub(super) fn all(overview: &Overview) {
    let name = overview.root.file_name().unwrap_or_default();
    let branch = overview.branch.as_deref();
    let branch = branch.map(|name| format!(" on {name}")).unwrap_or_default();
    out!(
        "{BOLD}{}{BOLD:#} {DIM}{}{}{DIM:#}",
        Plain(&name.to_string_lossy()),
        Plain(&overview.root.to_string_lossy()),
        Plain(&branch)
    );
    for (index, said) in overview.ruled_by.iter().enumerate() {
        line(if index == 0 { "config" } else { "" }, DIM, "·", said);
    }
    if overview.agents.is_empty() {
        line("agents", ERROR, "✖", "none is registered");
    }
    for (one, label) in overview.agents.iter().zip(once("agents")) {
        let (style, sign) = match (one.armed, one.lacks.as_slice()) {
            (true, _) => (GOOD, "●"),
            (false, []) => (DIM, "·"),
            (false, _) => (ERROR, "✖"),
        };
        let said = Plain(&one.words()).to_string();
        for (index, part) in wrap(&said, room()).iter().enumerate() {
            match index {
                0 => line(label, style, sign, part),
                _ => more(part),
            }
        }
    }
    match &overview.workflow {
        Workflow::Idle { .. } => line("workflow", DIM, "·", "none is running"),
        Workflow::Broken { .. } => line("workflow", ERROR, "?", UNREADABLE),
        Workflow::Running(running) => print_workflow(running),
    }
    gates(overview);
    match &overview.plan {
        None => line("plan", DIM, "·", "none"),
        Some(plan) if plan.is_broken => line("plan", ERROR, "?", UNREADABLE),
        Some(plan) => print_plan(plan),
    }
    print_decisions(overview);
    print_tally(&overview.tally);
    for (wrong, label) in overview.wrong.iter().zip(once("wrong")) {
        let text = Plain(wrong).to_string();
        for (index, part) in wrap(&text, room()).iter().enumerate() {
            match index {
                0 => line(label, ERROR, "!", part),
                _ => more(part),
            }
        }
    }
}

/// What can be said about the gates.
pub(super) fn gates(overview: &Overview) {
    match &overview.gates {
        None => line("gates", DIM, "·", "none"),
        Some(Err(_)) => line("gates", ERROR, "?", UNREADABLE),
        Some(Ok(gates)) => print_gates(gates, overview.now),
    }
}

/// A label for the first of several lines.
fn once(label: &str) -> impl Iterator<Item = &str> {
    std::iter::once(label).chain(std::iter::repeat(""))
}

/// How much of a line is left for its text.
fn room() -> usize {
    columns(std::io::stdout()).clamp(NARROW, WIDTH) - LABEL - 2
}

/// A line with its label. What is in it is shown, not obeyed, and fits.
fn line(label: &str, style: Style, sign: &str, text: &str) {
    let text = fit(&Plain(text).to_string(), room());
    let width = LABEL;
    out!("{DIM}{label:<width$}{DIM:#}{style}{sign}{style:#} {text}");
}

/// What belongs to the line before.
fn more(text: &str) {
    let text = fit(&Plain(text).to_string(), room());
    let indent = LABEL + 2;
    out!("{:indent$}{DIM}{text}{DIM:#}", "");
}

fn print_workflow(running: &Running) {
    let title = format!("{}: {}", running.name(), running.description);
    line("workflow", BOLD, "▶", &title);
    let (done, phases) = (running.completed(), running.phases.len());
    let bar = "■".repeat(done) + &"□".repeat(phases.saturating_sub(done));
    more(&format!("{bar} {}", running.progress()));
    let is_unverified =
        |phase: &&Phase| phase.status == "completed" && phase.verified == Some(false);
    for phase in running.phases.iter().filter(is_unverified) {
        more(&format!(
            "{} {}: {}",
            phase.sign(),
            phase.key,
            phase.words()
        ));
    }
    if let Some(due) = &running.due {
        more(&format!("next: {}", due.next));
    }
}

fn print_gates(gates: &GatesNow, now: Timestamp) {
    let is_failed = |gate: &GateVerification| matches!(gate, GateVerification::Failed { .. });
    let has_failed = gates.gates.iter().any(|(_, gate)| is_failed(gate));
    let words = gates.verification.words();
    match &gates.verification {
        Verification::Verified { at } => {
            let [checks, reviews] = gates.verified;
            let what = format!("{}, {}", count(checks, "check"), count(reviews, "review"));
            let text = format!("{words} {} ({what})", ago(*at, now));
            return line("gates", GOOD, SIGN, &text);
        }
        Verification::Not(_) if has_failed => line("gates", ERROR, "✖", &words),
        Verification::Not(_) | Verification::Unknown(_) => line("gates", WARN, "?", &words),
    }
    let attempt = gates.last.as_ref().filter(|last| last.attempts > 0);
    if let Some(last) = attempt.filter(|_| has_failed) {
        let (made, most) = (last.attempts, gates.attempts_allowed);
        more(&format!("attempt {made} of {most}"));
    }
    for (id, gate) in &gates.gates {
        let when = gate.at().map(|at| format!(", {}", ago(at, now)));
        let when = when.unwrap_or_default();
        more(&format!("{} {id}  {gate}{when}", gate.sign()));
    }
    let weakened = (!gates.weakened.is_empty()).then(|| accepted::words(&gates.weakened));
    for warning in gates.doubt.iter().cloned().chain(weakened) {
        let text = Plain(&format!("⚠ {warning}")).to_string();
        for part in wrap(&text, room()) {
            more(&part);
        }
    }
}

fn print_plan(plan: &Plan) {
    line(
        "plan",
        BOLD,
        "▶",
        &format!("{}: {}", plan.id, plan.phase_name()),
    );
    let progress = plan.progress();
    if !progress.is_empty() {
        more(&progress);
    }
    if let Some(next) = &plan.next {
        more(&format!("next: {next}"));
    }
}

fn print_decisions(overview: &Overview) {
    if overview.decisions.is_empty() {
        line("decisions", DIM, "·", "none yet");
    }
    for (entry, label) in overview.decisions.iter().zip(once("decisions")) {
        let (sign, style) = match entry.verdict {
            Verdict::Block => ("✖", ERROR),
            Verdict::Ask | Verdict::Warn | Verdict::Fault => ("!", WARN),
            Verdict::Watch
            | Verdict::Change
            | Verdict::Gate
            | Verdict::Review
            | Verdict::Record => ("·", DIM),
        };
        let when = entry
            .ts
            .map_or_else(|| "?".to_owned(), |ts| ago(ts, overview.now));
        let code = entry.code.as_deref().unwrap_or_default();
        let guard = entry.guard.as_deref().or(entry.event.as_deref());
        line(
            label,
            style,
            sign,
            &format!("{when}  {code}  {}", guard.unwrap_or_default()),
        );
        if let Some(reason) = &entry.reason {
            more(reason);
        }
    }
}

fn print_tally(tally: &Tally) {
    let least = if tally.at_least { "at least " } else { "" };
    let mut text = format!(
        "{least}{}, {}, {}, {}",
        count(tally.counts.block, "block"),
        count(tally.counts.warn, "warning"),
        count(tally.counts.fault, "fault"),
        count(tally.counts.review, "review")
    );
    if tally.cost_usd.is_some() {
        text = format!("{text}, {}", cost(tally.cost_usd));
    }
    line("24 hours", DIM, "·", &text);
}

/// How long ago, as people say it.
fn ago(then: Timestamp, now: Timestamp) -> String {
    match age(then, now, [" min", " h", " days"]) {
        Some(age) => format!("{age} ago"),
        None => "just now".to_owned(),
    }
}

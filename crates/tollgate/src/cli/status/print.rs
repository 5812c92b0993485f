//! The screen: one label per subject, nothing of others obeyed by the terminal.

use anstyle::Style;
use jiff::Timestamp;

use tollgate_store::journal::Verdict;

use crate::cli::wrap::{columns, wrap};
use crate::cli::{BOLD, DIM, ERROR, GOOD, WARN};
use crate::gate::accepted;
use crate::gate::evidence::{GateVerification, SIGN, Verification};
use crate::journal::Entry;
use crate::plain::{Plain, age, count, fit};
use crate::plan::rounds::cost;
use crate::project_view::{
    Configured, Gate, Gates, Phase, Plan, ProjectView, Running, Tally, Workflow,
};

/// How wide it is at most, and at least.
const WIDTH: usize = 80;
const NARROW: usize = 30;

/// What is said of what cannot be read; the reason is among the problems.
const UNREADABLE: &str = "cannot be read, see below";

/// How many decisions are shown.
const SHOWN: usize = 5;

/// Where texts begin.
const LABEL: usize = 11;

pub(super) fn all(view: &ProjectView, now: Timestamp) {
    let branch = view.branch.as_deref();
    let branch = branch.map(|name| format!(" on {name}")).unwrap_or_default();
    out!(
        "{BOLD}{}{BOLD:#} {DIM}{}{}{DIM:#}",
        Plain(&view.project),
        Plain(&view.root),
        Plain(&branch)
    );
    for (said, label) in view.ruled_by.iter().zip(once("config")) {
        line(label, DIM, "·", said);
    }
    if view.agents.is_empty() {
        line(
            "agents",
            ERROR,
            "✖",
            "none is registered: `tollgate install`",
        );
    }
    for (one, label) in view.agents.iter().zip(once("agents")) {
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
    match &view.workflow {
        Workflow::Idle { .. } => line("workflow", DIM, "·", "none is running"),
        Workflow::Broken { .. } => line("workflow", ERROR, "?", UNREADABLE),
        Workflow::Running(running) => print_workflow(running),
    }
    gates(&view.gates, now);
    match &view.plan {
        None => line("plan", DIM, "·", "none"),
        Some(plan) if plan.is_broken => line("plan", ERROR, "?", UNREADABLE),
        Some(plan) => print_plan(plan),
    }
    print_decisions(view, now);
    print_tally(&view.journal.last_24_hours);
    let mut troubles = view.troubles.iter().zip(once("problems")).peekable();
    while let Some((trouble, label)) = troubles.next() {
        let text = Plain(&trouble.what).to_string();
        for (index, part) in wrap(&text, room()).iter().enumerate() {
            match index {
                0 => line(label, ERROR, "!", part),
                _ => more(part),
            }
        }
        // The same next step is said once for all of them.
        let is_said = troubles
            .peek()
            .is_some_and(|(other, _)| other.next == trouble.next);
        if !is_said {
            more(&format!("next: {}", trouble.next));
        }
    }
}

/// What can be said about the gates.
pub(super) fn gates(gates: &Gates, now: Timestamp) {
    match (gates.configured, &gates.verdict) {
        (Configured::Wrong, _) => line("gates", ERROR, "?", UNREADABLE),
        (Configured::Yes, Some(verdict)) => print_gates(gates, verdict, now),
        (Configured::No, _) | (Configured::Yes, None) => line("gates", DIM, "·", "none"),
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

fn print_gates(gates: &Gates, verdict: &Verification, now: Timestamp) {
    let any = |test: fn(&GateVerification) -> bool| gates.all.iter().any(|gate| test(&gate.now));
    let has_failed = any(|gate| matches!(gate, GateVerification::Failed { .. }));
    // Each gate says below what is missing.
    let words = match verdict {
        Verification::Not(_) if any(|gate| gate.is_applicable() && !gate.is_verified()) => {
            "not verified".to_owned()
        }
        Verification::Verified { .. } | Verification::Not(_) | Verification::Unknown(_) => {
            verdict.words()
        }
    };
    match verdict {
        Verification::Verified { at } => {
            let verified = gates.all.iter().filter(|gate| gate.now.is_verified());
            let (checks, reviews): (Vec<&Gate>, Vec<&Gate>) =
                verified.partition(|gate| gate.is_check());
            let what = [count(checks.len(), "check"), count(reviews.len(), "review")].join(", ");
            let text = format!("{words} {} ({what})", ago(*at, now));
            return line("gates", GOOD, SIGN, &text);
        }
        Verification::Not(_) if has_failed => line("gates", ERROR, "✖", &words),
        Verification::Not(_) | Verification::Unknown(_) => line("gates", WARN, "?", &words),
    }
    for Gate { id, now: gate, .. } in &gates.all {
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

fn print_decisions(view: &ProjectView, now: Timestamp) {
    let is_finding = |entry: &&Entry| {
        matches!(
            entry.verdict,
            Verdict::Block | Verdict::Ask | Verdict::Warn | Verdict::Fault
        )
    };
    let recent = view.journal.recent.iter();
    let recent: Vec<&Entry> = recent.filter(is_finding).take(SHOWN).collect();
    if recent.is_empty() {
        line("decisions", DIM, "·", "none yet");
    }
    for (entry, label) in recent.into_iter().rev().zip(once("decisions")) {
        let (sign, style) = match entry.verdict {
            Verdict::Block => ("✖", ERROR),
            Verdict::Ask | Verdict::Warn | Verdict::Fault => ("!", WARN),
            Verdict::Watch
            | Verdict::Change
            | Verdict::Gate
            | Verdict::Review
            | Verdict::Record => ("·", DIM),
        };
        let when = entry.ts.map_or_else(|| "?".to_owned(), |ts| ago(ts, now));
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

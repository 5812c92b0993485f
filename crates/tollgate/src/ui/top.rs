//! A view as lines of a terminal.
//!
//! Names and messages of others go through [`Plain`]: a terminal obeys what is written to it.

use anstyle::Style;
use tollgate_store::journal::Verdict;
use unicode_width::UnicodeWidthStr as _;

use crate::armed;
use crate::gate::evidence::{SIGN, Verification};
use crate::journal::Entry;
use crate::plain::{BOLD, DIM, ERROR, GOOD, Plain, WARN, count, fit, moment_of};
use crate::project_view::{Configured, ProjectView, Running, Workflow};

const PLAIN: Style = Style::new();

/// How many lines of a failing check's output are shown.
const SAID: usize = 3;

/// One line: pieces of text, each in its style.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line(Vec<(Style, String)>);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) width: usize,
    pub(crate) height: usize,
}

impl Line {
    fn new(style: Style, text: impl Into<String>) -> Self {
        Self(vec![(style, text.into())])
    }

    fn and(mut self, style: Style, text: impl Into<String>) -> Self {
        self.0.push((style, text.into()));
        self
    }

    /// The text for a terminal, with or without its styles.
    pub(crate) fn text(&self, is_styled: bool) -> String {
        let piece = |(style, text): &(Style, String)| {
            if is_styled && *style != PLAIN {
                format!("{style}{text}{style:#}")
            } else {
                text.clone()
            }
        };
        self.0.iter().map(piece).collect()
    }

    /// The line with at most so many columns.
    fn cut(mut self, width: usize) -> Self {
        let mut left = width;
        for (_, text) in &mut self.0 {
            if text.width() > left {
                *text = fit(text, left);
                left = 0;
            } else {
                left -= text.width();
            }
        }
        self
    }
}

/// The lines that fit: the state of things, then as many decisions as there is room for.
pub(crate) fn frame(view: &ProjectView, room: Room) -> Vec<Line> {
    let mut lines = vec![
        Line::new(BOLD, format!("Tollgate  {}", Plain(&view.project)))
            .and(DIM, format!("  {}", moment_of(&view.at))),
    ];
    for trouble in &view.troubles {
        lines.push(Line::new(ERROR, "problems  ").and(PLAIN, Plain(&trouble.what).to_string()));
        let next = format!("          next: {}", Plain(&trouble.next));
        lines.push(Line::new(DIM, next));
    }
    for words in &view.allowed {
        lines.push(Line::new(WARN, format!("allowed   {}", Plain(words))));
    }
    agents(view, &mut lines);
    workflow(view, room.width, &mut lines);
    gates(view, &mut lines);
    plan(view, &mut lines);
    figures(view, &mut lines);
    lines.push(Line::default());
    lines.push(Line::new(BOLD, "Decisions, newest first"));
    if view.journal.recent.is_empty() {
        let nothing = "  nothing was blocked, warned about or changed yet";
        lines.push(Line::new(DIM, nothing));
    }
    let left = room.height.saturating_sub(lines.len());
    lines.extend(view.journal.recent.iter().take(left).map(decision));
    lines.truncate(room.height);
    lines.into_iter().map(|line| line.cut(room.width)).collect()
}

fn agents(view: &ProjectView, lines: &mut Vec<Line>) {
    let name = Line::new(DIM, "agents    ");
    if view.agents.is_empty() {
        let words = format!("{}: `tollgate install`", armed::summary(&[]));
        lines.push(name.and(ERROR, words));
        return;
    }
    for (index, one) in view.agents.iter().enumerate() {
        let name = if index == 0 {
            name.clone()
        } else {
            Line::new(DIM, "          ")
        };
        let tone = match (one.armed, one.lacks.as_slice()) {
            (true, _) => GOOD,
            (false, []) => PLAIN,
            (false, _) => ERROR,
        };
        lines.push(name.and(tone, Plain(&one.words()).to_string()));
    }
}

fn workflow(view: &ProjectView, width: usize, lines: &mut Vec<Line>) {
    let name = Line::new(DIM, "workflow  ");
    match &view.workflow {
        Workflow::Idle { .. } => lines.push(name.and(PLAIN, "none is running")),
        Workflow::Broken { .. } => lines.push(name.and(ERROR, "the state cannot be read")),
        Workflow::Running(running) => {
            let title = format!(": {}", running.description);
            lines.push(
                name.and(BOLD, Plain(&running.name()).to_string())
                    .and(PLAIN, Plain(&title).to_string()),
            );
            let progress = format!("          {}", Plain(&running.progress()));
            lines.push(Line::new(DIM, progress));
            phases(running, width, lines);
            if let Some(due) = &running.due {
                lines.push(Line::new(DIM, format!("          next: {}", due.next)));
            }
            if running.escalations > 0 {
                let waiting = count(running.escalations, "escalation");
                let text = format!("          {waiting} for a person");
                lines.push(Line::new(ERROR, text));
            }
        }
    }
}

/// The phases side by side, as many in a line as fit.
fn phases(running: &Running, width: usize, lines: &mut Vec<Line>) {
    let mut line = Line::new(PLAIN, "          ");
    let mut used = 10;
    for phase in &running.phases {
        let tone = match phase.status.as_str() {
            "completed" if phase.has_passed => GOOD,
            "completed" => PLAIN,
            "in_progress" => BOLD,
            _ => DIM,
        };
        let text = format!("{} {}  ", phase.sign(), Plain(&phase.key));
        if used + text.width() > width && used > 10 {
            lines.push(std::mem::replace(&mut line, Line::new(PLAIN, "          ")));
            used = 10;
        }
        used += text.width();
        line = line.and(tone, text);
    }
    lines.push(line);
}

fn gates(view: &ProjectView, lines: &mut Vec<Line>) {
    let gates = &view.gates;
    let name = Line::new(DIM, "gates     ");
    let failing: Vec<_> = gates.all.iter().filter(|gate| gate.is_failing()).collect();
    let words = gates.verdict.as_ref().map(Verification::words);
    let words = Plain(&words.unwrap_or_default()).to_string();
    lines.push(match (gates.configured, &gates.verdict) {
        (Configured::Yes, _) if gates.running.is_some() => name.and(BOLD, "running now"),
        (Configured::Yes, Some(Verification::Verified { .. })) => {
            name.and(GOOD, format!("{SIGN} {words}"))
        }
        (Configured::Yes, Some(_)) => {
            let tone = if failing.is_empty() { WARN } else { ERROR };
            name.and(tone, words)
        }
        (Configured::No, _) | (Configured::Yes, None) => name.and(PLAIN, "none"),
        (Configured::Wrong, _) => name.and(ERROR, "the configuration is wrong"),
    });
    for gate in failing {
        lines.push(
            Line::new(ERROR, format!("          ✗ {}", Plain(&gate.id)))
                .and(PLAIN, format!("  {}", Plain(&gate.message))),
        );
        let said = gate.excerpt.as_deref().unwrap_or_default().lines();
        for line in said.filter(|line| !line.trim().is_empty()).take(SAID) {
            lines.push(Line::new(DIM, format!("            {}", Plain(line))));
        }
    }
}

fn plan(view: &ProjectView, lines: &mut Vec<Line>) {
    let Some(plan) = &view.plan else {
        return;
    };
    let title = format!("{}: {}", plan.id, plan.phase_name());
    let name = Line::new(DIM, "plan      ").and(PLAIN, Plain(&title).to_string());
    let progress = plan.progress();
    lines.push(name.and(DIM, format!("  {}", Plain(&progress))));
}

fn figures(view: &ProjectView, lines: &mut Vec<Line>) {
    let past = &view.journal;
    let counts = past.counts;
    let journal = format!(
        "{}, {}, {}; {}, {} for ${:.2}",
        count(counts.block, "block"),
        count(counts.warn, "warning"),
        count(counts.fault, "fault"),
        count(counts.gate, "check"),
        count(counts.review, "review"),
        past.cost.usd
    );
    lines.push(Line::new(DIM, "journal   ").and(PLAIN, journal));
    let latency = &past.latency;
    if latency.count > 0 {
        let hook = format!("{} (recorded tool calls)", latency.words());
        lines.push(Line::new(DIM, "hook      ").and(PLAIN, hook));
    }
}

fn decision(decided: &Entry) -> Line {
    let tone = match decided.verdict {
        Verdict::Block => ERROR,
        Verdict::Ask | Verdict::Warn | Verdict::Fault => WARN,
        Verdict::Watch | Verdict::Change | Verdict::Gate | Verdict::Review | Verdict::Record => DIM,
    };
    let at = decided.at();
    let time = at.get(11..19).unwrap_or_default();
    let names = [&decided.guard, &decided.code].into_iter().flatten();
    let mut who: Vec<String> = names.map(|name| Plain(name).to_string()).collect();
    if !who.is_empty() {
        who.push(" ".to_owned());
    }
    let reason = Plain(decided.reason.as_deref().unwrap_or("")).to_string();
    Line::new(DIM, format!("{time}  "))
        .and(tone, format!("{:<7}", decided.verdict.as_str()))
        .and(PLAIN, who.join(" "))
        .and(DIM, reason)
}

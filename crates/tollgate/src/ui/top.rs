//! A view as lines of a terminal.
//!
//! Names and messages of others go through [`Plain`]: a terminal obeys what is written to it.

use tollgate_core::state::journal::Decision;
use unicode_width::UnicodeWidthStr as _;

use crate::journal::Entry;
use crate::plain::{Plain, count, fit};
use crate::project_view::{Configured, ProjectView, Running, Workflow};

/// How a piece of a line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Strong,
    Dim,
    Good,
    Warn,
    Bad,
}

/// One line: pieces of text, each in its tone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line(pub(crate) Vec<(Tone, String)>);

/// How much room there is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) width: usize,
    pub(crate) height: usize,
}

impl Line {
    fn new(tone: Tone, text: impl Into<String>) -> Self {
        Self(vec![(tone, text.into())])
    }

    fn and(mut self, tone: Tone, text: impl Into<String>) -> Self {
        self.0.push((tone, text.into()));
        self
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
        Line::new(Tone::Strong, format!("Tollgate  {}", Plain(&view.project)))
            .and(Tone::Dim, format!("  {}", view.at)),
    ];
    for trouble in &view.troubles {
        lines.push(
            Line::new(Tone::Bad, "wrong     ").and(Tone::Plain, Plain(&trouble.what).to_string()),
        );
        lines.push(Line::new(
            Tone::Dim,
            format!("          next: {}", Plain(&trouble.next)),
        ));
    }
    for words in &view.allowed {
        lines.push(Line::new(Tone::Warn, format!("allowed   {}", Plain(words))));
    }
    workflow(view, room.width, &mut lines);
    gates(view, &mut lines);
    plan(view, &mut lines);
    figures(view, &mut lines);
    lines.push(Line::default());
    lines.push(Line::new(Tone::Strong, "Decisions, newest first"));
    if view.journal.recent.is_empty() {
        lines.push(Line::new(
            Tone::Dim,
            "  nothing was blocked, warned about or changed yet",
        ));
    }
    let left = room.height.saturating_sub(lines.len());
    lines.extend(view.journal.recent.iter().take(left).map(decision));
    lines.truncate(room.height);
    lines.into_iter().map(|line| line.cut(room.width)).collect()
}

fn workflow(view: &ProjectView, width: usize, lines: &mut Vec<Line>) {
    let name = Line::new(Tone::Dim, "workflow  ");
    match &view.workflow {
        Workflow::Idle { .. } => lines.push(name.and(Tone::Plain, "none is running")),
        Workflow::Broken { .. } => lines.push(name.and(Tone::Bad, "the state cannot be read")),
        Workflow::Running(running) => {
            let doing = running.doing.unwrap_or("contradicts itself");
            lines.push(
                name.and(Tone::Strong, Plain(&running.kind).to_string())
                    .and(Tone::Plain, format!("  {}", Plain(&running.description)))
                    .and(Tone::Dim, format!("  {doing}")),
            );
            phases(running, width, lines);
            if running.escalations > 0 {
                let waiting = count(running.escalations, "escalation");
                let text = format!("          {waiting} for a person to look at");
                lines.push(Line::new(Tone::Bad, text));
            }
        }
    }
}

/// The phases side by side, as many in a line as fit.
fn phases(running: &Running, width: usize, lines: &mut Vec<Line>) {
    let mut line = Line::new(Tone::Plain, "          ");
    let mut used = 10;
    for phase in &running.phases {
        let (sign, tone) = match phase.status.as_str() {
            "completed" => ("✔", Tone::Good),
            "in_progress" => ("▶", Tone::Strong),
            _ => ("·", Tone::Dim),
        };
        let text = format!("{sign} {}  ", Plain(&phase.key));
        if used + text.width() > width && used > 10 {
            lines.push(std::mem::replace(
                &mut line,
                Line::new(Tone::Plain, "          "),
            ));
            used = 10;
        }
        used += text.width();
        line = line.and(tone, text);
    }
    lines.push(line);
}

fn gates(view: &ProjectView, lines: &mut Vec<Line>) {
    let gates = &view.gates;
    let name = Line::new(Tone::Dim, "gates     ");
    let failing: Vec<_> = gates.all.iter().filter(|gate| gate.is_failing()).collect();
    lines.push(match (gates.configured, &gates.last) {
        (Configured::No, _) => name.and(Tone::Plain, "none"),
        (Configured::Wrong, _) => name.and(Tone::Bad, "the configuration is wrong"),
        (Configured::Yes, _) if gates.running.is_some() => name.and(Tone::Strong, "running now"),
        (Configured::Yes, Some(last)) => {
            let tone = if last.is_pass && failing.is_empty() {
                Tone::Good
            } else {
                Tone::Bad
            };
            name.and(tone, last.label)
                .and(Tone::Dim, format!("  {}", last.at))
        }
        (Configured::Yes, None) => name.and(Tone::Plain, "not run yet"),
    });
    for gate in failing {
        lines.push(
            Line::new(Tone::Bad, format!("          ✗ {}", Plain(&gate.id)))
                .and(Tone::Plain, format!("  {}", Plain(&gate.message))),
        );
        let tail = gate.tail.as_deref().unwrap_or_default();
        let is_output = |line: &&str| !line.trim().is_empty() && !is_ours(line);
        if let Some(last) = tail.lines().rfind(is_output) {
            lines.push(Line::new(Tone::Dim, format!("            {}", Plain(last))));
        }
    }
}

fn plan(view: &ProjectView, lines: &mut Vec<Line>) {
    if let Some(plan) = &view.plan {
        let (closed, all) = plan.tasks;
        lines.push(
            Line::new(Tone::Dim, "plan      ")
                .and(Tone::Plain, Plain(&plan.id).to_string())
                .and(
                    Tone::Dim,
                    format!(
                        "  {}, {closed} of {all} tasks closed, {}",
                        plan.phase.as_deref().unwrap_or("no state"),
                        count(plan.rounds.len(), "review")
                    ),
                ),
        );
    }
}

fn figures(view: &ProjectView, lines: &mut Vec<Line>) {
    let past = &view.journal;
    let counts = past.counts;
    lines.push(Line::new(Tone::Dim, "journal   ").and(
        Tone::Plain,
        format!(
            "{}, {}, {}; {}, {} for ${:.2}",
            count(counts.block, "block"),
            count(counts.warn, "warning"),
            count(counts.fault, "fault"),
            count(counts.gate, "check"),
            count(counts.review, "review"),
            past.cost.usd
        ),
    ));
    let latency = &past.latency;
    if latency.count > 0 {
        lines.push(Line::new(Tone::Dim, "hook      ").and(
            Tone::Plain,
            format!(
                "median {:.2} ms, 95 % within {:.2} ms, at most {:.2} ms (events written down)",
                latency.median_ms, latency.p95_ms, latency.max_ms
            ),
        ));
    }
}

fn decision(decided: &Entry) -> Line {
    let tone = match decided.verdict {
        Decision::Block => Tone::Bad,
        Decision::Warn | Decision::Fault => Tone::Warn,
        Decision::Change | Decision::Gate | Decision::Review | Decision::Record => Tone::Dim,
    };
    let at = decided.at();
    let time = at.get(11..19).unwrap_or_default();
    let names = [&decided.guard, &decided.code].into_iter().flatten();
    let mut who: Vec<String> = names.map(|name| Plain(name).to_string()).collect();
    if !who.is_empty() {
        who.push(" ".to_owned());
    }
    Line::new(Tone::Dim, format!("{time}  "))
        .and(tone, format!("{:<7}", decided.verdict.as_str()))
        .and(Tone::Plain, who.join(" "))
        .and(
            Tone::Dim,
            Plain(decided.reason.as_deref().unwrap_or("")).to_string(),
        )
}

/// Whether a line of a check's log is Tollgate's: it begins with the moment in brackets.
fn is_ours(line: &str) -> bool {
    let moment = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    moment.is_some_and(|(moment, _)| tollgate_core::state::timestamp::parse(moment).is_some())
}

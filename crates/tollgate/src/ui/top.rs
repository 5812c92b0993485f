//! A view as lines of a terminal.
//!
//! Names and messages of others go through [`Plain`]: a terminal obeys what is written to it.

use anstyle::Style;
use tollgate_store::journal::Verdict;
use unicode_width::UnicodeWidthStr as _;

use crate::armed;
use crate::gate::evidence::SIGN;
use crate::journal::Entry;
use crate::plain::{BOLD, DIM, ERROR, GOOD, Plain, WARN, count, fit};
use crate::project_view::{Configured, ProjectView, Running, Workflow};

const PLAIN: Style = Style::new();

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
            .and(DIM, format!("  {}", view.at)),
    ];
    for trouble in &view.troubles {
        lines.push(Line::new(ERROR, "wrong     ").and(PLAIN, Plain(&trouble.what).to_string()));
        let next = format!("          next: {}", Plain(&trouble.next));
        lines.push(Line::new(DIM, next));
    }
    for words in &view.allowed {
        lines.push(Line::new(WARN, format!("allowed   {}", Plain(words))));
    }
    let armed = armed::summary(&view.agents);
    lines.push(Line::new(DIM, "agents    ").and(PLAIN, Plain(&armed).to_string()));
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

fn workflow(view: &ProjectView, width: usize, lines: &mut Vec<Line>) {
    let name = Line::new(DIM, "workflow  ");
    match &view.workflow {
        Workflow::Idle { .. } => lines.push(name.and(PLAIN, "none is running")),
        Workflow::Broken { .. } => lines.push(name.and(ERROR, "the state cannot be read")),
        Workflow::Running(running) => {
            let doing = running.doing.unwrap_or("contradicts itself");
            lines.push(
                name.and(BOLD, Plain(&running.kind).to_string())
                    .and(PLAIN, format!("  {}", Plain(&running.description)))
                    .and(DIM, format!("  {doing}")),
            );
            phases(running, width, lines);
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
    let why = gates.why.as_deref().unwrap_or_default();
    lines.push(match (gates.configured, gates.verification) {
        (Configured::No, _) => name.and(PLAIN, "none"),
        (Configured::Wrong, _) => name.and(ERROR, "the configuration is wrong"),
        (Configured::Yes, _) if gates.running.is_some() => name.and(BOLD, "running now"),
        (Configured::Yes, Some("verified")) => name.and(GOOD, format!("{SIGN} verified")),
        (Configured::Yes, Some("unknown")) => {
            name.and(WARN, format!("cannot tell: {}", Plain(why)))
        }
        (Configured::Yes, _) => {
            let tone = if failing.is_empty() { WARN } else { ERROR };
            name.and(tone, format!("not verified: {}", Plain(why)))
        }
    });
    for gate in failing {
        lines.push(
            Line::new(ERROR, format!("          ✗ {}", Plain(&gate.id)))
                .and(PLAIN, format!("  {}", Plain(&gate.message))),
        );
        let tail = gate.tail.as_deref().unwrap_or_default();
        let is_output = |line: &&str| !line.trim().is_empty() && !is_ours(line);
        if let Some(last) = tail.lines().rfind(is_output) {
            lines.push(Line::new(DIM, format!("            {}", Plain(last))));
        }
    }
}

fn plan(view: &ProjectView, lines: &mut Vec<Line>) {
    let Some(plan) = &view.plan else {
        return;
    };
    let ((closed, all), phase) = (plan.tasks, plan.phase_name());
    let reviews = count(plan.rounds.len(), "review");
    let more = format!("  {phase}, {closed} of {all} tasks closed, {reviews}");
    let name = Line::new(DIM, "plan      ").and(PLAIN, Plain(&plan.id).to_string());
    lines.push(name.and(DIM, more));
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
        let hook = format!(
            "median {:.2} ms, 95 % within {:.2} ms, at most {:.2} ms (events written down)",
            latency.median_ms, latency.p95_ms, latency.max_ms
        );
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

/// Whether a line of a check's log is Tollgate's: it begins with the moment in brackets.
fn is_ours(line: &str) -> bool {
    let moment = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    moment.is_some_and(|(moment, _)| tollgate_store::timestamp::parse(moment).is_some())
}

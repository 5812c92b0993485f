//! The top of the page: the state of things in a few words, and what is wrong.

use super::html::Html;
use super::{duration, moment};
use crate::ui::plain::count;
use crate::ui::snapshot::{Configured, Snapshot, Workflow};

pub(super) fn now(snapshot: &Snapshot, html: &mut Html) {
    html.raw("<section id=\"now\" aria-labelledby=\"now-title\"><h2 id=\"now-title\">Now</h2>");
    troubles(snapshot, html);
    allowed(snapshot, html);
    html.raw("<dl class=\"cards\">");
    workflow(snapshot, html);
    gates(snapshot, html);
    plan(snapshot, html);
    let counts = snapshot.journal.counts;
    let tone = if counts.block > 0 { "warn" } else { "plain" };
    let more = format!(
        "{}, {}",
        count(counts.warn, "warning"),
        count(counts.fault, "fault")
    );
    card(html, tone, "Blocked", &counts.block.to_string(), &more);
    let cost = &snapshot.journal.cost;
    let tokens = cost.input_tokens + cost.output_tokens;
    let more = match cost.unknown {
        0 => format!("{tokens} tokens"),
        unknown => format!("{tokens} tokens; {} did not tell", count(unknown, "review")),
    };
    card(
        html,
        "plain",
        "Reviews cost",
        &format!("${:.2}", cost.usd),
        &more,
    );
    let latency = &snapshot.journal.latency;
    if latency.count > 0 {
        let more = format!("95 % within {}", duration(latency.p95_ms));
        card(
            html,
            "plain",
            "Hook, median",
            &duration(latency.median_ms),
            &more,
        );
    }
    html.raw("</dl></section>");
}

fn troubles(snapshot: &Snapshot, html: &mut Html) {
    if snapshot.troubles.is_empty() {
        return;
    }
    html.raw("<div class=\"troubles\" role=\"group\" aria-label=\"What is wrong\"><ul>");
    for trouble in &snapshot.troubles {
        html.raw("<li><strong>")
            .text(&trouble.what)
            .raw("</strong> <span>Next: ");
        html.text(&trouble.next).raw("</span></li>");
    }
    html.raw("</ul></div>");
}

fn allowed(snapshot: &Snapshot, html: &mut Html) {
    for words in &snapshot.allowed {
        html.raw("<p class=\"allowed\">").text(words).raw("</p>");
    }
}

fn workflow(snapshot: &Snapshot, html: &mut Html) {
    let name = "Workflow";
    match &snapshot.workflow {
        Workflow::Idle { last: None } => card(html, "plain", name, "none", "none has run here yet"),
        Workflow::Idle { last: Some(last) } => {
            card(
                html,
                "plain",
                name,
                "none",
                &format!("the last one: {last}"),
            );
        }
        Workflow::Broken { .. } => card(html, "bad", name, "unreadable", "see above"),
        Workflow::Running(running) => {
            let tone = if running.escalations > 0 {
                "bad"
            } else {
                "busy"
            };
            let mut more = format!(
                "{} of {} phases done, {}",
                running.completed(),
                running.phases.len(),
                running.doing.unwrap_or("contradicts itself")
            );
            if running.escalations > 0 {
                more = format!(
                    "{} escalations wait for a person; {more}",
                    running.escalations
                );
            }
            card(
                html,
                tone,
                name,
                running.current.as_deref().unwrap_or("?"),
                &more,
            );
        }
    }
}

fn gates(snapshot: &Snapshot, html: &mut Html) {
    let gates = &snapshot.gates;
    let failing = gates.all.iter().filter(|gate| gate.is_failing()).count();
    let green = gates.green.as_ref();
    let green = green.map_or("never seen green".to_owned(), |green| {
        let tree: String = green.tree.chars().take(10).collect();
        format!("last green {} on tree {tree}", moment(&green.at))
    });
    let (tone, word) = match (gates.configured, &gates.last) {
        (Configured::No, _) => return card(html, "plain", "Gates", "none", "no config.yml"),
        (Configured::Wrong, _) => {
            return card(html, "bad", "Gates", "misconfigured", "see above");
        }
        (Configured::Yes, _) if gates.running.is_some() => ("busy", "running".to_owned()),
        (Configured::Yes, _) if failing > 0 => ("bad", format!("{failing} failing")),
        (Configured::Yes, Some(last)) if last.is_pass => ("good", last.label.to_owned()),
        (Configured::Yes, Some(last)) => ("warn", last.label.to_owned()),
        (Configured::Yes, None) => ("plain", "not run yet".to_owned()),
    };
    card(html, tone, "Gates", &word, &green);
}

fn plan(snapshot: &Snapshot, html: &mut Html) {
    if let Some(plan) = &snapshot.plan {
        if plan.is_broken {
            return card(html, "bad", "Plan", "unreadable", "see above");
        }
        let (closed, all) = plan.tasks;
        let more = format!("{}; {closed} of {all} tasks closed", plan.phase_name());
        card(html, "plain", "Plan", &plan.id, &more);
    }
}

fn card(html: &mut Html, tone: &'static str, name: &'static str, value: &str, more: &str) {
    html.raw("<div class=\"card ")
        .raw(tone)
        .raw("\"><dt>")
        .raw(name);
    html.raw("</dt><dd><b>")
        .text(value)
        .raw("</b> <span>")
        .text(more);
    html.raw("</span></dd></div>");
}

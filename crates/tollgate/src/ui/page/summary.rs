//! The top of the page: the state of things in a few words, and what is wrong.

use maud::{Markup, html};

use crate::armed;
use crate::plain::{count, duration};
use crate::project_view::{Configured, ProjectView, Workflow};

pub(super) fn now(view: &ProjectView) -> Markup {
    let counts = view.journal.counts;
    let tone = if counts.block > 0 { "warn" } else { "plain" };
    let warned = format!(
        "{}, {}",
        count(counts.warn, "warning"),
        count(counts.fault, "fault")
    );
    let cost = &view.journal.cost;
    let tokens = cost.input_tokens + cost.output_tokens;
    let spent = match cost.unknown {
        0 => format!("{tokens} tokens"),
        unknown => format!("{tokens} tokens; {} did not tell", count(unknown, "review")),
    };
    let latency = &view.journal.latency;
    html! {
        section #now aria-labelledby="now-title" {
            h2 #now-title { "Now" }
            (troubles(view))
            @for words in &view.allowed { p.allowed { (words) } }
            dl.cards {
                (agents(view))
                (workflow(view))
                (gates(view))
                (plan(view))
                (card(tone, "Blocked", &counts.block.to_string(), &warned))
                (card("plain", "Reviews cost", &format!("${:.2}", cost.usd), &spent))
                @if latency.count > 0 {
                    @let within = format!("95 % within {}", duration(latency.p95_ms));
                    (card("plain", "Hook, median", &duration(latency.median_ms), &within))
                }
            }
        }
    }
}

fn troubles(view: &ProjectView) -> Markup {
    html! {
        @if !view.troubles.is_empty() {
            div.troubles role="group" aria-label="What is wrong" {
                ul {
                    @for trouble in &view.troubles {
                        li { strong { (trouble.what) } " " span { "Next: " (trouble.next) } }
                    }
                }
            }
        }
    }
}

fn agents(view: &ProjectView) -> Markup {
    let tone = match view.agents.iter().find(|one| one.armed) {
        Some(_) => "good",
        None if view.agents.is_empty() => "bad",
        None => "warn",
    };
    let said = view.agents.iter();
    let said = said.map(|one| format!("{} ({}): {}", one.agent, one.file, one.state));
    let said: Vec<String> = said.collect();
    card(
        tone,
        "Agents",
        &armed::summary(&view.agents),
        &said.join("; "),
    )
}

fn workflow(view: &ProjectView) -> Markup {
    let name = "Workflow";
    match &view.workflow {
        Workflow::Idle { last: None } => card("plain", name, "none", "none has run here yet"),
        Workflow::Idle { last: Some(last) } => {
            card("plain", name, "none", &format!("the last one: {last}"))
        }
        Workflow::Broken { .. } => card("bad", name, "unreadable", "see above"),
        Workflow::Running(running) => {
            let mut tone = "busy";
            let mut more = format!(
                "{} of {} phases done, {}",
                running.completed(),
                running.phases.len(),
                running.doing.unwrap_or("contradicts itself")
            );
            if running.escalations > 0 {
                tone = "bad";
                more = format!(
                    "{} escalations wait for a person; {more}",
                    running.escalations
                );
            }
            card(tone, name, running.current.as_deref().unwrap_or("?"), &more)
        }
    }
}

fn gates(view: &ProjectView) -> Markup {
    let gates = &view.gates;
    let failing = gates.all.iter().filter(|gate| gate.is_failing()).count();
    let (tone, word) = match (gates.configured, gates.verification) {
        (Configured::No, _) => return card("plain", "Gates", "none", "none configured"),
        (Configured::Wrong, _) => return card("bad", "Gates", "misconfigured", "see above"),
        (Configured::Yes, _) if gates.running.is_some() => ("busy", "running".to_owned()),
        (Configured::Yes, Some("verified")) => ("good", "verified".to_owned()),
        (Configured::Yes, _) if failing > 0 => ("bad", format!("{failing} failing")),
        (Configured::Yes, Some("unknown")) => ("warn", "cannot tell".to_owned()),
        (Configured::Yes, _) => ("warn", "not verified".to_owned()),
    };
    let why = gates.why.as_deref().unwrap_or("on the work as it is");
    card(tone, "Gates", &word, why)
}

fn plan(view: &ProjectView) -> Markup {
    let Some(plan) = &view.plan else {
        return html! {};
    };
    if plan.is_broken {
        return card("bad", "Plan", "unreadable", "see above");
    }
    let (closed, all) = plan.tasks;
    let more = format!("{}; {closed} of {all} tasks closed", plan.phase_name());
    card("plain", "Plan", &plan.id, &more)
}

fn card(tone: &str, name: &str, value: &str, more: &str) -> Markup {
    html! {
        div class={ "card " (tone) } {
            dt { (name) }
            dd { b { (value) } " " span { (more) } }
        }
    }
}

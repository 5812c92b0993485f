//! The top of the page: whether agents are under guard, whether the work is verified, the state of
//! things in a few words, and what is wrong.

use maud::{Markup, Render, html};
use tollgate_store::timestamp::iso;

use super::time;
use crate::armed;
use crate::gate::evidence::Verification;
use crate::plain::{count, duration};
use crate::project_view::{Configured, Gate, ProjectView, Workflow};

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
        unknown => format!(
            "{tokens} tokens; {} without figures",
            count(unknown, "review")
        ),
    };
    let latency = &view.journal.latency;
    html! {
        section #now aria-labelledby="now-title" {
            h2.hidden #now-title { "Now" }
            div.verdicts { (agents(view)) (gates(view)) }
            (troubles(view))
            @for words in &view.allowed { p.allowed { (words) } }
            dl.cards {
                (workflow(view))
                (plan(view))
                (card(tone, "Blocks", &counts.block.to_string(), &warned))
                (card("plain", "Cost of reviews", &format!("${:.2}", cost.usd), &spent))
                @if latency.count > 0 {
                    @let median = duration(latency.median_ms);
                    (card("plain", "Hook, median", &median, &latency.spread()))
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

/// Whether an agent is under guard.
fn agents(view: &ProjectView) -> Markup {
    let is_armed = view.agents.iter().any(|one| one.armed);
    let (tone, word) = match is_armed {
        true => ("good", "Armed"),
        false if view.agents.is_empty() => ("bad", "Not armed"),
        false => ("warn", "Not armed"),
    };
    let next = html! { code { "tollgate install" } " registers it." };
    verdict(
        tone,
        word,
        html! {
            @if view.agents.is_empty() {
                "Tollgate is " (armed::summary(&[])) ". " (next)
            } @else {
                ul { @for one in &view.agents { li { (one.words()) } } }
            }
        },
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
                "{}; {} of {} phases completed",
                running.doing.unwrap_or("contradicts itself"),
                running.completed(),
                running.phases.len()
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

/// Whether the work as it is is verified; if not, what is missing.
fn gates(view: &ProjectView) -> Markup {
    let gates = &view.gates;
    if gates.configured != Configured::Wrong && gates.all.is_empty() {
        let why = html! { "There are no gates. " code { "tollgate init" } " proposes some." };
        return verdict("plain", "Not verified", why);
    }
    let next = html! { p { "Next: " code { "tollgate run" } } };
    let is_failing = gates.all.iter().any(Gate::is_failing);
    match (&gates.verdict, gates.configured) {
        (None, _) | (_, Configured::No | Configured::Wrong) => verdict(
            "bad",
            "Not verified",
            html! { "The gates' configuration is wrong; see below." },
        ),
        (Some(_), _) if gates.running.is_some() => verdict(
            "busy",
            "Not verified yet",
            html! { "Gates are running now." },
        ),
        (Some(Verification::Verified { at }), _) => verdict(
            "good",
            "Verified",
            html! {
                "Every gate, on the current files. The oldest evidence is of " (time(&iso(*at))) "."
            },
        ),
        (Some(Verification::Unknown(why)), _) => {
            verdict("warn", "Cannot tell", html! { (why) (next) })
        }
        (Some(Verification::Not(why)), _) => {
            let tone = if is_failing { "bad" } else { "warn" };
            verdict(tone, "Not verified", html! { (why) (next) })
        }
    }
}

fn verdict(tone: &str, word: &str, why: impl Render) -> Markup {
    html! { div class={ "verdict " (tone) } { p.word { (word) } div { (why) } } }
}

fn plan(view: &ProjectView) -> Markup {
    let Some(plan) = &view.plan else {
        return html! {};
    };
    if plan.is_broken {
        return card("bad", "Plan", "unreadable", "see above");
    }
    let (closed, all) = plan.tasks;
    let (tone, at) = match &plan.ended {
        Some(ended) => ("warn", ended.as_str()),
        None => ("plain", plan.phase_name()),
    };
    card(
        tone,
        "Plan",
        &plan.id,
        &format!("{at}; {closed} of {all} tasks closed"),
    )
}

fn card(tone: &str, name: &str, value: &str, more: &str) -> Markup {
    html! {
        div class={ "card " (tone) } {
            dt { (name) }
            dd { b { (value) } " " span { (more) } }
        }
    }
}

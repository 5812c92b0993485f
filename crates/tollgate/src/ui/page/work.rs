//! The workflow's phases, and the plan with its rounds.

use maud::{Markup, html};

use super::{badge, minutes_words, nothing, time};
use crate::plain::count;
use crate::project_view::{ProjectView, Running, Workflow};

pub(super) fn workflow(view: &ProjectView) -> Markup {
    match &view.workflow {
        Workflow::Idle { last } => html! {
            (nothing(html! {
                "No workflow is running. " code { "tollgate workflow start" } " begins one."
            }))
            @if let Some(last) = last { p { "The last one: " (last) } }
        },
        Workflow::Broken { what } => html! { p.bad { "The state cannot be read: " (what) } },
        Workflow::Running(running) => phases(running),
    }
}

fn phases(running: &Running) -> Markup {
    html! {
        p { b { (running.name()) } " " (running.description) }
        p {
            (running.progress())
            @if let Some(due) = &running.due { ". Next: " code { (due.next) } }
        }
        p.dim {
            @if !running.started_at.is_empty() { "since " (time(&running.started_at)) ", " }
            "budget " (running.budget)
            @if let Some(branch) = &running.branch { ", branch " (branch) }
            @if let Some(version) = running.version { ", state version " (version) }
        }
        ol.phases {
            @for phase in &running.phases {
                @let is_current = running.current.as_ref() == Some(&phase.key);
                li class=[is_current.then_some("current")] aria-current=[is_current.then_some("step")] {
                    span.id { (phase.key) } " " (badge(&phase.words()))
                    @if let Some(minutes) = phase.minutes {
                        " " span.dim { (minutes_words(minutes)) }
                    }
                    @if phase.retries > 0 {
                        " " span.dim { "begun again " (count(phase.retries, "time")) }
                    }
                    @if let Some(summary) = &phase.summary { p { (summary) } }
                }
            }
        }
    }
}

pub(super) fn plan(view: &ProjectView) -> Markup {
    let Some(plan) = &view.plan else {
        return nothing(html! {
            "There is no plan. " code { "tollgate plan new ID" } " begins one."
        });
    };
    if plan.is_broken {
        return html! { p.bad { "The state of " (plan.id) " cannot be read; see above." } };
    }
    let (closed, all) = plan.tasks;
    html! {
        p {
            b { (plan.id) } " " (plan.stage.unwrap_or("no stage"))
            "; phase " (plan.phase.as_deref().unwrap_or("unknown"))
            @if let Some(task) = &plan.task { ", task " (task) }
            @if let Some(next) = &plan.next { "; next " (next) }
            "."
        }
        p {
            (closed) " of " (all) " tasks closed"
            // Without a state nothing is known of its reviews, not even how many there may be.
            @if plan.phase.is_some() {
                "; " (plan.clean_in_a_row.min(2)) " of 2 clean reviews in a row, at most "
                (plan.max_reviews) " rounds"
            }
            "."
        }
        @if !plan.errors.is_empty() {
            ul.findings { @for error in &plan.errors { li { (error) } } }
        }
        @if plan.rounds.is_empty() {
            (nothing("No review of it was made yet."))
        } @else {
            ol.phases {
                @for round in plan.rounds.iter().rev() {
                    li {
                        (badge(&round.verdict)) " " (round.line()) " "
                        span.dim { (time(&round.at)) " " (round.file) }
                    }
                }
            }
        }
    }
}

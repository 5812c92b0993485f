//! The workflow's phases, and the plan with its rounds.

use super::html::Html;
use super::{badge, duration, moment, nothing};
use crate::ui::plain::count;
use crate::ui::snapshot::{Running, Snapshot, Workflow};

pub(super) fn workflow(snapshot: &Snapshot, html: &mut Html) {
    match &snapshot.workflow {
        Workflow::Idle { last } => {
            nothing(
                html,
                "No workflow is running. <code>tollgate workflow start</code> begins one.",
            );
            if let Some(last) = last {
                html.raw("<p>The last one: ").text(last).raw("</p>");
            }
        }
        Workflow::Broken { what } => {
            html.raw("<p class=\"bad\">The state cannot be read: ")
                .text(what)
                .raw("</p>");
        }
        Workflow::Running(running) => phases(running, html),
    }
}

fn phases(running: &Running, html: &mut Html) {
    html.raw("<p><b>")
        .text(&running.kind)
        .raw("</b> ")
        .text(&running.description);
    html.raw("</p><p class=\"dim\">");
    if !running.started_at.is_empty() {
        html.raw("since ")
            .text(moment(&running.started_at))
            .raw(", ");
    }
    html.raw("budget ").text(&running.budget);
    if let Some(branch) = &running.branch {
        html.raw(", branch ").text(branch);
    }
    if let Some(version) = running.version {
        html.raw(", state version ").text(version);
    }
    html.raw("</p><ol class=\"phases\">");
    for phase in &running.phases {
        html.raw("<li");
        if running.current.as_ref() == Some(&phase.key) {
            html.raw(" class=\"current\" aria-current=\"step\"");
        }
        html.raw(">");
        badge(html, &phase.status);
        html.raw(" <span class=\"id\">")
            .text(&phase.key)
            .raw("</span>");
        if let Some(minutes) = phase.minutes {
            html.raw(" <span class=\"dim\">")
                .text(duration(minutes * 60_000.0))
                .raw("</span>");
        }
        if phase.retries > 0 {
            html.raw(" <span class=\"dim\">begun again ")
                .text(count(phase.retries, "time"))
                .raw("</span>");
        }
        if let Some(summary) = &phase.summary {
            html.raw("<p>").text(summary).raw("</p>");
        }
        html.raw("</li>");
    }
    html.raw("</ol>");
}

pub(super) fn plan(snapshot: &Snapshot, html: &mut Html) {
    let Some(plan) = &snapshot.plan else {
        nothing(
            html,
            "There is no plan. <code>tollgate plan new ID</code> begins one.",
        );
        return;
    };
    if plan.is_broken {
        html.raw("<p class=\"bad\">The state of ").text(&plan.id);
        html.raw(" cannot be read; see above.</p>");
        return;
    }
    let (closed, all) = plan.tasks;
    html.raw("<p><b>").text(&plan.id).raw("</b> ");
    html.text(plan.stage.unwrap_or("no stage"));
    html.raw("; phase ")
        .text(plan.phase.as_deref().unwrap_or("unknown"));
    if let Some(task) = &plan.task {
        html.raw(", task ").text(task);
    }
    html.raw("; next ")
        .text(plan.next.as_deref().unwrap_or("nothing by itself"));
    html.raw(".</p><p>")
        .text(closed)
        .raw(" of ")
        .text(all)
        .raw(" tasks closed");
    // Without a state nothing is known of its reviews, not even how many there may be.
    if plan.phase.is_some() {
        html.raw("; ")
            .text(plan.clean_in_a_row.min(2))
            .raw(" of 2 clean reviews in a row, at most ");
        html.text(plan.max_reviews).raw(" rounds");
    }
    html.raw(".</p>");
    if !plan.errors.is_empty() {
        html.raw("<ul class=\"findings\">");
        for error in &plan.errors {
            html.raw("<li>").text(error).raw("</li>");
        }
        html.raw("</ul>");
    }
    if plan.rounds.is_empty() {
        nothing(html, "No review of it was made yet.");
        return;
    }
    html.raw("<ol class=\"phases\">");
    for round in plan.rounds.iter().rev() {
        html.raw("<li>");
        badge(html, &round.verdict);
        html.raw(" ")
            .text(round.line())
            .raw(" <span class=\"dim\">");
        html.text(moment(&round.at))
            .raw(" ")
            .text(&round.file)
            .raw("</span></li>");
    }
    html.raw("</ol>");
}

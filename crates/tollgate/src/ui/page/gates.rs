//! The gates with the end of their output, and the reviews with their findings.

use super::html::Html;
use super::{badge, duration, moment, nothing};
use crate::ui::snapshot::{Configured, Finding, Gate, Reviewed, Snapshot};

pub(super) fn list(snapshot: &Snapshot, html: &mut Html) {
    let gates = &snapshot.gates;
    match gates.configured {
        Configured::No => {
            nothing(
                html,
                "This project has no gates. <code>tollgate init</code> proposes some.",
            );
            return;
        }
        Configured::Wrong => {
            nothing(
                html,
                "The configuration of the gates is wrong; nothing can run.",
            );
            return;
        }
        Configured::Yes => {}
    }
    if let Some(last) = &gates.last {
        html.raw("<p>Last run: ")
            .text(last.label)
            .raw(", ")
            .text(moment(&last.at));
        html.raw(", branch ")
            .text(&last.branch)
            .raw(", attempt ")
            .text(last.attempts.max(1))
            .raw(".</p>");
    }
    if let Some(process) = gates.running {
        html.raw("<p>Process ")
            .text(process)
            .raw(" is running gates now.</p>");
    }
    for gate in gates.all.iter().filter(|gate| gate.kind == "check") {
        one(gate, html);
    }
    if gates.all.iter().all(|gate| gate.kind != "check") {
        nothing(html, "There are no checks.");
    }
}

fn one(gate: &Gate, html: &mut Html) {
    html.raw("<details id=\"gate-")
        .text(&gate.id)
        .raw("\" class=\"check\"");
    if gate.is_failing() {
        html.raw(" open");
    }
    html.raw("><summary>");
    badge(html, gate.result.as_deref().unwrap_or("not run yet"));
    html.raw(" <span class=\"id\">")
        .text(&gate.id)
        .raw("</span> ");
    if let Some(ms) = gate.ms {
        html.element("span", "dim", duration(ms));
    }
    html.raw(" <span class=\"dim\">")
        .text(&gate.message)
        .raw("</span></summary>");
    if let Some(at) = &gate.at {
        html.raw("<p class=\"dim\">").text(moment(at)).raw("</p>");
    }
    match &gate.tail {
        Some(tail) if !tail.trim().is_empty() => {
            html.raw("<pre tabindex=\"0\" aria-label=\"The end of its output\">")
                .text(tail)
                .raw("</pre>");
        }
        Some(_) => nothing(html, "It printed nothing."),
        None => nothing(html, "There is no log of it."),
    }
    if let Some(log) = &gate.log {
        html.raw("<p class=\"dim\">The end of <code>")
            .text(log)
            .raw("</code></p>");
    }
    html.raw("</details>");
}

pub(super) fn reviews(snapshot: &Snapshot, html: &mut Html) {
    let mut all = snapshot
        .gates
        .all
        .iter()
        .filter(|gate| gate.kind == "review")
        .peekable();
    if all.peek().is_none() {
        nothing(html, "There are no reviews among the gates.");
    }
    for gate in all {
        html.raw("<h3>");
        badge(html, gate.result.as_deref().unwrap_or("not run yet"));
        html.raw(" <span class=\"id\">")
            .text(&gate.id)
            .raw("</span></h3>");
        if !gate.message.is_empty() {
            html.raw("<p>").text(&gate.message).raw("</p>");
        }
        for reviewed in &gate.reviews {
            by_reviewer(reviewed, html);
        }
    }
}

fn by_reviewer(reviewed: &Reviewed, html: &mut Html) {
    html.raw("<h4>").text(&reviewed.reviewer);
    if let Some(run) = reviewed.passed_in {
        html.raw(" <span class=\"dim\">passed in run ")
            .text(run)
            .raw("</span>");
    }
    html.raw("</h4>");
    if let Some(trouble) = &reviewed.trouble {
        html.raw("<p class=\"dim\">").text(trouble).raw("</p>");
    }
    if reviewed.findings.is_empty() {
        nothing(html, "No findings.");
        return;
    }
    html.raw("<ul class=\"findings\">");
    for finding in &reviewed.findings {
        found(finding, html);
    }
    html.raw("</ul>");
}

fn found(finding: &Finding, html: &mut Html) {
    html.raw("<li>");
    badge(html, finding.status);
    if let Some(priority) = finding.priority {
        html.raw(" ");
        html.element("span", "badge plain", priority);
    }
    if finding.is_advisory {
        html.raw(" <span class=\"badge plain\">advisory</span>");
    }
    html.raw(" <code>")
        .text(&finding.place)
        .raw("</code><p>")
        .text(&finding.issue)
        .raw("</p>");
    if let Some(fix) = &finding.fix {
        html.raw("<p class=\"dim\">Fix: ").text(fix).raw("</p>");
    }
    if let Some(answer) = &finding.answer {
        html.raw("<p class=\"dim\">Answer: ")
            .text(answer)
            .raw("</p>");
    }
    html.raw("</li>");
}

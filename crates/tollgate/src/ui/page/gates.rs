//! The gates with their output, open where one failed, and the reviews with their findings.

use maud::{Markup, html};

use super::{badge, nothing, time};
use crate::plain::duration;
use crate::project_view::{Configured, Finding, Gate, ProjectView, Reviewed};

pub(super) fn list(view: &ProjectView) -> Markup {
    let gates = &view.gates;
    match gates.configured {
        Configured::Yes if !gates.all.is_empty() => {}
        Configured::No | Configured::Yes => {
            return nothing(html! {
                "This project has no gates. " code { "tollgate init" } " proposes some."
            });
        }
        Configured::Wrong => {
            return nothing("The configuration of the gates is wrong; nothing can run.");
        }
    }
    let checks = || gates.all.iter().filter(|gate| gate.kind == "check");
    html! {
        @if let Some(last) = &gates.last {
            p {
                "Last run: " (last.label) ", " (time(&last.at)) ", branch " (last.branch)
                "."
            }
        }
        @if let Some(process) = gates.running {
            p { "Process " (process) " is running gates now." }
        }
        @for gate in checks() { (one(gate)) }
        @if checks().next().is_none() { (nothing("There are no checks.")) }
    }
}

fn one(gate: &Gate) -> Markup {
    html! {
        details.check id={ "gate-" (gate.id) } open[gate.is_failing()] {
            summary {
                (result(gate)) " " span.id { (gate.id) } " "
                @if let Some(ms) = gate.ms { span.dim { (duration(ms)) } }
                " " span.dim { (said(gate)) }
            }
            @if let Some(at) = &gate.at { p.dim { (time(at)) } }
            @match (&gate.excerpt, &gate.tail) {
                (_, None) => { (nothing("There is no log of it.")) }
                (_, Some(tail)) if tail.trim().is_empty() => { (nothing("It printed nothing.")) }
                (Some(excerpt), Some(tail)) if !excerpt.is_empty() => {
                    pre.failure tabindex="0" aria-label="What failed" { (excerpt) }
                    @if excerpt != tail {
                        details id={ "end-" (gate.id) } {
                            summary { "The end of its output" }
                            pre tabindex="0" aria-label="The end of its output" { (tail) }
                        }
                    }
                }
                (_, Some(tail)) => {
                    pre tabindex="0" aria-label="The end of its output" { (tail) }
                }
            }
            @if let Some(log) = &gate.log { p.dim { "All of it is in " code { (log) } } }
        }
    }
}

/// What is known about a gate besides the word that its badge has already.
fn said(gate: &Gate) -> &str {
    let word = gate.verification.replace('_', " ");
    let rest = gate.message.strip_prefix(&word).unwrap_or(&gate.message);
    rest.trim_start_matches([':', ',', ' '])
}

fn result(gate: &Gate) -> Markup {
    badge(gate.verification)
}

pub(super) fn reviews(view: &ProjectView) -> Markup {
    let reviews = || {
        let all = view.gates.all.iter();
        all.filter(|gate| gate.kind == "review")
    };
    html! {
        @if reviews().next().is_none() { (nothing("There are no reviews among the gates.")) }
        @for gate in reviews() {
            h3 { (result(gate)) " " span.id { (gate.id) } }
            @if !said(gate).is_empty() { p { (said(gate)) } }
            @for reviewed in &gate.reviews { (by_reviewer(reviewed)) }
        }
    }
}

fn by_reviewer(reviewed: &Reviewed) -> Markup {
    html! {
        h4 {
            (reviewed.reviewer)
            @if let Some(run) = reviewed.passed_in { " " span.dim { "passed in run " (run) } }
        }
        @if let Some(trouble) = &reviewed.trouble { p.dim { (trouble) } }
        @if reviewed.findings.is_empty() {
            (nothing("No findings."))
        } @else {
            ul.findings { @for finding in &reviewed.findings { (found(finding)) } }
        }
    }
}

fn found(finding: &Finding) -> Markup {
    html! {
        li {
            (badge(finding.status))
            @if let Some(priority) = finding.priority { " " span.badge.plain { (priority) } }
            @if finding.is_advisory { " " span.badge.plain { "advisory" } }
            " " code { (finding.place) } p { (finding.issue) }
            @if let Some(fix) = &finding.fix { p.dim { "Fix: " (fix) } }
            @if let Some(answer) = &finding.answer { p.dim { "Answer: " (answer) } }
        }
    }
}

//! The last decisions, newest first.

use maud::{Markup, Render, html};

use super::{badge, moment, nothing};
use crate::journal::Entry;
use crate::plain::{count, duration};
use crate::project_view::ProjectView;

/// The columns: their titles are repeated in each cell, for a phone's width.
const TITLES: [&str; 5] = ["When", "What", "Who", "Why", "About"];

/// How many are seen at once; the others are a click away.
const NEWEST: usize = 25;

pub(super) fn table(view: &ProjectView) -> Markup {
    let past = &view.journal;
    if past.recent.is_empty() {
        return nothing("Nothing was blocked, warned about or changed yet.");
    }
    let counts = past.counts;
    let all =
        counts.block + counts.warn + counts.fault + counts.change + counts.gate + counts.review;
    let totals = [
        count(counts.block, "block"),
        count(counts.warn, "warning"),
        count(counts.fault, "fault"),
        count(counts.change, "step or record").replace("step or records", "steps and records"),
        count(counts.gate, "check"),
        count(counts.review, "review"),
    ];
    let older = all.saturating_sub(past.recent.len() as u64);
    let (newest, more) = past.recent.split_at(past.recent.len().min(NEWEST));
    html! {
        p {
            (totals.join(", ")) "."
            @if older > 0 {
                " The newest " (past.recent.len()) " are here, " (older) " older ones in "
                code { "tollgate log" } "."
            }
            " " code { "tollgate explain N" } " tells more about entry #N."
        }
        (rows(newest))
        @if !more.is_empty() {
            details #more-decisions { summary { (more.len()) " more" } (rows(more)) }
        }
    }
}

fn rows(decisions: &[Entry]) -> Markup {
    html! {
        table role="table" {
            caption.hidden { "Decisions, newest first" }
            thead role="rowgroup" {
                tr role="row" {
                    @for title in TITLES { th role="columnheader" scope="col" { (title) } }
                }
            }
            tbody role="rowgroup" { @for decided in decisions { (row(decided)) } }
        }
    }
}

fn row(decided: &Entry) -> Markup {
    let (at, verdict) = (decided.at(), decided.verdict.as_str());
    let [when, what, who, why, about] = TITLES;
    let code = decided.code.as_deref();
    // What a gate or review came to is its code.
    let is_result = matches!(verdict, "gate" | "review");
    let took = decided.ms.map(duration);
    let cost = decided.cost_usd.map(|usd| format!("${usd:.4}"));
    let number = decided.id.map(|id| format!("#{id}"));
    let known = [
        ("event", &decided.event),
        ("tool", &decided.tool),
        ("phase", &decided.phase),
        ("agent", &decided.agent),
        ("session", &decided.session),
        ("took", &took),
        ("cost", &cost),
        ("entry", &number),
    ];
    let known = known
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.as_ref()?)));
    html! {
        tr role="row" class=(verdict) {
            (cell(when, html! { time datetime=(at) { (moment(&at)) } }))
            (cell(what, html! {
                (badge(verdict))
                @if let Some(result) = code.filter(|_| is_result) { " " (badge(result)) }
            }))
            (cell(who, html! {
                (decided.guard.as_deref().unwrap_or_default())
                @if let Some(code) = code.filter(|_| !is_result) { " " code { (code) } }
            }))
            (cell(why, html! {
                span.reason { (decided.reason.as_deref().unwrap_or_default()) }
            }))
            (cell(about, html! {
                ul.about { @for (name, value) in known { li { span { (name) } " " (value) } } }
            }))
        }
    }
}

fn cell(title: &str, content: impl Render) -> Markup {
    html! { td role="cell" data-title=(title) { (content) } }
}

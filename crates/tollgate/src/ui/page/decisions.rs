//! The last decisions, newest first: filtered by kind, with the workflow's steps folded.
//!
//! The filter is a row of radio buttons that the style sheet obeys, so it works without scripts.

use maud::{Markup, Render, html};
use tollgate_store::journal::Verdict;

use super::{badge, nothing, time};
use crate::journal::Entry;
use crate::plain::{count, cut, duration};
use crate::project_view::ProjectView;

/// The columns: their titles are repeated in each cell, for a phone's width.
const TITLES: [&str; 5] = ["When", "What", "Who", "Why", "About"];

/// How many rows are seen at once; the others are a click away.
const NEWEST: usize = 25;

/// How much of a session's id tells it from others.
const SESSION: usize = 8;

/// What people filter by: the word, and its plural.
const KINDS: [(&str, &str); 7] = [
    ("block", "blocks"),
    ("warning", "warnings"),
    ("fault", "faults"),
    ("rule", "rules"),
    ("gate", "gates"),
    ("review", "reviews"),
    ("step", "steps"),
];

/// What kind a decision is. A rule's is also one of blocks, warnings or faults.
fn kind(decided: &Entry) -> &'static str {
    match decided.verdict {
        Verdict::Block => "block",
        Verdict::Ask | Verdict::Warn => "warning",
        Verdict::Fault => "fault",
        Verdict::Watch => "rule",
        Verdict::Gate => "gate",
        Verdict::Review => "review",
        Verdict::Change | Verdict::Record => "step",
    }
}

fn is_of_rule(decided: &Entry) -> bool {
    let code = decided.code.as_deref().unwrap_or_default();
    decided.verdict == Verdict::Watch || code.starts_with("RULE")
}

pub(super) fn table(view: &ProjectView) -> Markup {
    let past = &view.journal;
    if past.recent.is_empty() {
        return nothing("Nothing was blocked, warned about or changed yet.");
    }
    let counts = past.counts;
    let all =
        counts.block + counts.warn + counts.fault + counts.change + counts.gate + counts.review;
    let totals = [
        (counts.block, "block"),
        (counts.warn, "warning"),
        (counts.fault, "fault"),
        (counts.gate, "check"),
        (counts.review, "review"),
        (counts.change, "step"),
    ];
    let totals = totals.into_iter().filter(|(number, _)| *number > 0);
    let totals: Vec<String> = totals.map(|(number, one)| count(number, one)).collect();
    let older = all.saturating_sub(past.recent.len() as u64);
    let rows = rows(&past.recent);
    let (newest, more) = rows.split_at(rows.len().min(NEWEST));
    html! {
        p {
            (totals.join(", ")) "."
            @if older > 0 {
                " The newest " (past.recent.len()) " are here, " (older) " older ones in "
                code { "tollgate log" } "."
            }
            " " code { "tollgate explain N" } " says more about entry #N."
        }
        (filter(&past.recent))
        (rows_table(newest))
        @if !more.is_empty() {
            details #more-decisions {
                summary { "Older ones" }
                (rows_table(more))
            }
        }
    }
}

/// The buttons: all, and each kind that there is.
fn filter(decisions: &[Entry]) -> Markup {
    let of = |word: &str| {
        let is_it = |one: &&Entry| kind(one) == word || (word == "rule" && is_of_rule(one));
        decisions.iter().filter(is_it).count()
    };
    html! {
        fieldset.filter {
            legend.hidden { "Which decisions are shown" }
            (button("all", "all", decisions.len()))
            @for (word, plural) in KINDS {
                @if of(word) > 0 { (button(word, plural, of(word))) }
            }
        }
    }
}

fn button(word: &str, shown: &str, count: usize) -> Markup {
    html! {
        label {
            input type="radio" name="kind" id={ "kind-" (word) } checked[word == "all"];
            " " (shown) " " span.dim { (count) }
        }
    }
}

/// What a row shows: one decision, or steps of the workflow that follow each other.
enum Row<'a> {
    One(&'a Entry),
    Steps(&'a [Entry]),
}

fn rows(decisions: &[Entry]) -> Vec<Row<'_>> {
    let is_step = |one: &Entry| kind(one) == "step";
    let groups = decisions.chunk_by(|one, next| is_step(one) && is_step(next));
    let rows = groups.map(|group| match group {
        [one] => Row::One(one),
        steps => Row::Steps(steps),
    });
    rows.collect()
}

fn rows_table(rows: &[Row<'_>]) -> Markup {
    html! {
        table role="table" {
            caption.hidden { "Decisions, newest first" }
            thead role="rowgroup" {
                tr role="row" {
                    @for title in TITLES { th role="columnheader" scope="col" { (title) } }
                }
            }
            tbody role="rowgroup" {
                @for row in rows {
                    @match row {
                        Row::One(decided) => { (one(decided)) }
                        Row::Steps(steps) => { (folded(steps)) }
                    }
                }
            }
        }
    }
}

/// Steps that follow each other, behind their number.
fn folded(steps: &[Entry]) -> Markup {
    let [when, what, ..] = TITLES;
    let newest = steps.first().map(Entry::at).unwrap_or_default();
    // By the oldest of them: it stays while new ones come.
    let id = steps.last().map(Entry::name).unwrap_or_default();
    html! {
        tr.step role="row" {
            (cell(when, time(&newest)))
            td role="cell" colspan="4" data-title=(what) {
                details id={ "steps-" (id) } {
                    summary { (badge("step")) " " (steps.len()) " steps" }
                    ul.steps {
                        @for step in steps {
                            li {
                                (time(&step.at())) " "
                                (step.reason.as_deref().or(step.event.as_deref()).unwrap_or_default())
                            }
                        }
                    }
                }
            }
        }
    }
}

fn one(decided: &Entry) -> Markup {
    let kind = kind(decided);
    let [when, what, who, why, about] = TITLES;
    let code = decided.code.as_deref();
    // What a gate or review came to is its code.
    let is_result = matches!(kind, "gate" | "review");
    let took = decided.ms.map(duration);
    let session = decided.session.as_deref().map(|id| cut(id, SESSION));
    let cost = decided.cost_usd.map(|usd| format!("${usd:.4}"));
    let number = decided.id.map(|id| format!("#{id}"));
    let known = [
        ("event", &decided.event),
        ("tool", &decided.tool),
        ("phase", &decided.phase),
        ("agent", &decided.agent),
        ("session", &session),
        ("took", &took),
        ("cost", &cost),
        ("entry", &number),
    ];
    let known = known
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.as_ref()?)));
    html! {
        tr role="row" class={ (kind) @if is_of_rule(decided) { " rule" } } {
            (cell(when, time(&decided.at())))
            (cell(what, html! {
                (badge(kind))
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

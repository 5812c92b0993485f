//! The page: a view as HTML, served live or kept as a file.
//!
//! Markup is written with maud, which escapes every value. What a browser would obey or hide
//! without it being markup is replaced in the finished text, by [`finished`].

mod allow;
mod charts;
mod decisions;
mod gates;
mod summary;
mod work;

use std::fmt::Write as _;

use maud::{Markup, PreEscaped, Render, html};

use crate::journal::is_failure;
use crate::plain::{duration, is_obeyed};
use crate::project_view::ProjectView;

pub(crate) const STYLE: &str = include_str!("page.css");

/// What keeps a served page up to date.
pub(crate) const SCRIPT: &str = include_str!("page.js");

/// The parts of the page: anchor, title, and what is in it.
type Part = (&'static str, &'static str, fn(&ProjectView) -> Markup);

const PARTS: [Part; 7] = [
    ("gates", "Gates", gates::list),
    ("reviews", "Reviews", gates::reviews),
    (ALLOW, "Allow", allow::form),
    ("decisions", "Decisions", decisions::table),
    ("workflow", "Workflow", work::workflow),
    ("plan", "Plan", work::plan),
    ("costs", "Time and cost", charts::all),
];

/// The part that is there only where a person can allow something.
const ALLOW: &str = "allow";

fn parts(view: &ProjectView) -> impl Iterator<Item = Part> {
    let can_allow = view.can_allow;
    let parts = PARTS.into_iter();
    parts.filter(move |(id, ..)| can_allow || *id != ALLOW)
}

/// The page as it is served. Style and script are files of their own, so that the page can forbid
/// all inline code.
pub(crate) fn served(view: &ProjectView) -> String {
    let links = html! {
        link rel="stylesheet" href="style.css";
        script src="page.js" defer {}
    };
    document(view, &links)
}

/// The page as one file. It needs no script; the nonce lets its own style in and nothing else.
pub(crate) fn alone(view: &ProjectView, nonce: &str) -> String {
    let style = html! {
        meta http-equiv="Content-Security-Policy" content={
            "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src 'nonce-"
            (nonce) "'"
        };
        style nonce=(nonce) { "\n" (PreEscaped(STYLE)) }
    };
    document(view, &style)
}

/// What a live page puts in the place of its main part.
pub(crate) fn main(view: &ProjectView) -> String {
    finished(&sections(view))
}

fn document(view: &ProjectView, head: &Markup) -> String {
    finished(&html! {
        (PreEscaped("<!doctype html>"))
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                link rel="icon" href="data:,";
                title { (view.project) " – Tollgate" }
                (head)
            }
            (body(view))
        }
        "\n"
    })
}

fn body(view: &ProjectView) -> Markup {
    html! {
        body {
            a.skip href="#main" { "Skip to the content" }
            header.top {
                div.name { h1 { (view.project) } p.root { (view.root) } }
                p #live role="status" { "as of " (time(&view.at)) }
                nav aria-label="Parts of this page" {
                    ul {
                        @for (id, title, _) in parts(view) {
                            li { a href={ "#" (id) } { (title) } }
                        }
                    }
                }
            }
            main #main tabindex="-1" { (sections(view)) }
            footer {
                p {
                    @if !view.can_allow { "Read-only. " }
                    "Allowed events are not recorded, so they are not counted here. "
                    span #zone { "Times are UTC." }
                }
            }
        }
    }
}

fn sections(view: &ProjectView) -> Markup {
    html! {
        (summary::now(view))
        @for (id, title, part) in parts(view) {
            section id=(id) aria-labelledby={ (id) "-title" } {
                h2 id={ (id) "-title" } { (title) }
                (part(view))
            }
        }
    }
}

/// The text of a page. Control characters and marks that turn the order of reading around are
/// shown by name; the page's own markup has none of them, and their names have no character that
/// means something in HTML.
fn finished(markup: &Markup) -> String {
    let mut text = String::with_capacity(markup.0.len());
    for c in markup.0.chars() {
        match c {
            '\n' | '\t' => text.push(c),
            c if is_obeyed(c) => {
                // Writing to a string does not fail.
                let _written = write!(text, "\\u{{{:x}}}", u32::from(c));
            }
            c => text.push(c),
        }
    }
    text
}

/// A moment: in UTC, which the page's script turns into the reader's own time.
fn time(at: &str) -> Markup {
    html! { time datetime=(at) { (moment(at)) } }
}

/// `2026-02-08 20:00:00` of a timestamp; what is none stays as it is.
fn moment(at: &str) -> String {
    match at.split_once('T') {
        Some((day, time)) => format!("{day} {}", time.split(['.', 'Z']).next().unwrap_or(time)),
        None => at.to_owned(),
    }
}

/// How long a phase took. The state counts whole minutes.
fn minutes_words(minutes: f64) -> String {
    if minutes < 1.0 {
        return "under 1 min".to_owned();
    }
    duration(minutes * 60_000.0)
}

/// A word of a verdict or result in its colour. The word is there for those who see no colour.
fn badge(word: &str) -> Markup {
    let tone = match word {
        "block" | "failed" => "bad",
        word if is_failure(word) => "bad",
        "warning"
        | "fault"
        | "inconclusive"
        | "skipped"
        | "stale"
        | "flaky"
        | "never_ran"
        | "completed, not verified" => "warn",
        "verified" | "pass" | "completed and verified" | "fixed" | "PASS" => "good",
        "running" | "in progress" => "busy",
        _ => "plain",
    };
    html! { span class={ "badge " (tone) } { (word.replace('_', " ")) } }
}

/// What is said where there is nothing.
fn nothing(text: impl Render) -> Markup {
    html! { p.nothing { (text) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        let title = "\" onclick=\"x";
        let text = "<script>alert(1)</script>&\u{1b}[31m\u{202e}\0\nü";
        assert_eq!(
            finished(&html! { p title=(title) { (text) } }),
            "<p title=\"&quot; onclick=&quot;x\">&lt;script&gt;alert(1)&lt;/script&gt;&amp;\
             \\u{1b}[31m\\u{202e}\\u{0}\nü</p>"
        );
    }
}

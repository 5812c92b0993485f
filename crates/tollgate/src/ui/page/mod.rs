//! The page: a snapshot as HTML, served live or kept as a file.

mod allow;
mod charts;
mod decisions;
mod gates;
mod html;
mod summary;
mod work;

use html::Html;

use super::snapshot::{Snapshot, is_failure};

/// The style sheet.
pub(crate) const STYLE: &str = include_str!("page.css");

/// What keeps a served page up to date.
pub(crate) const SCRIPT: &str = include_str!("page.js");

/// The parts of the page: anchor, title, and what is in it.
type Part = (&'static str, &'static str, fn(&Snapshot, &mut Html));

const PARTS: [Part; 7] = [
    ("workflow", "Workflow", work::workflow),
    (ALLOW, "Allow", allow::form),
    ("decisions", "Decisions", decisions::table),
    ("gates", "Gates", gates::list),
    ("reviews", "Reviews", gates::reviews),
    ("plan", "Plan", work::plan),
    ("costs", "Time and cost", charts::all),
];

/// The part that is there only where a person can allow something.
const ALLOW: &str = "allow";

fn parts(snapshot: &Snapshot) -> impl Iterator<Item = Part> {
    let can_allow = snapshot.can_allow;
    let parts = PARTS.into_iter();
    parts.filter(move |(id, ..)| can_allow || *id != ALLOW)
}

/// The page as it is served. Style and script are files of their own, so that the page can forbid
/// all inline code.
pub(crate) fn served(snapshot: &Snapshot) -> String {
    let mut html = Html::default();
    head(&mut html, snapshot);
    html.raw("<link rel=\"stylesheet\" href=\"style.css\"><script src=\"page.js\" defer></script>");
    html.raw("</head><body>");
    body(&mut html, snapshot);
    html.into_string()
}

/// The page as one file. It needs no script; the nonce lets its own style in and nothing else.
pub(crate) fn alone(snapshot: &Snapshot, nonce: &str) -> String {
    let mut html = Html::default();
    head(&mut html, snapshot);
    html.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src 'nonce-");
    html.text(nonce).raw("'\"><style nonce=\"").text(nonce);
    html.raw("\">\n").raw(STYLE).raw("</style></head><body>");
    body(&mut html, snapshot);
    html.into_string()
}

/// What a live page puts in the place of its main part.
pub(crate) fn main(snapshot: &Snapshot) -> String {
    let mut html = Html::default();
    sections(&mut html, snapshot);
    html.into_string()
}

fn head(html: &mut Html, snapshot: &Snapshot) {
    html.raw("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">");
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    html.raw("<meta name=\"color-scheme\" content=\"light dark\">");
    html.raw("<meta name=\"referrer\" content=\"no-referrer\"><link rel=\"icon\" href=\"data:,\">");
    html.raw("<title>")
        .text(&snapshot.project)
        .raw(" – Tollgate</title>");
}

fn body(html: &mut Html, snapshot: &Snapshot) {
    html.raw("<a class=\"skip\" href=\"#main\">Skip to the content</a>");
    html.raw("<header class=\"top\"><div class=\"name\"><h1>");
    html.text(&snapshot.project);
    html.raw("</h1><p class=\"root\">").text(&snapshot.root);
    html.raw("</p></div><p id=\"live\" role=\"status\">as of <time>");
    html.text(moment(&snapshot.at));
    html.raw("</time></p><nav aria-label=\"Parts of this page\"><ul>");
    for (id, title, _) in parts(snapshot) {
        html.raw("<li><a href=\"#")
            .raw(id)
            .raw("\">")
            .raw(title)
            .raw("</a></li>");
    }
    html.raw("</ul></nav></header><main id=\"main\" tabindex=\"-1\">");
    sections(html, snapshot);
    html.raw("</main><footer><p>");
    if !snapshot.can_allow {
        html.raw("Read-only. ");
    }
    html.raw("Allowed events leave no trace, so they are not counted here. Times are UTC.</p></footer></body></html>\n");
}

fn sections(html: &mut Html, snapshot: &Snapshot) {
    summary::now(snapshot, html);
    for (id, title, write) in parts(snapshot) {
        html.raw("<section id=\"")
            .raw(id)
            .raw("\" aria-labelledby=\"")
            .raw(id);
        html.raw("-title\"><h2 id=\"")
            .raw(id)
            .raw("-title\">")
            .raw(title)
            .raw("</h2>");
        write(snapshot, html);
        html.raw("</section>");
    }
}

/// `2026-02-08 20:00:00` of a timestamp; what is none stays as it is.
fn moment(at: &str) -> String {
    match at.split_once('T') {
        Some((day, time)) => format!("{day} {}", time.split(['.', 'Z']).next().unwrap_or(time)),
        None => at.to_owned(),
    }
}

/// A length of time as people say it.
fn duration(ms: f64) -> String {
    if ms < 1000.0 {
        format!("{ms:.1} ms")
    } else if ms < 60_000.0 {
        format!("{:.1} s", ms / 1000.0)
    } else if ms < 3_600_000.0 {
        format!("{:.0} min", ms / 60_000.0)
    } else if ms < 172_800_000.0 {
        format!("{:.1} h", ms / 3_600_000.0)
    } else {
        format!("{:.0} days", ms / 86_400_000.0)
    }
}

/// A word of a verdict or result in its colour. The word is there for those who see no colour.
fn badge(html: &mut Html, word: &str) {
    html.raw("<span class=\"badge ");
    html.raw(match word {
        "block" | "failed" => "bad",
        word if is_failure(word) => "bad",
        "warn" | "fault" | "inconclusive" | "skipped" => "warn",
        "pass" | "completed" | "fixed" | "PASS" => "good",
        "running" | "in_progress" => "busy",
        _ => "plain",
    });
    html.raw("\">").text(word.replace('_', " ")).raw("</span>");
}

/// What is said where there is nothing.
fn nothing(html: &mut Html, text: &'static str) {
    html.raw("<p class=\"nothing\">").raw(text).raw("</p>");
}

//! The last decisions, newest first.

use super::html::Html;
use super::{badge, duration, moment, nothing};
use crate::ui::plain::count;
use crate::ui::snapshot::{Decided, Snapshot};

/// The columns: their titles are repeated in each cell, for a phone's width.
const TITLES: [&str; 5] = ["When", "What", "Who", "Why", "About"];

/// How many are seen at once; the others are a click away.
const NEWEST: usize = 25;

pub(super) fn table(snapshot: &Snapshot, html: &mut Html) {
    let past = &snapshot.journal;
    if past.recent.is_empty() {
        nothing(html, "Nothing was blocked, warned about or changed yet.");
        return;
    }
    let counts = past.counts;
    let all =
        counts.block + counts.warn + counts.fault + counts.change + counts.gate + counts.review;
    html.raw("<p>");
    let told = [
        count(counts.block, "block"),
        count(counts.warn, "warning"),
        count(counts.fault, "fault"),
        count(counts.change, "step or record").replace("step or records", "steps and records"),
        count(counts.gate, "check"),
        count(counts.review, "review"),
    ];
    html.text(told.join(", ")).raw(".");
    let older = all.saturating_sub(past.recent.len() as u64);
    if older > 0 {
        html.raw(" The newest ")
            .text(past.recent.len())
            .raw(" are here, ")
            .text(older);
        html.raw(" older ones in <code>tollgate log</code>.");
    }
    html.raw(" <code>tollgate explain N</code> tells more about entry #N.</p>");
    let (newest, more) = past.recent.split_at(past.recent.len().min(NEWEST));
    rows(newest, html);
    if !more.is_empty() {
        html.raw("<details id=\"more-decisions\"><summary>");
        html.text(more.len()).raw(" more</summary>");
        rows(more, html);
        html.raw("</details>");
    }
}

fn rows(decisions: &[Decided], html: &mut Html) {
    html.raw("<table role=\"table\"><caption class=\"hidden\">Decisions, newest first</caption><thead role=\"rowgroup\"><tr role=\"row\">");
    for title in TITLES {
        html.raw("<th role=\"columnheader\" scope=\"col\">")
            .raw(title)
            .raw("</th>");
    }
    html.raw("</tr></thead><tbody role=\"rowgroup\">");
    for decided in decisions {
        row(decided, html);
    }
    html.raw("</tbody></table>");
}

fn row(decided: &Decided, html: &mut Html) {
    let [when, what, who, why, about] = TITLES;
    html.raw("<tr role=\"row\" class=\"")
        .raw(decided.verdict)
        .raw("\">");
    cell(html, when);
    html.raw("<time datetime=\"")
        .text(&decided.at)
        .raw("\">")
        .text(moment(&decided.at));
    html.raw("</time></td>");
    cell(html, what);
    badge(html, decided.verdict);
    // What a gate or review came to is its code.
    let result = decided
        .code
        .as_ref()
        .filter(|_| matches!(decided.verdict, "gate" | "review"));
    if let Some(result) = result {
        html.raw(" ");
        badge(html, result);
    }
    html.raw("</td>");
    cell(html, who);
    if let Some(guard) = &decided.guard {
        html.text(guard);
    }
    if let Some(code) = decided.code.as_ref().filter(|_| result.is_none()) {
        html.raw(" <code>").text(code).raw("</code>");
    }
    html.raw("</td>");
    cell(html, why);
    html.raw("<span class=\"reason\">")
        .text(decided.reason.as_deref().unwrap_or(""))
        .raw("</span></td>");
    cell(html, about);
    html.raw("<ul class=\"about\">");
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
    for (name, value) in known {
        if let Some(value) = value {
            html.raw("<li><span>")
                .raw(name)
                .raw("</span> ")
                .text(value)
                .raw("</li>");
        }
    }
    html.raw("</ul></td></tr>");
}

fn cell(html: &mut Html, title: &'static str) {
    html.raw("<td role=\"cell\" data-title=\"")
        .raw(title)
        .raw("\">");
}

//! Charts of time and cost, drawn as SVG.
//!
//! A chart has no text inside, so that it can shrink to a phone's width; what its axes mean is
//! said below it. Each is an image with a description for those who do not see it.

use super::html::Html;
use super::{duration, moment, nothing};
use crate::ui::snapshot::{Past, Point, Snapshot, Workflow};

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 160.0;

pub(super) fn all(snapshot: &Snapshot, html: &mut Html) {
    let past = &snapshot.journal;
    html.raw("<div class=\"charts\">");
    decisions(past, html);
    latency(past, html);
    cost(past, html);
    gates(past, html);
    phases(snapshot, html);
    html.raw("</div>");
}

/// A figure: its title, what it draws, and what that means in words.
fn figure(html: &mut Html, title: &'static str, drawing: &Html, words: &str) {
    html.raw("<figure><h3>").raw(title);
    html.raw(
        "</h3><svg viewBox=\"0 0 640 160\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"",
    );
    html.raw(title).raw(". ").text(words).raw("\">");
    html.raw("<path class=\"grid\" d=\"M0 1H640M0 80H640M0 159H640\"/>");
    html.add(drawing)
        .raw("</svg><figcaption>")
        .text(words)
        .raw("</figcaption></figure>");
}

fn without(html: &mut Html, title: &'static str, why: &'static str) {
    html.raw("<figure><h3>").raw(title).raw("</h3>");
    nothing(html, why);
    html.raw("</figure>");
}

fn rect(html: &mut Html, class: &'static str, (x, width): (f64, f64), (top, height): (f64, f64)) {
    html.raw("<rect class=\"")
        .raw(class)
        .raw("\" x=\"")
        .number(x, 1);
    html.raw("\" y=\"")
        .number(top, 1)
        .raw("\" width=\"")
        .number(width, 1);
    html.raw("\" height=\"").number(height, 1).raw("\"/>");
}

/// A count or an index as a coordinate; what is shown is far below where this loses digits.
fn real(count: impl TryInto<u32>) -> f64 {
    f64::from(count.try_into().unwrap_or(u32::MAX))
}

fn decisions(past: &Past, html: &mut Html) {
    let title = "Blocks, warnings and faults";
    let columns = &past.columns;
    let (Some(first), Some(last)) = (columns.first(), columns.last()) else {
        return without(html, title, "None yet.");
    };
    let tallest = columns
        .iter()
        .map(|column| column.block + column.warn + column.fault);
    let tallest = tallest.max().unwrap_or(0).max(1);
    let step = WIDTH / real(columns.len());
    let mut drawing = Html::default();
    for (index, column) in columns.iter().enumerate() {
        let mut floor = HEIGHT;
        let parts = [
            ("bad", column.block),
            ("warn", column.warn),
            ("fault", column.fault),
        ];
        for (class, count) in parts {
            let height = real(count) / real(tallest) * (HEIGHT - 4.0);
            if count > 0 {
                floor -= height;
                rect(
                    &mut drawing,
                    class,
                    (real(index) * step + 1.0, step - 2.0),
                    (floor, height),
                );
            }
        }
    }
    let words = format!(
        "{} to {}; the tallest column is {tallest}. From the bottom: blocks (red), warnings (yellow), faults (violet).",
        moment(&first.from),
        moment(&last.from)
    );
    figure(html, title, &drawing, &words);
}

/// Bars from left (old) to right (new). One that failed has another colour and, for those who do
/// not tell colours apart, a cap that floats above it.
fn bars(points: &[Point], highest: f64, class: &'static str) -> Html {
    const CAP: f64 = 6.0;
    let mut drawing = Html::default();
    let step = WIDTH / real(points.len().max(1));
    for (index, point) in points.iter().enumerate() {
        let height = (point.value / highest).clamp(0.0, 1.0) * (HEIGHT - 8.0 - 2.0 * CAP);
        let height = height.max(2.0);
        let width = (step - 1.0).clamp(1.0, 12.0);
        let x = real(index) * step + (step - width) / 2.0;
        let top = HEIGHT - height - 1.0;
        let class = if point.failed { "bad" } else { class };
        rect(&mut drawing, class, (x, width), (top, height));
        if point.failed {
            rect(&mut drawing, "bad", (x, width), (top - 2.0 * CAP, CAP));
        }
    }
    drawing
}

fn highest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::MIN_POSITIVE, f64::max)
}

fn highest_of(points: &[Point]) -> f64 {
    highest(points.iter().map(|point| point.value))
}

fn latency(past: &Past, html: &mut Html) {
    let title = "Hook latency";
    let latency = &past.latency;
    if latency.points.is_empty() {
        return without(
            html,
            title,
            "No tool event was written down yet; allowed ones are not.",
        );
    }
    let words = format!(
        "The last {} tool events that were written down: median {}, 95 % within {}, at most {}. Inside the process, without its start.",
        latency.points.len(),
        duration(latency.median_ms),
        duration(latency.p95_ms),
        duration(latency.max_ms)
    );
    let points = &latency.points;
    figure(
        html,
        title,
        &bars(points, highest_of(points), "busy"),
        &words,
    );
}

fn cost(past: &Past, html: &mut Html) {
    let title = "Cost of reviews, all told";
    let points = &past.cost.points;
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return without(html, title, "No reviewer told what it cost yet.");
    };
    let top = last.value.max(f64::MIN_POSITIVE);
    let step = WIDTH / real(points.len());
    let mut drawing = Html::default();
    drawing.raw("<path class=\"area\" d=\"M0 160");
    for (index, point) in points.iter().enumerate() {
        let y = HEIGHT - point.value / top * (HEIGHT - 4.0);
        drawing
            .raw("L")
            .number(real(index) * step, 1)
            .raw(" ")
            .number(y, 1);
        drawing
            .raw("L")
            .number(real(index + 1) * step, 1)
            .raw(" ")
            .number(y, 1);
    }
    drawing.raw("L640 160Z\"/>");
    let words = format!(
        "${:.4} from {} to {}, a step for each review.",
        last.value,
        moment(&first.at),
        moment(&last.at)
    );
    figure(html, title, &drawing, &words);
}

fn gates(past: &Past, html: &mut Html) {
    let title = "Time of checks and reviews";
    if past.gates.is_empty() {
        return without(html, title, "None ran yet.");
    }
    let points = &past.gates;
    let longest = points
        .iter()
        .max_by(|one, other| one.value.total_cmp(&other.value));
    let failed = points.iter().filter(|point| point.failed).count();
    let words = longest.map_or(String::new(), |longest| {
        let failed = match failed {
            0 => "None failed.".to_owned(),
            failed => format!("{failed} failed: those are red and have a cap above them."),
        };
        format!(
            "The last {}, oldest first; the longest took {}: {}. {failed}",
            points.len(),
            duration(longest.value * 1000.0),
            longest.what
        )
    });
    figure(
        html,
        title,
        &bars(points, highest_of(points), "good"),
        &words,
    );
}

fn phases(snapshot: &Snapshot, html: &mut Html) {
    let title = "Time of phases";
    let Workflow::Running(running) = &snapshot.workflow else {
        return without(html, title, "No workflow is running.");
    };
    let timed: Vec<(&str, f64)> = running
        .phases
        .iter()
        .filter_map(|phase| Some((phase.key.as_str(), phase.minutes?)))
        .collect();
    if timed.is_empty() {
        return without(html, title, "No phase has its time yet.");
    }
    let top = highest(timed.iter().map(|(_, minutes)| *minutes));
    html.raw("<figure><h3>")
        .raw(title)
        .raw("</h3><dl class=\"bars\">");
    for (key, minutes) in timed {
        html.raw("<div><dt>").text(key).raw("</dt><dd><svg viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" aria-hidden=\"true\">");
        rect(
            html,
            "busy",
            (0.0, (minutes / top * 100.0).max(0.5)),
            (0.0, 8.0),
        );
        html.raw("</svg><span>")
            .text(duration(minutes * 60_000.0))
            .raw("</span></dd></div>");
    }
    html.raw("</dl></figure>");
}

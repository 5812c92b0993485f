//! Charts of time and cost, drawn as SVG.
//!
//! A chart has no text inside, so that it can shrink to a phone's width; what its axes mean is
//! said below it, which is also its description for those who do not see it.

use maud::{Markup, Render, html};

use super::{minutes_words, nothing, time};
use crate::plain::duration;
use crate::project_view::{Past, Point, ProjectView, Workflow};

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 160.0;

pub(super) fn all(view: &ProjectView) -> Markup {
    let past = &view.journal;
    let charts = [
        decisions(past),
        latency(past),
        cost(past),
        gates(past),
        phases(view),
    ];
    let charts: Vec<Markup> = charts.into_iter().flatten().collect();
    if charts.is_empty() {
        return nothing("Nothing was recorded yet.");
    }
    html! { div.charts { @for chart in charts { (chart) } } }
}

/// A figure: its title, what it draws, and what that means in words.
fn figure(title: &str, drawing: impl Render, words: impl Render) -> Markup {
    let id = title
        .to_lowercase()
        .replace(|c: char| !c.is_alphanumeric(), "-");
    html! {
        figure {
            h3 id={ (id) "-name" } { (title) }
            svg viewBox="0 0 640 160" preserveAspectRatio="none" role="img"
                aria-labelledby={ (id) "-name " (id) "-words" } {
                path.grid d="M0 1H640M0 80H640M0 159H640" {}
                (drawing)
            }
            figcaption id={ (id) "-words" } { (words) }
        }
    }
}

fn rect(class: &str, (x, width): (f64, f64), (top, height): (f64, f64)) -> Markup {
    html! {
        rect class=(class) x=(coordinate(x)) y=(coordinate(top)) width=(coordinate(width))
            height=(coordinate(height)) {}
    }
}

fn coordinate(value: f64) -> String {
    let value = if value.is_finite() { value } else { 0.0 };
    format!("{value:.1}")
}

/// A count or an index as a coordinate; what is shown is far below where this loses digits.
fn real(count: impl TryInto<u32>) -> f64 {
    f64::from(count.try_into().unwrap_or(u32::MAX))
}

fn decisions(past: &Past) -> Option<Markup> {
    let title = "Blocks, warnings and faults";
    let columns = &past.columns;
    let (first, last) = (columns.first()?, columns.last()?);
    let heights = columns.iter().map(|one| one.block + one.warn + one.fault);
    let tallest = heights.max().unwrap_or(0).max(1);
    let step = WIDTH / real(columns.len());
    let scale = (HEIGHT - 4.0) / real(tallest);
    let drawing = html! {
        @for (index, column) in columns.iter().enumerate() {
            @let place = (real(index) * step + 1.0, step - 2.0);
            @let warnings = column.block + column.warn;
            @for (class, count, upto) in [
                ("bad", column.block, column.block),
                ("warn", column.warn, warnings),
                ("fault", column.fault, warnings + column.fault),
            ] {
                @if count > 0 {
                    (rect(class, place, (HEIGHT - real(upto) * scale, real(count) * scale)))
                }
            }
        }
    };
    let words = html! {
        (time(&first.from)) " to " (time(&last.from)) "; the tallest column is " (tallest)
        ". From the bottom: blocks (red), warnings (yellow), faults (violet)."
    };
    Some(figure(title, drawing, words))
}

/// Bars from left (old) to right (new). One that failed has another colour and, for those who do
/// not tell colours apart, a cap that floats above it.
fn bars(points: &[Point], class: &str) -> Markup {
    const CAP: f64 = 6.0;
    let highest = highest(points.iter().map(|point| point.value));
    let step = WIDTH / real(points.len().max(1));
    let width = (step - 1.0).clamp(1.0, 12.0);
    html! {
        @for (index, point) in points.iter().enumerate() {
            @let part = (point.value / highest).clamp(0.0, 1.0);
            @let height = (part * (HEIGHT - 8.0 - 2.0 * CAP)).max(2.0);
            @let place = (real(index) * step + (step - width) / 2.0, width);
            @let top = HEIGHT - height - 1.0;
            (rect(if point.failed { "bad" } else { class }, place, (top, height)))
            @if point.failed { (rect("bad", place, (top - 2.0 * CAP, CAP))) }
        }
    }
}

fn highest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::MIN_POSITIVE, f64::max)
}

fn latency(past: &Past) -> Option<Markup> {
    let title = "Hook latency";
    let latency = &past.latency;
    if latency.points.is_empty() {
        return None;
    }
    let words = format!(
        "The last recorded tool calls, oldest first: {}. Inside the process, without its start.",
        latency.words()
    );
    Some(figure(title, bars(&latency.points, "busy"), words))
}

fn cost(past: &Past) -> Option<Markup> {
    let title = "Cost of all reviews";
    let points = &past.cost.points;
    let (first, last) = (points.first()?, points.last()?);
    let top = last.value.max(f64::MIN_POSITIVE);
    let step = WIDTH / real(points.len());
    let corner = |index: usize, y: &str| format!("L{} {y}", coordinate(real(index) * step));
    let steps = points.iter().enumerate().map(|(index, point)| {
        let y = coordinate(HEIGHT - point.value / top * (HEIGHT - 4.0));
        corner(index, &y) + &corner(index + 1, &y)
    });
    let line: String = steps.collect();
    let words = html! {
        "$" (format!("{:.4}", last.value)) " from " (time(&first.at)) " to " (time(&last.at))
        ", a step for each review."
    };
    let drawing = html! { path.area d={ "M0 160" (line) "L640 160Z" } {} };
    Some(figure(title, drawing, words))
}

fn gates(past: &Past) -> Option<Markup> {
    let title = "Time of checks and reviews";
    let points = &past.gates;
    let longest = points
        .iter()
        .max_by(|one, other| one.value.total_cmp(&other.value))?;
    let failed = match points.iter().filter(|point| point.failed).count() {
        0 => "None failed.".to_owned(),
        failed => format!("{failed} failed: those are red and have a cap above them."),
    };
    let words = format!(
        "The last {}, oldest first; the longest took {}: {}. {failed}",
        points.len(),
        duration(longest.value * 1000.0),
        longest.what
    );
    Some(figure(title, bars(points, "good"), words))
}

fn phases(view: &ProjectView) -> Option<Markup> {
    let title = "Time of phases";
    let Workflow::Running(running) = &view.workflow else {
        return None;
    };
    let timed = running.phases.iter();
    let timed = timed.filter_map(|phase| Some((phase.key.as_str(), phase.minutes?)));
    let timed: Vec<(&str, f64)> = timed.collect();
    if timed.is_empty() {
        return None;
    }
    let top = highest(timed.iter().map(|(_, minutes)| *minutes));
    Some(html! {
        figure {
            h3 { (title) }
            dl.bars {
                @for (key, minutes) in timed {
                    div {
                        dt { (key) }
                        dd {
                            svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" {
                                (rect("busy", (0.0, (minutes / top * 100.0).max(0.5)), (0.0, 8.0)))
                            }
                            span { (minutes_words(minutes)) }
                        }
                    }
                }
            }
        }
    })
}

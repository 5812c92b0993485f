//! `run --junit FILE`: the result as continuous integration servers read it.

use std::io;
use std::path::Path;
use std::time::Duration;

use maud::{Markup, PreEscaped, html};
use tollgate_store::fs::{self, Durability};

use crate::gate::result::GateResult;
use crate::gate::run::RunResult;
use crate::plain::PlainLines;
use crate::review::outcome::Outcome;

/// Writes the result of a run.
pub(super) fn write(path: &Path, result: &RunResult, took: Duration) -> io::Result<()> {
    let text = document(result, took).into_string();
    fs::replace_shared(path, text.as_bytes(), Durability::Lazy)?;
    Ok(())
}

fn document(result: &RunResult, took: Duration) -> Markup {
    let count = |is: fn(Outcome) -> bool| {
        let gates = result.gates.iter();
        gates.filter(|gate| is(gate.outcome)).count()
    };
    let failures = count(|outcome| outcome == Outcome::Fail);
    let errors = count(is_error);
    let skipped = count(|outcome| outcome == Outcome::NotRun) + result.skipped.len();
    let tests = result.gates.len() + result.skipped.len();
    html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"))
        testsuites name="tollgate" tests=(tests) failures=(failures) errors=(errors)
            skipped=(skipped) time=(seconds(took)) {
            testsuite name="gates" tests=(tests) failures=(failures) errors=(errors)
                skipped=(skipped) time=(seconds(took)) {
                @for gate in &result.gates { (case(gate)) }
                @for name in &result.skipped {
                    testcase name=(text(name)) classname="gates" time="0" {
                        skipped message="skipped by a person" {}
                    }
                }
            }
        }
    }
}

fn case(gate: &GateResult) -> Markup {
    let message = text(&gate.message);
    let said = text(&gate.excerpt.join("\n"));
    html! {
        testcase name=(text(&gate.id)) classname="gates" time=(seconds(gate.took)) {
            @match gate.outcome {
                Outcome::Pass => {}
                Outcome::Fail => failure message=(message) { (said) },
                Outcome::Error | Outcome::Inconclusive => error message=(message) { (said) },
                Outcome::NotRun => skipped message=(message) {},
            }
        }
    }
}

fn is_error(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Error | Outcome::Inconclusive)
}

fn seconds(took: Duration) -> String {
    format!("{:.3}", took.as_secs_f64())
}

/// XML has no way to write most control characters.
fn text(text: &str) -> String {
    PlainLines(text).to_string()
}

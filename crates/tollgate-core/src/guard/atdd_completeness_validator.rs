//! atdd-completeness-validator: in ATDD mode the important acceptance tests come first.
//!
//! Tests carry their priority, P0 to P3, in their names. Whether one passed is shown by its mark
//! at the head of the line or by the word at its end; `not ok` is no `ok`.

use super::fields::NO_ATDD;
use super::test_watcher::{Tally, test_run};
use super::{Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample};
use tollgate_store::json::Node;

pub(super) const GUARD: Guard = Guard {
    name: "atdd-completeness-validator",
    about: "warns when less important acceptance tests run before the important ones pass",
    is_general: false,
    on: &[
        (EventKind::PostTool, Class::Shell),
        (EventKind::PostToolFailure, Class::Shell),
    ],
    codes: &[Code::warns(
        "ACV-001",
        "acceptance tests are out of the order of their priorities",
        "make the tests of the higher priority pass first",
    )
    .passes_with(NO_ATDD)],
    reads: &[
        "active_workflow.options.atdd_mode",
        "active_workflow.atdd_mode",
    ],
    sample: Some(Sample {
        state: r#"{"active_workflow":{"options":{"atdd_mode":true}}}"#,
        event: r#"{"tool_name":"Bash","tool_input":{"command":"npm test"},"tool_result":"not ok 1 - P0 login\nok 2 - P1 logout\n"}"#,
        ..Sample::WARNED
    }),
    check,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Passed,
    Failed,
    Skipped,
}

/// Whether the running workflow is in ATDD mode.
pub(super) fn is_atdd(context: &EventContext<'_>) -> bool {
    context.workflow().is_some_and(|workflow| {
        let option = workflow.get("options").and_then(|all| all.get("atdd_mode"));
        let mut said = [option, workflow.get("atdd_mode")].into_iter().flatten();
        said.any(Node::truthy)
    })
}

fn check(context: &EventContext<'_>) -> Option<Decision> {
    if !is_atdd(context) {
        return None;
    }
    let run = test_run(context)?;
    let [p0, p1, p2, _] = counts(&run.text);
    let runs = |count: Tally| count.passed + count.failed > 0;
    let mut violations = Vec::new();
    if runs(p1) && p0.failed > 0 {
        violations.push(format!("P1 tests run while {} P0 tests fail", p0.failed));
    }
    if p0.skipped > 0 {
        violations.push(format!("{} P0 tests are skipped", p0.skipped));
    }
    if runs(p2) && p1.failed > 0 {
        violations.push(format!("P2 tests run while {} P1 tests fail", p1.failed));
    }
    if violations.is_empty() {
        return None;
    }
    let lines = violations.iter().map(|one| format!("\n  - {one}"));
    let lines: Vec<_> = lines.collect();
    let text = format!(
        "ATDD PRIORITY VIOLATIONS ({}):{}\n  Make the tests of the higher priority pass first.",
        violations.len(),
        lines.concat()
    );
    let finding = Finding::new("ACV-001", text, violations.join("; "));
    Some(Decision::warn([finding.in_phase(context.current_phase())]))
}

fn counts(text: &str) -> [Tally; 4] {
    let mut counts = [Tally::default(); 4];
    for line in text.lines() {
        let (Some(priority), Some(fate)) = (priority(line), fate(line)) else {
            continue;
        };
        if let Some(count) = counts.get_mut(priority) {
            match fate {
                Fate::Passed => count.passed += 1,
                Fate::Failed => count.failed += 1,
                Fate::Skipped => count.skipped += 1,
            }
        }
    }
    counts
}

/// The priority that a line names: `P0`, `[P1]`, `test_p2_login`, `TestP0Login`; not `HTTP2`.
fn priority(line: &str) -> Option<usize> {
    let mut before = ' ';
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied();
        if matches!(letter, 'P' | 'p')
            && let Some(digit @ '0'..='3') = next
        {
            let mut ahead = letters.clone();
            ahead.next();
            let is_longer = ahead.peek().is_some_and(char::is_ascii_digit);
            let is_inside = if letter == 'P' {
                before.is_ascii_uppercase() || before.is_ascii_digit()
            } else {
                before.is_alphanumeric()
            };
            if !is_longer && !is_inside {
                return digit.to_digit(4).and_then(|n| usize::try_from(n).ok());
            }
        }
        before = letter;
    }
    None
}

/// What a line says about its test, if it is a line of one test.
fn fate(line: &str) -> Option<Fate> {
    let line = line.trim();
    let lower = line.to_lowercase();
    if lower.contains("# skip") || lower.contains("# todo") {
        return Some(Fate::Skipped);
    }
    let heads = [
        ("not ok ", Fate::Failed),
        ("ok ", Fate::Passed),
        ("--- fail:", Fate::Failed),
        ("--- pass:", Fate::Passed),
        ("--- skip:", Fate::Skipped),
        ("fail ", Fate::Failed),
        ("failed ", Fate::Failed),
        ("pass ", Fate::Passed),
        ("passed ", Fate::Passed),
        ("skipped ", Fate::Skipped),
        ("- ", Fate::Skipped),
        ("✖", Fate::Failed),
        ("✗", Fate::Failed),
        ("✕", Fate::Failed),
        ("✘", Fate::Failed),
        ("×", Fate::Failed),
        ("✓", Fate::Passed),
        ("✔", Fate::Passed),
        ("√", Fate::Passed),
        ("○", Fate::Skipped),
        ("↓", Fate::Skipped),
        ("﹣", Fate::Skipped),
    ];
    if let Some((_, fate)) = heads.iter().find(|(head, _)| lower.starts_with(head)) {
        return Some(*fate);
    }
    // `P0 login - pass`; without the dash it may be a sentence.
    let dashed = [
        ("pass", Fate::Passed),
        ("fail", Fate::Failed),
        ("skip", Fate::Skipped),
    ];
    let behind = lower.rsplit_once(" - ").map(|(_, word)| word.trim());
    if let Some((_, fate)) = dashed.iter().find(|(word, _)| behind == Some(*word)) {
        return Some(*fate);
    }
    let ends = [
        ("passed", Fate::Passed),
        ("ok", Fate::Passed),
        ("failed", Fate::Failed),
        ("error", Fate::Failed),
        ("fail", Fate::Failed),
        ("skipped", Fate::Skipped),
        ("ignored", Fate::Skipped),
        ("xfail", Fate::Skipped),
    ];
    // pytest ends its lines with `PASSED   [ 50%]`, unittest a skip with its reason.
    let words = lower.split(['[', '(', '\'']).next().unwrap_or(&lower);
    let last = words.split_whitespace().next_back()?;
    let last = last.trim_matches(|c: char| !c.is_alphanumeric());
    let found = ends.iter().find(|(end, _)| *end == last);
    found.map(|(_, fate)| *fate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lines_mark_decides_and_not_ok_is_no_ok() {
        for (line, expected) in [
            ("not ok 1 - P0 login", Some(Fate::Failed)),
            ("ok 2 - P0 login", Some(Fate::Passed)),
            ("ok 3 - P0 login # SKIP", Some(Fate::Skipped)),
            ("✔ P0 rejects a failed login (1ms)", Some(Fate::Passed)),
            ("  ✕ P0 login", Some(Fate::Failed)),
            ("test p0_login ... ok", Some(Fate::Passed)),
            ("test p0_login ... FAILED", Some(Fate::Failed)),
            ("test p0_login ... ignored", Some(Fate::Skipped)),
            (
                "tests/x.py::test_p0_login PASSED   [ 50%]",
                Some(Fate::Passed),
            ),
            ("--- FAIL: TestP0Login (0.00s)", Some(Fate::Failed)),
            ("P0 login - pass", Some(Fate::Passed)),
            ("P0: login - FAIL", Some(Fate::Failed)),
            ("P0 login - skip", Some(Fate::Skipped)),
            ("P0 tests must pass", None),
            ("P0 tests are important", None),
        ] {
            assert_eq!(fate(line), expected, "{line}");
        }
        for (line, expected) in [
            ("[P1] x", Some(1)),
            ("test_p2_login", Some(2)),
            ("TestP0Login", Some(0)),
            ("HTTP2 works", None),
            ("P10", None),
            ("mp3 player", None),
        ] {
            assert_eq!(priority(line), expected, "{line}");
        }
    }
}

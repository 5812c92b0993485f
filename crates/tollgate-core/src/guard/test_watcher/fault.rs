//! What went wrong in a failed run, in one line, and whether it is what went wrong before.

use crate::text::{cut, leading_number};

/// Said when no line says what went wrong.
const UNEXPLAINED: &str = "Test execution failed (no line of the output says why)";

/// Words of a line that says what went wrong.
const SIGNS: &[&str] = &[
    "error:",
    "fail",
    "assert",
    "exception",
    "typeerror",
    "referenceerror",
    "panicked",
];

/// Counts of nothing: a line that has only these says that all is well.
const ZEROS: &[&str] = &[
    "0 failed",
    "0 failures",
    "0 failing",
    "failures: 0",
    "failed: 0",
    "errors: 0",
    "fail 0",
];

/// The first line that says what went wrong.
pub(super) fn line(text: &str) -> String {
    let lines = || text.lines().map(str::trim);
    let says_why = |line: &&str| {
        let length = line.chars().count();
        let mut lower = line.to_lowercase();
        for zero in ZEROS {
            lower = lower.replace(zero, "");
        }
        (11..=299).contains(&length) && SIGNS.iter().any(|sign| lower.contains(sign))
    };
    let marked = |line: &&str| {
        line.chars().count() < 200 && (line.contains("FAIL") || line.contains(['✖', '✗', '✕', '×']))
    };
    let found = lines().find(says_why).or_else(|| lines().find(marked));
    cut(found.unwrap_or(UNEXPLAINED), 299).to_owned()
}

/// A line without what differs from run to run: times, durations, places, addresses, blanks.
pub(super) fn normalised(line: &str) -> String {
    let words = line.split_whitespace().map(|word| {
        let core = word.trim_matches(['(', ')', '[', ']', ',', ';', '`', '\'', '"']);
        if is_moment(core) || is_duration(core) || is_address(core) {
            return "_".to_owned();
        }
        // Since 1.91 Rust tells the thread's number: `thread 'x' (4711) panicked`.
        let is_number = !core.is_empty() && core.bytes().all(|b| b.is_ascii_digit());
        if is_number && word.starts_with('(') {
            return "_".to_owned();
        }
        without_place(word)
    });
    words.collect::<Vec<_>>().join(" ")
}

/// `2026-02-08T20:00:00.000Z`, `20:00:00`
fn is_moment(word: &str) -> bool {
    let time = word.split('T').next_back().unwrap_or(word);
    let parts = time.split(':').count();
    let digits = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    (parts == 3 || (word.contains('T') && parts == 2)) && time.split(':').all(digits)
}

/// `0.12s`, `12ms`, `1.5µs`
fn is_duration(word: &str) -> bool {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    rest.len() < word.len() && matches!(rest, "s" | "ms" | "µs" | "μs" | "us" | "ns" | "m")
}

fn is_address(word: &str) -> bool {
    word.strip_prefix("0x")
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// `src/x.rs:12:5` without the numbers.
fn without_place(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    let mut rest = word;
    while let Some((before, after)) = rest.split_once(':') {
        out.push_str(before);
        match leading_number(after) {
            Some((_, after)) if !out.is_empty() => {
                out.push_str(":_");
                rest = after;
            }
            _ => {
                out.push(':');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_telling_line_is_found() {
        let text =
            "running 3 tests\ntest result: ok. 5 passed; 0 failed\ntest tests::b ... FAILED\n";
        assert_eq!(line(text), "test tests::b ... FAILED");
        assert_eq!(line("ok\n✖ broken"), "✖ broken");
        assert_eq!(line("nothing"), UNEXPLAINED);
    }

    #[test]
    fn what_differs_from_run_to_run_is_left_out() {
        for (a, b) in [
            (
                "Error: x at 2026-02-08T20:00:00.000Z",
                "Error: x at 2026-02-09T21:10:59.123Z",
            ),
            (
                "thread 'x' (4711) panicked at src/a.rs:9:24",
                "thread 'x' (12)  panicked at src/a.rs:10:2",
            ),
            ("FAIL [0.12s] a", "FAIL [0.13s] a"),
            ("at 0xdeadbeef Error:", "at 0xfeed Error:"),
        ] {
            assert_eq!(normalised(a), normalised(b));
        }
        assert_ne!(
            normalised("expected 3, got 4"),
            normalised("expected 3, got 5")
        );
        assert_ne!(normalised("TypeError: a"), normalised("TypeError: b"));
    }
}

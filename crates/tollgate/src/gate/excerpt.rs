//! The part of a failing check's output that says what is wrong.
//!
//! Test runners and compilers end with an epilogue (counts, how to run one test again); what failed is
//! above it. The first line that looks like a failure is where people begin to read, so the excerpt
//! begins there. Output that has no such line ends with what matters, as a script's last words do.

/// How many lines are shown at most.
pub(crate) const LINES: usize = 14;

/// How many lines before a failure belong to it: the line of code above an assertion, for example.
const BEFORE: usize = 2;

/// What lines that say what failed have in them.
const SAYS_WHAT: &[&str] = &[
    "panicked at",
    "AssertionError",
    "Assertion failed",
    "assertion failed",
    "assertion `",
    "--- FAIL: ",
    "Failure/Error:",
    "AssertionFailedError",
    "Failed asserting",
    "Assert.",
    "error[",
    ": error",
    " error ",
    "Traceback (most recent call last)",
];

/// What they begin with, after blanks.
const BEGINS: &[&str] = &[
    "error:",
    "Error:",
    "ERROR:",
    "E   ",
    "● ",
    "FAIL: ",
    "ERROR: ",
    "not ok ",
    "[ERROR] ",
    "Error Message:",
];

/// What lines begin with that only say that something did.
const SAYS_THAT: &[&str] = &["FAIL ", "FAILED ", "FAIL\t", "✕ ", "✖ ", "✘ ", "× ", "1) "];

/// What an epilogue begins with.
const EPILOGUES: &[&str] = &[
    "failures:",
    "test result:",
    "error: test failed, to rerun",
    "=========================== short test summary",
];

/// The lines that matter. They are without colours.
pub(crate) fn of<'l>(lines: &[&'l str]) -> Vec<&'l str> {
    let position = |test: &dyn Fn(&str) -> bool| lines.iter().position(|line| test(line));
    let found = position(&says_what).or_else(|| position(&says_that));
    let Some(at) = found else {
        return last(lines);
    };
    let (above, below) = lines.split_at(at);
    // A panic says all of it itself.
    let before = match below.first() {
        Some(line) if line.contains("panicked at") => 0,
        Some(_) | None => BEFORE,
    };
    let above = above.iter().rev().take(before);
    let mut shown: Vec<&str> = above.take_while(|line| !is_blank(line)).copied().collect();
    shown.reverse();
    let room = LINES - shown.len();
    let is_epilogue = |line: &&str| EPILOGUES.iter().any(|begins| line.starts_with(begins));
    let below = without_frames(below).take_while(|line| !is_epilogue(line));
    shown.extend(below.take(room));
    while shown.last().is_some_and(|line| is_blank(line)) {
        shown.pop();
    }
    shown
}

fn says_what(line: &str) -> bool {
    let text = line.trim_start();
    // Cargo's epilogue begins like a compiler's error.
    let is_epilogue = text.starts_with("error: test failed, to rerun");
    !is_epilogue
        && (SAYS_WHAT.iter().any(|words| text.contains(words))
            || BEGINS.iter().any(|words| text.starts_with(words)))
}

fn says_that(line: &str) -> bool {
    let text = line.trim_start();
    SAYS_THAT.iter().any(|words| text.starts_with(words))
}

/// Without the frames of a backtrace.
fn without_frames<'l>(lines: &[&'l str]) -> impl Iterator<Item = &'l str> {
    let mut is_frame = false;
    lines.iter().copied().filter(move |line| {
        let text = line.trim_start();
        if text == "stack backtrace:" {
            is_frame = true;
        } else if is_frame && (text.is_empty() || text.starts_with("note:")) {
            is_frame = false;
        }
        !is_frame && !text.starts_with("note: run with `RUST_BACKTRACE")
    })
}

fn last<'l>(lines: &[&'l str]) -> Vec<&'l str> {
    let end = lines.iter().rposition(|line| !is_blank(line));
    let lines = lines
        .get(..end.map_or(0, |end| end + 1))
        .unwrap_or_default();
    let skip = lines.len().saturating_sub(LINES);
    lines.iter().skip(skip).copied().collect()
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Outputs of test runners that were recorded, each with what a person looks for in it.
    #[test]
    fn an_excerpt_has_the_assertion() {
        let outputs = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../tollgate-core/tests/summaries"
        );
        for (name, wanted) in [
            ("cargo-fail", "assertion `left == right` failed"),
            ("cargo-fail", " right: 5"),
            ("cargo-broken", "error"),
            ("pytest-fail", "E   AssertionError: 1 != 2"),
            ("pytest-quiet-fail", "AssertionError: 1 != 2"),
            ("unittest-fail", "AssertionError: 1 != 2"),
            ("unittest-verbose-fail", "AssertionError: 1 != 2"),
            ("jest-fail", "Expected: 2"),
            ("vitest-fail", "expected 1 to be 2"),
            ("mocha-fail", "1 == 2"),
            ("node-fail", "error: '1 == 2'"),
            ("node-spec-fail", "1 == 2"),
            ("go-fail", "got 4, want 5"),
            ("go-broken", ".go:"),
            ("nextest-fail", "panicked at"),
            ("rspec-fail", "expected"),
            ("phpunit-fail", "Failed asserting"),
            ("maven-fail", "expected"),
            (
                "gradle-fail",
                "java.lang.AssertionError at AdderTest.java:3",
            ),
            ("dotnet-fail", "Assert."),
            ("playwright-fail", "expect"),
        ] {
            let text = std::fs::read_to_string(format!("{outputs}/{name}.txt")).unwrap();
            let text = anstream::adapter::strip_str(&text).to_string();
            let lines: Vec<&str> = text.lines().collect();
            let shown = of(&lines).join("\n");
            assert!(
                shown.contains(wanted),
                "{name}: {wanted:?} is not in\n{shown}"
            );
            assert!(shown.lines().count() <= LINES, "{name}");
            assert!(!shown.contains("/rustc/"), "{name}\n{shown}");
        }
    }

    #[test]
    fn without_a_failure_the_end_is_shown() {
        let text: Vec<String> = (1..=40).map(|line| format!("line {line}")).collect();
        let mut lines: Vec<&str> = text.iter().map(String::as_str).collect();
        lines.extend(["", ""]);
        let shown = of(&lines);
        assert_eq!(shown.len(), LINES);
        assert_eq!(shown.last(), Some(&"line 40"));
        assert!(of(&[]).is_empty());
        assert!(of(&["", " "]).is_empty());
    }

    #[test]
    fn the_first_failure_counts() {
        let mut lines = vec!["compiling", "x.ts(3,5): error TS2322: no"];
        lines.extend(["more"; 60]);
        lines.push("y.ts(1,1): error TS1: no");
        let shown = of(&lines);
        assert_eq!(shown.first(), Some(&"compiling"));
        assert_eq!(shown.get(1), Some(&"x.ts(3,5): error TS2322: no"));
    }
}

//! What a test runner says at its end: one reader per runner, each on output without colours.
//!
//! A reader believes the summary and nothing else. Words such as "error" or "FAIL" in the middle
//! of the output prove nothing: a passing test may print them.

use crate::text::{count, has, leading_number, number_after};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Summary {
    /// So many tests.
    Counted(Tally),
    /// All is well, without numbers.
    Succeeded,
    /// It failed, or could not even start, without numbers.
    Broken,
}

/// The tests of a run by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    /// Failures and errors.
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl Tally {
    fn plus(self, other: Self) -> Self {
        Self {
            passed: self.passed.saturating_add(other.passed),
            failed: self.failed.saturating_add(other.failed),
            skipped: self.skipped.saturating_add(other.skipped),
        }
    }
}

impl Summary {
    /// Whether it speaks of a failure.
    pub(crate) fn is_failure(self) -> bool {
        match self {
            Self::Counted(tally) => tally.failed > 0,
            Self::Succeeded => false,
            Self::Broken => true,
        }
    }

    /// What two summaries say together: the worse decides.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Counted(a), Self::Counted(b)) => Self::Counted(a.plus(b)),
            (Self::Counted(tally), word) | (word, Self::Counted(tally)) => {
                if word == Self::Broken && tally.failed == 0 {
                    Self::Broken
                } else {
                    Self::Counted(tally)
                }
            }
            (Self::Broken, _) | (_, Self::Broken) => Self::Broken,
            (Self::Succeeded, Self::Succeeded) => Self::Succeeded,
        }
    }
}

/// What a count and the word at the end say together, as far as they are there.
pub(super) fn both(counted: Option<Summary>, ending: Option<Summary>) -> Option<Summary> {
    match (counted, ending) {
        (Some(counted), Some(ending)) => Some(counted.and(ending)),
        (counted, ending) => counted.or(ending),
    }
}

pub(super) fn tally(passed: u64, failed: u64, skipped: u64) -> Tally {
    Tally {
        passed,
        failed,
        skipped,
    }
}

/// So many that ran, of which some failed or were skipped after all.
pub(super) fn ran(run: u64, failed: u64, skipped: u64) -> Tally {
    let passed = run.saturating_sub(failed).saturating_sub(skipped);
    tally(passed, failed, skipped)
}

/// The sum of what the lines give, if any gives something.
pub(super) fn sum(text: &str, read: impl Fn(&str) -> Option<Tally>) -> Option<Summary> {
    let lines = text.lines().filter_map(|line| read(line.trim()));
    lines.reduce(Tally::plus).map(Summary::Counted)
}

/// The last line that gives something.
pub(super) fn last(text: &str, read: impl Fn(&str) -> Option<Tally>) -> Option<Summary> {
    let mut lines = text.lines().rev().filter_map(|line| read(line.trim()));
    lines.next().map(Summary::Counted)
}

/// The number that the last line with one gives.
fn last_number(text: &str, read: impl Fn(&str) -> Option<u64>) -> Option<u64> {
    text.lines().rev().find_map(|line| read(line.trim()))
}

/// `2 passing` or `2 passing (5ms)`, alone on a line.
fn own_line(text: &str, label: &str) -> Option<u64> {
    last_number(text, |line| {
        let (number, rest) = leading_number(line)?;
        let rest = rest.strip_prefix(' ')?.strip_prefix(label)?;
        (rest.is_empty() || rest.starts_with(" (")).then_some(number)
    })
}

/// The counts with these labels together, if there is one.
fn total(text: &str, labels: &[&str]) -> Option<u64> {
    let counts = labels.iter().filter_map(|label| count(text, label));
    counts.reduce(u64::saturating_add)
}

/// The tests by their labels, if there is one.
fn labelled(text: &str, passed: &[&str], failed: &[&str], skipped: &[&str]) -> Option<Tally> {
    let all = [passed, failed, skipped].map(|labels| total(text, labels));
    let [passed, failed, skipped] = all.map(Option::unwrap_or_default);
    let is_any = all.iter().any(Option::is_some);
    is_any.then(|| tally(passed, failed, skipped))
}

/// A run without a single test.
pub(super) fn none(is_none: bool) -> Option<Summary> {
    is_none.then(|| Summary::Counted(Tally::default()))
}

pub(super) fn broken(is_broken: bool) -> Option<Summary> {
    is_broken.then_some(Summary::Broken)
}

pub(super) fn any_line(text: &str, is_it: impl Fn(&str) -> bool) -> bool {
    text.lines().any(|line| is_it(line.trim()))
}

/// `test result: ok. 5 passed; 0 failed; 1 ignored; …`, one line per test binary.
pub(super) fn cargo(text: &str) -> Option<Summary> {
    let counted = sum(text, |line| {
        let rest = line.strip_prefix("test result: ")?;
        let (passed, failed) = (count(rest, "passed")?, count(rest, "failed")?);
        let failed = failed.max(u64::from(rest.starts_with("FAILED")));
        Some(tally(passed, failed, count(rest, "ignored").unwrap_or(0)))
    });
    // A binary that dies (a signal, an exit in a test) leaves no summary but this line.
    let is_broken = any_line(text, |line| {
        line.starts_with("error: could not compile") || line.starts_with("error: test failed")
    });
    both(counted, broken(is_broken))
}

/// `Summary [   0.132s] 3 tests run: 2 passed (1 slow), 1 failed, 1 skipped`
pub(super) fn nextest(text: &str) -> Option<Summary> {
    let counted = last(text, |line| {
        let (_, rest) = line.strip_prefix("Summary")?.split_once(" run:")?;
        let failed = ["failed", "errored", "exec", "timed"];
        Some(labelled(rest, &["passed"], &failed, &["skipped"]).unwrap_or_default())
    });
    let is_none = any_line(text, |line| line.starts_with("error: no tests to run"));
    let is_broken = any_line(text, |line| {
        line.starts_with("error: could not compile") || line.starts_with("error: test run failed")
    });
    counted.or(none(is_none)).or(broken(is_broken))
}

/// `==== 2 failed, 3 passed, 1 skipped in 0.12s ====`, with `-q` without the bars.
pub(super) fn pytest(text: &str) -> Option<Summary> {
    last(text, |line| {
        let line = line.trim_matches(['=', ' ']);
        let (counts, time) = line.rsplit_once(" in ")?;
        if !time.starts_with(|c: char| c.is_ascii_digit()) || !time.contains('s') {
            return None;
        }
        if counts == "no tests ran" {
            return Some(Tally::default());
        }
        leading_number(counts)?;
        let (passed, failed) = (["passed", "xpassed"], ["failed", "error", "errors"]);
        // A test that may fail proves as little as one that does not run.
        labelled(counts, &passed, &failed, &["skipped", "xfailed"])
            .or_else(|| count(counts, "deselected").map(|_| Tally::default()))
    })
}

/// `Ran 3 tests in 0.001s`, then `OK (skipped=1)` or `FAILED (failures=1, errors=1)`.
pub(super) fn unittest(text: &str) -> Option<Summary> {
    let run = text.lines().rev().find_map(|line| {
        let (number, rest) = leading_number(line.strip_prefix("Ran ")?)?;
        rest.trim_start().starts_with("test").then_some(number)
    })?;
    let word = text.lines().rev().find_map(|line| {
        let line = line.trim();
        let is_it = ["OK", "FAILED", "NO TESTS RAN"]
            .iter()
            .any(|word| line == *word || line.starts_with(&format!("{word} (")));
        is_it.then_some(line)
    })?;
    // `failures=` is also the end of `expected failures=`.
    let parts = || word.split(['(', ')', ',']).map(str::trim);
    let number = |label: &str| {
        let mut numbers = parts().filter_map(|part| part.strip_prefix(label)?.parse().ok());
        numbers.next().unwrap_or(0)
    };
    let failed = ["failures=", "errors=", "unexpected successes="].map(number);
    let failed = failed.into_iter().fold(0, u64::saturating_add);
    let failed = failed.max(u64::from(word.starts_with("FAILED")));
    let skipped = number("skipped=").saturating_add(number("expected failures="));
    Some(Summary::Counted(ran(run, failed, skipped)))
}

/// `ok  \tpkg\t0.1s`, `FAIL\tpkg\t0.1s`, and with `-v` one `--- PASS: TestX (0.00s)` per test.
pub(super) fn go(text: &str) -> Option<Summary> {
    let mut packages = Tally::default();
    let mut tests = Tally::default();
    let mut is_go = false;
    for line in text.lines() {
        let named = |word: &str| line.trim_start().starts_with(word);
        tests.passed += u64::from(named("--- PASS: "));
        tests.failed += u64::from(named("--- FAIL: "));
        tests.skipped += u64::from(named("--- SKIP: "));
        let is_ok = line.starts_with("ok  \t") || line.starts_with("ok \t");
        let is_failed = line.starts_with("FAIL\t");
        let is_empty = line.contains("[no tests to run]");
        packages.passed += u64::from(is_ok && !is_empty);
        packages.failed += u64::from(is_failed);
        is_go |= is_ok || is_failed || line.starts_with("?   \t");
    }
    // One package in the current directory ends with a lone word as well.
    is_go |= tests != Tally::default() && any_line(text, |line| line == "PASS" || line == "FAIL");
    if !is_go {
        return gotestsum(text);
    }
    // With `-v` every test has its line; a package of skipped tests alone is "ok" all the same.
    let only_skipped = tests.skipped > 0 && tests.passed + tests.failed == 0;
    let passed = tests.passed.max(packages.passed);
    Some(Summary::Counted(Tally {
        passed: if only_skipped { 0 } else { passed },
        failed: tests.failed.max(packages.failed),
        skipped: tests.skipped,
    }))
}

/// `DONE 3 tests, 1 skipped, 1 failure in 0.5s`
fn gotestsum(text: &str) -> Option<Summary> {
    last(text, |line| {
        let rest = line.strip_prefix("DONE ")?;
        let run = total(rest, &["test", "tests"])?;
        let failed = total(rest, &["failure", "failures", "error", "errors"]);
        let skipped = count(rest, "skipped");
        Some(ran(run, failed.unwrap_or(0), skipped.unwrap_or(0)))
    })
}

/// `# pass 2`, `# fail 1` (TAP) or `ℹ pass 2` (spec).
pub(super) fn node(text: &str) -> Option<Summary> {
    let number = |label: &str| {
        last_number(text, |line| {
            let mut marks = ["# ", "ℹ "].iter();
            let rest = marks.find_map(|mark| line.strip_prefix(mark))?;
            let (number, rest) = leading_number(rest.strip_prefix(label)?.strip_prefix(' ')?)?;
            rest.is_empty().then_some(number)
        })
    };
    let (passed, failed) = (number("pass")?, number("fail")?);
    let and = |a: u64, label: &str| a.saturating_add(number(label).unwrap_or(0));
    let failed = and(failed, "cancelled");
    let skipped = and(and(0, "skipped"), "todo");
    Some(Summary::Counted(tally(passed, failed, skipped)))
}

/// `Tests:       1 failed, 1 skipped, 2 passed, 4 total`; Pest leaves the total out.
pub(super) fn jest(text: &str) -> Option<Summary> {
    let line_of = |label: &'static str| {
        last(text, move |line| {
            let rest = line.strip_prefix(label)?;
            total(rest, &["total", "passed", "failed"])?;
            let skipped = ["skipped", "todo", "pending"];
            Some(labelled(rest, &["passed"], &["failed"], &skipped).unwrap_or_default())
        })
    };
    let tests = line_of("Tests:");
    // A suite that cannot be loaded has no tests to fail.
    let suites = line_of("Test Suites:").filter(|suites| suites.is_failure());
    match (tests, suites) {
        (Some(tests), Some(_)) if !tests.is_failure() => Some(Summary::Broken),
        (tests, suites) => tests.or(suites.map(|_| Summary::Broken)).or_else(|| {
            // With `--passWithNoTests`, or `-o` where nothing changed.
            none(any_line(text, |line| line.starts_with("No tests found")))
        }),
    }
}

/// `Tests  1 failed | 2 passed | 1 skipped (4)`
pub(super) fn vitest(text: &str) -> Option<Summary> {
    let line_of = |label: &'static str| {
        last(text, move |line| {
            let rest = line.strip_prefix(label)?.strip_prefix("  ")?;
            labelled(rest, &["passed"], &["failed"], &["skipped", "todo"])
        })
    };
    let tests = line_of("Tests");
    let files = line_of("Test Files").filter(|files| files.is_failure());
    let errors = any_line(text, |line| {
        let rest = line.strip_prefix("Errors  ");
        rest.is_some_and(|rest| total(rest, &["error", "errors"]) > Some(0))
    });
    let is_none = any_line(text, |line| line.starts_with("No test files found"));
    match tests {
        Some(tests) if !tests.is_failure() && (files.is_some() || errors) => Some(Summary::Broken),
        Some(tests) => Some(tests),
        None if is_none => none(true),
        None => broken(files.is_some() || errors),
    }
}

/// `  2 passing (5ms)`, `  1 pending`, `  1 failing`, each on its own line.
pub(super) fn mocha(text: &str) -> Option<Summary> {
    let passed = own_line(text, "passing")?;
    let failed = own_line(text, "failing").unwrap_or(0);
    let skipped = own_line(text, "pending").unwrap_or(0);
    Some(Summary::Counted(tally(passed, failed, skipped)))
}

/// `  1 failed`, `  2 skipped`, `  3 passed (2.1s)`, each on its own line.
pub(super) fn playwright(text: &str) -> Option<Summary> {
    let all = [
        ["passed", "flaky"],
        ["failed", "interrupted"],
        ["skipped", "did not run"],
    ];
    let all = all.map(|labels| {
        let numbers = labels.iter().filter_map(|label| own_line(text, label));
        numbers.reduce(u64::saturating_add)
    });
    if all.iter().all(Option::is_none) {
        let is_none = |line: &str| line.starts_with("Error: No tests found");
        return none(any_line(text, is_none));
    }
    let [passed, failed, skipped] = all.map(Option::unwrap_or_default);
    Some(Summary::Counted(tally(passed, failed, skipped)))
}

/// `Passed!  - Failed:     0, Passed:     5, Skipped:     0, Total:     5, Duration: 12 ms - …`,
/// one line per project; older runners and the newest one have a line per number.
pub(super) fn dotnet(text: &str) -> Option<Summary> {
    let one_line = sum(text, |line| {
        let words = ["Passed!", "Failed!", "Skipped!"];
        if !words.iter().any(|word| line.starts_with(word)) {
            return None;
        }
        Some(tally(
            number_after(line, "Passed:")?,
            number_after(line, "Failed:")?,
            number_after(line, "Skipped:").unwrap_or(0),
        ))
    });
    let lines = |passed: &str, failed: &str, skipped: &str| {
        let number = |label: &str| {
            last_number(text, |line| {
                let rest = line.strip_prefix(label)?.trim_start();
                leading_number(rest).map(|(number, _)| number)
            })
        };
        let (ok, bad) = (number(passed), number(failed));
        (ok.is_some() || bad.is_some()).then(|| {
            let skipped = number(skipped).unwrap_or(0);
            Summary::Counted(tally(ok.unwrap_or(0), bad.unwrap_or(0), skipped))
        })
    };
    let counted = match one_line {
        None if has(text, "total tests:") => lines("Passed:", "Failed:", "Skipped:"),
        one_line => one_line,
    };
    let counted = match counted {
        None if has(text, "test run summary:") => lines("succeeded:", "failed:", "skipped:"),
        counted => counted,
    };
    let is_broken = |line: &str| line.starts_with("Build FAILED") || line.contains(": error CS");
    let is_none = |line: &str| {
        line.starts_with("No test is available in") || line.starts_with("No test matches")
    };
    counted
        .or_else(|| broken(any_line(text, is_broken)))
        .or_else(|| none(any_line(text, is_none)))
}

/// `3 examples, 1 failure, 1 pending`
pub(super) fn rspec(text: &str) -> Option<Summary> {
    last(text, |line| {
        let run = total(line, &["example", "examples"])?;
        let failed = total(line, &["failure", "failures"])?;
        let is_outside = line.contains("occurred outside of examples");
        let errors = total(line, &["error", "errors"]).unwrap_or(1);
        let outside = if is_outside { errors } else { 0 };
        let skipped = count(line, "pending").unwrap_or(0);
        let inside = ran(run, failed, skipped);
        Some(inside.plus(tally(0, outside, 0)))
    })
}

/// `OK (5 tests, 8 assertions)`, or `Tests: 5, Assertions: 8, Failures: 1, Errors: 1, Skipped: 1.`
pub(super) fn phpunit(text: &str) -> Option<Summary> {
    last(text, |line| {
        if line.starts_with("No tests executed!") {
            return Some(Tally::default());
        }
        if let Some(rest) = line.strip_prefix("OK (") {
            let run = total(rest, &["test", "tests"])?;
            return rest.contains("assertion").then(|| tally(run, 0, 0));
        }
        let run = number_after(line.strip_prefix("Tests:").map(|_| line)?, "Tests:")?;
        number_after(line, "Assertions:")?;
        let number = |label: &str| number_after(line, label).unwrap_or(0);
        let failed = number("Failures:").saturating_add(number("Errors:"));
        let skipped = number("Skipped:").saturating_add(number("Incomplete:"));
        Some(ran(run, failed, skipped))
    })
}

/// `PHPUnit`'s summary, or Pest's, which looks like jest's.
pub(super) fn pest(text: &str) -> Option<Summary> {
    phpunit(text).or_else(|| jest(text))
}

/// ` 2 pass`, ` 1 fail`, ` 1 skip`, each on its own line, then `Ran 4 tests across 2 files.`
pub(super) fn bun(text: &str) -> Option<Summary> {
    let is_bun = any_line(text, |line| {
        line.starts_with("Ran ") && line.contains(" across ") && line.contains(" file")
    });
    let number = |label: &str| {
        last_number(text, |line| {
            let (number, rest) = leading_number(line)?;
            (rest.trim() == label).then_some(number)
        })
    };
    let (passed, failed) = (number("pass")?, number("fail")?);
    let skipped = number("skip").unwrap_or(0);
    let skipped = skipped.saturating_add(number("todo").unwrap_or(0));
    is_bun.then(|| Summary::Counted(tally(passed, failed, skipped)))
}

/// `ok | 2 passed | 0 failed | 1 ignored (12ms)`, or `FAILED | …`
pub(super) fn deno(text: &str) -> Option<Summary> {
    last(text, |line| {
        let is_it = line.starts_with("ok | ") || line.starts_with("FAILED | ");
        let (passed, failed) = (count(line, "passed")?, count(line, "failed")?);
        let failed = failed.max(u64::from(line.starts_with("FAILED")));
        let skipped = count(line, "ignored").unwrap_or(0);
        is_it.then(|| tally(passed, failed, skipped))
    })
}

/// `1 failed, 4 passed`, alone on a line: a number and a label each, one of them of failures.
pub(super) fn bare_counts(text: &str) -> Option<Summary> {
    let labels = ["passed", "failed", "skipped", "pending", "todo", "total"];
    last(text, |line| {
        let mut parts = line.split(',').map(|part| part.trim().split_once(' '));
        let is_count = |part: Option<(&str, &str)>| {
            part.is_some_and(|(number, label)| {
                number.parse::<u64>().is_ok() && labels.contains(&label)
            })
        };
        let is_summary = parts.all(is_count) && count(line, "failed").is_some();
        let counted = || {
            labelled(
                line,
                &["passed"],
                &["failed"],
                &["skipped", "pending", "todo"],
            )
        };
        is_summary.then(counted).flatten()
    })
}

#[cfg(test)]
mod tests;

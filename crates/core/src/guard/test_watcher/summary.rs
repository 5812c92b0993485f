//! What a test runner says at its end: one reader per runner, each on output without colours.
//!
//! A reader believes the summary and nothing else. Words such as "error" or "FAIL" in the middle
//! of the output prove nothing: a passing test may print them.

use crate::text::{count, has, leading_number, number_after};

/// What a summary says.
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
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            skipped: self.skipped + other.skipped,
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

fn tally(passed: u64, failed: u64, skipped: u64) -> Tally {
    Tally {
        passed,
        failed,
        skipped,
    }
}

/// The sum of what the lines give, if any gives something.
fn sum(text: &str, read: impl Fn(&str) -> Option<Tally>) -> Option<Summary> {
    let lines = text.lines().filter_map(|line| read(line.trim()));
    lines.reduce(Tally::plus).map(Summary::Counted)
}

/// The last line that gives something.
fn last(text: &str, read: impl Fn(&str) -> Option<Tally>) -> Option<Summary> {
    let mut lines = text.lines().rev().filter_map(|line| read(line.trim()));
    lines.next().map(Summary::Counted)
}

fn broken(is_broken: bool) -> Option<Summary> {
    is_broken.then_some(Summary::Broken)
}

fn any_line(text: &str, is_it: impl Fn(&str) -> bool) -> bool {
    text.lines().any(|line| is_it(line.trim()))
}

/// `test result: ok. 5 passed; 0 failed; 1 ignored; …`, one line per test binary.
pub(super) fn cargo(text: &str) -> Option<Summary> {
    let counted = sum(text, |line| {
        let rest = line.strip_prefix("test result: ")?;
        let failed = count(rest, "failed")?;
        let failed = failed.max(u64::from(rest.starts_with("FAILED")));
        Some(tally(
            count(rest, "passed")?,
            failed,
            count(rest, "ignored").unwrap_or(0),
        ))
    });
    // A binary that dies (a signal, an exit in a test) leaves no summary but this line.
    let is_broken = any_line(text, |line| {
        line.starts_with("error: could not compile") || line.starts_with("error: test failed")
    });
    match (counted, broken(is_broken)) {
        (Some(counted), Some(broken)) => Some(counted.and(broken)),
        (counted, broken) => counted.or(broken),
    }
}

/// `Summary [   0.132s] 3 tests run: 2 passed (1 slow), 1 failed, 1 skipped`
pub(super) fn nextest(text: &str) -> Option<Summary> {
    let counted = last(text, |line| {
        let (_, rest) = line.strip_prefix("Summary")?.split_once(" run:")?;
        let dead = ["failed", "errored", "exec"];
        let failed: u64 = dead.iter().filter_map(|word| count(rest, word)).sum();
        let failed = failed + count(rest, "timed").unwrap_or(0);
        let passed = count(rest, "passed").unwrap_or(0);
        Some(tally(passed, failed, count(rest, "skipped").unwrap_or(0)))
    });
    let none = any_line(text, |line| line.starts_with("error: no tests to run"));
    counted
        .or_else(|| none.then_some(Summary::Counted(Tally::default())))
        .or_else(|| {
            broken(any_line(text, |line| {
                line.starts_with("error: could not compile")
                    || line.starts_with("error: test run failed")
            }))
        })
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
        let number = |label: &str| count(counts, label).unwrap_or(0);
        let known = [
            "passed",
            "failed",
            "error",
            "errors",
            "skipped",
            "xfailed",
            "xpassed",
            "deselected",
        ];
        if !known.iter().any(|label| count(counts, label).is_some()) {
            return None;
        }
        let passed = number("passed") + number("xfailed") + number("xpassed");
        let failed = number("failed") + number("error") + number("errors");
        Some(tally(passed, failed, number("skipped")))
    })
}

/// `Ran 3 tests in 0.001s`, then `OK (skipped=1)` or `FAILED (failures=1, errors=1)`.
pub(super) fn unittest(text: &str) -> Option<Summary> {
    let ran = text.lines().rev().find_map(|line| {
        let rest = line.strip_prefix("Ran ")?;
        let (number, rest) = leading_number(rest)?;
        rest.trim_start().starts_with("test").then_some(number)
    })?;
    let word = text.lines().rev().find_map(|line| {
        let line = line.trim();
        let is_it = ["OK", "FAILED", "NO TESTS RAN"]
            .iter()
            .any(|word| line == *word || line.starts_with(&format!("{word} (")));
        is_it.then_some(line)
    })?;
    let number = |label: &str| number_after(word, label).unwrap_or(0);
    let failed = number("failures=") + number("errors=") + number("unexpected successes=");
    let failed = failed.max(u64::from(word.starts_with("FAILED")));
    let skipped = number("skipped=");
    Some(Summary::Counted(tally(
        ran.saturating_sub(failed + skipped),
        failed,
        skipped,
    )))
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
        return None;
    }
    Some(Summary::Counted(tally(
        tests.passed.max(packages.passed),
        tests.failed.max(packages.failed),
        tests.skipped,
    )))
}

/// `# pass 2`, `# fail 1` (TAP) or `ℹ pass 2` (spec).
pub(super) fn node(text: &str) -> Option<Summary> {
    let number = |label: &str| {
        text.lines().rev().find_map(|line| {
            let line = line.trim();
            let rest = line
                .strip_prefix("# ")
                .or_else(|| line.strip_prefix("ℹ "))?;
            let (number, rest) = leading_number(rest.strip_prefix(label)?.strip_prefix(' ')?)?;
            rest.is_empty().then_some(number)
        })
    };
    let (passed, failed) = (number("pass")?, number("fail")?);
    let failed = failed + number("cancelled").unwrap_or(0);
    let skipped = number("skipped").unwrap_or(0) + number("todo").unwrap_or(0);
    Some(Summary::Counted(tally(passed, failed, skipped)))
}

/// `Tests:       1 failed, 1 skipped, 2 passed, 4 total`; Pest leaves the total out.
pub(super) fn jest(text: &str) -> Option<Summary> {
    let line_of = |label: &'static str| {
        last(text, move |line| {
            let rest = line.strip_prefix(label)?;
            let number = |label: &str| count(rest, label);
            let is_it = ["total", "passed", "failed"]
                .iter()
                .any(|label| number(label).is_some());
            let skipped = ["skipped", "todo", "pending"];
            let skipped = skipped.iter().filter_map(|label| number(label)).sum();
            is_it.then(|| {
                tally(
                    number("passed").unwrap_or(0),
                    number("failed").unwrap_or(0),
                    skipped,
                )
            })
        })
    };
    let tests = line_of("Tests:");
    // A suite that cannot be loaded has no tests to fail.
    let suites = line_of("Test Suites:").filter(|suites| suites.is_failure());
    match (tests, suites) {
        (Some(tests), Some(_)) if !tests.is_failure() => Some(Summary::Broken),
        (tests, suites) => tests.or(suites.map(|_| Summary::Broken)),
    }
}

/// `Tests  1 failed | 2 passed | 1 skipped (4)`
pub(super) fn vitest(text: &str) -> Option<Summary> {
    let line_of = |label: &'static str| {
        last(text, move |line| {
            let rest = line.strip_prefix(label)?;
            let rest = rest.strip_prefix("  ")?;
            let number = |label: &str| count(rest, label).unwrap_or(0);
            let is_it = ["passed", "failed", "skipped", "todo"]
                .iter()
                .any(|label| count(rest, label).is_some());
            is_it.then(|| {
                tally(
                    number("passed"),
                    number("failed"),
                    number("skipped") + number("todo"),
                )
            })
        })
    };
    let tests = line_of("Tests");
    let files = line_of("Test Files").filter(|files| files.is_failure());
    let errors = any_line(text, |line| {
        let rest = line.strip_prefix("Errors  ");
        rest.is_some_and(|rest| count(rest, "error").or(count(rest, "errors")) > Some(0))
    });
    let none = any_line(text, |line| line.starts_with("No test files found"));
    match tests {
        Some(tests) if !tests.is_failure() && (files.is_some() || errors) => Some(Summary::Broken),
        Some(tests) => Some(tests),
        None if none => Some(Summary::Counted(Tally::default())),
        None => broken(files.is_some() || errors),
    }
}

/// `  2 passing (5ms)`, `  1 pending`, `  1 failing`, each on a line of its own.
pub(super) fn mocha(text: &str) -> Option<Summary> {
    let number = |label: &str| {
        text.lines().rev().find_map(|line| {
            let (number, rest) = leading_number(line.trim())?;
            let rest = rest.strip_prefix(' ')?.strip_prefix(label)?;
            (rest.is_empty() || rest.starts_with(" (")).then_some(number)
        })
    };
    let passed = number("passing")?;
    let failed = number("failing").unwrap_or(0);
    let skipped = number("pending").unwrap_or(0);
    Some(Summary::Counted(tally(passed, failed, skipped)))
}

/// `  1 failed`, `  2 skipped`, `  3 passed (2.1s)`, each on a line of its own.
pub(super) fn playwright(text: &str) -> Option<Summary> {
    let number = |label: &str| {
        text.lines().rev().find_map(|line| {
            let (number, rest) = leading_number(line.trim())?;
            let rest = rest.strip_prefix(' ')?.strip_prefix(label)?;
            (rest.is_empty() || rest.starts_with(" (")).then_some(number)
        })
    };
    let (passed, failed) = (number("passed"), number("failed"));
    if passed.is_none() && failed.is_none() {
        let none = any_line(text, |line| line.starts_with("Error: No tests found"));
        return none.then_some(Summary::Counted(Tally::default()));
    }
    let failed = failed.unwrap_or(0) + number("interrupted").unwrap_or(0);
    let passed = passed.unwrap_or(0) + number("flaky").unwrap_or(0);
    let skipped = number("skipped").unwrap_or(0) + number("did not run").unwrap_or(0);
    Some(Summary::Counted(tally(passed, failed, skipped)))
}

/// `[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 1`; a class's own line has a time.
pub(super) fn maven(text: &str) -> Option<Summary> {
    let counted = sum(text, |line| {
        let (_, rest) = line.split_once("Tests run:")?;
        if rest.contains("Time elapsed") {
            return None;
        }
        let (run, _) = leading_number(rest.trim_start())?;
        let failed = number_after(rest, "Failures:")? + number_after(rest, "Errors:")?;
        let skipped = number_after(rest, "Skipped:").unwrap_or(0);
        Some(tally(run.saturating_sub(failed + skipped), failed, skipped))
    });
    let built = |word: &str| any_line(text, |line| line.ends_with(word));
    let is_broken = built("BUILD FAILURE");
    let ending = if is_broken {
        Some(Summary::Broken)
    } else {
        built("BUILD SUCCESS").then_some(Summary::Succeeded)
    };
    match (counted, ending) {
        (Some(counted), Some(ending)) => Some(counted.and(ending)),
        (counted, ending) => counted.or(ending),
    }
}

/// `5 tests completed, 1 failed, 1 skipped`, only when one failed; `BUILD SUCCESSFUL in 2s`.
pub(super) fn gradle(text: &str) -> Option<Summary> {
    let counted = sum(text, |line| {
        let (run, rest) = leading_number(line)?;
        let rest = rest.trim_start();
        let rest = rest
            .strip_prefix("tests completed")
            .or_else(|| rest.strip_prefix("test completed"))?;
        let failed = count(rest, "failed").unwrap_or(0);
        let skipped = count(rest, "skipped").unwrap_or(0);
        Some(tally(run.saturating_sub(failed + skipped), failed, skipped))
    });
    let ended = |word: &str| any_line(text, |line| line.starts_with(word));
    let ending = if ended("BUILD FAILED") {
        Some(Summary::Broken)
    } else {
        ended("BUILD SUCCESSFUL").then_some(Summary::Succeeded)
    };
    match (counted, ending) {
        (Some(counted), Some(ending)) => Some(counted.and(ending)),
        (counted, ending) => counted.or(ending),
    }
}

/// `Passed!  - Failed:     0, Passed:     5, Skipped:     0, Total:     5, Duration: 12 ms - …`,
/// one line per project; older runners and the newest one have a line per number.
pub(super) fn dotnet(text: &str) -> Option<Summary> {
    let one_line = sum(text, |line| {
        let is_it = line.starts_with("Passed!") || line.starts_with("Failed!");
        if !is_it {
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
            text.lines().rev().find_map(|line| {
                let rest = line.trim().strip_prefix(label)?;
                leading_number(rest.trim_start()).map(|(number, _)| number)
            })
        };
        let (ok, bad) = (number(passed), number(failed));
        (ok.is_some() || bad.is_some()).then(|| {
            let skipped = number(skipped).unwrap_or(0);
            Summary::Counted(tally(ok.unwrap_or(0), bad.unwrap_or(0), skipped))
        })
    };
    one_line
        .or_else(|| {
            has(text, "total tests:")
                .then(|| lines("Passed:", "Failed:", "Skipped:"))
                .flatten()
        })
        .or_else(|| {
            has(text, "test run summary:")
                .then(|| lines("succeeded:", "failed:", "skipped:"))
                .flatten()
        })
        .or_else(|| {
            broken(any_line(text, |line| {
                line.starts_with("Build FAILED") || line.contains(": error CS")
            }))
        })
}

/// `3 examples, 1 failure, 1 pending`
pub(super) fn rspec(text: &str) -> Option<Summary> {
    last(text, |line| {
        let run = count(line, "examples").or_else(|| count(line, "example"))?;
        let failed = count(line, "failures").or_else(|| count(line, "failure"))?;
        let outside = if line.contains("occurred outside of examples") {
            count(line, "error")
                .or_else(|| count(line, "errors"))
                .unwrap_or(1)
        } else {
            0
        };
        let skipped = count(line, "pending").unwrap_or(0);
        Some(tally(
            run.saturating_sub(failed + skipped),
            failed + outside,
            skipped,
        ))
    })
}

/// `OK (5 tests, 8 assertions)`, or `Tests: 5, Assertions: 8, Failures: 1, Errors: 1, Skipped: 1.`
pub(super) fn phpunit(text: &str) -> Option<Summary> {
    last(text, |line| {
        if line.starts_with("No tests executed!") {
            return Some(Tally::default());
        }
        if let Some(rest) = line.strip_prefix("OK (") {
            let run = count(rest, "tests").or_else(|| count(rest, "test"))?;
            return rest.contains("assertion").then(|| tally(run, 0, 0));
        }
        let run = number_after(line.strip_prefix("Tests:").map(|_| line)?, "Tests:")?;
        number_after(line, "Assertions:")?;
        let number = |label: &str| number_after(line, label).unwrap_or(0);
        let failed = number("Failures:") + number("Errors:");
        let skipped = number("Skipped:") + number("Incomplete:");
        Some(tally(run.saturating_sub(failed + skipped), failed, skipped))
    })
}

/// PHPUnit's summary, or Pest's, which looks like jest's.
pub(super) fn pest(text: &str) -> Option<Summary> {
    phpunit(text).or_else(|| jest(text))
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;

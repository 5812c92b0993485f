//! What the test runners of the JVM say at their end.

use super::summary::{Summary, any_line, both, broken, last, none, ran, sum, tally};
use crate::text::{count, leading_number, number_after};

/// `[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 1`; a class's own line has a time.
pub(super) fn maven(text: &str) -> Option<Summary> {
    let counted = sum(text, |line| {
        let (_, rest) = line.split_once("Tests run:")?;
        if rest.contains("Time elapsed") {
            return None;
        }
        let (run, _) = leading_number(rest.trim_start())?;
        let failed = number_after(rest, "Failures:")?;
        let failed = failed.saturating_add(number_after(rest, "Errors:")?);
        let skipped = number_after(rest, "Skipped:").unwrap_or(0);
        Some(ran(run, failed, skipped))
    });
    let built = |word: &str| any_line(text, |line| line.ends_with(word));
    let is_broken = built("BUILD FAILURE");
    let ending = if is_broken {
        Some(Summary::Broken)
    } else {
        built("BUILD SUCCESS").then_some(Summary::Succeeded)
    };
    // A build succeeds without tests too, and says so.
    let is_none = || built("No tests to run.") || built("Tests are skipped.");
    match (counted, ending) {
        (None, Some(Summary::Succeeded)) if is_none() => none(true),
        (counted, ending) => both(counted, ending),
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
        Some(ran(run, failed, skipped))
    });
    let ended = |word: &str| any_line(text, |line| line.starts_with(word));
    let ending = if ended("BUILD FAILED") {
        Some(Summary::Broken)
    } else {
        ended("BUILD SUCCESSFUL").then_some(Summary::Succeeded)
    };
    match (counted, ending) {
        (None, Some(Summary::Succeeded)) if only_idle_tasks(text) => none(true),
        (counted, ending) => both(counted, ending),
    }
}

/// Whether all tasks that test, and there are some, had nothing to do or were left out:
/// `> Task :app:test NO-SOURCE`.
fn only_idle_tasks(text: &str) -> bool {
    let mut tasks = text.lines().filter_map(|line| {
        let (task, ending) = line.strip_prefix("> Task :")?.split_once(' ')?;
        let name = task.rsplit(':').next().unwrap_or(task);
        let tests = name == "test" || name.ends_with("Test");
        tests.then_some(matches!(ending.trim(), "NO-SOURCE" | "SKIPPED"))
    });
    let is_named = |line: &str| {
        let task = line.strip_prefix("> Task :").map(str::trim);
        task.is_some_and(|task| task.ends_with("test") || task.ends_with("Test"))
    };
    tasks.next() == Some(true) && tasks.all(|idle| idle) && !any_line(text, is_named)
}

/// `[ 3 tests successful ]`, `[ 1 tests failed ]` (`JUnit`'s console, with blanks between), or
/// `OK (2 tests)` and `Tests run: 2,  Failures: 1` (`JUnit` 4).
pub(super) fn junit(text: &str) -> Option<Summary> {
    let boxed = |label: &str| {
        text.lines().rev().find_map(|line| {
            let line = line.trim().strip_prefix('[')?.strip_suffix(']')?;
            let (number, rest) = leading_number(line.trim())?;
            (rest.trim() == label).then_some(number)
        })
    };
    if let (Some(passed), Some(failed)) = (boxed("tests successful"), boxed("tests failed")) {
        // A container that fails takes its tests along unseen.
        let failed = failed.max(boxed("containers failed").unwrap_or(0));
        let skipped = boxed("tests skipped").unwrap_or(0);
        let skipped = skipped.saturating_add(boxed("tests aborted").unwrap_or(0));
        return Some(Summary::Counted(tally(passed, failed, skipped)));
    }
    last(text, |line| {
        if let Some(rest) = line.strip_prefix("OK (") {
            let run = count(rest, "tests").or_else(|| count(rest, "test"))?;
            return (!rest.contains("assertion")).then(|| tally(run, 0, 0));
        }
        let run = number_after(line.strip_prefix("Tests run:").map(|_| line)?, "Tests run:")?;
        let failed = number_after(line, "Failures:")?;
        let is_maven = line.contains("Errors:");
        (!is_maven).then(|| ran(run, failed, 0))
    })
    .or_else(|| broken(any_line(text, |line| line == "FAILURES!!!")))
}

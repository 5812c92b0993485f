//! A test runner that ran no test and calls that a success: nothing was checked, so it is no pass.
//!
//! Only runners for which this is an accident: a wrong directory or pattern. Cargo and Go say the
//! same of every crate and package without tests, and most others exit with an error themselves.

/// How the line with the count of tests begins, with what follows the count.
const COUNTS: &[(&str, &str)] = &[
    // Python's unittest before 3.12; later ones exit with 5.
    ("Ran ", " tests in "),
    ("Ran ", " test in "),
    // node --test
    ("# tests ", ""),
    ("ℹ tests ", ""),
];

/// The line that says that no test ran, unless another one counts some.
pub(super) fn said(output: &str) -> Option<&str> {
    let counts = output.lines().map(str::trim_end);
    let mut counts = counts.filter_map(|line| Some((line, count(line)?)));
    let (zero, _) = counts.clone().find(|(_, count)| *count == 0)?;
    counts.all(|(_, count)| count == 0).then_some(zero)
}

fn count(line: &str) -> Option<u64> {
    COUNTS.iter().find_map(|(before, after)| {
        let rest = line.strip_prefix(before)?;
        let end = rest.find(|c: char| !c.is_ascii_digit());
        let (digits, rest) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
        let is_whole = if after.is_empty() {
            rest.is_empty()
        } else {
            rest.starts_with(after)
        };
        digits.parse().ok().filter(|_| is_whole)
    })
}

#[cfg(test)]
mod tests {
    use super::said;

    #[test]
    fn a_runner_that_ran_nothing_is_recognised() {
        assert_eq!(
            said("\nRan 0 tests in 0.000s\n\nOK\n"),
            Some("Ran 0 tests in 0.000s")
        );
        assert_eq!(said("1..0\n# tests 0\n# suites 0\n"), Some("# tests 0"));
        assert_eq!(said("ℹ tests 0\nℹ suites 0\n"), Some("ℹ tests 0"));
    }

    #[test]
    fn one_test_is_enough_wherever_it_ran() {
        for output in [
            "Ran 1 test in 0.001s\nRan 0 tests in 0.000s\n",
            "Ran 0 tests in 0.000s\nRan 12 tests in 3.1s\n",
            "# tests 3\n# tests 0\n",
            "running 0 tests\n\ntest result: ok. 0 passed\n",
            "# tests 0 of the old suite are left\nRan 0 testsuites\nRan tests\n",
            "",
        ] {
            assert_eq!(said(output), None, "{output}");
        }
    }
}

//! The summaries of real runs (cargo, nextest, pytest, unittest, node, jest, vitest, mocha,
//! playwright: captured; the others written to the letter of their formats), as files under
//! `tests/summaries`.

use super::super::runners::RUNNERS;
use super::*;
use crate::text::plain;

macro_rules! file {
    ($name:literal) => {
        include_str!(concat!("../../../../tests/summaries/", $name, ".txt"))
    };
}

fn counted(passed: u64, failed: u64, skipped: u64) -> Summary {
    Summary::Counted(tally(passed, failed, skipped))
}

fn read(runner: &str, text: &str) -> Option<Summary> {
    let runner = RUNNERS.iter().find(|known| known.name == runner).unwrap();
    runner.read(&plain(text))
}

/// F11: `cat jest.config.js` was a test run, and a passing `cargo test` had failed.
#[test]
fn f11_every_runners_own_summary_is_read() {
    let (good, bad) = (Some(counted(2, 0, 1)), Some(counted(1, 1, 1)));
    for (runner, pass, fail) in [
        ("cargo test", file!("cargo-pass"), file!("cargo-fail")),
        (
            "cargo nextest",
            file!("nextest-pass"),
            file!("nextest-fail"),
        ),
    ] {
        assert_eq!(read(runner, pass), good, "{runner}");
        assert_eq!(read(runner, fail), Some(counted(2, 1, 1)), "{runner}");
    }
    for (runner, pass, fail) in [
        ("pytest", file!("pytest-pass"), file!("pytest-fail")),
        (
            "pytest",
            file!("pytest-quiet-pass"),
            file!("pytest-quiet-fail"),
        ),
        ("unittest", file!("unittest-pass"), file!("unittest-fail")),
        (
            "unittest",
            file!("unittest-verbose-pass"),
            file!("unittest-verbose-fail"),
        ),
        ("node --test", file!("node-pass"), file!("node-fail")),
        (
            "node --test",
            file!("node-spec-pass"),
            file!("node-spec-fail"),
        ),
        (
            "node --test",
            file!("node-coverage-pass"),
            file!("node-coverage-fail"),
        ),
        ("jest", file!("jest-pass"), file!("jest-fail")),
        ("vitest", file!("vitest-pass"), file!("vitest-fail")),
        ("mocha", file!("mocha-pass"), file!("mocha-fail")),
        (
            "playwright",
            file!("playwright-pass"),
            file!("playwright-fail"),
        ),
        ("maven", file!("maven-pass"), file!("maven-fail")),
        ("dotnet test", file!("dotnet-pass"), file!("dotnet-fail")),
        (
            "dotnet test",
            file!("dotnet-summary-pass"),
            file!("dotnet-lines-fail"),
        ),
        ("rspec", file!("rspec-pass"), file!("rspec-fail")),
        (
            "phpunit",
            file!("phpunit-skipped-pass"),
            file!("phpunit-fail"),
        ),
    ] {
        assert_eq!(read(runner, pass), good, "{runner}");
        assert_eq!(read(runner, fail), bad, "{runner}");
        // A script that starts the runner is read in the same way.
        assert_eq!(
            read("a script", pass).map(Summary::is_failure),
            Some(false),
            "{runner}"
        );
        assert_eq!(
            read("a script", fail).map(Summary::is_failure),
            Some(true),
            "{runner}"
        );
    }
    assert_eq!(
        read("phpunit", file!("phpunit-pass")),
        Some(counted(2, 0, 0))
    );
    assert_eq!(read("phpunit", file!("pest-fail")), bad);
    assert_eq!(
        read("gradle", file!("gradle-pass")),
        Some(Summary::Succeeded)
    );
    assert_eq!(read("gradle", file!("gradle-fail")), bad);
    assert_eq!(read("go test", file!("go-pass")), Some(counted(2, 0, 0)));
    assert_eq!(read("go test", file!("go-fail")), Some(counted(1, 1, 0)));
    assert_eq!(read("go test", file!("go-verbose-pass")), good);
}

#[test]
fn a_run_that_could_not_start_is_broken_and_one_without_tests_is_counted_as_such() {
    for (runner, text) in [
        ("cargo test", file!("cargo-broken")),
        ("jest", file!("jest-broken")),
        ("vitest", file!("vitest-broken")),
        ("maven", file!("maven-broken")),
    ] {
        assert_eq!(read(runner, text), Some(Summary::Broken), "{runner}");
    }
    assert_eq!(
        read("pytest", file!("pytest-broken")),
        Some(counted(0, 1, 0))
    );
    assert_eq!(read("go test", file!("go-broken")), Some(counted(0, 1, 0)));
    assert_eq!(read("rspec", file!("rspec-broken")), Some(counted(0, 1, 0)));
    for (runner, text) in [
        ("cargo test", file!("cargo-none")),
        ("pytest", file!("pytest-none")),
        ("go test", file!("go-none")),
        ("phpunit", "No tests executed!"),
        ("vitest", "No test files found, exiting with code 1"),
    ] {
        assert_eq!(read(runner, text), Some(counted(0, 0, 0)), "{runner}");
    }
}

/// F11: `cat jest.config.js` was a test run, and a passing `cargo test` had failed.
#[test]
fn f11_words_in_the_middle_prove_nothing() {
    let noise = "Error: expected\nFAIL is a word\n3 failed attempts logged\nTypeError: shown\n";
    for runner in RUNNERS {
        assert_eq!(runner.read(noise), None, "{}", runner.name);
    }
    let text = format!("{noise}{}", file!("cargo-pass"));
    assert_eq!(read("cargo test", &text), Some(counted(2, 0, 1)));
}

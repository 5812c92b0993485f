//! Gates: `run`, `detect`, `list`, `validate`, `health`, and what is wrong in their files.

use super::assert_shows;
use crate::project::TestProject;

const LINT: (&str, &str) = ("lint", "command: \"true\"");
const TEST: (&str, &str) = (
    "test",
    "command: test ! -e broken || { echo 2 tests failed; exit 3; }",
);

/// A repository with two checks for `src`, a review, and a change that no gate has seen.
fn project() -> TestProject {
    let project = TestProject::empty().with_only(&["git", "sh", "test"]);
    project
        .with_repository()
        .with_gates(".tollgate", &[LINT, TEST], "")
        .with_change()
}

#[test]
fn a_change_that_passes() {
    assert_shows!(
        project(),
        &["list", "detect", "run", "run", "detect", "status"]
    );
}

#[test]
fn a_change_that_fails() {
    let project = project();
    project.file("src/broken", "");
    assert_shows!(project, &["run", "status", "check --gate lint", "clean"]);
}

#[test]
fn a_sound_configuration() {
    let project = project();
    project.file(".tollgate/config.yml", "base_branch: main\ncli:\n  default_preference: [claude, codex]\nentry_points:\n  - path: src\n    checks: [lint, test]\n    reviews: [quality]\n");
    project.file(".tollgate/reviews/quality.md", "Look for races.\n");
    project.program("claude", "#!/bin/sh\nexit 0\n");
    assert_shows!(project, &["validate", "health", "list"]);
}

#[test]
fn a_configuration_with_mistakes() {
    let project = project();
    project.file(".tollgate/config.yml", "base_branch: main\nmax_retrys: 3\nmax_retries: -1\nentry_points:\n  - path: src\n    checks: [lnt, test]\n  - checks: [lint]\n");
    project.file(".tollgate/checks/test.yml", "comand: x\ntimeout: soon\n");
    assert_shows!(project, &["validate", "health", "list", "detect", "run"]);
}

#[test]
fn a_configuration_that_is_no_yaml() {
    let project = project();
    project.file(
        ".tollgate/config.yml",
        "base_branch: main\nentry_points: [\n",
    );
    assert_shows!(project, &["validate", "run"]);
}

#[test]
fn no_gates() {
    assert_shows!(
        TestProject::empty().with_only(&["git"]).with_repository(),
        &["run", "detect", "list", "validate", "health"]
    );
}

/// A project of Tollgate's own speaks in Tollgate's words.
#[test]
fn gates_of_tollgate_toml_are_listed_a_line_each() {
    let gates = "[gates.test]\nrun = \"cargo test\"\n\n[gates.quality]\nprompt = \"Look for races.\"\nreviewers = [\"codex\", \"claude\"]\n";
    let project = TestProject::empty().on_branch("main").with_toml(gates);
    let list = project.must(&["list"]).stdout;
    assert_eq!(
        list,
        "check test  cargo test\nreview quality  codex, claude\n"
    );
    let health = project.must(&["health"]).stdout;
    assert!(!health.contains("CLI Tool"), "{health}");
    assert!(
        health.contains("`tollgate doctor` checks the whole setup."),
        "{health}"
    );
}

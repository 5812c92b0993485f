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

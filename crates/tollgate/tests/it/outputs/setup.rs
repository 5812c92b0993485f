//! Setting up: `init`, `install`, `uninstall`, `doctor`, `trust`.

use super::{assert_shows, filters};
use crate::project::TestProject;
use crate::terminal::Terminal;

/// A machine with Tollgate and Claude Code, and a repository with one commit on it.
fn machine() -> TestProject {
    let project = TestProject::with_tollgate_on_path().with_repository();
    let project = project.with_only(&["git", "sh"]);
    project.program("cargo", "#!/bin/sh\n");
    project.file(
        "Cargo.toml",
        "[package]\nname = \"shop\"\nversion = \"0.1.0\"\n",
    );
    project.commit("first");
    project
}

fn with_workflow() -> TestProject {
    let project = machine();
    std::fs::create_dir_all(project.path(".tollgate/workflow")).unwrap();
    project
}

#[test]
fn init_of_a_rust_project() {
    assert_shows!(
        machine(),
        &["init --only gates --yes", "init --only gates --yes"]
    );
}

#[test]
fn init_where_nothing_is_known() {
    assert_shows!(TestProject::empty(), &["init --dry-run", "init"]);
}

#[test]
fn init_that_cannot_be_made() {
    let project = machine();
    assert_shows!(
        project,
        &["init", "init --only rules --yes", "init --migrate"]
    );
    project.file("tollgate.toml", "[gates.test]\nrun = \"make test\"\n");
    let own = super::transcript(&project, &["init --yes", "init --migrate --yes"]);
    project.file(".tollgate/config.yml", "entry_points: [\n");
    let both = super::transcript(&project, &["init --migrate --yes"]);
    filters(&project).bind(|| insta::assert_snapshot!(format!("{own}\n{both}")));
}

#[test]
fn install_that_cannot_be_made() {
    let project = machine();
    std::fs::remove_dir_all(project.path(".git")).unwrap();
    assert_shows!(
        project,
        &[
            "install",
            "install --agent claud",
            "install --agent claude-code --command nowhere --yes",
            "install --agent claude-code --command sh --yes",
            "install --git",
            "uninstall --dry-run",
            "uninstall --git --dry-run",
            "uninstall --purge --json",
        ]
    );
}

#[test]
fn install_shows_what_would_change() {
    assert_shows!(
        with_workflow(),
        &[
            "install --agent claude-code --no-git-guard --dry-run",
            "install --list"
        ]
    );
}

#[test]
fn install_and_uninstall() {
    assert_shows!(
        with_workflow(),
        &[
            "install --agent claude-code --yes",
            "install --agent claude-code --yes",
            "install --list",
            "uninstall --dry-run",
            "uninstall --yes",
        ]
    );
}

/// Only a person takes Tollgate out.
#[test]
fn a_person_takes_it_out() {
    let project = with_workflow();
    project.must(&["install", "--agent", "claude-code", "--yes"]);
    let (screen, code) = Terminal::start(&project.command(&["uninstall", "--yes"])).ends();
    assert_eq!(code, 0, "{screen}");
    assert!(!project.exists(".claude"));
    filters(&project).bind(|| insta::assert_snapshot!(screen));
}

#[test]
fn install_into_settings_that_cannot_be_read() {
    let project = with_workflow();
    project.file(".claude/settings.json", "{ \"hooks\": ");
    assert_shows!(
        project,
        &["install --agent claude-code --yes", "uninstall --yes"]
    );
}

#[test]
fn a_healthy_setup() {
    let project = with_workflow();
    project.must(&["install", "--agent", "claude-code", "--yes"]);
    assert_shows!(project, &["doctor"]);
}

#[test]
fn a_setup_with_faults() {
    let project = with_workflow();
    project.file(".tollgate/config.yml", "entry_points: [\n");
    project.file(".tollgate/workflow/state.json", "{");
    assert_shows!(project, &["doctor", "doctor --fix"]);
}

#[test]
fn what_a_project_would_run() {
    let project = machine().with_gates(".tollgate", &[("test", "command: make test")], "");
    assert_shows!(project, &["trust --show", "trust --yes"]);
}

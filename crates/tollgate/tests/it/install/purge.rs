//! `uninstall --purge`: everything outside of the project's own files is listed, then gone.

use crate::project::TestProject;
use crate::terminal::Terminal;

/// Registered for the project and for the person, guarded on git's side, trusted, allowed.
fn used() -> TestProject {
    let desk = TestProject::with_tollgate_on_path().with_repository();
    desk.file(
        ".tollgate/config.yml",
        "entry_points:\n  - path: \".\"\n    checks: [test]\n",
    );
    desk.file(".tollgate/checks/test.yml", "command: \"true\"\n");
    desk.install_for("project");
    desk.install_for("user");
    desk.must(&["install", "--git", "--yes"]);
    desk.trust();
    desk
}

#[test]
fn what_is_kept_is_listed_and_removed_on_yes() {
    let desk = used();
    let state = desk.home().join(".local/state/tollgate");
    assert!(state.is_dir());
    let before = desk.snapshot();
    let mut terminal = Terminal::start(&desk.command(&["uninstall", "--purge"]));
    let (screen, code) = terminal
        .shows("Remove all of this? [y/N] ")
        .types("n")
        .ends();
    assert_eq!(code, 1, "{screen}");
    assert_eq!(desk.snapshot(), before, "a no changes nothing");
    for line in [
        ".claude/settings.json (Claude Code, project)",
        "~/.claude/settings.json (Claude Code, user)",
        ".git/hooks/reference-transaction",
        "~/.local/state/tollgate/trust (the commands that you trust: ",
        "stay",
    ] {
        assert!(screen.contains(line), "{line}: {screen}");
    }
    let root = desk.root().canonicalize().unwrap();
    assert!(
        screen.contains(&format!("about {}", root.display())),
        "{screen}"
    );
    let mut terminal = Terminal::start(&desk.command(&["uninstall", "--purge"]));
    let (screen, code) = terminal
        .shows("Remove all of this? [y/N] ")
        .types("y")
        .ends();
    assert_eq!(code, 0, "{screen}");
    assert!(!state.exists(), "{screen}");
    assert!(!desk.exists(".claude/settings.json"));
    assert!(!desk.home().join(".claude/settings.json").exists());
    assert!(!desk.exists(".git/hooks/reference-transaction"));
    assert!(
        desk.exists(".tollgate/config.yml"),
        "the project's files stay"
    );
    let again = desk.uninstall(&["--purge"]);
    assert!(again.contains("nothing of Tollgate was found"), "{again}");
}

#[test]
fn a_dry_run_lists_for_everybody_and_removes_nothing() {
    let desk = used();
    let before = desk.snapshot();
    let ran = desk.must(&["uninstall", "--purge", "--dry-run", "--json"]);
    let found = ran.json();
    assert_eq!(found["removed"], false);
    assert_eq!(found["found"]["settings"].as_array().unwrap().len(), 2);
    assert_eq!(found["found"]["settings"][1]["scope"], "user");
    let hook = found["found"]["git_hook"].as_str().unwrap();
    assert!(hook.ends_with("reference-transaction"), "{hook}");
    let kept = found["found"]["kept"].as_array().unwrap();
    let trust = kept
        .iter()
        .find(|part| part["path"].as_str().unwrap().ends_with("/trust"));
    assert_eq!(trust.unwrap()["repositories"].as_array().unwrap().len(), 1);
    assert_eq!(desk.snapshot(), before);
}

#[test]
fn only_a_person_purges() {
    let desk = used();
    let before = desk.snapshot();
    let ran = desk.tollgate(&["uninstall", "--purge", "--yes"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("for a person at a terminal"), "{ran:?}");
    assert_eq!(desk.snapshot(), before);
    let mut terminal = desk.terminal(&["uninstall", "--purge", "--yes", "--json"]);
    let (screen, code) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("\"removed\": true"), "{screen}");
    assert!(!desk.home().join(".local/state/tollgate").exists());
}

#[test]
fn what_is_kept_elsewhere_by_a_link_is_not_removed() {
    let desk = TestProject::with_tollgate_on_path();
    let elsewhere = desk.home().join("elsewhere/trust");
    std::fs::create_dir_all(&elsewhere).unwrap();
    let state = desk.home().join(".local/state");
    std::fs::create_dir_all(&state).unwrap();
    std::os::unix::fs::symlink("../../elsewhere", state.join("tollgate")).unwrap();
    let (screen, code) = desk.terminal(&["uninstall", "--purge", "--yes"]).ends();
    assert_eq!(code, 2, "{screen}");
    assert!(screen.contains("is not a directory"), "{screen}");
    assert!(elsewhere.is_dir());
}

//! What a person says, and what follows from it.

use std::os::unix::fs::PermissionsExt as _;

use super::Clone;
use crate::project::git;

#[test]
fn nothing_runs_until_a_person_trusts_it() {
    let clone = Clone::new();
    let answer = clone.stop();
    clone.is_not_run(&answer, "1 command is not trusted yet");
    // Every stop that is not verified says so.
    clone.is_not_run(&clone.stop(), "not trusted yet");
    assert_eq!(clone.codes(), ["TRUST-001", "TRUST-001"]);
    clone.trust();
    clone.is_run(&clone.stop());
}

#[test]
fn a_person_is_shown_the_commands_and_asked() {
    let clone = Clone::new();
    let mut terminal = clone.terminal(&["trust"]);
    terminal.shows("check trace  touch ../ran; exit 3");
    let (screen, code) = terminal.shows("[y/N] ").types("n").ends();
    assert_eq!(code, 1, "{screen}");
    clone.is_not_run(&clone.stop(), "not trusted yet");
    let (screen, code) = clone.terminal(&["trust"]).shows("[y/N] ").types("y").ends();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("trusted  1 command in "), "{screen}");
    clone.is_run(&clone.stop());
}

#[test]
fn a_changed_check_asks_again_and_shows_only_the_difference() {
    let clone = Clone::new();
    clone
        .project
        .file(".tollgate/checks/other.yml", "command: \"true\"\n");
    clone.trust();
    clone.check("command: touch ../ran; echo changed; exit 3\n");
    clone.is_not_run(&clone.stop(), "changed since you trusted them (1 differ)");
    let mut terminal = clone.terminal(&["trust"]);
    let (screen, _) = terminal.shows("[y/N] ").types("y").ends();
    assert!(
        screen.contains("+ check trace  touch ../ran; echo changed; exit 3"),
        "{screen}"
    );
    assert!(
        screen.contains("- check trace  touch ../ran; exit 3"),
        "{screen}"
    );
    assert!(!screen.contains("check other"), "{screen}");
    assert!(screen.contains("1 as you trusted before"), "{screen}");
    clone.is_run(&clone.stop());
    // Another branch with the checks that were trusted before needs no new question.
    clone.check(super::TRACE);
    clone.is_run(&clone.stop());
}

#[test]
fn comments_globs_messages_and_limits_may_change() {
    let clone = Clone::trusted();
    clone.check("# why\ncommand: touch ../ran; exit 3\ntimeout: 7\nfix_instructions: help.md\n");
    clone.file(".tollgate/help.md", "Correct it.\n");
    clone.file(
        ".tollgate/config.yml",
        "base_branch: main\nmax_retries: 9\nstop_hook: { run_interval_minutes: 0 }\nentry_points:\n  - path: src\n    exclude: [\"**/*.md\"]\n    checks: [trace]\n",
    );
    clone.is_run(&clone.stop());
}

#[test]
fn a_check_by_another_name_runs_the_same_command() {
    let clone = Clone::trusted();
    let rename = |text: String| text.replace("trace", "leave-a-trace");
    let config = rename(clone.read(".tollgate/config.yml"));
    clone.file(".tollgate/config.yml", &config);
    clone
        .project
        .file(".tollgate/checks/leave-a-trace.yml", super::TRACE);
    std::fs::remove_file(clone.path(".tollgate/checks/trace.yml")).unwrap();
    let shown = clone.tollgate(&["trust", "--show"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    clone.is_run(&clone.stop());
}

#[test]
fn a_registration_in_the_project_needs_no_trust() {
    let clone = Clone::new();
    clone.is_run(&clone.stop_with(clone.command(&["hook"])));
}

#[test]
fn a_persons_own_run_is_consent() {
    let clone = Clone::new();
    let run = clone.tollgate(&["run"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(clone.ran());
}

#[test]
fn untrust_takes_it_back() {
    let clone = Clone::trusted();
    assert_eq!(clone.tollgate(&["trust", "--show"]).code, 0);
    let run = clone.tollgate(&["untrust"]);
    assert_eq!(run.code, 2, "an agent must not switch gates off: {run:?}");
    // Every store forgets what was not used for long.
    let other = clone.store().join("other.json");
    crate::project::put(&other, "{}");
    let old = std::time::SystemTime::now() - std::time::Duration::from_hours(100 * 24);
    let file = std::fs::File::options().write(true).open(&other);
    file.unwrap().set_modified(old).unwrap();
    let (screen, code) = clone.terminal(&["untrust"]).ends();
    assert!(!other.exists());
    assert_eq!(code, 0, "{screen}");
    assert_eq!(clone.tollgate(&["trust", "--show"]).code, 1);
    clone.is_not_run(&clone.stop(), "not trusted yet");
}

#[test]
fn linked_worktrees_inherit_and_nested_repositories_do_not() {
    let clone = Clone::trusted();
    let elsewhere = tempfile::tempdir().unwrap();
    let linked = elsewhere.path().join("linked");
    clone.git(&[
        "worktree",
        "add",
        "-q",
        linked.to_str().unwrap(),
        "-b",
        "side",
    ]);
    let mut show = clone.command(&["trust", "--show"]);
    show.current_dir(&linked);
    assert_eq!(show.status().unwrap().code(), Some(0));

    let nested = clone.path("vendor/nested");
    std::fs::create_dir_all(&nested).unwrap();
    git(&nested, &["init", "-q"]);
    for file in [".tollgate/config.yml", ".tollgate/checks/trace.yml"] {
        let text = clone.read(file);
        clone.file(&format!("vendor/nested/{file}"), &text);
    }
    let mut show = clone.command(&["trust", "--show"]);
    show.current_dir(&nested);
    assert_eq!(show.status().unwrap().code(), Some(1));
}

#[test]
fn the_store_is_private_and_survives_a_broken_file() {
    let clone = Clone::trusted();
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&clone.store()), 0o700);
    let files = std::fs::read_dir(clone.store()).unwrap().flatten();
    let file = files
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|end| end == "json"))
        .unwrap();
    assert_eq!(mode(&file), 0o600);
    std::io::Write::write_all(&mut std::fs::File::create(&file).unwrap(), b"{").unwrap();
    clone.is_not_run(&clone.stop(), "remove it and start again");
}

#[test]
fn ci_pins_exactly_one_set() {
    let clone = Clone::new();
    let pinned = |pin: &str| {
        let mut command = clone.command(&["hook", "--require-trust"]);
        command.env("TOLLGATE_TRUST", pin);
        clone.stop_with(command)
    };
    let print = clone.fingerprint();
    assert_eq!(print.len(), 64);
    for all in ["1", "true", "*", "all"] {
        clone.is_not_run(&pinned(all), "pins another set");
    }
    clone.is_run(&pinned(&print));
    clone.check("command: touch ../ran; false\n");
    clone.is_not_run(&pinned(&print), "pins another set");
}

#[test]
fn a_project_without_commands_has_nothing_to_ask() {
    let clone = Clone::empty();
    clone.file(".tollgate/workflow/config/.keep", "");
    clone.committed();
    assert_eq!(clone.stop(), serde_json::Value::Null);
    let run = clone.tollgate(&["trust"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("there is nothing to run"), "{run:?}");
}

/// Rules run nothing. Only what they say needs trust.
#[test]
fn texts_of_rules_are_no_commands() {
    let rule = |id: &str| {
        format!("[[rule]]\nid = {id:?}\ndeny = {{ delete = [\"db/**\"] }}\nreason = \"history\"\n")
    };
    let clone = Clone::empty();
    clone.file("tollgate.toml", rule("one") + &rule("two"));
    clone.committed();
    assert_eq!(clone.stop(), serde_json::Value::Null);
    let (screen, code) = clone.terminal(&["trust"]).shows("[y/N] ").types("y").ends();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains(" would say to the agent:"), "{screen}");
    assert!(!screen.contains("would run"), "{screen}");
    assert!(screen.contains("trusted  2 texts of rules in "), "{screen}");
    // Beside a command both are counted.
    let gate = "[gates.trace]\nrun = \"touch ran; exit 3\"\n";
    clone.file(
        "tollgate.toml",
        gate.to_owned() + &rule("one") + &rule("two"),
    );
    let run = clone.tollgate(&["trust", "--show", "--json"]).json();
    assert_eq!(
        run["commands"],
        serde_json::json!(["check trace  touch ran; exit 3"])
    );
    assert_eq!(run["texts"].as_array().map(Vec::len), Some(2), "{run}");
    clone.is_not_run(
        &clone.stop(),
        "commands changed since you trusted them (1 differ)",
    );
    clone.trust();
    clone.file("tollgate.toml", gate.to_owned() + &rule("one"));
    let shown = clone.tollgate(&["trust", "--show"]);
    shown
        .exits(1)
        .says("texts of rules changed since you trusted them (1 differ)");
}

//! The ways around trust that other tools had, and the rows of "must never run or load from an
//! untrusted repository": one test each.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use serde_json::{Value, json};

use super::{Clone, TRACE};
use crate::project::run;
use crate::terminal::Terminal;

// Row 1: code.

#[test]
fn a_reviewer_command_does_not_run() {
    let clone = Clone::empty();
    clone.file(
        ".tollgate/config.yml",
        "base_branch: main\nstop_hook: { run_interval_minutes: 0 }\ncli: { default_preference: [command] }\nentry_points:\n  - path: src\n    reviews: [look]\n",
    );
    clone.file(
        ".tollgate/reviews/look.yml",
        "prompt: look\ncommand: touch ran; false\n",
    );
    clone.file("src/a.txt", "a\n");
    clone.committed();
    clone.is_not_run(&clone.stop(), "1 command is not trusted yet");
    clone.trust();
    clone.stop();
    assert!(clone.ran());
    std::fs::remove_file(clone.path("ran")).unwrap();
    // Another line for the same reviewer is another command.
    clone.file(
        ".tollgate/reviews/look.yml",
        "prompt: look\ncommand: touch ran; true\n",
    );
    clone.is_not_run(&clone.stop(), "changed");
}

#[test]
fn another_reviewer_or_model_asks_again() {
    let clone = Clone::empty();
    let config = |reviewer: &str| {
        clone.file(
            ".tollgate/config.yml",
            format!("base_branch: main\ncli: {{ default_preference: [{reviewer}] }}\nentry_points:\n  - path: src\n    reviews: [look]\n"),
        )
    };
    let review = |model: &str| {
        clone.file(
            ".tollgate/reviews/look.md",
            format!("---\nmodel: {model}\n---\nLook.\n"),
        )
    };
    config("claude");
    review("opus");
    clone.committed();
    clone.trust();
    assert_eq!(clone.tollgate(&["trust", "--show"]).code, 0);
    config("codex");
    assert_eq!(clone.tollgate(&["trust", "--show"]).code, 1);
    config("claude");
    review("elsewhere");
    assert_eq!(clone.tollgate(&["trust", "--show"]).code, 1);
}

// Row 2: where and with what.

#[test]
fn another_working_directory_asks_again() {
    let clone = Clone::trusted();
    clone.check(&format!("{TRACE}working_directory: ../../elsewhere\n"));
    clone.is_not_run(&clone.stop(), "changed");
}

#[test]
fn logs_outside_of_the_project_ask() {
    let clone = Clone::trusted();
    let outside = clone.home().join("logs");
    let config = clone.read(".tollgate/config.yml");
    clone.file(
        ".tollgate/config.yml",
        format!("log_dir: {}\n{config}", outside.display()),
    );
    clone.is_not_run(&clone.stop(), "changed");
    assert!(!outside.exists());
}

// Row 4: what weakens a gate is never taken for a pass.

/// Whoever is asked about commands must see them: a name, a directory or a model that moves the
/// cursor, or turns the order of reading around, would hide the line before.
#[test]
fn nothing_that_is_shown_hides_a_command() {
    let clone = Clone::new();
    clone.check("command: \"echo \\u202Ehi\"\nworking_directory: \"src\\e[1A\\e[2K\"\n");
    let name = "a\u{1b}[2Jb";
    clone.file(
        &format!(".tollgate/checks/{name}.yml"),
        "command: rm -rf x\n",
    );
    clone.file(
        ".tollgate/reviews/look.yml",
        "prompt: hi\nmodel: \"m\\e[1A\\e[2K\"\n",
    );
    clone.file(
        ".tollgate/config.yml",
        "base_branch: main\nlog_dir: \"/tmp/\\e[2Jlogs\"\ncli: { default_preference: [claude] }\nentry_points:\n  - path: src\n    checks: [trace, \"a\\e[2Jb\"]\n    reviews: [look]\n",
    );
    let mut command = clone.command(&["trust", "--show", "--json"]);
    let shown = run(command, b"").stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let lines = shown["commands"].as_array().unwrap();
    assert_eq!(lines.len(), 4, "{shown:#}");
    command = clone.command(&["trust", "--show"]);
    command.env("CLICOLOR_FORCE", "1");
    let screen = run(command, b"").stdout;
    let listed: Vec<&str> = screen.lines().take(lines.len()).collect();
    for line in &listed {
        assert!(!line.contains(['\u{1b}', '\u{202e}']), "{screen:?}");
    }
    let listed = listed.join("\n");
    assert!(listed.contains("rm -rf x"), "{screen:?}");
    assert!(
        listed.contains("echo \\u{202e}hi  (in src\\u{1b}[1A"),
        "{screen:?}"
    );
}

#[test]
fn a_project_that_says_it_passed_is_not_believed() {
    let clone = Clone::new();
    let now = jiff::Timestamp::now().to_string();
    let state = json!({ "last_run_completed_at": now, "branch": "main", "commit": clone.git(&["rev-parse", "HEAD"]) });
    clone
        .project
        .file(".tollgate/logs/.execution_state", state.to_string());
    clone.is_not_run(&clone.stop(), "not trusted yet");
}

#[test]
fn a_project_that_switches_its_gates_off_is_not_a_pass() {
    let clone = Clone::new();
    let config = clone.read(".tollgate/config.yml");
    let config = config.replace("stop_hook: {", "stop_hook: { enabled: false,");
    clone.file(".tollgate/config.yml", &config);
    let mut command = clone.command(&["hook", "--require-trust", "--protocol", "gauntlet"]);
    command.env("CLAUDE_PROJECT_DIR", clone.root());
    let run = run(command, br#"{"hook_event_name":"Stop"}"#);
    assert!(!run.stdout.contains("passed"), "{run:?}");
    assert!(!clone.ran());
}

// Row 5: nothing in a repository grants trust (mise GHSA-436v, CVE-2026-33068).

#[test]
fn a_store_inside_of_the_repository_is_none() {
    let clone = Clone::trusted();
    // The very store that says yes, carried along by the repository.
    let inside = clone.path("state/tollgate/trust");
    std::fs::create_dir_all(&inside).unwrap();
    for entry in std::fs::read_dir(clone.store()).unwrap().flatten() {
        std::fs::copy(entry.path(), inside.join(entry.file_name())).unwrap();
    }
    let mut command = clone.command(&["hook", "--require-trust"]);
    command.env("XDG_STATE_HOME", clone.path("state"));
    clone.is_not_run(&clone.stop_with(command), "cannot hold its own trust");
    // A directory that only leads there is no other place.
    let link = clone.home().join("link");
    std::os::unix::fs::symlink(clone.path("state"), &link).unwrap();
    let mut command = clone.command(&["hook", "--require-trust"]);
    command.env("XDG_STATE_HOME", &link);
    clone.is_not_run(&clone.stop_with(command), "cannot hold its own trust");
    // And neither is a home.
    let mut command = clone.command(&["hook", "--require-trust"]);
    command.env("HOME", clone.root());
    clone.is_not_run(&clone.stop_with(command), "cannot hold its own trust");
}

#[test]
fn a_store_that_others_can_write_to_is_none() {
    let clone = Clone::trusted();
    std::fs::set_permissions(clone.store(), std::fs::Permissions::from_mode(0o777)).unwrap();
    clone.is_not_run(&clone.stop(), "chmod go-w");
}

#[test]
fn a_pin_in_the_projects_own_settings_is_none() {
    for file in [".claude/settings.json", ".gemini/.env", ".env"] {
        let clone = Clone::new();
        let print = clone.fingerprint();
        clone.file(file, format!("TOLLGATE_TRUST={print}"));
        let mut command = clone.command(&["hook", "--require-trust"]);
        command.env("TOLLGATE_TRUST", &print);
        clone.is_not_run(&clone.stop_with(command), "a project cannot trust itself");
    }
}

#[test]
fn an_unpacked_git_file_does_not_inherit_trust() {
    let trusted = Clone::trusted();
    // An archive with the same commands, whose `.git` claims to be a worktree of a trusted place.
    let main = trusted.path(".git");
    let linked = trusted.home().join("linked");
    trusted.git(&[
        "worktree",
        "add",
        "-q",
        linked.to_str().unwrap(),
        "-b",
        "side",
    ]);
    for claim in [main.clone(), main.join("worktrees/linked")] {
        let archive = Clone::empty();
        archive.gates();
        std::fs::remove_dir_all(archive.path(".git")).unwrap();
        archive.file(".git", format!("gitdir: {}\n", claim.display()));
        let mut command = archive.command(&["hook", "--require-trust"]);
        command.env("HOME", trusted.home());
        archive.is_not_run(&archive.stop_with(command), "not trusted yet");
    }
    let archive = Clone::empty();
    archive.gates();
    std::fs::remove_dir_all(archive.path(".git")).unwrap();
    std::os::unix::fs::symlink(&main, archive.path(".git")).unwrap();
    let mut command = archive.command(&["hook", "--require-trust"]);
    command.env("HOME", trusted.home());
    archive.is_not_run(&archive.stop_with(command), "not trusted yet");
}

#[test]
fn another_clone_in_the_same_place_is_another_repository() {
    let clone = Clone::trusted();
    std::fs::remove_dir_all(clone.path(".git")).unwrap();
    clone.git(&["init", "-q", "-b", "main"]);
    clone.committed();
    clone.is_not_run(&clone.stop(), "not trusted yet");
}

#[test]
fn a_project_of_another_user_is_never_trusted_in_passing() {
    let clone = Clone::new();
    let us = clone.root().metadata().unwrap().uid();
    if us != 0 {
        eprintln!("SKIPPED: only root can give a directory to another user");
        return;
    }
    clone.trust();
    std::os::unix::fs::chown(clone.path(".tollgate"), Some(4321), None).unwrap();
    clone.is_not_run(&clone.stop(), "belongs to user 4321");
    // Not even with --yes.
    let mut terminal = clone.terminal(&["trust", "--yes"]);
    let (screen, code) = terminal.shows("belongs to user 4321").types("n").ends();
    assert_eq!(code, 1, "{screen}");
    clone.is_not_run(&clone.stop(), "belongs to user 4321");
    let (screen, code) = clone.terminal(&["trust"]).shows("[y/N]").types("y").ends();
    assert_eq!(code, 0, "{screen}");
    clone.is_run(&clone.stop());
}

// Row 7: listing, validating, explaining do not execute (mise GHSA-77g9).

#[test]
fn looking_at_a_project_runs_nothing_of_it() {
    let clone = Clone::new();
    for args in [
        &["list"][..],
        &["validate"],
        &["health"],
        &["detect"],
        &["doctor"],
        &["trust", "--show"],
        &["schema", "check"],
        &["plan", "status"],
    ] {
        clone.tollgate(args);
        assert!(!clone.ran(), "{args:?}");
    }
}

// An agent cannot consent.

#[test]
fn an_agent_cannot_trust() {
    let clone = Clone::new();
    let run = clone.tollgate(&["trust", "--yes"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("not a terminal"), "{run:?}");
    for mark in [
        "CLAUDECODE",
        "CODEX_THREAD_ID",
        "GEMINI_CLI",
        "CURSOR_AGENT",
        "TOLLGATE_DEPTH",
    ] {
        let mut command = clone.command(&["trust", "--yes"]);
        command.env(mark, "1");
        let (screen, code) = Terminal::start(&command).ends();
        assert_eq!(code, 2, "{mark}: {screen}");
        assert!(
            screen.contains(&format!("{mark} is set, so an agent runs this")),
            "{screen}"
        );
    }
    clone.is_not_run(&clone.stop(), "not trusted yet");
}

#[test]
#[cfg(target_os = "linux")]
fn an_agent_that_drops_its_marks_is_found_above() {
    let clone = Clone::new();
    let tollgate = clone.command(&["trust", "--yes"]);
    let mut command = clone.command(&[]);
    let inner = format!(
        "env -u CLAUDECODE {} trust --yes; echo",
        tollgate.get_program().display()
    );
    command = {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &inner]).current_dir(clone.root());
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                shell.env(name, value);
            }
        }
        shell.env("CLAUDECODE", "1");
        shell
    };
    let (screen, _) = Terminal::start(&command).ends();
    assert!(screen.contains("CLAUDECODE is set in process"), "{screen}");
    clone.is_not_run(&clone.stop(), "not trusted yet");
}

#[test]
fn an_agent_cannot_write_to_the_store() {
    let clone = Clone::new();
    let store = clone.store().join("x.json");
    let event = |tool: &str, input: Value| {
        json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": clone.root(),
            "transcript_path": "/t", "permission_mode": "default", "tool_name": tool,
            "tool_input": input,
        })
    };
    for event in [
        event("Write", json!({ "file_path": store, "content": "{}" })),
        event(
            "Edit",
            json!({ "file_path": store, "old_string": "a", "new_string": "b" }),
        ),
        event(
            "Bash",
            json!({ "command": format!("echo '{{}}' > {}", store.display()) }),
        ),
        event(
            "Bash",
            json!({ "command": "cp x ~/.local/state/tollgate/trust/y.json" }),
        ),
        event(
            "Write",
            json!({ "file_path": clone.path(".tollgate/local/accepted-gates"), "content": "x" }),
        ),
    ] {
        let mut command = clone.command(&["hook", "--require-trust"]);
        command.env("CLAUDE_PROJECT_DIR", clone.root());
        let run = run(command, event.to_string().as_bytes());
        let reason = run.denies();
        assert!(
            reason.contains("Tollgate keeps these files itself"),
            "{event}: {reason}"
        );
    }
    let fine = event(
        "Write",
        json!({ "file_path": clone.path(".tollgate/config.yml"), "content": "x" }),
    );
    let mut command = clone.command(&["hook"]);
    command.env("CLAUDE_PROJECT_DIR", clone.root());
    run(command, fine.to_string().as_bytes()).says_nothing();
}

// An option that this version does not know takes no other one away.

#[test]
fn an_unknown_option_does_not_swallow_the_next() {
    let clone = Clone::new();
    for unknown in ["--verbose", "--guard", "--event", "--deadline"] {
        let mut command = clone.command(&["hook"]);
        command.args([unknown, "--require-trust"]);
        let answer = clone.stop_with(command).to_string();
        assert!(!clone.ran(), "{unknown}: {answer}");
        // A guard that does not exist leaves the gates to another registration.
        let is_asked = answer.contains("not trusted yet") || unknown == "--guard";
        assert!(is_asked, "{unknown}: {answer}");
    }
    for more in [
        &["--verbose", "--strict"][..],
        &["--verbose=1", "--strict=1"],
    ] {
        let args = [&["hook"], more].concat();
        clone.project.run(&args, b"{\"foo\":1}").exits(2);
    }
}

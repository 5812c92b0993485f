//! `install` proposes the guard on git's side where a workflow needs it.

use serde_json::json;

use super::git_side::{executable, hook, repository, shell, uninstall};
use super::git_side_turns::{aside, is_aside, is_in_place, turns};
use crate::events::bash;
use crate::project::{Run, TestProject, put, with_branch};
use crate::terminal::Terminal;
use crate::workflow::bench::Bench;

const COMMIT: &str = "git commit -q --allow-empty -m x";
const BLOCKED: &str = "CHANGE OF MAIN BLOCKED";

const INSTALL: &[&str] = &["install", "--agent", "claude-code", "--yes"];

pub(super) fn install(project: &TestProject) -> Run {
    let ran = project.run(INSTALL, b"");
    assert_eq!(ran.code, 0, "{ran:?}");
    ran
}

/// A project with a workflow's home, in which none runs.
fn idle() -> TestProject {
    let project = repository();
    project.file(".isdlc/state.json", "{}");
    project
}

#[test]
fn it_is_installed_with_the_agents_where_a_workflow_has_its_home() {
    let project = repository();
    let ran = install(&project);
    assert!(ran.stdout.contains("before an agent moves main"), "{ran:?}");
    assert!(
        ran.stdout.contains("active only while an agent works"),
        "{ran:?}"
    );
    is_aside(&project);
    project.hook(&bash("./release.sh"));
    is_in_place(&project);
    let ran = shell(project.root(), COMMIT, true);
    assert!(ran.stderr.contains(BLOCKED), "{ran:?}");
    assert_eq!(shell(project.root(), COMMIT, false).code, 0);
    let ran = install(&project);
    assert!(ran.stdout.contains("there already"), "{ran:?}");
    uninstall(&project, &[]);
    assert!(!hook(&project).exists() && !aside(&project).exists() && !turns(&project).exists());
}

#[test]
fn it_is_not_proposed_without_a_workflow_or_where_it_would_reach_others() {
    let gates_only = TestProject::empty().on_branch("main");
    put(&gates_only.path(".tollgate/config.yml"), "");
    let declined = repository();
    let without_git = TestProject::new();
    let elsewhere = repository();
    elsewhere.git(&["config", "core.hooksPath", ".githooks"]);
    for (project, more) in [
        (&gates_only, None),
        (&declined, Some("--no-git-guard")),
        (&without_git, None),
        (&elsewhere, None),
        (&repository(), Some("--scope=user")),
    ] {
        let args: Vec<&str> = INSTALL.iter().copied().chain(more).collect();
        let ran = project.run(&args, b"");
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(!hook(project).exists() && !aside(project).exists());
        assert!(!project.path(".githooks").exists());
    }
    let ran = elsewhere.run(INSTALL, b"");
    assert!(ran.stderr.contains("core.hooksPath"), "{ran:?}");
    let ran = elsewhere.run(&["install", "--git", "--no-git-guard"], b"");
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn a_dry_run_shows_it_and_nobody_is_asked_where_nobody_can_answer() {
    let project = repository();
    let ran = project.run(&["install", "--agent", "claude-code", "--dry-run"], b"");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.stdout.contains("+++ .git/hooks/reference-transaction"),
        "{ran:?}"
    );
    assert!(!hook(&project).exists());
    // What was registered already needs no answer, and a proposal is no demand.
    let args = [
        "install",
        "--agent",
        "claude-code",
        "--yes",
        "--no-git-guard",
    ];
    assert_eq!(project.run(&args, b"").code, 0);
    let ran = project.run(&["install", "--agent", "claude-code"], b"");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("`tollgate install --git`"), "{ran:?}");
    assert!(!hook(&project).exists());
}

#[test]
fn at_a_terminal_enter_is_a_yes_to_the_guard_and_a_no_declines_it() {
    for (answer, installed) in [("", true), ("y", true), ("n", false)] {
        let project = repository();
        let install = project.command(&["install", "--agent", "claude-code"]);
        let (screen, code) = Terminal::start(&install)
            .shows("Change these settings? [Y/n]")
            .types("y")
            .shows("Install these git hooks? [Y/n]")
            .types(answer)
            .ends();
        assert_eq!(code, 0, "{screen}");
        assert_eq!(aside(&project).exists(), installed, "{answer:?}: {screen}");
        assert!(project.path(".claude/settings.json").exists());
    }
}

#[test]
fn uninstall_gives_every_byte_back() {
    for other in [None, Some("#!/bin/sh\nexit 0\n")] {
        for state in [json!({}), with_branch("active")] {
            let desk = TestProject::with_tollgate_on_path();
            desk.file(".isdlc/state.json", state.to_string());
            crate::project::git(desk.root(), &["init", "-q", "-b", "main"]);
            if let Some(text) = other {
                executable(&desk.path(".git/hooks/reference-transaction"), text);
            }
            let before = desk.snapshot();
            desk.must(INSTALL);
            assert_ne!(desk.snapshot(), before);
            desk.uninstall(&[]);
            assert_eq!(desk.snapshot(), before, "{other:?} {state}");
        }
    }
}

#[test]
fn whoever_asks_for_it_has_it_in_place_always() {
    let project = idle();
    install(&project);
    is_aside(&project);
    assert_eq!(project.run(&["install", "--git", "--yes"], b"").code, 0);
    assert!(!turns(&project).exists());
    for state in [json!({}), with_branch("active")] {
        project.file(".isdlc/state.json", state.to_string());
        is_in_place(&project);
        install(&project);
        is_in_place(&project);
        project.hook(&bash("./release.sh"));
        project.hook(
            &json!({ "hook_event_name": "Stop", "session_id": "s", "transcript_path": "/t" }),
        );
        is_in_place(&project);
    }
    let ran = shell(project.root(), COMMIT, true);
    assert!(ran.stderr.contains(BLOCKED), "{ran:?}");
    assert!(!turns(&project).exists());
}

#[test]
fn a_workflow_that_an_agent_starts_puts_it_in_place_and_its_end_aside() {
    for (agent, in_place) in [("1", true), ("", false)] {
        let project = TestProject::empty()
            .on_branch("main")
            .env("CLAUDECODE", agent);
        std::fs::create_dir_all(project.path(".tollgate/workflow")).unwrap();
        let bench = Bench::of(project, ".tollgate/workflow/state.json");
        install(&bench.project);
        is_aside(&bench.project);
        bench.ok(&["workflow", "start", "fix", "Basket loses items"]);
        assert_eq!(hook(&bench.project).exists(), in_place);
        bench.hook(&bash("./release.sh"));
        is_in_place(&bench.project);
        // Only a person ends it so.
        let project = bench.project.env("CLAUDECODE", "");
        project.gives_up(&["workflow", "cancel", "--reason", "enough"]);
        is_aside(&project);
    }
}

#[test]
fn an_agents_next_command_finds_it_in_place_whoever_started_the_workflow() {
    for state in [
        with_branch("active").to_string(),
        "{ \"active_workf".to_owned(),
    ] {
        let project = idle();
        install(&project);
        project.hook(&bash("./release.sh"));
        is_aside(&project);
        // By another program, a checkout, or broken: only a state that says so is idle.
        project.file(".isdlc/state.json", &state);
        project.hook(&bash("./release.sh"));
        is_in_place(&project);
    }
}

#[test]
fn a_workflow_in_a_linked_work_tree_counts_in_all_of_them() {
    let project = idle();
    let directory = tempfile::tempdir().unwrap();
    let linked = directory.path().join("linked");
    project.git(&[
        "worktree",
        "add",
        "-q",
        linked.to_str().unwrap(),
        "feature/x",
    ]);
    put(
        &linked.join(".isdlc/state.json"),
        with_branch("active").to_string(),
    );
    install(&project);
    is_aside(&project);
    project.hook(&bash("./release.sh"));
    is_in_place(&project);
    let stop =
        |place: &std::path::Path| json!({ "cwd": place, "stop_hook_active": false }).to_string();
    project.run(&["hook"], stop(project.root()).as_bytes());
    is_aside(&project);
    let event = json!({ "cwd": linked, "tool_name": "Bash", "tool_input": { "command": "./x" } });
    project.hook(&event);
    is_in_place(&project);
    project.run(&["hook"], stop(&linked).as_bytes());
    is_aside(&project);
}

#[test]
fn doctor_is_content_between_turns_and_puts_right_what_keeps_it_aside() {
    let project = repository();
    install(&project);
    let ran = project.run(&["doctor"], b"");
    assert!(!ran.stdout.contains("git-hook"), "{ran:?}");
    std::fs::remove_dir_all(turns(&project)).unwrap();
    let ran = project.run(&["doctor"], b"");
    assert!(ran.stdout.contains("git-hook-broken"), "{ran:?}");
    project.run(&["doctor", "--fix"], b"");
    project.hook(&bash("./release.sh"));
    is_in_place(&project);
}

/// That one had the hook in place while a workflow ran, and no directory of turns.
#[test]
fn a_hook_of_an_earlier_build_is_in_place_during_turns_after_a_repair() {
    let stop = json!({ "stop_hook_active": false });
    let notes = ["# It is in place only while a workflow runs.\n", ""];
    for (place, note) in [
        (hook as fn(&_) -> _, notes[0]),
        (aside, notes[0]),
        (aside, notes[1]),
    ] {
        for repair in [INSTALL, &["doctor", "--fix"]] {
            let project = repository();
            install(&project);
            let text = std::fs::read_to_string(aside(&project)).unwrap();
            let ours = "# It is in place only while an agent is at work.\n";
            let earlier = text.replace(ours, note);
            assert_ne!(text, earlier);
            std::fs::remove_file(aside(&project)).unwrap();
            std::fs::remove_dir_all(turns(&project)).unwrap();
            executable(&place(&project), &earlier);
            project.run(&["doctor"], b"").says("git-hook-broken");
            project.run(repair, b"");
            is_aside(&project);
            project.run(&["doctor"], b"").does_not_say("git-hook");
            project.hook(&bash("./release.sh"));
            is_in_place(&project);
            project.hook(&stop);
            is_aside(&project);
        }
    }
}

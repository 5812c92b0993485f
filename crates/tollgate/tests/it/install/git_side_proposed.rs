//! `install` proposes the guard on git's side where a workflow needs it. The hook is in place while
//! a workflow runs, and aside otherwise, so that people's git starts nothing.

use std::path::PathBuf;

use serde_json::json;

use super::git_side::{executable, hook, repository, shell, uninstall};
use crate::context::{Project, Run, bash, with_branch};
use crate::desk::{Desk, put};
use crate::terminal::Terminal;
use crate::workflow::bench::Bench;

const COMMIT: &str = "git commit -q --allow-empty -m x";
const BLOCKED: &str = "CHANGE OF MAIN BLOCKED";

const INSTALL: &[&str] = &["install", "--agent", "claude-code", "--yes"];

fn aside(project: &Project) -> PathBuf {
    project.path(".git/hooks/reference-transaction.tollgate-aside")
}

fn install(project: &Project) -> Run {
    let ran = project.run(INSTALL, b"");
    assert_eq!(ran.code, 0, "{ran:?}");
    ran
}

/// A project with a workflow's home, in which none runs.
fn idle() -> Project {
    let project = repository();
    project.file(".isdlc/state.json", "{}");
    project
}

#[track_caller]
fn is_in_place(project: &Project) {
    assert!(hook(project).exists() && !aside(project).exists());
}

#[track_caller]
fn is_aside(project: &Project) {
    assert!(!hook(project).exists() && aside(project).exists());
}

#[test]
fn it_is_installed_with_the_agents_where_a_workflow_has_its_home() {
    let project = repository();
    let ran = install(&project);
    assert!(ran.stdout.contains("before an agent moves main"), "{ran:?}");
    is_in_place(&project);
    let ran = shell(project.root(), COMMIT, true);
    assert!(ran.stderr.contains(BLOCKED), "{ran:?}");
    assert_eq!(shell(project.root(), COMMIT, false).code, 0);
    let ran = install(&project);
    assert!(ran.stdout.contains("there already"), "{ran:?}");
    uninstall(&project, &[]);
    assert!(!hook(&project).exists() && !aside(&project).exists());
}

#[test]
fn it_is_not_proposed_without_a_workflow_or_where_it_would_reach_others() {
    let gates_only = Project::empty().on_branch("main");
    put(&gates_only.path(".tollgate/config.yml"), "");
    let declined = repository();
    let without_git = Project::new();
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
            .shows("[y/N]")
            .types("y")
            .shows("[Y/n]")
            .types(answer)
            .ends();
        assert_eq!(code, 0, "{screen}");
        assert_eq!(hook(&project).exists(), installed, "{answer:?}: {screen}");
        assert!(project.path(".claude/settings.json").exists());
    }
}

#[test]
fn uninstall_gives_every_byte_back() {
    for other in [None, Some("#!/bin/sh\nexit 0\n")] {
        for state in [json!({}), with_branch("active")] {
            let desk = Desk::new();
            desk.file(".isdlc/state.json", state.to_string());
            crate::context::git(&desk.project(), &["init", "-q", "-b", "main"]);
            if let Some(text) = other {
                executable(
                    &desk.project().join(".git/hooks/reference-transaction"),
                    text,
                );
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
fn without_a_workflow_it_is_aside_and_people_start_nothing() {
    let project = idle();
    let ran = install(&project);
    assert!(ran.stdout.contains("aside otherwise"), "{ran:?}");
    is_aside(&project);
    // Where another hook is, git starts a program anyway, and the order of the two stays.
    let project = idle();
    executable(&hook(&project), "#!/bin/sh\nexit 0\n");
    install(&project);
    assert!(hook(&project).exists() && !aside(&project).exists());
    // Whoever asks for it has it in place, whoever starts workflows by whatever means.
    let project = idle();
    assert_eq!(project.run(&["install", "--git", "--yes"], b"").code, 0);
    is_in_place(&project);
    install(&project);
    is_in_place(&project);
    project.file(".isdlc/state.json", &with_branch("active").to_string());
    let ran = shell(project.root(), COMMIT, true);
    assert!(ran.stderr.contains(BLOCKED), "{ran:?}");
}

#[test]
fn a_workflows_start_and_end_put_it_in_place_and_aside() {
    let bench = Bench::fresh();
    std::fs::create_dir_all(bench.project.path(".tollgate/workflow")).unwrap();
    install(&bench.project);
    is_aside(&bench.project);
    bench.ok(&["workflow", "start", "fix", "Basket loses items"]);
    is_in_place(&bench.project);
    bench.ok(&["workflow", "cancel", "--reason", "enough"]);
    is_aside(&bench.project);
}

#[test]
fn an_agents_next_command_finds_it_in_place_whoever_started_the_workflow() {
    let session = json!({ "hook_event_name": "SessionStart", "session_id": "s",
        "transcript_path": "/t", "source": "startup" });
    for event in [bash("./release.sh"), session] {
        for state in [
            with_branch("active").to_string(),
            "{ \"active_workf".to_owned(),
        ] {
            let project = idle();
            install(&project);
            // By another program, a checkout, or broken: only a state that says so is idle.
            project.file(".isdlc/state.json", &state);
            project.hook(&event);
            is_in_place(&project);
        }
    }
    let project = idle();
    install(&project);
    project.hook(&bash("./release.sh"));
    is_aside(&project);
    // A hook of somebody else's that came meanwhile runs after it.
    executable(&hook(&project), "#!/bin/sh\n: > .git/theirs\n");
    project.file(".isdlc/state.json", &with_branch("active").to_string());
    project.hook(&bash("./release.sh"));
    let ran = shell(project.root(), COMMIT, true);
    assert!(ran.stderr.contains(BLOCKED), "{ran:?}");
    assert!(project.path(".git/theirs").exists());
}

#[test]
fn a_workflow_in_a_linked_work_tree_keeps_it_in_place() {
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
    is_in_place(&project);
}

#[test]
fn doctor_finds_it_aside_while_a_workflow_runs() {
    let project = idle();
    install(&project);
    let ran = project.run(&["doctor"], b"");
    assert!(!ran.stdout.contains("git-hook"), "{ran:?}");
    project.file(".isdlc/state.json", &with_branch("active").to_string());
    let ran = project.run(&["doctor"], b"");
    assert!(ran.stdout.contains("git-hook-aside"), "{ran:?}");
    project.run(&["doctor", "--fix"], b"");
    is_in_place(&project);
}

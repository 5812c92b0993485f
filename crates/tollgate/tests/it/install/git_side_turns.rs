//! The hook that `install` proposed is in place while an agent is at work, and aside between turns, so
//! that people's git starts nothing.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::git_side::{executable, hook, main_of, repository, shell, uninstall};
use super::git_side_proposed::install;
use crate::events::{Event as _, named};
use crate::project::{Run, TestProject};

const SCRIPT: &str = "printf 'git commit -q --allow-empty -m x\\n' > s && sh s";
const BLOCKED: &str = "CHANGE OF MAIN BLOCKED";
const HALF_AN_HOUR: Duration = Duration::from_mins(30);

pub(super) fn aside(project: &TestProject) -> PathBuf {
    project.path(".git/hooks/reference-transaction.tollgate-aside")
}

/// The directory of the sessions at work.
pub(super) fn turns(project: &TestProject) -> PathBuf {
    project.path(".git/hooks/reference-transaction.tollgate-turns")
}

fn before(project: &TestProject) -> PathBuf {
    project.path(".git/hooks/reference-transaction.before-tollgate")
}

fn is_ours(hook: &Path) -> bool {
    std::fs::read_to_string(hook).is_ok_and(|text| text.contains("Tollgate's guard"))
}

#[track_caller]
pub(super) fn is_in_place(project: &TestProject) {
    assert!(is_ours(&hook(project)) && !aside(project).exists());
}

#[track_caller]
pub(super) fn is_aside(project: &TestProject) {
    assert!(!is_ours(&hook(project)) && is_ours(&aside(project)));
}

/// A repository with a running workflow, as `install` leaves it.
fn proposed() -> TestProject {
    let project = repository();
    install(&project);
    is_aside(&project);
    project
}

/// The same while an agent is at work.
pub(super) fn in_a_turn() -> TestProject {
    let project = proposed();
    command(&project, "s");
    project
}

/// An event of a session of Claude Code.
fn event(project: &TestProject, name: &str, session: &str, more: &Value) -> Run {
    let event = named(name)
        .in_session(session)
        .in_directory(project.root())
        .with("transcript_path", "/t")
        .with("permission_mode", "default")
        .with_all(more);
    let ran = project.hook(&event);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran
}

fn tool(project: &TestProject, session: &str, name: &str, input: &Value) -> Run {
    let more = json!({ "tool_name": name, "tool_input": input });
    event(project, "PreToolUse", session, &more)
}

/// A command of the session's, which text cannot see through.
fn command(project: &TestProject, session: &str) -> Run {
    tool(
        project,
        session,
        "Bash",
        &json!({ "command": "./release.sh" }),
    )
}

fn stop(project: &TestProject, session: &str) -> Run {
    let more = json!({ "stop_hook_active": false, "background_tasks": [] });
    event(project, "Stop", session, &more)
}

/// The files of the sessions at work.
fn sessions(project: &TestProject) -> Vec<PathBuf> {
    let entries = turns(project).read_dir().unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let is_session = |path: &PathBuf| !path.file_name().unwrap().to_string_lossy().starts_with('.');
    paths.filter(is_session).collect()
}

fn set_time(file: &Path, time: SystemTime) {
    let file = std::fs::File::options().write(true).open(file).unwrap();
    file.set_modified(time).unwrap();
}

#[test]
fn it_is_in_place_from_an_agents_first_command_to_its_stop() {
    let project = proposed();
    let main = main_of(&project);
    tool(
        &project,
        "s",
        "Read",
        &json!({ "file_path": "feature.txt" }),
    );
    is_aside(&project);
    for _ in 0..2 {
        command(&project, "s");
        is_in_place(&project);
        let ran = shell(project.root(), SCRIPT, true);
        assert!(ran.code != 0 && ran.stderr.contains(BLOCKED), "{ran:?}");
        assert_eq!(main_of(&project), main);
        command(&project, "s");
        is_in_place(&project);
        stop(&project, "s").says_nothing();
        is_aside(&project);
        assert!(sessions(&project).is_empty());
    }
    let ran = shell(project.root(), SCRIPT, false);
    assert_eq!(ran.code, 0, "{ran:?}");
}

/// Whether git starts the hook for a person's rebase.
fn rebase_starts_the_hook(project: &TestProject) -> bool {
    let line = "git switch -q -C topic feature/x && echo y > y && git add y && git commit -q -m y && \
                GIT_TRACE=1 git rebase -q --force-rebase main";
    let ran = shell(project.root(), line, false);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("git rebase"), "{ran:?}");
    ran.stderr.contains("hooks/reference-transaction")
}

#[test]
fn a_persons_rebase_between_turns_starts_no_hook() {
    let project = proposed();
    assert!(!rebase_starts_the_hook(&project));
    command(&project, "s");
    assert!(rebase_starts_the_hook(&project));
    stop(&project, "s");
    assert!(!rebase_starts_the_hook(&project));
}

#[test]
fn a_stop_that_is_blocked_leaves_it_in_place() {
    let project = repository();
    project.file(
        ".gauntlet/config.yml",
        "base_branch: main\nentry_points:\n  - path: src\n    checks: [fixed]\n",
    );
    project.file(".gauntlet/checks/fixed.yml", "command: test -e fixed\n");
    project.file("src/a.txt", "a\n");
    install(&project);
    command(&project, "s");
    let ran = stop(&project, "s");
    assert!(ran.stdout.contains("\"block\""), "{ran:?}");
    is_in_place(&project);
    project.file("src/fixed", "");
    let ran = event(&project, "Stop", "s", &json!({ "stop_hook_active": true }));
    assert!(!ran.stdout.contains("\"block\""), "{ran:?}");
    is_aside(&project);
}

#[test]
fn background_work_that_the_stop_names_keeps_it_in_place() {
    let project = proposed();
    for kind in ["shell", "subagent", "workflow"] {
        command(&project, "s");
        for (status, in_place) in [("running", true), ("pending", true), ("completed", false)] {
            let task = json!({ "id": "1", "type": kind, "status": status });
            event(
                &project,
                "Stop",
                "s",
                &json!({ "background_tasks": [task] }),
            );
            assert_eq!(is_ours(&hook(&project)), in_place, "{kind} {status}");
        }
    }
}

#[test]
fn tools_that_may_run_git_put_it_in_place_and_others_do_not() {
    let project = proposed();
    for (name, input, in_place) in [
        ("Read", json!({ "file_path": "feature.txt" }), false),
        (
            "Edit",
            json!({ "file_path": "feature.txt", "old_string": "x", "new_string": "y" }),
            false,
        ),
        ("Glob", json!({ "pattern": "*" }), false),
        ("mcp__git__commit", json!({ "message": "x" }), true),
        ("Skill", json!({ "skill": "release" }), true),
        ("Bash", json!({ "command": "ls" }), true),
    ] {
        tool(&project, "s", name, &input);
        assert_eq!(is_ours(&hook(&project)), in_place, "{name}");
        stop(&project, "s");
        is_aside(&project);
    }
}

#[test]
fn a_sub_agents_end_is_not_the_end_of_the_turn() {
    let project = proposed();
    command(&project, "s");
    event(&project, "SubagentStop", "s", &json!({ "agent_id": "a" }));
    is_in_place(&project);
}

#[test]
fn another_session_in_the_middle_of_a_turn_keeps_it_in_place() {
    let project = proposed();
    command(&project, "a");
    command(&project, "b");
    stop(&project, "a");
    is_in_place(&project);
    // A session that ran no command has no turn to end.
    stop(&project, "c");
    event(&project, "SessionEnd", "c", &json!({ "reason": "exit" }));
    event(
        &project,
        "SessionStart",
        "d",
        &json!({ "source": "startup" }),
    );
    is_in_place(&project);
    stop(&project, "b");
    is_aside(&project);
}

#[test]
fn a_session_without_events_for_half_an_hour_is_over() {
    let now = SystemTime::now();
    let minute = Duration::from_mins(1);
    for (time, is_over) in [
        (now - HALF_AN_HOUR + minute, false),
        (now - HALF_AN_HOUR, true),
        // A clock that was set back.
        (now + HALF_AN_HOUR + minute, true),
    ] {
        for name in ["SessionStart", "Stop", "SessionEnd"] {
            let project = proposed();
            command(&project, "killed");
            set_time(&sessions(&project)[0], time);
            event(&project, name, "other", &json!({}));
            assert_eq!(is_ours(&aside(&project)), is_over, "{name} {time:?}");
            // A command of it begins a turn anew, or its time does.
            command(&project, "killed");
            is_in_place(&project);
            let modified = sessions(&project)[0].metadata().unwrap().modified();
            assert!(modified.unwrap().duration_since(now).unwrap_or_default() < minute);
        }
    }
}

#[test]
fn the_end_of_the_session_puts_it_aside_and_a_new_beginning_within_a_turn_does_not() {
    let project = proposed();
    command(&project, "s");
    event(
        &project,
        "SessionStart",
        "s",
        &json!({ "source": "compact" }),
    );
    is_in_place(&project);
    event(&project, "SessionEnd", "s", &json!({ "reason": "exit" }));
    is_aside(&project);
}

/// The commands that `install` registered, each started with its own agent's event.
#[test]
fn an_interrupted_turn_ends_with_its_session_in_every_agent() {
    for (agent, shell_tool) in [
        ("claude-code", "Bash"),
        ("codex", "Bash"),
        ("gemini", "run_shell_command"),
        ("copilot", "bash"),
        ("cursor", "Shell"),
    ] {
        let project = TestProject::with_tollgate_on_path().with_repository();
        project.file("Makefile", "test:\n\ttrue\n");
        project.commit("first");
        project.must(&["init", "--yes"]);
        project.must(&["workflow", "start", "feature", "Pay by invoice"]);
        project.must(&["install", "--agent", agent, "--yes"]);
        let list = project.list();
        let send = |begin: &str, more: &Value| {
            let mut registered = list["registered"].as_array().unwrap().iter();
            let is_event = |name: &Value| name.as_str().unwrap().eq_ignore_ascii_case(begin);
            let found = registered.find(|found| is_event(&found["event"]));
            let found = found.unwrap_or_else(|| panic!("{agent} {begin}: {list:#}"));
            let args = found["args"].as_array().unwrap().iter();
            let args: Vec<_> = args.map(|arg| arg.as_str().unwrap()).collect();
            let event = named(found["event"].as_str().unwrap())
                .in_session("s")
                .in_directory(project.root())
                .with("conversation_id", "s")
                .with("transcript_path", "/t")
                .with("timestamp", "2026-01-01T00:00:00.000Z")
                .with_all(more);
            project.run(&args, event.to_string().as_bytes()).allows();
        };
        is_aside(&project);
        let input = json!({ "command": "./release.sh" });
        let before = if agent == "gemini" {
            "BeforeTool"
        } else {
            "PreToolUse"
        };
        send(
            before,
            &json!({ "tool_name": shell_tool, "tool_input": input }),
        );
        is_in_place(&project);
        send("SessionEnd", &json!({ "reason": "prompt_input_exit" }));
        is_aside(&project);
    }
}

/// A hook of somebody else's that counts, and refuses tags called `no`.
const OTHERS: &str = "#!/bin/sh\necho \"$1\" >> .git/others\n! grep -q refs/tags/no\n";

/// Whether the other hook runs once for each state, and refuses.
#[track_caller]
fn others_works(project: &TestProject, agent: bool) {
    let _none_yet = std::fs::remove_file(project.path(".git/others"));
    let ran = shell(project.root(), "git tag yes && git tag -d yes", agent);
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = project.read(".git/others");
    let prepared = ran.lines().filter(|state| *state == "prepared").count();
    assert_eq!(prepared, 2, "{ran:?}");
    let ran = shell(project.root(), "git tag no", agent);
    assert_ne!(ran.code, 0, "{ran:?}");
}

#[test]
fn somebody_elses_hook_works_in_place_and_aside() {
    let project = repository();
    executable(&hook(&project), OTHERS);
    install(&project);
    let is_theirs = |file: &Path| std::fs::read_to_string(file).is_ok_and(|text| text == OTHERS);
    for _ in 0..2 {
        is_aside(&project);
        assert!(is_theirs(&hook(&project)) && !before(&project).exists());
        others_works(&project, false);
        command(&project, "s");
        is_in_place(&project);
        assert!(is_theirs(&before(&project)));
        others_works(&project, false);
        others_works(&project, true);
        let ran = shell(project.root(), SCRIPT, true);
        assert!(ran.stderr.contains(BLOCKED), "{ran:?}");
        stop(&project, "s");
    }
    // One that came, or was changed, between turns is kept as it is now.
    let newer = OTHERS.replace("no\n", "no # newer\n");
    executable(&hook(&project), &newer);
    command(&project, "s");
    others_works(&project, true);
    uninstall(&project, &[]);
    assert_eq!(std::fs::read_to_string(hook(&project)).unwrap(), newer);
    assert!(!before(&project).exists() && !turns(&project).exists());
}

#[test]
fn a_linked_hook_of_somebody_elses_stays_a_link() {
    let project = repository();
    executable(&project.path("tools/hook.sh"), OTHERS);
    std::fs::create_dir_all(project.path(".git/hooks")).unwrap();
    symlink("../../tools/hook.sh", hook(&project)).unwrap();
    install(&project);
    let leads = |file: PathBuf| std::fs::read_link(file).is_ok_and(|to| to.ends_with("hook.sh"));
    assert!(leads(hook(&project)));
    command(&project, "s");
    assert!(leads(before(&project)));
    others_works(&project, true);
    stop(&project, "s");
    assert!(leads(hook(&project)));
    others_works(&project, false);
    uninstall(&project, &[]);
    assert!(leads(hook(&project)));
}

/// What a process leaves that is killed between the link and the rename.
#[test]
fn a_change_that_was_cut_short_is_made_up_for() {
    let cut_short = |in_turn: bool| {
        let project = repository();
        executable(&hook(&project), OTHERS);
        install(&project);
        if in_turn {
            command(&project, "s");
            std::fs::hard_link(hook(&project), aside(&project)).unwrap();
        } else {
            std::fs::hard_link(hook(&project), before(&project)).unwrap();
        }
        project
    };
    for in_turn in [false, true] {
        let project = cut_short(in_turn);
        others_works(&project, false);
        command(&project, "s");
        others_works(&project, true);
        let ran = shell(project.root(), SCRIPT, true);
        assert!(ran.stderr.contains(BLOCKED), "{ran:?}");
        stop(&project, "s");
        is_aside(&project);
        others_works(&project, false);

        let project = cut_short(in_turn);
        uninstall(&project, &[]);
        assert_eq!(std::fs::read_to_string(hook(&project)).unwrap(), OTHERS);
        for gone in [aside(&project), before(&project), turns(&project)] {
            assert!(!gone.exists(), "{gone:?}");
        }
    }
}

/// Sessions that begin and end turns at once.
fn many_turns(project: &TestProject) {
    std::thread::scope(|scope| {
        for session in ["0", "1", "2", "3", "4"] {
            scope.spawn(move || {
                for _ in 0..8 {
                    command(project, session);
                    stop(project, session);
                }
            });
        }
    });
    // On a busy machine a stop may not have got the lock; the next one does.
    for session in ["0", "1", "2", "3", "4"] {
        stop(project, session);
    }
}

#[test]
fn events_at_once_lose_nobodys_hook() {
    let project = repository();
    executable(&hook(&project), OTHERS);
    install(&project);
    let is_over = AtomicBool::new(false);
    let always = |holds: &(dyn Fn() -> bool + Sync)| {
        is_over.store(false, Ordering::Relaxed);
        std::thread::scope(|scope| {
            let watch = scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    assert!(holds());
                }
            });
            many_turns(&project);
            is_over.store(true, Ordering::Relaxed);
            watch.join().unwrap();
        });
    };
    // Git finds a hook at any moment, and in the end theirs.
    always(&|| hook(&project).exists());
    is_aside(&project);
    others_works(&project, false);
    // With a session in the middle of its turn it is ours at any moment.
    command(&project, "steady");
    always(&|| is_ours(&hook(&project)));
    is_in_place(&project);
    others_works(&project, true);
    stop(&project, "steady");
    is_aside(&project);
}

#[test]
fn what_goes_wrong_is_reported_and_the_agent_goes_on() {
    let project = proposed();
    let lock = turns(&project).join(".lock");
    std::fs::remove_file(&lock).unwrap();
    std::fs::create_dir(&lock).unwrap();
    let ran = command(&project, "s");
    assert!(!ran.stdout.contains("deny"), "{ran:?}");
    assert!(ran.stdout.contains("guard on git's side"), "{ran:?}");
    assert_eq!(project.codes(), ["git-guard"]);
    std::fs::remove_dir(&lock).unwrap();
    command(&project, "s").says_nothing();
    is_in_place(&project);
    // Files of sessions that are gone are no fault.
    for session in sessions(&project) {
        std::fs::remove_file(session).unwrap();
    }
    stop(&project, "s").says_nothing();
    is_aside(&project);
}

#[test]
fn where_it_is_not_installed_events_leave_nothing_behind() {
    let project = repository();
    let hooks = || {
        let entries = project.path(".git/hooks").read_dir();
        entries.map_or(0, Iterator::count)
    };
    let there = hooks();
    command(&project, "s");
    stop(&project, "s");
    event(&project, "SessionStart", "s", &json!({}));
    assert_eq!(hooks(), there);
}

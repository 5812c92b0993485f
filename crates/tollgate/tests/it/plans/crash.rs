//! Killed before every single operation that changes a file, and resumed.
//!
//! The kills are real: `strace` delivers SIGKILL when the program enters the n-th call of a kind.
//! Where there is no `strace`, or it may not trace, there is nothing to show.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::faults::living;
use super::fixture::{Fixture, Stop};
use crate::project::{self, TOLLGATE, wait_until};

/// The calls that change something. (A file that was just created is seen at the write after it.)
const CALLS: [&str; 12] = [
    "write",
    "pwrite64",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "mkdir",
    "mkdirat",
    "fchmod",
    "fsync",
    "ftruncate",
];

fn event(fixture: &Fixture) -> String {
    json!({
        "session_id": "s", "prompt_id": "p", "hook_event_name": "Stop",
        "cwd": fixture.project.root(), "stop_hook_active": false,
    })
    .to_string()
}

/// A stop under strace with these options.
fn traced(fixture: &Fixture, options: &[&str]) -> project::Run {
    let plain = fixture.project.command(&[]);
    let mut command = Command::new("strace");
    command
        .args(["-qq", "-o"])
        .arg(fixture.project.path("control/trace"));
    command
        .args(options)
        .arg(TOLLGATE)
        .arg("hook")
        .current_dir(fixture.project.root());
    command.env_clear().envs(
        plain
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    project::run(command, event(fixture).as_bytes())
}

/// A stop that is due to make the first review of a cycle, or the second after an answer.
struct Scene {
    make: fn() -> Fixture,
    /// What `plan next` may say after a kill, and the state that the plan ends in.
    routes: [&'static str; 2],
    end: fn(&Value) -> bool,
}

fn first_review() -> Fixture {
    let fixture = Fixture::at(&json!({ "phase": "complete-task" }));
    fixture.reviewer("last", "touch \"$d/finished\"");
    fixture
}

fn second_review() -> Fixture {
    let fixture = Fixture::at(&json!({
        "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1,
        "consecutive_clean": 1, "review_model": "sonnet",
    }));
    fixture.file("task-1-review-1.md", "x");
    fixture.file("task-1-post-review-1.md", "x");
    fixture
        .verdicts(&["PASS"])
        .reviewer("last", "touch \"$d/finished\"");
    fixture
}

const SCENES: [Scene; 2] = [
    Scene {
        make: first_review,
        routes: ["stop", "post-code-review"],
        end: |state| {
            state["next_phase"] == "post-code-review"
                && state["phase_iteration"] == 1
                && state["review_model"] == "sonnet"
        },
    },
    Scene {
        make: second_review,
        routes: ["stop", "complete-task"],
        end: |state| {
            state["next_phase"] == "complete-task"
                && state["phase_iteration"] == 2
                && state["consecutive_clean"] == 2
        },
    },
];

/// How often the program makes each call in an undisturbed run.
fn counts(scene: &Scene) -> BTreeMap<&'static str, usize> {
    let fixture = (scene.make)();
    traced(&fixture, &["-e", &format!("trace={}", CALLS.join(","))]);
    let trace = fixture.project.read("control/trace");
    let count = |call: &str| {
        trace
            .lines()
            .filter(|line| line.starts_with(&format!("{call}(")))
            .count()
    };
    CALLS
        .into_iter()
        .map(|call| (call, count(call)))
        .filter(|(_, count)| *count > 0)
        .collect()
}

fn kill_at(scene: &Scene, call: &str, n: usize) {
    let place = format!("{call} {n}");
    let fixture = (scene.make)();
    let inject = format!("inject={call}:signal=KILL:when={n}");
    let run = traced(&fixture, &["-e", &format!("trace={call}"), "-e", &inject]);
    assert_ne!(run.code, 0, "{place}: not killed");
    wait_until(
        "the watchdog ends the reviewer",
        Duration::from_mins(1),
        || living(&fixture) == 0,
    );
    let finished = fixture.project.path("control/finished").exists();
    let next = fixture.next();
    assert!(scene.routes.contains(&next.as_str()), "{place}: {next}");
    assert_eq!(fixture.plan(&["validate"]).code, 0, "{place}");
    if next == "stop" {
        let stop = Stop(project::run(
            fixture.project.command(&["hook"]),
            event(&fixture).as_bytes(),
        ));
        assert!(stop.answer().get("continue").is_none(), "{place}: {stop:?}");
    }
    let state = fixture.read_state();
    assert!((scene.end)(&state), "{place}: {state}");
    let rounds = fixture
        .project
        .read(".tollgate/local/plans/test-plan/rounds.jsonl");
    assert_eq!(rounds.lines().count(), 1, "{place}: {rounds}");
    let paid = fixture.calls().len();
    assert!(
        paid <= if finished { 1 } else { 2 },
        "{place}: {paid} reviews, finished: {finished}"
    );
    let left = fixture.leftovers();
    assert!(
        left.iter().all(|name| name.starts_with(".review-")),
        "{place}: {left:?}"
    );
}

/// Whether programs can be traced here; if not, it is said.
pub(super) fn can_trace() -> bool {
    let can_trace = Command::new("strace")
        .args(["-qq", "-o", "/dev/null", "/bin/true"])
        .status()
        .is_ok_and(|status| status.success());
    if !can_trace {
        eprintln!("skipped: strace cannot trace here");
    }
    can_trace
}

fn matrix(scene: &Scene, half: usize) {
    if !can_trace() {
        return;
    }
    let counts = counts(scene);
    assert!(counts.values().sum::<usize>() > 15, "{counts:?}");
    for (call, count) in counts {
        for n in (1..=count).filter(|n| n % 2 == half) {
            kill_at(scene, call, n);
        }
    }
}

#[test]
fn a_first_review_killed_anywhere_is_resumed_odd() {
    matrix(&SCENES[0], 1);
}

#[test]
fn a_first_review_killed_anywhere_is_resumed_even() {
    matrix(&SCENES[0], 0);
}

#[test]
fn an_answer_and_an_advance_killed_anywhere_are_resumed_odd() {
    matrix(&SCENES[1], 1);
}

#[test]
fn an_answer_and_an_advance_killed_anywhere_are_resumed_even() {
    matrix(&SCENES[1], 0);
}

#[test]
fn a_reviewer_that_ended_before_we_were_killed_is_not_paid_again() {
    for verdict in ["PASS", "FAIL"] {
        let fixture = Fixture::at(&json!({}));
        // The last thing the reviewer does is to kill the hook that started it.
        fixture
            .verdicts(&[verdict])
            .reviewer("last", "kill -9 $PPID; sleep 0.2");
        let run = fixture
            .project
            .hook(&json!({ "cwd": fixture.project.root(), "stop_hook_active": false }));
        assert_eq!(run.stdout, "");
        assert_eq!(fixture.read_state()["phase_iteration"], 0);
        let next = fixture.plan(&["next"]);
        assert!(
            next.stdout.contains("its verdict is taken over"),
            "{next:?}"
        );
        fixture.reviewer("last", "true").verdicts(&["wrong"]);
        fixture.stop().blocks();
        assert_eq!(fixture.calls().len(), 1);
        let clean = i32::from(verdict == "PASS");
        assert_eq!(fixture.read_state()["consecutive_clean"], clean);
    }
}

#[test]
fn every_step_of_a_command_survives_a_kill() {
    if !can_trace() {
        return;
    }
    let scene = || Fixture::at(&json!({ "phase": "tasks-review", "next_phase": "complete-task" }));
    for call in [
        "write",
        "pwrite64",
        "rename",
        "renameat",
        "renameat2",
        "fchmod",
        "fsync",
    ] {
        for n in 1..=6 {
            let fixture = scene();
            let mut command = Command::new("strace");
            command.args([
                "-qq",
                "-o",
                "/dev/null",
                "-e",
                &format!("trace={call}"),
                "-e",
            ]);
            command
                .arg(format!("inject={call}:signal=KILL:when={n}"))
                .arg(TOLLGATE);
            command
                .args(["plan", "begin", "complete-task"])
                .current_dir(fixture.project.root());
            command
                .env_clear()
                .env("HOME", fixture.project.home())
                .env("PATH", "/usr/bin:/bin");
            let run = project::run(command, b"");
            let next = fixture.next();
            assert!(
                ["complete-task", "continue-task"].contains(&next.as_str()),
                "{call} {n}: {next}"
            );
            assert_eq!(
                fixture.plan(&["begin", "complete-task"]).code,
                0,
                "{call} {n}"
            );
            assert_eq!(fixture.read_state()["current_task"], "1");
            if run.code == 0 {
                break;
            }
        }
    }
}

#[test]
fn a_verdict_of_another_cycle_is_not_taken_over() {
    let fixture = Fixture::at(&json!({ "phase": "complete-task" }));
    fixture.reviewer("last", "kill -9 $PPID; sleep 0.2");
    fixture.stop_killed();
    assert_eq!(fixture.plan(&["begin", "complete-task"]).code, 0);
    assert_eq!(fixture.plan(&["done", "complete-task"]).code, 0);
    fixture.reviewer("last", "true");
    fixture.stop().blocks();
    assert_eq!(fixture.calls().len(), 2);
}

//! Nothing is called verified that was not, and no stop is let go in silence: in projects as
//! `tollgate init` makes them.

use std::path::Path;

use serde_json::{Value, json};

use crate::events::{self, Event as _};
use crate::init::Repository;
use crate::project::{Run, TOLLGATE, run};

/// A Go project set up by `init`, on `main` and committed. Its checks fail while a file `broken`
/// is in the root.
pub(super) fn project() -> Repository {
    let repository = Repository::with(&[("go.mod", "module x\n"), ("a.go", "package x\n")]);
    repository.tool("go");
    repository.init(&[]);
    repository.commit("work");
    repository.calls();
    repository
}

/// A stop of Claude Code, with these fields as well.
pub(super) fn stop_with(repository: &Repository, prompt: &str, active: bool, more: &Value) -> Run {
    stop_in(repository, "s", prompt, active, more)
}

/// The same in another session.
pub(super) fn stop_in(
    repository: &Repository,
    session: &str,
    prompt: &str,
    active: bool,
    more: &Value,
) -> Run {
    let event = events::stop()
        .in_session(session)
        .at_prompt(prompt)
        .in_directory(repository.root())
        .with("stop_hook_active", active)
        .with("transcript_path", "/t.jsonl")
        .with("permission_mode", "default")
        .with("last_assistant_message", "Done.")
        .with("background_tasks", json!([]))
        .with_all(more);
    run(repository.command(&["hook"]), event.to_string().as_bytes())
}

pub(super) fn stop(repository: &Repository, prompt: &str, active: bool) -> Run {
    stop_with(repository, prompt, active, &json!({}))
}

fn answer(run: &Run) -> Value {
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap_or_default()
}

#[track_caller]
pub(super) fn blocks(run: &Run) -> String {
    let answer = answer(run);
    assert_eq!(answer["decision"], "block", "{run:?}");
    answer["reason"].as_str().unwrap().to_owned()
}

/// Let go; returns the message to the person.
#[track_caller]
pub(super) fn let_go(run: &Run) -> String {
    let answer = answer(run);
    assert_eq!(answer["decision"], Value::Null, "{run:?}");
    answer["systemMessage"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

pub(super) fn line(repository: &Repository) -> String {
    repository.tollgate(&["statusline"]).stdout
}

#[test]
fn the_interval_covers_only_the_tree_that_passed() {
    let repository = project();
    repository.file("b.go", "package x\n");
    assert_eq!(let_go(&stop(&repository, "p", false)), "");
    assert!(!repository.calls().is_empty());
    // The same tree: nothing runs.
    assert_eq!(let_go(&stop(&repository, "p2", false)), "");
    assert!(repository.calls().is_empty());
    repository.file("broken", "");
    blocks(&stop(&repository, "p3", false));
    assert!(!repository.calls().is_empty());
}

#[test]
fn the_interval_covers_only_the_branch_that_passed() {
    let repository = project();
    repository.file("b.go", "package x\n");
    let_go(&stop(&repository, "p", false));
    repository.git(&["checkout", "-q", "-b", "other"]);
    let told = run(
        {
            let mut command = repository.command(&["stop-hook"]);
            command.env("PATH", "/usr/bin:/bin");
            command
        },
        b"{}",
    );
    let answer: Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!(
        answer["status"], "passed",
        "the tree is known, the interval is not asked"
    );
}

#[test]
fn the_status_line_has_its_check_mark_only_over_the_tree_that_passed() {
    let repository = project();
    assert!(line(&repository).contains("gates never ran"));
    repository.tollgate(&["run"]).exits(0);
    assert!(line(&repository).contains("gates ✔"));
    repository.file("b.go", "package x\n");
    let stale = line(&repository);
    assert!(
        stale.contains("gates stale") && !stale.contains('✔'),
        "{stale}"
    );
    repository.file("broken", "");
    repository.tollgate(&["run"]).exits(1);
    assert!(line(&repository).contains("gates ✖"));
    std::fs::remove_file(repository.path("broken")).unwrap();
    std::fs::remove_file(repository.path("b.go")).unwrap();
    assert!(line(&repository).contains("gates ✔"), "this tree passed");
}

#[test]
fn a_failure_on_the_tree_that_passed_takes_the_pass_back() {
    let repository = project();
    repository.tollgate(&["run"]).exits(0);
    repository.program("go", "#!/bin/sh\nexit 1\n");
    // Only a part of the gates is asked for, and it contradicts the pass.
    repository.file("b.go", "package x\n");
    std::fs::remove_file(repository.path("b.go")).unwrap();
    let checks = repository.tollgate(&["check", "--all"]);
    assert_eq!(checks.code, 1, "{checks:?}");
    assert!(
        line(&repository).contains("gates ✖"),
        "{}",
        line(&repository)
    );
}

#[test]
fn run_in_a_fresh_clone_runs_gates_that_never_passed() {
    let repository = project();
    repository.file("broken", "");
    repository.commit("work");
    let detected = repository.tollgate(&["detect"]).exits(0);
    assert!(
        detected.stdout.contains("No changes detected"),
        "{detected:?}"
    );
    assert!(detected.stdout.contains("Would run"), "{detected:?}");
    repository.tollgate(&["run"]).exits(1).says("fail  test");
    repository.git(&["rm", "-q", "broken"]);
    repository.commit("work");
    repository.tollgate(&["run"]).exits(0).says("pass  test");
    repository.calls();
    repository
        .tollgate(&["run"])
        .exits(0)
        .says("verified: nothing to run");
    assert!(repository.calls().is_empty());
    repository.tollgate(&["detect"]).exits(2);
}

#[test]
fn a_stop_without_a_record_runs_gates_that_never_passed() {
    let repository = project();
    repository.file("broken", "");
    repository.commit("work");
    blocks(&stop(&repository, "p", false));
}

#[test]
fn a_session_that_changed_nothing_is_not_held_for_gates_that_never_passed() {
    let repository = project();
    repository.file("broken", "");
    repository.commit("work");
    let start = json!({ "hook_event_name": "SessionStart", "source": "startup" });
    stop_with(&repository, "p", false, &start);
    let told = let_go(&stop(&repository, "p", false));
    assert!(
        told.contains("NOT verified: lint, test: never ran"),
        "{told}"
    );
    assert!(repository.calls().is_empty(), "nothing ran");
    assert!(repository.codes().contains(&"GATE-NOTICE".to_owned()));
    repository.file("b.go", "package x\n");
    blocks(&stop(&repository, "p2", false));
}

#[test]
fn a_question_is_gated_and_is_let_through_when_it_is_asked_again() {
    let repository = project();
    repository.file("broken", "");
    let asks = json!({ "last_assistant_message": "All done. Anything else?" });
    let reason = blocks(&stop_with(&repository, "p", false, &asks));
    let sentence = "If you need an answer, ask again without changing anything; you will be let through as not verified.";
    assert!(reason.starts_with(sentence), "{reason}");
    let told = let_go(&stop_with(&repository, "p", true, &asks));
    assert!(told.contains("NOT verified"), "{told}");
    let codes = repository.codes();
    assert!(codes.contains(&"GATE-NOTICE".to_owned()), "{codes:?}");
}

#[test]
fn a_shell_in_the_background_does_not_switch_the_gates_off() {
    let repository = project();
    repository.file("broken", "");
    for kind in ["shell", "monitor"] {
        repository.file("work", kind);
        let task =
            json!({ "id": "1", "type": kind, "status": "running", "command": "npm run dev" });
        blocks(&stop_with(
            &repository,
            kind,
            false,
            &json!({ "background_tasks": [task] }),
        ));
    }
    repository.file("work", "ended");
    let ended = json!({ "id": "1", "type": "subagent", "status": "completed" });
    blocks(&stop_with(
        &repository,
        "ended",
        false,
        &json!({ "background_tasks": [ended] }),
    ));
}

#[test]
fn what_is_not_gated_is_said_where_something_is_not_verified() {
    let repository = project();
    repository.tollgate(&["run"]).exits(0);
    let working = json!({ "id": "1", "type": "subagent", "status": "running" });
    let cases = [
        (
            json!({ "background_tasks": [working] }),
            "sub-agents still work in the background",
        ),
        (
            json!({ "permission_mode": "plan" }),
            "the agent is in plan mode",
        ),
    ];
    for (more, _) in &cases {
        assert_eq!(
            let_go(&stop_with(&repository, "p", false, more)),
            "",
            "it is verified"
        );
    }
    let notices = || {
        let codes = repository.codes();
        codes.iter().filter(|code| *code == "GATE-NOTICE").count()
    };
    assert_eq!(notices(), 0);
    repository.file("b.go", "package x\n");
    for (more, why) in &cases {
        let told = let_go(&stop_with(&repository, "p", false, more));
        assert!(told.contains(why), "{told}");
        assert!(told.contains("NOT verified: lint, test: stale"), "{told}");
    }
    assert_eq!(notices(), 2);
}

/// Nine failures, then eight: another number is not another failure, but another tree is progress.
#[test]
fn a_blocked_agent_is_verified_until_its_retries_are_used_up() {
    let repository = project();
    repository.program("go", "#!/bin/sh\necho 1 test failed\nexit 1\n");
    for number in 0..3 {
        repository.file("work", number.to_string());
        blocks(&stop(&repository, "p", number > 0));
    }
    repository.file("work", "3");
    let told = let_go(&stop(&repository, "p", true));
    assert!(told.contains("Retry limit exceeded"), "{told}");
    assert!(told.contains("NOT verified"), "{told}");
    assert!(!told.contains("same failure"), "{told}");
}

#[test]
fn a_stop_without_any_change_says_so_when_it_is_let_go() {
    let repository = project();
    repository.file("broken", "");
    blocks(&stop(&repository, "p", false));
    repository.calls();
    // Gemini's flag is down again after every tool; the turn is the same.
    for flag in [true, false] {
        let told = let_go(&stop(&repository, "p", flag));
        assert!(
            told.contains("NOT verified: nothing changed since the gates failed"),
            "{told}"
        );
    }
    assert!(repository.calls().is_empty());
}

#[test]
fn a_person_runs_the_gates_as_often_as_they_like() {
    let repository = project();
    repository.file("broken", "");
    for _ in 0..6 {
        repository
            .tollgate(&["run"])
            .exits(1)
            .says("2 failed")
            .does_not_say("Retry limit");
    }
    // Nor does it use up what the agent has.
    blocks(&stop(&repository, "p", false));
    std::fs::remove_file(repository.path("broken")).unwrap();
    repository.tollgate(&["run"]).exits(0);
}

#[test]
fn checks_start_with_default_signals_whatever_tollgate_was_started_with() {
    let repository = project();
    let seen = repository.path(".tollgate/local/signals");
    let script = format!("#!/bin/sh\ncat /proc/self/status > '{}'\n", seen.display());
    repository.program("go", &script);
    let mut command = repository.command_of(Path::new("/usr/bin/env"), &[]);
    command
        .args([
            "--ignore-signal=QUIT",
            "--ignore-signal=XFSZ",
            "--ignore-signal=HUP",
        ])
        .args([TOLLGATE, "run"]);
    run(command, b"").exits(0);
    let status = std::fs::read_to_string(seen).unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = u64::from_str_radix(ignored.unwrap().trim(), 16).unwrap();
    // Two that nobody sends are the C library's own: 32 and 33.
    assert_eq!(ignored & !(0b11 << 31), 0, "{status}");
}

#[test]
fn phases_and_the_end_of_a_workflow_claim_no_gate_that_nobody_ran() {
    let repository = project();
    repository.file("broken", "");
    let workflows = json!({ "workflows": { "change": { "phases": ["01-requirements", "06-implementation"] } } });
    repository.file(
        ".tollgate/workflow/config/workflows.json",
        workflows.to_string(),
    );
    repository
        .tollgate(&["workflow", "start", "change", "x"])
        .exits(0);
    repository
        .tollgate(&["phase", "complete", "--summary", "x"])
        .exits(0)
        .says("gates: not verified: lint, test: never ran");
    repository.tollgate(&["phase", "begin"]).exits(0);
    let json = repository
        .tollgate(&["phase", "complete", "--summary", "x", "--json"])
        .exits(0);
    let value: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(value["gates"]["verified"], false, "{value}");
    repository
        .tollgate(&["workflow", "finalize"])
        .exits(0)
        .says("2 of 2 phases completed")
        .says("gates: not verified: lint, test: never ran")
        .does_not_say("passed at the first try");

    std::fs::remove_file(repository.path("broken")).unwrap();
    repository
        .tollgate(&["workflow", "start", "change", "y"])
        .exits(0);
    repository.tollgate(&["run"]).exits(0);
    repository
        .tollgate(&["phase", "complete", "--summary", "y"])
        .exits(0)
        .says("gates: verified on this tree");
}

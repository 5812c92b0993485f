//! What a pass and a failure hold for: all gates, here, against the base; and no longer.

use super::{BAD, FIXABLE, Gates, HELD, OK, answers};

/// Gates for more than one entry point, that run at every stop.
fn with_entries(checks: &[(&str, &str)], entries: &str) -> Gates {
    Gates::raw(
        checks,
        &format!(
            "base_branch: main\nstop_hook: {{ run_interval_minutes: 0 }}\nentry_points:\n{entries}"
        ),
    )
}

#[test]
fn a_gate_with_a_colon_in_its_name_runs_again_after_it_failed() {
    let gates = with_entries(
        &[("test:unit", "command: exit 3")],
        "  - { path: src, checks: [\"test:unit\"] }\n",
    );
    answers(&gates.stop(), "block", "failed");
    std::fs::remove_file(gates.path("src/b.txt")).unwrap();
    answers(&gates.stop(), "block", "failed");
}

#[test]
fn a_check_of_two_entry_points_that_passes_for_one_failed_for_none() {
    let gates = with_entries(
        &[(
            "whole",
            "command: test ! -e src/b.txt\nworking_directory: .",
        )],
        "  - { path: src, checks: [whole] }\n  - { path: tests, checks: [whole] }\n",
    );
    gates.file("tests/x.txt", "x\n");
    answers(&gates.stop(), "block", "failed");
    std::fs::remove_file(gates.path("src/b.txt")).unwrap();
    // Only `tests` calls for it now. The pass is kept, and no further run is an attempt.
    for _ in 0..6 {
        answers(&gates.stop(), "approve", "passed");
    }
    assert_eq!(gates.state()["attempts"], 0);
}

#[test]
fn a_failure_outlives_a_run_that_decided_nothing() {
    let gates = Gates::with_config(
        &[("slow", "command: test ! -e ../slow || sleep 60; exit 3")],
        "stop_hook: { deadline_seconds: 3, run_interval_minutes: 0 }",
    );
    answers(&gates.stop(), "block", "failed");
    std::fs::remove_file(gates.path("src/b.txt")).unwrap();
    gates.file("slow", "");
    answers(&gates.stop(), "approve", "error");
    std::fs::remove_file(gates.path("slow")).unwrap();
    answers(&gates.stop(), "block", "failed");
}

#[test]
fn a_pass_in_ci_is_none_here_and_undoes_no_failure() {
    let local = ("local", "command: exit 3\nrun_in_ci: false");
    for fails_first in [true, false] {
        let gates = Gates::new(&[OK, local]);
        if fails_first {
            answers(&gates.stop(), "block", "failed");
        }
        let mut command = gates.command(&["run"]);
        command.env("CI", "true");
        crate::project::run(command, b"").exits(0).says("[PASS]");
        if fails_first {
            // Nothing but the failure calls for the gates.
            std::fs::remove_file(gates.path("src/b.txt")).unwrap();
        }
        answers(&gates.stop(), "block", "failed");
    }
}

#[test]
fn the_work_of_an_agent_that_runs_in_ci_is_seen() {
    let gates = Gates::new(&[BAD]);
    let tested = gates.git(&["rev-parse", "main"]);
    let stop = || {
        let mut command = gates.command(&["stop-hook"]);
        command
            .env("CI", "true")
            .env("GITHUB_SHA", tested.trim())
            .env("GITHUB_BASE_REF", "main");
        let run = crate::project::run(command, b"{}").exits(0);
        serde_json::from_str(&run.stdout).unwrap()
    };
    answers(&stop(), "block", "failed");
    gates.commit("work");
    answers(&stop(), "block", "failed");
}

#[test]
fn another_base_leaves_no_gate_out_that_never_ran() {
    let fragile = ("fragile", "command: test -e ../.fine");
    let gates = Gates::raw(
        &[OK, fragile],
        "base_branch: main\nentry_points:\n  - { path: src, checks: [fragile] }\n  - { path: docs, checks: [ok] }\n",
    );
    gates.file(".gitignore", ".fine\n");
    let fine = gates.file(".fine", "");
    gates.commit("work");
    gates.file("docs/x.md", "x\n");
    gates.tollgate(&["run", "-b", "HEAD"]).exits(0);
    let (status, _) = gates.json(&["status"]);
    assert_eq!(status["gates"]["verification"], "verified", "{status:#}");
    std::fs::remove_file(fine).unwrap();
    gates.file("src/b.txt", "c\n");
    answers(&gates.stop(), "block", "failed");
}

/// Whoever holds the lock meanwhile, a stop gets an answer about all gates.
#[test]
fn a_stop_does_not_share_the_verdict_of_a_part() {
    for part in [
        ["run", "-g", "held"].as_slice(),
        &["run", "-u", "-g", "held"],
        &["check", "-g", "held"],
    ] {
        let gates = Gates::held(&[HELD, FIXABLE]);
        let answer = std::thread::scope(|scope| {
            let run = scope.spawn(|| gates.tollgate(part));
            gates.has_begun();
            let stop = gates.begin_stop();
            gates.is_at_the_lock(&stop);
            gates.go();
            run.join().unwrap().exits(0);
            Gates::stopped(stop)
        });
        answers(&answer, "block", "failed");
    }
}

#[test]
fn a_stop_does_not_share_what_was_broken_off() {
    let gates = Gates::held(&[HELD, BAD]);
    let mut run = gates.command(&["run"]);
    run.stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    let mut run = run.spawn().unwrap();
    gates.has_begun();
    let stop = gates.begin_stop();
    gates.is_at_the_lock(&stop);
    let pid = rustix::process::Pid::from_child(&run);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert!(!run.wait().unwrap().success());
    gates.go();
    let answer = Gates::stopped(stop);
    answers(&answer, "block", "failed");
}

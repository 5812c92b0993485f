//! What happened to the original under faults and under agents that want to be done: the gauntlet
//! rows of facts/faults 2.3 that concern checks, runs and stops.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{BAD, Gates, HELD, OK, answers};

/// D2: a killed run's marker approved every later stop.
#[test]
fn d2_a_marker_that_a_killed_run_left_lets_nobody_through() {
    let gates = Gates::new(&[BAD]);
    gates.file("gauntlet_logs/.stop-hook-active", "1");
    for _ in 0..2 {
        answers(&gates.stop(), "block", "failed");
    }
}

/// D3: a background child that holds the output kept the check from ending.
#[test]
fn d3_a_check_that_leaves_a_child_holding_its_output_ends_with_its_main_process() {
    for timeout in ["", "timeout: 3"] {
        let gates = Gates::new(&[(
            "leaves",
            &format!("command: \"sleep 45 & echo $! > ../left; echo done\"\n{timeout}"),
        )]);
        let begun = Instant::now();
        gates
            .tollgate(&["run"])
            .exits(0)
            .says("[PASS]  check:src:leaves")
            .says("⚠ Advisory: check:src:leaves - LEAK: left 1 process(es) running, killed")
            .says("Status: Passed with warnings");
        assert!(begun.elapsed() < Duration::from_secs(3));
        let left = gates.read("left");
        let life = std::path::PathBuf::from(format!("/proc/{}", left.trim()));
        assert!(!life.exists(), "{left} lives");
    }
}

/// What had to be killed is a warning of the pass wherever the pass is shown; what ended by itself
/// is none.
#[test]
fn a_check_that_leaves_processes_behind_passes_with_a_warning() {
    let gates = Gates::new(&[("leaves", "command: \"sleep 45 & true\"")]);
    let (run, code) = gates.json(&["run"]);
    assert_eq!(
        (&run["status"], code),
        (&json!("passed_with_warnings"), 0),
        "{run:#}"
    );
    let gate = &run["gates"][0];
    let note = "LEAK: left 1 process(es) running, killed";
    assert_eq!(
        (&gate["result"], &gate["message"], &gate["advisory"]),
        (&json!("pass"), &json!(note), &json!([note])),
        "{run:#}"
    );
    assert_eq!(gates.state()["status"], "passed_with_warnings");
    gates.file("src/more", "x");
    answers(&gates.stop(), "approve", "passed_with_warnings");

    // In another project: a gate that changed would be a warning of its own.
    let gates = Gates::new(&[("leaves", "command: \"sleep 0.1 & wait\"")]);
    let (run, _) = gates.json(&["run"]);
    let gate = &run["gates"][0];
    assert_eq!(
        (&run["status"], &gate["message"], &gate["advisory"]),
        (&json!("passed"), &json!(""), &json!([])),
        "{run:#}"
    );
}

/// D5: a check that hangs or ignores SIGTERM outlived its timeout.
#[test]
fn d5_a_check_that_ignores_term_is_killed_and_has_failed() {
    let gates = Gates::new(&[(
        "deaf",
        "command: \"trap '' TERM; sleep 40; sleep 40\"\ntimeout: 0.2",
    )]);
    let begun = Instant::now();
    gates
        .tollgate(&["run"])
        .exits(1)
        .says("Timed out after 0.2s");
    assert!(
        begun.elapsed() < Duration::from_secs(6),
        "{:?}",
        begun.elapsed()
    );
}

/// D5b: a check that ignored SIGTERM until it was done had passed.
#[test]
fn d5b_late_is_late_even_if_it_then_succeeds() {
    let gates = Gates::new(&[(
        "late",
        "command: \"trap 'exit 0' TERM; sleep 40 & wait\"\ntimeout: 0.2",
    )]);
    gates.tollgate(&["run"]).exits(1).says("Timed out");
}

/// D4: a check with much output was an error, whatever its exit code.
#[test]
fn d4_a_gigabyte_of_output_is_cut_and_the_exit_code_decides() {
    let gates = Gates::new(&[(
        "loud",
        "command: \"echo first; head -c 1000000000 /dev/zero; echo; echo last\"",
    )]);
    gates.tollgate(&["run", "-g", "loud"]).exits(0);
    let log = gates.path("gauntlet_logs/previous/check_src_loud.1.log");
    assert!(std::fs::metadata(&log).unwrap().len() < 6 << 20);
    let bytes = std::fs::read(&log).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains("first\n") && text.contains("\nlast\n"));
    assert!(text.contains("bytes of output left out"));
}

/// D6: `"stop_hook_active": "false"`, a string, was taken for true.
#[test]
fn d6_the_flag_must_be_a_real_true() {
    let gates = Gates::new(&[BAD]);
    for event in [
        r#"{"stop_hook_active":"false"}"#,
        r#"{"stop_hook_active":true,"stop_hook_active":false}"#,
    ] {
        answers(&gates.stop_raw(event.as_bytes()).0, "block", "failed");
        gates.tollgate(&["clean"]).exits(0);
    }
}

/// D7: an agent in a subdirectory was in no project, and approved.
#[test]
fn d7_a_stop_in_a_subdirectory_is_gated() {
    let gates = Gates::new(&[BAD]);
    let mut command = gates.command(&["stop-hook"]);
    command.current_dir(gates.path("src"));
    let run = crate::project::run(command, b"{}");
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    answers(&answer, "block", "failed");
}

/// D9: after the limit, every later stop was approved until somebody cleaned up.
#[test]
fn d9_a_release_is_for_one_cycle_and_says_what_still_fails() {
    let gates = Gates::with_config(
        &[BAD],
        "max_retries: 1\nstop_hook: { run_interval_minutes: 0 }",
    );
    answers(&gates.stop(), "block", "failed");
    let released = gates.stop();
    answers(&released, "approve", "retry_limit_exceeded");
    let message = released["message"].as_str().unwrap();
    assert!(message.contains("NOT verified: check:src:bad"), "{message}");
    // The same state again: still released, still not verified.
    answers(&gates.stop(), "approve", "retry_limit_exceeded");
    // New work: a new cycle.
    gates.file("src/new", "1");
    answers(&gates.stop(), "block", "failed");
}

/// E13: a last run dated in the future put every later run off.
#[test]
fn e13_a_run_in_the_future_is_no_run() {
    let gates = Gates::with_config(&[BAD], "");
    gates.original_state(-60 * 24 * 365 * 50, "work", "abc");
    answers(&gates.stop(), "block", "failed");
}

/// E14: an agent wrote itself the record of a run.
#[test]
fn e14_the_agent_cannot_write_itself_a_pass() {
    let gates = Gates::with_config(&[BAD], "");
    gates.tollgate(&["run"]).exits(1);
    gates.tollgate(&["clean"]).exits(0);
    gates.original_state(0, "work", "abc");
    answers(&gates.stop(), "block", "failed");
}

/// E14: an agent wrote itself the record of a run.
#[test]
fn e14_removing_the_record_is_no_pass_either() {
    let gates = Gates::with_config(&[BAD], "");
    answers(&gates.stop_in("s", "p", false), "block", "failed");
    std::fs::remove_dir_all(gates.path("gauntlet_logs")).unwrap();
    std::fs::remove_file(gates.path(".tollgate/local/evidence.json")).unwrap();
    gates.original_state(0, "work", "abc");
    gates.file("src/c.txt", "c");
    answers(&gates.stop_in("s", "p2", false), "block", "failed");
}

/// D10: of two stops at once, one was approved while the gate failed.
#[test]
fn d10_two_stops_at_once_share_one_verdict() {
    let slow = HELD.1.replace("\"touch", "\"echo x >> ../.count; touch");
    let slow = slow.replace("done\"", "done; false\"");
    let gates = Gates::held(&[("slow", &slow)]);
    let stops = [gates.begin_stop(), gates.begin_stop()];
    gates.has_begun();
    for stop in &stops {
        gates.is_at_the_lock(stop);
    }
    gates.go();
    let [one, two] = stops.map(Gates::stopped);
    answers(&one, "block", "failed");
    answers(&two, "block", "failed");
    assert_eq!(gates.read(".count"), "x\n", "one run");
    for answer in [&one, &two] {
        let reason = answer["reason"].as_str().unwrap();
        assert!(reason.contains("check_src_slow.1.log"), "{reason}");
    }
    assert_eq!(gates.state()["attempts"], 1);
}

#[test]
fn a_run_beside_a_run_says_who_is_running() {
    let gates = Gates::held(&[HELD]);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| gates.tollgate(&["run"]));
        gates.has_begun();
        gates
            .tollgate(&["check"])
            .exits(1)
            .says("already in progress (process ");
        gates
            .tollgate(&["clean"])
            .exits(1)
            .says("already in progress");
        gates.go();
        first.join().unwrap().exits(0);
    });
}

#[test]
fn a_log_directory_that_cannot_be_written_is_said_and_blocks_nobody() {
    let gates = Gates::new(&[BAD]);
    gates.file("gauntlet_logs", "a file in the way");
    gates
        .tollgate(&["run"])
        .exits(1)
        .says("gauntlet_logs cannot be used");
    answers(&gates.stop(), "approve", "error");
}

#[test]
fn a_damaged_record_only_means_that_gates_run() {
    let gates = Gates::with_config(&[OK], "");
    gates.tollgate(&["run"]).exits(0);
    gates.file(".tollgate/local/evidence.json", "{\"last\": 5");
    gates.file("gauntlet_logs/.execution_state", "\u{0}\u{1}");
    answers(&gates.stop(), "approve", "passed");
}

#[test]
fn no_repository_a_bare_one_and_one_without_a_commit() {
    let gates = Gates::new(&[BAD]);
    std::fs::remove_dir_all(gates.path(".git")).unwrap();
    gates
        .tollgate(&["run"])
        .exits(1)
        .says("is not in a git repository");
    answers(&gates.stop(), "approve", "error");
    gates.git(&["init", "-q", "-b", "main"]);
    gates
        .tollgate(&["run"])
        .exits(1)
        .says("[FAIL]  check:src:bad");
    gates.git(&["config", "core.bare", "true"]);
    gates.tollgate(&["clean"]).exits(0);
    gates
        .tollgate(&["run"])
        .exits(1)
        .says("Error: ")
        .says("work tree");
}

#[test]
fn a_check_that_kills_its_own_group_has_no_verdict_but_fails() {
    let gates = Gates::new(&[("kamikaze", "command: \"kill -9 0\"")]);
    gates
        .tollgate(&["run"])
        .exits(1)
        .says("[ERROR] check:src:kamikaze")
        .says("SIGKILL");
}

#[test]
fn a_nested_hook_approves_and_children_are_marked() {
    let gates = Gates::new(&[(
        "nested",
        "command: \"env | grep -c -e ^TOLLGATE_DEPTH=1 -e ^TASKIE_HOOK_SKIP=true -e ^GAUNTLET_STOP_HOOK_ACTIVE=1; false\"",
    )]);
    gates.tollgate(&["run"]).exits(1);
    let log = gates.read("gauntlet_logs/check_src_nested.1.log");
    assert!(log.lines().any(|line| line == "3"), "{log}");
}

/// Nobody can make so many reviews, and the stop hook answers all the same.
#[test]
fn whatever_breaks_inside_the_stop_hook_answers() {
    let gates = Gates::new(&[OK]);
    let config = gates.read(".gauntlet/config.yml");
    gates.file(
        ".gauntlet/config.yml",
        format!("{config}    reviews: [q]\ncli: {{ default_preference: [command] }}\n"),
    );
    let many = format!("prompt: look\ncommand: cat\nnum_reviews: {}\n", i64::MAX);
    gates.file(".gauntlet/reviews/q.yml", &many);
    let answer = gates.stop();
    answers(&answer, "approve", "error");
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains("NOT verified"), "{message}");
}

#[test]
fn a_gate_that_removes_the_logs_keeps_no_other_from_its_verdict() {
    let gates = Gates::new(&[("a", "command: rm -rf ../gauntlet_logs"), BAD]);
    answers(&gates.stop(), "block", "failed");
    assert_eq!(gates.state()["status"], "failed");
    assert!(gates.exists("gauntlet_logs/check_src_bad.1.log"));
}

#[test]
fn a_gate_that_was_removed_does_not_fail_for_ever() {
    let gates = Gates::new(&[BAD, OK]);
    gates.tollgate(&["run"]).exits(1);
    let config = gates.read(".gauntlet/config.yml");
    gates.file(".gauntlet/config.yml", config.replace("[bad, ok]", "[ok]"));
    gates
        .tollgate(&["run"])
        .exits(0)
        .says("the gates were changed: entry point src: checks changed");
    assert!(gates.logs("check").is_empty(), "archived");
    answers(&gates.stop(), "approve", "passed_with_warnings");
}

#[test]
fn a_run_that_decided_nothing_costs_no_attempt() {
    let gates = Gates::with_config(
        &[("slow", "command: sleep 60")],
        "max_retries: 0\nstop_hook: { deadline_seconds: 1, run_interval_minutes: 0 }",
    );
    answers(&gates.stop(), "approve", "error");
    answers(&gates.stop(), "approve", "error");
    gates.check("slow", "command: \"false\"");
    gates.tollgate(&["run"]).exits(1).says("[FAIL]");
}

#[test]
fn a_lock_that_leads_elsewhere_overwrites_nothing() {
    let gates = Gates::new(&[OK]);
    let precious = gates.file("precious", "precious");
    std::fs::create_dir(gates.path("gauntlet_logs")).unwrap();
    std::os::unix::fs::symlink(&precious, gates.path("gauntlet_logs/.gauntlet-run.lock")).unwrap();
    for command in ["clean", "run"] {
        gates
            .tollgate(&[command])
            .exits(1)
            .says(".gauntlet-run.lock is a symbolic link; remove it");
    }
    assert_eq!(gates.stop_raw(b"{}").0["status"], "error");
    assert_eq!(gates.read("precious"), "precious");
}

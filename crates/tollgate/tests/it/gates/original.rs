//! What users of the original's commands, logs and files rely on.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{BAD, FIXABLE, Gates, OK, answers};
use crate::events::{self, Event as _};
use crate::project::{TestProject, run};

/// Workflows ask `contains(matrix.job.runtimes, 'node')`.
#[test]
fn a_job_lists_its_runtimes_by_name() {
    let gates = Gates::new(&[OK, ("bare", "command: \"true\"")]);
    gates.file(
        ".gauntlet/ci.yml",
        "runtimes:\n  node: { version: \"20\" }\n  python: { version: \"3.12\" }\nservices: {}\nsetup: []\nchecks:\n  - name: ok\n    requires_runtimes: [python, node]\n",
    );
    let jobs = gates.tollgate(&["ci", "list-jobs"]).json();
    let of = |name: &str| {
        let mut matrix = jobs["matrix"].as_array().unwrap().iter();
        matrix.find(|job| job["name"] == name).unwrap()["runtimes"].clone()
    };
    assert_eq!(
        (of("ok"), of("bare")),
        (json!(["python", "node"]), json!([]))
    );
    // What each of them is stays with all.
    assert_eq!(jobs["runtimes"]["node"]["version"], "20");
}

/// Nobody waits for an event where nothing is configured.
#[test]
fn a_missing_configuration_is_answered_before_standard_input_is_read() {
    let project = TestProject::empty();
    let begun = Instant::now();
    let mut command = project.command(&["stop-hook"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let open = child.stdin.take();
    let answer = Gates::stopped(child);
    answers(&answer, "approve", "no_config");
    assert!(
        begun.elapsed() < Duration::from_secs(4),
        "{:?}",
        begun.elapsed()
    );
    drop(open);
    for input in ["", "no JSON", "{}"] {
        let answer = run(project.command(&["stop-hook"]), input.as_bytes()).json();
        answers(&answer, "approve", "no_config");
    }
    // An event that leads to a project with gates is judged there.
    let gates = Gates::new(&[BAD]);
    let event = events::stop().in_directory(gates.root()).to_string();
    let answer = run(project.command(&["stop-hook"]), event.as_bytes()).json();
    answers(&answer, "block", "failed");
    // Where gates are configured, an empty event is none.
    let (answer, _) = gates.stop_raw(b"");
    answers(&answer, "approve", "invalid_input");
}

/// The lines of the original's debug log, and their fields.
#[test]
fn the_debug_log_has_the_originals_lines() {
    let gates = Gates::with_config(
        &[FIXABLE],
        "debug_log: { enabled: true }\nstop_hook: { run_interval_minutes: 0 }",
    );
    gates.file("src/a.txt", "changed\nand longer\n");
    gates.file("src/binary", [0_u8, 1, 2]);
    let log = || {
        let text = gates.read("gauntlet_logs/.debug.log");
        let line = |line: &str| line.split_once("] ").unwrap().1.to_owned();
        text.lines().map(line).collect::<Vec<String>>()
    };
    gates.tollgate(&["run"]).exits(1);
    let changes = "files_changed=3 files_new=2 files_modified=1 files_deleted=0 lines_added=3 lines_removed=1";
    let lines = log();
    assert_eq!(lines[0], "COMMAND run");
    assert_eq!(
        lines[1],
        format!("RUN_START mode=full base_ref=main {changes} gates=1")
    );
    assert!(
        lines[2].starts_with("GATE_RESULT check:src:fixable status=fail duration="),
        "{lines:?}"
    );
    assert_eq!(
        lines[3],
        "RUN_END status=fail fixed=0 skipped=0 failed=1 iterations=1"
    );
    gates.tollgate(&["check"]).exits(1);
    assert!(
        log()[5].contains("mode=verification base_ref=main changes=3 gates=1"),
        "{:?}",
        log()
    );
    gates.file("src/fixed", "");
    answers(&gates.stop(), "approve", "passed");
    let lines = log();
    assert_eq!(lines[8], "COMMAND stop-hook");
    assert!(
        lines.contains(&"RUN_END status=pass fixed=1 skipped=0 failed=0 iterations=3".to_owned()),
        "{lines:?}"
    );
    assert_eq!(
        lines.last().unwrap(),
        "STOP_HOOK decision=allow reason=passed"
    );
    gates.tollgate(&["clean"]).exits(0);
    assert_eq!(log().last().unwrap(), "CLEAN type=manual reason=command");
    // Without it nothing is written.
    let gates = Gates::new(&[BAD]);
    gates.tollgate(&["run"]).exits(1);
    assert!(!gates.exists("gauntlet_logs/.debug.log"));
}

#[test]
fn a_missing_command_is_named() {
    for (command, named) in [
        ("nosuchprogram --all", "command not found: nosuchprogram;"),
        (
            "true && other-missing x",
            "command not found: other-missing;",
        ),
        ("./missing.sh", "command not found: ./missing.sh;"),
        // It says itself that it ended so.
        ("exit 127", "(command not found; is it in PATH?)"),
    ] {
        let gates = Gates::new(&[("gone", &format!("command: {command}"))]);
        gates.tollgate(&["run"]).exits(1).says(named);
        let reason = gates.stop()["reason"].to_string();
        assert!(reason.contains(named), "{reason}");
    }
    Gates::new(&[BAD])
        .tollgate(&["run"])
        .does_not_say("not found");
}

#[test]
fn clean_without_a_configuration_archives_the_default_directory() {
    let project = TestProject::empty();
    project.must(&["clean"]).says("No logs to archive");
    assert!(!project.exists("gauntlet_logs"));
    project.file("gauntlet_logs/check_src_ok.1.log", "x");
    project.file("gauntlet_logs/notes.txt", "mine");
    project.must(&["clean"]).says("Logs archived successfully.");
    assert!(project.exists("gauntlet_logs/previous/check_src_ok.1.log"));
    assert!(project.exists("gauntlet_logs/notes.txt") && !project.exists(".tollgate"));
    // One that is wrong is not missing.
    project.file(".gauntlet/config.yml", "entry_points: 5\n");
    assert_eq!(project.tollgate(&["clean"]).code, 1);
}

/// A lock that somebody holds is named by its path, and waited for until the deadline at most.
#[test]
fn a_foreign_lock_is_named_and_not_waited_for_beyond_the_deadline() {
    let gates = Gates::with_config(&[OK], "stop_hook: { deadline_seconds: 1 }");
    let path = gates.file("gauntlet_logs/.gauntlet-run.lock", "");
    let file = std::fs::File::open(&path).unwrap();
    file.lock().unwrap();
    let path = path.to_str().unwrap();
    gates.tollgate(&["run"]).exits(1).says(path);
    gates.tollgate(&["clean"]).exits(1).says(path);
    let begun = Instant::now();
    let answer = gates.stop();
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
    answers(&answer, "approve", "lock_conflict");
    assert!(
        answer["message"].as_str().unwrap().contains(path),
        "{answer}"
    );
    // A file that nobody holds is no lock.
    drop(file);
    answers(&gates.stop(), "approve", "passed");
}

#[test]
fn auto_clean_says_what_it_archived() {
    let gates = Gates::new(&[BAD]);
    gates.tollgate(&["run"]).exits(1).does_not_say("Archived");
    gates.commit("work");
    gates.git(&["checkout", "-q", "-b", "other"]);
    gates
        .tollgate(&["check"])
        .says("Auto-cleaning logs (branch changed)...")
        .says("Archived 2 log(s) to gauntlet_logs/previous");
    assert!(gates.exists("gauntlet_logs/previous/check_src_bad.1.log"));
    // Nothing is said of nothing.
    gates.tollgate(&["clean"]).exits(0);
    gates.git(&["checkout", "-q", "-b", "third"]);
    gates.tollgate(&["check"]).does_not_say("Archived");
}

/// The status of an answer is the one that is recorded, whenever gates ran.
#[test]
fn the_status_of_an_answer_is_the_recorded_one() {
    let recorded = |gates: &Gates, answer: &Value, status: &str| {
        assert_eq!(answer["status"], status, "{answer}");
        assert_eq!(gates.state()["status"], status, "{answer}");
    };
    let gates = Gates::new(&[FIXABLE]);
    recorded(&gates, &gates.stop(), "failed");
    gates.file("src/fixed", "");
    recorded(&gates, &gates.stop(), "passed");
    // The last retry.
    let gates = Gates::with_config(
        &[BAD],
        "max_retries: 1\nstop_hook: { run_interval_minutes: 0 }",
    );
    recorded(&gates, &gates.stop(), "failed");
    gates.file("src/b.txt", "again\n");
    recorded(&gates, &gates.stop(), "retry_limit_exceeded");
    // Released, because the agent accepts no further block.
    let gates = Gates::with_config(
        &[BAD],
        "max_retries: 99\nstop_hook: { run_interval_minutes: 0 }",
    );
    let mut last = Value::Null;
    for round in 0..9 {
        gates.file("src/b.txt", format!("{round}\n"));
        last = gates.stop_in("s", "p", round > 0);
        let status = last["status"].as_str().unwrap().to_owned();
        recorded(&gates, &last, &status);
        if status != "failed" {
            break;
        }
    }
    assert_eq!(last["status"], "retry_limit_exceeded", "{last}");
    // Allowed by a person.
    let gates = Gates::new(&[BAD]);
    recorded(&gates, &gates.stop_in("s", "p", false), "failed");
    gates.allow(&["GATE-FAILED", "--once"]);
    gates.file("src/b.txt", "again\n");
    let answer = gates.stop_in("s", "p", true);
    answers(&answer, "approve", "retry_limit_exceeded");
    recorded(&gates, &answer, "retry_limit_exceeded");
    // Weakened gates do not just pass.
    let gates = Gates::new(&[OK, BAD]);
    recorded(&gates, &gates.stop_in("s", "p", false), "failed");
    gates.check("bad", "command: \"true\"");
    let answer = gates.stop_in("s", "p", true);
    recorded(&gates, &answer, "passed_with_warnings");
}

/// Specification 003's answer is one line of JSON wherever the hook runs.
#[test]
fn the_originals_wire_is_answered_outside_of_a_project_too() {
    let project = TestProject::empty();
    let event = events::stop().in_directory(project.root()).to_string();
    for (args, input) in [
        (["hook", "--wire", "gauntlet"], event.as_str()),
        (
            ["hook", "--protocol", "gauntlet"],
            "{\"hook_event_name\":\"Stop\"}",
        ),
        (["hook", "--protocol", "gauntlet"], "no JSON"),
        (["hook", "--protocol", "gauntlet"], ""),
    ] {
        let run = project.run(&args, input.as_bytes());
        assert_eq!(
            (run.code, run.stdout.lines().count()),
            (0, 1),
            "{input}: {run:?}"
        );
        assert_eq!(run.json()["decision"], "approve", "{input}: {run:?}");
    }
    let run = project.run(&["hook", "--wire", "gauntlet"], event.as_bytes());
    answers(&run.json(), "approve", "no_config");
    // Other agents hear nothing there.
    project
        .hook(&events::stop().in_session("s").in_directory(project.root()))
        .allows();
}

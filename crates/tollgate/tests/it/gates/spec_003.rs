//! Specification 003, scenario by scenario under its title, as decided in the design (4.5):
//! unified statuses, JSON for every outcome, the state survives a clean.

use serde_json::{Value, json};

use super::{BAD, Gates, OK, answers};

fn reason(gates: &Gates) -> String {
    let answer = gates.stop();
    answers(&answer, "block", "failed");
    assert_eq!(answer["stopReason"], answer["reason"]);
    answer["reason"].as_str().unwrap().to_owned()
}

mod stop_hook_protocol_compliance {
    use super::*;

    #[test]
    fn valid_hook_input() {
        let gates = Gates::new(&[BAD]);
        let elsewhere = tempfile::tempdir().unwrap();
        let mut command = gates.command(&["stop-hook"]);
        command.current_dir(elsewhere.path());
        let event = json!({
            "hook_event_name": "Stop", "session_id": "s", "transcript_path": "/t",
            "cwd": gates.root(), "stop_hook_active": false,
        });
        let run = crate::project::run(command, event.to_string().as_bytes());
        let answer: Value = serde_json::from_str(&run.stdout).unwrap();
        answers(&answer, "block", "failed");
        // The same fields with the flag set, and a field that nobody knows.
        let mut command = gates.command(&["stop-hook"]);
        command.current_dir(elsewhere.path());
        let event = json!({
            "hook_event_name": "Stop", "cwd": gates.root(), "stop_hook_active": true,
            "of_the_future": [1],
        });
        let run = crate::project::run(command, event.to_string().as_bytes());
        let answer: Value = serde_json::from_str(&run.stdout).unwrap();
        answers(&answer, "approve", "stop_hook_active");
    }

    #[test]
    fn missing_or_invalid_json() {
        let gates = Gates::new(&[BAD]);
        for input in ["", " \n", "{", "not json", "null", "[1", "{\"a\":}"] {
            answers(
                &gates.stop_raw(input.as_bytes()).0,
                "approve",
                "invalid_input",
            );
        }
    }
}

mod infinite_loop_prevention {
    use super::*;

    #[test]
    fn stop_hook_active_is_true() {
        let gates = Gates::new(&[BAD]);
        let answer = gates.stop_raw(br#"{"stop_hook_active":true}"#).0;
        answers(&answer, "approve", "stop_hook_active");
        assert!(!gates.exists("gauntlet_logs"), "no gate ran");
    }

    #[test]
    fn stop_hook_active_is_false() {
        let gates = Gates::new(&[BAD]);
        let answer = gates.stop_raw(br#"{"stop_hook_active":false}"#).0;
        answers(&answer, "block", "failed");
    }
}

mod gauntlet_project_detection {
    use super::*;

    #[test]
    fn no_gauntlet_config_exists() {
        let gates = Gates::new(&[BAD]);
        std::fs::remove_dir_all(gates.path(".gauntlet")).unwrap();
        answers(&gates.stop(), "approve", "no_config");
    }

    #[test]
    fn gauntlet_config_exists() {
        answers(&Gates::new(&[OK]).stop(), "approve", "passed");
    }
}

mod gauntlet_execution {
    use super::*;

    #[test]
    fn direct_function_invocation() {
        // Seen from outside: the check is a child of the hook's own process.
        let gates = Gates::new(&[(
            "who",
            "command: cat /proc/$PPID/cmdline | tr '\\\\0' ' '; false",
        )]);
        gates.stop();
        let log = gates.read("gauntlet_logs/check_src_who.1.log");
        assert!(log.contains("stop-hook"), "{log}");
    }

    #[test]
    fn silent_mode_execution() {
        let gates = Gates::new(&[BAD]);
        let (_, run) = gates.stop_raw(b"{}");
        assert_eq!(run.stderr, "");
        assert!(
            gates
                .read("gauntlet_logs/console.1.log")
                .contains("[FAIL]  check:src:bad")
        );
        assert!(
            gates
                .read("gauntlet_logs/check_src_bad.1.log")
                .contains("boom")
        );
    }

    #[test]
    fn gauntlet_execution_error() {
        let gates = Gates::with_config(&[BAD], "");
        gates.git(&["branch", "-q", "-D", "main"]);
        let answer = gates.stop();
        answers(&answer, "approve", "error");
        assert!(
            answer["message"]
                .as_str()
                .unwrap()
                .contains("\"main\" does not exist")
        );
    }
}

mod unified_status_type {
    use super::*;

    /// `run` and the hook say the same word about the same thing.
    #[test]
    fn direct_status_usage() {
        for (check, status) in [(OK, "passed"), (BAD, "failed")] {
            let run = Gates::new(&[check]).json(&["run"]).0["status"].clone();
            let stop = Gates::new(&[check]).stop()["status"].clone();
            assert_eq!((run.as_str(), stop.as_str()), (Some(status), Some(status)));
        }
    }

    type Prepare<'p> = &'p dyn Fn(&Gates);

    /// The word is one and the same in the run's result, in the hook's answer and in the file.
    #[test]
    fn no_status_mapping() {
        let unchanged = |gates: &Gates| std::fs::remove_file(gates.path("src/b.txt")).unwrap();
        let unguarded = |gates: &Gates| {
            unchanged(gates);
            gates.file("docs/x.md", "x");
        };
        let baseless = |gates: &Gates| {
            gates.git(&["branch", "-q", "-D", "main"]);
        };
        let nothing = |_: &Gates| ();
        let each: [(&str, Prepare<'_>); 4] = [
            ("failed", &nothing),
            ("no_changes", &unchanged),
            ("no_applicable_gates", &unguarded),
            ("error", &baseless),
        ];
        for (status, prepare) in each {
            // A run of gates that never passed is about all of them.
            let run = if status.starts_with("no_") {
                let run = Gates::new(&[OK]);
                unchanged(&run);
                run.tollgate(&["run"]).exits(0);
                run.file("src/b.txt", "b\n");
                run
            } else {
                Gates::new(&[BAD])
            };
            prepare(&run);
            assert_eq!(run.json(&["run"]).0["status"], status);
            let stop = Gates::new(&[BAD]);
            prepare(&stop);
            assert_eq!(stop.stop()["status"], status);
            let ran = status == "failed";
            for gates in [run, stop].iter().filter(|_| ran) {
                assert_eq!(gates.state()["status"], status);
            }
        }
    }

    /// Each of the thirteen as it comes about, and the one that blocks.
    #[test]
    fn blocking_determination() {
        let stop = |config: &str| Gates::with_config(&[BAD], config).stop();
        let passed = Gates::with_config(&[OK], "");
        let mut seen = vec![
            stop("stop_hook: { run_interval_minutes: 0 }"),
            stop("max_retries: 0"),
            stop("max_retries: many"),
            stop("stop_hook: { enabled: false }"),
            passed.stop(),
            passed.stop(),
        ];
        let gates = Gates::new(&[OK]);
        seen.push(gates.stop_raw(b"").0);
        seen.push(gates.stop_raw(br#"{"stop_hook_active":true}"#).0);
        gates.stop_in("s", "p", false);
        gates.check("ok", "command: \"true || true\"");
        seen.push(gates.stop_in("s", "p2", false));
        std::fs::remove_file(gates.path("src/b.txt")).unwrap();
        gates.git(&["checkout", "-q", "--", "."]);
        seen.push(Gates::stop(&gates));
        gates.file("docs/x.md", "x");
        seen.push(gates.stop());
        std::fs::remove_dir_all(gates.path(".gauntlet")).unwrap();
        seen.push(gates.stop());
        let busy = Gates::with_config(&[BAD], "stop_hook: { deadline_seconds: 1 }");
        let lock = busy.file("gauntlet_logs/.gauntlet-run.lock", "4242");
        let lock = std::fs::File::open(lock).unwrap();
        lock.lock().unwrap();
        seen.push(busy.stop());
        let mut statuses: Vec<_> = seen
            .iter()
            .map(|answer| answer["status"].as_str().unwrap())
            .collect();
        statuses.sort_unstable();
        statuses.dedup();
        assert_eq!(statuses.len(), 13, "{statuses:?}");
        for answer in &seen {
            let blocks = answer["status"] == "failed";
            let decision = if blocks { "block" } else { "approve" };
            assert_eq!(answer["decision"], decision, "{answer}");
        }
    }
}

mod run_executor_function {
    use super::*;

    #[test]
    fn no_process_exit_in_executor() {
        // Beyond the limit the original ended with 1; the caller decides here.
        let gates = Gates::with_config(&[BAD], "max_retries: 0");
        gates.tollgate(&["run"]).exits(1);
        answers(&gates.stop(), "approve", "retry_limit_exceeded");
    }

    #[test]
    fn runresult_contains_metadata() {
        let gates = Gates::new(&[BAD]);
        let (result, code) = gates.json(&["run"]);
        assert_eq!((result["status"].as_str(), code), (Some("failed"), 1));
        assert!(!result["message"].as_str().unwrap().is_empty());
        assert_eq!(
            result["console_log"],
            json!(gates.path("gauntlet_logs/console.1.log"))
        );
        assert_eq!(result["error"], json!(null));
        gates.git(&["branch", "-q", "-D", "main"]);
        let (result, _) = gates.json(&["run"]);
        assert!(result["error"].is_string(), "{result}");
    }
}

mod status_based_decision_making {
    use super::*;

    #[test]
    fn status_passed() {
        answers(&Gates::new(&[OK]).stop(), "approve", "passed");
    }

    #[test]
    fn status_passed_with_warnings() {
        let gates = Gates::new(&[OK]);
        gates.stop_in("s", "p", false);
        gates.check("ok", "command: \"true || true\"");
        let answer = gates.stop_in("s", "p2", false);
        answers(&answer, "approve", "passed_with_warnings");
    }

    #[test]
    fn status_retry_limit_exceeded() {
        let gates = Gates::with_config(&[BAD], "max_retries: 1");
        answers(&gates.stop(), "block", "failed");
        answers(&gates.stop(), "approve", "retry_limit_exceeded");
    }

    #[test]
    fn status_failed() {
        answers(&Gates::new(&[BAD]).stop(), "block", "failed");
    }
}

mod block_decision_output {
    use super::*;

    #[test]
    fn block_with_reason() {
        let answer = Gates::new(&[BAD]).stop();
        assert_eq!(answer["status"], "failed");
        assert!(
            answer["reason"]
                .as_str()
                .unwrap()
                .contains("GAUNTLET FAILED")
        );
        assert!(
            answer["message"]
                .as_str()
                .unwrap()
                .contains("check:src:bad")
        );
    }

    #[test]
    fn output_format() {
        let (_, run) = Gates::new(&[BAD]).stop_raw(b"{}");
        let start = r#"{"decision": "block", "status": "failed", "message": ""#;
        assert!(run.stdout.starts_with(start), "{}", run.stdout);
        assert!(run.stdout.ends_with("}\n"));
    }
}

mod execution_state_tracking {
    use super::*;

    fn has_all(gates: &Gates, since: jiff::Timestamp) {
        let state = gates.state();
        let at: jiff::Timestamp = state["last_run_completed_at"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap();
        assert!(
            at >= since - jiff::SignedDuration::from_millis(1),
            "{state}"
        );
        assert_eq!(state["branch"], "work");
        assert_eq!(state["commit"], json!(gates.git(&["rev-parse", "HEAD"])));
        let tree = state["working_tree_ref"].as_str().unwrap();
        let files = gates.git(&["ls-tree", "-r", "--name-only", tree]);
        assert!(files.contains("src/b.txt"), "untracked files too: {files}");
    }

    #[test]
    fn state_file_written_on_successful_run() {
        let gates = Gates::new(&[OK]);
        let now = jiff::Timestamp::now();
        gates.tollgate(&["run"]).exits(0);
        has_all(&gates, now);
    }

    #[test]
    fn state_file_written_on_failed_run() {
        for command in ["run", "check"] {
            let gates = Gates::new(&[BAD]);
            let now = jiff::Timestamp::now();
            gates.tollgate(&[command]).exits(1);
            has_all(&gates, now);
        }
    }

    /// Decided otherwise: the state survives a clean (K11).
    #[test]
    fn state_file_cleared_on_clean() {
        let gates = Gates::new(&[BAD]);
        gates.tollgate(&["run"]).exits(1);
        gates
            .tollgate(&["clean"])
            .exits(0)
            .says("Logs archived successfully.");
        assert_eq!(gates.state()["branch"], "work");
        assert!(gates.exists("gauntlet_logs/previous/check_src_bad.1.log"));
        assert!(gates.logs("bad").is_empty());
    }
}

mod automatic_log_cleaning_on_context_change {
    use super::*;

    #[test]
    fn branch_changed_triggers_auto_clean() {
        let gates = Gates::new(&[BAD]);
        gates.tollgate(&["run"]).exits(1);
        gates.git(&["checkout", "-q", "-b", "other"]);
        gates
            .tollgate(&["run"])
            .exits(1)
            .says("Auto-cleaning logs (branch changed)...");
        assert!(gates.exists("gauntlet_logs/previous/check_src_bad.1.log"));
        assert_eq!(gates.logs("bad"), ["check_src_bad.1.log"]);
    }

    #[test]
    fn commit_merged_triggers_auto_clean() {
        let gates = Gates::new(&[BAD]);
        gates.commit("work");
        gates.tollgate(&["run"]).exits(1);
        gates.git(&["branch", "-q", "-f", "main", "work"]);
        gates
            .tollgate(&["run"])
            .says("Auto-cleaning logs (commit merged)...");
        assert!(gates.exists("gauntlet_logs/previous/check_src_bad.1.log"));
    }

    #[test]
    fn no_auto_clean_when_context_unchanged() {
        let gates = Gates::new(&[BAD]);
        gates.commit("work");
        gates.tollgate(&["run"]).exits(1);
        gates
            .tollgate(&["run"])
            .exits(1)
            .does_not_say("Auto-cleaning")
            .says("running in verification mode");
        assert_eq!(gates.logs("bad").len(), 2);
    }

    #[test]
    fn no_auto_clean_when_no_state_file() {
        let gates = Gates::new(&[BAD]);
        gates
            .tollgate(&["run"])
            .exits(1)
            .does_not_say("Auto-cleaning");
    }
}

mod global_configuration {
    use super::*;

    /// The interval that is in force, read off the message.
    fn minutes(gates: &Gates) -> String {
        gates.tollgate(&["run"]).exits(0);
        let answer = gates.stop();
        answers(&answer, "approve", "interval_not_elapsed");
        let message = answer["message"].as_str().unwrap().to_owned();
        let (_, rest) = message.split_once("interval ").unwrap();
        rest.split_once(" min").unwrap().0.to_owned()
    }

    #[test]
    fn global_config_with_stop_hook_interval() {
        let gates = Gates::with_config(&[OK], "");
        gates.global("stop_hook:\n  run_interval_minutes: 15\n");
        assert_eq!(minutes(&gates), "15");
    }

    #[test]
    fn global_config_missing() {
        assert_eq!(minutes(&Gates::with_config(&[OK], "")), "10");
    }

    #[test]
    fn global_config_invalid() {
        let gates = Gates::with_config(&[OK], "");
        gates.global("stop_hook: [\n");
        let (answer, run) = gates.stop_raw(b"{}");
        answers(&answer, "approve", "passed");
        assert_eq!(
            run.stderr.matches("not valid YAML").count(),
            1,
            "{}",
            run.stderr
        );
        assert_eq!(minutes(&gates), "10");
    }
}

mod stop_hook_run_interval {
    use super::*;

    /// Decided otherwise: JSON for every outcome (K4).
    #[test]
    fn interval_not_elapsed_skip_run() {
        let gates = Gates::with_config(&[BAD], "");
        gates.original_state(5, "work", "abc");
        answers(&gates.stop(), "approve", "interval_not_elapsed");
        assert!(gates.logs("console").is_empty());
    }

    #[test]
    fn interval_elapsed_run_gauntlet() {
        let gates = Gates::with_config(&[BAD], "");
        gates.original_state(15, "work", "abc");
        answers(&gates.stop(), "block", "failed");
    }

    #[test]
    fn no_execution_state_run_gauntlet() {
        answers(&Gates::with_config(&[BAD], "").stop(), "block", "failed");
    }
}

mod stop_hook_lock_pre_check {
    use super::*;

    /// Decided otherwise: a lock without a living owner is no lock, and a living owner is waited
    /// for (K19, d10); only one that takes longer than the deadline lets the stop through.
    #[test]
    fn lock_file_exists_allow_stop() {
        let gates = Gates::with_config(&[BAD], "stop_hook: { deadline_seconds: 1 }");
        let path = gates.file("gauntlet_logs/.gauntlet-run.lock", "4242");
        let file = std::fs::File::open(&path).unwrap();
        file.lock().unwrap();
        let answer = gates.stop();
        answers(&answer, "approve", "lock_conflict");
        assert!(
            answer["message"].as_str().unwrap().contains("4242"),
            "{answer}"
        );
        assert!(gates.logs("bad").is_empty());
    }

    #[test]
    fn lock_file_does_not_exist_run_gauntlet() {
        answers(&Gates::new(&[BAD]).stop(), "block", "failed");
    }
}

mod enhanced_stop_reason_instructions {
    use super::*;

    #[test]
    fn stop_reason_includes_console_log_path() {
        let gates = Gates::new(&[BAD]);
        let path = gates.path("gauntlet_logs/console.1.log");
        let reason = reason(&gates);
        let line = reason
            .lines()
            .find(|line| line.contains(path.to_str().unwrap()));
        assert!(line.unwrap().to_lowercase().contains("full"), "{reason}");
        assert!(path.is_absolute() && path.exists());
    }

    #[test]
    fn stop_reason_excludes_manual_re_run_instruction() {
        let reason = reason(&Gates::new(&[BAD]));
        assert!(!reason.contains("agent-gauntlet run") && !reason.contains("tollgate run"));
        assert!(reason.contains("automatically re-run"));
    }

    #[test]
    fn stop_reason_includes_urgent_fix_directive() {
        let reason = reason(&Gates::new(&[BAD]));
        assert!(reason.contains("YOU MUST FIX ISSUES NOW"));
        assert!(reason.contains("cannot stop until"));
    }

    #[test]
    fn stop_reason_includes_trust_level() {
        let reason = reason(&Gates::new(&[BAD]));
        assert!(reason.contains("Review trust level: medium. Fix what"));
        assert!(reason.contains("skip what"));
    }

    #[test]
    fn stop_reason_includes_violation_handling() {
        let reason = reason(&Gates::new(&[BAD]));
        for part in ["\"status\"", "\"result\"", "\"fixed\"", "\"skipped\""] {
            assert!(reason.contains(part), "{part}");
        }
    }

    #[test]
    fn stop_reason_includes_termination_conditions() {
        let reason = reason(&Gates::new(&[BAD]));
        for label in ["Passed", "Passed with warnings", "Retry limit exceeded"] {
            assert!(reason.contains(&format!("\"Status: {label}\"")), "{label}");
        }
    }
}

//! Specification 003, continued: one JSON answer with its status for every outcome.

use super::{BAD, FIXABLE, Gates, OK, answers};

mod structured_json_response_for_all_outcomes {
    use super::*;

    #[test]
    fn response_structure() {
        // `stop_raw` holds every answer of this suite against the structure.
        for check in [OK, BAD] {
            Gates::new(&[check]).stop();
        }
        Gates::new(&[BAD]).stop_raw(b"");
    }
}

mod status_codes_for_approval_scenarios {
    use super::*;

    /// Decided otherwise: no exit codes or output are looked at (K1).
    #[test]
    fn status_precedence_order() {
        let gates = Gates::new(&[(
            "talks",
            "command: \"echo 'Status: Passed'; echo 'No applicable gates'; exit 1\"",
        )]);
        answers(&gates.stop(), "block", "failed");
    }

    #[test]
    fn gauntlet_passed_exit_code_0() {
        let answer = Gates::new(&[OK]).stop();
        answers(&answer, "approve", "passed");
        assert!(answer["message"].as_str().unwrap().contains("passed"));
    }

    #[test]
    fn no_applicable_gates() {
        let gates = Gates::new(&[BAD]);
        std::fs::remove_file(gates.path("src/b.txt")).unwrap();
        gates.file("docs/x.md", "x\n");
        let answer = gates.stop();
        answers(&answer, "approve", "no_applicable_gates");
        assert!(
            answer["message"]
                .as_str()
                .unwrap()
                .contains("No applicable gates")
        );
    }

    /// Decided otherwise: `passed` (K1).
    #[test]
    fn termination_condition_passed_non_zero_exit() {
        let gates = Gates::new(&[FIXABLE]);
        answers(&gates.stop(), "block", "failed");
        gates.file("src/fixed", "");
        answers(&gates.stop(), "approve", "passed");
    }

    /// Decided otherwise: `passed_with_warnings` (K1).
    #[test]
    fn termination_condition_passed_with_warnings_non_zero_exit() {
        let gates = Gates::new(&[FIXABLE]);
        answers(&gates.stop_in("s", "p", false), "block", "failed");
        gates.check("fixable", "command: \"true\"");
        let answer = gates.stop_in("s", "p", true);
        answers(&answer, "approve", "passed_with_warnings");
    }

    /// Decided otherwise: `retry_limit_exceeded` (K1).
    #[test]
    fn termination_condition_retry_limit_exceeded_non_zero_exit() {
        let gates = Gates::with_config(&[BAD], "max_retries: 0");
        let answer = gates.stop();
        answers(&answer, "approve", "retry_limit_exceeded");
        assert!(
            answer["message"]
                .as_str()
                .unwrap()
                .contains("A person must decide")
        );
    }

    #[test]
    fn run_interval_not_elapsed() {
        let gates = Gates::with_config(&[OK], "");
        gates.tollgate(&["run"]).exits(0);
        let answer = gates.stop();
        answers(&answer, "approve", "interval_not_elapsed");
        let message = answer["message"].as_str().unwrap();
        assert!(
            message.contains("run again in 9 min 5") || message.contains("in 10 min 0 s"),
            "{message}"
        );
    }

    /// Decided otherwise: `lock_conflict` (K2).
    #[test]
    fn lock_file_exists() {
        let gates = Gates::with_config(&[OK], "stop_hook: { deadline_seconds: 1 }");
        let path = gates.file("gauntlet_logs/.gauntlet-run.lock", "1");
        let file = std::fs::File::open(&path).unwrap();
        file.lock().unwrap();
        gates
            .tollgate(&["run"])
            .exits(1)
            .says("already in progress");
        assert_eq!(gates.json(&["run"]).0["status"], "lock_conflict");
        let answer = gates.stop();
        answers(&answer, "approve", "lock_conflict");
        let message = answer["message"].as_str().unwrap();
        assert!(message.contains("already in progress"), "{message}");
    }

    /// Decided otherwise: `error` (K3).
    #[test]
    fn infrastructure_error() {
        let gates = Gates::with_config(
            &[("slow", "command: sleep 60")],
            "stop_hook: { deadline_seconds: 1 }",
        );
        let answer = gates.stop();
        answers(&answer, "approve", "error");
        let message = answer["message"].as_str().unwrap();
        assert!(
            message.contains("NOT verified: check:src:slow"),
            "{message}"
        );
        assert!(message.contains("deadline"), "{message}");
    }

    #[test]
    fn no_gauntlet_configuration() {
        let gates = Gates::new(&[BAD]);
        std::fs::remove_file(gates.path(".gauntlet/config.yml")).unwrap();
        let answer = gates.stop();
        answers(&answer, "approve", "no_config");
        assert!(
            answer["message"]
                .as_str()
                .unwrap()
                .contains("No gates here")
        );
    }

    #[test]
    fn stop_hook_already_active() {
        let gates = Gates::new(&[BAD]);
        let answer = gates.stop_raw(br#"{"stop_hook_active":true}"#).0;
        answers(&answer, "approve", "stop_hook_active");
        assert!(
            answer["message"]
                .as_str()
                .unwrap()
                .contains("infinite loop")
        );
        let mut command = gates.command(&["stop-hook"]);
        command.env("GAUNTLET_STOP_HOOK_ACTIVE", "0");
        let run = crate::project::run(command, b"");
        assert!(run.stdout.contains("stop_hook_active"), "{run:?}");
    }

    #[test]
    fn unexpected_error() {
        let gates = Gates::with_config(&[BAD], "max_retries: many");
        let answer = gates.stop();
        answers(&answer, "approve", "error");
        let message = answer["message"].as_str().unwrap();
        assert!(message.contains("config.yml:2: max_retries"), "{message}");
    }

    #[test]
    fn invalid_hook_input() {
        let answer = Gates::new(&[BAD]).stop_raw(b"").0;
        answers(&answer, "approve", "invalid_input");
        assert!(
            answer["message"]
                .as_str()
                .unwrap()
                .contains("could not be parsed")
        );
    }
}

mod block_status_for_failed_gates {
    use super::*;

    #[test]
    fn gates_failed_block() {
        let answer = Gates::new(&[BAD]).stop();
        answers(&answer, "block", "failed");
        assert!(
            answer["reason"].as_str().unwrap().len() > answer["message"].as_str().unwrap().len()
        );
    }
}

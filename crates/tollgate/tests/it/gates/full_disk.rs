//! A disk that is full, before a run or in the middle of it: nobody is blocked for it, and nothing
//! is verified by it.

use super::{BAD, Gates, OK, answers};
use crate::project::Run;

/// Runs a command where `directory` is a file system of its own with room for a few pages, which
/// `filled` takes up. None, and a word about it, where nobody may mount.
fn with_small(gates: &Gates, directory: &str, filled: bool, args: &[&str]) -> Option<Run> {
    let script = r#"
        mount -t tmpfs -o size=64k tmpfs "$1" || exit 77
        if [ "$2" = true ]; then head -c 100000 /dev/zero > "$1/filler" 2> /dev/null; fi
        shift 2
        exec "$@""#;
    let inner = gates.command(args);
    let mut command = std::process::Command::new("unshare");
    command
        .args([
            "--user",
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            script,
            "sh",
        ])
        .arg(gates.path(directory))
        .arg(filled.to_string())
        .arg(inner.get_program())
        .args(inner.get_args())
        .current_dir(gates.root());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    std::fs::create_dir_all(gates.path(directory)).unwrap();
    let run = crate::project::run(command, b"{}");
    if run.code == 77 || run.stderr.contains("unshare") {
        eprintln!(
            "SKIPPED: no file system can be mounted here: {}",
            run.stderr
        );
        return None;
    }
    Some(run)
}

fn answer(run: &Run) -> serde_json::Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"))
}

#[test]
fn a_full_disk_before_the_run_is_said_and_blocks_nobody() {
    for directory in ["gauntlet_logs", ".tollgate/local"] {
        let gates = Gates::new(&[BAD]);
        let Some(run) = with_small(&gates, directory, true, &["run"]) else {
            return;
        };
        run.exits(1).says("No space left on device");
        let stop = with_small(&gates, directory, true, &["stop-hook"]).unwrap();
        let answer = answer(&stop);
        answers(&answer, "approve", "error");
        let message = answer["message"].as_str().unwrap();
        assert!(message.contains("No space left on device"), "{message}");
        // With room again, the gates are as strict as ever.
        answers(&gates.stop(), "block", "failed");
    }
}

#[test]
fn a_check_that_fills_the_disk_of_its_log_has_no_verdict() {
    let fills = |exit: u8| format!("command: \"head -c 1000000 /dev/zero; exit {exit}\"");
    for exit in [0, 3] {
        let gates = Gates::new(&[("fills", &fills(exit))]);
        let Some(run) = with_small(&gates, "gauntlet_logs", false, &["run"]) else {
            return;
        };
        run.exits(1)
            .says("[INCONCLUSIVE] check:src:fills")
            .says("its log cannot be written")
            .does_not_say("Status: Passed");
        let stop = with_small(&gates, "gauntlet_logs", false, &["stop-hook"]).unwrap();
        let answer = answer(&stop);
        answers(&answer, "approve", "error");
        let message = answer["message"].as_str().unwrap();
        assert!(
            message.contains("NOT verified: check:src:fills"),
            "{message}"
        );
    }
}

#[test]
fn a_pass_that_cannot_be_remembered_says_so() {
    let fills = (
        "fills",
        "command: \"head -c 1000000 /dev/zero > ../.tollgate/local/filler; true\"",
    );
    let gates = Gates::new(&[OK, fills]);
    let Some(run) = with_small(&gates, ".tollgate/local", false, &["stop-hook"]) else {
        return;
    };
    let answer = answer(&run);
    answers(&answer, "approve", "passed");
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains("cannot be recorded"), "{message}");
    assert!(!gates.exists(".tollgate/local/gates.json"));
}

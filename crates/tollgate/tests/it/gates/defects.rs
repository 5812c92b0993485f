//! The defects P1 … P45 of the original, as far as they concern checks, runs and stops. Those
//! about reviewers (P3, P4, P15 … P20) are tested with the reviews.

use std::time::{Duration, Instant};

use serde_json::json;

use super::killing::alive;
use super::{BAD, FIXABLE, Gates, OK, answers};

/// P1: `check` exited 0 and put the logs away although a check had failed.
#[test]
fn p01_check_exits_1_and_keeps_the_logs_when_a_check_fails() {
    let gates = Gates::new(&[BAD]);
    gates
        .tollgate(&["check"])
        .exits(1)
        .says("Running 1 check(s)...");
    assert_eq!(gates.logs("bad"), ["check_src_bad.1.log"]);
    assert!(!gates.exists("gauntlet_logs/previous"));
}

/// P2: with `CI=true` no check ran.
#[test]
fn p02_checks_run_in_ci() {
    let gates = Gates::new(&[BAD]);
    gates.commit("work");
    let mut command = gates.command(&["run"]);
    command.env("CI", "true");
    crate::project::run(command, b"")
        .exits(1)
        .says("[FAIL]  check:src:bad");
    gates.check("bad", "command: exit 3\nrun_in_ci: false");
    gates.commit("no ci");
    let mut command = gates.command(&["run"]);
    command.env("GITHUB_ACTIONS", "true");
    crate::project::run(command, b"")
        .exits(0)
        .says("No applicable gates");
}

/// P5: a failed check was not run again once the agent had committed something.
#[test]
fn p05_a_failed_check_runs_again_whatever_git_says() {
    let gates = Gates::new(&[BAD]);
    answers(&gates.stop(), "block", "failed");
    // The change that called for the check is gone; the failure is not.
    std::fs::remove_file(gates.path("src/b.txt")).unwrap();
    gates.commit("no fix");
    answers(&gates.stop(), "block", "failed");
}

/// P6: idle runs used up the attempts and left logs.
#[test]
fn p06_idle_runs_leave_nothing_and_cost_no_attempt() {
    let gates = Gates::new(&[BAD]);
    std::fs::remove_file(gates.path("src/b.txt")).unwrap();
    for _ in 0..6 {
        answers(&gates.stop(), "approve", "no_changes");
    }
    assert!(gates.logs("console").is_empty());
    // Nor does what idle runs of the original left there.
    gates.file("gauntlet_logs/console.7.log", "");
    gates.file("src/b.txt", "b\n");
    answers(&gates.stop(), "block", "failed");
    assert_eq!(gates.state()["attempts"], 1);
}

/// P7: the lock of a killed run approved every later stop.
#[test]
fn p07_a_lock_without_a_living_owner_is_no_lock() {
    let gates = Gates::new(&[BAD]);
    gates.file("gauntlet_logs/.gauntlet-run.lock", "1");
    gates.file("gauntlet_logs/.stop-hook-active", "1");
    answers(&gates.stop(), "block", "failed");
    gates.tollgate(&["run"]).exits(1).says("Status: Failed");
}

/// P8: the second stop after a block was approved unverified.
#[test]
fn p08_the_second_stop_after_a_block_is_verified_if_something_changed() {
    let gates = Gates::new(&[FIXABLE]);
    answers(&gates.stop_in("s", "p", false), "block", "failed");
    gates.file("src/other", "");
    answers(&gates.stop_in("s", "p", true), "block", "failed");
    gates.file("src/fixed", "");
    answers(&gates.stop_in("s", "p", true), "approve", "passed");
}

/// P9: beyond the limit the hook exited 1, which agents take for an error of the hook.
#[test]
fn p09_beyond_the_limit_the_hook_exits_0() {
    let gates = Gates::with_config(&[BAD], "max_retries: 0");
    let run_by_an_agent = || {
        let mut command = gates.command(&["run"]);
        command.env("CLAUDECODE", "1");
        crate::project::run(command, b"")
    };
    run_by_an_agent()
        .exits(1)
        .says("Status: Retry limit exceeded");
    // `stop` asserts the exit code.
    answers(&gates.stop(), "approve", "retry_limit_exceeded");
    run_by_an_agent()
        .exits(1)
        .says("Retry limit exceeded: run 2 exceeds max allowed 1 (max_retries: 0).")
        .says("the gates were not run this time")
        .says("tollgate clean");
    assert_eq!(gates.logs("bad").len(), 1, "no gate ran");
    gates.tollgate(&["clean"]).exits(0);
    gates.tollgate(&["run"]).exits(1).says("[FAIL]");
}

/// P10: the interval approved the stop after a run that had failed early.
#[test]
fn p10_the_interval_holds_only_after_a_pass() {
    let gates = Gates::with_config(&[BAD], "");
    gates.tollgate(&["run"]).exits(1);
    std::fs::remove_file(gates.path("gauntlet_logs/check_src_bad.1.log")).unwrap();
    answers(&gates.stop(), "block", "failed");
}

/// P11: another branch inherited failures and attempts.
#[test]
fn p11_another_branch_does_not_inherit_the_attempts() {
    let gates = Gates::with_config(&[BAD], "max_retries: 1");
    answers(&gates.stop(), "block", "failed");
    gates.git(&["checkout", "-q", "-b", "other"]);
    answers(&gates.stop(), "block", "failed");
    assert_eq!(gates.state()["attempts"], 1);
}

/// P12: uncommitted work on a branch without own commits was taken for merged work.
#[test]
fn p12_uncommitted_work_on_the_base_is_no_merged_work() {
    let gates = Gates::new(&[BAD]);
    gates.git(&["checkout", "-q", "main"]);
    gates.tollgate(&["run"]).exits(1);
    gates
        .tollgate(&["run"])
        .exits(1)
        .does_not_say("Auto-cleaning")
        .says("verification mode");
}

/// P13: the recorded tree had no untracked files.
#[test]
fn p13_the_recorded_tree_has_untracked_files_and_nobody_s_index_is_touched() {
    let gates = Gates::new(&[BAD]);
    gates.file("src/staged", "1");
    gates.git(&["add", "src/staged"]);
    let before = (
        gates.git(&["status", "--porcelain"]),
        gates.git(&["ls-files", "-s"]),
    );
    gates.tollgate(&["run"]).exits(1);
    let after = (
        gates.git(&["status", "--porcelain"]),
        gates.git(&["ls-files", "-s"]),
    );
    assert_eq!(before, after);
    assert_eq!(gates.git(&["stash", "list"]), "");
    let tree = gates.state()["working_tree_ref"]
        .as_str()
        .unwrap()
        .to_owned();
    let files = gates.git(&["ls-tree", "-r", "--name-only", &tree]);
    assert!(
        files.contains("src/b.txt") && files.contains("src/staged"),
        "{files}"
    );
    assert!(!files.contains("gauntlet_logs"), "{files}");
}

/// P14: after a pass all gates ran again, whatever had changed.
#[test]
fn p14_what_was_verified_is_not_run_again() {
    let gates = Gates::new(&[("counts", "command: echo x >> ../.count")]);
    gates.file(".gitignore", ".count\n");
    gates.tollgate(&["run"]).exits(0);
    gates
        .tollgate(&["run"])
        .exits(0)
        .says("No changes detected.");
    gates.file("docs/unrelated.md", "x");
    gates
        .tollgate(&["run"])
        .exits(0)
        .says("No applicable gates");
    let answer = gates.stop();
    answers(&answer, "approve", "no_applicable_gates");
    assert_eq!(gates.read(".count"), "x\n");
    gates.file("src/b.txt", "changed\n");
    gates.tollgate(&["run"]).exits(0);
    assert_eq!(gates.read(".count"), "x\nx\n");
}

/// P21: a timeout left grandchildren running.
#[test]
fn p21_a_timeout_ends_grandchildren_too() {
    let mark = format!("tollgate-test-{}-p21", std::process::id());
    let gates = Gates::new(&[(
        "slow",
        &format!(
            "command: \"export MARK={mark}; (sleep 300; true) & touch began; sleep 300\"\ntimeout: 2"
        ),
    )]);
    gates.tollgate(&["run"]).exits(1).says("Timed out after 2s");
    assert!(gates.exists("src/began"), "it had no time for a grandchild");
    assert_eq!(alive(&mark), [0; 0]);
}

/// P22: a check that reads standard input hung for ever.
#[test]
fn p22_a_check_that_reads_stdin_gets_nothing() {
    use std::io::Write as _;
    let gates = Gates::new(&[(
        "reads",
        "command: 'cat > ../read; read line; test -z \"$line\"'\ntimeout: 20",
    )]);
    // Whoever started the run goes on writing to it.
    let mut child = gates
        .command(&["run"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut held = child.stdin.take().unwrap();
    held.write_all(b"not for a check\n").unwrap();
    assert!(child.wait().unwrap().success());
    drop(held);
    assert_eq!(gates.read("read"), "");
}

/// P23: background children, 10 MB of output and signals of its own decided about a check.
#[test]
fn p23_background_children_large_output_and_own_signals() {
    let gates = Gates::new(&[
        ("background", "command: \"sleep 30 & true\""),
        (
            "large",
            "command: \"head -c 12000000 /dev/zero | tr '\\\\0' x\"",
        ),
        ("suicide", "command: \"kill -TERM $$\"\ntimeout: 60"),
    ]);
    let begun = Instant::now();
    gates
        .tollgate(&["run"])
        .exits(1)
        .says("[PASS]  check:src:background")
        .says("LEAK: left 1 process(es) running, killed")
        .says("[PASS]  check:src:large")
        .says("[ERROR] check:src:suicide")
        .says("Killed by signal 15 (SIGTERM)")
        .does_not_say("Timed out");
    assert!(begun.elapsed() < Duration::from_secs(10));
    let log = gates.path("gauntlet_logs/check_src_large.1.log");
    assert!(std::fs::metadata(log).unwrap().len() < 5_000_000);
}

/// P24: `(true)`, `FOO=1 env` or `$(…)` were refused as missing commands.
#[test]
fn p24_the_shell_decides_what_a_command_is() {
    let commands = [
        "(true)",
        "$(echo true)",
        "FOO=1 env > /dev/null",
        "FOO=1",
        "{ true; }",
        "! false",
    ];
    for command in commands {
        let gates = Gates::new(&[("shell", &format!("command: {}", json!(command)))]);
        gates.tollgate(&["run"]).exits(0);
    }
    let gates = Gates::new(&[("missing", "command: no-such-program --flag")]);
    gates
        .tollgate(&["run"])
        .exits(1)
        .says("Exited with code 127 (command not found");
}

/// P25: paths beyond ASCII never matched an entry point.
#[test]
fn p25_paths_are_not_only_ascii() {
    let gates = Gates::raw(
        &[BAD],
        "base_branch: main\nentry_points:\n  - path: ünï\n    checks: [bad]\n",
    );
    gates.file("ünï/f \"x\"\n.txt", "x");
    gates.tollgate(&["run"]).exits(1).says("check:ünï:bad");
    // Staged, and committed.
    gates.git(&["add", "-A"]);
    for _ in 0..2 {
        gates.tollgate(&["clean"]).exits(0);
        gates.tollgate(&["detect"]).exits(0).says("check bad");
        gates
            .tollgate(&["run", "-g", "bad"])
            .exits(1)
            .says("check:ünï:bad");
        gates.commit("work");
    }
}

/// P26: branch and commit names reached a shell.
#[test]
fn p26_no_value_reaches_a_shell() {
    let name = "x;touch${IFS}pwned";
    let command = format!("command: echo $BASE_BRANCH; test \"$BASE_BRANCH\" = '{name}'");
    let gates = Gates::new(&[("base", &command)]);
    for args in [
        ["run", "-b", "$(touch pwned)"],
        ["run", "--base-branch=--output=pwned", "-u"],
        ["run", "-c", "`touch pwned`"],
        ["detect", "-b", ";touch pwned"],
    ] {
        if args.contains(&"-u") {
            // The base is not asked for, but it still is a name and no option.
            gates.tollgate(&args).exits(1).says("check:src:base");
            continue;
        }
        gates.tollgate(&args).exits(1).says("does not exist");
    }
    // A name that git allows; the check gets it as a variable.
    gates.git(&["branch", name, "main"]);
    gates.tollgate(&["run", "-b", name]).exits(0);
    let mut command = gates.command(&["run"]);
    command
        .env("CI", "true")
        .env("GITHUB_BASE_REF", "$(touch pwned)")
        .env("GITHUB_SHA", ";touch pwned");
    crate::project::run(command, b"").exits(1);
    assert!(!gates.exists("pwned") && !gates.exists("src/pwned"));
}

/// P27: entry points that are files, globs or deleted directories could not be run.
#[test]
fn p27_a_check_runs_in_the_nearest_directory() {
    let gates = Gates::raw(
        &[("where", "command: pwd; false")],
        "base_branch: main\nentry_points:\n  - path: src/a.txt\n    checks: [where]\n  - path: gone\n    checks: [where]\n  - path: '**/*.md'\n    checks: [where]\n  - path: 'packages/*'\n    checks: [where]\n",
    );
    gates.file("gone/x", "1");
    gates.commit("gone");
    gates.git(&["branch", "-q", "-f", "main", "work"]);
    std::fs::remove_dir_all(gates.path("gone")).unwrap();
    gates.file("src/a.txt", "changed");
    gates.file("docs/x.md", "1");
    gates.file("packages/README.md", "1");
    gates.file("packages/ui/x", "1");
    let run = gates.tollgate(&["run"]).exits(1);
    assert!(!run.stderr.contains("[ERROR]"), "{}", run.stderr);
    assert!(!run.stderr.contains("packages/README.md"), "{}", run.stderr);
    let root = gates.root().canonicalize().unwrap();
    for (stem, directory) in [
        ("check_src_a.txt_where", "src"),
        ("check_gone_where", ""),
        ("check_packages_ui_where", "packages/ui"),
    ] {
        let log = gates.read(&format!("gauntlet_logs/{stem}.1.log"));
        let directory = root.join(directory).display().to_string();
        let directory = directory.trim_end_matches('/');
        assert!(log.lines().any(|line| line == directory), "{stem}: {log}");
    }
}

/// P28: the project was that of the process, not of the event's directory or above it.
#[test]
fn p28_the_project_is_that_of_the_hook_s_directory_or_above_it() {
    let gates = Gates::new(&[BAD]);
    let elsewhere = Gates::new(&[OK]);
    let event = json!({ "cwd": gates.path("src"), "stop_hook_active": false });
    let run = crate::project::run(
        elsewhere.command(&["stop-hook"]),
        event.to_string().as_bytes(),
    );
    assert!(run.stdout.contains("\"block\""), "{run:?}");
    assert!(gates.exists("gauntlet_logs/console.1.log"));
    assert!(!elsewhere.exists("gauntlet_logs"));
    assert!(!gates.exists("src/gauntlet_logs"));
}

/// P29: the hook did not exit while the caller kept standard input open.
/// P30: an event in several lines or writes was invalid.
#[test]
fn p29_p30_an_event_in_pieces_on_a_stdin_that_stays_open() {
    use std::io::{Read as _, Write as _};
    let gates = Gates::new(&[BAD]);
    let mut child = gates
        .command(&["stop-hook"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin
        .write_all(b"{\n  \"hook_event_name\": \"Stop\",\n")
        .unwrap();
    std::thread::sleep(Duration::from_millis(300));
    stdin
        .write_all(b"  \"stop_hook_active\": false\n}\n")
        .unwrap();
    let begun = Instant::now();
    let mut answer = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut answer)
        .unwrap();
    assert!(child.wait().unwrap().success());
    assert!(
        begun.elapsed() < Duration::from_secs(4),
        "{:?}",
        begun.elapsed()
    );
    assert!(answer.contains("\"failed\""), "{answer}");
    drop(stdin);
}

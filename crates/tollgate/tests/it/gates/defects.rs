//! The defects P1 … P45 of the original, as far as they concern checks, runs and stops. Those
//! about reviewers (P3, P4, P15 … P20) are tested with the reviews.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{BAD, FIXABLE, Gates, OK, answers};

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

#[test]
fn p02_checks_run_in_ci() {
    let gates = Gates::new(&[BAD]);
    gates.commit("work");
    let mut command = gates.command(&["run"]);
    command.env("CI", "true");
    crate::context::run(command, b"")
        .exits(1)
        .says("[FAIL]  check:src:bad");
    gates.check("bad", "command: exit 3\nrun_in_ci: false");
    gates.commit("no ci");
    let mut command = gates.command(&["run"]);
    command.env("GITHUB_ACTIONS", "true");
    crate::context::run(command, b"")
        .exits(0)
        .says("No applicable gates");
}

#[test]
fn p05_a_failed_check_runs_again_whatever_git_says() {
    let gates = Gates::new(&[BAD]);
    answers(&gates.stop(), "block", "failed");
    // The change that called for the check is gone; the failure is not.
    std::fs::remove_file(gates.path("src/b.txt")).unwrap();
    gates.commit("no fix");
    answers(&gates.stop(), "block", "failed");
}

#[test]
fn p06_idle_runs_leave_nothing_and_cost_no_attempt() {
    let gates = Gates::new(&[BAD]);
    std::fs::remove_file(gates.path("src/b.txt")).unwrap();
    for _ in 0..6 {
        answers(&gates.stop(), "approve", "no_changes");
    }
    assert!(gates.logs("console").is_empty());
    gates.file("src/b.txt", "b\n");
    answers(&gates.stop(), "block", "failed");
    assert_eq!(gates.state()["attempts"], 1);
}

#[test]
fn p07_a_lock_without_a_living_owner_is_no_lock() {
    let gates = Gates::new(&[BAD]);
    gates.file("gauntlet_logs/.gauntlet-run.lock", "1");
    gates.file("gauntlet_logs/.stop-hook-active", "1");
    answers(&gates.stop(), "block", "failed");
    gates.tollgate(&["run"]).exits(1).says("Status: Failed");
}

#[test]
fn p08_the_second_stop_after_a_block_is_verified_if_something_changed() {
    let gates = Gates::new(&[FIXABLE]);
    answers(&gates.stop_in("s", "p", false), "block", "failed");
    gates.file("src/other", "");
    answers(&gates.stop_in("s", "p", true), "block", "failed");
    gates.file("src/fixed", "");
    answers(&gates.stop_in("s", "p", true), "approve", "passed");
}

#[test]
fn p09_beyond_the_limit_the_hook_exits_0() {
    let gates = Gates::with_config(&[BAD], "max_retries: 0");
    gates
        .tollgate(&["run"])
        .exits(1)
        .says("Status: Retry limit exceeded");
    // `stop` asserts the exit code.
    answers(&gates.stop(), "approve", "retry_limit_exceeded");
    gates
        .tollgate(&["run"])
        .exits(1)
        .says("Retry limit exceeded: run 2 exceeds max allowed 1 (max_retries: 0).")
        .says("tollgate clean");
    assert_eq!(gates.logs("bad").len(), 1, "no gate ran");
    gates.tollgate(&["clean"]).exits(0);
    gates.tollgate(&["run"]).exits(1).says("[FAIL]");
}

#[test]
fn p10_the_interval_holds_only_after_a_pass() {
    let gates = Gates::with_config(&[BAD], "");
    gates.tollgate(&["run"]).exits(1);
    std::fs::remove_file(gates.path("gauntlet_logs/check_src_bad.1.log")).unwrap();
    answers(&gates.stop(), "block", "failed");
}

#[test]
fn p11_another_branch_does_not_inherit_the_attempts() {
    let gates = Gates::with_config(&[BAD], "max_retries: 1");
    answers(&gates.stop(), "block", "failed");
    gates.git(&["checkout", "-q", "-b", "other"]);
    answers(&gates.stop(), "block", "failed");
    assert_eq!(gates.state()["attempts"], 1);
}

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

#[test]
fn p21_a_timeout_ends_grandchildren_too() {
    let gates = Gates::new(&[(
        "slow",
        "command: \"(sleep 3; touch late) & sleep 60\"\ntimeout: 0.3",
    )]);
    gates
        .tollgate(&["run"])
        .exits(1)
        .says("Timed out after 0.3s");
    std::thread::sleep(Duration::from_millis(3200));
    assert!(!gates.exists("src/late"));
}

#[test]
fn p22_a_check_that_reads_stdin_gets_nothing() {
    let gates = Gates::new(&[("reads", "command: \"cat; read line; test -z $line\"")]);
    gates.tollgate(&["run"]).exits(0);
}

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

#[test]
fn p25_paths_are_not_only_ascii() {
    let gates = Gates::raw(
        &[BAD],
        "base_branch: main\nentry_points:\n  - path: ünï\n    checks: [bad]\n",
    );
    gates.file("ünï/f \"x\"\n.txt", "x");
    gates.tollgate(&["run"]).exits(1).says("check:ünï:bad");
}

#[test]
fn p26_no_value_reaches_a_shell() {
    let gates = Gates::new(&[("base", "command: test \"$BASE_BRANCH\" = 'x;touch pwned'")]);
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
    gates.git(&["update-ref", "refs/heads/x;touch", "main"]);
    let mut command = gates.command(&["run"]);
    command
        .env("CI", "true")
        .env("GITHUB_BASE_REF", "$(touch pwned)")
        .env("GITHUB_SHA", ";touch pwned");
    crate::context::run(command, b"").exits(1);
    assert!(!gates.exists("pwned") && !gates.exists("src/pwned"));
}

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
    let root = gates.project.root().canonicalize().unwrap();
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

#[test]
fn p28_the_project_is_that_of_the_hook_s_directory_or_above_it() {
    let gates = Gates::new(&[BAD]);
    let elsewhere = Gates::new(&[OK]);
    let event = json!({ "cwd": gates.path("src"), "stop_hook_active": false });
    let run = crate::context::run(
        elsewhere.command(&["stop-hook"]),
        event.to_string().as_bytes(),
    );
    assert!(run.stdout.contains("\"block\""), "{run:?}");
    assert!(gates.exists("gauntlet_logs/console.1.log"));
    assert!(!elsewhere.exists("gauntlet_logs"));
    assert!(!gates.exists("src/gauntlet_logs"));
}

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

#[test]
fn p31_run_says_why_it_cannot_run() {
    let gates = Gates::new(&[OK]);
    gates.file(".gauntlet/config.yml", "entry_points: [\n");
    gates
        .tollgate(&["run"])
        .exits(1)
        .says(".gauntlet/config.yml:");
    std::fs::remove_file(gates.path(".gauntlet/config.yml")).unwrap();
    gates
        .tollgate(&["run"])
        .exits(1)
        .says("Configuration file not found at /");
}

#[test]
fn p32_validate_names_the_file_and_health_shows_the_same() {
    let gates = Gates::new(&[("odd", "command: 5\ntimeout: -1")]);
    for command in ["validate", "health"] {
        gates
            .tollgate(&[command])
            .says(".gauntlet/checks/odd.yml:1: command: expected a text that is not empty, found 5")
            .says(".gauntlet/checks/odd.yml:2: timeout: expected a number of at least 0, found -1");
    }
    gates
        .tollgate(&["validate"])
        .exits(1)
        .says("Validation failed");
}

#[test]
fn p33_a_disabled_hook_says_so() {
    let gates = Gates::with_config(&[BAD], "stop_hook: { enabled: false }");
    answers(&gates.stop(), "approve", "stop_hook_disabled");
    let gates = Gates::new(&[BAD]);
    let mut command = gates.command(&["stop-hook"]);
    command.env("GAUNTLET_STOP_HOOK_ENABLED", " FALSE ");
    let run = crate::context::run(command, b"{}");
    assert!(run.stdout.contains("stop_hook_disabled"), "{run:?}");
}

#[test]
fn p34_durations_in_the_debug_log_are_seconds() {
    let gates = Gates::with_config(
        &[("nap", "command: sleep 0.2; false")],
        "debug_log: { enabled: true }",
    );
    gates.tollgate(&["run"]).exits(1);
    let log = gates.read("gauntlet_logs/.debug.log");
    assert!(
        log.contains("GATE_RESULT check:src:nap status=fail duration=0.2"),
        "{log}"
    );
    for part in [
        "COMMAND run",
        "RUN_START mode=full",
        "RUN_END status=failed",
    ] {
        assert!(log.contains(part), "{part}: {log}");
    }
}

#[test]
fn p36_list_and_detect_say_by_their_exit_what_they_found() {
    let gates = Gates::new(&[OK]);
    gates
        .tollgate(&["detect"])
        .exits(0)
        .says("Would run 1 gate(s):")
        .says("  check ok");
    std::fs::remove_file(gates.path("src/b.txt")).unwrap();
    gates
        .tollgate(&["detect"])
        .exits(2)
        .says("No changes detected.");
    gates.tollgate(&["list"]).exits(0).says(" - ok");
    gates.file(".gauntlet/config.yml", "base_branch: main\n");
    gates
        .tollgate(&["list"])
        .exits(1)
        .says("entry_points: missing");
    gates.tollgate(&["detect"]).exits(1);
}

#[test]
fn p38_the_first_commit_can_be_looked_at() {
    let gates = Gates::new(&[OK]);
    let first = gates.git(&["rev-parse", "main"]);
    let (found, _) = gates.json(&["detect", "-c", &first]);
    let files = found["changed_files"].as_array().unwrap();
    assert!(
        files.contains(&json!("src/a.txt")) && !files.contains(&json!("src/b.txt")),
        "{found}"
    );
}

#[test]
fn p39_parallel_checks_are_bounded() {
    let names: Vec<String> = (0..12).map(|number| format!("c{number}")).collect();
    let yaml = "command: \"touch ../.running/$$; ls ../.running | wc -l >> ../.seen; sleep 0.05; rm ../.running/$$\"\nparallel: true";
    let checks: Vec<_> = names.iter().map(|name| (name.as_str(), yaml)).collect();
    let gates = Gates::with_config(&checks, "max_parallel: 3");
    gates.file(".gitignore", ".running\n.seen\n");
    std::fs::create_dir(gates.path(".running")).unwrap();
    gates.tollgate(&["run"]).exits(0);
    let seen = gates.read(".seen");
    let most = seen
        .lines()
        .map(|line| line.trim().parse::<u32>().unwrap())
        .max();
    assert!(matches!(most, Some(2 | 3)), "{seen}");
    assert_eq!(seen.lines().count(), 12);
}

#[test]
fn p40_one_check_of_two_entry_points_in_one_directory_runs_once() {
    let gates = Gates::raw(
        &[("once", "command: echo x >> .count\nworking_directory: .")],
        "base_branch: main\nentry_points:\n  - path: src\n    checks: [once]\n  - path: docs\n    checks: [once]\n",
    );
    gates.file(".gitignore", ".count\n");
    gates.file("docs/x", "1");
    gates.tollgate(&["run"]).exits(0);
    assert_eq!(gates.read(".count"), "x\n");
}

#[test]
fn p41_two_gates_never_share_a_log() {
    let gates = Gates::raw(
        &[
            ("c", "command: echo one; false"),
            ("b_c", "command: echo two; false"),
        ],
        "base_branch: main\nentry_points:\n  - path: a_b\n    checks: [c]\n  - path: a\n    checks: [b_c]\n",
    );
    gates.file("a_b/x", "1");
    gates.file("a/x", "1");
    gates.tollgate(&["run"]).exits(1);
    let logs = gates.logs("check_a_b_c");
    assert_eq!(logs.len(), 2, "{logs:?}");
}

#[test]
fn p43_the_reason_says_first_what_failed_and_where_to_read_it() {
    let answer = Gates::new(&[BAD]).stop();
    let reason = answer["reason"].as_str().unwrap();
    let (head, _) = reason.split_once("You cannot stop until").unwrap();
    assert!(head.contains("check:src:bad: Exited with code 3"), "{head}");
    assert!(head.contains("gauntlet_logs/check_src_bad.1.log"), "{head}");
    assert!(head.contains("| boom"), "{head}");
}

#[test]
fn p43_a_thousand_failures_leave_room_for_the_rules() {
    let names: Vec<String> = (0..120)
        .map(|number| format!("check-with-a-long-name-{number:03}"))
        .collect();
    let yaml =
        "command: \"yes failure after failure after failure | head -50; false\"\nparallel: true";
    let checks: Vec<_> = names.iter().map(|name| (name.as_str(), yaml)).collect();
    let answer = Gates::new(&checks).stop();
    let reason = answer["reason"].as_str().unwrap();
    assert!(reason.encode_utf16().count() <= 10_000);
    assert!(reason.contains("more, in the console log"));
    assert!(reason.ends_with("a person takes over."));
}

#[test]
fn p45_gates_come_in_the_same_order_everywhere() {
    let gates = Gates::new(&[
        ("zeta", "command: \"true\""),
        ("alpha", "command: \"true\""),
    ]);
    let (list, _) = gates.json(&["list"]);
    let names: Vec<_> = list["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["name"].clone())
        .collect();
    assert_eq!(names, ["alpha", "zeta"]);
    let (result, _) = gates.json(&["run"]);
    let ids: Vec<_> = result["gates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|g| g["id"].clone())
        .collect();
    assert_eq!(
        ids,
        ["check:src:zeta", "check:src:alpha"],
        "as the configuration has them"
    );
}

#[test]
fn fail_fast_keeps_others_from_starting_and_says_so() {
    let gates = Gates::new(&[
        ("first", "command: \"false\"\nfail_fast: true"),
        ("second", "command: touch ran"),
    ]);
    gates
        .tollgate(&["run"])
        .exits(1)
        .says("[SKIP]  check:src:second");
    assert!(!gates.exists("src/ran"));
    let gates = Gates::new(&[("both", "command: \"true\"\nfail_fast: true\nparallel: true")]);
    gates
        .tollgate(&["validate"])
        .exits(1)
        .says("fail_fast can only be used when parallel is false");
}

#[test]
fn fix_instructions_are_added_to_the_log_of_a_failure() {
    let gates = Gates::new(&[("helped", "command: \"false\"\nfix_instructions: fix/it.md")]);
    gates
        .tollgate(&["validate"])
        .exits(1)
        .says("Fix instructions file not found");
    gates.file(".gauntlet/fix/it.md", "Run the formatter.");
    gates.tollgate(&["run"]).exits(1);
    let log = gates.read("gauntlet_logs/check_src_helped.1.log");
    assert!(
        log.contains("--- Fix Instructions ---\nRun the formatter."),
        "{log}"
    );
    for (path, message) in [
        ("/etc/passwd", "got absolute path"),
        ("../config.yml", "must stay within"),
    ] {
        gates.check("helped", &format!("command: x\nfix_instructions: {path}"));
        gates.tollgate(&["validate"]).exits(1).says(message);
    }
}

#[test]
fn what_a_check_prints_cannot_paint_the_screen() {
    let gates = Gates::new(&[(
        "paints",
        "command: \"printf '\\\\033[31mred\\\\033[0m \\\\033]0;title\\\\007 x\\\\r\\\\n'; false\"",
    )]);
    let answer = gates.stop();
    let reason = answer["reason"].as_str().unwrap();
    assert!(reason.contains("  | red  x\n"), "{reason:?}");
}

#[test]
fn one_gate_by_its_name() {
    let gates = Gates::new(&[OK, BAD]);
    gates
        .tollgate(&["run", "-g", "ok"])
        .exits(0)
        .does_not_say("bad");
    gates
        .tollgate(&["run", "-g", "oj"])
        .exits(1)
        .says("did you mean \"ok\"?");
    // A part that passed does not make the whole verified.
    answers(&gates.stop(), "block", "failed");
}

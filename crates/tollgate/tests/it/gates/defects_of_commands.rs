//! The original's defects, continued: what commands print and how gates are ordered.

use serde_json::{Value, json};

use super::{BAD, Gates, OK, answers};
use crate::outputs::assert_shows;

/// P31: `run` printed nothing where it could not run.
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
    // Nor is it silent where git keeps it from running.
    let gates = Gates::new(&[OK]);
    std::fs::remove_dir_all(gates.path(".git")).unwrap();
    gates
        .tollgate(&["run"])
        .exits(1)
        .says("is not in a git repository");
}

/// P32: `validate` named no file, and `health` showed type errors.
#[test]
fn p32_validate_names_the_file_and_health_shows_the_same() {
    let gates = Gates::new(&[("odd", "command: 5\ntimeout: -1")]);
    let path = gates.programs().to_str().unwrap().to_owned();
    let project = gates.into_project().env("PATH", &path);
    assert_shows!(project, &["validate", "health"]);
}

/// P33: a hook that is disabled did not say so.
#[test]
fn p33_a_disabled_hook_says_so() {
    let gates = Gates::with_config(&[BAD], "stop_hook: { enabled: false }");
    let answer = gates.stop();
    answers(&answer, "approve", "stop_hook_disabled");
    for key in ["message", "stopReason", "systemMessage"] {
        let said = answer[key].as_str().unwrap();
        assert!(said.contains("disabled"), "{key}: {answer}");
    }
    let gates = Gates::new(&[BAD]);
    let mut command = gates.command(&["stop-hook"]);
    command.env("GAUNTLET_STOP_HOOK_ENABLED", " FALSE ");
    let run = crate::project::run(command, b"{}");
    assert!(run.stdout.contains("stop_hook_disabled"), "{run:?}");
}

/// P34: durations in the debug log were milliseconds labelled as seconds.
#[test]
fn p34_durations_in_the_debug_log_are_seconds() {
    let gates = Gates::with_config(
        &[("nap", "command: sleep 0.2; false")],
        "debug_log: { enabled: true }",
    );
    gates.tollgate(&["run"]).exits(1);
    let log = gates.read("gauntlet_logs/.debug.log");
    let (_, rest) = log
        .split_once("GATE_RESULT check:src:nap status=fail duration=")
        .unwrap();
    let seconds: f64 = rest.split('s').next().unwrap().parse().unwrap();
    assert!((0.2..60.0).contains(&seconds), "{log}");
    for part in ["COMMAND run", "RUN_START mode=full", "RUN_END status=fail"] {
        assert!(log.contains(part), "{part}: {log}");
    }
}

/// P35: settings that mean nothing, and misspelt ones, were accepted in silence.
#[test]
fn p35_settings_that_mean_nothing_are_named() {
    let gates = Gates::raw(
        &[("ok", "command: \"true\"\ntimeout: -1\nparalel: true")],
        "base_branch: main\nentry_points:\n  - path: src\n    checks: [ok]\n    reviews: [q]\ncli:\n  default_preference: [claude]\n  check_usage_limit: true\n",
    );
    gates.file(
        ".gauntlet/reviews/q.md",
        "---\nnum_reviews: 0\n---\nLook.\n",
    );
    assert_shows!(gates, &["validate", "run"]);
    // A mistyped key alone stops nobody, and is reported by all who read it.
    let gates = Gates::new(&[("ok", "command: \"true\"\nparalel: true")]);
    assert_shows!(gates, &["validate", "list", "run"]);
}

/// P36: `list` and `detect` exited 0 whatever they found.
#[test]
fn p36_list_and_detect_say_by_their_exit_what_they_found() {
    let gates = Gates::new(&[OK]);
    assert_shows!(gates, &["list", "detect", "run", "detect"]);
    gates.file(".gauntlet/config.yml", "base_branch: main\n");
    assert_shows!(gates, &["list", "detect"]);
}

/// P38: `--commit` of a first commit listed the wrong files.
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

/// P39: fifty checks were started at once.
#[test]
fn p39_parallel_checks_are_bounded() {
    let names: Vec<String> = (0..12).map(|number| format!("c{number}")).collect();
    // None goes on before three were started, and none leaves before it has counted.
    let yaml = "command: \"touch ../.running/$$ ../.started/$$; until test $(ls ../.started | wc -l) -ge 3; do sleep 0.02; done; ls ../.running | wc -l >> ../.seen; rm ../.running/$$\"\nparallel: true";
    let checks: Vec<_> = names.iter().map(|name| (name.as_str(), yaml)).collect();
    let gates = Gates::with_config(&checks, "max_parallel: 3");
    gates.file(".gitignore", ".running\n.started\n.seen\n");
    std::fs::create_dir(gates.path(".running")).unwrap();
    std::fs::create_dir(gates.path(".started")).unwrap();
    gates.tollgate(&["run"]).exits(0);
    let seen = gates.read(".seen");
    let most = seen
        .lines()
        .map(|line| line.trim().parse::<u32>().unwrap())
        .max();
    assert_eq!(most, Some(3), "{seen}");
    assert_eq!(seen.lines().count(), 12);
}

/// P40: one check of two entry points in one directory ran twice.
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

/// P41: two gates could share a log.
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

/// P42: on a first run the marker of a run within a run was missing.
#[test]
fn p42_a_stop_within_the_first_run_is_known_for_one() {
    let tollgate = crate::project::TOLLGATE;
    let nested = format!(
        "command: \"echo '{{}}' | '{tollgate}' stop-hook > ../nested; echo x >> ../count\""
    );
    let gates = Gates::new(&[("nested", &nested)]);
    assert!(!gates.exists("gauntlet_logs"));
    for _ in 0..2 {
        gates.tollgate(&["run"]).exits(0);
        assert!(gates.read("nested").contains("stop_hook_active"));
        gates.file("src/b.txt", "more\n");
    }
    assert_eq!(gates.read("count"), "x\nx\n");
    assert!(!gates.exists("gauntlet_logs/.stop-hook-active"));
}

/// P44: five git processes per run counted lines that nobody looked at.
#[test]
fn p44_nothing_is_asked_of_git_that_nobody_uses() {
    let gates = Gates::new(&[OK]);
    let bin = tempfile::tempdir().unwrap();
    let log = bin.path().join("log");
    let script = bin.path().join("git");
    let text = format!(
        "#!/bin/sh\nfor word; do case $word in -*|*=*) ;; *) break ;; esac; done\necho \"$word\" >> '{}'\nPATH=/usr/local/bin:/usr/bin:/bin exec git \"$@\"\n",
        log.display()
    );
    crate::project::put(&script, &text);
    std::fs::set_permissions(
        &script,
        <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755),
    )
    .unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.path().display());
    let asked = || {
        let mut command = gates.command(&["run"]);
        command.env("PATH", &path);
        crate::project::run(command, b"").exits(0);
        let mut words: Vec<String> = std::fs::read_to_string(&log)
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect();
        words.sort();
        std::fs::remove_file(&log).unwrap();
        words
    };
    let now = std::time::SystemTime::now();
    let hour = std::time::Duration::from_hours(1);
    let changed_at = |path: &std::path::Path, time| {
        let file = std::fs::File::open(path).unwrap();
        file.set_modified(time).unwrap();
    };
    // Times that say enough: no file was changed in the moment in which the index was written.
    let mut directories = vec![gates.path("")];
    while let Some(directory) = directories.pop() {
        for entry in directory.read_dir().unwrap().flatten() {
            if !entry.path().is_dir() {
                changed_at(&entry.path(), now - hour);
            } else if entry.file_name() != ".git" {
                directories.push(entry.path());
            }
        }
    }
    // The work tree, and it as evidence: what changed chooses no gate, and the branches are read from
    // files.
    let always = ["add", "ls-files", "write-tree"];
    assert_eq!(asked(), always);
    gates.commit("work");
    let file = gates.file("src/c.txt", "c\n");
    changed_at(&file, now - hour);
    assert_eq!(asked(), always);
    // Whether anything changed is said where no gate runs; no tree is written that is known already.
    assert_eq!(asked(), ["add", "diff-index"]);
    std::fs::remove_file(gates.path(".tollgate/local/evidence.json")).unwrap();
    assert_eq!(asked(), always);
    // A file may have been changed since by somebody who was quick: git compares its contents.
    changed_at(&gates.file("src/c.txt", "d\n"), now + hour);
    assert_eq!(
        asked(),
        [
            "add",
            "diff-files",
            "ls-files",
            "update-index",
            "write-tree"
        ]
    );
}

/// P43: the reason of a block did not say what had failed.
#[test]
fn p43_the_reason_says_first_what_failed_and_where_to_read_it() {
    let answer = Gates::new(&[BAD]).stop();
    let reason = answer["reason"].as_str().unwrap();
    let (head, _) = reason.split_once("You cannot stop until").unwrap();
    assert!(head.contains("check:src:bad: Exited with code 3"), "{head}");
    assert!(head.contains("gauntlet_logs/check_src_bad.1.log"), "{head}");
    assert!(head.contains("| boom"), "{head}");
}

/// P43: the reason of a block did not say what had failed.
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

/// P45: the order of gates was that of the directory, which differs between file systems.
///
/// A directory lists its files as they were made, or the other way round, or as their hashes are:
/// none of these orders is that of their names.
#[test]
fn p45_gates_come_in_the_same_order_everywhere() {
    let made = ["m", "z", "a", "q", "c", "x", "b", "k"];
    let mut sorted = made;
    sorted.sort_unstable();
    let names = |list: &Value, key: &str| -> Vec<String> {
        let items = list.as_array().unwrap().iter();
        items
            .map(|item| item[key].as_str().unwrap().to_owned())
            .collect()
    };
    let checks = made.map(|name| (name, "command: \"true\""));
    let gates = Gates::new(&checks);
    let (list, _) = gates.json(&["list"]);
    assert_eq!(names(&list["checks"], "name"), sorted);
    let said = gates.tollgate(&["list"]).exits(0).stdout;
    let said: Vec<&str> = said
        .lines()
        .filter_map(|line| line.strip_prefix(" - "))
        .collect();
    assert_eq!(said.get(..made.len()), Some(sorted.as_slice()));
    // Gates run as the configuration has them, and what is wrong is told by the files' names.
    let (result, _) = gates.json(&["run"]);
    let ids = made.map(|name| format!("check:src:{name}"));
    assert_eq!(names(&result["gates"], "id"), ids);
    for name in made {
        gates.check(name, "commmand: \"true\"");
    }
    let (found, _) = gates.json(&["validate"]);
    let mut files = names(&found["problems"], "file");
    files.retain(|file| file.contains("checks"));
    files.dedup();
    let expected = sorted.map(|name| format!(".gauntlet/checks/{name}.yml"));
    assert_eq!(files, expected);
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
    // However much there is to look through before its failure is told.
    let gates = Gates::new(&[
        (
            "first",
            "command: head -c 300000 /dev/zero | tr '\\0' x; exit 1\nfail_fast: true",
        ),
        ("second", "command: touch ran"),
        ("third", "command: touch ran; sleep 0.3\nparallel: true"),
    ]);
    gates
        .tollgate(&["run"])
        .exits(1)
        .says("[SKIP]  check:src:second");
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

//! Configuration files: what is complained about, how, and the other commands about them.

use serde_json::{Value, json};

use super::{BAD, FIXABLE, Gates, OK, answers};

fn problems(gates: &Gates) -> Vec<String> {
    let (answer, _) = gates.json(&["validate"]);
    let problems = answer["problems"].as_array().unwrap();
    problems
        .iter()
        .map(|p| {
            format!(
                "{}:{} {}: {} ({})",
                p["file"].as_str().unwrap_or_default(),
                p["line"],
                p["key"].as_str().unwrap_or_default(),
                p["message"].as_str().unwrap_or_default(),
                p["fix"].as_str().unwrap_or("-")
            )
        })
        .collect()
}

#[test]
fn problems_name_file_line_key_and_fix() {
    let gates = Gates::raw(
        &[("lint", "comand: x\ntimeout: soon\nparallel: \"yes\"")],
        "base_branch: \"\"\nmax_retrys: 3\nmax_retries: -1\nrerun_new_issue_threshold: 3\ncli:\n  default_preference: [claud]\nentry_points:\n  - path: src\n    checks: [lnt]\n    reviews: [none]\n  - checks: [lint]\n",
    );
    insta::assert_snapshot!(problems(&gates).join("\n"), @r#"
    .gauntlet/config.yml:1 base_branch: expected a text that is not empty, found the text "" (default: origin/main)
    .gauntlet/config.yml:2 max_retrys: unknown key, ignored (did you mean `max_retries`?)
    .gauntlet/config.yml:3 max_retries: expected a whole number of at least 0, found -1 (default: 3)
    .gauntlet/config.yml:4 rerun_new_issue_threshold: expected one of critical, high, medium, low, found 3 (default: high)
    .gauntlet/config.yml:11 entry_points[1].path: missing (path: `.`, a directory, `directory/*` for each of its directories, or a glob.)
    .gauntlet/checks/lint.yml:1 comand: unknown key, ignored (did you mean `command`?)
    .gauntlet/checks/lint.yml:2 timeout: expected a number of at least 0, found the text "soon" (default: 300)
    .gauntlet/checks/lint.yml:3 parallel: expected true or false, found the text "yes" (default: false)
    .gauntlet/checks/lint.yml:1 command: missing (command: What `sh -c` runs; $BASE_BRANCH is the base's name.)
    .gauntlet/config.yml:9 entry_points[0].checks: Entry point "src" references non-existent check gate: "lnt" (did you mean "lint"?)
    .gauntlet/config.yml:10 entry_points[0].reviews: Entry point "src" references non-existent review gate: "none" (create .gauntlet/reviews/none.md)
    .gauntlet/config.yml:6 cli.default_preference: there is no reviewer "claud" (did you mean `claude`?)
    "#);
}

/// Two threads read them, and whoever is first.
#[test]
fn problems_of_many_checks_are_in_the_order_of_their_files() {
    let names: Vec<String> = (100..180).map(|number| format!("c{number}")).collect();
    let checks: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), "comand: x"))
        .collect();
    let gates = Gates::new(&checks);
    let first = problems(&gates);
    let unknown = first.iter().filter(|line| line.contains("comand"));
    let files: Vec<&str> = unknown.filter_map(|line| line.split(':').next()).collect();
    let expected = names
        .iter()
        .map(|name| format!(".gauntlet/checks/{name}.yml"));
    assert_eq!(files, expected.collect::<Vec<_>>());
    for _ in 0..20 {
        assert_eq!(problems(&gates), first);
    }
}

#[test]
fn words_of_yaml_and_mappings_in_lists_are_named() {
    let gates = Gates::raw(
        &[("on", "command: true")],
        "base_branch: main\nentry_points:\n  - path: src\n    checks:\n      - on\n      - name: on\n    exclude:\n      - 1\n",
    );
    insta::assert_snapshot!(problems(&gates).join("\n"), @"
    .gauntlet/config.yml:5 entry_points[0].checks[0]: expected a text, found true (put it in quotes)
    .gauntlet/config.yml:6 entry_points[0].checks[1]: expected a text, found a mapping (Names of checks.)
    .gauntlet/config.yml:8 entry_points[0].exclude[0]: expected a text, found 1 (put it in quotes)
    .gauntlet/checks/on.yml:1 command: expected a text that is not empty, found true (put it in quotes)
    ");
}

/// The shell runs nothing and says that all is well.
#[test]
fn a_command_that_runs_nothing_is_an_error() {
    let gates = Gates::new(&[
        ("blank", "timeout: 5\ncommand: '  '"),
        ("comment", "command: '# cargo test'"),
        ("empty", "command: ''"),
        ("nothing", "command: # cargo test"),
        ("several", "command: |\n  # cargo test\n\n    # later\n"),
        ("some", "command: |\n  # all of it\n  true # always\n"),
    ]);
    insta::assert_snapshot!(problems(&gates).join("\n"), @r#"
    .gauntlet/checks/blank.yml:2 command: expected a text that is not empty, found the text "  " (-)
    .gauntlet/checks/comment.yml:1 command: a comment runs nothing (write the command that checks)
    .gauntlet/checks/empty.yml:1 command: expected a text that is not empty, found the text "" (-)
    .gauntlet/checks/nothing.yml:1 command: missing (command: What `sh -c` runs; $BASE_BRANCH is the base's name.)
    .gauntlet/checks/several.yml:2 command: a comment runs nothing (write the command that checks)
    "#);
    gates
        .tollgate(&["validate"])
        .exits(1)
        .says(".gauntlet/checks/comment.yml:1");
    gates.tollgate(&["run"]).exits(1).does_not_say("[PASS]");
    for name in ["blank", "comment", "empty", "nothing", "several"] {
        gates.check(name, "command: 'true'");
    }
    assert_eq!(problems(&gates), [""; 0]);
    gates.tollgate(&["run"]).exits(0).says("[PASS]");
}

#[test]
fn broken_yaml_is_told_in_words_that_help() {
    let told = |text: &str| {
        let gates = Gates::with_config(&[OK, ("b", text)], "");
        let told = problems(&gates);
        let [one] = told.as_slice() else {
            panic!("{told:#?}")
        };
        one.clone()
    };
    insta::assert_snapshot!(told("command: echo a: b"), @".gauntlet/checks/b.yml:1 : not valid YAML: mapping values are not allowed in this context (put a value that has a colon and a blank in it into quotes, or indent the line as its neighbours)");
    insta::assert_snapshot!(told("command: a\ncommand: b"), @".gauntlet/checks/b.yml:2 : not valid YAML: the key `command` is defined twice (remove one of the two)");
    insta::assert_snapshot!(told("a: 1\nb:\n\t- x"), @".gauntlet/checks/b.yml:3 : not valid YAML: tabs disallowed within this context (block indentation) (indent with blanks)");
    insta::assert_snapshot!(told("command: &x [*x]"), @".gauntlet/checks/b.yml:1 : not valid YAML: an anchor contains itself (write out what `*name` stands for)");
    insta::assert_snapshot!(told("command: a\n---\ncommand: b"), @".gauntlet/checks/b.yml:3 : not valid YAML: there are several documents, with `---` between them (keep one of them)");
    insta::assert_snapshot!(told("command: a\ntimeout: .inf"), @".gauntlet/checks/b.yml:2 : not valid YAML: an infinite number (write a finite number)");
}

#[test]
fn however_short_a_limit_is_it_is_one() {
    let gates = Gates::new(&[("slow", "command: sleep 60\ntimeout: 1e-12")]);
    gates.tollgate(&["run"]).exits(1).says("Timed out after");
}

#[test]
fn a_review_is_not_made_more_often_than_anybody_can_pay_for() {
    let gates = Gates::raw(
        &[],
        "base_branch: main\ncli: { default_preference: [command] }\nentry_points:\n  - path: src\n    reviews: [q]\n",
    );
    let review = |count: &str| {
        gates.file(
            ".gauntlet/reviews/q.md",
            format!("---\nnum_reviews: {count}\n---\nLook.\n"),
        )
    };
    review("1000000000");
    assert_eq!(
        problems(&gates),
        [
            ".gauntlet/reviews/q.md:2 num_reviews: expected a whole number of at most 32, found 1000000000 (default: 1)"
        ]
    );
    review("32");
    assert_eq!(problems(&gates), [""; 0]);
}

#[test]
fn a_comment_is_all_that_front_matter_needs() {
    let gates = Gates::raw(
        &[],
        "base_branch: main\ncli: { default_preference: [command] }\nentry_points:\n  - path: src\n    reviews: [q]\n",
    );
    gates.file(
        ".gauntlet/reviews/q.md",
        "---\n# num_reviews: 2\n---\nLook.\n",
    );
    assert_eq!(problems(&gates), [""; 0]);
}

#[test]
fn any_number_of_archives_may_be_kept() {
    let gates = Gates::with_config(&[OK], "max_previous_logs: 3000000000000");
    gates.tollgate(&["run"]).exits(0);
    gates.file("src/c.txt", "c");
    gates.tollgate(&["run"]).exits(0);
    assert!(gates.exists("gauntlet_logs/previous/console.1.log"));
    assert!(gates.exists("gauntlet_logs/previous.1/console.1.log"));
    assert!(!gates.exists("gauntlet_logs/previous.2"));
}

#[test]
fn a_gate_whose_file_is_broken_is_not_called_missing() {
    let gates = Gates::raw(
        &[("b", "command: [")],
        "base_branch: main\ncli: { default_preference: [claude] }\nentry_points:\n  - path: src\n    checks: [b]\n    reviews: [q, r]\n",
    );
    gates.file(".gauntlet/reviews/q.md", "---\nnum_reviews: 1\n");
    insta::assert_snapshot!(problems(&gates).join("\n"), @r#"
    .gauntlet/checks/b.yml:1 : not valid YAML: unclosed bracket '[' (-)
    .gauntlet/reviews/q.md:1 : the front matter is not closed (end it with a line `---`)
    .gauntlet/config.yml:6 entry_points[0].reviews: Entry point "src" references non-existent review gate: "r" (create .gauntlet/reviews/r.md)
    "#);
}

#[test]
fn without_a_configuration_the_next_step_is_said() {
    let gates = Gates::new(&[OK]);
    std::fs::remove_file(gates.path(".gauntlet/config.yml")).unwrap();
    for command in ["run", "check", "list", "detect", "validate", "health"] {
        let run = gates.tollgate(&[command]);
        run.says("Configuration file not found at")
            .says("`tollgate init`");
    }
    let gates = Gates::new(&[OK]);
    gates
        .tollgate(&["ci", "list-jobs"])
        .exits(1)
        .says("ci.yml")
        .says("hint: `tollgate ci init` makes one");
    std::fs::create_dir(gates.path(".gauntlet/ci.yml")).unwrap();
    gates
        .tollgate(&["ci", "list-jobs"])
        .exits(1)
        .says("it is a directory")
        .does_not_say("not found");
}

#[test]
fn a_name_that_leads_nowhere_is_told_for_what_it_is() {
    let gates = Gates::new(&[OK]);
    gates
        .tollgate(&["run", "-c", "nowhere"])
        .exits(1)
        .says("the commit \"nowhere\" (-c) does not exist")
        .does_not_say("base");
    gates
        .tollgate(&["run", "-g", "something"])
        .exits(1)
        .says("there is no gate \"something\"; `tollgate list` shows those there are");
}

#[test]
fn files_in_the_answer_are_where_it_says() {
    let gates = Gates::new(&[OK, FIXABLE]);
    let exist = |answer: &Value| {
        let logs = answer["gates"].as_array().unwrap().iter();
        let logs = logs.flat_map(|gate| gate["files"].as_array().unwrap());
        let logs: Vec<_> = logs.chain([&answer["console_log"]]).collect();
        assert!(logs.len() > 1, "{answer:#}");
        for log in logs {
            let log = log.as_str().unwrap();
            assert!(std::path::Path::new(log).is_file(), "{log}: {answer:#}");
        }
    };
    let (failed, code) = gates.json(&["run"]);
    assert_eq!(code, 1);
    exist(&failed);
    // Nothing is archived while another gate fails.
    let (one, code) = gates.json(&["run", "-g", "ok"]);
    assert_eq!(code, 0);
    exist(&one);
    gates.file("src/fixed", "");
    let (passed, code) = gates.json(&["run"]);
    assert_eq!(code, 0);
    exist(&passed);
}

#[test]
fn logs_that_nobody_keeps_are_not_named() {
    let gates = Gates::with_config(&[OK], "max_previous_logs: 0");
    let (passed, _) = gates.json(&["run"]);
    assert_eq!(passed["status"], "passed");
    assert_eq!(passed["console_log"], Value::Null);
    assert_eq!(passed["gates"][0]["files"], json!([]));
}

#[test]
fn reviews_in_markdown_and_yaml() {
    let gates = Gates::raw(
        &[OK],
        "base_branch: main\ncli: { default_preference: [claude] }\nentry_points:\n  - path: src\n    checks: [ok]\n    reviews: [a, b]\n",
    );
    gates.file(
        ".gauntlet/reviews/a.md",
        "---\nnum_reviews: 0\ncli_preference: [codex]\n---\nLook.\n",
    );
    gates.file(".gauntlet/reviews/b.yml", "num_reviews: 2\n");
    gates.file(".gauntlet/reviews/c.md", "---\nnum_reviews: 1\n");
    insta::assert_snapshot!(problems(&gates).join("\n"), @r#"
    .gauntlet/reviews/a.md:2 num_reviews: expected a whole number of at least 1, found 0 (default: 1)
    .gauntlet/reviews/b.yml:null prompt: the review does not say what to look for (add `prompt:` or `prompt_file:`)
    .gauntlet/reviews/c.md:1 : the front matter is not closed (end it with a line `---`)
    .gauntlet/reviews/a.md:3 cli_preference: Review "a" uses CLI tool "codex" which is not in the project-level allowed list (cli.default_preference). (-)
    "#);
    gates.file(".gauntlet/reviews/a.md", "Look at it.\n");
    gates.file(".gauntlet/reviews/b.yml", "prompt_file: prompts/b.md\n");
    gates.file(".gauntlet/prompts/b.md", "Look closer.\n");
    std::fs::remove_file(gates.path(".gauntlet/reviews/c.md")).unwrap();
    assert_eq!(problems(&gates), [""; 0]);
    gates
        .tollgate(&["list"])
        .exits(0)
        .says(" - a (Tools: claude)");
}

#[test]
fn one_name_in_two_files_is_an_error() {
    let gates = Gates::new(&[OK]);
    gates.file(".gauntlet/checks/ok.yaml", "command: \"false\"");
    gates
        .tollgate(&["validate"])
        .exits(1)
        .says("defines \"ok\" already");
}

#[test]
fn a_project_of_its_own_lives_in_tollgate() {
    let gates = Gates::new(&[OK]);
    #[expect(clippy::disallowed_methods, reason = "a fixture")]
    std::fs::rename(gates.path(".gauntlet"), gates.path(".tollgate")).unwrap();
    gates
        .tollgate(&["run"])
        .exits(0)
        .says("[PASS]  check:src:ok");
    assert!(gates.exists(".tollgate/logs/.execution_state"));
    assert!(!gates.exists("gauntlet_logs"));
}

#[test]
fn a_log_directory_elsewhere() {
    let gates = Gates::with_config(&[("bad", "command: \"false\"")], "log_dir: logs/gates");
    gates
        .tollgate(&["run"])
        .exits(1)
        .says("      Log: logs/gates/check_src_bad.1.log");
    assert!(gates.exists("logs/gates/console.1.log"));
    assert!(
        !gates.git(&["status", "--porcelain"]).contains("logs/"),
        "hidden from git"
    );
    for wrong in [".", "./", "src/..", ".."] {
        let gates = Gates::with_config(&[OK], &format!("log_dir: {wrong}"));
        gates.tollgate(&["run"]).exits(1).says("log_dir");
    }
}

#[test]
fn the_environment_goes_before_files() {
    let gates = Gates::with_config(
        &[("bad", "command: \"false\"")],
        "stop_hook: { enabled: true }",
    );
    gates.original_state(5, "work", "x");
    for (name, value, status) in [
        ("GAUNTLET_STOP_HOOK_ENABLED", "0", "stop_hook_disabled"),
        (
            "GAUNTLET_STOP_HOOK_ENABLED",
            "maybe",
            "interval_not_elapsed",
        ),
        (
            "GAUNTLET_STOP_HOOK_INTERVAL_MINUTES",
            "60",
            "interval_not_elapsed",
        ),
        (
            "GAUNTLET_STOP_HOOK_INTERVAL_MINUTES",
            "1.5",
            "interval_not_elapsed",
        ),
        ("GAUNTLET_STOP_HOOK_INTERVAL_MINUTES", " 3 ", "failed"),
        ("GAUNTLET_STOP_HOOK_INTERVAL_MINUTES", "0x3", "failed"),
        ("GAUNTLET_STOP_HOOK_INTERVAL_MINUTES", "30e-1", "failed"),
    ] {
        let mut command = gates.command(&["stop-hook"]);
        command.env(name, value);
        let run = crate::project::run(command, b"{}");
        let answer: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(answer["status"], status, "{name}={value}: {answer}");
    }
}

#[test]
fn other_files_in_the_log_directory_are_left_alone_and_are_no_runs() {
    let gates = Gates::with_config(
        &[OK],
        "log_dir: logs\nstop_hook: { run_interval_minutes: 0 }",
    );
    let others = [
        "server.log",
        "app.20261116.log",
        "check_in.18446744073709551615.log",
        "settings.json",
        "deep/er.log",
    ];
    for name in others {
        gates.file(&format!("logs/{name}"), name);
    }
    answers(&gates.stop(), "approve", "passed");
    gates.tollgate(&["clean"]).exits(0);
    for name in others {
        assert_eq!(gates.read(&format!("logs/{name}")), name);
    }
    assert!(gates.exists("logs/previous/check_src_ok.1.log"));
}

#[test]
fn a_blank_behind_a_fence_hides_no_front_matter() {
    let gates = Gates::with_config(&[OK], "cli: { default_preference: [claude] }");
    let config = gates.read(".gauntlet/config.yml");
    gates.file(
        ".gauntlet/config.yml",
        format!("{config}    reviews: [q]\n"),
    );
    gates.file(
        ".gauntlet/reviews/q.md",
        "--- \t\nenabled: false\n--- \nLook.\n",
    );
    gates
        .tollgate(&["detect"])
        .exits(0)
        .does_not_say("review q");
    gates.file(".gauntlet/reviews/q.md", "---\nenabled: true\n---\nLook.\n");
    gates.tollgate(&["detect"]).exits(0).says("review q");
}

#[test]
fn a_review_that_says_nothing_is_none() {
    let gates = Gates::with_config(&[OK], "");
    gates.file(".gauntlet/empty.md", " \n");
    for (file, text) in [
        ("q.yml", "prompt_file: empty.md"),
        ("q.md", "---\nprompt_file: empty.md\n---\n"),
        ("q.md", ""),
    ] {
        let path = gates.file(&format!(".gauntlet/reviews/{file}"), text);
        gates
            .tollgate(&["validate"])
            .exits(1)
            .says("does not say what to look for");
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn what_is_guarded_cannot_be_where_the_logs_are() {
    for (logs, path) in [
        ("src", "src"),
        ("src", "src/deep"),
        ("src", "\"src/**/*.rs\""),
        ("./src/", "src"),
    ] {
        let config = format!(
            "base_branch: main\nlog_dir: {logs}\nentry_points:\n  - {{ path: {path}, checks: [ok] }}\n"
        );
        let gates = Gates::raw(&[OK], &config);
        let run = gates.tollgate(&["validate"]).exits(1);
        run.says("log_dir: the logs need a directory of their own");
    }
}

#[test]
fn the_largest_numbers_are_numbers() {
    let most = i64::MAX;
    let gates = Gates::with_config(
        &[BAD],
        &format!(
            "max_retries: {most}\nmax_parallel: {most}\nstop_hook: {{ run_interval_minutes: {most}, deadline_seconds: {most} }}"
        ),
    );
    answers(&gates.stop(), "block", "failed");
}

#[test]
fn archives_rotate() {
    let gates = Gates::with_config(&[("bad", "command: \"false\"")], "max_previous_logs: 2");
    for number in 1..=4 {
        gates.check("bad", &format!("command: echo run {number}; false"));
        gates.tollgate(&["run"]).exits(1);
        gates.tollgate(&["clean"]).exits(0);
    }
    gates
        .tollgate(&["clean"])
        .exits(0)
        .says("No logs to archive.");
    assert!(
        gates
            .read("gauntlet_logs/previous/check_src_bad.1.log")
            .contains("run 4")
    );
    assert!(
        gates
            .read("gauntlet_logs/previous.1/check_src_bad.1.log")
            .contains("run 3")
    );
    assert!(!gates.exists("gauntlet_logs/previous.2"));
}

#[test]
fn ci_list_jobs_and_init() {
    let gates = Gates::raw(
        &[
            ("lint", "command: lint $BASE_BRANCH"),
            ("local", "command: x\nrun_in_ci: false"),
        ],
        "base_branch: main\nentry_points:\n  - path: 'packages/*'\n    checks: [lint, local]\n",
    );
    gates.file("packages/b/x", "1");
    gates.file("packages/a/x", "1");
    gates.tollgate(&["ci", "list-jobs"]).exits(1).says("ci.yml");
    gates.tollgate(&["ci", "init"]).exits(0).says("Created");
    gates.tollgate(&["ci", "init"]).exits(0).says("Kept");
    let workflow = gates.read(".github/workflows/gauntlet.yml");
    assert!(
        workflow.contains("needs `tollgate` on the PATH"),
        "{workflow}"
    );
    gates.file(
        ".gauntlet/ci.yml",
        "runtimes:\n  node: { version: 22 }\nservices: {}\nsetup:\n  - { name: Install, run: npm ci, working_directory: web }\nchecks:\n  - { name: lint, requires_runtimes: [node] }\n",
    );
    let run = gates.tollgate(&["ci", "list-jobs"]).exits(0);
    assert_eq!(run.stdout.lines().count(), 1);
    let jobs: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        jobs["matrix"][0],
        json!({
            "id": "lint-packages-a", "name": "lint", "entry_point": "packages/a",
            "working_directory": "packages/a", "command": "lint $BASE_BRANCH",
            "runtimes": ["node"], "services": {}, "setup": "",
            "global_setup": "echo \"::group::Install\"\n(cd \"web\" && npm ci)\necho \"::endgroup::\"",
        })
    );
    assert_eq!(jobs["matrix"].as_array().unwrap().len(), 2);
}

#[test]
fn schemas_have_every_key() {
    let gates = Gates::new(&[OK]);
    let (all, code) = gates.json(&["schema"]);
    assert_eq!(code, 0);
    assert_eq!(all["check"]["required"], json!(["command"]));
    assert_eq!(all["config"]["properties"]["max_retries"]["minimum"], 0);
    let (one, _) = gates.json(&["schema", "review"]);
    assert!(one["properties"]["num_reviews"].is_object());
    gates.tollgate(&["schema", "nothing"]).exits(2);
}

#[test]
fn every_command_answers_in_json() {
    let gates = Gates::new(&[OK]);
    for args in [
        &["list"][..],
        &["validate"],
        &["health"],
        &["detect"],
        &["run"],
        &["check"],
        &["review"],
        &["clean"],
        &["schema"],
        &["ci", "init"],
    ] {
        gates.json(args);
    }
    gates.file(".gauntlet/config.yml", "{");
    for command in ["list", "validate", "health", "detect", "run", "clean"] {
        gates.json(&[command]);
    }
}

#[test]
fn a_review_that_nobody_can_make_is_neither_pass_nor_fail() {
    let gates = Gates::raw(
        &[OK],
        "base_branch: main\ncli: { default_preference: [no-such-reviewer] }\nentry_points:\n  - path: src\n    checks: [ok]\n    reviews: [q]\n",
    );
    gates.file(".gauntlet/reviews/q.md", "Look.\n");
    gates
        .tollgate(&["run"])
        .exits(1)
        .says("[INCONCLUSIVE] review:src:q")
        .says("Not verified: 1 inconclusive");
    let answer = gates.stop();
    answers(&answer, "approve", "error");
    assert!(
        answer["message"]
            .as_str()
            .unwrap()
            .contains("NOT verified: review:src:q")
    );
}

#[test]
fn an_entry_point_that_no_file_can_be_in_is_told() {
    for (path, is_told) in [
        ("/src", true),
        ("../src", true),
        ("src//a", true),
        ("a/./b", true),
        ("./src/", false),
        (".", false),
        ("src/**/*.rs", false),
        ("..src", false),
    ] {
        let config =
            format!("base_branch: main\nentry_points:\n  - path: \"{path}\"\n    checks: [ok]\n");
        let gates = Gates::raw(&[("ok", "command: \"true\"\n")], &config);
        let run = gates.tollgate(&["validate"]).exits(0);
        let told = "entry_points[0].path: no file can be in";
        assert_eq!(run.stderr.contains(told), is_told, "{path}: {run:?}");
    }
}

#[test]
fn a_name_that_is_read_as_a_glob_is_told() {
    let config = |path: &str| {
        format!("base_branch: main\nentry_points:\n  - path: \"{path}\"\n    checks: [ok]\n")
    };
    let gates = Gates::raw(&[OK], &config("app/[id]"));
    gates.file("app/[id]/page", "1");
    insta::assert_snapshot!(problems(&gates).join("\n"), @r#"
    .gauntlet/config.yml:3 entry_points[0].path: "app/[id]" is read as a glob, and does not match what is there under this name (write `app/?id]/**`, where `?` matches any character)
    "#);
    // What it says is right.
    gates.file(".gauntlet/config.yml", config("app/?id]/**"));
    assert_eq!(problems(&gates), [""; 0]);
    let (found, _) = gates.json(&["detect"]);
    assert_eq!(found["gates"][0]["id"], "check:app/?id]/**:ok", "{found}");
}

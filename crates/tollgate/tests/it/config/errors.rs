//! What is said about a file that is wrong: all of it, with file, line, column and what to do.

use super::Own;
use crate::project::TestProject;

#[test]
fn all_problems_are_said_at_once() {
    let own = Own::new(
        r#"colour = "red"

[gates]
bse = "main"
max_retries = "many"
tests = "cargo test"

[gates.test]
run = "cargo test"
timout = "10m"
timeout = 600
inputs = ["src/**", 3, "[a"]

[gates.both]
run = "x"
prompt = "y"

[gates.neither]
timeout = "1m"

[gates.look]
prompt_file = "../secret.md"
fail_fast = true
"#,
    );
    insta::assert_snapshot!(own.problems(), @r#"
    error: tollgate.toml:1:1: colour: unknown key (known here: requires, gates, plans, workflow, rule)
        1 | colour = "red"
    error: tollgate.toml:4:1: gates.bse: unknown key (did you mean `base`?)
        4 | bse = "main"
    error: tollgate.toml:5:15: gates.max_retries: expected a whole number of at least 0, found the text "many" (default: 3)
        5 | max_retries = "many"
    error: tollgate.toml:6:1: gates.tests: unknown key (settings: base, exclude, parallel, max_retries, reviewers, new_findings, on_stop, deadline, loop_guard, keep_logs; all else is a table `[gates.tests]`)
        6 | tests = "cargo test"
    error: tollgate.toml:10:1: gates.test.timout: unknown key (did you mean `timeout`?)
       10 | timout = "10m"
    error: tollgate.toml:11:11: gates.test.timeout: expected a time such as "90s", "10m" or "1h30m", found 600 (for seconds, write "600s")
       11 | timeout = 600
    error: tollgate.toml:12:21: gates.test.inputs[1]: expected a text, found 3 (put it in quotes)
       12 | inputs = ["src/**", 3, "[a"]
    error: tollgate.toml:12:24: gates.test.inputs[2]: unclosed character class at byte 0; missing ']' (put `\\` in front of a character that stands for itself)
       12 | inputs = ["src/**", 3, "[a"]
    error: tollgate.toml:16:10: gates.both.prompt: a gate has only one of run and prompt (make two gates of it, or remove one)
       16 | prompt = "y"
    error: tollgate.toml:18:8: gates.neither: the gate does nothing (add `run` for a check, or `prompt` or `prompt_file` for a review)
       18 | [gates.neither]
    error: tollgate.toml:21:8: gates.look: no reviewer is named (add `reviewers = ["claude"]` here or in [gates]; `tollgate health` lists them)
       21 | [gates.look]
    error: tollgate.toml:22:15: gates.look.prompt_file: the file is not in the project (name a text file of the project, relative to its root)
       22 | prompt_file = "../secret.md"
    error: tollgate.toml:23:13: gates.look.fail_fast: only a check has this (remove it: this gate is a review)
       23 | fail_fast = true
    note: tollgate.toml: at an agent's stop, no gate can run until that is corrected
    Validation failed: 13 error(s)
    "#);
}

#[test]
fn names_of_gates_are_checked() {
    let gate = |name: &str| format!("[gates.{name}]\nrun = \"true\"\n");
    let long = "x".repeat(65);
    let names = [
        "\"a/b\"",
        "\"a b\"",
        "\"..\"",
        "\".a\"",
        "\"\"",
        "\"a\\u0007\"",
        "all",
        "cache",
        "base",
        "\"-x\"",
        &long,
    ];
    let text: String = names.iter().map(|name| gate(name)).collect();
    let own = Own::new(&text);
    insta::assert_snapshot!(own.problems().replace(&long, "LONG"), @r#"
    error: tollgate.toml:1:8: gates."a/b": the name has a character that is not allowed in it (use letters, digits, `_`, `-` and `.`)
        1 | [gates."a/b"]
    error: tollgate.toml:3:8: gates."a b": the name has a character that is not allowed in it (use letters, digits, `_`, `-` and `.`)
        3 | [gates."a b"]
    error: tollgate.toml:5:8: gates."..": the name begins with a sign (begin it with a letter or a digit)
        5 | [gates.".."]
    error: tollgate.toml:7:8: gates.".a": the name begins with a sign (begin it with a letter or a digit)
        7 | [gates.".a"]
    error: tollgate.toml:9:8: gates."": the name is empty (use letters, digits, `_`, `-` and `.`)
        9 | [gates.""]
    error: tollgate.toml:11:8: gates."a\u0007": the name has a character that is not allowed in it (use letters, digits, `_`, `-` and `.`)
       11 | [gates."a\u0007"]
    error: tollgate.toml:13:8: gates.all: this name is reserved (choose another name)
       13 | [gates.all]
    error: tollgate.toml:15:8: gates.cache: this name is reserved (choose another name)
       15 | [gates.cache]
    error: tollgate.toml:17:8: gates.base: `base` is a setting of [gates], and nothing else can have its name (choose another name)
       17 | [gates.base]
    error: tollgate.toml:19:8: gates.-x: the name begins with a sign (begin it with a letter or a digit)
       19 | [gates."-x"]
    error: tollgate.toml:21:8: gates.LONG: the name is longer than 64 characters (choose a shorter one)
       21 | [gates.LONG]
    note: tollgate.toml: at an agent's stop, no gate can run until that is corrected
    Validation failed: 11 error(s)
    "#);
    let good = ["lint", "unit-tests", "a.b_c", "größe", "2nd"];
    let text: String = good
        .iter()
        .map(|name| gate(&format!("\"{name}\"")))
        .collect();
    let own = Own::with(&text);
    own.must(&["validate"]);
    own.must(&["run"]);
}

#[test]
fn broken_toml_says_where() {
    let own = Own::new("[gates]\nbase = \"main\nx = 1\n");
    insta::assert_snapshot!(own.problems(), @r#"
    error: tollgate.toml:2:13: not valid TOML: invalid basic string, expected `"`
        2 | base = "main
    note: tollgate.toml: at an agent's stop, no gate can run until that is corrected
    Validation failed: 1 error(s)
    "#);
}

#[test]
fn a_wrong_file_ends_commands_with_2() {
    let own = Own::with("oops = 1");
    for args in [
        &["run"][..],
        &["check"],
        &["review"],
        &["detect"],
        &["list"],
        &["config", "show"],
    ] {
        own.tollgate(args)
            .exits(2)
            .says("tollgate.toml:3:1: gates.oops: unknown key");
    }
    let answer = own.json(&["run"]);
    assert_eq!(answer["problems"][0]["line"], 3, "{answer}");
    assert_eq!(answer["problems"][0]["column"], 1, "{answer}");
    own.tollgate(&["validate"]).exits(1).says("1 error(s)");
    own.tollgate(&["doctor"])
        .says("gates-invalid")
        .says("gates.oops");
    own.tollgate(&["status"]).says("gates.oops: unknown key");
    own.tollgate(&["trust"])
        .exits(2)
        .says("gates.oops: unknown key");
}

#[test]
fn a_file_without_gates_is_a_project_without_gates() {
    let project = TestProject::empty()
        .with_repository()
        .with_toml("[gates]\nbase = \"main\"\n")
        .with_change();
    project.must(&["validate"]);
    project
        .tollgate(&["run"])
        .exits(0)
        .says("no gates are configured")
        .does_not_say("gauntlet");
}

/// The shell runs nothing and says that all is well.
#[test]
fn a_command_that_runs_nothing_is_an_error() {
    let own = Own::with(
        "[gates.blank]\nrun = \" \"\n[gates.comment]\nrun = \"# cargo test\"\n[gates.several]\nrun = \"\"\"\n# cargo test\n\n  # later\n\"\"\"\n[gates.some]\nrun = \"true # always\"",
    );
    insta::assert_snapshot!(own.problems(), @r##"
    error: tollgate.toml:4:7: gates.blank.run: expected a text that is not empty, found the text " "
        4 | run = " "
    error: tollgate.toml:6:7: gates.comment.run: a comment runs nothing (write the command that checks)
        6 | run = "# cargo test"
    error: tollgate.toml:8:7: gates.several.run: a comment runs nothing (write the command that checks)
        8 | run = """
    note: tollgate.toml: at an agent's stop, no gate can run until that is corrected
    Validation failed: 3 error(s)
    "##);
    own.tollgate(&["run"]).exits(2).does_not_say("pass ");
    own.toml("[gates]\nbase = \"main\"\n[gates.some]\nrun = \"# as ever\\ntrue\"\n");
    own.tollgate(&["validate"]).exits(0);
    own.tollgate(&["run"]).exits(0);
}

//! What `run` prints in a project of Tollgate's own, and what it ends with.

use serde_json::Value;

use crate::outputs::assert_shows;
use crate::project::TestProject;

const GATES: &str = "\
[gates]\nbase = \"main\"\n[gates.lint]\nrun = \"true\"\n[gates.test]\n\
run = \"if test -e src/broken; then sh fails.sh; fi\"\n";

/// As Cargo says it: what failed, then how to run it again.
const FAILS: &str = "\
echo 'running 2 tests'\necho 'test adds ... ok'\necho \"thread 'breaks' panicked at src/a.txt:1:2:\"\n\
echo 'assertion `left == right` failed'\necho '  left: 4'\necho ' right: 5'\n\
echo 'note: run with `RUST_BACKTRACE=1` environment variable'\necho\necho 'failures:'\n\
echo '    breaks'\necho\necho 'test result: FAILED. 1 passed; 1 failed'\n\
echo 'error: test failed, to rerun pass `--lib`'\nexit 101\n";

fn project() -> TestProject {
    let project = TestProject::empty().with_only(&["git", "sh", "test", "true"]);
    let project = project.with_repository().with_toml(GATES);
    project.file("fails.sh", FAILS);
    project.with_change()
}

fn broken() -> TestProject {
    let project = project();
    project.file("src/broken", "");
    project
}

#[test]
fn a_run_that_passes_and_one_that_has_nothing_to_do() {
    assert_shows!(
        project(),
        &["run --gate test", "run -q", "run", "status -q"]
    );
}

#[test]
fn a_run_that_fails_shows_the_assertion() {
    assert_shows!(broken(), &["run -q --gate test", "run -v --gate test"]);
}

#[test]
fn results_are_on_standard_output_and_nothing_else_is() {
    let run = broken().tollgate(&["run"]);
    assert_eq!((run.code, run.stderr.as_str()), (1, ""), "{run:?}");
    let last = run.stdout.lines().last().unwrap();
    assert!(
        last.starts_with("not verified (test: failed): 1 failed, 1 passed in "),
        "{last}"
    );
    let json = broken().tollgate(&["run", "--json"]);
    let value: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(value["gates"][0]["id"], "lint", "{value}");
    assert!(value["seconds"].is_number(), "{value}");
}

#[test]
fn a_gate_that_writes_what_it_checks_is_told_apart_from_one_that_never_ran() {
    let project = project();
    project.file(
        "tollgate.toml",
        "[gates.make]\nrun = \"echo x >> src/made.txt\"\n",
    );
    let run = project.tollgate(&["run"]).exits(1);
    run.says("src/made.txt").says("add them to .gitignore");
}

#[test]
fn the_result_is_written_as_junit() {
    let project = broken();
    project.tollgate(&["run", "--junit", "out.xml"]);
    let text = project.text("out.xml");
    for part in [
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"tollgate\" tests=\"2\" failures=\"1\"",
        "<testcase name=\"lint\"",
        "<failure message=\"Exited with code 101\">",
        "assertion `left == right` failed",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[test]
fn github_is_shown_where_it_failed() {
    let project = broken();
    let mut command = project.command(&["run", "--all", "--uncommitted"]);
    command.env("GITHUB_ACTIONS", "true");
    let run = crate::project::run(command, b"");
    let note = run.stdout.lines().find(|line| line.starts_with("::error "));
    let note = note.unwrap_or_else(|| panic!("{run:?}"));
    assert!(
        note.starts_with("::error file=src/a.txt,line=1,title=gate test%3A Exited with code 101::"),
        "{note}"
    );
    assert!(
        note.contains("%0Aassertion `left == right` failed"),
        "{note}"
    );
}

#[test]
fn a_run_that_cannot_be_made_ends_with_2() {
    let project = project();
    for words in [
        &["run", "--gate", "tset"][..],
        &["run", "-b", "nowhere"],
        &["run", "--skip", "lnt", "--reason", "x"],
    ] {
        let run = project.tollgate(words);
        assert_eq!(
            (run.code, run.stdout.as_str()),
            (2, ""),
            "{words:?} {run:?}"
        );
    }
    let run = project.tollgate(&["run", "--gate", "tset"]);
    assert!(run.stderr.contains("did you mean \"test\"?"), "{run:?}");
}

#[test]
fn a_skipped_gate_is_recorded_and_nothing_is_verified() {
    let project = broken();
    let run = project.tollgate(&["run", "--skip", "test", "--reason", "flaky network"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(
        run.stdout.contains("skip  test: flaky network\n"),
        "{run:?}"
    );
    assert!(
        run.stdout
            .contains("not verified (test: skipped): 1 skipped, 1 passed in "),
        "{run:?}"
    );
    assert!(project.codes().contains(&"GATE-SKIPPED".to_owned()));
    assert_eq!(project.tollgate(&["status", "--exit-code"]).code, 1);
    // By the variable, too, and not by an agent.
    let project = broken().env("TOLLGATE_SKIP", "test, lint");
    let run = project.tollgate(&["run"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stdout.contains("2 skipped"), "{run:?}");
    let project = project.env("CLAUDECODE", "1");
    let run = project.tollgate(&["run"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(run.stderr.contains("for a person"), "{run:?}");
    let run = project.tollgate(&["run", "--skip", "test"]);
    assert_eq!(run.code, 2, "{run:?}");
}

#[test]
fn a_stop_leaves_no_gate_out() {
    let project = broken().env("TOLLGATE_SKIP", "test");
    let stop = serde_json::json!({
        "hook_event_name": "Stop", "session_id": "s", "stop_hook_active": false,
        "cwd": project.root(),
    });
    let run = project.hook(&stop);
    assert!(run.stdout.contains("\"decision\":\"block\""), "{run:?}");
    assert!(
        run.stdout.contains("assertion `left == right` failed"),
        "{run:?}"
    );
    assert!(
        run.stdout.contains("TOLLGATE_SKIP (test) is ignored"),
        "{run:?}"
    );
}

/// 60 columns, no colours, no UTF-8, no home: words say what signs say.
#[test]
fn poor_terminals_are_readable() {
    let project = broken();
    for (name, value) in [("LC_ALL", "C"), ("NO_COLOR", "1"), ("TERM", "dumb")] {
        let mut command = project.command(&["run"]);
        command.env(name, value);
        let run = crate::project::run(command, b"");
        let ascii: String = run.stdout.chars().filter(char::is_ascii).collect();
        assert!(ascii.contains("fail  test"), "{name}: {ascii}");
        assert!(
            ascii.contains("not verified (test: failed)"),
            "{name}: {ascii}"
        );
        assert!(!ascii.contains('\x1b'), "{name}: {ascii}");
    }
    let mut command = project.command(&["run"]);
    command.env_remove("HOME");
    let run = crate::project::run(command, b"");
    assert!(run.stdout.contains("fail  test"), "{run:?}");
    let command = project.command(&["run"]);
    let (screen, code) = crate::terminal::Terminal::start_in(60, &command).ends();
    assert_eq!(code, 1, "{screen}");
    assert!(
        screen.contains("assertion `left == right` failed"),
        "{screen}"
    );
}

//! What the output of a test run proves, and what it does not: runs without tests, skipped tests,
//! hidden exit statuses, filtered output.

use serde_json::{Value, json};

use super::state;
use crate::events::{Event as _, bash};
use crate::project::{TestProject, running};

fn project() -> TestProject {
    let project = TestProject::new().state(&running("06-implementation", "in_progress"));
    project.file(
        ".isdlc/config/iteration-requirements.json",
        r#"{"phase_requirements":{"06-implementation":{"test_iteration":{"enabled":true,"max_iterations":20}}}}"#,
    );
    project
}

/// A command that ended in Claude Code, which tells of failures in an event of their own.
fn run(project: &TestProject, command: &str, output: &str) -> String {
    let event = bash(command).in_session("s").printed(output);
    project.hook(&event).stdout
}

fn record(project: &TestProject) -> Value {
    state(project)["phases"]["06-implementation"]["iteration_requirements"]["test_iteration"]
        .clone()
}

#[track_caller]
fn comes_to(expected: &str, command: &str, output: &str) {
    let project = project();
    let told = run(&project, command, output);
    let record = record(&project);
    assert_eq!(
        record["last_test_result"], expected,
        "{command}\n{output}\n{told}"
    );
    assert_eq!(
        record["completed"],
        expected == "passed",
        "{command}\n{output}"
    );
}

#[test]
fn a_run_in_which_no_test_ran_proves_nothing() {
    for (command, output) in [
        (
            "npx jest --passWithNoTests",
            "No tests found, exiting with code 0\n",
        ),
        ("pytest", "====== 1 xfailed in 0.02s ======\n"),
        (
            "python -m unittest",
            "x\nRan 1 test in 0.001s\n\nOK (expected failures=1)\n",
        ),
        (
            "go test -v ./...",
            "=== RUN   TestX\n--- SKIP: TestX (0.00s)\nPASS\nok  \texample.com/a\t0.003s\n",
        ),
        (
            "dotnet test",
            "Skipped! - Failed:     0, Passed:     0, Skipped:     2, Total:     2, Duration: 1 ms - a.dll\n",
        ),
        (
            "dotnet test --filter Nothing",
            "No test matches the given testcase filter `Nothing` in /x/a.dll\n",
        ),
        (
            "mvn test",
            "[INFO] No tests to run.\n[INFO] BUILD SUCCESS\n",
        ),
        (
            "mvn verify",
            "[INFO] Tests are skipped.\n[INFO] BUILD SUCCESS\n",
        ),
        (
            "./gradlew test",
            "> Task :test NO-SOURCE\n\nBUILD SUCCESSFUL in 1s\n",
        ),
        (
            "./gradlew test",
            "> Task :app:test SKIPPED\n\nBUILD SUCCESSFUL in 1s\n",
        ),
        (
            "npx playwright test",
            "Running 2 tests using 1 worker\n\n  2 skipped\n",
        ),
        ("make test", "make: Nothing to be done for 'test'.\n"),
        ("make test", "make: 'test' is up to date.\n"),
        (
            "bun test",
            " 0 pass\n 0 fail\nRan 0 tests across 1 files. [1ms]\n",
        ),
        ("deno test", "ok | 0 passed | 0 failed | 3 ignored (4ms)\n"),
    ] {
        comes_to("inconclusive", command, output);
    }
}

/// Without an exit code, as in the specification's own events: the counts alone decide.
#[test]
fn counts_alone_on_a_line_are_a_summary() {
    let bare = |command: &str, output: &str| {
        let project = project();
        let event = bash(command).with("tool_result", output);
        project.guard("test-watcher", &event);
        record(&project)["last_test_result"].clone()
    };
    for command in ["npm test", "npx jest", "npx vitest run", "yarn test"] {
        for (output, expected) in [
            ("FAIL x.test.js\n1 failed, 4 passed\n", "failed"),
            ("PASS x.test.js\n0 failed, 5 passed\n", "passed"),
            ("FAIL x.test.js\n", "inconclusive"),
            ("1 failed, 4 passed attempts to log in\n", "inconclusive"),
        ] {
            assert_eq!(bare(command, output), expected, "{command}: {output}");
        }
    }
}

#[test]
fn a_test_among_others_that_do_not_run_is_a_pass() {
    for (command, output) in [
        ("pytest", "==== 1 passed, 1 xfailed in 0.02s ====\n"),
        (
            "python -m unittest",
            "Ran 2 tests in 0.001s\n\nOK (expected failures=1)\n",
        ),
        (
            "mvn test",
            "[INFO] No tests to run.\n[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS\n",
        ),
        (
            "./gradlew test",
            "> Task :a:test NO-SOURCE\n> Task :b:test\n\nBUILD SUCCESSFUL in 1s\n",
        ),
        (
            "make test",
            "make[1]: Nothing to be done for 'test'.\nall 5 scenarios hold\n",
        ),
        (
            "java -jar junit-platform-console-standalone.jar --scan-classpath",
            "[         1 tests skipped         ]\n[         2 tests successful      ]\n[         0 tests failed          ]\n",
        ),
        (
            "java -cp . org.junit.runner.JUnitCore T",
            "Time: 0.01\n\nOK (2 tests)\n",
        ),
        (
            "bun test | tail -4",
            " 1 pass\n 0 fail\nRan 1 tests across 1 files. [1ms]\n",
        ),
        ("deno test || true", "ok | 1 passed | 0 failed (4ms)\n"),
        ("gotestsum", "DONE 3 tests, 1 skipped in 0.5s\n"),
    ] {
        comes_to("passed", command, output);
    }
}

#[test]
fn tests_that_fail_do_not_pass_because_something_hides_their_status() {
    for (command, output) in [
        ("npm test", "Tests:       1 failed, 3 passed, 4 total\n"),
        ("pytest", "==== 1 failed, 2 passed in 0.02s ====\n"),
        (
            "mvn test -Dmaven.test.failure.ignore=true",
            "[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS\n",
        ),
        (
            "bun test || true",
            " 1 pass\n 1 fail\nRan 2 tests across 1 files. [1ms]\n",
        ),
        ("deno test; true", "FAILED | 1 passed | 1 failed (4ms)\n"),
        (
            "java -cp . org.junit.runner.JUnitCore T | tee log",
            "FAILURES!!!\nTests run: 2,  Failures: 1\n",
        ),
        // The last command succeeds, the first one is what failed.
        (
            "npx jest; cargo test",
            "Tests:       1 failed, 1 total\ntest result: ok. 1 passed; 0 failed; 0 ignored\n",
        ),
    ] {
        comes_to("failed", command, output);
    }
    let project = project();
    run(&project, "npm test", "Tests:       4 passed, 4 total\n");
    assert_eq!(record(&project)["completed"], true);
    run(
        &project,
        "npm test",
        "Tests:       1 failed, 3 passed, 4 total\n",
    );
    assert_eq!(
        record(&project)["completed"],
        false,
        "the pass no longer holds"
    );
}

#[test]
fn lines_that_somebody_picked_prove_no_pass() {
    let project = project();
    let told = run(
        &project,
        "go test ./... | grep ok",
        "ok  \texample.com/a\t0.003s\n",
    );
    assert!(told.contains("its output was filtered"), "{told}");
    assert_eq!(record(&project)["last_test_result"], "inconclusive");
    for command in [
        "cargo test 2>&1 | grep -E '^test result: ok'",
        "cargo test | sed -n 1,9p",
        "cargo test | head -20",
    ] {
        comes_to(
            "inconclusive",
            command,
            "test result: ok. 2 passed; 0 failed; 0 ignored\n",
        );
    }
    // A failure among them is one, and with pipefail the status is the tests' own.
    comes_to(
        "failed",
        "cargo test | grep result",
        "test result: FAILED. 1 passed; 1 failed; 0 ignored\n",
    );
    comes_to(
        "passed",
        "set -o pipefail; cargo test | grep result",
        "test result: ok. 2 passed; 0 failed; 0 ignored\n",
    );
}

#[test]
fn a_run_that_goes_on_or_failed_in_another_way_is_no_pass() {
    let ended = |input: Value, response: Value| {
        let project = project();
        let mut event = bash("cargo test").in_session("s").done(response);
        for (key, value) in input.as_object().unwrap() {
            event["tool_input"][key] = value.clone();
        }
        project.hook(&event);
        record(&project)["last_test_result"].clone()
    };
    let started = "Command running in background with ID: b1";
    for response in [json!({ "stdout": started, "stderr": "" }), json!(started)] {
        let result = ended(json!({ "run_in_background": true }), response);
        assert_eq!(result, Value::Null, "it has not ended");
    }
    for response in [
        json!({ "stdout": "", "exit_code": "1" }),
        json!({ "stdout": "", "exitCode": -1 }),
        json!({ "stdout": "", "is_error": true }),
        json!({ "stdout": "", "success": false }),
    ] {
        assert_eq!(ended(json!({}), response.clone()), "failed", "{response}");
    }
    let passed = json!({ "stdout": "", "exit_code": "0" });
    assert_eq!(
        ended(json!({ "run_in_background": false }), passed),
        "passed"
    );
}

#[test]
fn the_advice_is_about_what_was_wrong() {
    let project = project();
    let told = run(
        &project,
        "cargo test nothing",
        "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out\n",
    );
    assert!(
        told.contains("it ran no tests. Run tests that exist"),
        "{told}"
    );
    assert!(!told.contains("pipe"), "{told}");
}

#[test]
fn a_gradle_check_without_its_tests_is_no_test_run() {
    let project = project();
    run(
        &project,
        "./gradlew check -x test",
        "BUILD SUCCESSFUL in 1s\n",
    );
    assert_eq!(record(&project), Value::Null);
    run(
        &project,
        "./gradlew check -x :app:lint",
        "> Task :test\nBUILD SUCCESSFUL in 1s\n",
    );
    assert_eq!(record(&project)["last_test_result"], "passed");
}

#[test]
fn what_is_done_around_tests_is_no_test_run() {
    let project = project();
    for command in [
        "make test-deps",
        "npm run test:db:reset",
        "npm run test:watch",
        "./setup-test-env.sh",
        "test -f Makefile",
        "tox -l",
    ] {
        run(&project, command, "done\n");
        assert_eq!(record(&project), Value::Null, "{command}");
    }
    // A project's own way to run its tests is one.
    for command in [
        "./test.sh",
        "bash scripts/run_tests.sh",
        "npm --prefix api test",
    ] {
        comes_to("passed", command, "all 5 scenarios hold\n");
    }
}

#[test]
fn counts_beyond_all_measure_are_no_fault() {
    let most = u64::MAX;
    let mut state = running("06-implementation", "in_progress");
    state["phases"]["06-implementation"]["iteration_requirements"]["test_iteration"] =
        json!({ "completed": false, "current_iteration": most, "identical_failure_count": most });
    let project = TestProject::new().state(&state);
    project.file(
        ".isdlc/config/iteration-requirements.json",
        r#"{"phase_requirements":{"06-implementation":{"test_iteration":{"enabled":true}}}}"#,
    );
    let line = format!("test result: ok. {most} passed; {most} failed; 0 ignored\n");
    let told = run(&project, "cargo test", &format!("{line}{line}"));
    assert!(told.contains("MAX ITERATIONS EXCEEDED"), "{told}");
    assert!(!told.contains("panic"), "{told}");
}

#[test]
fn an_approval_counts_for_the_escalation_that_it_was_given_for() {
    let fail = |project: &TestProject, n: u32| {
        let event = bash("cargo test").in_session("s");
        project.hook(&event.failed(&format!("Exit code 101\nassertion {n} failed")));
    };
    let project = project();
    (0..3).for_each(|_| fail(&project, 1));
    let mut approved = state(&project);
    approved["phases"]["06-implementation"]["iteration_requirements"]["test_iteration"]["escalation_approved"] =
        json!(true);
    let project = project.state(&approved);
    run(
        &project,
        "cargo test",
        "test result: ok. 2 passed; 0 failed; 0 ignored\n",
    );
    assert_eq!(record(&project)["status"], "success");
    (0..3).for_each(|_| fail(&project, 2));
    let record = record(&project);
    assert_eq!(record["status"], "escalated", "{record:#}");
    assert_eq!(record.get("escalation_approved"), None, "{record:#}");
}

#[test]
fn what_is_run_after_a_phase_is_completed_does_not_reopen_it() {
    let project = TestProject::new().state(&running("06-implementation", "completed"));
    project.file(
        ".isdlc/config/iteration-requirements.json",
        r#"{"phase_requirements":{"06-implementation":{"test_iteration":{"enabled":true}}}}"#,
    );
    run(
        &project,
        "cargo test",
        "test result: FAILED. 1 passed; 1 failed; 0 ignored\n",
    );
    assert_eq!(record(&project), Value::Null);
}

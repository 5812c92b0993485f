//! Facts 1.27, D3, F11, BUG-0007.

use serde_json::{Value, json};

use super::{ran, state, tells};
use crate::events::{Event as _, Protocol, bash};
use crate::project::{TestProject, running};

const NAME: &str = "test-watcher";

macro_rules! summary {
    ($name:literal) => {
        include_str!(concat!(
            "../../../../tollgate-core/tests/summaries/",
            $name,
            ".txt"
        ))
    };
}

const REQUIREMENTS: &str = r#"{"phase_requirements":{
    "06-implementation":{"test_iteration":{"enabled":true,"max_iterations":4,"circuit_breaker_threshold":3,
        "success_criteria":{"min_coverage_percent":80}}},
    "12-test-deploy":{"test_iteration":{"enabled":true}},
    "01-requirements":{"test_iteration":{"enabled":false}}},
  "workflow_overrides":{"fix":{"06-implementation":{"test_iteration":{"max_iterations":2}}}}}"#;

fn with(state: &Value) -> TestProject {
    let project = TestProject::new().state(state);
    project.file(
        ".claude/hooks/config/iteration-requirements.json",
        REQUIREMENTS,
    );
    project
}

fn project() -> TestProject {
    with(&running("06-implementation", "in_progress"))
}

fn record(project: &TestProject) -> Value {
    state(project)["phases"]["06-implementation"]["iteration_requirements"]["test_iteration"]
        .clone()
}

/// Claude Code's event of a command that failed.
fn failed(command: &str, output: &str) -> Value {
    bash(command)
        .in_session("s")
        .failed(&format!("Exit code 1\n{output}"))
}

/// Claude Code's event of a command that succeeded.
fn succeeded(command: &str, output: &str) -> Value {
    bash(command).in_session("s").printed(output)
}

fn context(project: &TestProject, event: &Value) -> String {
    let run = project.hook(event);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
    answer["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// Each of these was a passed test run.
#[test]
fn what_tests_nothing_does_not_pass() {
    for command in [
        "tox -e lint",
        "nox -s docs",
        "gradle compileTest",
        "npm run test-utils",
        "rake -T test",
        "robot --dryrun x",
        "bats --count test",
        "ctest --show-only",
        "bazel test --nobuild //...",
        "make -n test",
    ] {
        let project = project();
        project.hook(&succeeded(command, "ok")).says_nothing();
        assert_eq!(record(&project), Value::Null, "{command}");
    }
    for command in ["npm run test --if-present", "make -i test"] {
        let project = project();
        let said = context(&project, &succeeded(command, "ok"));
        assert!(
            said.contains("TEST RESULT INCONCLUSIVE"),
            "{command}: {said}"
        );
        let said = context(&project, &succeeded(command, summary!("cargo-pass")));
        assert!(said.contains("TESTS PASSED"), "{command}: {said}");
    }
}

/// A list of words in front of the parser knew only some spellings.
#[test]
fn a_test_run_is_one_however_it_is_spelt() {
    for command in [
        "cargo t",
        "cargo +nightly t",
        "cargo -q t",
        "npm --prefix app t",
        "yarn tst",
        "npm test -- -n 4",
        "tox -e py311",
        "P=te; cargo ${P}st",
    ] {
        let project = project();
        let said = context(&project, &failed(command, "nothing to read"));
        assert!(said.contains("TESTS FAILED"), "{command}: {said}");
    }
}

#[test]
fn a_pass_completes_the_requirement() {
    let project = project();
    let run = project.guard(
        NAME,
        &ran(
            "cargo test",
            json!({ "exitCode": 0, "stdout": summary!("cargo-pass") }),
        ),
    );
    tells(&run, "✅ TESTS PASSED (iteration 1)");
    let record = record(&project);
    assert_eq!(record["completed"], true);
    assert_eq!(record["status"], "success");
    assert_eq!(record["required"], true);
    assert_eq!(record["current_iteration"], 1);
    assert_eq!(record["max_iterations"], 4);
    assert_eq!(record["last_test_result"], "passed");
    assert_eq!(record["last_test_command"], "cargo test");
    assert_eq!(record["failures_count"], 0);
    let entry = &record["history"][0];
    assert_eq!(entry["iteration"], 1);
    assert_eq!(entry["result"], "PASSED");
    assert_eq!(entry["failures"], 0);
    assert_eq!(entry["error"], Value::Null);
    assert!(entry["timestamp"].is_string() && record["started_at"].is_string());
}

#[test]
fn a_failure_counts_and_says_what_is_left() {
    let project = project();
    let run = project.guard(
        NAME,
        &ran(
            "cargo test",
            json!({ "exitCode": 101, "stdout": summary!("cargo-fail") }),
        ),
    );
    tells(&run, "❌ TESTS FAILED (iteration 1/4)");
    let record = record(&project);
    assert_eq!(record["completed"], false);
    assert_eq!(record["last_test_result"], "failed");
    assert_eq!(record["failures_count"], 1);
    assert_eq!(record["identical_failure_count"], 1);
    assert_eq!(record["history"][0]["failures"], 1);
    assert_eq!(
        record["history"][0]["error"],
        "test tests::breaks ... FAILED"
    );
}

#[test]
fn the_third_identical_failure_trips_the_breaker() {
    let project = project();
    for n in 1..=2 {
        let text = context(
            &project,
            &failed("cargo test", "thread 'x' (11) panicked at a.rs:1:2: boom"),
        );
        assert!(
            text.starts_with(&format!("❌ TESTS FAILED (iteration {n}/4)")),
            "{text}"
        );
    }
    let text = context(
        &project,
        &failed("cargo test", "thread 'x' (99) panicked at a.rs:7:3: boom"),
    );
    assert!(text.contains("🚨 CIRCUIT BREAKER TRIGGERED"), "{text}");
    let record = record(&project);
    assert_eq!(record["completed"], true);
    assert_eq!(record["status"], "escalated");
    assert_eq!(record["escalation_reason"], "circuit_breaker");
    assert_eq!(record["identical_failure_count"], 3);
    assert_eq!(project.codes(), ["TW-001"]);
}

/// A state of the original, or of an earlier version, keeps its circuit breaker.
#[test]
fn the_history_is_read_in_both_spellings_and_written_as_the_original_does() {
    for spelling in ["FAILED", "failed"] {
        let mut state = running("06-implementation", "in_progress");
        let run =
            |n: u64| json!({ "iteration": n, "result": spelling, "error": "Error: it broke" });
        let tests = json!({
            "required": true, "completed": false, "current_iteration": 2, "max_iterations": 9,
            "failures_count": 2, "identical_failure_count": 2, "last_test_result": "failed",
            "history": [run(1), run(2)],
        });
        state["phases"]["06-implementation"]["iteration_requirements"] =
            json!({ "test_iteration": tests });
        let project = with(&state);
        let text = context(&project, &failed("npm test", "Error: it broke"));
        assert!(
            text.contains("🚨 CIRCUIT BREAKER TRIGGERED"),
            "{spelling}: {text}"
        );
        assert_eq!(record(&project)["history"][2]["result"], "FAILED");
        assert_eq!(record(&project)["last_test_result"], "failed");
        // A pass in between begins anew.
        let passed = spelling.replace("FAIL", "PASS").replace("fail", "pass");
        state["phases"]["06-implementation"]["iteration_requirements"]["test_iteration"]["history"]
            [1]["result"] = json!(passed);
        let text = context(&with(&state), &failed("npm test", "Error: it broke"));
        assert!(
            text.starts_with("❌ TESTS FAILED (iteration 3/9)"),
            "{spelling}: {text}"
        );
    }
}

#[test]
fn a_loop_keeps_the_limit_that_it_began_with() {
    let project = project();
    context(&project, &failed("npm test", "Error: one broke"));
    assert_eq!(record(&project)["max_iterations"], 4);
    project.file(
        ".claude/hooks/config/iteration-requirements.json",
        r#"{"phase_requirements":{"06-implementation":{"test_iteration":{"enabled":true,"max_iterations":2}}}}"#,
    );
    let text = context(&project, &failed("npm test", "Error: two broke"));
    assert!(
        text.starts_with("❌ TESTS FAILED (iteration 2/4)"),
        "{text}"
    );
    assert_eq!(record(&project)["max_iterations"], 4);
    // The next phase's loop begins with the new one.
    let fresh = TestProject::new().state(&running("06-implementation", "in_progress"));
    fresh.file(
        ".claude/hooks/config/iteration-requirements.json",
        r#"{"phase_requirements":{"06-implementation":{"test_iteration":{"enabled":true,"max_iterations":2}}}}"#,
    );
    context(&fresh, &failed("npm test", "Error: one broke"));
    assert_eq!(record(&fresh)["max_iterations"], 2);
}

#[test]
fn rule_9_what_a_person_must_look_at_is_told_to_both() {
    let mut state = running("06-implementation", "in_progress");
    state["iteration_config"] = json!({ "configured_at": "2026-02-08T20:00:00Z", "testing_max": 1, "circuit_breaker_threshold": 1 });
    let failing = ran(
        "npm test",
        json!({ "exitCode": 1, "stdout": "Error: it broke" }),
    );
    let run = with(&state).guard(NAME, &failing);
    tells(&run, "🚨 CIRCUIT BREAKER TRIGGERED");
    assert!(
        run.stderr
            .starts_with("[test-watcher] CIRCUIT BREAKER TRIGGERED"),
        "{run:?}"
    );
    state["iteration_config"]["circuit_breaker_threshold"] = json!(9);
    let run = with(&state).guard(NAME, &failing);
    tells(&run, "🚨 MAX ITERATIONS EXCEEDED (1)");
    assert!(
        run.stderr
            .starts_with("[test-watcher] MAX ITERATIONS EXCEEDED (1)"),
        "{run:?}"
    );
    let thin = "Statements : 79% ( 1/2 )\nTests: 2 passed, 2 total\n";
    let run = with(&state).guard(NAME, &ran("npx jest", json!(thin)));
    tells(&run, "🚨 COVERAGE BELOW THRESHOLD (79% of 80% required)");
    assert!(
        run.stderr
            .starts_with("[test-watcher] COVERAGE BELOW THRESHOLD (79% of 80% required)"),
        "{run:?}"
    );
}

#[test]
fn different_failures_end_at_the_limit() {
    let project = project();
    for (n, what) in ["one", "two", "three"].iter().enumerate() {
        let text = context(
            &project,
            &failed("npm test", &format!("Error: {what} broke")),
        );
        assert!(
            text.starts_with(&format!("❌ TESTS FAILED (iteration {}/4)", n + 1)),
            "{text}"
        );
    }
    let text = context(&project, &failed("npm test", "Error: four broke"));
    assert!(text.contains("🚨 MAX ITERATIONS EXCEEDED (4)"), "{text}");
    let record = record(&project);
    assert_eq!(record["escalation_reason"], "max_iterations");
    let errors = record["history"].as_array().unwrap().iter();
    let errors: Vec<_> = errors.map(|run| run["error"].as_str().unwrap()).collect();
    assert_eq!(errors.len(), 4, "{errors:?}");
    assert_eq!(errors[0], "Error: one broke");
    assert_eq!(project.codes(), ["TW-002"]);
}

#[test]
fn limits_come_from_the_person_then_the_workflow_then_the_phase() {
    let mut state = running("06-implementation", "in_progress");
    state["active_workflow"]["type"] = json!("fix");
    let text = context(&with(&state), &failed("npm test", "Error: it broke"));
    assert!(
        text.starts_with("❌ TESTS FAILED (iteration 1/2)"),
        "{text}"
    );
    state["iteration_config"] = json!({ "testing_max": 8, "circuit_breaker_threshold": 1 });
    let text = context(&with(&state), &failed("npm test", "Error: it broke"));
    assert!(
        text.starts_with("❌ TESTS FAILED (iteration 1/2)"),
        "not configured: {text}"
    );
    state["iteration_config"]["configured_at"] = json!("2026-02-08T20:00:00Z");
    let project = with(&state);
    let text = context(&project, &failed("npm test", "Error: it broke"));
    assert!(text.contains("🚨 CIRCUIT BREAKER TRIGGERED"), "{text}");
    assert_eq!(record(&project)["max_iterations"], 8);
}

/// D3: a tool's result is `tool_response` in today's agents; the original read only `tool_result`.
#[test]
fn d3_failures_of_todays_claude_code_are_failures() {
    let project = project();
    let text = context(&project, &failed("cargo test -p x", summary!("cargo-fail")));
    assert!(
        text.starts_with("❌ TESTS FAILED (iteration 1/4)"),
        "{text}"
    );
    let text = context(
        &project,
        &succeeded("cargo test -p x", summary!("cargo-pass")),
    );
    assert!(text.starts_with("✅ TESTS PASSED (iteration 2)"), "{text}");
    let record = record(&project);
    assert_eq!(record["completed"], true);
    assert_eq!(record["identical_failure_count"], 0);
}

/// D3: a tool's result is `tool_response` in today's agents; the original read only `tool_result`.
#[test]
fn d3_codex_and_copilot_are_understood_without_an_exit_code() {
    let codex = |output: &str| {
        bash("pytest -q")
            .from(Protocol::Codex)
            .call(&output.len().to_string())
            .done(output)
    };
    let project = project();
    project.hook(&codex(summary!("pytest-quiet-fail")));
    assert_eq!(record(&project)["last_test_result"], "failed");
    project.hook(&codex(summary!("pytest-quiet-pass")));
    assert_eq!(record(&project)["last_test_result"], "passed");
    let copilot = |text: &str| {
        json!({
            "sessionId": "s", "timestamp": 1, "cwd": project.root(), "toolName": "bash",
            "toolArgs": { "command": "npm test" },
            "toolResult": { "resultType": "success", "textResultForLlm": text },
        })
    };
    project.hook(&copilot("boom\n<command completed with exit code 3>"));
    assert_eq!(record(&project)["last_test_result"], "failed");
    project.hook(&copilot("fine\n<command completed with exit code 0>"));
    assert_eq!(record(&project)["last_test_result"], "passed");
}

/// F11: `cat jest.config.js` was a test run, and a passing `cargo test` had failed.
#[test]
fn f11_passing_runs_of_every_runner_pass_without_an_exit_code() {
    for (command, output) in [
        ("cargo test", summary!("cargo-pass")),
        ("cargo nextest run", summary!("nextest-pass")),
        ("pytest", summary!("pytest-pass")),
        ("python -m unittest", summary!("unittest-pass")),
        ("go test ./...", summary!("go-pass")),
        ("node --test", summary!("node-pass")),
        ("npx jest", summary!("jest-pass")),
        ("npx vitest run", summary!("vitest-pass")),
        ("npx mocha", summary!("mocha-pass")),
        ("npx playwright test", summary!("playwright-pass")),
        ("mvn test", summary!("maven-pass")),
        ("./gradlew test", summary!("gradle-pass")),
        ("dotnet test", summary!("dotnet-pass")),
        ("bundle exec rspec", summary!("rspec-pass")),
        ("vendor/bin/phpunit", summary!("phpunit-pass")),
    ] {
        let run = project().guard(NAME, &ran(command, json!(output)));
        tells(&run, "✅ TESTS PASSED (iteration 1)");
    }
}

/// F11: `cat jest.config.js` was a test run, and a passing `cargo test` had failed.
#[test]
fn f11_failing_runs_of_every_runner_fail_without_an_exit_code() {
    for (command, output) in [
        ("cargo test", summary!("cargo-fail")),
        ("cargo test", summary!("cargo-broken")),
        ("cargo nextest run", summary!("nextest-fail")),
        ("pytest", summary!("pytest-fail")),
        ("python -m unittest", summary!("unittest-fail")),
        ("go test ./...", summary!("go-fail")),
        ("node --test", summary!("node-fail")),
        ("npx jest", summary!("jest-fail")),
        ("npx vitest run", summary!("vitest-fail")),
        ("npx mocha", summary!("mocha-fail")),
        ("npx playwright test", summary!("playwright-fail")),
        ("mvn test", summary!("maven-fail")),
        ("./gradlew test", summary!("gradle-fail")),
        ("dotnet test", summary!("dotnet-fail")),
        ("bundle exec rspec", summary!("rspec-fail")),
        ("vendor/bin/phpunit", summary!("phpunit-fail")),
    ] {
        let run = project().guard(NAME, &ran(command, json!(output)));
        tells(&run, "❌ TESTS FAILED (iteration 1/4)");
    }
}

/// F11: `cat jest.config.js` was a test run, and a passing `cargo test` had failed.
#[test]
fn f11_commands_that_only_name_a_runner_are_no_test_runs() {
    let project = project();
    let before = project.read(".isdlc/state.json");
    for command in [
        "cat jest.config.js",
        "git log --grep pytest",
        "echo 'npm test'",
        "cargo build --tests",
    ] {
        project
            .guard(NAME, &ran(command, json!("1 failed")))
            .says_nothing();
    }
    assert_eq!(project.read(".isdlc/state.json"), before);
}

/// F11: `cat jest.config.js` was a test run, and a passing `cargo test` had failed.
#[test]
fn f11_a_pipe_hides_the_exit_status_but_not_the_summary() {
    let project = project();
    let text = context(
        &project,
        &succeeded("cargo test 2>&1 | tail -20", summary!("cargo-fail")),
    );
    assert!(
        text.starts_with("❌ TESTS FAILED (iteration 1/4)"),
        "{text}"
    );
    let text = context(&project, &succeeded("cargo test || true", "nothing to see"));
    assert!(
        text.starts_with("⚠️ TEST RESULT INCONCLUSIVE (iteration 2/4)"),
        "{text}"
    );
}

/// BUG-0007-test-watcher: output that cannot be read counted as a failure and tripped the breaker.
#[test]
fn bug_0007_test_watcher_unreadable_results_never_trip_the_breaker() {
    let project = project();
    for n in 1..=3 {
        let run = project.guard(NAME, &ran("npm test", json!("???")));
        tells(
            &run,
            &format!("⚠️ TEST RESULT INCONCLUSIVE (iteration {n}/4)"),
        );
    }
    let record_now = record(&project);
    assert_eq!(record_now["failures_count"], 0);
    assert_eq!(record_now["completed"], false);
    let run = project.guard(NAME, &ran("npm test", json!("???")));
    tells(&run, "🚨 MAX ITERATIONS EXCEEDED (4)");
    assert_eq!(record(&project)["status"], "escalated");
}

#[test]
fn a_run_without_tests_and_an_interrupted_one_prove_nothing() {
    let project = project();
    let text = context(
        &project,
        &succeeded("cargo test nothing_such", summary!("cargo-none")),
    );
    assert!(text.starts_with("⚠️ TEST RESULT INCONCLUSIVE"), "{text}");
    assert!(text.contains("it ran no tests"), "{text}");
    let mut event = failed("cargo test", "");
    event["error"] = json!("Command timed out after 2m 0s");
    let text = context(&project, &event);
    assert!(text.contains("interrupted"), "{text}");
    let mut event = succeeded("cargo test", "");
    event["tool_response"] = json!({ "stdout": "", "backgroundTaskId": "b1" });
    project.hook(&event).allows();
    assert_eq!(record(&project)["current_iteration"], 2);
}

#[test]
fn coverage_below_the_threshold_does_not_complete() {
    let project = project();
    let run = project.guard(
        NAME,
        &ran(
            "npx jest",
            json!("Statements : 72.5% ( 1/2 )\nTests: 2 passed, 2 total\n"),
        ),
    );
    tells(
        &run,
        "⚠️ TESTS PASSED but COVERAGE INSUFFICIENT (72.5% of 80% required)",
    );
    assert_eq!(record(&project)["completed"], false);
    for _ in 0..2 {
        project.guard(
            NAME,
            &ran(
                "npx jest",
                json!("Statements : 79% ( 1/2 )\nTests: 2 passed, 2 total\n"),
            ),
        );
    }
    let run = project.guard(
        NAME,
        &ran(
            "npx jest",
            json!("Statements : 79% ( 1/2 )\nTests: 2 passed, 2 total\n"),
        ),
    );
    tells(&run, "🚨 COVERAGE BELOW THRESHOLD (79% of 80% required)");
    assert_eq!(
        record(&project)["escalation_reason"],
        "coverage_below_threshold"
    );
    assert_eq!(project.codes(), ["TW-003"]);
    let enough = self::project();
    let run = enough.guard(
        NAME,
        &ran(
            "npx jest",
            json!("Statements : 80% ( 1/2 )\nTests: 2 passed, 2 total\n"),
        ),
    );
    tells(&run, "✅ TESTS PASSED (iteration 1)");
}

/// BUG-0054, GH-52: one threshold of coverage held for work of every size.
#[test]
fn bug_0054_gh_52_coverage_may_depend_on_the_size_of_the_work() {
    let mut state = running("06-implementation", "in_progress");
    state["active_workflow"]["sizing"] = json!({ "effective_intensity": "light" });
    let project = TestProject::new().state(&state);
    project.file(
        ".claude/hooks/config/iteration-requirements.json",
        r#"{"phase_requirements":{"06-implementation":{"test_iteration":{"enabled":true,
            "success_criteria":{"min_coverage_percent":{"light":60,"standard":80,"epic":95}}}}}}"#,
    );
    let run = project.guard(
        NAME,
        &ran(
            "npx jest",
            json!("Lines : 70% ( 1/2 )\nTests: 2 passed, 2 total\n"),
        ),
    );
    tells(&run, "✅ TESTS PASSED (iteration 1)");
}

/// BUG-0057, GH-209: gates believed what the agent said of itself.
#[test]
fn bug_0057_gh_209_a_pass_that_shows_no_coverage_says_so() {
    let project = project();
    let says = "⚠️ COVERAGE NOT VERIFIED: 80% are required, and this run shows none.";
    let run = project.guard(NAME, &ran("npx jest", json!("Tests: 2 passed, 2 total\n")));
    tells(&run, "✅ TESTS PASSED (iteration 1)");
    assert!(run.stdout.contains(&format!("\n{says}")), "{run:?}");
    let measured = "Statements : 80% ( 1/2 )\nTests: 2 passed, 2 total\n";
    let run = project.guard(NAME, &ran("npx jest", json!(measured)));
    assert!(!run.stdout.contains("NOT VERIFIED"), "{run:?}");
    assert_eq!(record(&project)["coverage"], 80.0);
    // The figure of an earlier run is not that of this one.
    project.guard(NAME, &ran("npx jest", json!("Tests: 2 passed, 2 total\n")));
    assert_eq!(record(&project)["coverage"], Value::Null);
    // Nobody asked for it.
    let mut deploy = running("12-test-deploy", "in_progress");
    deploy["current_phase"] = json!("12-test-deploy");
    let run = with(&deploy).guard(NAME, &ran("npx jest", json!("Tests: 2 passed, 2 total\n")));
    assert!(!run.stdout.contains("NOT VERIFIED"), "{run:?}");
}

#[test]
fn skipped_tests_in_atdd_mode_are_told_and_recorded() {
    for field in ["own", "options"] {
        let mut state = running("06-implementation", "in_progress");
        match field {
            "own" => state["active_workflow"]["atdd_mode"] = json!(true),
            _ => state["active_workflow"]["options"] = json!({ "atdd_mode": true }),
        }
        let project = with(&state);
        let run = project.guard(NAME, &ran("cargo test", json!(summary!("cargo-pass"))));
        assert!(
            run.stderr.starts_with("⚠️ ATDD: 1 tests are skipped."),
            "{run:?}"
        );
        let found =
            super::state(&project)["phases"]["06-implementation"]["atdd_validation"].clone();
        assert_eq!(found["skipped_tests"], 1);
        assert_eq!(project.codes(), ["TW-004"]);
    }
}

#[test]
fn a_failure_after_a_pass_takes_the_pass_back() {
    let project = project();
    project.hook(&succeeded("cargo test", summary!("cargo-pass")));
    assert_eq!(record(&project)["completed"], true);
    project.hook(&failed("cargo test", summary!("cargo-fail")));
    assert_eq!(record(&project)["completed"], false);
    assert!(record(&project).get("status").is_none());
}

#[test]
fn only_an_enabled_phase_of_a_running_enforced_workflow_is_watched() {
    let event = ran("cargo test", json!(summary!("cargo-fail")));
    let mut off = running("06-implementation", "in_progress");
    off["iteration_enforcement"] = json!({ "enabled": false });
    for project in [
        with(&running("01-requirements", "in_progress")),
        with(&running("99-unknown", "in_progress")),
        with(&json!({ "current_phase": "06-implementation" })),
        with(&off),
        TestProject::new().state(&running("06-implementation", "in_progress")),
    ] {
        project.guard(NAME, &event).says_nothing();
    }
    let args = ["hook", "--event", "PreToolUse", "--guard", NAME];
    let event = bash("cargo test").to_string();
    project().run(&args, event.as_bytes()).says_nothing();
}

/// R11: old names of phases are understood everywhere, not only in three guards.
/// TS-008: `13-test-deploy`, an old key, means `12-test-deploy` everywhere.
#[test]
fn r11_ts008_a_phase_is_found_under_every_name_it_had() {
    let project = with(&running("13-test-deploy", "in_progress"));
    let run = project.guard(NAME, &ran("cargo test", json!(summary!("cargo-pass"))));
    tells(&run, "✅ TESTS PASSED (iteration 1)");
    let phases = state(&project)["phases"].clone();
    assert_eq!(
        phases["13-test-deploy"]["iteration_requirements"]["test_iteration"]["completed"],
        true
    );
}

#[test]
fn the_phase_of_the_workflow_goes_before_the_top_level_one() {
    let mut state = running("06-implementation", "in_progress");
    state["current_phase"] = json!("01-requirements");
    let run = with(&state).guard(NAME, &ran("cargo test", json!(summary!("cargo-pass"))));
    tells(&run, "✅ TESTS PASSED (iteration 1)");
}

#[test]
fn tests_of_another_project_prove_nothing_here() {
    let project = project();
    project
        .guard(
            NAME,
            &ran("cd /tmp && cargo test", json!(summary!("cargo-pass"))),
        )
        .says_nothing();
}

#[test]
fn secrets_of_a_command_do_not_reach_the_state() {
    let project = project();
    project.guard(
        NAME,
        &ran("NPM_TOKEN=hunter2 npm test", json!(summary!("jest-pass"))),
    );
    assert!(!project.read(".isdlc/state.json").contains("hunter2"));
}

#[test]
fn tw_005_a_record_of_another_kind_is_replaced_and_noted() {
    let mut state = running("06-implementation", "in_progress");
    state["phases"]["06-implementation"]["iteration_requirements"] =
        json!({ "test_iteration": "done" });
    let project = with(&state);
    let run = project.guard(NAME, &ran("cargo test", json!(summary!("cargo-pass"))));
    assert!(
        run.stderr.starts_with("[SELF-HEAL] test-watcher: "),
        "{run:?}"
    );
    assert_eq!(record(&project)["completed"], true);
    // So are its parts.
    let mut now = super::state(&project);
    let tests = &mut now["phases"]["06-implementation"]["iteration_requirements"]["test_iteration"];
    tests["history"] = json!("long");
    tests["current_iteration"] = json!("one");
    project.file(".isdlc/state.json", now.to_string());
    project.guard(NAME, &ran("cargo test", json!(summary!("cargo-pass"))));
    assert_eq!(record(&project)["history"].as_array().unwrap().len(), 1);
    assert_eq!(record(&project)["current_iteration"], 1);
}

/// D3: a tool's result is `tool_response` in today's agents; the original read only `tool_result`.
#[test]
fn d3_a_run_that_is_delivered_twice_counts_once() {
    let project = project();
    let mut event = failed("cargo test", "Error: it broke");
    event["tool_use_id"] = json!("toolu_1");
    project.hook(&event);
    project.hook(&event);
    assert_eq!(record(&project)["current_iteration"], 1);
}

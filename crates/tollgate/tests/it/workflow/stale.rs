//! A pass of tests is one of the tree it was seen on, and goes stale when that changes.

use serde_json::{Value, json};

use super::bench::Bench;
use crate::events::{Event as _, bash, task};

const PHASE: &str = "06-implementation";
const COMPLETE: [&str; 4] = ["phase", "complete", "--summary", "x"];

/// A project with code in it, in a phase that asks for tests.
fn bench() -> Bench {
    let bench = Bench::with_phases(&[PHASE, "08-code-review"]);
    let requirements =
        json!({ "phase_requirements": { PHASE: { "test_iteration": { "enabled": true } } } });
    let project = &bench.project;
    project.file(
        ".claude/hooks/config/iteration-requirements.json",
        requirements.to_string(),
    );
    project.file("docs/isdlc/tasks.md", "# Tasks\n");
    project.file("src/lib.rs", "pub fn one() {}\n");
    project.file("src/other.rs", "pub fn two() {}\n");
    bench.ok(&["workflow", "start", "t", "x"]);
    bench.begin();
    bench
}

/// The agent runs the tests, which pass.
fn pass(bench: &Bench) {
    let event = bash("cargo test")
        .in_session("s")
        .in_directory(bench.root())
        .printed("test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n");
    let run = bench.hook(&event);
    assert!(run.stdout.contains("TESTS PASSED"), "{run:?}");
}

fn record(bench: &Bench) -> Value {
    bench.state()["phases"][PHASE]["iteration_requirements"]["test_iteration"].clone()
}

/// Both doors of the gate say this, or let the work through.
#[track_caller]
fn both_say(bench: &Bench, what: &str) {
    let advance = task("sdlc-orchestrator", "advance to the next phase");
    let reason = bench
        .project
        .guard("gate-blocker", &advance)
        .blocks("GATE BLOCKED: Iteration requirements not satisfied");
    assert!(reason.contains(what), "{reason}");
    let said = bench.refused(1, &COMPLETE);
    assert!(said.contains(what), "{said}");
}

#[test]
fn code_that_changed_since_the_tests_passed_keeps_the_gate_closed() {
    let bench = bench();
    pass(&bench);
    assert_eq!(record(&bench)["verified_tree"].as_str().unwrap().len(), 40);
    let file = |path: &str, text: &str| bench.file(path, text);
    // By whatever route: here nobody was asked.
    file("src/lib.rs", "pub fn one() { panic!() }\n");
    both_say(
        &bench,
        "Test iteration is out of date: 1 file changed since the tests passed (src/lib.rs). Run the tests again.",
    );
    // What was removed, and what is new, is another tree as well.
    file("src/lib.rs", "pub fn one() {}\n");
    std::fs::remove_file(bench.path("src/other.rs")).unwrap();
    both_say(
        &bench,
        "1 file changed since the tests passed (src/other.rs)",
    );
    file("src/other.rs", "pub fn two() {}\n");
    file("src/new.rs", "pub fn three() {}\n");
    both_say(&bench, "1 file changed since the tests passed (src/new.rs)");
    pass(&bench);
    bench.complete();
}

#[test]
fn what_no_test_can_see_makes_no_pass_stale() {
    let bench = bench();
    pass(&bench);
    let file = |path: &str, text: &str| bench.file(path, text);
    file("README.md", "# Another\n");
    file("docs/requirements/REQ-1/design.md", "# Design\n");
    file(".claude/notes.json", "{}");
    // Written anew and committed, it is the same work.
    file("src/lib.rs", "pub fn one() {}\n");
    bench.git(&["add", "src"]);
    bench.git(&["commit", "-q", "-m", "work"]);
    let advance = task("sdlc-orchestrator", "advance to the next phase");
    bench.guard("gate-blocker", &advance).allows();
    bench.complete();
}

#[test]
fn a_pass_without_a_tree_is_taken_as_it_stands() {
    let bench = bench();
    bench.edit(|state| {
        state["phases"][PHASE]["iteration_requirements"] = json!({ "test_iteration":
            { "completed": true, "current_iteration": 1, "last_test_result": "passed" } });
    });
    bench
        .project
        .file("src/lib.rs", "pub fn one() { panic!() }\n");
    bench.complete();
}

#[test]
fn where_git_lost_the_tree_the_person_is_told() {
    let bench = bench();
    pass(&bench);
    bench.edit(|state| {
        state["phases"][PHASE]["iteration_requirements"]["test_iteration"]["verified_tree"] =
            json!("0123456789012345678901234567890123456789");
    });
    let advance = task("sdlc-orchestrator", "advance to the next phase")
        .in_session("s")
        .in_directory(bench.root())
        .with("transcript_path", "/t");
    let run = bench.guard("gate-blocker", &advance);
    assert!(
        run.stdout
            .contains("git cannot tell what changed since the tests passed"),
        "{run:?}"
    );
    assert!(!run.stdout.contains("deny"), "{run:?}");
}

#[test]
fn an_agent_cannot_say_that_the_tests_passed_on_another_tree() {
    let bench = bench();
    pass(&bench);
    let event = |name: &str| {
        json!({ "hook_event_name": name, "session_id": "s", "transcript_path": "/t",
            "cwd": bench.root(), "prompt": "x" })
    };
    bench.hook(&event("UserPromptSubmit"));
    let tree = record(&bench)["verified_tree"].clone();
    for lie in [
        json!("1123456789012345678901234567890123456789"),
        Value::Null,
    ] {
        let mut state = bench.state();
        let tests = &mut state["phases"][PHASE]["iteration_requirements"]["test_iteration"];
        if lie.is_null() {
            tests.as_object_mut().unwrap().remove("verified_tree");
        } else {
            tests["verified_tree"] = lie.clone();
        }
        state["state_version"] = json!(state["state_version"].as_u64().unwrap() + 1);
        bench
            .project
            .file(super::bench::STATE, format!("{state:#}\n"));
        let mut next = event("PostToolUse");
        next["tool_name"] = json!("Bash");
        next["tool_input"] = json!({ "command": "ls" });
        next["tool_response"] = json!({ "stdout": "" });
        let run = bench.hook(&next);
        assert_eq!(record(&bench)["verified_tree"], tree, "{lie}: {run:?}");
    }
}

#[test]
fn a_git_that_does_not_answer_holds_nobody_up() {
    let bench = bench();
    // Git reads it wherever it is, and waits for somebody to write.
    std::fs::create_dir_all(bench.project.path("deep")).unwrap();
    bench.file("deep/a.txt", "a\n");
    crate::project::pipe(&bench.project.path("deep/.gitignore"));
    let begun = std::time::Instant::now();
    pass(&bench);
    assert!(begun.elapsed().as_secs() < 60);
    assert_eq!(record(&bench)["completed"], true);
    assert_eq!(record(&bench)["verified_tree"], Value::Null);
}

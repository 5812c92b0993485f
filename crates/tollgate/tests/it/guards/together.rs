//! The guards of one event together: their order, and one write for all of them.

use serde_json::{Value, json};

use super::{skill, state, with_requirements};
use crate::events::{bash, task};
use crate::project::{TestProject, running};

fn required() -> Value {
    json!({ "phase_requirements": { "06-implementation": {
        "timeout_minutes": 1,
        "test_iteration": { "enabled": true },
        "constitutional_validation": { "enabled": true, "articles": ["I"] },
    } } })
}

fn project(tests: &Value) -> TestProject {
    let mut state = running("06-implementation", "in_progress");
    state["phases"]["06-implementation"]["started"] = json!(super::minutes_ago(30));
    state["phases"]["06-implementation"]["iteration_requirements"] =
        json!({ "test_iteration": tests });
    let project = with_requirements(&state, &required());
    project.file("docs/isdlc/tasks.md", "");
    project
}

#[test]
fn a_task_meets_the_corridor_before_the_gate_and_the_gate_before_the_constitution() {
    let ask = task(
        "sdlc-orchestrator",
        "Phase complete: advance to the next phase",
    );
    let failing = project(&json!({ "last_test_result": "failed" }));
    let run = failing.hook(&ask);
    assert!(
        run.stderr
            .starts_with("TIMEOUT WARNING: Phase '06-implementation'"),
        "{run:?}"
    );
    run.blocks("ITERATION CORRIDOR: Tests are failing");
    assert_eq!(
        state(&failing)["state_version"],
        2,
        "one event is one write"
    );
    let open = project(&json!({ "last_test_result": "passed" }));
    open.hook(&ask)
        .blocks("GATE BLOCKED: Iteration requirements");
    assert_eq!(state(&open)["state_version"], 2);
    let words = task("general-purpose", "Implementation complete");
    let run = open.hook(&words);
    run.blocks("PHASE COMPLETION BLOCKED");
}

#[test]
fn a_delegation_out_of_order_is_told_before_the_gate() {
    let project = project(&json!({ "last_test_result": "passed" }));
    project
        .hook(&task("qa-engineer", "advance through the gate"))
        .blocks("OUT-OF-ORDER PHASE DELEGATION");
}

#[test]
fn a_skill_meets_the_gate_before_the_record_of_the_constitution() {
    let project = project(&json!({ "last_test_result": "passed" }));
    let mut now = state(&project);
    now["phases"]["06-implementation"]["constitutional_validation"] = json!({});
    project.file(".isdlc/state.json", now.to_string());
    project
        .hook(&skill("isdlc", "advance"))
        .blocks("GATE BLOCKED");
    now["iteration_enforcement"] = json!({});
    now["phases"]["06-implementation"]["iteration_requirements"] =
        json!({ "test_iteration": { "completed": true, "current_iteration": 1 } });
    now["phases"]["06-implementation"]["constitutional_validation"] =
        json!({ "completed": true, "status": "compliant", "iterations_used": 1 });
    project.file(".isdlc/state.json", now.to_string());
    project
        .hook(&skill("isdlc", "advance"))
        .blocks("CONSTITUTIONAL VALIDATION INCOMPLETE");
}

#[test]
fn while_exploring_the_state_write_is_still_validated() {
    let project =
        TestProject::new().state(&json!({ "chat_explore_active": true, "state_version": 5 }));
    let write = |path: &str| json!({ "tool_name": "Write", "tool_input": { "file_path": path, "content": "{\"state_version\":3}" } });
    project
        .hook(&write("a.txt"))
        .blocks("CHAT/EXPLORE READ-ONLY");
    project
        .hook(&write(".isdlc/state.json"))
        .blocks("Version mismatch");
}

#[test]
fn one_command_two_guards() {
    let project = TestProject::new()
        .state(&json!({ "active_workflow": { "git_branch": { "name": "feature/x", "status": "active" } } }))
        .on_branch("main");
    project
        .hook(&bash("git commit -m x && rm .isdlc/state.json"))
        .blocks("COMMIT TO MAIN");
    project
        .hook(&bash("git status && rm .isdlc/state.json"))
        .blocks("BASH STATE GUARD");
}

#[test]
fn an_allowed_event_leaves_the_state_alone() {
    let done = json!({ "completed": true, "current_iteration": 1 });
    let project = project(&done);
    let before = project.read(".isdlc/state.json");
    project
        .hook(&task("software-developer", "build it"))
        .allows();
    project.hook(&skill("isdlc", "status")).says_nothing();
    assert_eq!(project.read(".isdlc/state.json"), before);
}

//! Rules of facts §1 that concern several guards, or that stand in no other file.

use serde_json::{Value, json};

use super::{ADVANCE, in_phase, skill, state, with_requirements};
use crate::events::{self, bash, task};
use crate::project::{TestProject, running, with_branch};
use crate::recorders::ran;

/// The last line of the specification's log.
#[track_caller]
fn logged(project: &TestProject) -> Value {
    let log = project.read(".isdlc/hook-activity.log");
    serde_json::from_str(log.lines().last().unwrap_or_default()).unwrap_or_else(|_| panic!("{log}"))
}

fn write(project: &TestProject, content: &Value) -> Value {
    events::write(project.path(".isdlc/state.json"), &content.to_string())
}

/// R29: blocks of some guards were not logged, and details were dropped.
#[test]
fn r29_every_block_is_in_the_log_with_its_phase_and_agent() {
    let requirement = json!({ "test_iteration": { "enabled": true } });
    let gate = || in_phase("06-implementation", &requirement, &json!({}));
    let mut upgrade = running("15-upgrade-plan", "in_progress");
    upgrade["discovery_context"] = json!({ "coverage_summary": { "total_tests": 0 } });
    let mut open = running("06-implementation", "in_progress");
    open["phases"]["06-implementation"]["constitutional_validation"] = json!({});
    let versioned = TestProject::new().state(&json!({ "state_version": 9 }));
    let stale = write(&versioned, &json!({ "state_version": 7 }));
    let owes = json!({ "pending_delegation": { "skill": "isdlc", "required_agent": "sdlc-orchestrator",
        "invoked_at": super::minutes_ago(1), "args": "feature x" } });
    for (guard, project, event, phase, agent) in [
        (
            "phase-loop-controller",
            TestProject::new().state(&running("06-implementation", "pending")),
            task("software-developer", "x"),
            Some("06-implementation"),
            Some("software-developer"),
        ),
        (
            "phase-sequence-guard",
            TestProject::new().state(&running("03-architecture", "in_progress")),
            task("software-developer", "x"),
            Some("03-architecture"),
            Some("software-developer"),
        ),
        (
            "plan-surfacer",
            TestProject::new().state(&running("06-implementation", "in_progress")),
            task("software-developer", "x"),
            Some("06-implementation"),
            None,
        ),
        (
            "gate-blocker",
            gate(),
            task("sdlc-orchestrator", ADVANCE),
            Some("06-implementation"),
            None,
        ),
        (
            "constitutional-iteration-validator",
            TestProject::new().state(&open),
            skill("isdlc", "advance"),
            Some("06-implementation"),
            None,
        ),
        (
            "test-adequacy-blocker",
            TestProject::new().state(&upgrade),
            task("upgrade-engineer", "x"),
            Some("15-upgrade-plan"),
            None,
        ),
        (
            "branch-guard",
            TestProject::new()
                .state(&with_branch("active"))
                .on_branch("main"),
            bash("git commit -m x"),
            None,
            None,
        ),
        (
            "state-file-guard",
            TestProject::new(),
            bash("rm .isdlc/state.json"),
            None,
            None,
        ),
        (
            "explore-readonly-enforcer",
            TestProject::new().state(&json!({ "chat_explore_active": true })),
            events::write("a.rs", ""),
            None,
            None,
        ),
        ("state-write-validator", versioned, stale, None, None),
        (
            "delegation-gate",
            TestProject::new().state(&owes),
            json!({ "stop_hook_active": false }),
            None,
            Some("sdlc-orchestrator"),
        ),
    ] {
        let run = project.guard(guard, &event);
        assert!(!run.stdout.is_empty(), "{guard} {run:?}");
        let line = logged(&project);
        assert_eq!(line["hook"], guard);
        assert_eq!(line["event"], "block", "{guard}");
        assert_eq!(line["phase"], json!(phase), "{guard}");
        assert_eq!(line["agent"], json!(agent), "{guard}");
        assert!(line["reason"].is_string(), "{guard}");
    }
}

#[test]
fn rule_1_11_the_logs_reason_names_the_plans_path() {
    let project = TestProject::new().state(&running("06-implementation", "in_progress"));
    project.guard("plan-surfacer", &task("software-developer", "x"));
    let expected = project.path("docs/isdlc/tasks.md");
    let reason = format!("No tasks.md found at {}", expected.display());
    assert_eq!(logged(&project)["reason"], json!(reason));
}

#[test]
fn without_a_phase_nothing_is_asked_of_it() {
    let mut nowhere = running("06-implementation", "in_progress");
    nowhere["current_phase"] = json!(null);
    nowhere["active_workflow"]["current_phase"] = json!("");
    let config = json!({ "phase_requirements": { "06-implementation": {
        "test_iteration": { "enabled": true }, "constitutional_validation": { "enabled": true } } } });
    let project = with_requirements(&nowhere, &config);
    for event in [
        task("sdlc-orchestrator", ADVANCE),
        task("general-purpose", "phase complete"),
        task("software-developer", "x"),
        skill("isdlc", "advance"),
        ran("cargo test", json!("test result: ok. 1 passed; 0 failed")),
    ] {
        project.hook(&event);
        assert_eq!(project.codes(), Vec::<String>::new(), "{event}");
    }
    // A workflow that does not say it is in the phase that the project says it is in.
    nowhere["current_phase"] = json!("06-implementation");
    let project = with_requirements(&nowhere, &config);
    project
        .guard("gate-blocker", &task("sdlc-orchestrator", ADVANCE))
        .blocks(
            "GATE BLOCKED: Iteration requirements not satisfied for phase '06-implementation'.",
        );
}

#[test]
fn rules_1_18_5_and_6_commits_on_the_workflows_branch() {
    let project = TestProject::committing_late("06-implementation", "feature/x");
    let reason = project
        .guard("branch-guard", &bash("git commit -m x"))
        .blocks("COMMIT BLOCKED (Phase: 06-implementation): Commits are not allowed on the workflow branch during intermediate phases.");
    assert!(reason.contains("orchestrator"), "{reason}");
    assert!(
        reason.ends_with("Current phase:  06-implementation\nCurrent branch: feature/x\nFinal phase:    08-code-review"),
        "{reason}"
    );
    assert_eq!(logged(&project)["phase"], "06-implementation");
    for (key, value) in [
        ("current_phase", json!(null)),
        ("phases", json!([])),
        ("phases", json!("08-code-review")),
    ] {
        let mut free = state(&project);
        free["active_workflow"][key] = value;
        TestProject::new()
            .state(&free)
            .commits_in_last_phase_only()
            .on_branch("feature/x")
            .guard("branch-guard", &bash("git commit -m x"))
            .says_nothing();
    }
}

#[test]
fn rule_1_21_1_a_stop_without_an_event_is_free() {
    let owes = json!({ "pending_delegation": { "skill": "isdlc", "required_agent": "sdlc-orchestrator",
        "invoked_at": super::minutes_ago(1), "args": "feature x" } });
    for input in [&b""[..], b" \n", b"no json", b"[1"] {
        let project = TestProject::new().state(&owes);
        let args = ["hook", "--guard", "delegation-gate", "--event", "Stop"];
        project.run(&args, input).allows();
        assert!(state(&project)["pending_delegation"].is_object());
    }
}

#[test]
fn rule_1_31_v9_looks_at_the_file_after_an_edit() {
    let split = json!({ "current_phase": "a", "active_workflow": { "current_phase": "b" } });
    let project = TestProject::new().state(&split);
    let edit = json!({ "tool_name": "Edit", "tool_input": {
        "file_path": project.path(".isdlc/state.json"), "old_string": "x", "new_string": "y" } });
    let said = project.guard("state-write-validator", &edit).warns(
        "[state-write-validator] V9-B WARNING: current_phase is 'a' but active_workflow.current_phase is 'b'.",
    );
    assert_eq!(said.lines().count(), 1, "{said}");
    assert_eq!(logged(&project)["event"], "warn");
}

#[test]
fn rule_1_6_after_a_command_every_guard_speaks() {
    let mut now = running("06-implementation", "in_progress");
    now["active_workflow"]["options"] = json!({ "atdd_mode": true });
    now["code_review"] = json!({ "enabled": false, "team_size": 3 });
    let config = json!({ "phase_requirements": { "06-implementation": { "test_iteration": { "enabled": true } } } });
    let project = with_requirements(&now, &config).on_branch("feature/x");
    let output = "not ok 1 - P0 login\nok 2 - P1 logout\n# tests 2\n# pass 1\n# fail 1\n";
    let event = ran("git commit -m x && node --test", json!(output));
    let run = project.guard("post-bash-dispatcher", &event);
    assert!(
        run.stdout.contains("❌ TESTS FAILED (iteration 1/10)"),
        "{run:?}"
    );
    assert_eq!(project.codes(), ["RR-001", "ACV-001"], "{run:?}");
    assert_eq!(state(&project)["state_version"], 2, "one write");
}

#[test]
fn rule_1_7_after_a_write_every_guard_speaks_and_no_decision_is_lost() {
    let project = TestProject::new().state(&running("01-requirements", "in_progress"));
    let path = project.file("docs/adr-7.md", "status");
    let event = json!({ "tool_name": "Write", "tool_result": "ok",
        "tool_input": { "file_path": path, "content": "status" } });
    project
        .guard("post-write-edit-dispatcher", &event)
        .warns("ARTIFACT FORMAT WARNING: ");
    let fabricated = json!({ "state_version": 1, "phases": { "p": { "constitutional_validation": { "completed": true } } } });
    let project = TestProject::new().state(&fabricated);
    let mut event = write(&project, &fabricated);
    event["tool_result"] = json!("ok");
    project
        .guard("post-write-edit-dispatcher", &event)
        .warns("[state-write-validator] WARNING: Suspicious state.json write detected.");
    // Before the write its decision counts, whoever asks.
    let project = TestProject::new().state(&json!({ "state_version": 9 }));
    project
        .hook(&write(&project, &json!({ "state_version": 7 })))
        .blocks("Version mismatch");
}

#[test]
fn rule_1_4_before_a_skill_the_guards_run_in_their_order_and_only_in_a_workflow() {
    let requirement = json!({ "test_iteration": { "enabled": true } });
    let failing = json!({ "iteration_requirements": { "test_iteration": {
        "completed": false, "last_test_result": "failed" } }, "constitutional_validation": {} });
    let project = in_phase("06-implementation", &requirement, &failing);
    let advance = skill("isdlc", "advance");
    project
        .guard("pre-skill-dispatcher", &advance)
        .blocks("ITERATION CORRIDOR: Tests are failing");
    let mut idle = state(&project);
    idle["active_workflow"] = json!(null);
    project.file(".isdlc/state.json", idle.to_string());
    project
        .guard("pre-skill-dispatcher", &advance)
        .says_nothing();
}

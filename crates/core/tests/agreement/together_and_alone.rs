//! The whole hook and each guard alone come to the same decisions: no guard depends on another
//! having run before it, and none is lost on the way.

use std::cell::Cell;
use std::path::Path;

use jiff::Timestamp;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use tollgate_core::env::Env;
use tollgate_core::fs::{Durability, replace};
use tollgate_core::guard::{GUARDS, Guard, judge};
use tollgate_core::project::Layout;
use tollgate_core::protocol::{self, Hints};
use tollgate_core::scene::{Scene, Sources};
use tollgate_core::verdict::Outcome;

const PHASES: [&str; 5] = [
    "01-requirements",
    "06-implementation",
    "13-test-deploy",
    "15-upgrade-plan",
    "08-code-review",
];
const STATUSES: [&str; 4] = ["pending", "in_progress", "completed", "odd"];

fn states() -> impl Strategy<Value = Value> {
    let phase = prop::sample::select(&PHASES[..]);
    let status = prop::sample::select(&STATUSES[..]);
    let flags = (
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        0..6_u64,
    );
    (phase, status, flags).prop_map(|(phase, status, (workflow, explore, failed, done, index))| {
        json!({
            "state_version": 7,
            "current_phase": phase,
            "chat_explore_active": explore,
            "iteration_enforcement": { "enabled": true },
            "active_workflow": if workflow { json!({
                "type": "feature", "current_phase": phase, "current_phase_index": index,
                "phases": PHASES, "phase_status": { phase: status },
                "git_branch": { "name": "feature/x", "status": "active" },
            }) } else { Value::Null },
            "phases": { phase: {
                "status": status,
                "constitutional_validation": { "completed": done },
                "iteration_requirements": { "test_iteration": {
                    "completed": done, "last_test_result": if failed { "failed" } else { "passed" },
                    "current_iteration": index,
                } },
            } },
            "discovery_context": { "walkthrough_completed": done },
            "pending_delegation": if explore { json!({ "skill": "isdlc", "required_agent": "sdlc-orchestrator",
                "invoked_at": "2026-11-15T00:00:00.000Z", "args": "feature x" }) } else { Value::Null },
        })
    })
}

fn events() -> impl Strategy<Value = Value> {
    let agent = prop::sample::select(vec![
        "software-developer",
        "qa-engineer",
        "sdlc-orchestrator",
        "Explore",
        "",
        "discover-orchestrator",
    ]);
    let prompt = prop::sample::select(vec![
        "build it",
        "advance to the next phase",
        "phase complete",
        "gate check",
        "discover",
        "Phase key: 06-implementation",
        "status",
        "Please choose what to do now: [1] New project [2] Scoped analysis and more",
    ]);
    let command = prop::sample::select(vec![
        "ls",
        "git commit -m x",
        "cargo test",
        "echo {} > .isdlc/state.json",
        "npm test",
        "git status",
    ]);
    let file = prop::sample::select(vec![
        ".isdlc/state.json",
        "src/lib.rs",
        "docs/test-strategy.md",
    ]);
    let content = prop::sample::select(vec!["{}", "{\"state_version\":3}", "fn main() {}", "x"]);
    let args = prop::sample::select(vec![
        "advance",
        "gate-check",
        "analyze the gate",
        "status",
        "",
    ]);
    let result = prop::sample::select(vec![
        Value::Null,
        json!("done"),
        json!({ "stdout": "test result: FAILED. 1 passed; 2 failed", "stderr": "" }),
        json!("Please choose what to do now: [1] New project [2] Scoped analysis and more"),
    ]);
    let tool = prop_oneof![
        (agent, prompt).prop_map(|(agent, prompt)| json!({ "tool_name": "Task",
            "tool_input": { "subagent_type": agent, "prompt": prompt } })),
        command.prop_map(
            |command| json!({ "tool_name": "Bash", "tool_input": { "command": command } })
        ),
        (file.clone(), content).prop_map(|(file, content)| json!({ "tool_name": "Write",
            "tool_input": { "file_path": file, "content": content } })),
        file.prop_map(|file| json!({ "tool_name": "Edit",
            "tool_input": { "file_path": file, "old_string": "7", "new_string": "3" } })),
        args.prop_map(
            |args| json!({ "tool_name": "Skill", "tool_input": { "skill": "isdlc", "args": args } })
        ),
        Just(json!({ "stop_hook_active": false, "hook_event_name": "Stop" })),
    ];
    (tool, result, any::<bool>()).prop_map(|(mut event, result, after)| {
        if event.get("hook_event_name").is_none() {
            event["hook_event_name"] = json!(if after { "PostToolUse" } else { "PreToolUse" });
            if after {
                event["tool_response"] = result;
            }
        }
        event
    })
}

fn decide<'g>(root: &Path, event: &str, guards: impl IntoIterator<Item = &'g Guard>) -> Outcome {
    let event = protocol::parse(event, &Hints::default()).unwrap();
    let sources = Sources::new(
        Layout::at(root).unwrap(),
        Env::default(),
        None,
        Timestamp::UNIX_EPOCH,
    );
    judge(&Scene::new(&event, &sources), guards)
}

/// What the guards say one after the other, each having seen nothing of the others.
fn one_by_one(root: &Path, event: &str) -> Outcome {
    let mut whole = Outcome::default();
    for guard in GUARDS {
        let alone = decide(root, event, [guard]);
        whole.warnings.extend(alone.warnings);
        whole.notes.extend(alone.notes);
        whole.guidance.extend(alone.guidance);
        whole.edits.extend(alone.edits);
        if alone.block.is_some() {
            whole.block = alone.block;
            break;
        }
    }
    whole
}

#[test]
fn ten_thousand_events_are_decided_alike_together_and_alone() {
    const STATES: u32 = 50;
    const EVENTS: u32 = 200;
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    for folder in [".isdlc/config", ".git", "docs/isdlc"] {
        std::fs::create_dir_all(root.join(folder)).unwrap();
    }
    let put = |path: &str, text: &str| {
        replace(&root.join(path), text.as_bytes(), Durability::Lazy).unwrap();
    };
    put(".git/HEAD", "ref: refs/heads/main\n");
    put("docs/isdlc/tasks.md", "");
    put(
        ".isdlc/config/skills-manifest.json",
        r#"{"ownership":{
        "software-developer":{"phase":"06-implementation"},"qa-engineer":{"phase":"08-code-review"},
        "sdlc-orchestrator":{"phase":"all"},"discover-orchestrator":{"phase":"setup"}}}"#,
    );
    put(
        ".isdlc/config/iteration-requirements.json",
        r#"{"phase_requirements":{
        "06-implementation":{"test_iteration":{"enabled":true,"max_iterations":10},
            "constitutional_validation":{"enabled":true,"articles":["I"]},
            "agent_delegation_validation":{"enabled":true}},
        "01-requirements":{"interactive_elicitation":{"enabled":true,"min_menu_interactions":3}}}}"#,
    );
    let blocks = Cell::new(0_u32);
    let mut runner = TestRunner::new(Config {
        cases: STATES,
        failure_persistence: None,
        ..Config::default()
    });
    runner
        .run(&states(), |state| {
            put(".isdlc/state.json", &state.to_string());
            let mut inner = TestRunner::new(Config {
                cases: EVENTS,
                failure_persistence: None,
                ..Config::default()
            });
            inner
                .run(&events(), |event| {
                    let event = event.to_string();
                    let together = decide(root, &event, GUARDS);
                    blocks.set(blocks.get() + u32::from(together.block.is_some()));
                    prop_assert_eq!(together, one_by_one(root, &event), "{}", event);
                    Ok(())
                })
                .map_err(|error| TestCaseError::fail(error.to_string()))
        })
        .unwrap();
    let blocks = blocks.get();
    println!("{} events, {blocks} blocked", STATES * EVENTS);
    assert!(
        blocks > 500,
        "only {blocks} of the events were blocked: they prove little"
    );
}

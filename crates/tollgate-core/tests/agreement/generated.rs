//! Random states and events, in which guards of every kind have something to say.

use proptest::prelude::*;
use serde_json::{Value, json};

/// The files of the project they happen in, but for its state.
pub(crate) const FILES: [(&str, &str); 4] = [
    (".git/HEAD", "ref: refs/heads/main\n"),
    ("docs/isdlc/tasks.md", ""),
    (
        ".isdlc/config/skills-manifest.json",
        r#"{"ownership":{
        "software-developer":{"phase":"06-implementation"},"qa-engineer":{"phase":"08-code-review"},
        "upgrade-engineer":{"phase":"15-upgrade"},
        "sdlc-orchestrator":{"phase":"all"},"discover-orchestrator":{"phase":"setup"}}}"#,
    ),
    (
        ".isdlc/config/iteration-requirements.json",
        r#"{"phase_requirements":{
        "06-implementation":{"test_iteration":{"enabled":true,"max_iterations":10},
            "constitutional_validation":{"enabled":true,"articles":["I"]},
            "agent_delegation_validation":{"enabled":true}},
        "01-requirements":{"interactive_elicitation":{"enabled":true,"min_menu_interactions":3}}}}"#,
    ),
];

pub(crate) const PHASES: [&str; 5] = [
    "01-requirements",
    "06-implementation",
    "13-test-deploy",
    "15-upgrade-plan",
    "08-code-review",
];
const STATUSES: [&str; 4] = ["pending", "in_progress", "completed", "odd"];

/// States in which the last command was loaded at `loaded`.
pub(crate) fn states(loaded: &str) -> impl Strategy<Value = Value> {
    let phase = prop::sample::select(&PHASES[..]);
    let status = prop::sample::select(&STATUSES[..]);
    let flags = (
        prop::bool::weighted(0.8),
        prop::bool::weighted(0.3),
        any::<bool>(),
        any::<bool>(),
        0..6_u64,
    );
    let others = (any::<bool>(), any::<bool>(), 0..100_u64);
    (phase, status, flags, others).prop_map(move |(phase, status, flags, (owes, at_place, covered))| {
        let (workflow, explore, failed, done, index) = flags;
        // Half of them stand where their index says.
        let place = PHASES.iter().position(|known| *known == phase).unwrap_or_default() as u64;
        let index = if at_place { place } else { index };
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
            "discovery_context": { "walkthrough_completed": done,
                "coverage_summary": { "total_tests": 10, "unit_test_pct": covered } },
            "pending_delegation": if owes { json!({ "skill": "isdlc", "required_agent": "sdlc-orchestrator",
                "invoked_at": loaded, "args": "feature x" }) } else { Value::Null },
        })
    })
}

pub(crate) fn events() -> impl Strategy<Value = Value> {
    let agent = prop::sample::select(vec![
        "software-developer",
        "qa-engineer",
        "upgrade-engineer",
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
        6 => (agent, prompt).prop_map(|(agent, prompt)| json!({ "tool_name": "Task",
            "tool_input": { "subagent_type": agent, "prompt": prompt } })),
        2 => command.prop_map(
            |command| json!({ "tool_name": "Bash", "tool_input": { "command": command } })
        ),
        1 => (file.clone(), content).prop_map(|(file, content)| json!({ "tool_name": "Write",
            "tool_input": { "file_path": file, "content": content } })),
        1 => file.prop_map(|file| json!({ "tool_name": "Edit",
            "tool_input": { "file_path": file, "old_string": "7", "new_string": "3" } })),
        3 => args.prop_map(
            |args| json!({ "tool_name": "Skill", "tool_input": { "skill": "isdlc", "args": args } })
        ),
        2 => Just(json!({ "stop_hook_active": false, "hook_event_name": "Stop" })),
    ];
    (tool, result, prop::bool::weighted(0.35)).prop_map(|(mut event, result, after)| {
        if event.get("hook_event_name").is_none() {
            event["hook_event_name"] = json!(if after { "PostToolUse" } else { "PreToolUse" });
            if after {
                event["tool_response"] = result;
            }
        }
        event
    })
}

//! Five agents, one rule: each is stopped in its own dialect by the real program.

use serde_json::{Value, json};

use crate::context::{Project, with_branch};

#[test]
fn a_commit_to_main_is_stopped_in_every_dialect() {
    let project = Project::new()
        .state(&with_branch("active"))
        .on_branch("main");
    let root = project.root();
    let command = json!({ "command": "git commit -m x" });
    let claude = json!({
        "session_id": "s", "transcript_path": "/t", "cwd": root, "hook_event_name": "PreToolUse",
        "permission_mode": "default", "tool_name": "Bash", "tool_input": command, "tool_use_id": "t",
    });
    let codex = json!({
        "session_id": "s", "turn_id": "t", "model": "m", "transcript_path": null, "cwd": root,
        "hook_event_name": "PreToolUse", "permission_mode": "default", "tool_name": "Bash",
        "tool_input": command, "tool_use_id": "t",
    });
    let gemini = json!({
        "session_id": "s", "transcript_path": "/t", "cwd": root, "hook_event_name": "BeforeTool",
        "timestamp": "2026-11-15T00:00:00Z", "tool_name": "run_shell_command", "tool_input": command,
    });
    let copilot = json!({
        "sessionId": "s", "timestamp": 1, "cwd": root, "toolName": "bash", "toolArgs": command.to_string(),
    });
    let cursor = json!({
        "conversation_id": "c", "generation_id": "g", "model": "m", "hook_event_name": "beforeShellExecution",
        "cursor_version": "1", "workspace_roots": [root], "command": "git commit -m x", "cwd": root,
    });
    let reason_at: [(&str, Value, &str); 5] = [
        (
            "claude",
            claude,
            "/hookSpecificOutput/permissionDecisionReason",
        ),
        (
            "codex",
            codex,
            "/hookSpecificOutput/permissionDecisionReason",
        ),
        ("gemini", gemini, "/reason"),
        ("copilot", copilot, "/permissionDecisionReason"),
        ("cursor", cursor, "/agent_message"),
    ];
    for (agent, event, pointer) in reason_at {
        let run = project.hook(&event);
        assert_eq!(run.code, 0, "{agent} {run:?}");
        let answer: Value =
            serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{agent} {run:?}"));
        let reason = answer
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default();
        assert!(
            reason.starts_with("COMMIT TO MAIN BLOCKED"),
            "{agent} {answer}"
        );
        assert!(answer.get("continue").is_none(), "{agent} {answer}");
    }
    let wires: Vec<_> = project
        .journal()
        .iter()
        .map(|line| line["wire"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(wires, ["claude", "codex", "gemini", "copilot", "cursor"]);
}

#[test]
fn claude_code_hears_a_warning_and_so_does_the_person() {
    let project = Project::new().state(&json!({ "discovery_context": { "x": 1 } }));
    let run = project.hook(&json!({
        "session_id": "s", "transcript_path": "/t", "cwd": project.root(), "hook_event_name": "PostToolUse",
        "tool_name": "Agent", "tool_input": { "subagent_type": "discover-orchestrator", "prompt": "x" },
        "tool_response": { "status": "completed", "content": [{ "type": "text", "text": "done" }] },
    }));
    assert_eq!(run.code, 0);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    let context = answer["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .unwrap();
    assert!(
        context.contains("Discovery completed without constitution walkthrough"),
        "{answer}"
    );
    assert!(
        answer["systemMessage"]
            .as_str()
            .unwrap()
            .contains("walkthrough-tracker"),
        "{answer}"
    );
}

#[test]
fn the_person_reads_what_a_warning_is_about() {
    let project = Project::new().state(&json!({ "state_version": 1 }));
    let claim = json!({ "completed": true, "iterations_used": "3" });
    let content = json!({ "state_version": 1,
        "phases": { "06-implementation": { "constitutional_validation": claim } } });
    let event = json!({
        "session_id": "s", "transcript_path": "/t", "cwd": project.root(),
        "hook_event_name": "PostToolUse", "tool_name": "Write", "tool_response": {},
        "tool_input": { "file_path": ".isdlc/state.json", "content": content.to_string() },
    });
    project.file(".isdlc/state.json", &content.to_string());
    let run = project.hook(&event);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
    let told = answer["systemMessage"].as_str().unwrap();
    let first = "Tollgate: state-write-validator: WARNING: Suspicious state.json write detected.\n";
    assert!(told.starts_with(first), "{told}");
    assert!(told.contains("\n  Phase: 06-implementation\n"), "{told}");
    let issue = "constitutional_validation.completed is true but iterations_used is \"3\"\n";
    assert!(told.contains(issue), "{told}");
}

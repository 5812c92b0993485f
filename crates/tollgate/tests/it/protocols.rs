//! Five agents, one rule: each is stopped in its own dialect by the real program.

use std::path::Path;

use serde_json::{Value, json};

use crate::events::{Event as _, Protocol, bash};
use crate::project::{Run, TestProject, with_branch};

#[test]
fn a_commit_to_main_is_stopped_in_every_dialect() {
    let project = TestProject::new()
        .state(&with_branch("active"))
        .on_branch("main");
    let root = project.root();
    let commit = || bash("git commit -m x").in_directory(root);
    let claude = commit().from(Protocol::ClaudeCode);
    let codex = commit().from(Protocol::Codex);
    let gemini = commit().from(Protocol::Gemini);
    let copilot = commit().from(Protocol::Copilot);
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
    let protocols: Vec<_> = project
        .journal()
        .iter()
        .map(|line| line["wire"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        protocols,
        ["claude", "codex", "gemini", "copilot", "cursor"]
    );
}

#[test]
fn claude_code_hears_a_warning_and_so_does_the_person() {
    let project = TestProject::new().state(&json!({ "discovery_context": { "x": 1 } }));
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
    let project = TestProject::new().state(&json!({ "state_version": 1 }));
    let claim = json!({ "completed": true, "iterations_used": "3" });
    let content = json!({ "state_version": 1,
        "phases": { "06-implementation": { "constitutional_validation": claim } } });
    let event = json!({
        "session_id": "s", "transcript_path": "/t", "cwd": project.root(),
        "hook_event_name": "PostToolUse", "tool_name": "Write", "tool_response": {},
        "tool_input": { "file_path": ".isdlc/state.json", "content": content.to_string() },
    });
    project.file(".isdlc/state.json", content.to_string());
    let run = project.hook(&event);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
    let told = answer["systemMessage"].as_str().unwrap();
    let first = "Tollgate: state-write-validator: WARNING: Suspicious state.json write detected.\n";
    assert!(told.starts_with(first), "{told}");
    assert!(told.contains("\n  Phase: 06-implementation\n"), "{told}");
    let issue = "constitutional_validation.completed is true but iterations_used is \"3\"\n";
    assert!(told.contains(issue), "{told}");
}

/// A project on main with a workflow that has a branch of its own, in its fifth version.
fn guarded() -> (TestProject, String) {
    let mut state = with_branch("active");
    state["state_version"] = json!(5);
    let project = TestProject::new().state(&state).on_branch("main");
    state["state_version"] = json!(1);
    (project, state.to_string())
}

/// The event before a tool in the words of each agent that has such a tool.
fn before(root: &Path, agent: &str, tool: &str, input: &Value) -> Value {
    let mut event = match agent {
        "claude" => json!({
            "session_id": "s", "transcript_path": "/t", "permission_mode": "default",
            "hook_event_name": "PreToolUse", "tool_use_id": "t",
        }),
        "codex" => json!({
            "session_id": "s", "turn_id": "t", "model": "m", "transcript_path": null,
            "hook_event_name": "PreToolUse", "permission_mode": "default", "tool_use_id": "t",
        }),
        "gemini" => json!({
            "session_id": "s", "transcript_path": "/t", "hook_event_name": "BeforeTool",
            "timestamp": "2026-11-15T00:00:00Z",
        }),
        "copilot" => json!({ "sessionId": "s", "timestamp": 1 }),
        "cursor" => json!({
            "conversation_id": "c", "generation_id": "g", "model": "m", "cursor_version": "1",
            "hook_event_name": "preToolUse", "workspace_roots": [root],
        }),
        other => panic!("{other}"),
    };
    let (name, args) = if agent == "copilot" {
        ("toolName", "toolArgs")
    } else {
        ("tool_name", "tool_input")
    };
    event["cwd"] = json!(root);
    event[name] = json!(tool);
    event[args] = input.clone();
    event
}

/// Why the agent is stopped, wherever it looks for that.
fn reason(run: &Run) -> String {
    assert_eq!(run.code, 0, "{run:?}");
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_default();
    [
        "/hookSpecificOutput/permissionDecisionReason",
        "/reason",
        "/permissionDecisionReason",
        "/agent_message",
    ]
    .iter()
    .find_map(|pointer| answer.pointer(pointer)?.as_str())
    .unwrap_or_default()
    .to_owned()
}

#[test]
fn a_commit_is_seen_in_whatever_tool_carries_it() {
    let (project, _) = guarded();
    let commit = "git commit -m x";
    for (agent, tool, input) in [
        ("claude", "PowerShell", json!({ "command": commit })),
        (
            "codex",
            "shell",
            json!({ "command": ["bash", "-lc", commit] }),
        ),
        ("codex", "exec_command", json!({ "cmd": commit })),
        (
            "codex",
            "write_stdin",
            json!({ "session_id": 1, "chars": format!("{commit}\n") }),
        ),
        ("codex", "Bash", json!(commit)),
        (
            "copilot",
            "bash",
            json!({ "command": commit }).to_string().into(),
        ),
        (
            "copilot",
            "write_bash",
            json!({ "shellId": "1", "input": commit }),
        ),
        ("cursor", "MCP:run", json!({ "command": commit })),
    ] {
        let run = project.hook(&before(project.root(), agent, tool, &input));
        let reason = reason(&run);
        assert!(
            reason.starts_with("COMMIT TO MAIN BLOCKED"),
            "{agent} {tool} {run:?}"
        );
    }
    for (agent, tool, input) in [
        (
            "codex",
            "write_stdin",
            json!({ "session_id": 1, "chars": "y\n" }),
        ),
        (
            "copilot",
            "write_bash",
            json!({ "shellId": "1", "input": "{enter}" }),
        ),
        ("copilot", "write_bash", json!({ "shellId": "1" })),
    ] {
        project
            .hook(&before(project.root(), agent, tool, &input))
            .says_nothing();
    }
}

#[test]
fn a_stale_write_of_the_state_is_stopped_in_every_dialect() {
    let (project, stale) = guarded();
    let path = ".isdlc/state.json";
    let (old, new) = ("\"state_version\": 5", "\"state_version\": 1");
    let patch = |removed: &str| {
        format!(
            "*** Begin Patch\n*** Update File: {path}\n@@\n-{removed}\n+  {new}\n*** End Patch\n"
        )
    };
    let exact = patch(&format!("  {old}"));
    // Behind another state file.
    let second = exact.replacen(
        "*** Update",
        "*** Add File: .isdlc/projects/a/state.json\n+{}\n*** Update",
        1,
    );
    for (agent, tool, input) in [
        (
            "claude",
            "Write",
            json!({ "file_path": path, "content": stale }),
        ),
        (
            "claude",
            "mcp__files__edit_file",
            json!({ "path": path, "edits": [{ "oldText": old, "newText": new }] }),
        ),
        ("codex", "apply_patch", json!({ "command": exact })),
        ("codex", "apply_patch", json!({ "command": second })),
        // Codex is content with lines that differ in blanks.
        (
            "codex",
            "apply_patch",
            json!({ "command": patch(&format!("{old} ")) }),
        ),
        (
            "codex",
            "apply_patch",
            json!({ "command": ["apply_patch", exact] }),
        ),
        (
            "gemini",
            "replace",
            json!({ "file_path": path, "old_string": old, "new_string": new }),
        ),
        (
            "copilot",
            "create",
            json!({ "path": path, "file_text": stale })
                .to_string()
                .into(),
        ),
        (
            "copilot",
            "edit",
            json!({ "path": path, "old_str": old, "new_str": new })
                .to_string()
                .into(),
        ),
        ("copilot", "apply_patch", json!(exact)),
        ("copilot", "apply_patch", json!(json!(exact).to_string())),
        (
            "cursor",
            "Write",
            json!({ "path": path, "contents": stale }),
        ),
    ] {
        let run = project.hook(&before(project.root(), agent, tool, &input));
        let reason = reason(&run);
        assert!(
            reason.starts_with("Version mismatch: expected"),
            "{agent} {tool} {run:?}"
        );
    }
}

#[test]
fn no_tool_removes_the_state_or_tollgates_own_files() {
    let (project, _) = guarded();
    project.file(".tollgate/local/journal.jsonl", "");
    let patch =
        |body: &str| json!({ "command": format!("*** Begin Patch\n{body}*** End Patch\n") });
    let heredoc = "apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: .isdlc/state.json\n*** End Patch\nEOF\n";
    for (agent, tool, input, expected) in [
        (
            "codex",
            "apply_patch",
            patch("*** Delete File: .isdlc/state.json\n"),
            "This would remove the workflow's state",
        ),
        (
            "codex",
            "apply_patch",
            patch("*** Update File: .isdlc/state.json\n*** Move to: old.json\n"),
            "This would remove the workflow's state",
        ),
        (
            "codex",
            "Bash",
            json!({ "command": heredoc }),
            "BASH STATE GUARD: Direct writes to state.json",
        ),
        (
            "cursor",
            "Delete",
            json!({ "path": project.path(".isdlc/state.json") }),
            "This would remove the workflow's state",
        ),
        (
            "cursor",
            "delete_file",
            json!({ "target_file": ".tollgate/local/journal.jsonl" }),
            "This would change Tollgate's own files",
        ),
    ] {
        let run = project.hook(&before(project.root(), agent, tool, &input));
        let reason = reason(&run);
        assert!(reason.starts_with(expected), "{agent} {tool} {run:?}");
    }
    // Others of that name are nobody's.
    project.file("tests/fixture/.isdlc/state.json", "{}");
    for (agent, tool, input) in [
        (
            "codex",
            "apply_patch",
            patch("*** Delete File: tests/fixture/.isdlc/state.json\n"),
        ),
        ("cursor", "Delete", json!({ "path": "README.md" })),
        (
            "codex",
            "Bash",
            json!({ "command": heredoc.replace(".isdlc/state.json", "README.md") }),
        ),
    ] {
        project
            .hook(&before(project.root(), agent, tool, &input))
            .says_nothing();
    }
}

#[test]
fn copilots_events_without_a_name_are_told_apart() {
    let (project, stale) = guarded();
    let event = |more: &Value| {
        let mut event = json!({ "sessionId": "s", "timestamp": 1, "cwd": project.root() });
        event
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        project.hook(&event)
    };
    // From here on the state is watched.
    event(&json!({ "source": "new", "initialPrompt": "x" })).says_nothing();
    let call = json!({ "toolName": "bash", "toolArgs": { "command": "git commit -m x" } });
    let mut failed = call.clone();
    failed["error"] = json!("Exit code 1");
    event(&failed).says_nothing();
    project.file(".isdlc/state.json", &stale);
    let mut ran = call;
    ran["toolResult"] = json!({ "resultType": "success", "textResultForLlm": "" });
    let run = event(&ran);
    assert!(
        run.stdout
            .starts_with("{\"additionalContext\":\"STATE RESTORED"),
        "{run:?}"
    );
}

#[test]
fn cursor_hears_at_a_prompt_that_the_state_was_changed() {
    let (project, stale) = guarded();
    let prompt = json!({
        "conversation_id": "c", "generation_id": "g", "model": "m", "cursor_version": "1",
        "hook_event_name": "beforeSubmitPrompt", "workspace_roots": [project.root()], "prompt": "x",
    });
    project.hook(&prompt).says_nothing();
    project.file(".isdlc/state.json", &stale);
    let run = project.hook(&prompt);
    assert!(
        run.stdout
            .starts_with("{\"additional_context\":\"[state-watch] NOTICE"),
        "{run:?}"
    );
}

//! What an agent's hooks send: the bare events of the specifications, and what the agents make of
//! them.

use std::path::Path;

use serde_json::{Value, json};

/// A bare event of the specification: a call of this tool.
pub(crate) fn tool(name: &str, input: &Value) -> Value {
    json!({ "tool_name": name, "tool_input": input })
}

/// A bare event: a Task for this agent.
pub(crate) fn task(agent: &str, prompt: &str) -> Value {
    tool("Task", &json!({ "subagent_type": agent, "prompt": prompt }))
}

/// A bare event: a Bash command.
pub(crate) fn bash(command: &str) -> Value {
    tool("Bash", &json!({ "command": command }))
}

/// A bare event: a Write of a whole file.
pub(crate) fn write(path: impl AsRef<Path>, text: &str) -> Value {
    tool(
        "Write",
        &json!({ "file_path": path.as_ref(), "content": text }),
    )
}

/// The end of a turn, the first one after a prompt.
pub(crate) fn stop() -> Value {
    named("Stop").with("stop_hook_active", false)
}

/// An event of this name that is no call of a tool.
pub(crate) fn named(name: &str) -> Value {
    json!({ "hook_event_name": name })
}

/// Whose events are written: the agents that tell of a command in shapes of their own.
#[derive(Clone, Copy)]
pub(crate) enum Protocol {
    ClaudeCode,
    Codex,
    Gemini,
    Copilot,
}

/// What an agent says besides. An event is the JSON that the hook reads; each of these gives it
/// with more in it.
pub(crate) trait Event: Sized {
    fn with(self, key: &str, value: impl Into<Value>) -> Self;

    /// With all members of an object.
    fn with_all(self, more: &Value) -> Self;

    /// In this session of Claude Code: a bare call of a tool becomes one that has not run yet.
    fn in_session(self, id: &str) -> Self;

    /// At this prompt of the person's.
    fn at_prompt(self, id: &str) -> Self {
        self.with("prompt_id", id)
    }

    /// The call of a tool with this id.
    fn call(self, id: &str) -> Self {
        self.with("tool_use_id", id)
    }

    /// In this directory.
    fn in_directory(self, directory: impl AsRef<Path>) -> Self {
        self.with("cwd", json!(directory.as_ref()))
    }

    /// A stop after one that was blocked.
    fn flagged(self) -> Self {
        self.with("stop_hook_active", true)
    }

    /// The tool has run, and this is what it gave back.
    fn done(self, response: impl Into<Value>) -> Self {
        self.with("hook_event_name", "PostToolUse")
            .with("tool_response", response)
    }

    /// The command has run, and this is what it printed.
    fn printed(self, output: &str) -> Self {
        self.done(json!({ "stdout": output, "stderr": "", "interrupted": false }))
    }

    /// As this agent tells of a call that has not run yet, in the session `s`.
    fn from(self, protocol: Protocol) -> Self;

    /// The tool has run and failed.
    fn failed(self, error: &str) -> Self {
        self.with("hook_event_name", "PostToolUseFailure")
            .with("error", error)
    }
}

impl Event for Value {
    fn with(mut self, key: &str, value: impl Into<Self>) -> Self {
        self[key] = value.into();
        self
    }

    fn with_all(mut self, more: &Value) -> Self {
        for (key, value) in more.as_object().unwrap() {
            self[key] = value.clone();
        }
        self
    }

    fn from(self, protocol: Protocol) -> Self {
        match protocol {
            Protocol::ClaudeCode => self
                .in_session("s")
                .call("t")
                .with("transcript_path", "/t")
                .with("permission_mode", "default"),
            Protocol::Codex => self
                .in_session("s")
                .call("t")
                .with("transcript_path", Self::Null)
                .with("permission_mode", "default")
                .with("turn_id", "t")
                .with("model", "m"),
            Protocol::Gemini => self
                .with("hook_event_name", "BeforeTool")
                .in_session("s")
                .with("transcript_path", "/t")
                .with("timestamp", "2026-11-15T00:00:00Z")
                .with("tool_name", "run_shell_command"),
            Protocol::Copilot => json!({
                "sessionId": "s", "timestamp": 1, "cwd": self["cwd"], "toolName": "bash",
                "toolArgs": self["tool_input"].to_string(),
            }),
        }
    }

    fn in_session(mut self, id: &str) -> Self {
        if self.get("hook_event_name").is_none() {
            self = self.with("hook_event_name", "PreToolUse");
        }
        self.with("session_id", id)
    }
}

//! What is said about a tool event that was not decided in time.
//!
//! The agent goes on, and both it and the person read that nothing was checked. A call that may commit,
//! or change the state or Tollgate's own files, is blocked once; repeated, it is allowed with a
//! warning. So a slow disk or a hostile command never switches a guard off silently, and never wedges an agent.

use std::time::Duration;

use crate::decision::{Code, Finding};
use crate::next::Next;
use crate::protocol::{Event, EventKind, Tool, ToolCall};

/// The name that findings are reported under.
pub const NAME: &str = "deadline";

/// What it does, in one line.
pub const ABOUT: &str = "blocks once if a call could not be checked in time and may commit or change the state; otherwise warns";

/// The codes of its findings, with what each means.
pub const CODES: &[Code] = &[
    Code::blocks_for_good(
        "DL-001",
        "the call was not checked in time, and may commit or change the state",
        "repeat the same call: it is allowed with a warning",
    ),
    Code::warns(
        "DL-002",
        "the call was not checked in time",
        "check what it did; `tollgate hook --deadline 5s` in the registration gives more time",
    ),
];

/// Names in the paths of the state, of Tollgate's own files and of agents' settings.
const NAMES: &[&str] = &[
    ".isdlc",
    "state.json",
    "monorepo.json",
    "tollgate",
    ".gauntlet",
    ".taskie",
    ".git/",
    ".claude",
    ".codex",
    ".gemini",
    ".copilot",
    ".cursor",
    ".github/hooks",
];

/// A longer command is not searched: no shell takes one, and it may do anything.
const LONGEST: usize = 1 << 20;

/// Whether a call that is about to happen may commit, or change the state or Tollgate's own files, as far
/// as its words tell. This only searches: whatever took too long must not be done again.
pub fn may_matter(event: &Event<'_>) -> bool {
    let names_ours = |text: &str| NAMES.iter().any(|name| text.contains(name));
    match &event.tool {
        Some(Tool { call, name, .. }) if event.kind == EventKind::PreTool => match call {
            ToolCall::Shell { command } if command.len() > LONGEST => true,
            ToolCall::Shell { command } => {
                let command = unquoted(command);
                command.contains("git") || names_ours(&command)
            }
            ToolCall::Other if name.to_ascii_lowercase().contains("git") => true,
            ToolCall::Patch { text } if text.len() > LONGEST => true,
            ToolCall::Write { .. }
            | ToolCall::Edit { .. }
            | ToolCall::Patch { .. }
            | ToolCall::Delete { .. }
            | ToolCall::Notebook { .. }
            | ToolCall::Other => {
                let mut files = event.files().into_iter();
                files.any(|file| names_ours(&file.to_ascii_lowercase()))
            }
            ToolCall::Delegate { .. } | ToolCall::Skill { .. } => false,
        },
        Some(_) | None => false,
    }
}

/// A command without what a shell takes out of a word: quotes, backslashes and `${…}`.
fn unquoted(command: &str) -> String {
    let mut plain = String::with_capacity(command.len());
    let mut rest = command.chars();
    while let Some(c) = rest.next() {
        match c {
            '\'' | '"' | '\\' => {}
            '$' if rest.as_str().starts_with('{') => {
                // One that is never closed hides nothing of what is behind it.
                if let Some((_, behind)) = rest.as_str().split_once('}') {
                    rest = behind.chars();
                }
            }
            _ => plain.push(c.to_ascii_lowercase()),
        }
    }
    plain
}

/// The block of such a call.
pub fn block(limit: Duration) -> Finding {
    let text = format!(
        "Tollgate could not check this call in time (limit: {}). The call may commit, or change the state \
         or Tollgate's own files, so it is blocked this once: exactly the same call is let through \
         with a warning. A shorter one is checked faster.",
        seconds(limit)
    );
    let finding = Finding::new("DL-001", text, reason(limit));
    finding.next(Next::retry([])).by(NAME)
}

/// The warning about a call that goes on.
pub fn warning(kind: EventKind, limit: Duration) -> Finding {
    let what = if kind == EventKind::PreTool {
        "This call was not checked: nothing is known about whether the process allows it."
    } else {
        "What this call did was not checked, and not recorded."
    };
    let text = format!("Not decided in time (limit: {}). {what}", seconds(limit));
    Finding::new("DL-002", text, reason(limit)).by(NAME)
}

fn reason(limit: Duration) -> String {
    format!("not decided in time (limit: {})", seconds(limit))
}

fn seconds(limit: Duration) -> String {
    format!("{} s", limit.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Hints, parse};

    fn matters(tool: &str, input: &str) -> bool {
        let event = format!(
            r#"{{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"{tool}","tool_input":{input}}}"#
        );
        may_matter(&parse(&event, &Hints::default()).unwrap())
    }

    #[test]
    fn what_may_commit_or_change_records_is_found_by_its_words() {
        for command in [
            "git commit -m x",
            r"g''it commit",
            r"\\g\\it commit",
            "g${EMPTY}it commit",
            "GIT commit",
            "cd .isdlc && rm *",
            "rm -rf .toll'gate'/local",
            "sed -i s/a/b/ ~/.claude/settings.json",
            "${x git commit",
        ] {
            let input = format!(r#"{{"command":{}}}"#, serde_json::json!(command));
            assert!(matters("Bash", &input), "{command}");
        }
        for command in ["ls -la", "cargo test", "echo $HOME", "${x", ""] {
            let input = format!(r#"{{"command":{}}}"#, serde_json::json!(command));
            assert!(!matters("Bash", &input), "{command}");
        }
        let long = format!(r#"{{"command":"{}"}}"#, "x".repeat(LONGEST + 1));
        assert!(matters("Bash", &long));
        assert!(matters(
            "Write",
            r#"{"file_path":"a/.isdlc/state.json","content":"x"}"#
        ));
        assert!(!matters(
            "Write",
            r#"{"file_path":"src/a.rs","content":"git commit"}"#
        ));
        assert!(matters("mcp__github__push", "{}"));
        assert!(!matters("WebFetch", r#"{"url":"https://example.org/git"}"#));
    }

    /// Afterwards there is nothing to stop.
    #[test]
    fn what_happened_already_is_not_blocked() {
        let event = r#"{"hook_event_name":"PostToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"git commit"},"tool_response":{}}"#;
        assert!(!may_matter(&parse(event, &Hints::default()).unwrap()));
    }
}

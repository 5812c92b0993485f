//! Claude Code.
//!
//! Unknown keys are ignored, but a `hookSpecificOutput` without `hookEventName` invalidates the whole
//! answer, and the tool runs. `continue:false` is never sent: it lets the tool run, ends the
//! session and keeps the reason from the model (measured with 2.1.325).

use serde_json::{Map, Value, json};

use super::parse::Asker;
use super::{Answer, Event, EventKind, Row, say};
use crate::decision::Decision;

pub(super) const ROW: Row = Row {
    name: "claude",
    marks: &[
        "CLAUDECODE",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_CODE_CHILD_SESSION",
        "CLAUDE_PID",
    ],
    asks,
    hears_blocks: Some(&[
        EventKind::PreTool,
        EventKind::PostTool,
        EventKind::Prompt,
        EventKind::Stop,
        EventKind::SubagentStop,
        EventKind::ConfigChange,
    ]),
    holds_to_ask,
    answer,
    unread: say::to_person,
    tool_members: |_| {
        json!({
            "transcript_path": "/dev/null", "permission_mode": "default", "tool_use_id": "example",
        })
    },
    ..Row::PLAIN
};

/// Fields that only a real agent sends. An agent that sends one and is no other is Claude Code, or
/// imitates it.
const SIGNS: &[&str] = &[
    "hook_event_name",
    "session_id",
    "transcript_path",
    "prompt_id",
    "permission_mode",
    "tool_use_id",
    "agent_id",
    "effort",
    "last_assistant_message",
    "background_tasks",
];

/// Other events whose answer may carry `additionalContext`.
const TAKE_CONTEXT: &[&str] = &[
    "PostToolBatch",
    "SubagentStart",
    "Setup",
    "Notification",
    "PostModelSwitch",
    "UserPromptExpansion",
];

fn asks(asker: &Asker<'_, '_>) -> bool {
    SIGNS.iter().any(|key| asker.has(key))
}

/// Modes in which the person is not asked run the tool or refuse it by themselves.
fn holds_to_ask(event: &Event<'_>) -> bool {
    let mode = event.permission_mode.as_deref();
    event.kind == EventKind::PreTool
        && matches!(mode, Some("default" | "acceptEdits" | "auto" | "plan"))
}

fn answer(event: &Event<'_>, decision: &Decision) -> Answer {
    // By far the commonest; a map wants a seed from the system, which is a call for nothing.
    if decision.is_silent() && decision.guidance.is_empty() {
        return Answer::default();
    }
    let mut object = Map::new();
    let mut specific = Map::new();
    let name = if event.kind == EventKind::Other {
        event.name.as_ref()
    } else {
        event.kind.as_str()
    };
    match &decision.block {
        Some(finding) if event.kind == EventKind::PreTool => say::deny(&mut specific, finding),
        // The person is shown the reason; the model reads both.
        Some(finding) if event.kind == EventKind::Stop => {
            say::block(&mut object, "block", say::short(finding).into());
            let more = finding.instructions.as_deref().map(say::cap);
            say::put(&mut specific, "additionalContext", more);
        }
        Some(finding) => say::block(&mut object, "block", say::reason(finding)),
        None => {
            if let Some(finding) = &decision.ask {
                say::ask(&mut specific, finding);
                // What the person agrees to is what runs.
                let tool = event.tool.as_ref();
                let command = tool.zip(decision.command_if_yes.as_deref());
                let input = command.and_then(|(tool, command)| tool.input_with(command));
                say::put(&mut specific, "updatedInput", input);
            }
        }
    }
    let takes_context = match event.kind {
        // At a stop `additionalContext` would keep the turn going, which a warning must not.
        EventKind::Stop
        | EventKind::SubagentStop
        | EventKind::SessionEnd
        | EventKind::ConfigChange => false,
        EventKind::Other => TAKE_CONTEXT.contains(&name),
        EventKind::PreTool
        | EventKind::PostTool
        | EventKind::PostToolFailure
        | EventKind::Prompt
        | EventKind::SessionStart => true,
    };
    if takes_context {
        say::put(&mut specific, "additionalContext", say::context(decision));
    }
    say::put(&mut object, "systemMessage", say::notices(decision));
    if !specific.is_empty() {
        let mut named = Map::new();
        say::put(&mut named, "hookEventName", Some(name));
        named.extend(specific);
        object.insert("hookSpecificOutput".to_owned(), Value::Object(named));
    }
    say::print(&object)
}

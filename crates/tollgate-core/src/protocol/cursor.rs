//! Cursor.
//!
//! Text on stdout that is not JSON blocks the action "for safety", the exit code means nothing at
//! a stop, and an `allow` or `ask` would override what the person set. So before a tool it is
//! answered "deny" or nothing.

use std::borrow::Cow;

use serde_json::{Map, json};

use super::parse::Asker;
use super::{Answer, Event, EventKind, Row, Tool, Tools, say, tool};
use crate::decision::Decision;
use tollgate_store::json::{Node, Object};

pub(super) const ROW: Row = Row {
    name: "cursor",
    marks: &["CURSOR_AGENT"],
    max_blocks: 5,
    asks,
    events: &[
        ("beforeshellexecution", EventKind::PreTool),
        ("beforemcpexecution", EventKind::PreTool),
        ("beforereadfile", EventKind::PreTool),
        ("aftershellexecution", EventKind::PostTool),
        ("aftermcpexecution", EventKind::PostTool),
        ("afterfileedit", EventKind::PostTool),
        ("beforesubmitprompt", EventKind::Prompt),
    ],
    nameless_tool: Some(tool),
    finish,
    hears_blocks: Some(&[
        EventKind::PreTool,
        EventKind::Prompt,
        EventKind::Stop,
        EventKind::SubagentStop,
    ]),
    answer,
    tools: Tools {
        shell: "Shell",
        delete: Some(("Delete", "file_path")),
        fetch: None,
        ..Tools::USUAL
    },
    before_tool: "preToolUse",
    tool_members: |cwd| {
        json!({
            "conversation_id": "example", "generation_id": "example", "cursor_version": "1",
            "workspace_roots": [cwd],
        })
    },
    ..Row::PLAIN
};

fn asks(asker: &Asker<'_, '_>) -> bool {
    asker.has("cursor_version") || asker.has("conversation_id")
}

/// The events that are a tool call themselves, and the tool they are.
const FLAT: &[(&str, &str)] = &[
    ("beforeShellExecution", "Shell"),
    ("afterShellExecution", "Shell"),
    ("beforeReadFile", "Read"),
    ("afterFileEdit", "Edit"),
];

/// The tool call of an event without a `tool_name`.
fn tool<'a>(problems: &mut Vec<String>, object: &Object<'a>, event: &str) -> Option<Tool<'a>> {
    let kind = EventKind::from_name(event);
    let Some((_, name)) = FLAT.iter().find(|(known, _)| *known == event) else {
        return tool::read(problems, object, kind, Vec::new());
    };
    let mut tool = tool::read_flat(problems, object, kind, name);
    tool.result = object.get("output");
    Some(tool)
}

/// What Cursor says in its own way.
fn finish<'a>(event: &mut Event<'a>, object: &Object<'a>) {
    if let Some(id) = object.str("conversation_id").filter(|id| !id.is_empty()) {
        event.session = Some(id);
    }
    if event.cwd.is_none() {
        event.cwd = object
            .get("workspace_roots")
            .and_then(Node::array)
            .and_then(|roots| roots.first()?.str())
            .filter(|root| !root.is_empty());
    }
    if let Some(count) = object.get("loop_count").and_then(Node::f64) {
        event.stop_hook_active |= count > 0.0;
    }
    if let Some(result) = object.get("result_json")
        && let Some(tool) = &mut event.tool
    {
        tool.result = tool.result.or(Some(result));
    }
    // A stop that the person or an error made is no claim that the work is done. Claude Code
    // does not report it as a stop at all.
    let status = object.str("status").unwrap_or(Cow::Borrowed("completed"));
    if event.kind.is_stop() && status != "completed" {
        event.kind = EventKind::Other;
    }
}

fn answer(event: &Event<'_>, decision: &Decision) -> Answer {
    let mut object = Map::new();
    let mut stderr = say::log(decision);
    if let Some(finding) = &decision.block {
        let reason = say::reason(finding);
        if event.kind == EventKind::PreTool {
            say::put(&mut object, "permission", Some("deny"));
            say::put(&mut object, "user_message", Some(reason.clone()));
            say::put(&mut object, "agent_message", Some(reason));
        } else if event.kind == EventKind::Prompt {
            say::put(&mut object, "continue", Some(false));
            say::put(&mut object, "user_message", Some(reason));
        } else {
            say::put(&mut object, "followup_message", Some(reason));
        }
    }
    let takes_context = matches!(
        event.kind,
        EventKind::PostTool
            | EventKind::PostToolFailure
            | EventKind::Prompt
            | EventKind::SessionStart
    );
    if takes_context {
        say::put(&mut object, "additional_context", say::context(decision));
        stderr = say::fault_lines(&decision.faults);
    }
    let mut answer = say::print(&object);
    answer.stderr = stderr;
    answer
}

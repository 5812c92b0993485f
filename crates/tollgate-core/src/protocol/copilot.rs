//! GitHub Copilot CLI.
//!
//! It runs what `.claude/settings.json` registers, too, and then sends Claude Code's event names
//! with its own inputs. A top-level `decision` is ignored before a tool, the exit code at a stop,
//! and any exit but 0 is a block whose reason is not shown.
//!
//! The model reads `additionalContext`: nested before a tool, at the top after one, with a prompt
//! and when a session begins (measured with 1.0.102). There is no channel to the person, so what is
//! for him goes to stderr, which its log keeps.

use serde_json::{Map, json};

use super::parse::Asker;
use super::{Answer, Event, EventKind, Row, Tools, say};
use crate::decision::Decision;

pub(super) const ROW: Row = Row {
    name: "copilot",
    marks: &["COPILOT_CLI", "COPILOT_AGENT_SESSION_ID"],
    asks,
    events: &[
        ("userpromptsubmitted", EventKind::Prompt),
        ("agentstop", EventKind::Stop),
    ],
    hears_blocks: Some(&[EventKind::PreTool, EventKind::Stop, EventKind::SubagentStop]),
    answer,
    tools: Tools {
        shell: "bash",
        write: ("create", "path"),
        edit: ("edit", "path"),
        read: Some(("view", "path")),
        fetch: Some(("web_fetch", "url")),
        ..Tools::USUAL
    },
    tool_members: |_| json!({ "timestamp": "2026-01-01T00:00:00.000Z" }),
    ..Row::PLAIN
};

/// A `timestamp` is Copilot's or Gemini's, and Gemini was asked before. On tool events Copilot
/// alone has no `transcript_path`.
fn asks(asker: &Asker<'_, '_>) -> bool {
    let is_camel = ["sessionId", "toolName", "toolArgs"]
        .iter()
        .any(|key| asker.has(key));
    let is_claude = ["permission_mode", "prompt_id"]
        .iter()
        .any(|key| asker.has(key))
        || (asker.is_tool_event() && asker.names("transcript_path"));
    is_camel || (asker.has("timestamp") && !is_claude)
}

/// Events whose answer may carry `additionalContext` beside a block.
const TAKE_CONTEXT: &[EventKind] = &[
    EventKind::PostTool,
    EventKind::Prompt,
    EventKind::SessionStart,
];

fn answer(event: &Event<'_>, decision: &Decision) -> Answer {
    let mut object = Map::new();
    if let Some(finding) = &decision.block {
        if event.kind == EventKind::PreTool {
            say::deny(&mut object, finding);
        } else {
            say::block(&mut object, "block", say::reason(finding));
        }
    }
    if event.kind == EventKind::PreTool && decision.block.is_none() {
        say::nest(&mut object, event.kind.as_str(), decision);
    } else if TAKE_CONTEXT.contains(&event.kind) {
        say::put(&mut object, "additionalContext", say::context(decision));
    }
    let mut answer = say::print(&object);
    answer.stderr = say::log(decision);
    answer
}

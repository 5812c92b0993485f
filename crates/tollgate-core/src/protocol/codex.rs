//! Codex CLI.
//!
//! An unknown key invalidates the whole answer, and the tool runs. So an answer has only the keys
//! of its schema for the event: no `additionalContext` beside a decision, nothing nested at a
//! stop. A deny needs a reason that is not empty. What begins and ends a session names neither
//! turn nor, at the end, model; there its transcript's name tells (measured with 0.166.0).

use serde_json::{Map, Value, json};

use super::parse::Asker;
use super::{Answer, Event, EventKind, Row, Tools, say};
use crate::decision::Decision;
use tollgate_store::json::Node;

pub(super) const ROW: Row = Row {
    name: "codex",
    marks: &[
        "CODEX_SANDBOX",
        "CODEX_SANDBOX_NETWORK_DISABLED",
        "CODEX_THREAD_ID",
        "CODEX_CI",
    ],
    asks,
    hears_blocks: Some(&[
        EventKind::PreTool,
        EventKind::PostTool,
        EventKind::Prompt,
        EventKind::Stop,
        EventKind::SubagentStop,
    ]),
    answer,
    unread: say::to_person,
    // Its patches name in a header what becomes of which file.
    tools: Tools {
        write: (Tools::PATCH, "Add"),
        edit: (Tools::PATCH, "Update"),
        delete: Some((Tools::PATCH, "Delete")),
        read: None,
        fetch: None,
        ..Tools::USUAL
    },
    tool_members: |_| {
        json!({
            "turn_id": "example", "transcript_path": null, "model": "example",
            "permission_mode": "default", "tool_use_id": "example",
        })
    },
    ..Row::PLAIN
};

/// Events whose answer may carry `additionalContext`, which the model reads.
const TAKE_CONTEXT: &[EventKind] = &[
    EventKind::PreTool,
    EventKind::PostTool,
    EventKind::Prompt,
    EventKind::SessionStart,
];

fn asks(asker: &Asker<'_, '_>) -> bool {
    let path = asker.object.get("transcript_path").and_then(Node::str);
    let is_rollout = path.is_some_and(|path| {
        let name = path.rsplit(['/', '\\']).next();
        name.is_some_and(|name| name.starts_with("rollout-"))
    });
    // Claude Code names no permission mode when a session begins.
    let is_start = asker.name == "SessionStart" && asker.has("permission_mode");
    is_rollout || ((asker.has("turn_id") || is_start) && asker.has("model"))
}

fn answer(event: &Event<'_>, decision: &Decision) -> Answer {
    let mut object = Map::new();
    if let Some(finding) = &decision.block {
        if event.kind == EventKind::PreTool {
            let mut deny = Map::new();
            say::put(&mut deny, "hookEventName", Some(event.kind.as_str()));
            say::deny(&mut deny, finding);
            object.insert("hookSpecificOutput".to_owned(), Value::Object(deny));
        } else {
            say::block(&mut object, "block", say::reason(finding));
        }
    }
    if decision.block.is_none() && TAKE_CONTEXT.contains(&event.kind) {
        say::put_messages(&mut object, event.kind.as_str(), decision);
    } else {
        say::put(&mut object, "systemMessage", say::only_channel(decision));
    }
    say::print(&object)
}

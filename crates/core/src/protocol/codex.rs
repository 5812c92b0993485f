//! Codex CLI.
//!
//! One key it does not know voids the whole answer and the tool runs, so only what its schema
//! names for the event is said: no `additionalContext` beside a decision, nothing nested at a
//! stop. A deny needs a reason that is not empty.

use serde_json::{Map, Value};

use super::parse::Asker;
use super::{Answer, Event, EventKind, say};
use crate::verdict::Outcome;

/// Events at which a block is heard.
pub(super) const BLOCKABLE: &[EventKind] = &[
    EventKind::PreTool,
    EventKind::PostTool,
    EventKind::Prompt,
    EventKind::Stop,
    EventKind::SubagentStop,
];

pub(super) fn asks(asker: &Asker<'_, '_>) -> bool {
    asker.has("turn_id") && asker.has("model")
}

pub(super) fn answer(event: &Event<'_>, outcome: &Outcome) -> Answer {
    let mut object = Map::new();
    if let Some(report) = &outcome.block {
        if event.kind == EventKind::PreTool {
            let mut deny = Map::new();
            say::put(&mut deny, "hookEventName", Some(event.kind.as_str()));
            say::put(&mut deny, "permissionDecision", Some("deny"));
            let reason = say::reason(report);
            say::put(&mut deny, "permissionDecisionReason", Some(reason));
            object.insert("hookSpecificOutput".to_owned(), Value::Object(deny));
        } else {
            say::block(&mut object, "block", report);
        }
    }
    say::put(&mut object, "systemMessage", say::only_channel(outcome));
    say::print(&object)
}

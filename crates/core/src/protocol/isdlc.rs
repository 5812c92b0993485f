//! The shape of specifications 000 and 004, for events that nobody but their own tests and
//! scripts send: `{"continue":false,"stopReason":…}` blocks, stderr warns, silence allows.

use serde_json::Map;

use super::{Answer, Event, EventKind, say};
use crate::verdict::Outcome;

pub(super) fn answer(event: &Event<'_>, outcome: &Outcome) -> Answer {
    let mut object = Map::new();
    if let Some(report) = &outcome.block {
        match event.kind {
            EventKind::Stop | EventKind::SubagentStop => say::block(&mut object, "block", report),
            EventKind::PreTool
            | EventKind::PostTool
            | EventKind::PostToolFailure
            | EventKind::Prompt
            | EventKind::SessionStart
            | EventKind::SessionEnd
            | EventKind::Other => {
                say::put(&mut object, "continue", Some(false));
                say::put(&mut object, "stopReason", Some(say::reason(report)));
            }
        }
    }
    let mut answer = say::print(&object);
    // What the originals tell the agent is plain text on stdout; a block stands there alone.
    if object.is_empty() && !outcome.guidance.is_empty() {
        answer.stdout = outcome.guidance.join("\n") + "\n";
    }
    answer.stderr = say::log(outcome);
    answer
}

//! What is asked when an agent wants to stop, in order: the gates. (The plan loop and the
//! delegation gate join them here.)

use std::time::Duration;

use tollgate_core::env::Env;
use tollgate_core::project::Layout;
use tollgate_core::protocol::{Event, EventKind};
use tollgate_core::verdict::{Fault, Finding, Outcome, Report};

use crate::gate::Status;
use crate::gate::stop::{self, Answer, Deadline};

/// Registrations that Tollgate writes give a stop 900 s; it answers before that.
const DEADLINE: Deadline = Deadline(Duration::from_secs(870));

/// The name that reports carry.
const GATES: &str = "gates";

/// Decides a stop, and notes at a session's start what its gates are. None: there is nothing to
/// decide.
pub(crate) fn decide(event: &Event<'_>, layout: &Layout, env: &Env) -> Option<Answer> {
    if !layout.gates_config().is_file() && event.kind == EventKind::SessionStart {
        return None;
    }
    match event.kind {
        EventKind::SessionStart => {
            if let Some(session) = &event.session {
                stop::meet(layout, env, session);
            }
            None
        }
        EventKind::Stop if !is_gated(event) => None,
        EventKind::Stop => Some(stop::decide(layout, env, event, DEADLINE, &|_| ())),
        EventKind::PreTool
        | EventKind::PostTool
        | EventKind::PostToolFailure
        | EventKind::Prompt
        | EventKind::SubagentStop
        | EventKind::SessionEnd
        | EventKind::Other => None,
    }
}

/// A stop that only asks the person something, waits for tasks in the background, or ends
/// planning, is not gated.
fn is_gated(event: &Event<'_>) -> bool {
    let last = event.last_message.and_then(tollgate_core::json::Node::str);
    let asks = last.is_some_and(|text| text.trim_end().ends_with('?'));
    let plans = event.permission_mode.as_deref() == Some("plan");
    !(asks || plans || event.background_tasks > 0)
}

/// Adds an answer to what else was decided.
pub(crate) fn add(answer: Answer, outcome: &mut Outcome) {
    let Answer {
        status,
        message,
        reason,
        is_news,
        notes,
    } = answer;
    if let Some(reason) = reason {
        outcome.block = Some(Report {
            guard: GATES,
            finding: Finding::new("GATE-FAILED", reason, message),
        });
    } else if status == Status::Error {
        outcome.faults.push(Fault::new("gates-not-run", message));
    } else if is_news {
        outcome.warnings.push(Report {
            guard: GATES,
            finding: Finding::new("GATE-NOTICE", message.clone(), message),
        });
    }
    let notes = notes
        .into_iter()
        .map(|note| Fault::new("gates-configuration", note));
    outcome.faults.extend(notes);
}

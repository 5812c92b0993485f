//! The shape of specification 003, "Structured JSON Response for All Outcomes".
//!
//! Its answer carries the gates' status and message, which an [`Outcome`] does not know. Whoever
//! ran the gates says them with [`decision`]; [`answer`](super::answer) is for everything else.

use serde_json::Map;

use super::{Answer, Row, say};
use crate::verdict::{Fault, Outcome, Report};

pub(super) const ROW: Row = Row {
    name: "gauntlet",
    answer: |_, outcome| answer(outcome),
    unread,
    ..Row::PLAIN
};

/// One answer of the stop hook.
#[derive(Clone, Copy, Debug)]
pub struct Decision<'a> {
    /// The unified status, for example `no_applicable_gates`.
    pub status: &'a str,
    /// What happened, for a person.
    pub message: &'a str,
    /// What the agent is to do. With it the stop is blocked, without it approved.
    pub reason: Option<&'a str>,
}

/// The bytes of a decision:
/// `{"decision": "block", "status": "failed", "message": "…", "reason": "…", …}`, and the same
/// said once more as `stopReason` and `systemMessage`, where agents look for it.
pub fn decision(decision: &Decision<'_>) -> Answer {
    let Decision {
        status,
        message,
        reason,
    } = *decision;
    let word = if reason.is_some() { "block" } else { "approve" };
    let mut object = Map::new();
    say::put(&mut object, "decision", Some(word));
    say::put(&mut object, "status", Some(status));
    say::put(&mut object, "message", Some(say::cap(message)));
    say::put(&mut object, "reason", reason.map(say::cap));
    let stop_reason = say::cap(reason.unwrap_or(message));
    say::put(&mut object, "stopReason", Some(stop_reason));
    say::put(&mut object, "systemMessage", Some(say::cap(message)));
    say::print_spaced(&object)
}

/// A block is `failed`, a fault `error`; where neither is, nothing is known and nothing said.
fn answer(outcome: &Outcome) -> Answer {
    if let Some(report) = &outcome.block {
        let Report { guard, finding } = report;
        let message = [&finding.reason, &finding.text]
            .into_iter()
            .find_map(|text| text.lines().find(|line| !line.trim().is_empty()));
        let block = decision(&Decision {
            status: "failed",
            message: message.unwrap_or(guard),
            reason: Some(&say::verbatim(report)),
        });
        return Answer {
            stderr: say::log(outcome),
            ..block
        };
    }
    let Some(message) = say::notices(outcome) else {
        return Answer::default();
    };
    if outcome.faults.is_empty() {
        Answer {
            stderr: say::log(outcome),
            ..Answer::default()
        }
    } else {
        decision(&Decision {
            status: "error",
            message: &message,
            reason: None,
        })
    }
}

fn unread(faults: &[Fault]) -> Answer {
    let answer = decision(&Decision {
        status: "invalid_input",
        message: "Invalid hook input: it could not be read, so the stop is allowed.",
        reason: None,
    });
    Answer {
        stderr: say::fault_lines(faults),
        ..answer
    }
}

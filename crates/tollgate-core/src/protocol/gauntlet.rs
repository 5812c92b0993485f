//! The shape of specification 003, "Structured JSON Response for All Outcomes".
//!
//! Its answer carries the gates' status and message, which are in the [`Decision`] if they were asked.

use serde_json::Map;

use super::{Answer, Row, say};
use crate::decision::{Decision, Fault, Finding, GATES};

pub(super) const ROW: Row = Row {
    name: "gauntlet",
    answer: |_, decision| answer(decision),
    unread,
    ..Row::PLAIN
};

/// One answer of the stop hook.
#[derive(Clone, Copy, Debug)]
pub struct StopAnswer<'a> {
    /// The unified status, for example `no_applicable_gates`.
    pub status: &'a str,
    /// What happened, for a person.
    pub message: &'a str,
    /// What the agent is to do. With it the stop is blocked, without it approved.
    pub reason: Option<&'a str>,
}

/// The bytes of a decision:
/// `{"decision": "block", "status": "failed", "message": "…", "reason": "…", …}`, and the same
/// said once more as `stopReason` and `systemMessage`, where agents read it.
pub fn stop_answer(answer: &StopAnswer<'_>) -> Answer {
    let StopAnswer {
        status,
        message,
        reason,
    } = *answer;
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

/// What the gates came to, unless another check blocks. Where they were not asked, a block is `failed`
/// and a fault `error`; where neither is, nothing is known and nothing said.
pub fn answer(decision: &Decision) -> Answer {
    let block = decision.block.as_ref();
    if let Some(gates) = &decision.gates
        && block.is_none_or(|block| block.guard == GATES)
    {
        let reason = block.map(Finding::whole);
        let answer = stop_answer(&StopAnswer {
            status: gates.status,
            message: &gates.message,
            reason: reason.as_deref(),
        });
        let faults = decision.faults.iter().map(|fault| &fault.text);
        let more = faults.filter(|text| **text != gates.message);
        let lines: Vec<String> = more.map(|text| format!("Warning: {text}\n")).collect();
        return Answer {
            stderr: lines.concat(),
            ..answer
        };
    }
    if let Some(finding) = &decision.block {
        let message = [&finding.reason, &finding.text]
            .into_iter()
            .find_map(|text| text.lines().find(|line| !line.trim().is_empty()));
        let block = stop_answer(&StopAnswer {
            status: "failed",
            message: message.unwrap_or(finding.guard),
            reason: Some(&say::verbatim(finding)),
        });
        return Answer {
            stderr: say::log(decision),
            ..block
        };
    }
    let Some(message) = say::notices(decision) else {
        return Answer::default();
    };
    if decision.faults.is_empty() {
        Answer {
            stderr: say::log(decision),
            ..Answer::default()
        }
    } else {
        stop_answer(&StopAnswer {
            status: "error",
            message: &message,
            reason: None,
        })
    }
}

fn unread(faults: &[Fault]) -> Answer {
    let answer = stop_answer(&StopAnswer {
        status: "invalid_input",
        message: "Invalid hook input: it could not be read, so the stop is allowed.",
        reason: None,
    });
    Answer {
        stderr: say::fault_lines(faults),
        ..answer
    }
}

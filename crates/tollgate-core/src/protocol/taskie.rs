//! The shape of specification 002, "Hook Input/Output Protocol": a stop is blocked with
//! `{"decision": "block", "reason": "…"}`, approved with `{"suppressOutput": true}`, and what the
//! person should know goes along as `systemMessage`. Its warnings are "logged to stderr", where
//! its own tests expect them, so they stand there as well.
//!
//! The specification answers an unreadable event with exit 2, because it holds that this cannot
//! block a stop. It does (Claude Code 2.1.325), so the same intent is said with exit 0.

use serde_json::Map;

use super::{Answer, Row, say};
use crate::decision::{Decision, Fault};

pub(super) const ROW: Row = Row {
    name: "taskie",
    answer: |_, decision| answer(decision),
    unread,
    ..Row::PLAIN
};

fn answer(decision: &Decision) -> Answer {
    let mut object = Map::new();
    if let Some(finding) = &decision.block {
        say::block(&mut object, "block", say::verbatim(finding));
        say::put(&mut object, "systemMessage", say::notices(decision));
    } else {
        // What the agent reads elsewhere ("structure validated") goes to the person here.
        say::put(&mut object, "systemMessage", say::only_channel(decision));
        say::put(&mut object, "suppressOutput", Some(true));
    }
    Answer {
        stderr: say::log(decision),
        ..say::print_spaced(&object)
    }
}

fn unread(faults: &[Fault]) -> Answer {
    let decision = Decision {
        faults: faults.to_vec(),
        ..Decision::default()
    };
    answer(&decision)
}

//! The shape of specification 002, "Hook Input/Output Protocol": a stop is blocked with
//! `{"decision": "block", "reason": "…"}`, approved with `{"suppressOutput": true}`, and what the
//! person should know goes along as `systemMessage`. Its warnings are "logged to stderr", where
//! its own tests look for them, so they stand there as well.
//!
//! The specification answers an unreadable event with exit 2, because it holds that this cannot
//! block a stop. It does (Claude Code 2.1.325), so the same intent is said with exit 0.

use serde_json::Map;

use super::{Answer, Row, say};
use crate::verdict::{Fault, Outcome};

pub(super) const ROW: Row = Row {
    name: "taskie",
    answer: |_, outcome| answer(outcome),
    unread,
    ..Row::PLAIN
};

fn answer(outcome: &Outcome) -> Answer {
    let mut object = Map::new();
    if let Some(report) = &outcome.block {
        say::block(&mut object, "block", say::verbatim(report));
        say::put(&mut object, "systemMessage", say::notices(outcome));
    } else {
        // What the agent is told elsewhere ("structure validated") goes to the person here.
        say::put(&mut object, "systemMessage", say::only_channel(outcome));
        say::put(&mut object, "suppressOutput", Some(true));
    }
    Answer {
        stderr: say::log(outcome),
        ..say::print_spaced(&object)
    }
}

fn unread(faults: &[Fault]) -> Answer {
    let outcome = Outcome {
        faults: faults.to_vec(),
        ..Outcome::default()
    };
    answer(&outcome)
}

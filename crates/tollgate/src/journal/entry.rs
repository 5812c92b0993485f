//! One line of the journal, typed.

use jiff::Timestamp;
use serde_json::Value;
use tollgate_core::state::chain::Link;
use tollgate_core::state::journal::Decision;
use tollgate_core::state::timestamp;

use super::{Line, Place};

/// What was decided, and about what.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Its number in the chain, by which people name it. Lines from before there was a chain
    /// have none.
    pub(crate) id: Option<u64>,
    /// Where it is.
    pub(crate) place: Place,
    pub(crate) ts: Option<Timestamp>,
    pub(crate) verdict: Decision,
    pub(crate) session: Option<String>,
    /// The id of the tool call.
    pub(crate) call: Option<String>,
    pub(crate) event: Option<String>,
    pub(crate) tool: Option<String>,
    pub(crate) guard: Option<String>,
    /// The finding's code, or the kind of a fault.
    pub(crate) code: Option<String>,
    pub(crate) phase: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) wire: Option<String>,
    pub(crate) project: Option<String>,
    /// The state's version after a change.
    pub(crate) version: Option<u64>,
    /// How long it took, in milliseconds.
    pub(crate) ms: Option<f64>,
    /// The whole line, for what has no field here.
    pub(crate) value: Value,
}

impl Entry {
    /// The entry of a line; nothing if the line is none of ours, or torn.
    pub(crate) fn parse(line: &Line) -> Option<Self> {
        let value: Value = serde_json::from_str(&line.text).ok()?;
        let text = |key: &str| value.get(key)?.as_str().map(str::to_owned);
        let number = |key: &str| value.get(key)?.as_u64();
        Some(Self {
            id: Link::of(&line.text).map(|link| link.tail.n),
            place: line.place,
            ts: text("ts").as_deref().and_then(timestamp::parse),
            verdict: Decision::from_name(value.get("verdict")?.as_str()?)?,
            session: text("session"),
            call: text("call"),
            event: text("event"),
            tool: text("tool"),
            guard: text("guard"),
            code: text("code"),
            phase: text("phase"),
            agent: text("agent"),
            reason: text("reason"),
            wire: text("wire"),
            project: text("project"),
            version: number("version"),
            ms: value.get("ms").and_then(Value::as_f64),
            value,
        })
    }
}

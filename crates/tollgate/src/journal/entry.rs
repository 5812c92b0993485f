//! One line of the journal, typed.

use jiff::Timestamp;
use serde::{Serialize, Serializer};
use serde_json::Value;
use tollgate_store::chain::Link;
use tollgate_store::journal::Verdict;
use tollgate_store::timestamp;

use super::{Line, LinePlace};
use crate::plain;
use crate::plan::reviewer::ReviewVerdict;

/// What was decided, and about what.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Entry {
    /// Its number in the chain, by which people name it. Lines from before there was a chain
    /// have none.
    pub(crate) id: Option<u64>,
    #[serde(skip)]
    pub(crate) place: LinePlace,
    #[serde(rename = "at", serialize_with = "moment")]
    pub(crate) ts: Option<Timestamp>,
    #[serde(serialize_with = "word")]
    pub(crate) verdict: Verdict,
    pub(crate) session: Option<String>,
    pub(crate) call: Option<String>,
    pub(crate) event: Option<String>,
    pub(crate) tool: Option<String>,
    pub(crate) guard: Option<String>,
    /// The finding's code, or the kind of a fault.
    pub(crate) code: Option<String>,
    pub(crate) phase: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) protocol: Option<String>,
    pub(crate) project: Option<String>,
    pub(crate) version: Option<u64>,
    /// How long it took, in milliseconds.
    pub(crate) ms: Option<f64>,
    /// What a review cost, where its reviewer said it.
    pub(crate) cost_usd: Option<f64>,
    /// The whole line, for what has no field here.
    #[serde(skip)]
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
            verdict: Verdict::from_name(value.get("verdict")?.as_str()?)?,
            session: text("session"),
            call: text("call"),
            event: text("event"),
            tool: text("tool"),
            guard: text("guard"),
            code: text("code"),
            phase: text("phase"),
            agent: text("agent"),
            reason: text("reason"),
            protocol: text("wire"),
            project: text("project"),
            version: number("version"),
            ms: value.get("ms").and_then(Value::as_f64),
            cost_usd: value.get("cost_usd").and_then(Value::as_f64),
            value,
        })
    }

    /// When it was; nothing if the line does not say it.
    pub(crate) fn at(&self) -> String {
        self.ts.map(timestamp::iso).unwrap_or_default()
    }

    /// The same for people.
    pub(crate) fn moment(&self) -> String {
        self.ts.map(plain::moment).unwrap_or_default()
    }

    /// What people call it: by its number, or else by its place.
    pub(crate) fn name(&self) -> String {
        let number = self.id.map(|id| format!("#{id}"));
        number.unwrap_or_else(|| self.place.to_string())
    }

    /// Whether it is a gate or a review that did not hold. Plans have words of their own.
    pub(crate) fn is_failure(&self) -> bool {
        self.code.as_deref().is_some_and(is_failure)
    }
}

/// Whether a gate or a review that came to this did not hold.
pub(crate) fn is_failure(result: &str) -> bool {
    let words = ["fail", "error"];
    ReviewVerdict::is_fail(result) || words.iter().any(|word| result.eq_ignore_ascii_case(word))
}

#[expect(clippy::ref_option, reason = "as serde calls it")]
fn moment<S: Serializer>(ts: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&ts.map(timestamp::iso).unwrap_or_default())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn word<S: Serializer>(verdict: &Verdict, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(verdict.as_str())
}

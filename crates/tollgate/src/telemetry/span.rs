//! An entry of the journal as a span.
//!
//! A span belongs to the agent's own trace where the journal has its `traceparent`; otherwise all
//! entries of a session are one trace. Ids are made from the entry, so that the same entry has the
//! same ids however often it is sent.

use std::hash::{DefaultHasher, Hasher as _};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use tollgate_store::journal::Verdict;

use super::value::{Attributes, nanos, resource, scope};
use crate::journal::Entry;

/// A trace and the span in it that is the parent.
#[derive(Debug, PartialEq, Eq)]
struct Parent {
    trace: String,
    span: Option<String>,
}

pub(super) fn request(entries: &[Entry], project: &str) -> Value {
    let spans: Vec<Value> = entries.iter().map(of).collect();
    json!({ "resourceSpans": [{
        "resource": resource(project),
        "scopeSpans": [{ "scope": scope(), "spans": spans }],
    }] })
}

fn of(entry: &Entry) -> Value {
    let start = entry.ts.unwrap_or(Timestamp::UNIX_EPOCH);
    let took = Duration::from_secs_f64(entry.ms.unwrap_or(0.0).clamp(0.0, 1e12) / 1000.0);
    let end = start.checked_add(took).unwrap_or(start);
    let parent = parent(entry);
    let text = |key: &str| entry.value.get(key).and_then(Value::as_str);
    let number = |key: &str| entry.value.get(key).and_then(Value::as_u64);
    let mut attributes = Attributes::default();
    attributes
        .text("session.id", entry.session.as_deref())
        .text("prompt.id", text("prompt"))
        .text("tool_use_id", text("call"))
        .text("gen_ai.tool.call.id", text("call"))
        .text("gen_ai.tool.name", entry.tool.as_deref())
        .text("tollgate.verdict", Some(entry.verdict.as_str()))
        .text("tollgate.guard", entry.guard.as_deref())
        .text("tollgate.code", entry.code.as_deref())
        .text("tollgate.reason", entry.reason.as_deref())
        .text("tollgate.event", entry.event.as_deref())
        .text("tollgate.phase", entry.phase.as_deref())
        .text("tollgate.agent", entry.agent.as_deref())
        .text("tollgate.protocol", entry.protocol.as_deref())
        .integer("tollgate.entry", entry.id)
        .integer("tollgate.state.version", entry.version)
        .integer("gen_ai.usage.input_tokens", number("input_tokens"))
        .integer("gen_ai.usage.output_tokens", number("output_tokens"))
        .number("tollgate.cost.usd", entry.cost_usd);
    let mut span = json!({
        "traceId": parent.trace,
        "spanId": own_id(entry),
        "name": name(entry),
        "kind": 1,
        "startTimeUnixNano": nanos(start),
        "endTimeUnixNano": nanos(end),
        "attributes": attributes.into_json(),
        "status": status(entry),
    });
    if let (Some(fields), Some(id)) = (span.as_object_mut(), parent.span) {
        fields.insert("parentSpanId".to_owned(), id.into());
    }
    span
}

/// Few different names: what varies is in the attributes.
fn name(entry: &Entry) -> String {
    match &entry.guard {
        Some(guard) => format!("tollgate {} {guard}", entry.verdict.as_str()),
        None => format!("tollgate {}", entry.verdict.as_str()),
    }
}

/// A block is a decision that was made, not an error.
fn status(entry: &Entry) -> Value {
    let failed = match entry.verdict {
        Verdict::Fault => true,
        Verdict::Gate | Verdict::Review => entry.is_failure(),
        Verdict::Block
        | Verdict::Ask
        | Verdict::Warn
        | Verdict::Watch
        | Verdict::Change
        | Verdict::Record => false,
    };
    if failed {
        json!({ "code": 2, "message": entry.reason })
    } else {
        json!({})
    }
}

fn parent(entry: &Entry) -> Parent {
    let said = entry.value.get("trace").and_then(Value::as_str);
    said.and_then(read).unwrap_or_else(|| {
        // A session is a trace; what belongs to none is one by itself.
        let own = own_id(entry);
        let seed = entry.session.as_deref().unwrap_or(&own);
        let (high, low) = (digest(("trace", 1, seed)), digest(("trace", 2, seed)));
        Parent {
            trace: format!("{high:016x}{low:016x}"),
            span: None,
        }
    })
}

/// `00-<trace>-<span>-<flags>`; ids of only zeros are none.
fn read(said: &str) -> Option<Parent> {
    let is_id = |text: &str, length: usize| {
        let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        text.len() == length && text.bytes().all(hex) && text.bytes().any(|b| b != b'0')
    };
    let mut parts = said.split('-');
    let (version, trace, span) = (parts.next()?, parts.next()?, parts.next()?);
    let known = version.len() == 2 && version != "ff" && is_id(trace, 32) && is_id(span, 16);
    known.then(|| Parent {
        trace: trace.to_owned(),
        span: Some(span.to_owned()),
    })
}

fn own_id(entry: &Entry) -> String {
    // An id of only zeros is invalid.
    format!("{:016x}", digest(("span", entry.value.to_string())).max(1))
}

fn digest(value: impl std::hash::Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_is_read_and_what_is_none_is_not() {
        let said = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let parent = read(said).unwrap();
        assert_eq!(parent.trace, "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(parent.span.as_deref(), Some("b7ad6b7169203331"));
        for wrong in [
            "",
            "00-0af7651916cd43dd8448eb211c80319c",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333-01",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}

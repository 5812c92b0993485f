//! What a reviewer's object says: pass or fail, and what it found.
//!
//! Forgiving in what does not matter (a line as text, a missing priority) and strict in what
//! does: a pass whose findings cannot be read is no pass.

use serde_json::{Map, Value};
use tollgate_store::redact::redact;

use super::cli::objects::{self, Deciding};
use super::cli::{Kind, NoAnswer, Spoken};
use super::finding::Priority;

/// What reviewers that can be held to a schema are held to. Strict, as Codex wants it: every key
/// is required, and what may be missing may be null.
pub(crate) const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"required":["status","message","violations"],"properties":{"status":{"type":"string","enum":["pass","fail"]},"message":{"type":["string","null"]},"violations":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["id","file","line","issue","fix","priority"],"properties":{"id":{"type":["string","null"]},"file":{"type":"string"},"line":{"type":["integer","null"]},"issue":{"type":"string"},"fix":{"type":["string","null"]},"priority":{"type":"string","enum":["critical","high","medium","low"]}}}}}}"#;

const STATUS: Deciding = Deciding {
    key: "status",
    words: &["pass", "fail"],
};

/// A reviewer's verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Pass,
    Fail,
}

/// What a reviewer's object says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Assessment {
    pub(crate) status: Status,
    pub(crate) message: String,
    pub(crate) violations: Vec<Violation>,
    /// How many findings could not be read. Only a fail may have some.
    pub(crate) unreadable: usize,
}

/// One finding as the reviewer wrote it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Violation {
    /// The id of an earlier finding that is still there.
    pub(crate) id: Option<String>,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u64>,
    pub(crate) issue: String,
    pub(crate) fix: Option<String>,
    pub(crate) priority: Option<Priority>,
}

/// Reads what a reviewer said.
pub(crate) fn read(spoken: &Spoken) -> Result<Assessment, NoAnswer> {
    decode(&objects::sole(spoken, STATUS)?)
}

fn decode(object: &Map<String, Value>) -> Result<Assessment, NoAnswer> {
    let status = match object.get("status").and_then(Value::as_str) {
        Some("pass") => Status::Pass,
        Some("fail") => Status::Fail,
        Some(_) | None => return Err(Kind::NoObject.because("no status")),
    };
    let message = object.get("message").and_then(Value::as_str);
    let (violations, unreadable) = match object.get("violations") {
        None | Some(Value::Null) => (vec![], 0),
        Some(Value::Array(items)) => {
            let read: Vec<Violation> = items.iter().filter_map(violation).collect();
            let unreadable = items.len() - read.len();
            (read, unreadable)
        }
        Some(_) => (vec![], 1),
    };
    if status == Status::Pass && unreadable > 0 {
        let what = format!("it says pass, with {unreadable} finding(s) that are none");
        return Err(Kind::Unreadable.because(what));
    }
    Ok(Assessment {
        status,
        message: redact(message.unwrap_or_default()).into_owned(),
        violations,
        unreadable,
    })
}

fn violation(value: &Value) -> Option<Violation> {
    let object = value.as_object()?;
    let text = |key: &str| {
        let text = object.get(key)?.as_str()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    // A reviewer quotes what it found, and this is kept in files and shown.
    let prose = |key: &str| text(key).map(|text| redact(&text).into_owned());
    Some(Violation {
        id: text("id"),
        file: text("file"),
        line: object.get("line").and_then(line),
        issue: prose("issue").or_else(|| prose("message"))?,
        fix: prose("fix"),
        priority: text("priority").and_then(|word| Priority::named(&word)),
    })
}

/// `12`, `"12"`, `"12-14"`, `"L12"`.
fn line(value: &Value) -> Option<u64> {
    if let Some(number) = value.as_u64() {
        return Some(number);
    }
    let digits = value
        .as_str()?
        .trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit());
    digits.get(..end.unwrap_or(digits.len()))?.parse().ok()
}

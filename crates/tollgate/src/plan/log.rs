//! Every stop of an agent and every step of a plan, one line each, with the state as it was then.
//!
//! One append for a stop with nothing to do: cheap enough to always know that the hook ran and
//! what it saw. A state that is destroyed is rebuilt from here.

use std::io;
use std::path::PathBuf;

use jiff::Timestamp;
use serde_json::{Value, json};
use tollgate_core::decision::Decision;
use tollgate_core::protocol::Event;
use tollgate_store::document::Document;
use tollgate_store::fs;
use tollgate_store::json::Object;
use tollgate_store::timestamp::iso;

use super::home::Plan;

/// The log and the one before it.
const NAMES: [&str; 2] = ["log.jsonl", "log.1.jsonl"];

/// How large a log grows before it is put away.
const LIMIT: u64 = 1 << 20;

/// The longest state that is kept: the specification's has 200 bytes.
const LONGEST: usize = 16 << 10;

/// One stop.
#[derive(Debug)]
pub(crate) struct Stop<'a> {
    session: Option<&'a str>,
    is_flagged: bool,
    /// What it came to.
    pub(crate) answer: &'static str,
    codes: Vec<String>,
}

impl<'a> Stop<'a> {
    /// A stop that is allowed so far.
    pub(crate) fn of(event: &'a Event<'_>) -> Self {
        Self {
            session: event.session.as_deref(),
            is_flagged: event.stop_hook_active,
            answer: "allowed",
            codes: Vec::new(),
        }
    }

    /// Takes over what `guard` had to say.
    pub(crate) fn take_codes(&mut self, outcome: &Decision, guard: &str) {
        if outcome.block.is_some() {
            self.answer = "blocked";
        }
        let reports = outcome.block.iter().chain(&outcome.warnings);
        let own = reports.filter(|report| report.guard == guard);
        self.codes.extend(own.map(|report| report.code.to_string()));
    }

    /// Writes the stop down.
    pub(crate) fn append(
        &self,
        plan: &Plan,
        now: Timestamp,
        state: Option<&str>,
    ) -> io::Result<()> {
        let line = json!({
            "ts": iso(now), "what": "stop", "answer": self.answer, "codes": self.codes,
            "flagged": self.is_flagged, "session": self.session,
            "state": state.filter(|text| text.len() <= LONGEST),
        });
        append(plan, &line)
    }
}

/// Writes down that a step was made, to this state.
pub(crate) fn step(plan: &Plan, now: Timestamp, state: &str) -> io::Result<()> {
    let state = Some(state).filter(|text| text.len() <= LONGEST);
    append(
        plan,
        &json!({ "ts": iso(now), "what": "step", "state": state }),
    )
}

fn append(plan: &Plan, line: &Value) -> io::Result<()> {
    let line = line.to_string();
    let [log, old] = paths(plan);
    // The directory may be there without hiding itself: a lock below it came first.
    if !log.exists() {
        fs::private_directory(plan.local())?;
    }
    let size = fs::append_line(&log, &line)?;
    // Another process that rotated it just now left a short one behind.
    if size > LIMIT && log.metadata().is_ok_and(|meta| meta.len() > LIMIT) {
        fs::relocate(&log, &old)?;
    }
    Ok(())
}

fn paths(plan: &Plan) -> [PathBuf; 2] {
    NAMES.map(|name| plan.local().join(name))
}

/// The last good state, and when it was seen.
pub(crate) fn last_state(plan: &Plan) -> Option<(String, Document)> {
    find_last(plan, |line| {
        let state = line.str("state")?;
        Some((line.str("ts")?.into_owned(), parse(&state)?))
    })
}

/// The last stop in words.
pub(crate) fn last_stop(plan: &Plan) -> Option<String> {
    find_last(plan, |line| {
        line.str("what").filter(|what| what == "stop")?;
        let codes = line
            .get("codes")
            .and_then(tollgate_store::json::Node::array);
        let codes: Vec<String> = codes
            .into_iter()
            .flatten()
            .filter_map(|code| code.str().map(std::borrow::Cow::into_owned))
            .collect();
        let why = if codes.is_empty() {
            String::new()
        } else {
            format!(" ({})", codes.join(", "))
        };
        Some(format!("{}{why}, {}", line.str("answer")?, line.str("ts")?))
    })
}

fn parse(state: &str) -> Option<Document> {
    let document = Document::parse(state.as_bytes()).ok()?;
    (!document.is_empty()).then_some(document)
}

/// The newest line that `read` makes something of. Torn lines are skipped.
fn find_last<T>(plan: &Plan, read: impl Fn(&Object<'_>) -> Option<T>) -> Option<T> {
    paths(plan).iter().find_map(|path| {
        let contents = fs::read_own(path, LIMIT * 2).ok()??;
        let text = String::from_utf8_lossy(&contents.bytes);
        let mut lines = text.lines().rev();
        lines.find_map(|line| read(&Object::parse(line).ok()?))
    })
}

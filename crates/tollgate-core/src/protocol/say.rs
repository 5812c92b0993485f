//! The words of an answer, and the JSON they go out in.

use std::borrow::Cow;
use std::io;

use serde_json::ser::{Formatter, Serializer};
use serde_json::{Map, Value};

use super::Answer;
use crate::decision::{Decision, Fault, Finding};

/// How long a reason may be, in the units that JavaScript counts (UTF-16). Claude Code and Codex
/// put what is longer into a file and show the model a preview.
pub const REASON_LIMIT: usize = 10_000;

const CUT: &str = "\n[Tollgate cut the rest of this message.]";

/// `text` within [`REASON_LIMIT`]. Its beginning stays: messages say first what is wrong.
pub(super) fn cap(text: &str) -> Cow<'_, str> {
    cap_to(text, REASON_LIMIT)
}

/// `text` within a limit.
fn cap_to(text: &str, limit: usize) -> Cow<'_, str> {
    // A byte is at least as much as a UTF-16 unit, so most texts need no counting.
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    let room = limit.saturating_sub(CUT.len());
    let mut units = 0;
    let mut end = 0;
    for (at, c) in text.char_indices() {
        if units + c.len_utf16() <= room {
            end = at + c.len_utf8();
        }
        units += c.len_utf16();
        if units > limit {
            let head = text.get(..end).unwrap_or_default();
            return Cow::Owned(format!("{head}{CUT}"));
        }
    }
    Cow::Borrowed(text)
}

/// Why something is blocked, and what helps, for a real agent.
pub(super) fn reason(finding: &Finding) -> Cow<'_, str> {
    Cow::Owned(and_next(why(&finding.whole(), finding), finding))
}

/// Why something is blocked, in the specifications' own words. Never empty: Codex lets a tool run
/// that is denied without a reason.
pub(super) fn verbatim(finding: &Finding) -> Cow<'_, str> {
    Cow::Owned(why(&finding.whole(), finding))
}

/// Why something is blocked, and what helps, without what only the agent needs.
pub(super) fn short(finding: &Finding) -> String {
    and_next(why(&finding.text, finding), finding)
}

/// A text about a finding, and behind it what leads out of it, for which the text makes room.
fn and_next(text: String, finding: &Finding) -> String {
    let Some(next) = &finding.next else {
        return text;
    };
    let next = format!("\n\nNext: {next}");
    let room = REASON_LIMIT.saturating_sub(next.encode_utf16().count());
    cap(&format!("{}{next}", cap_to(text.trim_end(), room))).into_owned()
}

fn why(text: &str, finding: &Finding) -> String {
    let mut texts = [text, &finding.reason].into_iter();
    match texts.find(|text| !text.trim().is_empty()) {
        Some(text) => cap(text).into_owned(),
        None => format!("Blocked by {} ({}).", finding.guard, finding.code),
    }
}

/// What the person reads where the agent has no ear of its own: notices, and the first line of
/// what the guards say.
pub(super) fn only_channel(decision: &Decision) -> Option<String> {
    let guidance = decision.guidance.iter();
    let guidance = guidance
        .filter_map(|text| first_line(text))
        .map(str::to_owned);
    lines(notices(decision).into_iter().chain(guidance))
}

/// One line per warning and fault, for the person; with the specifications' warnings, which say
/// in their first line that something is wrong and below it what, all of them.
pub(super) fn notices(decision: &Decision) -> Option<String> {
    let warnings = decision.warnings.iter().map(|finding| {
        let whole = finding.text.trim();
        let mut below = whole.lines().skip(1).peekable();
        let has_details = below.peek().is_some() && below.all(|line| line.starts_with("  "));
        let first = if has_details {
            whole
        } else {
            first_line(whole).unwrap_or(&finding.reason)
        };
        // The specifications' warnings begin with the guard's name already.
        let first = first
            .strip_prefix('[')
            .and_then(|rest| rest.strip_prefix(finding.guard)?.strip_prefix(']'))
            .map_or(first, str::trim_start);
        format!("Tollgate: {}: {first}", finding.guard)
    });
    lines(warnings.chain(decision.faults.iter().map(fault_line)))
}

/// The whole text of every warning, what helps then, and all guidance, for the agent.
pub(super) fn context(decision: &Decision) -> Option<String> {
    let warnings = decision.warnings.iter();
    let warnings = warnings.map(|finding| and_next(warning(finding), finding));
    lines(warnings.chain(decision.guidance.iter().cloned()))
}

pub(super) fn warnings(decision: &Decision) -> Option<String> {
    lines(decision.warnings.iter().map(warning))
}

fn warning(finding: &Finding) -> String {
    if finding.text.trim().is_empty() {
        format!("{}: {}", finding.guard, finding.reason)
    } else {
        finding.text.trim_end().to_owned()
    }
}

/// Warnings in full, notes and faults, for stderr.
pub(super) fn log(decision: &Decision) -> String {
    let notes = decision.notes.iter().map(|note| note.text.clone());
    // A note without a text is for the log alone.
    let notes = notes.filter(|text| !text.is_empty());
    let said = lines(notes.chain(warnings(decision)));
    let mut text = said.map(|text| text + "\n").unwrap_or_default();
    text.push_str(&fault_lines(&decision.faults));
    text
}

/// One line per fault, for stderr.
pub(super) fn fault_lines(faults: &[Fault]) -> String {
    let lines = faults.iter().map(|fault| fault_line(fault) + "\n");
    lines.collect()
}

/// The answer of agents that show a `systemMessage` to the person.
pub(super) fn to_person(faults: &[Fault]) -> Answer {
    let mut object = Map::new();
    let text = lines(faults.iter().map(fault_line));
    put(&mut object, "systemMessage", text);
    print(&object)
}

pub(super) fn to_log(faults: &[Fault]) -> Answer {
    Answer {
        stderr: fault_lines(faults),
        ..Answer::default()
    }
}

pub(super) fn fault_line(fault: &Fault) -> String {
    format!("Tollgate: {}", fault.text.trim())
}

fn first_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).find(|line| !line.is_empty())
}

fn lines(texts: impl Iterator<Item = String>) -> Option<String> {
    let text = texts.collect::<Vec<_>>().join("\n");
    (!text.is_empty()).then(|| cap(&text).into_owned())
}

/// Adds a member, if there is something to say.
pub(super) fn put<T: Into<Value>>(object: &mut Map<String, Value>, key: &str, value: Option<T>) {
    if let Some(value) = value {
        object.insert(key.to_owned(), value.into());
    }
}

/// `{"decision":"block","reason":…}`, which every agent but Cursor takes at a stop.
pub(super) fn block(object: &mut Map<String, Value>, word: &str, reason: Cow<'_, str>) {
    put(object, "decision", Some(word));
    put(object, "reason", Some(reason));
}

/// What keeps a tool from running at Claude Code and those who took that over.
pub(super) fn deny(object: &mut Map<String, Value>, finding: &Finding) {
    put(object, "permissionDecision", Some("deny"));
    put(object, "permissionDecisionReason", Some(reason(finding)));
}

/// What has the person asked before a tool runs.
pub(super) fn ask(object: &mut Map<String, Value>, finding: &Finding) {
    put(object, "permissionDecision", Some("ask"));
    put(object, "permissionDecisionReason", Some(reason(finding)));
}

/// The notices for the person, and for the model all that the guards say.
pub(super) fn put_messages(object: &mut Map<String, Value>, event: &str, decision: &Decision) {
    put(object, "systemMessage", notices(decision));
    nest(object, event, decision);
}

/// What the model reads, in the shape that names the event.
pub(super) fn nest(object: &mut Map<String, Value>, event: &str, decision: &Decision) {
    if let Some(context) = context(decision) {
        let mut nested = Map::new();
        put(&mut nested, "hookEventName", Some(event));
        put(&mut nested, "additionalContext", Some(context));
        object.insert("hookSpecificOutput".to_owned(), Value::Object(nested));
    }
}

/// The answer that says `object`; an empty one says nothing.
pub(super) fn print(object: &Map<String, Value>) -> Answer {
    let mut answer = Answer::default();
    if !object.is_empty() {
        answer.stdout = format!("{}\n", Value::Object(object.clone()));
    }
    answer
}

/// The same with blanks, `{"decision": "block", "reason": "…"}`, as specifications 002 and 003
/// show it.
pub(super) fn print_spaced(object: &Map<String, Value>) -> Answer {
    let mut out = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut out, Spaced);
    let written = serde::Serialize::serialize(object, &mut serializer);
    match (written, String::from_utf8(out)) {
        (Ok(()), Ok(text)) if !object.is_empty() => Answer {
            stdout: text + "\n",
            ..Answer::default()
        },
        // Writing a map of texts to memory does not fail; compact bytes are right as well.
        (Ok(()) | Err(_), _) => print(object),
    }
}

struct Spaced;

impl Formatter for Spaced {
    fn begin_object_key<W: io::Write + ?Sized>(
        &mut self,
        w: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { w.write_all(b", ") }
    }

    fn begin_object_value<W: io::Write + ?Sized>(&mut self, w: &mut W) -> io::Result<()> {
        w.write_all(b": ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_reason_is_cut_at_a_character_and_says_so() {
        for unit in ["x", "ä", "日", "🦀"] {
            let long = unit.repeat(REASON_LIMIT + 1);
            let capped = cap(&long);
            assert!(capped.encode_utf16().count() <= REASON_LIMIT, "{unit}");
            assert!(capped.starts_with(unit) && capped.ends_with(CUT), "{unit}");
        }
        let exact = "ä".repeat(REASON_LIMIT);
        assert_eq!(cap(&exact), exact);
    }
}

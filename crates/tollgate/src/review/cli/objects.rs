//! The one object that is the answer.
//!
//! A model that is not held to a schema writes prose around its answer, quotes code, drafts and
//! corrects itself. An answer counts only if there is no doubt which object it is: exactly one
//! of the schema in the whole text, not part of a quotation. JSON that breaks off or does not
//! parse makes the whole text doubtful, because what looks like an object behind it may be a
//! part of it.

use serde_json::{Map, Value};

use super::{Channel, Kind, NoAnswer, Spoken};

/// What tells an object of the schema from others: a key and the words it may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deciding {
    pub(crate) key: &'static str,
    pub(crate) words: &'static [&'static str],
}

/// An object in a text.
struct FoundObject<'t> {
    object: Map<String, Value>,
    before: &'t str,
    text: &'t str,
    after: &'t str,
}

/// What a quotation has right in front of it or behind it.
const QUOTES: [char; 5] = ['`', '\'', '"', '\\', '“'];

/// How a line of a diff, a quotation, a comment or a table begins.
const QUOTED_LINES: [&str; 7] = ["+", "-", ">", "|", "//", "#", "*"];

/// Fences that an answer may stand in; any other language is quoted code.
const FENCES: [&str; 4] = ["", "json", "jsonc", "json5"];

/// The answer in what a reviewer said.
pub(crate) fn sole(spoken: &Spoken, deciding: Deciding) -> Result<Map<String, Value>, NoAnswer> {
    match spoken.channel {
        Channel::Schema => whole(&spoken.text, deciding),
        Channel::Prose => only(&spoken.text, deciding),
        Channel::Missed => Err(Kind::NoObject.because(format!(
            "it did not keep to the schema and wrote: {}",
            spoken.text
        ))),
    }
}

/// The whole text is the object.
fn whole(text: &str, deciding: Deciding) -> Result<Map<String, Value>, NoAnswer> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => {
            let found = FoundObject {
                object,
                before: "",
                text,
                after: "",
            };
            found.decides(deciding)?;
            Ok(found.object)
        }
        Ok(_) => Err(Kind::NoObject.because("it is not an object")),
        Err(error) => Err(Kind::Unreadable.because(error)),
    }
}

/// The only object of the schema in a text.
pub(crate) fn only(text: &str, deciding: Deciding) -> Result<Map<String, Value>, NoAnswer> {
    let mut answer = None;
    let mut count = 0;
    let mut near_miss = None;
    for found in objects(text)? {
        if !found.object.contains_key(deciding.key) {
            // What decides inside of another object may be what was meant.
            count += usize::from(found.object.values().any(|value| has(value, deciding)));
            continue;
        }
        match found.decides(deciding) {
            Ok(()) => {
                count += 1;
                answer = Some(found);
            }
            Err(miss) if miss.kind == Kind::NoObject => near_miss = near_miss.or(Some(miss)),
            Err(doubt) => return Err(doubt),
        }
    }
    let key = deciding.key;
    match answer {
        None => Err(near_miss
            .filter(|miss| !miss.detail.is_empty())
            .unwrap_or_else(|| {
                Kind::NoObject.because(format!("no JSON object with {key:?} in what it said"))
            })),
        Some(_) if count > 1 => {
            Err(Kind::SeveralObjects.because(format!("{count} objects with {key:?}")))
        }
        Some(found) if found.is_quoted() => Err(Kind::NoObject.because(format!(
            "the only object with {key:?} is part of a quotation"
        ))),
        Some(found) => Ok(found.object),
    }
}

/// Whether an object of the schema is somewhere in a value.
fn has(value: &Value, deciding: Deciding) -> bool {
    match value {
        Value::Object(members) => {
            let word = members.get(deciding.key).and_then(Value::as_str);
            word.is_some_and(|word| deciding.words.contains(&word))
                || members.values().any(|value| has(value, deciding))
        }
        Value::Array(items) => items.iter().any(|value| has(value, deciding)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Every outermost JSON object in a text, in one pass.
fn objects(text: &str) -> Result<Vec<FoundObject<'_>>, NoAnswer> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some((before, rest)) = text.get(at..).and_then(|rest| {
        let offset = rest.find('{')?;
        text.split_at_checked(at + offset)
    }) {
        if !begins_like_json(rest) {
            at = before.len() + 1;
            continue;
        }
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(Value::Object(object))) => {
                let (text, after) = rest
                    .split_at_checked(values.byte_offset())
                    .unwrap_or((rest, ""));
                at = before.len() + text.len();
                found.push(FoundObject {
                    object,
                    before,
                    text,
                    after,
                });
            }
            Some(Err(error)) if error.is_eof() => {
                return Err(Kind::Unreadable.because("its JSON breaks off"));
            }
            Some(Err(error)) => {
                let line = before.matches('\n').count() + error.line();
                return Err(
                    Kind::Unreadable.because(format!("broken JSON in line {line}: {error}"))
                );
            }
            // What begins with a brace is an object or an error.
            Some(Ok(_)) | None => at = before.len() + 1,
        }
    }
    Ok(found)
}

/// Code has braces too, but hardly a quote or another brace right behind one.
fn begins_like_json(text: &str) -> bool {
    let inside = text.strip_prefix('{').unwrap_or(text).trim_start();
    inside.starts_with(['"', '}'])
}

impl FoundObject<'_> {
    /// Whether it is an object of the schema.
    fn decides(&self, deciding: Deciding) -> Result<(), NoAnswer> {
        let key = deciding.key;
        let Some(value) = self.object.get(key) else {
            return Err(Kind::NoObject.because(""));
        };
        let word = value.as_str().unwrap_or_default();
        if !deciding.words.contains(&word) {
            let words = deciding.words.join(" or ");
            return Err(Kind::NoObject.because(format!("{key:?} is {value}, not {words}")));
        }
        // `serde_json` takes the last of two; who reads the text takes the first.
        let members = tollgate_store::json::Object::parse(self.text);
        if members.is_ok_and(|members| members.get_all(key).count() > 1) {
            return Err(Kind::SeveralObjects.because(format!("{key:?} is there twice")));
        }
        Ok(())
    }

    /// Whether it stands where quoted code stands.
    fn is_quoted(&self) -> bool {
        let (before, after) = (self.before, self.after);
        let line = before.rsplit('\n').next().unwrap_or_default().trim_start();
        let is_close =
            before.ends_with(QUOTES) || (after.starts_with(QUOTES) && !after.starts_with("```"));
        let is_part =
            before.trim_end().ends_with('[') || after.trim_start().starts_with([',', ']', '}']);
        let is_marked = QUOTED_LINES.iter().any(|mark| line.starts_with(mark));
        is_close || is_part || is_marked || is_in_code(before)
    }
}

/// Whether the text ends inside a fence of another language.
fn is_in_code(before: &str) -> bool {
    let mut language = None;
    let fences = before
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("```"));
    for info in fences {
        language = match language {
            None => Some(info.trim().to_lowercase()),
            Some(_) => None,
        };
    }
    language.is_some_and(|language| {
        let word = language.split([' ', '{']).next().unwrap_or_default();
        !FENCES.contains(&word)
    })
}

//! The one object that is the answer.
//!
//! A model that is not held to a schema writes prose around its answer, quotes code, drafts and
//! corrects itself. An answer counts only if there is no doubt about it: it is the only object of
//! the schema and the last object of the text, alone on its lines or in a fence, and the prose
//! around it gives no verdict of its own and refuses nothing. JSON that breaks off or does not
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

/// What prose says when it decides by itself, or when the object is only an example: in small
/// letters, words apart by one blank.
const OWN_VERDICTS: [&str; 37] = [
    "pass",
    "passes",
    "passed",
    "passing",
    "fail",
    "fails",
    "failed",
    "failing",
    "failure",
    "verdict",
    "approve",
    "approved",
    "reject",
    "rejected",
    "lgtm",
    "cannot",
    "can't",
    "can not",
    "could not",
    "couldn't",
    "unable",
    "not able",
    "won't",
    "will not",
    "would be",
    "would have",
    "would answer",
    "would say",
    "refuse",
    "decline",
    "sorry",
    "no access",
    "not review",
    "not reviewed",
    "example",
    "placeholder",
    "hypothetical",
];

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
    let objects = objects(text)?;
    let last = objects.last().map(|found| found.before.len());
    for found in objects {
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
        Some(found) if last != Some(found.before.len()) => {
            Err(Kind::NoObject.because(format!("another object follows the one with {key:?}")))
        }
        Some(found) if !found.is_alone() => Err(Kind::NoObject.because(format!(
            "the only object with {key:?} is part of a quotation"
        ))),
        Some(found) => match found.own_verdict() {
            None => Ok(found.object),
            Some(words) => Err(Kind::NoObject.because(format!(
                "the text around its object says {words:?}, so the object may be a quotation"
            ))),
        },
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

    /// Whether nothing else is on its lines, and it is no part of something larger.
    fn is_alone(&self) -> bool {
        let (before, after) = (self.before, self.after);
        let is_blank = |line: Option<&str>| line.is_none_or(|line| line.trim().is_empty());
        let is_part =
            before.trim_end().ends_with('[') || after.trim_start().starts_with([',', ']', '}']);
        is_blank(before.rsplit('\n').next())
            && is_blank(after.split('\n').next())
            && !is_part
            && !is_in_code(before)
    }

    /// What the text around it says of a verdict.
    fn own_verdict(&self) -> Option<&'static str> {
        let prose = format!("{}\n{}", self.before, self.after);
        let prose = prose.replace('’', "'").to_lowercase();
        let words = prose.split(|c: char| !c.is_alphanumeric() && c != '\'');
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let said = format!(" {} ", words.join(" "));
        let mut own = OWN_VERDICTS.into_iter();
        own.find(|words| said.contains(&format!(" {words} ")))
    }
}

/// Whether the text ends inside a fence of another language.
fn is_in_code(before: &str) -> bool {
    let mut language = None;
    let fences = before.lines().filter_map(|line| {
        let line = line.trim_start();
        line.strip_prefix("```")
            .or_else(|| line.strip_prefix("~~~"))
    });
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

//! A JSON document that can be changed without disturbing the rest of it.
//!
//! Other programs and older versions own keys in the same file. So everything that was not changed is
//! written as it was read: the order of keys, unknown keys, the digits of numbers, the newline at
//! the end or its absence. The layout is that of `JSON.stringify(value, null, 2)`.
//!
//! A state holds years of history, and to decode and print 64 KB of it takes longer than all the rest
//! of an event (1.2 `/bin/true`, measured). So a caller that knows which members a change touches reads
//! only those (`parse_only`); the others stay the text that they are, and a log gets a line
//! without being decoded.
//!
//! What this deliberately does not do: know any field of the workflow.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize as _;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Map, Value};

pub use crate::json::whole;
use crate::json::{Kind, Malformed, Node, Object};

/// The largest state file: the original's own are 80 KB, and 16 MB is years of them.
pub const STATE_CAP: u64 = 16 << 20;

/// A change that cannot be made, because something else is in its way.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` is {found}, not {wanted}")]
pub struct InTheWay {
    /// Where.
    pub path: String,
    /// What is there.
    pub found: &'static str,
    /// What would have to be there.
    pub wanted: &'static str,
}

/// A JSON object, and whether it still says what it said when it was read.
#[derive(Clone, Debug)]
pub struct Document {
    root: Value,
    /// The texts of members that were not read. In `root` they are `null`.
    unread: BTreeMap<String, String>,
    ending: Ending,
    surrogates: Surrogates,
    changed: bool,
    /// How long the text was, so that the next one is written without growing its buffer.
    length: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Newline,
    Nothing,
}

impl Ending {
    fn of(text: &str) -> Self {
        if text.ends_with('\n') {
            Self::Newline
        } else {
            Self::Nothing
        }
    }
}

/// JavaScript cuts strings between the halves of a character and writes the half as `\ud83d`. No
/// Rust string can hold that, so it is carried as [`STAND_IN`] and its four digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Surrogates {
    None,
    StandIns,
}

/// A character that Unicode promises never to assign.
pub(crate) const STAND_IN: char = '\u{fdd7}';

impl Default for Document {
    fn default() -> Self {
        Self {
            root: Value::Object(Map::new()),
            unread: BTreeMap::new(),
            ending: Ending::Nothing,
            surrogates: Surrogates::None,
            changed: false,
            length: 0,
        }
    }
}

impl Document {
    /// Reads a text. Of a key that is there twice the last value counts, as everywhere.
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| Malformed::at(bytes, error.valid_up_to(), "this is not UTF-8"))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (root, surrogates) = match serde_json::from_str::<Value>(text) {
            Ok(root) => (root, Surrogates::None),
            Err(error) => match with_stand_ins(text).map(|text| serde_json::from_str(&text)) {
                Some(Ok(root)) => (root, Surrogates::StandIns),
                Some(Err(error)) => return Err(malformed(&error)),
                None if text.trim().is_empty() => {
                    return Err(Malformed {
                        what: "the file is empty".into(),
                        ..malformed(&error)
                    });
                }
                None => return Err(malformed(&error)),
            },
        };
        if !root.is_object() {
            return Err(Malformed {
                line: 1,
                column: 1,
                what: format!("this is {}, not an object", Kind::of(&root)).into(),
            });
        }
        Ok(Self {
            root,
            unread: BTreeMap::new(),
            ending: Ending::of(text),
            surrogates,
            changed: false,
            length: text.len(),
        })
    }

    /// Reads a text for a change that looks at members of these names only: the others are `null` in
    /// the document, and in its text what they were, but that [`Self::push`] may append to them.
    /// Nothing inside of them is checked, which would make a recorded event a third slower; a file that
    /// another program changed is checked when the change is found (integrity). All of it is read
    /// where the text is not printed as here, or has a key twice.
    pub(super) fn parse_only(bytes: &[u8], names: &[&str]) -> Result<Self, Malformed> {
        match Self::parse_members(bytes, names) {
            Some(document) => Ok(document),
            None => Self::parse(bytes),
        }
    }

    fn parse_members(bytes: &[u8], names: &[&str]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        text.starts_with("{\n  \"").then_some(())?;
        let mut root = Map::new();
        let mut unread = BTreeMap::new();
        for (name, node) in Object::parse(text).ok()?.into_members() {
            // A key with an escape: the full parse keeps what no Rust string can hold.
            let Cow::Borrowed(name) = name else {
                return None;
            };
            let value = if names.contains(&name) {
                serde_json::from_str(node.text()).ok()?
            } else {
                unread.insert(name.to_owned(), node.text().to_owned());
                Value::Null
            };
            let twice = root.insert(name.to_owned(), value).is_some();
            (!twice).then_some(())?;
        }
        Some(Self {
            root: Value::Object(root),
            unread,
            ending: Ending::of(text),
            length: text.len(),
            ..Self::default()
        })
    }

    /// The text, with two blanks per level.
    pub fn to_text(&self) -> String {
        let mut text = String::with_capacity(self.length + 4096);
        let mut separator = "{\n  ";
        for (name, value) in self.members().into_iter().flatten() {
            text.push_str(separator);
            text.push_str(&printed(&Value::from(name.as_str())));
            text.push_str(": ");
            match self.unread.get(name) {
                Some(unread) => text.push_str(unread),
                // A string has no bare line breaks, so each one is of the print.
                None => text.push_str(&printed(value).replace('\n', "\n  ")),
            }
            separator = ",\n  ";
        }
        text.push_str(if self.is_empty() { "{}" } else { "\n}" });
        if self.surrogates == Surrogates::StandIns {
            text = without_stand_ins(&text);
        }
        if self.ending == Ending::Newline {
            text.push('\n');
        }
        text
    }

    /// Whether anything was changed since it was read.
    pub fn is_changed(&self) -> bool {
        self.changed
    }

    /// Whether it has no members, as a document that was just made.
    pub fn is_empty(&self) -> bool {
        self.members().is_none_or(Map::is_empty)
    }

    /// The value at a path of keys; a number leads into an array.
    pub fn get<S: AsRef<str>>(&self, path: &[S]) -> Option<&Value> {
        path.iter().try_fold(&self.root, |value, key| match value {
            Value::Object(members) => members.get(key.as_ref()),
            Value::Array(items) => items.get(key.as_ref().parse::<usize>().ok()?),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        })
    }

    /// The value at `path` if it is a string.
    pub fn str<S: AsRef<str>>(&self, path: &[S]) -> Option<&str> {
        self.get(path)?.as_str()
    }

    /// The value at `path` if it is a boolean.
    pub fn bool<S: AsRef<str>>(&self, path: &[S]) -> Option<bool> {
        self.get(path)?.as_bool()
    }

    /// The value at `path` if it is a whole number that is not negative; `3.0` is one, as it is
    /// in JavaScript.
    pub fn u64<S: AsRef<str>>(&self, path: &[S]) -> Option<u64> {
        whole(self.get(path)?)
    }

    /// The value at `path` if it is an array.
    pub fn array<S: AsRef<str>>(&self, path: &[S]) -> Option<&[Value]> {
        self.get(path)?.as_array().map(Vec::as_slice)
    }

    /// The value at `path` if it is an object.
    pub fn object<S: AsRef<str>>(&self, path: &[S]) -> Option<&Map<String, Value>> {
        self.get(path)?.as_object()
    }

    /// The members of the document.
    pub fn members(&self) -> Option<&Map<String, Value>> {
        self.root.as_object()
    }

    /// Puts a value at `path`. What was there keeps its place among its siblings, what is new
    /// comes last; missing or `null` objects on the way are made.
    pub fn set<S: AsRef<str>>(
        &mut self,
        path: &[S],
        value: impl Into<Value>,
    ) -> Result<(), InTheWay> {
        let value = value.into();
        if self.get(path).is_some_and(|old| same(old, &value)) {
            return Ok(());
        }
        *self.make(path)? = value;
        self.changed = true;
        Ok(())
    }

    /// Removes the value at `path` and keeps the order of the others. Gives it back.
    pub fn remove<S: AsRef<str>>(&mut self, path: &[S]) -> Option<Value> {
        let (last, way) = path.split_last()?;
        let way = way.iter().map(AsRef::as_ref);
        let removed = match descend(&mut self.root, way)? {
            Value::Object(members) => members.shift_remove(last.as_ref()),
            Value::Array(items) => {
                let index = last.as_ref().parse::<usize>().ok()?;
                (index < items.len()).then(|| items.remove(index))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        };
        self.changed |= removed.is_some();
        removed
    }

    /// Whether there is an array at `path`, read or not.
    pub(crate) fn has_list<S: AsRef<str>>(&self, path: &[S]) -> bool {
        let unread = match path {
            [name] => self.unread.get(name.as_ref()),
            _ => None,
        };
        match unread {
            Some(text) => text.starts_with('['),
            None => self.array(path).is_some(),
        }
    }

    /// Appends a value to the array at `path`, which is made if it is missing or `null`, and then
    /// keeps only the last `keep` of it. Gives back what fell off its front.
    pub fn push<S: AsRef<str>>(
        &mut self,
        path: &[S],
        value: impl Into<Value>,
        keep: Option<usize>,
    ) -> Result<Vec<Value>, InTheWay> {
        let value = value.into();
        if let [name] = path
            && let Some(list) = self.unread.get_mut(name.as_ref())
        {
            let (pushed, dropped) = pushed(list, &value, keep).ok_or_else(|| InTheWay {
                path: join(path),
                found: kind_of(list),
                wanted: "an array",
            })?;
            *list = pushed;
            self.changed = true;
            return Ok(dropped);
        }
        self.refuse(path, "an array", |old| old.is_array() || old.is_null())?;
        let place = self.make(path)?;
        if place.is_null() {
            *place = Value::Array(Vec::new());
        }
        let Value::Array(items) = place else {
            return Ok(Vec::new());
        };
        items.push(value);
        let dropped = keep.map_or(0, |keep| items.len().saturating_sub(keep));
        let dropped = items.drain(..dropped).collect();
        self.changed = true;
        Ok(dropped)
    }

    /// Adds to the number at `path`; a missing one or `null` counts as 0.
    pub fn add<S: AsRef<str>>(&mut self, path: &[S], amount: i64) -> Result<(), InTheWay> {
        self.refuse(path, "a whole number", |old| {
            old.is_null() || count(old).is_some()
        })?;
        let old = self.get(path).and_then(count).unwrap_or(0);
        self.set(path, old.saturating_add(amount))
    }

    /// Fails if there is something at `path` that is not as wanted.
    fn refuse<S: AsRef<str>>(
        &self,
        path: &[S],
        wanted: &'static str,
        is_fine: impl Fn(&Value) -> bool,
    ) -> Result<(), InTheWay> {
        match self.get(path) {
            Some(value) if !is_fine(value) => Err(InTheWay {
                path: join(path),
                found: Kind::of(value).as_str(),
                wanted,
            }),
            Some(_) | None => Ok(()),
        }
    }

    /// The place at `path`, made with all that leads to it. Nothing is made if it cannot all be.
    fn make<S: AsRef<str>>(&mut self, path: &[S]) -> Result<&mut Value, InTheWay> {
        for (depth, key) in path.iter().enumerate() {
            let way = path.get(..depth).unwrap_or_default();
            let fits = |value: &Value| match value {
                Value::Object(_) => true,
                Value::Null => depth > 0,
                Value::Array(items) => key
                    .as_ref()
                    .parse::<usize>()
                    .is_ok_and(|index| index < items.len()),
                Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
            };
            self.refuse(way, "an object", fits)?;
        }
        let mut place = &mut self.root;
        for key in path {
            if place.is_null() {
                *place = Value::Object(Map::new());
            }
            place = match place {
                Value::Object(members) => members.entry(key.as_ref()).or_insert(Value::Null),
                // The checks above leave only an index that is there.
                Value::Array(_)
                | Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_) => place
                    .get_mut(key.as_ref().parse::<usize>().unwrap_or(usize::MAX))
                    .ok_or_else(|| InTheWay {
                        path: join(path),
                        found: "an array",
                        wanted: "an object",
                    })?,
            };
        }
        Ok(place)
    }
}

fn printed(value: &Value) -> String {
    let mut bytes = Vec::new();
    let mut serializer =
        Serializer::with_formatter(&mut bytes, PrettyFormatter::with_indent(b"  "));
    // Writing a `Value` to a `Vec` has no way to fail: its keys are strings.
    let _infallible = value.serialize(&mut serializer);
    String::from_utf8(bytes).unwrap_or_default()
}

/// The text of a member that is a list or `null`, with one more item, and of all only the last `keep`;
/// and what fell off.
fn pushed(list: &str, value: &Value, keep: Option<usize>) -> Option<(String, Vec<Value>)> {
    let node = Node::parse(list).ok()?;
    let items = if node.is_null() {
        Vec::new()
    } else {
        node.array()?
    };
    let new = printed(value).replace('\n', "\n    ");
    let mut texts: Vec<&str> = items.into_iter().map(Node::text).collect();
    texts.push(&new);
    let dropped = keep.map_or(0, |keep| texts.len().saturating_sub(keep));
    let dropped = texts.drain(..dropped).map(decoded).collect();
    if texts.is_empty() {
        return Some(("[]".to_owned(), dropped));
    }
    Some((format!("[\n    {}\n  ]", texts.join(",\n    ")), dropped))
}

/// The value of an item that was not read; a stand-in if no value can hold it.
fn decoded(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| STAND_IN.to_string().into())
}

/// What a member's text is.
fn kind_of(text: &str) -> &'static str {
    serde_json::from_str(text).map_or("malformed", |value| Kind::of(&value).as_str())
}

fn descend(root: &mut Value, mut way: impl Iterator<Item = impl AsRef<str>>) -> Option<&mut Value> {
    way.try_fold(root, |value, key| match value {
        Value::Object(members) => members.get_mut(key.as_ref()),
        Value::Array(items) => items.get_mut(key.as_ref().parse::<usize>().ok()?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    })
}

/// Equal to the digit and in the same order; `Value`'s own equality ignores order.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((k, v), (l, w))| k == l && same(v, w))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(v, w)| same(v, w))
        }
        (a, b) => a == b,
    }
}

fn count(value: &Value) -> Option<i64> {
    let counted = || i64::try_from(whole(value)?).ok();
    value.as_i64().or_else(counted)
}

pub(crate) fn join<S: AsRef<str>>(path: &[S]) -> String {
    let keys: Vec<_> = path.iter().map(AsRef::as_ref).collect();
    keys.join(".")
}

fn malformed(error: &serde_json::Error) -> Malformed {
    let whole = error.to_string();
    // The position has fields of its own.
    let what = whole.split(" at line ").next().unwrap_or_default();
    Malformed {
        line: error.line().max(1),
        column: error.column(),
        what: what.to_owned().into(),
    }
}

/// The text with every unpaired `\ud8xx` replaced by its stand-in; `None` if there is none.
fn with_stand_ins(text: &str) -> Option<String> {
    if text.contains(STAND_IN) {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut found = false;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let length = match unit(escape) {
            Some(0xd800..=0xdbff) => match escape.get(6..).and_then(unit) {
                Some(0xdc00..=0xdfff) => 12,
                Some(_) | None => 0,
            },
            Some(0xdc00..=0xdfff) => 0,
            Some(unit) if u32::from(unit) == u32::from(STAND_IN) => return None,
            Some(_) => 6,
            None => 1 + escape.chars().nth(1).map_or(0, char::len_utf8),
        };
        if length > 0 {
            out.push_str(escape.get(..length)?);
            rest = escape.get(length..)?;
        } else {
            found = true;
            out.push(STAND_IN);
            out.push_str(escape.get(2..6)?);
            rest = escape.get(6..)?;
        }
    }
    out.push_str(rest);
    found.then_some(out)
}

/// The number of an escape `\uXXXX` at the start of the text.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits
        .bytes()
        .all(|b| b.is_ascii_hexdigit())
        .then(|| u16::from_str_radix(digits, 16).ok())?
}

fn without_stand_ins(text: &str) -> String {
    text.replace(STAND_IN, "\\u")
}

#[cfg(test)]
mod tests;

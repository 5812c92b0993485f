//! A lazy, forgiving view of a JSON text.
//!
//! An event can carry a 12 MB file and a state file years of history, while a guard wants three
//! short strings out of them. So an [`Object`] is cut into its members in one pass, and a
//! [`Node`] is decoded only when its value is needed. A wrong type is an answer
//! (`None`), never an error that hides the rest of the document.
//!
//! What this deliberately does not do: change documents. Writing goes through
//! [`crate::document`], which keeps order and unknown keys.

mod scan;

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde_json::Value;

use scan::{Flaw, Member, Scanner};

/// One value of a JSON text, not decoded yet.
#[derive(Clone, Copy, Hash)]
pub struct Node<'a>(&'a str);

/// The members of a JSON object in the order of the text, duplicates included.
#[derive(Clone, Default)]
pub struct Object<'a> {
    members: Vec<(Cow<'a, str>, Node<'a>)>,
}

/// Where and how a text is no JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {what}")]
pub struct Malformed {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in bytes, counted from 1; 0 where the text ends too early on an empty line.
    pub column: usize,
    /// What is wrong there.
    pub what: Cow<'static, str>,
}

/// What a [`Node`] is, by its first character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// a number
    Number,
    /// a string
    String,
    /// an array
    Array,
    /// an object
    Object,
}

impl Kind {
    /// What a decoded value is.
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Bool,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    /// In words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Malformed {
    /// What is wrong at a byte of a text.
    pub(crate) fn at(bytes: &[u8], at: usize, what: &'static str) -> Self {
        let before = bytes.get(..at).unwrap_or_default();
        let line_start = before
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |at| at + 1);
        Self {
            line: before.split(|byte| *byte == b'\n').count(),
            column: at - line_start + 1,
            what: what.into(),
        }
    }

    fn of(text: &str, flaw: Flaw) -> Self {
        Self::at(text.as_bytes(), flaw.at, flaw.what)
    }
}

impl<'a> Node<'a> {
    /// Reads a whole text as one value.
    pub fn parse(text: &'a str) -> Result<Self, Malformed> {
        let value = Scanner::new(text).single();
        value.map(Self).map_err(|flaw| Malformed::of(text, flaw))
    }

    /// The text of the value as it is in the document.
    pub fn text(self) -> &'a str {
        self.0
    }

    /// What the value is.
    pub fn kind(self) -> Kind {
        match self.0.as_bytes().first() {
            Some(b'"') => Kind::String,
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') => Kind::Null,
            _ => Kind::Number,
        }
    }

    /// Whether the value is `null`.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// Whether the value is literally `true`.
    pub fn is_true(self) -> bool {
        self.0 == "true"
    }

    /// What JavaScript calls truthy: the originals test most of their fields this way.
    pub fn truthy(self) -> bool {
        match self.kind() {
            Kind::Null => false,
            Kind::Bool => self.is_true(),
            Kind::Number => self.f64().is_some_and(|n| n != 0.0),
            Kind::String => self.0 != "\"\"",
            Kind::Array | Kind::Object => true,
        }
    }

    /// The value if it is a string. Unpaired surrogates, which JavaScript writes, become U+FFFD.
    pub fn str(self) -> Option<Cow<'a, str>> {
        (self.kind() == Kind::String).then(|| unquote(self.0))?
    }

    /// The strings in the value if it is an array.
    pub fn texts(self) -> Option<Vec<String>> {
        let texts = self.array()?.into_iter().filter_map(Self::str);
        Some(texts.map(Cow::into_owned).collect())
    }

    /// The value if it is a boolean.
    pub fn bool(self) -> Option<bool> {
        match self.0 {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The value if it is a number.
    pub fn f64(self) -> Option<f64> {
        if self.kind() == Kind::Number {
            self.0.parse().ok()
        } else {
            None
        }
    }

    /// The value if it is a whole number that is not negative; `3.0` is one, as it is in
    /// JavaScript.
    pub fn u64(self) -> Option<u64> {
        if self.kind() != Kind::Number {
            return None;
        }
        let spelled = || whole(&serde_json::from_str(self.0).ok()?);
        self.0.parse().ok().or_else(spelled)
    }

    /// The value if it is an object.
    pub fn object(self) -> Option<Object<'a>> {
        if self.kind() == Kind::Object {
            Object::parse(self.0).ok()
        } else {
            None
        }
    }

    /// The values in it, if it is an array.
    pub fn array(self) -> Option<Vec<Self>> {
        if self.kind() != Kind::Array {
            return None;
        }
        let items = Scanner::new(self.0).items().ok()?;
        Some(items.into_iter().map(Self).collect())
    }

    /// The member `key`, if the value is an object that has it.
    pub fn get(self, key: &str) -> Option<Self> {
        self.object()?.get(key)
    }
}

impl fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl<'a> Object<'a> {
    /// Reads a whole text as one object.
    pub fn parse(text: &'a str) -> Result<Self, Malformed> {
        let malformed = |flaw| Malformed::of(text, flaw);
        let members = Scanner::new(text).members().map_err(malformed)?;
        Ok(Self::of(members))
    }

    /// The member `key` of the object that a whole text is, if that is an object, too; without
    /// members if it is not.
    pub fn parse_member(text: &'a str, key: &str) -> Result<Self, Malformed> {
        let member = Self::parse(text)?.get(key);
        let Some(Node(inner)) = member.filter(|node| node.kind() == Kind::Object) else {
            return Ok(Self::default());
        };
        let members = Scanner::new(inner).members().map_err(|flaw| {
            // Found by its address: the same text may stand before it.
            let at = inner.as_ptr().addr() - text.as_ptr().addr() + flaw.at;
            Malformed::of(text, Flaw { at, ..flaw })
        })?;
        Ok(Self::of(members))
    }

    fn of(members: Vec<Member<'a>>) -> Self {
        let named = |(key, value)| (name(key), Node(value));
        Self {
            members: members.into_iter().map(named).collect(),
        }
    }

    /// The member `key`; the last one, as every JSON parser has it, if it is there twice.
    pub fn get(&self, key: &str) -> Option<Node<'a>> {
        self.get_all(key).next_back()
    }

    /// Every member called `key`, for those who must not be fooled by a duplicate.
    pub fn get_all(&self, key: &str) -> impl DoubleEndedIterator<Item = Node<'a>> {
        self.members
            .iter()
            .filter(move |(name, _)| name == key)
            .map(|(_, node)| *node)
    }

    /// Every member, in the order of the text.
    pub fn members(&self) -> impl Iterator<Item = (&str, Node<'a>)> {
        let members = self.members.iter();
        members.map(|(name, node)| (name.as_ref(), *node))
    }

    /// The member `key` if it is a string.
    pub fn str(&self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key)?.str()
    }

    /// The strings in the member `key` if it is an array.
    pub fn texts(&self, key: &str) -> Vec<String> {
        self.get(key).and_then(Node::texts).unwrap_or_default()
    }

    /// The member `key` if it is an object.
    pub fn object(&self, key: &str) -> Option<Self> {
        self.get(key)?.object()
    }

    /// Whether the member `key` is the string `text`.
    pub fn is(&self, key: &str, text: &str) -> bool {
        self.str(key).is_some_and(|found| found == text)
    }

    /// Whether the member `key` is there and truthy.
    pub fn truthy(&self, key: &str) -> bool {
        self.get(key).is_some_and(Node::truthy)
    }

    /// Whether there is a member `key`.
    pub fn has(&self, key: &str) -> bool {
        self.get_all(key).next().is_some()
    }

    /// All members in the order of the text, taken out.
    pub fn into_members(self) -> Vec<(Cow<'a, str>, Node<'a>)> {
        self.members
    }

    /// Whether it has no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

impl fmt::Debug for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.members.iter().map(|(k, v)| (k, v)))
            .finish()
    }
}

/// A number as a count, if it is one; `3.0` is, as in JavaScript.
pub fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let float = value.as_f64().filter(|f| f.fract() == 0.0 && *f >= 0.0)?;
        // 2^53, beyond which JavaScript no longer counts in ones.
        if float > 9_007_199_254_740_992.0 {
            return None;
        }
        format!("{float:.0}").parse().ok()
    })
}

/// What a quoted key says.
fn name(quoted: &str) -> Cow<'_, str> {
    unquote(quoted).unwrap_or(Cow::Borrowed(quoted))
}

/// The text between quotes; borrowed unless it holds an escape.
fn unquote(quoted: &str) -> Option<Cow<'_, str>> {
    let inside = quoted.strip_prefix('"')?.strip_suffix('"')?;
    if !inside.contains('\\') {
        return Some(Cow::Borrowed(inside));
    }
    let strictly = serde_json::from_str(quoted);
    let text = strictly.or_else(|_| serde_json::from_str(quoted).map(|Unescaped(text)| text));
    text.ok().map(Cow::Owned)
}

/// A decoded string of which `serde_json` makes no `str`: it has an unpaired surrogate. One in a key would
/// void the whole document.
struct Unescaped(String);

impl<'de> Deserialize<'de> for Unescaped {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Unescaped;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_bytes<E: de::Error>(self, v: &[u8]) -> Result<Self::Value, E> {
                Ok(Unescaped(String::from_utf8_lossy(v).into_owned()))
            }
        }
        deserializer.deserialize_bytes(Text)
    }
}

#[cfg(test)]
mod tests;

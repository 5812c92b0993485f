//! A lazy, forgiving view of a JSON text.
//!
//! An event can carry a 12 MB file and a state file years of history, while a guard wants three
//! short strings out of them. So an [`Object`] is cut into its members in one pass, and a
//! [`Node`] is decoded only when somebody asks for its value. A wrong type is an answer
//! (`None`), never an error that hides the rest of the document.
//!
//! What this deliberately does not do: change documents. Writing goes through
//! `state::document`, which keeps order and unknown keys.

mod blocks;
mod scan;
mod search;

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};

use scan::{Flaw, Member, Scanner};
pub(crate) use search::count;

/// One value of a JSON text, not decoded yet.
#[derive(Clone, Copy)]
pub struct Node<'a>(&'a str);

/// The members of a JSON object in the order of the text, duplicates included.
#[derive(Clone, Default)]
pub struct Object<'a> {
    members: Vec<(Cow<'a, str>, Node<'a>)>,
}

/// An object of which some members, which are objects, were cut with it.
#[derive(Clone, Debug)]
pub(crate) struct Opened<'a> {
    pub(crate) object: Object<'a>,
    /// The number of the member, and it.
    inner: Vec<(usize, Object<'a>)>,
}

/// Where and how a text is no JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {what}")]
pub struct Malformed {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in bytes, counted from 1.
    pub column: usize,
    /// What is wrong there.
    pub what: &'static str,
}

/// What a [`Node`] is, told from its first character.
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

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        })
    }
}

impl Malformed {
    fn of(text: &str, flaw: Flaw) -> Self {
        let before = text.as_bytes().get(..flaw.at).unwrap_or_default();
        let line_start = before
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |at| at + 1);
        Self {
            line: count(before, b'\n') + 1,
            column: flaw.at - line_start + 1,
            what: flaw.what,
        }
    }
}

impl<'a> Node<'a> {
    /// Reads a whole text as one value.
    pub fn parse(text: &'a str) -> Result<Self, Malformed> {
        let value = Scanner::new(text).single();
        value.map(Self).map_err(|flaw| Malformed::of(text, flaw))
    }

    /// A text taken for one value, unread: whoever looks into it finds out whether it is one.
    pub(crate) fn unread(text: &'a str) -> Self {
        Self(text.trim_matches([' ', '\n', '\r', '\t']))
    }

    /// The text of the value as it stands in the document.
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

    /// The value if it is a whole number that is not negative.
    pub fn u64(self) -> Option<u64> {
        if self.kind() == Kind::Number {
            self.0.parse().ok()
        } else {
            None
        }
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

    /// The same for a text that [`tells_members_by_lines`], in a fraction of the time.
    pub(crate) fn parse_by_lines(text: &'a str) -> Result<Self, Malformed> {
        let malformed = |flaw| Malformed::of(text, flaw);
        let members = Scanner::new(text).members_by_lines().map_err(malformed)?;
        Ok(Self::of(members))
    }

    /// Reads a whole text as one object, and its members of these names that are objects, too: what
    /// `parse` and then `Node::object` give, in one pass. If one of those is malformed, the whole is.
    pub(crate) fn parse_opening(text: &'a str, keys: &[&str]) -> Result<Opened<'a>, Malformed> {
        let malformed = |flaw| Malformed::of(text, flaw);
        let is_wanted = |quoted: &str| keys.contains(&name(quoted).as_ref());
        let cut = Scanner::new(text).members_opening(is_wanted);
        let (members, opened) = cut.map_err(malformed)?;
        Ok(Opened {
            object: Self::of(members),
            inner: opened
                .into_iter()
                .map(|(member, inner)| (member, Self::of(inner)))
                .collect(),
        })
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

    /// The member `key` if it is a string.
    pub fn str(&self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key)?.str()
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
    pub(crate) fn into_members(self) -> Vec<(Cow<'a, str>, Node<'a>)> {
        self.members
    }

    /// All members in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Node<'a>)> {
        self.members
            .iter()
            .map(|(name, node)| (name.as_ref(), *node))
    }

    /// Whether it has no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

impl<'a> Opened<'a> {
    /// An object that nobody cut further.
    pub(crate) fn closed(object: Object<'a>) -> Self {
        Self {
            object,
            inner: Vec::new(),
        }
    }

    /// Every member called `key`, and what it is as an object, if it is one: as far as that is
    /// known already.
    pub(crate) fn get_all(
        &self,
        key: &str,
    ) -> impl DoubleEndedIterator<Item = (Node<'a>, Option<Object<'a>>)> {
        let members = self.object.members.iter().enumerate();
        let called = members.filter(move |(_, (name, _))| name == key);
        called.map(|(number, (_, node))| {
            // They are in the order of the text.
            let at = self
                .inner
                .binary_search_by_key(&number, |(member, _)| *member);
            let cut = at.ok().and_then(|at| self.inner.get(at));
            let cut = cut.map(|(_, object)| object.clone());
            (*node, cut.or_else(|| node.object()))
        })
    }
}

impl fmt::Debug for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.members.iter().map(|(k, v)| (k, v)))
            .finish()
    }
}

/// Whether an object's text is printed with two blanks per level, as far as its members can be told
/// by that alone. It is a property of the text and takes a look at all of it: whoever writes a text
/// down finds out once, for those who read it a hundred times.
pub(crate) fn tells_members_by_lines(text: &str) -> bool {
    text.starts_with(PRINTED) && Scanner::tells_members_by_lines(text)
}

/// How a text begins that is printed with two blanks per level.
pub(crate) const PRINTED: &str = "{\n  \"";

/// What a quoted key says.
fn name(quoted: &str) -> Cow<'_, str> {
    unquote(quoted).unwrap_or(Cow::Borrowed(quoted))
}

/// The text between quotes; borrowed unless it holds an escape.
fn unquote(quoted: &str) -> Option<Cow<'_, str>> {
    let inside = quoted.strip_prefix('"')?.strip_suffix('"')?;
    if search::byte(inside.as_bytes(), b'\\').is_none() {
        return Some(Cow::Borrowed(inside));
    }
    // The way of most. The other one searches with `memchr`'s own choice: see `search`.
    if let Ok(text) = serde_json::from_str(quoted) {
        return Some(Cow::Owned(text));
    }
    serde_json::from_str(quoted)
        .ok()
        .map(|Unescaped(text)| Cow::Owned(text))
}

/// A decoded string. It is asked for as bytes, because `serde_json` refuses unpaired surrogates
/// in a `str`: one in a key would void the whole document.
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn members_keep_order_and_duplicates() {
        let object = Object::parse(r#"{"b":1,"a":"x","b":[2]}"#).unwrap();
        assert_eq!(
            object.iter().map(|(k, _)| k).collect::<Vec<_>>(),
            ["b", "a", "b"]
        );
        assert_eq!(object.get("b").unwrap().text(), "[2]");
        assert_eq!(object.get_all("b").count(), 2);
    }

    #[test]
    fn wrong_types_are_none_and_hide_nothing() {
        let object = Object::parse(r#"{"n":7,"s":"x","o":{"k":true}}"#).unwrap();
        assert_eq!(object.str("n"), None);
        assert!(object.object("s").is_none());
        assert!(object.object("o").unwrap().get("k").unwrap().is_true());
    }

    #[test]
    fn strings_are_decoded_on_demand() {
        let object = Object::parse(r#"{"a":"one\ntwo","b":"\ud800x","c":"plain"}"#).unwrap();
        assert_eq!(object.str("a").unwrap(), "one\ntwo");
        assert!(object.str("b").unwrap().ends_with('x'));
        assert!(matches!(object.str("c"), Some(Cow::Borrowed("plain"))));
    }

    #[test]
    fn an_unpaired_surrogate_in_a_key_hides_nothing() {
        let object = Object::parse(r#"{"\ud800":1,"plain":"x"}"#).unwrap();
        assert!(matches!(object.str("plain"), Some(Cow::Borrowed("x"))));
    }

    #[test]
    fn a_hundred_thousand_brackets_neither_overflow_nor_fail() {
        let deep = format!(
            r#"{{"a":{}{},"b":"x"}}"#,
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        let object = Object::parse(&deep).unwrap();
        assert_eq!(object.str("b").unwrap(), "x");
        assert_eq!(object.get("a").unwrap().array().unwrap().len(), 1);
    }

    #[test]
    fn lines_that_hide_a_member_or_invent_one_are_not_trusted() {
        for (text, is_honest) in [
            (
                "{\n  \"x\": {\n    \"y\": 1\n  },\n  \"a\": {\n    \"b\": 2\n  }\n}",
                true,
            ),
            (
                "{\n  \"x\": {},\n  \"a\": [\n    {\"b\": [2]}\n  ]\n}\n",
                true,
            ),
            (
                "{\n  \"x\": {\n    \"y\": 1 },\n  \"a\": {\n    \"b\": 2\n  }\n}",
                false,
            ),
            ("{\n  \"x\": [\n    1 ], \"a\": {}, \"z\": [\n  ]\n}", false),
            (
                "{\n  \"x\": {\n  \"y\": {\n  },\n  \"a\": {\n  }\n  }\n}",
                false,
            ),
        ] {
            assert_eq!(tells_members_by_lines(text), is_honest, "{text}");
        }
    }

    #[test]
    fn flaws_say_where() {
        for (text, line, column, what) in [
            ("", 1, 1, "expected an object"),
            ("[1]", 1, 1, "expected an object"),
            ("{\n  \"a\": }", 2, 8, "expected a value"),
            ("{\"a\":1", 1, 7, "expected `,` or `}`"),
            ("{\"a\":[1}", 1, 8, "a bracket closes another one"),
            ("{\"a\":\"x", 1, 8, "the text ends inside a string"),
            ("{} {}", 1, 4, "the text goes on behind its end"),
            ("{\"a\":tru}", 1, 6, "expected a value"),
            ("{\"a\":1,}", 1, 8, "expected a key"),
            (
                "{\"a\":\"x\ny\"}",
                2,
                3,
                "a control character stands inside a string",
            ),
        ] {
            let found = Object::parse(text).unwrap_err();
            assert_eq!(found, Malformed { line, column, what }, "{text}");
        }
    }

    #[test]
    fn truthiness_is_that_of_the_originals() {
        for (text, expected) in [
            ("null", false),
            ("0", false),
            ("0.0", false),
            ("\"\"", false),
            ("false", false),
            ("1", true),
            ("\"x\"", true),
            ("[]", true),
            ("{}", true),
        ] {
            assert_eq!(Node::parse(text).unwrap().truthy(), expected, "{text}");
        }
    }

    fn documents() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<f32>().prop_map(|n| serde_json::json!(n)),
            any::<String>().prop_map(Into::into),
        ];
        let nested = leaf.prop_recursive(4, 64, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
                prop::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|map| map.into_iter().collect()),
            ]
        });
        prop::collection::btree_map(any::<String>(), nested, 0..6)
            .prop_map(|map| map.into_iter().collect())
    }

    proptest! {
        #[test]
        fn it_reads_what_serde_json_reads(document in documents(), pretty in any::<bool>()) {
            let text = if pretty { format!("{document:#}") } else { document.to_string() };
            let object = Object::parse(&text).unwrap();
            let expected = document.as_object().unwrap();
            prop_assert_eq!(object.iter().count(), expected.len());
            for (key, value) in expected {
                let node = object.get(key).unwrap();
                prop_assert_eq!(&serde_json::from_str::<serde_json::Value>(node.text()).unwrap(), value);
                let text = node.str();
                prop_assert_eq!(text.as_deref(), value.as_str());
                prop_assert_eq!(node.array().map(|a| a.len()), value.as_array().map(Vec::len));
            }
        }

        #[test]
        fn one_member_alone_is_what_it_is_among_all(document in documents(), pretty in any::<bool>(), twice in any::<bool>()) {
            let mut text = if pretty { format!("{document:#}") } else { document.to_string() };
            let keys: Vec<&String> = document.as_object().unwrap().keys().collect();
            if twice && let Some(key) = keys.first() {
                // The last one counts.
                text = format!("{},{}:{{\"new\":[{{}}]}}}}", text.trim_end_matches([' ', '\n', '}']), serde_json::json!(key));
            }
            let Ok(whole) = Object::parse(&text) else { return Ok(()); };
            for key in keys {
                let alone = Object::parse_opening(&text, &[key]).unwrap().get_all(key).next_back().and_then(|(_, object)| object);
                let members = |object: Option<Object<'_>>| object.map(|object| format!("{object:?}"));
                prop_assert_eq!(members(alone), members(whole.object(key)));
            }
            let opened = Object::parse_opening(&text, &["not there"]).unwrap();
            prop_assert!(opened.get_all("not there").next().is_none());
            prop_assert_eq!(format!("{:?}", opened.object), format!("{whole:?}"));
        }

        #[test]
        fn printed_in_lines_or_not_a_large_text_has_the_same_members(
            document in documents(), indent in 0..4_usize, close in "[]}{\n ,\"]{0,6}",
        ) {
            // Large enough for the way by lines, and printed with every indentation.
            let mut document = document;
            document["filler"] = "x".repeat(5000).into();
            document["nested"] = serde_json::json!([[1], {"a": [2], "b": {}}, [], close]);
            let mut text = format!("{document:#}");
            prop_assert!(tells_members_by_lines(&text));
            text = text.replace("\n  ", &format!("\n{}", " ".repeat(indent)));
            let object = if tells_members_by_lines(&text) {
                Object::parse_by_lines(&text).unwrap()
            } else {
                Object::parse(&text).unwrap()
            };
            prop_assert_eq!(object.iter().count(), document.as_object().unwrap().len());
            for (key, value) in document.as_object().unwrap() {
                let node = object.get(key).unwrap();
                prop_assert_eq!(&serde_json::from_str::<serde_json::Value>(node.text()).unwrap(), value);
            }
        }

        #[test]
        fn a_text_that_was_cut_off_is_malformed(document in documents(), part in 0.0..1.0_f64) {
            let text = document.to_string();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in a short text")]
            let end = (text.len() as f64 * part) as usize;
            if let Some(cut) = text.get(..end) {
                prop_assert!(Object::parse(cut).is_err());
            }
        }

        #[test]
        fn no_text_is_too_strange(text in any::<String>()) {
            drop(Object::parse(&text));
            drop(Node::parse(&text).map(|node| (node.str(), node.array(), node.object())));
        }
    }
}

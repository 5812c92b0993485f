//! A lazy, forgiving view of a JSON text.
//!
//! An event can carry a 12 MB file and a state file years of history, while a guard wants three
//! short strings out of them. So an [`Object`] is cut into its members in one pass, and a
//! [`Node`] is decoded only when somebody asks for its value. A wrong type is an answer
//! (`None`), never an error that hides the rest of the document.
//!
//! What this deliberately does not do: change documents. Writing goes through
//! `state::document`, which keeps order and unknown keys.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// One value of a JSON text, not decoded yet.
#[derive(Clone, Copy)]
pub struct Node<'a>(&'a RawValue);

/// The members of a JSON object in the order of the text, duplicates included.
#[derive(Clone, Default)]
pub struct Object<'a> {
    members: Vec<(Cow<'a, str>, Node<'a>)>,
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

impl<'a> Node<'a> {
    /// Reads a whole text as one value.
    pub fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text).map(Self)
    }

    /// The text of the value as it stands in the document.
    pub fn text(self) -> &'a str {
        self.0.get()
    }

    /// What the value is.
    pub fn kind(self) -> Kind {
        match self.text().as_bytes().first() {
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
        self.text() == "true"
    }

    /// What JavaScript calls truthy: the originals test most of their fields this way.
    pub fn truthy(self) -> bool {
        match self.kind() {
            Kind::Null => false,
            Kind::Bool => self.is_true(),
            Kind::Number => self.f64().is_some_and(|n| n != 0.0),
            Kind::String => self.text() != "\"\"",
            Kind::Array | Kind::Object => true,
        }
    }

    /// The value if it is a string. Unpaired surrogates, which JavaScript writes, become U+FFFD.
    pub fn str(self) -> Option<Cow<'a, str>> {
        if self.kind() != Kind::String {
            return None;
        }
        serde_json::from_str(self.text()).ok().map(|Key(text)| text)
    }

    /// The value if it is a boolean.
    pub fn bool(self) -> Option<bool> {
        match self.text() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The value if it is a number.
    pub fn f64(self) -> Option<f64> {
        if self.kind() == Kind::Number {
            self.text().parse().ok()
        } else {
            None
        }
    }

    /// The value if it is a whole number that is not negative.
    pub fn u64(self) -> Option<u64> {
        if self.kind() == Kind::Number {
            self.text().parse().ok()
        } else {
            None
        }
    }

    /// The value if it is an object.
    pub fn object(self) -> Option<Object<'a>> {
        if self.kind() == Kind::Object {
            serde_json::from_str(self.text()).ok()
        } else {
            None
        }
    }

    /// The values in it, if it is an array.
    pub fn array(self) -> Option<Vec<Self>> {
        if self.kind() != Kind::Array {
            return None;
        }
        serde_json::from_str(self.text())
            .ok()
            .map(|Nodes(nodes)| nodes)
    }

    /// The member `key`, if the value is an object that has it.
    pub fn get(self, key: &str) -> Option<Self> {
        self.object()?.get(key)
    }
}

impl fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl<'a> Object<'a> {
    /// Reads a whole text as one object.
    pub fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
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

    /// Whether there is a member `key`.
    pub fn has(&self, key: &str) -> bool {
        self.get_all(key).next().is_some()
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

impl fmt::Debug for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.members.iter().map(|(k, v)| (k, v)))
            .finish()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Object<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::with_capacity(16);
                while let Some(Key(name)) = map.next_key()? {
                    members.push((name, Node(map.next_value()?)));
                }
                Ok(Object { members })
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// A string that borrows from the text unless it holds an escape. It is asked for as bytes,
/// because `serde_json` refuses unpaired surrogates in a `str`: one in a key would void the whole
/// document.
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_bytes<E: de::Error>(self, v: &'de [u8]) -> Result<Self::Value, E> {
                Ok(Key(String::from_utf8_lossy(v)))
            }
            fn visit_bytes<E: de::Error>(self, v: &[u8]) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(String::from_utf8_lossy(v).into_owned())))
            }
        }
        deserializer.deserialize_bytes(Text)
    }
}

struct Nodes<'a>(Vec<Node<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Nodes<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Items;
        impl<'de> Visitor<'de> for Items {
            type Value = Nodes<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut nodes = Vec::new();
                while let Some(raw) = seq.next_element()? {
                    nodes.push(Node(raw));
                }
                Ok(Nodes(nodes))
            }
        }
        deserializer.deserialize_seq(Items)
    }
}

#[cfg(test)]
mod tests {
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
        let object = Object::parse(r#"{"a":"one\ntwo","b":"\ud800x"}"#).unwrap();
        assert_eq!(object.str("a").unwrap(), "one\ntwo");
        assert!(object.str("b").unwrap().ends_with('x'));
        assert!(matches!(object.str("a"), Some(Cow::Owned(_))));
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
}

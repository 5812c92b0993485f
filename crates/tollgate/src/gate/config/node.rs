//! YAML with line numbers: the only place that knows the YAML library.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;
use serde_saphyr::Spanned;

/// A value and the line it is on.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Counted from 1.
    pub(crate) line: u64,
    pub(crate) value: Value,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// Null, true or false, a number, or a text.
    Scalar(Json),
    List(Vec<Node>),
    /// In the file's order.
    Map(Vec<(Key, Node)>),
}

/// A key and the line it is on.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) line: u64,
    pub(crate) name: String,
}

/// Why a text is no YAML.
#[derive(Debug)]
pub(crate) struct Broken {
    pub(crate) line: u64,
    pub(crate) what: String,
    pub(crate) fix: Option<String>,
}

impl Node {
    /// Reads one document. An empty one is null.
    pub(crate) fn parse(text: &str) -> Result<Self, Broken> {
        if text
            .lines()
            .all(|line| line.trim().is_empty() || line.trim_start().starts_with('#'))
        {
            return Ok(Self {
                line: 1,
                value: Value::Scalar(Json::Null),
            });
        }
        let spanned: Spanned<Value> =
            serde_saphyr::from_str(text).map_err(|error| Broken::new(&error))?;
        Ok(spanned.into())
    }

    /// The member of a map; null counts as absent.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        let Value::Map(members) = &self.value else {
            return None;
        };
        let (_, node) = members.iter().find(|(name, _)| name.name == key)?;
        (!node.is_null()).then_some(node)
    }

    pub(crate) fn items(&self) -> &[Self] {
        if let Value::List(items) = &self.value {
            items
        } else {
            &[]
        }
    }

    /// What is neither a list nor a map.
    pub(super) fn scalar(&self) -> Option<&Json> {
        if let Value::Scalar(scalar) = &self.value {
            Some(scalar)
        } else {
            None
        }
    }

    pub(super) fn is_null(&self) -> bool {
        self.scalar().is_some_and(Json::is_null)
    }

    pub(crate) fn text(&self) -> Option<&str> {
        self.scalar()?.as_str()
    }

    pub(crate) fn bool(&self) -> Option<bool> {
        self.scalar()?.as_bool()
    }

    pub(crate) fn whole(&self) -> Option<u64> {
        let scalar = self.scalar()?;
        scalar.as_u64().or_else(|| as_whole(scalar.as_f64()?))
    }

    pub(crate) fn number(&self) -> Option<f64> {
        self.scalar()?.as_f64()
    }

    /// The texts of a list.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.items()
            .iter()
            .filter_map(|item| item.text().map(Into::into))
            .collect()
    }

    /// What it is, for a message: `the text "many"`.
    pub(crate) fn describe(&self) -> String {
        match &self.value {
            Value::Scalar(Json::Null) => "nothing".to_owned(),
            Value::Scalar(Json::String(text)) => format!("the text {text:?}"),
            Value::Scalar(scalar) => scalar.to_string(),
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => "a mapping".to_owned(),
        }
    }

    /// The same as JSON.
    pub(crate) fn to_json(&self) -> Json {
        match &self.value {
            Value::Scalar(scalar) => scalar.clone(),
            Value::List(items) => items.iter().map(Self::to_json).collect(),
            Value::Map(members) => members
                .iter()
                .map(|(key, node)| (key.name.clone(), node.to_json()))
                .collect::<serde_json::Map<_, _>>()
                .into(),
        }
    }
}

/// A number without a fraction.
pub(super) fn as_whole(number: f64) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be whole and small"
    )]
    (number.fract() == 0.0 && (0.0..1e15).contains(&number)).then_some(number as u64)
}

impl Broken {
    /// The library's words, but where they speak of its own settings. The line is told apart.
    fn new(error: &serde_saphyr::Error) -> Self {
        let line = error.location().map_or(1, |place| place.line());
        let error = error.without_snippet();
        let told = error.to_string();
        let told = told.lines().next().unwrap_or_default();
        let told = told.split(" at line ").next().unwrap_or_default();
        let (what, fix) = if let serde_saphyr::Error::DuplicateMappingKey { key, .. } = error {
            let key = key.as_deref().unwrap_or("?");
            let what = format!("the key `{key}` stands twice");
            (what, Some("remove one of the two"))
        } else if let serde_saphyr::Error::RecursiveReferencesRequireWeakTypes { .. } = error {
            let fix = "write out what `*name` stands for";
            ("an anchor contains itself".to_owned(), Some(fix))
        } else {
            let row = FIXES.iter().find(|(begin, ..)| told.starts_with(begin));
            let (what, fix) = row.map_or((None, None), |(_, what, fix)| (*what, Some(*fix)));
            (what.unwrap_or(told).to_owned(), fix)
        };
        Self {
            line,
            what,
            fix: fix.map(str::to_owned),
        }
    }
}

/// How an error of the library begins, what is said instead, if anything, and what to do.
const FIXES: [(&str, Option<&str>, &str); 4] = [
    (
        "multiple YAML documents",
        Some("there are several documents, with `---` between them"),
        "keep one of them",
    ),
    (
        "non-finite float",
        Some("a number without end"),
        "write a finite number",
    ),
    (
        "mapping values are not allowed",
        None,
        "put a value that has a colon and a blank in it into quotes, or indent the line as its neighbours",
    ),
    ("tabs ", None, "indent with blanks"),
];

impl From<Spanned<Value>> for Node {
    fn from(spanned: Spanned<Value>) -> Self {
        Self {
            line: spanned.referenced.line(),
            value: spanned.value,
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Scalar(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Scalar(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Scalar(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Scalar(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Scalar(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Scalar(Json::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element::<Spanned<Value>>()? {
            items.push(item.into());
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut members = Vec::new();
        while let Some(key) = access.next_key::<Spanned<Value>>()? {
            let key: Node = key.into();
            let name = match key.text() {
                Some(text) => text.to_owned(),
                None => key.to_json().to_string(),
            };
            let value = access.next_value::<Spanned<Value>>()?;
            let line = key.line;
            members.push((Key { line, name }, value.into()));
        }
        Ok(Value::Map(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_their_lines() {
        let node = Node::parse("a: 1\n\nb:\n  - x\n  - c: yes\n    d: ~\n").unwrap();
        let Value::Map(members) = &node.value else {
            panic!("{node:?}")
        };
        let [(a, _), (b, list)] = members.as_slice() else {
            panic!("{node:?}")
        };
        assert_eq!((a.line, b.line), (1, 3));
        assert_eq!(list.items()[0].line, 4);
        let Value::Map(members) = &list.items()[1].value else {
            panic!("{list:?}")
        };
        let (d, null) = &members[1];
        assert_eq!((d.line, null.is_null()), (6, true));
        assert!(list.items()[1].get("d").is_none());
    }

    #[test]
    fn broken_yaml_says_where() {
        let broken = Node::parse("a: 1\nb: [1, 2\nc: 3\n").unwrap_err();
        assert!(broken.line >= 2, "{broken:?}");
        let broken = Node::parse("a: 1\na: 2\n").unwrap_err();
        assert_eq!(broken.line, 2, "{broken:?}");
    }

    #[test]
    fn an_empty_document_is_null() {
        assert!(Node::parse("\n# nothing\n").unwrap().is_null());
    }
}

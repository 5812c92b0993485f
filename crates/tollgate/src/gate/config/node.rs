//! YAML with line numbers: the only place that knows the YAML library.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

/// A value and the line it is on.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Counted from 1.
    pub(crate) line: u64,
    pub(crate) value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Whole(i64),
    Number(f64),
    Text(String),
    List(Vec<Node>),
    /// In the file's order.
    Map(Vec<(Key, Node)>),
}

/// A key and the line it is on.
#[derive(Clone, Debug, PartialEq)]
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

// Lines do not make two values different.
impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
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
                value: Value::Null,
            });
        }
        let spanned: Spanned<Value> =
            serde_saphyr::from_str(text).map_err(|error| Broken::new(&error))?;
        Ok(spanned.into())
    }

    /// The member of a map; null counts as absent.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        let node = match &self.value {
            Value::Map(members) => &members.iter().find(|(name, _)| name.name == key)?.1,
            Value::Null
            | Value::Bool(_)
            | Value::Whole(_)
            | Value::Number(_)
            | Value::Text(_)
            | Value::List(_) => return None,
        };
        (node.value != Value::Null).then_some(node)
    }

    #[cfg(test)]
    pub(crate) fn members(&self) -> &[(Key, Self)] {
        match &self.value {
            Value::Map(members) => members,
            Value::Null
            | Value::Bool(_)
            | Value::Whole(_)
            | Value::Number(_)
            | Value::Text(_)
            | Value::List(_) => &[],
        }
    }

    pub(crate) fn items(&self) -> &[Self] {
        match &self.value {
            Value::List(items) => items,
            Value::Null
            | Value::Bool(_)
            | Value::Whole(_)
            | Value::Number(_)
            | Value::Text(_)
            | Value::Map(_) => &[],
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            Value::Null
            | Value::Bool(_)
            | Value::Whole(_)
            | Value::Number(_)
            | Value::List(_)
            | Value::Map(_) => None,
        }
    }

    pub(crate) fn bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(value) => Some(value),
            Value::Null
            | Value::Whole(_)
            | Value::Number(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Map(_) => None,
        }
    }

    pub(crate) fn whole(&self) -> Option<u64> {
        match self.value {
            Value::Whole(value) => u64::try_from(value).ok(),
            Value::Number(value) => as_whole(value),
            Value::Null | Value::Bool(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => None,
        }
    }

    pub(crate) fn number(&self) -> Option<f64> {
        match self.value {
            #[expect(clippy::cast_precision_loss, reason = "seconds and megabytes")]
            Value::Whole(value) => Some(value as f64),
            Value::Number(value) => Some(value),
            Value::Null | Value::Bool(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => None,
        }
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
            Value::Null => "nothing".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Whole(value) => value.to_string(),
            Value::Number(value) => value.to_string(),
            Value::Text(text) => format!("the text {text:?}"),
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => "a mapping".to_owned(),
        }
    }

    /// The same as JSON.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => (*value).into(),
            Value::Whole(value) => (*value).into(),
            Value::Number(value) => (*value).into(),
            Value::Text(text) => text.as_str().into(),
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
        let fixed = |what: &str, fix: &str| Self {
            line,
            what: what.to_owned(),
            fix: Some(fix.to_owned()),
        };
        if let serde_saphyr::Error::DuplicateMappingKey { key, .. } = error {
            let key = key.as_deref().unwrap_or("?");
            let what = format!("the key `{key}` stands twice");
            return fixed(&what, "remove one of the two");
        }
        if let serde_saphyr::Error::RecursiveReferencesRequireWeakTypes { .. } = error {
            let fix = "write out what `*name` stands for";
            return fixed("an anchor contains itself", fix);
        }
        if told.starts_with("multiple YAML documents") {
            let what = "there are several documents, with `---` between them";
            return fixed(what, "keep one of them");
        }
        if told.starts_with("non-finite float") {
            return fixed("a number without end", "write a finite number");
        }
        if told.starts_with("mapping values are not allowed") {
            let fix = "put a value that has a colon and a blank in it into quotes, or indent the line as its neighbours";
            return fixed(told, fix);
        }
        if told.starts_with("tabs ") {
            return fixed(told, "indent with blanks");
        }
        Self {
            line,
            what: told.to_owned(),
            fix: None,
        }
    }
}

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
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Whole(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Whole(i64::try_from(value).unwrap_or(i64::MAX)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::Text(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
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
            let name = match key.value {
                Value::Text(text) => text,
                Value::Null
                | Value::Bool(_)
                | Value::Whole(_)
                | Value::Number(_)
                | Value::List(_)
                | Value::Map(_) => key.to_json().to_string(),
            };
            let value = access.next_value::<Spanned<Value>>()?;
            members.push((
                Key {
                    line: key.line,
                    name,
                },
                value.into(),
            ));
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
        let [(a, _), (b, list)] = node.members() else {
            panic!("{node:?}")
        };
        assert_eq!((a.line, b.line), (1, 3));
        assert_eq!(list.items()[0].line, 4);
        let (d, null) = &list.items()[1].members()[1];
        assert_eq!((d.line, &null.value), (6, &Value::Null));
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
        assert_eq!(Node::parse("\n# nothing\n").unwrap().value, Value::Null);
    }
}

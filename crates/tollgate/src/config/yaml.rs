//! YAML with line numbers: the only place that knows the YAML library.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;
use serde_saphyr::Spanned;

use super::node::{Broken, Key, Node, Place, Value};

/// No configuration has nearly so many values. A few lines of aliases make millions of them, which are
/// then not made: a project's file is read before anybody trusts it.
const MOST_NODES: usize = 20_000;

/// Reads one document. An empty one is null.
pub(crate) fn parse(text: &str) -> Result<Node, Broken> {
    if text
        .lines()
        .all(|line| line.trim().is_empty() || line.trim_start().starts_with('#'))
    {
        return Ok(Node {
            place: Place::at_line(1),
            value: Value::Scalar(Json::Null),
        });
    }
    let options =
        serde_saphyr::options! { budget: serde_saphyr::budget! { max_nodes: MOST_NODES } };
    let read = serde_saphyr::from_str_with_options(text, options);
    let spanned: Spanned<Value> = read.map_err(|error| broken(&error))?;
    Ok(spanned.into())
}

/// The library's message without its line number, which has its own field, and without hints at
/// the library's settings.
fn broken(error: &serde_saphyr::Error) -> Broken {
    let line = error.location().map_or(1, |place| place.line());
    let error = error.without_snippet();
    let message = error.to_string();
    let message = message.lines().next().unwrap_or_default();
    let message = message.split(" at line ").next().unwrap_or_default();
    let (what, fix) = if let serde_saphyr::Error::DuplicateMappingKey { key, .. } = error {
        let key = key.as_deref().unwrap_or("?");
        let what = format!("the key `{key}` is defined twice");
        (what, Some("remove one of the two"))
    } else if let serde_saphyr::Error::RecursiveReferencesRequireWeakTypes { .. } = error {
        let fix = "write out what `*name` stands for";
        ("an anchor contains itself".to_owned(), Some(fix))
    } else {
        let row = FIXES.iter().find(|(begin, ..)| message.starts_with(begin));
        let (what, fix) = row.map_or((None, None), |(_, what, fix)| (*what, Some(*fix)));
        (what.unwrap_or(message).to_owned(), fix)
    };
    Broken {
        place: Place::at_line(line),
        what,
        fix: fix.map(str::to_owned),
    }
}

/// How an error of the library begins, what is said instead, if anything, and what to do.
const FIXES: [(&str, Option<&str>, &str); 5] = [
    (
        "budget breached",
        Some("it has too many values, with its aliases written out"),
        "take out what `*name` repeats",
    ),
    (
        "multiple YAML documents",
        Some("there are several documents, with `---` between them"),
        "keep one of them",
    ),
    (
        "non-finite float",
        Some("an infinite number"),
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
            place: Place::at_line(spanned.referenced.line()),
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
            let place = key.place;
            members.push((Key { place, name }, value.into()));
        }
        Ok(Value::Map(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_their_lines() {
        let node = parse("a: 1\n\nb:\n  - x\n  - c: yes\n    d: ~\n").unwrap();
        let Value::Map(members) = &node.value else {
            panic!("{node:?}")
        };
        let [(a, _), (b, list)] = members.as_slice() else {
            panic!("{node:?}")
        };
        assert_eq!((a.place.line, b.place.line), (1, 3));
        assert_eq!(list.items()[0].place.line, 4);
        let Value::Map(members) = &list.items()[1].value else {
            panic!("{list:?}")
        };
        let (d, null) = &members[1];
        assert_eq!((d.place.line, null.is_null()), (6, true));
        assert!(list.items()[1].get("d").is_none());
    }

    #[test]
    fn broken_yaml_says_where() {
        let broken = parse("a: 1\nb: [1, 2\nc: 3\n").unwrap_err();
        assert!(broken.place.line >= 2, "{broken:?}");
        let broken = parse("a: 1\na: 2\n").unwrap_err();
        assert_eq!(broken.place.line, 2, "{broken:?}");
    }

    #[test]
    fn an_empty_document_is_null() {
        assert!(parse("\n# nothing\n").unwrap().is_null());
    }
}

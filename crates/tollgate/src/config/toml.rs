//! TOML with lines and columns.

use serde_json::Value as Json;
use toml_edit::{Document, Item, Table, TableLike, TomlError, Value as Toml};

use super::node::{Broken, Layer, Node, Place, Value};

pub(crate) fn parse(text: &str, layer: Layer) -> Result<Node, Broken> {
    let source = Source::new(text, layer);
    let document = Document::parse(text).map_err(|error| source.broken(&error))?;
    let start = source.place(0);
    Ok(source.table(document.as_table(), start))
}

/// Finds the place of a byte in a text.
struct Source<'t> {
    text: &'t str,
    layer: Layer,
    /// Where lines begin.
    lines: Vec<usize>,
}

impl<'t> Source<'t> {
    fn new(text: &'t str, layer: Layer) -> Self {
        let begins = text.match_indices('\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(begins).collect();
        Self { text, layer, lines }
    }

    fn place(&self, at: usize) -> Place {
        let line = self.lines.partition_point(|begin| *begin <= at);
        let begin = self.lines.get(line.saturating_sub(1)).copied();
        let before = self.text.get(begin.unwrap_or(0)..at).unwrap_or_default();
        Place {
            line: line as u64,
            column: before.chars().count() as u64 + 1,
            layer: self.layer,
        }
    }

    fn broken(&self, error: &TomlError) -> Broken {
        let span = error.span().unwrap_or_default();
        let what = error.message().trim().replace('\n', ", ");
        let named = self
            .text
            .get(span.clone())
            .filter(|_| what == "duplicate key");
        Broken {
            place: self.place(span.start),
            fix: named.map(|_| "remove one of the two".to_owned()),
            what: named.map_or(what, |key| format!("the key `{key}` is defined twice")),
        }
    }

    fn spanned(&self, span: Option<std::ops::Range<usize>>, otherwise: Place) -> Place {
        span.map_or(otherwise, |span| self.place(span.start))
    }

    fn item(&self, item: &Item, otherwise: Place) -> Node {
        let place = self.spanned(item.span(), otherwise);
        match item {
            Item::None => place.node(Value::Scalar(Json::Null)),
            Item::Value(value) => self.value(value, place),
            Item::Table(table) => self.table(table, place),
            Item::ArrayOfTables(tables) => {
                let each = |table: &Table| self.table(table, self.spanned(table.span(), place));
                place.node(Value::List(tables.iter().map(each).collect()))
            }
        }
    }

    fn value(&self, value: &Toml, place: Place) -> Node {
        let value = match value {
            Toml::InlineTable(table) => return self.table(table, place),
            Toml::Array(array) => {
                let each = |item: &Toml| self.value(item, self.spanned(item.span(), place));
                Value::List(array.iter().map(each).collect())
            }
            Toml::String(text) => Value::Scalar(text.value().as_str().into()),
            Toml::Integer(number) => Value::Scalar((*number.value()).into()),
            Toml::Boolean(word) => Value::Scalar((*word.value()).into()),
            // JSON has no number without end; no key takes one.
            Toml::Float(number) => Value::Scalar(
                serde_json::Number::from_f64(*number.value())
                    .map_or_else(|| number.value().to_string().into(), Json::Number),
            ),
            Toml::Datetime(time) => Value::Scalar(time.value().to_string().into()),
        };
        Node { place, value }
    }

    fn table(&self, table: &dyn TableLike, place: Place) -> Node {
        let member = |(name, item): (&str, &Item)| {
            let key = table.key(name).and_then(toml_edit::Key::span);
            let place = self.spanned(key, place);
            (place.key(name), self.item(item, place))
        };
        place.node(Value::Map(table.iter().map(member).collect()))
    }
}

/// A key as a path names it: in quotes where TOML wants them.
pub(crate) fn quoted(key: &str) -> String {
    toml_edit::Key::new(key).display_repr().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_their_places() {
        let text = "a = 1\r\n[gates.test] # x\n  run = \"é\"\n[[rule]]\nid = 'x'\n[[rule]]\n";
        let node = parse(text, Layer::Local).unwrap();
        let at = |node: &Node| (node.place.line, node.place.column, node.place.layer);
        assert_eq!(at(node.get("a").unwrap()), (1, 5, Layer::Local));
        let gates = node.get("gates").unwrap();
        let (key, test) = &gates.members()[0];
        assert_eq!((key.place.line, key.place.column), (2, 8));
        assert_eq!(at(test.get("run").unwrap()), (3, 9, Layer::Local));
        let rules = node.get("rule").unwrap();
        assert_eq!(rules.items().len(), 2);
        assert_eq!(at(&rules.items()[1]), (6, 1, Layer::Local));
    }

    #[test]
    fn broken_toml_says_where() {
        for (text, line) in [("a = 1\nb = [\n", 2), ("a = 1\na = 2\n", 2), ("x", 1)] {
            let broken = parse(text, Layer::Project).unwrap_err();
            assert_eq!(broken.place.line, line, "{broken:?}");
        }
    }
}

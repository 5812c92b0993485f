//! The merged configuration as TOML, with where each value comes from.

use serde_json::{Map, Value as Json};
use toml_edit::{Array, InlineTable, Value as Toml};

use super::keys::{GATE, ROOT};
use super::layers::Merged;
use super::node::{Key, Layer, Node, Value};
use super::table::Table;
use super::toml::quoted;

/// Whether each value has its origin behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origins {
    Shown,
    Hidden,
}

/// The configuration as a text that could be a `tollgate.toml`. Of a gate, what it does not say is
/// left out.
pub(crate) fn as_toml(merged: &Merged, origins: Origins) -> String {
    let mut page = Page {
        merged,
        origins,
        text: String::new(),
    };
    page.values(&merged.node, "");
    for (key, node) in tables(&merged.node) {
        page.table(&quoted(&key.name), node);
    }
    page.text.trim_start().to_owned()
}

/// The same for programs: the values, and where each comes from.
pub(crate) fn as_json(merged: &Merged) -> Json {
    let mut origins = Map::new();
    collect(merged, &merged.node, "", &mut origins);
    serde_json::json!({ "values": merged.node.to_json(), "origins": origins })
}

fn collect(merged: &Merged, node: &Node, above: &str, origins: &mut Map<String, Json>) {
    for (key, value) in node.members() {
        let path = path(above, &key.name);
        if value.is_map() {
            collect(merged, value, &path, origins);
        } else {
            let origin = merged.origin(&path, value.place);
            origins.insert(path, origin.into());
        }
    }
}

fn path(above: &str, key: &str) -> String {
    if above.is_empty() {
        quoted(key)
    } else {
        format!("{above}.{}", quoted(key))
    }
}

fn tables(node: &Node) -> impl Iterator<Item = &(Key, Node)> {
    node.members().iter().filter(|(_, value)| value.is_map())
}

struct Page<'m> {
    merged: &'m Merged,
    origins: Origins,
    text: String,
}

impl Page<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn table(&mut self, path: &str, node: &Node) {
        let inner: Vec<_> = tables(node).collect();
        let has_values = node.members().len() > inner.len();
        if has_values || inner.is_empty() {
            self.line(&format!("\n[{path}]"));
        }
        self.values(node, path);
        self.absent(node, path);
        for (key, value) in inner {
            self.table(&self::path(path, &key.name), value);
        }
    }

    fn values(&mut self, node: &Node, above: &str) {
        let is_in_gate = above.starts_with("gates.");
        let members = node.members().iter().filter(|(_, value)| !value.is_map());
        let mut members: Vec<_> = members.collect();
        // In the order of the reference, whichever file each comes from.
        let keys = if is_in_gate {
            Some(&GATE)
        } else {
            settings(above)
        };
        let keys = keys.map(|table| table.keys).unwrap_or_default();
        members.sort_by_key(|(key, _)| keys.iter().position(|row| row.key == key.name));
        for (key, value) in members {
            if is_in_gate && value.place.layer == Layer::Default {
                continue;
            }
            let mut line = format!("{} = {}", quoted(&key.name), to_toml(value));
            if self.origins == Origins::Shown {
                let origin = self.merged.origin(&path(above, &key.name), value.place);
                line = format!("{line}  # {origin}");
            }
            self.line(&line);
        }
    }

    /// The settings that were not set and whose default is no value.
    fn absent(&mut self, node: &Node, path: &str) {
        let keys = settings(path).map_or(&[][..], |table| table.keys);
        for row in keys.iter().filter(|row| node.get(row.key).is_none()) {
            self.line(&format!("# {}: {}", row.key, row.default));
        }
    }
}

fn settings(path: &str) -> Option<&'static Table> {
    ROOT.row(path)?.kind.settings()
}

fn to_toml(node: &Node) -> Toml {
    match &node.value {
        Value::List(items) => Toml::Array(items.iter().map(to_toml).collect::<Array>()),
        Value::Map(members) => {
            let members = members.iter();
            let members = members.map(|(key, value)| (key.name.as_str(), to_toml(value)));
            Toml::InlineTable(members.collect::<InlineTable>())
        }
        Value::Scalar(scalar) => match scalar {
            Json::Bool(word) => (*word).into(),
            Json::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(whole), _) => whole.into(),
                (None, Some(float)) => float.into(),
                (None, None) => number.to_string().into(),
            },
            Json::String(text) => text.as_str().into(),
            other @ (Json::Null | Json::Array(_) | Json::Object(_)) => other.to_string().into(),
        },
    }
}

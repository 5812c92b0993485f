//! Hooks in Codex's `config.toml`: `[[hooks.EVENT]]` groups with `[[hooks.EVENT.hooks]]`
//! handlers, edited in place.

use std::path::Path;

use serde_json::{Map, Value};
use tollgate_store::fs;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use super::settings_file::{Entry, Flaw, SettingsFile, place_in};
use crate::toml_file::{EditedToml, implicit_table};

/// A member of `[hooks]` that is no event: what Codex remembers of trusted hooks.
const STATE: &str = "state";

pub(super) struct TomlFile {
    file: EditedToml,
    places: Vec<HandlerPlace>,
}

/// Where a handler is: event, group, place in the group.
#[derive(Clone, Debug)]
struct HandlerPlace(String, usize, usize);

/// Whether a configuration file registers any hook.
pub(super) fn holds_hooks(path: &Path) -> bool {
    let Ok(Some(contents)) = fs::read_regular(path, super::read::MAX) else {
        return false;
    };
    let text = contents.into_text();
    text.contains("hooks")
        && text.parse().is_ok_and(|document| {
            events(&document).is_some_and(|events| events.iter().any(|(event, _)| event != STATE))
        })
}

fn events(document: &DocumentMut) -> Option<&dyn toml_edit::TableLike> {
    document.get("hooks")?.as_table_like()
}

fn find(document: &DocumentMut) -> Vec<HandlerPlace> {
    let mut places = Vec::new();
    for (event, groups) in events(document)
        .into_iter()
        .flat_map(|events| events.iter())
    {
        let groups = groups.as_array_of_tables().into_iter().flatten();
        for (group, table) in groups.enumerate() {
            let handlers = table.get("hooks").and_then(Item::as_array_of_tables);
            let count = handlers.map_or(0, ArrayOfTables::len);
            places.extend((0..count).map(|n| HandlerPlace(event.to_owned(), group, n)));
        }
    }
    places
}

impl TomlFile {
    pub(super) fn parse(text: &str) -> Result<Self, Flaw> {
        let file = EditedToml::parse(text).map_err(|error| Flaw {
            place: error.span().map(|span| place_in(text, span.start)),
            what: error.message().trim().replace('\n', ", "),
        })?;
        let places = find(&file.document);
        Ok(Self { file, places })
    }

    fn group(&self, place: &HandlerPlace) -> Option<&Table> {
        events(&self.file.document)?
            .get(&place.0)?
            .as_array_of_tables()?
            .get(place.1)
    }

    fn handler_mut(&mut self, place: &HandlerPlace) -> Option<&mut Table> {
        self.file
            .document
            .get_mut("hooks")?
            .as_table_like_mut()?
            .get_mut(&place.0)?
            .as_array_of_tables_mut()?
            .get_mut(place.1)?
            .get_mut("hooks")?
            .as_array_of_tables_mut()?
            .get_mut(place.2)
    }

    fn remove_one(&mut self, place: &HandlerPlace) -> Option<()> {
        let hooks = self.file.document.get_mut("hooks")?;
        let events = hooks.as_table_like_mut()?;
        let groups = events.get_mut(&place.0)?.as_array_of_tables_mut()?;
        let group = groups.get_mut(place.1)?;
        let handlers = group.get_mut("hooks")?.as_array_of_tables_mut()?;
        handlers.remove(place.2);
        if handlers.is_empty() {
            groups.remove(place.1);
        }
        if groups.is_empty() {
            events.remove(&place.0);
        }
        if events.is_empty() {
            self.file.document.remove("hooks");
        }
        Some(())
    }
}

impl SettingsFile for TomlFile {
    fn entries(&self) -> Vec<Entry> {
        let entry = |place: &HandlerPlace| {
            let group = self.group(place);
            let handler = group
                .and_then(|group| group.get("hooks")?.as_array_of_tables()?.get(place.2))
                .map(members)
                .unwrap_or_default();
            let matcher = group.and_then(|group| group.get("matcher")?.as_str());
            Entry {
                event: place.0.clone(),
                matcher: matcher.map(str::to_owned),
                handler,
                effective: true,
            }
        };
        self.places.iter().map(entry).collect()
    }

    fn update(&mut self, entry: usize, wanted: &[(&str, Option<Value>)]) {
        let Some(place) = self.places.get(entry).cloned() else {
            return;
        };
        let Some(handler) = self.handler_mut(&place) else {
            return;
        };
        let now = members(handler);
        for (key, value) in wanted {
            match value {
                Some(value) if now.get(*key) == Some(value) => {}
                Some(value) => set(handler, key, item(value)),
                None => drop(handler.remove(key)),
            }
        }
    }

    fn add(
        &mut self,
        event: &str,
        matcher: Option<&str>,
        handler: &Map<String, Value>,
    ) -> Result<(), Flaw> {
        // What is added to such a table as a separate table is not written.
        let hooks = self.file.document.get("hooks");
        if hooks.is_some_and(Item::is_inline_table) {
            return Err(Flaw::new(format!(
                "`hooks` is written in one line; it must be written as [[hooks.{event}]]"
            )));
        }
        let hooks = self.file.document.entry("hooks");
        let hooks = hooks.or_insert_with(implicit_table);
        let events = hooks
            .as_table_like_mut()
            .ok_or_else(|| Flaw::new("`hooks` is not a table"))?;
        let groups = events
            .entry(event)
            .or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
        let groups = groups.as_array_of_tables_mut().ok_or_else(|| {
            Flaw::new(format!(
                "`hooks.{event}` is not written as [[hooks.{event}]]"
            ))
        })?;
        let mut table = Table::new();
        for (key, value) in handler {
            table.insert(key, item(value));
        }
        let mut handlers = ArrayOfTables::new();
        handlers.push(table);
        let mut group = Table::new();
        if let Some(matcher) = matcher {
            group.insert("matcher", value(matcher));
        }
        group.insert("hooks", Item::ArrayOfTables(handlers));
        groups.push(group);
        Ok(())
    }

    fn remove(&mut self, entries: &[usize]) {
        let mut gone: Vec<HandlerPlace> = entries
            .iter()
            .filter_map(|entry| self.places.get(*entry).cloned())
            .collect();
        // From the end, so that the places of the others stay true.
        gone.sort_by_key(|place| std::cmp::Reverse((place.1, place.2)));
        for place in gone {
            self.remove_one(&place);
        }
    }

    fn top(&self, key: &str) -> Option<Value> {
        plain(self.file.document.get(key)?)
    }

    /// No agent with TOML has such a member.
    fn ensure(&mut self, _: &str, _: u32) {}

    fn is_bare(&self, _: &[(&str, u32)]) -> bool {
        self.file.document.as_table().is_empty() && self.file.document.to_string().trim().is_empty()
    }

    fn text(&self) -> String {
        self.file.text()
    }
}

/// Puts a value in the place of another one; a comment beside it stays.
fn set(table: &mut Table, key: &str, mut new: Item) {
    let Some(old) = table.get_mut(key) else {
        table.insert(key, new);
        return;
    };
    if let (Some(new), Some(old)) = (new.as_value_mut(), old.as_value()) {
        *new.decor_mut() = old.decor().clone();
    }
    *old = new;
}

fn members(table: &Table) -> Map<String, Value> {
    let member = |(key, item): (&str, &Item)| Some((key.to_owned(), plain(item)?));
    table.iter().filter_map(member).collect()
}

/// The values that occur in a handler.
fn plain(item: &Item) -> Option<Value> {
    if let Some(table) = item.as_table_like() {
        let member = |(key, item): (&str, &Item)| Some((key.to_owned(), plain(item)?));
        return Some(Value::Object(table.iter().filter_map(member).collect()));
    }
    if let Some(list) = item.as_array() {
        let value = |value: &toml_edit::Value| plain(&Item::Value(value.clone()));
        return Some(Value::Array(list.iter().filter_map(value).collect()));
    }
    if let Some(tables) = item.as_array_of_tables() {
        let tables = tables.iter().map(|table| Value::Object(members(table)));
        return Some(Value::Array(tables.collect()));
    }
    item.as_str()
        .map(Value::from)
        .or_else(|| item.as_integer().map(Value::from))
        .or_else(|| item.as_bool().map(Value::from))
}

fn item(wanted: &Value) -> Item {
    match wanted {
        Value::Bool(truth) => value(*truth),
        Value::Number(number) => value(number.as_i64().unwrap_or_default()),
        Value::String(text) => value(text.as_str()),
        Value::Array(list) => {
            let words = list.iter().filter_map(Value::as_str);
            value(words.collect::<toml_edit::Array>())
        }
        Value::Null | Value::Object(_) => Item::None,
    }
}

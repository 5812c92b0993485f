//! Which keys a file may have. One table per kind of file: what is read, what is complained
//! about, and the JSON Schema that editors use all come from it.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::node::{Node, Value};

/// The keys of a mapping.
#[derive(Debug)]
pub(crate) struct Table {
    /// What the mapping is, for the schema.
    pub(crate) about: &'static str,
    pub(crate) keys: &'static [Row],
}

/// One key.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) key: &'static str,
    pub(crate) kind: Kind,
    pub(crate) need: Need,
    /// The default, in words; empty where there is none.
    pub(crate) default: &'static str,
    pub(crate) about: &'static str,
}

/// Whether a key must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Required,
    Optional,
    /// Read by the original and without effect there too.
    Ignored,
}

/// What a key's value must be.
#[derive(Debug)]
pub(crate) enum Kind {
    /// Text that is not empty.
    Text,
    Bool,
    /// A whole number of at least this.
    Whole(u64),
    /// A whole number from the first to the second.
    Between(u64, u64),
    /// A number of seconds or megabytes, 0 or more.
    Amount,
    OneOf(&'static [&'static str]),
    /// A list of texts.
    Texts,
    Map(&'static Table),
    Maps(&'static Table),
    /// A mapping with keys of the person's choosing.
    Anything,
}

/// Something wrong in a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) weight: Weight,
    pub(crate) file: PathBuf,
    /// Counted from 1; none for the file as a whole.
    pub(crate) line: Option<u64>,
    /// The key's path, for example `entry_points[0].path`; empty for the file as a whole.
    pub(crate) key: String,
    pub(crate) what: String,
    /// What to do about it.
    pub(crate) fix: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// The gates cannot run.
    Error,
    /// They can, but perhaps not as meant.
    Warning,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.key.is_empty() {
            write!(f, ": {}", self.key)?;
        }
        write!(f, ": {}", self.what)?;
        if let Some(fix) = &self.fix {
            write!(f, " ({fix})")?;
        }
        Ok(())
    }
}

impl Problem {
    /// As `--json` shows it.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        json!({
            "severity": match self.weight { Weight::Error => "error", Weight::Warning => "warning" },
            "file": self.file, "line": self.line, "key": self.key,
            "message": self.what, "fix": self.fix,
        })
    }
}

/// Collects what is wrong in one file.
#[derive(Debug)]
pub(crate) struct Examiner<'a> {
    /// The project's directory, which no problem names.
    pub(crate) root: &'a Path,
    pub(crate) file: &'a Path,
    pub(crate) problems: &'a mut Vec<Problem>,
}

impl Examiner<'_> {
    pub(crate) fn error(&mut self, line: u64, key: &str, what: &str, fix: Option<&str>) {
        self.push(Weight::Error, line, key, what, fix);
    }

    pub(crate) fn warn(&mut self, line: u64, key: &str, what: &str, fix: Option<&str>) {
        self.push(Weight::Warning, line, key, what, fix);
    }

    fn push(&mut self, weight: Weight, line: u64, key: &str, what: &str, fix: Option<&str>) {
        let file = self.file.strip_prefix(self.root).unwrap_or(self.file);
        self.problems.push(Problem {
            weight,
            file: file.to_owned(),
            line: (line > 0).then_some(line),
            key: key.to_owned(),
            what: what.to_owned(),
            fix: fix.map(str::to_owned),
        });
    }

    /// Holds a mapping against its table. `above` is the path of the mapping.
    pub(crate) fn examine(&mut self, node: &Node, table: &Table, above: &str) {
        let Value::Map(members) = &node.value else {
            let what = format!("expected a mapping, found {}", node.describe());
            let fix = format!("write `key: value` lines: {}", names(table));
            self.error(node.line, above, &what, Some(&fix));
            return;
        };
        let path = |key: &str| {
            if above.is_empty() {
                key.to_owned()
            } else {
                format!("{above}.{key}")
            }
        };
        for (key, value) in members {
            let Some(row) = table.keys.iter().find(|row| row.key == key.name) else {
                let fix = nearest(&key.name, table.keys.iter().map(|row| row.key)).map_or_else(
                    || format!("known here: {}", names(table)),
                    |near| format!("did you mean `{near}`?"),
                );
                let path = path(&key.name);
                self.warn(key.line, &path, "unknown key, ignored", Some(&fix));
                continue;
            };
            if row.need == Need::Ignored {
                continue;
            }
            // `key:` with nothing behind it is as good as absent; a required one is missed below.
            if !value.is_null() {
                self.examine_value(value, row, &path(row.key));
            }
        }
        for row in table.keys.iter().filter(|row| row.need == Need::Required) {
            if node.get(row.key).is_none() {
                let line = members.iter().find(|(key, _)| key.name == row.key);
                let line = line.map_or(node.line, |(key, _)| key.line);
                let fix = format!("{}: {}", row.key, row.about);
                self.error(line, &path(row.key), "missing", Some(&fix));
            }
        }
    }

    fn examine_value(&mut self, value: &Node, row: &Row, path: &str) {
        let (right, expected) = match &row.kind {
            Kind::Text => (
                value.text().is_some_and(|text| !text.trim().is_empty()),
                "a text that is not empty".to_owned(),
            ),
            Kind::Bool => (value.bool().is_some(), "true or false".to_owned()),
            Kind::Whole(least) => (
                value.whole().is_some_and(|number| number >= *least),
                format!("a whole number of at least {least}"),
            ),
            Kind::Between(least, most) => {
                let number = value.whole();
                let expected = if number.is_some_and(|number| number > *most) {
                    format!("a whole number of at most {most}")
                } else {
                    format!("a whole number of at least {least}")
                };
                let is_in = |number| (*least..=*most).contains(&number);
                (number.is_some_and(is_in), expected)
            }
            Kind::Amount => (
                value.number().is_some_and(|number| number >= 0.0),
                "a number of at least 0".to_owned(),
            ),
            Kind::OneOf(words) => (
                value.text().is_some_and(|text| words.contains(&text)),
                format!("one of {}", words.join(", ")),
            ),
            Kind::Texts => {
                for (index, item) in value.items().iter().enumerate() {
                    if item.text().is_none() {
                        let what = format!("expected a text, found {}", item.describe());
                        let fix = in_quotes(item).unwrap_or(row.about);
                        self.error(item.line, &format!("{path}[{index}]"), &what, Some(fix));
                    }
                }
                (
                    matches!(value.value, Value::List(_)),
                    "a list of texts".to_owned(),
                )
            }
            Kind::Map(table) => {
                self.examine(value, table, path);
                return;
            }
            Kind::Maps(table) => {
                for (index, item) in value.items().iter().enumerate() {
                    self.examine(item, table, &format!("{path}[{index}]"));
                }
                (
                    matches!(value.value, Value::List(_)),
                    "a list of mappings".to_owned(),
                )
            }
            Kind::Anything => return,
        };
        if !right {
            let what = format!("expected {expected}, found {}", value.describe());
            let quotes = in_quotes(value).filter(|_| matches!(row.kind, Kind::Text));
            let default = format!("default: {}", row.default);
            let fix = quotes.or((!row.default.is_empty()).then_some(default.as_str()));
            self.error(value.line, path, &what, fix);
        }
    }
}

/// How to say a word or number of YAML's own as a text.
fn in_quotes(value: &Node) -> Option<&'static str> {
    let scalar = value.scalar()?;
    (scalar.is_boolean() || scalar.is_number()).then_some("put it in quotes")
}

fn names(table: &Table) -> String {
    let names: Vec<_> = table.keys.iter().map(|row| row.key).collect();
    names.join(", ")
}

/// The name that was probably meant.
pub(crate) fn nearest<'n>(
    wrong: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    let scored = names
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(wrong, name), name));
    let (distance, name) = scored.min_by_key(|(distance, _)| *distance)?;
    (distance <= 1 + wrong.len() / 4).then_some(name)
}

impl Table {
    /// The JSON Schema of the mapping.
    pub(crate) fn schema(&self) -> serde_json::Value {
        let properties: serde_json::Map<_, _> = self
            .keys
            .iter()
            .map(|row| (row.key.to_owned(), row.schema()))
            .collect();
        let required: Vec<_> = self
            .keys
            .iter()
            .filter(|row| row.need == Need::Required)
            .map(|row| row.key)
            .collect();
        json!({
            "type": "object", "description": self.about, "properties": properties,
            "required": required, "additionalProperties": false,
        })
    }
}

impl Row {
    fn schema(&self) -> serde_json::Value {
        let mut schema = match &self.kind {
            Kind::Text => json!({ "type": "string", "minLength": 1 }),
            Kind::Bool => json!({ "type": "boolean" }),
            Kind::Whole(least) => json!({ "type": "integer", "minimum": least }),
            Kind::Between(least, most) => {
                json!({ "type": "integer", "minimum": least, "maximum": most })
            }
            Kind::Amount => json!({ "type": "number", "minimum": 0 }),
            Kind::OneOf(words) => json!({ "enum": words }),
            Kind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            Kind::Map(table) => table.schema(),
            Kind::Maps(table) => json!({ "type": "array", "items": table.schema() }),
            Kind::Anything => json!({}),
        };
        let mut about = self.about.to_owned();
        if !self.default.is_empty() {
            about = format!("{about} Default: {}.", self.default);
        }
        if let Some(object) = schema.as_object_mut() {
            object.insert("description".to_owned(), about.into());
            if self.need == Need::Ignored {
                object.insert("deprecated".to_owned(), true.into());
            }
        }
        schema
    }
}

//! Which keys a file may have. One table per kind of file: what is read, what is complained
//! about, and the JSON Schema that editors use all come from it.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::glob;
use super::nearest;
use super::node::{Key, Node, Place, Value};
use super::toml;

/// The keys of a mapping.
#[derive(Debug)]
pub(crate) struct Table {
    /// What the mapping is, for the schema.
    pub(crate) about: &'static str,
    pub(crate) keys: &'static [Row],
}

#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) key: &'static str,
    pub(crate) kind: Kind,
    pub(crate) need: Need,
    /// The default, in words; empty where there is none.
    pub(crate) default: &'static str,
    pub(crate) about: &'static str,
}

/// A row in one line, as the tables of keys have them.
pub(crate) const fn row(
    key: &'static str,
    kind: Kind,
    need: Need,
    default: &'static str,
    about: &'static str,
) -> Row {
    Row {
        key,
        kind,
        need,
        default,
        about,
    }
}

/// Whether a key must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Required,
    Optional,
    /// A check may have it.
    OfCheck,
    /// A review may have it.
    OfReview,
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
    /// One of the words that the program knows.
    Word(fn() -> Vec<&'static str>),
    /// A list of them.
    Words(fn() -> Vec<&'static str>),
    /// A text such as `"10m"`.
    Duration,
    Texts,
    /// A list of patterns of paths, as git ignores files by them.
    Globs,
    Map(&'static Table),
    Maps(&'static Table),
    /// A list of texts or of mappings, each named by its `name`.
    NamesOrMaps(&'static Table),
    /// Settings, and beside them mappings with names of the person's choosing.
    Named {
        settings: &'static Table,
        each: &'static Table,
    },
    /// A list of a rule's patterns: paths of the project, of the person's home or of the machine.
    Patterns,
    /// `true`, a mapping, or a list of mappings.
    TrueOrMaps(&'static Table),
    /// A list of command lines or of mappings.
    Examples(&'static Table),
    /// A mapping with keys of the person's choosing.
    Anything,
}

impl Kind {
    /// What was expected in place of a value, if it is not that. What is in a list or a mapping is
    /// another question.
    fn expected(&self, value: &Node, format: Format) -> Option<String> {
        let is_list = matches!(value.value, Value::List(_));
        let (right, expected) = match self {
            Self::Text => (
                value.text().is_some_and(|text| !text.trim().is_empty()),
                "a text that is not empty".to_owned(),
            ),
            Self::Bool => (value.bool().is_some(), "true or false".to_owned()),
            Self::Whole(least) => (
                value.whole().is_some_and(|number| number >= *least),
                format!("a whole number of at least {least}"),
            ),
            Self::Between(least, most) => {
                let number = value.whole();
                let expected = if number.is_some_and(|number| number > *most) {
                    format!("a whole number of at most {most}")
                } else {
                    format!("a whole number of at least {least}")
                };
                let is_in = |number| (*least..=*most).contains(&number);
                (number.is_some_and(is_in), expected)
            }
            Self::Amount => (
                value.number().is_some_and(|number| number >= 0.0),
                "a number of at least 0".to_owned(),
            ),
            Self::OneOf(words) => (
                value.text().is_some_and(|text| words.contains(&text)),
                format!("one of {}", words.join(", ")),
            ),
            Self::Duration => (
                value.duration().is_some(),
                "a time such as \"90s\", \"10m\" or \"1h30m\"".to_owned(),
            ),
            Self::Words(_) | Self::Texts | Self::Globs | Self::Patterns => {
                (is_list, "a list of texts".to_owned())
            }
            Self::TrueOrMaps(_) => (
                is_list || value.is_map() || value.bool() == Some(true),
                format!("true, a {0} or a list of {0}s", format.words().0),
            ),
            Self::Examples(_) => (
                is_list,
                format!("a list of command lines or {}s", format.words().0),
            ),
            Self::NamesOrMaps(_) => (is_list, "a list of names".to_owned()),
            Self::Maps(_) => (is_list, format!("a list of {}s", format.words().0)),
            Self::Word(_) | Self::Map(_) | Self::Named { .. } | Self::Anything => return None,
        };
        (!right).then_some(expected)
    }

    /// The keys in a value of this kind, besides names of the person's choosing.
    pub(crate) fn settings(&self) -> Option<&'static Table> {
        let (Self::Map(table)
        | Self::Named {
            settings: table, ..
        }) = self
        else {
            return None;
        };
        Some(table)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) weight: Weight,
    pub(crate) file: PathBuf,
    pub(crate) place: Place,
    /// The line itself, where people see it.
    pub(crate) text: Option<String>,
    /// The key's path, for example `entry_points[0].path`; empty for the file as a whole.
    pub(crate) key: String,
    pub(crate) what: String,
    pub(crate) fix: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// The gates cannot run.
    Error,
    /// They can, but perhaps not as meant.
    Warning,
    /// What holds while there are errors.
    Note,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Yaml,
    Toml,
}

impl Format {
    /// What a mapping is called, and how a key and its value are written.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Yaml => ("mapping", "key: value"),
            Self::Toml => ("table", "key = value"),
        }
    }

    fn path(self, above: &str, key: &str) -> String {
        let key = match self {
            Self::Yaml => key.to_owned(),
            Self::Toml => toml::quoted(key),
        };
        if above.is_empty() {
            key
        } else {
            format!("{above}.{key}")
        }
    }

    /// What a value is, for a message: `the text "many"`.
    fn describe(self, node: &Node) -> String {
        match &node.value {
            Value::Scalar(serde_json::Value::Null) => "nothing".to_owned(),
            Value::Scalar(serde_json::Value::String(text)) => format!("the text {text:?}"),
            Value::Scalar(scalar) => scalar.to_string(),
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => format!("a {}", self.words().0),
        }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.file.display())?;
        let Place { line, column, .. } = self.place;
        if line > 0 {
            write!(f, ":{line}")?;
        }
        if column > 0 {
            write!(f, ":{column}")?;
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
            "severity": self.weight.word(),
            "file": self.file, "line": (self.place.line > 0).then_some(self.place.line),
            "column": (self.place.column > 0).then_some(self.place.column), "key": self.key,
            "message": self.what, "fix": self.fix,
        })
    }
}

impl Weight {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// Collects what is wrong in one file.
#[derive(Debug)]
pub(crate) struct Examiner<'a> {
    /// The project's directory, which no problem names.
    pub(crate) root: &'a Path,
    pub(crate) file: &'a Path,
    pub(crate) format: Format,
    pub(crate) problems: &'a mut Vec<Problem>,
}

impl Examiner<'_> {
    pub(crate) fn error(&mut self, place: Place, key: &str, what: &str, fix: Option<&str>) {
        self.push(Weight::Error, place, key, what, fix);
    }

    pub(crate) fn warn(&mut self, place: Place, key: &str, what: &str, fix: Option<&str>) {
        self.push(Weight::Warning, place, key, what, fix);
    }

    fn push(&mut self, weight: Weight, place: Place, key: &str, what: &str, fix: Option<&str>) {
        let file = self.file.strip_prefix(self.root).unwrap_or(self.file);
        self.problems.push(Problem {
            weight,
            file: file.to_owned(),
            place,
            text: None,
            key: key.to_owned(),
            what: what.to_owned(),
            fix: fix.map(str::to_owned),
        });
    }

    /// Holds a mapping against its table. `above` is the path of the mapping.
    pub(crate) fn examine(&mut self, node: &Node, table: &Table, above: &str) {
        let Value::Map(members) = &node.value else {
            self.no_mapping(node, table, above);
            return;
        };
        for (key, value) in members {
            match table.row(&key.name) {
                Some(row) => self.examine_member(value, row, above),
                None => self.unknown(key, table, above),
            }
        }
        for row in table.keys.iter().filter(|row| row.need == Need::Required) {
            if node.get(row.key).is_none() {
                let place = members.iter().find(|(key, _)| key.name == row.key);
                let place = place.map_or(node.place, |(key, _)| key.place);
                let fix = format!("{}: {}", row.key, row.about);
                let path = self.format.path(above, row.key);
                self.error(place, &path, "missing", Some(&fix));
            }
        }
    }

    fn no_mapping(&mut self, node: &Node, table: &Table, above: &str) {
        let (mapping, pair) = self.format.words();
        let what = format!("expected a {mapping}, found {}", self.format.describe(node));
        let fix = match names(table) {
            // Every key in it is a name of the user's.
            known if known.is_empty() => format!("write a table `[{above}.NAME]`"),
            known => format!("write `{pair}` lines: {known}"),
        };
        self.error(node.place, above, &what, Some(&fix));
    }

    fn examine_member(&mut self, value: &Node, row: &Row, above: &str) {
        // `key:` with nothing behind it is as good as absent; a required one is missed elsewhere.
        if row.need != Need::Ignored && !value.is_null() {
            let path = self.format.path(above, row.key);
            self.examine_value(value, row, &path);
        }
    }

    fn unknown(&mut self, key: &Key, table: &Table, above: &str) {
        let fix = table.likely(&key.name);
        let path = self.format.path(above, &key.name);
        match self.format {
            Format::Yaml => self.warn(key.place, &path, "unknown key, ignored", Some(&fix)),
            Format::Toml => self.error(key.place, &path, "unknown key", Some(&fix)),
        }
    }

    /// Settings, and mappings with names of the person's choosing.
    fn examine_named(&mut self, node: &Node, settings: &Table, each: &Table, above: &str) {
        if !node.is_map() {
            self.no_mapping(node, settings, above);
        }
        for (key, value) in node.members() {
            let path = self.format.path(above, &key.name);
            match (settings.row(&key.name), value.is_map()) {
                (Some(_), true) => {
                    let what = format!(
                        "`{}` is a setting of [{above}], and nothing else can have its name",
                        key.name
                    );
                    self.error(key.place, &path, &what, Some("choose another name"));
                }
                (Some(row), false) => self.examine_member(value, row, above),
                (None, true) => {
                    if let Some((what, fix)) = wrong_name(&key.name) {
                        self.error(key.place, &path, what, Some(fix));
                    }
                    self.examine(value, each, &path);
                }
                (None, false) if settings.keys.is_empty() => self.no_mapping(value, each, &path),
                (None, false) if settings.nearest(&key.name).is_some() => {
                    self.unknown(key, settings, above);
                }
                (None, false) => {
                    let settings = names(settings);
                    let fix = format!("settings: {settings}; all else is a table `[{path}]`");
                    self.error(key.place, &path, "unknown key", Some(&fix));
                }
            }
        }
    }

    fn examine_value(&mut self, value: &Node, row: &Row, path: &str) {
        if let Some(expected) = row.kind.expected(value, self.format) {
            self.wrong_value(value, row, path, &expected);
        }
        match &row.kind {
            Kind::Word(words) => {
                self.examine_words(std::slice::from_ref(value), &words(), path);
            }
            Kind::Words(words) => self.examine_words(value.items(), &words(), path),
            Kind::Texts => self.examine_texts(value, row, path),
            Kind::Globs => {
                self.examine_texts(value, row, path);
                self.examine_globs(value, path);
            }
            Kind::Map(table) => self.examine(value, table, path),
            Kind::Maps(table) => {
                for (index, item) in value.items().iter().enumerate() {
                    self.examine(item, table, &format!("{path}[{index}]"));
                }
            }
            Kind::NamesOrMaps(table) | Kind::Examples(table) => {
                let maps = value.items().iter().enumerate();
                for (index, item) in maps.filter(|(_, item)| item.text().is_none()) {
                    self.examine(item, table, &format!("{path}[{index}]"));
                }
            }
            Kind::Named { settings, each } => self.examine_named(value, settings, each, path),
            Kind::Patterns => {
                self.examine_texts(value, row, path);
                self.examine_patterns(value, path);
            }
            Kind::TrueOrMaps(table) => {
                if value.is_map() {
                    self.examine(value, table, path);
                }
                for (index, item) in value.items().iter().enumerate() {
                    self.examine(item, table, &format!("{path}[{index}]"));
                }
            }
            Kind::Text
            | Kind::Bool
            | Kind::Whole(_)
            | Kind::Between(..)
            | Kind::Amount
            | Kind::OneOf(_)
            | Kind::Duration
            | Kind::Anything => {}
        }
    }

    fn wrong_value(&mut self, value: &Node, row: &Row, path: &str, expected: &str) {
        let found = self.format.describe(value);
        let what = format!("expected {expected}, found {found}");
        let quotes = in_quotes(value).filter(|_| matches!(row.kind, Kind::Text));
        let default = format!("default: {}", row.default);
        let number = value
            .scalar()
            .filter(|_| matches!(row.kind, Kind::Duration));
        let seconds = number.and_then(|number| {
            let number: u64 = number.to_string().trim_matches('"').parse().ok()?;
            Some(format!("for seconds, write \"{number}s\""))
        });
        let fix = quotes
            .or(seconds.as_deref())
            .or((!row.default.is_empty()).then_some(default.as_str()));
        self.error(value.place, path, &what, fix);
    }

    fn examine_texts(&mut self, value: &Node, row: &Row, path: &str) {
        for (index, item) in value.items().iter().enumerate() {
            if item.text().is_none() {
                let what = format!("expected a text, found {}", self.format.describe(item));
                let fix = in_quotes(item).unwrap_or(row.about);
                self.error(item.place, &format!("{path}[{index}]"), &what, Some(fix));
            }
        }
    }

    fn examine_globs(&mut self, value: &Node, path: &str) {
        for (index, item) in value.items().iter().enumerate() {
            let wrong = item.text().and_then(|text| glob::check(text).err());
            if let Some((what, fix)) = wrong {
                self.error(item.place, &format!("{path}[{index}]"), &what, Some(fix));
            }
        }
    }

    fn examine_patterns(&mut self, value: &Node, path: &str) {
        for (index, item) in value.items().iter().enumerate() {
            let wrong = item.text().and_then(|text| glob::check_rule(text).err());
            if let Some((what, fix)) = wrong {
                self.error(item.place, &format!("{path}[{index}]"), &what, Some(fix));
            }
        }
    }

    fn examine_words(&mut self, items: &[Node], words: &[&str], path: &str) {
        for item in items {
            let found = item.text();
            if found.is_some_and(|text| words.contains(&text)) {
                continue;
            }
            let known = format!("known: {}", words.join(", "));
            let near = found.and_then(|text| nearest(text, words.iter().copied()));
            let fix = near.map_or(known, |near| format!("did you mean `{near}`?"));
            let what = match found {
                Some(text) => format!("{text:?} is not a known value"),
                None => format!("expected a text, found {}", self.format.describe(item)),
            };
            self.error(item.place, path, &what, Some(&fix));
        }
    }
}

/// What is wrong with a name of a person's choosing, which becomes part of file names and commands;
/// and what to do about it.
fn wrong_name(name: &str) -> Option<(&'static str, &'static str)> {
    const SIGNS: &str = "use letters, digits, `_`, `-` and `.`";
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
    if name.is_empty() {
        Some(("the name is empty", SIGNS))
    } else if RESERVED.contains(&name) {
        Some(("this name is reserved", "choose another name"))
    } else if name.chars().count() > 64 {
        let fix = "choose a shorter one";
        Some(("the name is longer than 64 characters", fix))
    } else if !name.chars().all(is_plain) {
        Some(("the name has a character that is not allowed in it", SIGNS))
    } else if !name.starts_with(char::is_alphanumeric) {
        let fix = "begin it with a letter or a digit";
        Some(("the name begins with a sign", fix))
    } else {
        None
    }
}

/// Names that settings of later versions have, or that commands understand otherwise.
const RESERVED: [&str; 6] = ["ahead", "all", "cache", "max_age", "none", "timeout"];

/// How to say a word or number as a text.
fn in_quotes(value: &Node) -> Option<&'static str> {
    let scalar = value.scalar()?;
    (scalar.is_boolean() || scalar.is_number()).then_some("put it in quotes")
}

fn names(table: &Table) -> String {
    let names: Vec<_> = table.keys.iter().map(|row| row.key).collect();
    names.join(", ")
}

impl Table {
    pub(crate) fn row(&self, key: &str) -> Option<&'static Row> {
        self.keys.iter().find(|row| row.key == key)
    }

    /// The key that was probably meant.
    pub(crate) fn nearest(&self, wrong: &str) -> Option<&'static str> {
        nearest(wrong, self.keys.iter().map(|row| row.key))
    }

    /// What to write instead of a key that is not known.
    pub(super) fn likely(&self, wrong: &str) -> String {
        self.nearest(wrong).map_or_else(
            || format!("known here: {}", names(self)),
            |near| format!("did you mean `{near}`?"),
        )
    }
}

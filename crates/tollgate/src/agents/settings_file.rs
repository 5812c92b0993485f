//! A settings file that is edited in place: JSON with whatever comments and layout
//! it has, or TOML.

use std::fmt;
use std::path::Path;

use serde_json::{Map, Value};

use super::{Shape, json, toml};

/// A settings file as it is being edited.
pub(super) trait SettingsFile {
    /// Every handler in it. Its place in this list is how the other functions know it.
    fn entries(&self) -> Vec<Entry>;

    /// Makes members of a handler what they should be; `None` takes one out.
    fn update(&mut self, entry: usize, members: &[(&str, Option<Value>)]);

    /// Adds a handler after all others of the event.
    fn add(
        &mut self,
        event: &str,
        matcher: Option<&str>,
        handler: &Map<String, Value>,
    ) -> Result<(), Flaw>;

    /// Takes handlers out, and what is left empty by that around them.
    fn remove(&mut self, entries: &[usize]);

    /// A member of the whole file.
    fn top(&self, key: &str) -> Option<Value>;

    /// Adds a member of the whole file, if it has none of that name.
    fn ensure(&mut self, key: &str, value: u32);

    /// Whether nothing is in it besides these members: neither a value nor a comment.
    fn is_bare(&self, besides: &[(&str, u32)]) -> bool;

    fn text(&self) -> String;
}

/// One handler in a list of hooks, of any program.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The event it is registered for, as the file says it.
    pub(super) event: String,
    /// The matcher of its group, or its own.
    pub(super) matcher: Option<String>,
    pub(super) handler: Map<String, Value>,
    /// The agent reads it; a member of the same name further down hides it otherwise.
    pub(super) effective: bool,
}

/// What is wrong with a settings file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Flaw {
    /// Line and column, counted from 1.
    pub(crate) place: Option<(usize, usize)>,
    pub(crate) what: String,
}

impl Flaw {
    pub(super) fn new(what: impl Into<String>) -> Self {
        Self {
            place: None,
            what: what.into(),
        }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.place {
            write!(f, "line {line}, column {column}: ")?;
        }
        f.write_str(&self.what)
    }
}

/// The line and the column of a byte.
pub(super) fn place_in(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    (before.matches('\n').count() + 1, column)
}

/// Reads the text of a settings file; the name says in which language it is.
pub(super) fn parse(
    path: &Path,
    bytes: &[u8],
    shape: Shape,
) -> Result<Box<dyn SettingsFile>, Flaw> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let good = String::from_utf8_lossy(good);
        Flaw {
            place: Some(place_in(&good, good.len())),
            what: "it is not UTF-8".to_owned(),
        }
    })?;
    if path.extension().is_some_and(|end| end == "toml") {
        Ok(Box::new(toml::TomlFile::parse(text)?))
    } else {
        Ok(Box::new(json::JsonFile::parse(text, shape)?))
    }
}

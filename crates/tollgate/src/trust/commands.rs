//! A set of commands as data: the thing that is trusted. Which commands a project would run,
//! [`crate::project_commands`] says.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::hash::hex;
use crate::plain::{Plain, count};

/// What the fingerprint is made over besides the commands, so that another way to write them down
/// is another fingerprint.
const FORMAT: &str = "tollgate-commands-1\n";

/// The commands of a project: each in one canonical line, with the words a person reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Commands(BTreeMap<String, String>);

/// The words are for people: a check by another name runs the same command.
impl PartialEq for Commands {
    fn eq(&self, other: &Self) -> bool {
        self.0.keys().eq(other.0.keys())
    }
}

impl Eq for Commands {}

impl Commands {
    /// Names, directories and models are the project's words as much as its commands: nothing of
    /// them may move the cursor or hide another line of what a person is asked about.
    pub(crate) fn add(&mut self, canonical: &Value, shown: &str) {
        let shown = || Plain(shown).to_string();
        self.0.entry(canonical.to_string()).or_insert_with(shown);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// How many, in words.
    pub(crate) fn count(&self) -> String {
        count(self.len(), "command")
    }

    /// One word for the set.
    pub(crate) fn fingerprint(&self) -> String {
        let mut hasher = Sha256::new();
        hasher.update(FORMAT);
        for line in self.0.keys() {
            hasher.update(line);
            hasher.update("\n");
        }
        hex(&hasher.finalize())
    }

    pub(crate) fn shown(&self) -> impl Iterator<Item = &str> {
        self.0.values().map(String::as_str)
    }

    /// What is here and not there.
    pub(crate) fn without<'s>(&'s self, other: &Self) -> Vec<&'s str> {
        let only = self
            .0
            .iter()
            .filter(|(line, _)| !other.0.contains_key(*line));
        only.map(|(_, shown)| shown.as_str()).collect()
    }

    pub(crate) fn to_json(&self) -> Value {
        json!(self.0)
    }

    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        let members = value.as_object()?.iter();
        let plain = |shown: &Value| Some(Plain(shown.as_str()?).to_string());
        let texts = members.map(|(line, shown)| Some((line.clone(), plain(shown)?)));
        texts.collect::<Option<_>>().map(Self)
    }
}

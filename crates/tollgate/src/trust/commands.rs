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

/// The commands of a project, and what its rules say: each in one canonical line, with the words a
/// person reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Commands(BTreeMap<String, String>);

/// What an entry of the set does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It runs something.
    Command,
    /// A rule says it to the agent.
    Text,
}

impl Kind {
    /// The canonical line tells; so sets that were stored need nothing more.
    fn of(canonical: &str) -> Self {
        let entry: Option<Value> = serde_json::from_str(canonical).ok();
        match entry.and_then(|entry| entry.get("says").cloned()) {
            Some(_) => Self::Text,
            None => Self::Command,
        }
    }
}

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

    /// Whether anything would run.
    pub(crate) fn has_commands(&self) -> bool {
        self.shown(Kind::Command).next().is_some()
    }

    /// How many, in words.
    pub(crate) fn count(&self) -> String {
        let many = |kind| self.shown(kind).count();
        let texts = format!("{} of rules", count(many(Kind::Text), "text"));
        match (many(Kind::Command), many(Kind::Text)) {
            (0, 1..) => texts,
            (commands, 0) => count(commands, "command"),
            (commands, _) => format!("{} and {texts}", count(commands, "command")),
        }
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

    pub(crate) fn shown(&self, kind: Kind) -> impl Iterator<Item = &str> {
        let own = self
            .0
            .iter()
            .filter(move |(line, _)| Kind::of(line) == kind);
        own.map(|(_, shown)| shown.as_str())
    }

    /// What is here and not there.
    pub(crate) fn without(&self, other: &Self) -> Self {
        let own = self.0.iter();
        let only = own.filter(|(line, _)| !other.0.contains_key(*line));
        Self(
            only.map(|(line, shown)| (line.clone(), shown.clone()))
                .collect(),
        )
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

//! What a project would run at an agent's stop, as data: the thing that is trusted.
//!
//! Only what decides which program runs, and where, is in it. Comments, globs, prompts, messages,
//! limits and names may change without anybody being asked.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tollgate_core::project::{Layout, lexical};

use crate::gate::config::Config;
use crate::plain::{Plain, count};
use crate::plan;

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
    /// Those of a project's gates and plans.
    pub(crate) fn of(layout: &Layout, gates: Option<&Config>) -> Self {
        let mut all = Self::default();
        if let Some(config) = gates {
            all.add_gates(config);
        }
        if layout.plans_home().is_dir() {
            let reviewer = plan::config::Config::load(layout).reviewer;
            let name = reviewer
                .as_ref()
                .map_or(plan::reviewer::PROGRAM, crate::review::Reviewer::name);
            // The usual reviewer writes its review itself, so it may do anything.
            let how = if reviewer.is_some() {
                ", which only reads"
            } else {
                ", without asking for permissions"
            };
            all.add(
                &json!({ "plan_reviewer": name }),
                &format!("plan reviews  {name}{how}"),
            );
        }
        all
    }

    fn add_gates(&mut self, config: &Config) {
        for (name, check) in &config.checks {
            let place = check.working_directory.as_deref();
            let shown = place.map_or(String::new(), |place| format!("  (in {place})"));
            self.add(
                &json!({ "run": check.command, "in": place }),
                &format!("check {name}  {}{shown}", check.command.trim()),
            );
        }
        for (name, review) in &config.reviews {
            let reviewers = if review.cli_preference.is_empty() {
                &config.reviewers
            } else {
                &review.cli_preference
            };
            let model = review.model.as_deref();
            for reviewer in reviewers {
                // Only the reviewer `command` runs the line.
                let line = review.command.as_deref().filter(|_| reviewer == "command");
                let by = line.map_or(reviewer.as_str(), str::trim);
                let with = model.map_or(String::new(), |model| format!("  (model {model})"));
                self.add(
                    &json!({ "reviewer": reviewer, "model": model, "run": line }),
                    &format!("review {name}  {by}{with}"),
                );
            }
        }
        // Where logs are written is no command, but files outside of the project are not its own.
        let logs = lexical(&config.log_dir);
        if !logs.starts_with(&config.root) {
            let logs = logs.display().to_string();
            self.add(&json!({ "logs": logs }), &format!("logs  {logs}"));
        }
    }

    /// Names, directories and models are the project's words as much as its commands: nothing of
    /// them may move the cursor or hide another line of what a person is asked about.
    fn add(&mut self, canonical: &Value, shown: &str) {
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

    /// As a person reads them.
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

/// Bytes as people and files have them.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to memory does not fail.
        let _written = write!(text, "{byte:02x}");
        text
    })
}

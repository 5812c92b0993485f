//! One plan: its name, its directory, and how its state is read and changed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use tollgate_core::project::Layout;
use tollgate_store::document::Document;
use tollgate_store::fs::{self, Durability};
use tollgate_store::store::{STATE_CAP, Store, StoreError, UpdateError};

use super::state::State;
use super::transition::Change;

/// How long a command waits for another one that is changing the state.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a plan's name may be.
pub(crate) const LONGEST_NAME: usize = 128;

/// A plan's directory.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    id: String,
    dir: PathBuf,
    shown: String,
    local: PathBuf,
}

/// What is in a plan's `state.json`.
#[derive(Clone, Debug)]
pub(crate) enum StateFile {
    /// There is none.
    Absent,
    /// It is a file, and no JSON object.
    Corrupt(String),
    /// Something is there that cannot be read, or is no file of the plan's own.
    Unusable(String),
    /// It can be read; what was wrong with it is in its problems.
    Read(State),
}

/// Why the state was not changed.
#[derive(Debug)]
pub(crate) enum Unwritten {
    /// It is no longer what the change was made for.
    Moved(Box<State>),
    /// It cannot be written, or is not there.
    Failed(StoreError),
}

impl Plan {
    /// The plan of this name. None if the name could lead elsewhere or spoil a message: it is one
    /// visible component of a path without control characters.
    pub(crate) fn named(layout: &Layout, id: &str) -> Option<Self> {
        let ok = !id.is_empty()
            && id.len() <= LONGEST_NAME
            && !id.starts_with('.')
            && !id.chars().any(|c| c == '/' || c == '\\' || c.is_control());
        ok.then(|| Self {
            id: id.to_owned(),
            dir: layout.plans_home().join(id),
            shown: format!("{}/{id}", layout.plans_home_name()),
            local: layout.plans_local().join(local_name(id)),
        })
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The directory as reviewers read it, who work in the project's root: relative to it.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// The directory as seen from `cwd`: a path that opens from there. From the
    /// project's root it is the specification's.
    pub(crate) fn seen_from(&self, cwd: Option<&Path>) -> String {
        let is_same = |cwd: &Path| {
            let there = cwd.join(&self.shown).canonicalize();
            there.is_ok_and(|there| self.dir.canonicalize().is_ok_and(|dir| dir == there))
        };
        if cwd.is_none_or(is_same) {
            self.shown.clone()
        } else {
            self.dir.display().to_string()
        }
    }

    /// What Tollgate keeps about this plan.
    pub(crate) fn local(&self) -> &Path {
        &self.local
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// The text of a file of the plan, up to a cap; none if it is not there or no text file.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let contents = fs::read_regular(&self.path(name), STATE_CAP).ok()??;
        Some(String::from_utf8_lossy(&contents.bytes).into_owned())
    }

    /// Reads the state.
    pub(crate) fn state(&self) -> StateFile {
        self.read().0
    }

    /// Reads the state, and gives its text where it is one.
    pub(crate) fn read(&self) -> (StateFile, Option<String>) {
        match fs::read_own(&self.path("state.json"), STATE_CAP) {
            Ok(None) => (StateFile::Absent, None),
            Ok(Some(contents)) => match Document::parse(&contents.bytes) {
                Ok(document) => (
                    StateFile::Read(State::read(&document)),
                    String::from_utf8(contents.bytes).ok(),
                ),
                Err(flaw) => {
                    let why = format!("state.json contains invalid JSON ({flaw})");
                    (StateFile::Corrupt(why), None)
                }
            },
            Err(fault) => {
                let why = format!("state.json cannot be read: {fault}");
                (StateFile::Unusable(why), None)
            }
        }
    }

    /// Changes the state, if it is still as expected in all that transitions look at.
    pub(crate) fn change(
        &self,
        now: Timestamp,
        expected: &State,
        change: &Change,
    ) -> Result<(), Unwritten> {
        self.update(now, |document| {
            let found = State::read(document);
            // An empty document is also what a file that vanished meanwhile reads as.
            let is_gone = document.is_empty() && !self.path("state.json").exists();
            if is_gone || !found.is_same_step(expected) {
                return Err(Box::new(found));
            }
            change.apply(document);
            Ok(())
        })
    }

    /// Makes the first state.
    pub(crate) fn create(&self, now: Timestamp, change: &Change) -> Result<(), Unwritten> {
        self.update(now, |document| {
            if !document.is_empty() {
                return Err(Box::new(State::read(document)));
            }
            change.apply(document);
            Ok(())
        })
    }

    /// Makes a step, and writes down what the state is then.
    fn update(
        &self,
        now: Timestamp,
        mut change: impl FnMut(&mut Document) -> Result<(), Box<State>>,
    ) -> Result<(), Unwritten> {
        let mut text = String::new();
        let updated = self.store().update(now, |document| {
            change(document)?;
            text = document.to_text();
            Ok(Durability::Synced)
        });
        match updated {
            // Not confirmed is written all the same; there is nothing better to do about it.
            Ok(_) | Err(UpdateError::Store(StoreError::Unconfirmed { .. })) => {
                // The state is what counts; the log is there in case it is destroyed.
                let _unlogged = super::log::step(self, now, &text);
                Ok(())
            }
            Err(UpdateError::Store(error)) => Err(Unwritten::Failed(error)),
            Err(UpdateError::Refused(found)) => Err(Unwritten::Moved(found)),
        }
    }

    pub(super) fn store(&self) -> Store {
        Store::new(self.path("state.json"), self.local.join("state"))
            .unversioned()
            .with_patience(PATIENCE)
    }
}

/// What else lies beside those directories: the choice of a person, and texts for reviewers.
const TAKEN: [&str; 2] = ["pinned", "prompts"];

/// A name for Tollgate's own directory about a plan: the plan's, where that is plain enough and
/// free.
fn local_name(id: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    if id.bytes().all(plain) && !TAKEN.contains(&id) {
        id.to_owned()
    } else {
        format!("~{}", crate::hash::digest(id))
    }
}

impl std::fmt::Display for Unwritten {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Moved(_) => f.write_str("state.json was changed meanwhile"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

//! What rules have to know of a session: the ids of those whose `after` came, of those that let
//! pass effects that are unknown, and when a person was asked last. Nothing about files or
//! commands. A file per session in the project's own directory, where no agent writes.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tollgate_core::project::Layout;
use tollgate_store::fs::{self, Durability};

use crate::hash::digest;

/// A session's file has at most as many lines as there are rules.
const CAP: u64 = 1 << 18;

/// Sessions that are older are over.
const KEPT: Duration = Duration::from_hours(7 * 24);

/// What a person was asked about happens within this time, if they say yes.
const ANSWERED: Duration = Duration::from_mins(10);

#[derive(Debug)]
pub(crate) struct SessionEffects {
    file: Option<PathBuf>,
    ids: Vec<String>,
}

impl SessionEffects {
    pub(crate) fn read(layout: &Layout, session: Option<&str>) -> Self {
        let file = session.map(|session| directory(layout).join(digest(session)));
        let contents = file
            .as_deref()
            .and_then(|file| fs::read_own(file, CAP).ok()?);
        let text = contents.map(fs::Contents::into_text).unwrap_or_default();
        Self {
            file,
            ids: text.lines().map(str::to_owned).collect(),
        }
    }

    pub(crate) fn has(&self, id: &str) -> bool {
        self.ids.iter().any(|known| known == id)
    }

    /// Adds rules, if they are not there yet.
    pub(crate) fn add(mut self, ids: &[String]) -> io::Result<()> {
        let before = self.ids.len();
        for id in ids {
            if !self.has(id) {
                self.ids.push(id.clone());
            }
        }
        let file = self.file.as_deref().filter(|_| self.ids.len() > before);
        let Some((file, directory)) = file.and_then(|file| Some((file, file.parent()?))) else {
            return Ok(());
        };
        fs::private_directory(directory)?;
        if before == 0 {
            prune(directory);
        }
        let text = self.ids.join("\n") + "\n";
        fs::replace(file, text.as_bytes(), Durability::Lazy).map_err(io::Error::other)
    }
}

/// Notes that a rule had the agent ask the person just now, for the guard on git's side: a commit or push
/// that follows is the person's to decide.
pub(crate) fn note_asked(layout: &Layout) {
    let _unwritten = fs::private_directory(&directory(layout));
    let _unwritten = fs::replace(&asked(layout), b"", Durability::Lazy);
}

/// Whether the person was asked a moment ago.
pub(crate) fn was_asked(layout: &Layout) -> bool {
    age(&asked(layout)).is_some_and(|age| age < ANSWERED)
}

fn asked(layout: &Layout) -> PathBuf {
    directory(layout).join("asked")
}

/// Removes what is left of sessions that are over; the directory's own `.gitignore` stays.
fn prune(directory: &Path) {
    for name in fs::names(directory).unwrap_or_default() {
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let path = directory.join(name);
        if age(&path).is_some_and(|age| age > KEPT) {
            let _gone = fs::remove(&path);
        }
    }
}

/// How long ago a file was written; nothing where there is none, or its time is still to come.
fn age(file: &Path) -> Option<Duration> {
    let modified = file.metadata().and_then(|meta| meta.modified());
    modified.ok()?.elapsed().ok()
}

fn directory(layout: &Layout) -> PathBuf {
    layout.local().join("rule-sessions")
}

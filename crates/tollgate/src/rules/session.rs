//! Which effects a session had that rules wait for (`after`): the ids of those rules, and nothing
//! about files or commands. A file per session in the project's own directory, where no agent writes.

use std::path::PathBuf;
use std::time::Duration;

use tollgate_core::project::Layout;
use tollgate_store::fs::{self, Durability};

use crate::hash::digest;

/// A session's file has at most as many lines as there are rules.
const CAP: u64 = 1 << 18;

/// Sessions that are older are over.
const KEPT: Duration = Duration::from_hours(7 * 24);

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

    /// Adds rules, if they are not there yet. What cannot be written is no reason to disturb the agent:
    /// the same effect adds it again.
    pub(crate) fn add(mut self, ids: &[String]) {
        let before = self.ids.len();
        for id in ids {
            if !self.has(id) {
                self.ids.push(id.clone());
            }
        }
        let Some(file) = self.file.as_deref().filter(|_| self.ids.len() > before) else {
            return;
        };
        let Some(directory) = file.parent() else {
            return;
        };
        let _unwritten = fs::private_directory(directory);
        if before == 0 {
            prune(directory);
        }
        let text = self.ids.join("\n") + "\n";
        let _unwritten = fs::replace(file, text.as_bytes(), Durability::Lazy);
    }
}

/// Removes what is left of sessions that are over.
fn prune(directory: &std::path::Path) {
    for name in fs::names(directory).unwrap_or_default() {
        let path = directory.join(name);
        let age = path.metadata().and_then(|meta| meta.modified());
        let age = age.ok().and_then(|modified| modified.elapsed().ok());
        if age.is_some_and(|age| age > KEPT) {
            let _gone = fs::remove(&path);
        }
    }
}

fn directory(layout: &Layout) -> PathBuf {
    layout.local().join("effects")
}

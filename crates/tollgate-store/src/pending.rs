//! Changes that wait for a lock another process holds: late, never lost, never twice.
//!
//! **Waiting.** One file per change, in a directory of pending files.
//!
//! **Exactly once.** The next holder of the lock makes the waiting changes and then its own, and
//! writes one state. Killed after that rename and before the waiting files are removed, it would
//! leave changes that look unmade. So before the rename it writes an *intent*: which entries, in
//! which staged file, as which version. The process that gets the lock next settles it: if the staged file
//! has become the state, the entries are done and are only removed; if it still lies there under
//! its temporary name, they were never made and wait on. If it is neither (another program has
//! replaced the state since, or cleaned up), the version tells: a state at least as new as the
//! intended one was made from it. The user's state file holds no trace of any of this.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::edit::Edit;
use crate::fs::{self, Durability, FileAttributes, Identity, Staged, WriteFault};
use crate::outcome::Cause;
use crate::pending_files::{PendingFiles, is_left};

/// No entry is as large as this.
const CAP: u64 = 1 << 20;

/// A change that waits, as its file holds it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Waiting {
    pub(super) edits: Vec<Edit>,
    #[serde(default)]
    pub(super) cause: Cause,
}

/// What a holder of the lock is about to do.
#[derive(Debug, Serialize, Deserialize, PartialEq, Eq)]
pub(super) struct Intent {
    entries: Vec<String>,
    staged: PathBuf,
    device: u64,
    inode: u64,
    version: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Pending {
    /// One for each change that waits.
    pub(super) files: PendingFiles,
    intent: PathBuf,
}

impl Pending {
    pub(super) fn new(home: &Path) -> Self {
        Self {
            files: PendingFiles::new(home.join("spool")),
            intent: home.join("intent.json"),
        }
    }

    /// Adds a change. Needs no lock.
    pub(super) fn add(
        &self,
        now: Timestamp,
        edits: &[Edit],
        cause: &Cause,
        durability: Durability,
    ) -> Result<String, WriteFault> {
        let waiting = Waiting {
            edits: edits.to_vec(),
            cause: cause.clone(),
        };
        let bytes = serde_json::to_vec(&waiting)
            .map_err(|error| WriteFault::at("writing the edits down")(error.into()))?;
        self.files.leave(now, &bytes, durability)
    }

    /// The changes that wait, oldest first, by their names; or why one cannot be read.
    pub(super) fn waiting(&self) -> io::Result<Vec<(String, Result<Waiting, String>)>> {
        let read = |name: String| {
            let waiting = self.files.read(&name).and_then(|bytes| {
                serde_json::from_slice(&bytes).map_err(|error| error.to_string())
            });
            (name, waiting)
        };
        Ok(self.files.names()?.into_iter().map(read).collect())
    }

    /// Writes down what is about to happen to `entries`. Needs the lock.
    pub(super) fn intend(
        &self,
        entries: Vec<String>,
        staged: &Staged,
        version: u64,
    ) -> Result<(), WriteFault> {
        let identity = staged
            .identity()
            .map_err(WriteFault::at("looking at the temporary file"))?;
        let intent = Intent {
            entries,
            staged: staged.path().to_owned(),
            device: identity.device,
            inode: identity.inode,
            version,
        };
        let bytes = serde_json::to_vec(&intent)
            .map_err(|error| WriteFault::at("writing the intent down")(error.into()))?;
        // Not through `replace`: that sweeps, and the staged state must be there to be found.
        let home = self.intent.parent().unwrap_or(Path::new("."));
        Staged::write(home, &bytes, FileAttributes::private(), Durability::Synced)?
            .publish_synced(&self.intent, Durability::Synced)?
            .map_err(WriteFault::at("synchronising the intent"))
    }

    /// Takes the intent back: what it spoke of will not happen.
    pub(super) fn withdraw(&self) -> io::Result<()> {
        fs::unless_absent(fs::remove(&self.intent))
    }

    /// Removes changes that are in the state, then the intent that says so. Needs the lock.
    pub(super) fn finish<'a>(&self, entries: impl Iterator<Item = &'a str>) -> io::Result<()> {
        for name in entries {
            self.files.remove(name)?;
        }
        self.withdraw()
    }

    /// What a killed holder of the lock was about to do. Needs the lock.
    pub(super) fn intent(&self) -> io::Result<Option<Intent>> {
        let Some(contents) = fs::read_own(&self.intent, CAP)? else {
            return Ok(None);
        };
        match serde_json::from_slice(&contents.bytes) {
            Ok(intent) => Ok(Some(intent)),
            // It is renamed into place whole; one that cannot be read is none of ours.
            Err(_) => self.withdraw().map(|()| None),
        }
    }

    /// Settles what a killed holder of the lock left undone. `state` is the state file as it is
    /// now. Needs the lock, and comes before any sweeping.
    pub(super) fn settle(&self, intent: &Intent, state: Option<(Identity, u64)>) -> io::Result<()> {
        if !intent.is_done(state) {
            return self.withdraw();
        }
        let names = intent.entries.iter().map(String::as_str);
        self.finish(names.filter(|name| is_left(name)))
    }
}

impl Intent {
    /// Whether the state that it speaks of came to be.
    fn is_done(&self, state: Option<(Identity, u64)>) -> bool {
        state.is_some_and(|(identity, version)| {
            let is_it = (identity.device, identity.inode) == (self.device, self.inode);
            is_it || (version >= self.version && self.staged.symlink_metadata().is_err())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(inode: u64) -> Identity {
        Identity {
            device: 1,
            inode,
            size: 1,
            modified: 1,
            modified_nanos: 1,
        }
    }

    #[test]
    fn entries_come_back_in_the_order_of_time() {
        let dir = tempfile::tempdir().unwrap();
        let pending = Pending::new(dir.path());
        for second in [30, 9, 200] {
            let now = Timestamp::from_second(second).unwrap();
            pending
                .add(
                    now,
                    &[Edit::set(&["n"], second)],
                    &Cause::default(),
                    Durability::Lazy,
                )
                .unwrap();
        }
        let waiting = pending.waiting().unwrap();
        let order: Vec<_> = waiting
            .into_iter()
            .map(|(_, waiting)| waiting.unwrap().edits.remove(0))
            .collect();
        assert_eq!(order, [9, 30, 200].map(|n| Edit::set(&["n"], n)));
    }

    #[test]
    fn an_intent_is_done_when_its_file_became_the_state() {
        let dir = tempfile::tempdir().unwrap();
        let staged = dir.path().join("staged");
        let intent = Intent {
            entries: vec![],
            staged: staged.clone(),
            device: 1,
            inode: 7,
            version: 10,
        };
        assert!(intent.is_done(Some((identity(7), 10))));
        assert!(!intent.is_done(None));
        // A stranger replaced the state afterwards: from ours, or from an older one.
        assert!(intent.is_done(Some((identity(8), 11))));
        assert!(!intent.is_done(Some((identity(8), 9))));
        // Killed before the rename; then a stranger came to the same version.
        std::fs::File::create(&staged).unwrap();
        assert!(!intent.is_done(Some((identity(8), 10))));
    }
}

//! The last steps of an update: stage the new file, make sure that nobody interfered, keep a copy,
//! record, rename, clean up.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::super::lock::Guard;
use super::super::record::{Record, Seen, digest_of, keep_copy};
use super::{Found, New, Refused, STATE_CAP, Stage, Store, StoreError, Updated, Version};
use crate::fs::{self, Durability, Mould, Staged, Stamp, WriteFault};
use crate::verdict::Fault;

/// How many seconds a rename may come after its record. It changes the file's time of change, which
/// is not known before. A longer break does no harm: then the file is compared by its content.
const RENAMED: i64 = 2;

/// What became of a staged file.
pub(super) enum Committed {
    /// It is the state. The disk confirmed it, or not.
    Yes(io::Result<()>),
    Conflict,
}

impl Store {
    /// The last steps: nobody changed it meanwhile; this is what we write; rename.
    pub(super) fn commit(
        &self,
        guard: &Guard,
        staged: Staged,
        new: New<'_>,
    ) -> Result<Committed, WriteFault> {
        let New {
            text,
            version,
            durability,
            found,
            last,
            made: _,
        } = new;
        let bytes = text.bytes();
        // The intent goes before the staged file it speaks of, which `drop` removes.
        let give_up = |staged: Staged| {
            let _settled_by_version = self.spool.withdraw();
            drop(staged);
        };
        // Before the last look, so that little time is between that and the rename. Should nothing
        // come of it, the other copy still counts.
        let copy = keep_copy(&self.home, last.as_ref(), &bytes);
        if !self.is_still(found) {
            give_up(staged);
            return Ok(Committed::Conflict);
        }
        if durability == Durability::Lazy
            && let Some(Found { seen, .. }) = found
        {
            self.past
                .keep(&self.state, seen.version, seen.identity.size);
        }
        let record = staged.metadata().and_then(|metadata| {
            let Stamp { identity, mode } = Stamp::of(&metadata);
            Record {
                before: found.map(|found| found.seen),
                after: Seen {
                    identity,
                    version,
                    digest: digest_of(&bytes),
                },
                mode,
                changed_by: Some((metadata.ctime() + RENAMED, metadata.ctime_nsec())),
                copy,
                watched: last.as_ref().and_then(|last| last.watched.clone()),
            }
            .write(guard.file())
        });
        if let Err(source) = record {
            give_up(staged);
            return Err(WriteFault::at("recording the version")(source));
        }
        match staged.publish_synced(&self.state, durability) {
            Ok(confirmed) => Ok(Committed::Yes(confirmed)),
            Err(fault) => {
                let _settled_by_version = self.spool.withdraw();
                // Otherwise the old file, which is still there, would be taken for an older one
                // that somebody has put back, and a change that was said to have failed be made.
                let _as_before = match last {
                    Some(last) => last.write(guard.file()),
                    None => Record::erase(guard.file()),
                };
                Err(fault)
            }
        }
    }

    /// Whether the state file still holds what was read. Where its times cannot tell, by content:
    /// two writes within one tick of the clock have the same.
    pub(super) fn is_still(&self, found: Option<&Found<'_>>) -> bool {
        if let Some(mark) = found.and_then(|found| found.mark) {
            return mark.is_on(&self.state);
        }
        match found {
            Some(Found { bytes, seen, .. }) => fs::holds(&self.state, seen.identity.inode, bytes),
            None => matches!(fs::read_own(&self.state, STATE_CAP), Ok(None)),
        }
    }

    pub(super) fn stage(&self, stage: Stage, new: &New<'_>) -> Result<Staged, StoreError> {
        let durability = new.durability;
        let beside = self.state.parent().unwrap_or(Path::new("."));
        self.mould(new.found, beside)
            .and_then(|mould| {
                let directory = match stage {
                    Stage::Home => {
                        // What a killed writer of the archive left; hooks have no time for it.
                        if durability == Durability::Synced {
                            let _swept = fs::sweep(beside);
                        }
                        &self.home
                    }
                    Stage::Beside => {
                        let _swept = fs::sweep(beside);
                        beside
                    }
                };
                // An intent speaks of a file that had its name alone.
                let name = new.made.is_empty().then_some("state");
                Staged::write(directory, name, &new.text.bytes(), mould, durability)
            })
            .map_err(|fault| self.unwritten(fault))
    }

    /// The mode and owner of the new file, whose directory is there then.
    fn mould(&self, found: Option<&Found<'_>>, beside: &Path) -> Result<Mould, WriteFault> {
        if let Some(mould) = found.and_then(|found| found.mould) {
            return Ok(mould);
        }
        fs::create_directories(beside).map_err(WriteFault::at("creating its directory"))?;
        match self.version {
            Version::Absent if self.state.symlink_metadata().is_err() => Ok(Mould::shared()),
            Version::Absent | Version::Counted => Mould::of(&self.state),
        }
    }

    /// What must be told of the waiting changes that an update could not make. They came from events
    /// that are long over, so nobody else will.
    pub fn refusals(&self, updated: &Updated<'_>) -> Vec<Fault> {
        let refused = updated.refused.iter().map(|Refused { name, reason }| {
            let kept = self.spool.directory().join(format!("{name}.refused"));
            let text = format!(
                "{}: a change that had to wait for its lock could not be made any more: {reason}. \
                 It is kept at {}",
                self.state.display(),
                kept.display()
            );
            Fault::new("change-refused", text)
        });
        refused.collect()
    }

    /// Takes what was made and what was refused out of the spool.
    pub(super) fn clear(&self, made: &[String], refused: &[Refused]) -> Result<(), StoreError> {
        for Refused { name, .. } in refused {
            self.spool.refuse(name).map_err(|e| self.at_home(e))?;
        }
        if made.is_empty() {
            return Ok(());
        }
        let names = made.iter().map(String::as_str);
        self.spool.finish(names).map_err(|e| self.at_home(e))
    }
}

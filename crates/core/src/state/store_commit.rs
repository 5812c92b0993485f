//! The last steps of an update: stage the new file, make sure that nobody interfered, keep a copy,
//! record, rename, clean up.

use std::io;
use std::path::Path;

use super::super::lock::Guard;
use super::super::record::{Record, Seen, digest, keep_copy};
use super::{Found, Refused, STATE_CAP, Stage, Store, StoreError, Version};
use crate::fs::{self, Durability, Mould, Staged, Stamp, WriteFault};

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
        found: Option<&Found<'_>>,
        (version, text): (u64, &str),
        durability: Durability,
    ) -> Result<Committed, WriteFault> {
        // The intent goes before the staged file it speaks of, which `drop` removes.
        let give_up = |staged: Staged| {
            let _settled_by_version = self.spool.withdraw();
            drop(staged);
        };
        if !self.is_still(found) {
            give_up(staged);
            return Ok(Committed::Conflict);
        }
        let last = Record::read(guard.file());
        let copy = keep_copy(&self.home, last.as_ref(), text.as_bytes());
        let record = staged.stamp().and_then(|Stamp { identity, mode }| {
            Record {
                before: found.map(|found| found.seen),
                after: Seen {
                    identity,
                    version,
                    digest: digest(text.as_bytes()),
                },
                mode,
                copy,
                watched: last.and_then(|last| last.watched),
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
                Err(fault)
            }
        }
    }

    /// Whether the state file still holds what was read. Where its times cannot tell, by content:
    /// two writes within one tick of the clock have the same.
    fn is_still(&self, found: Option<&Found<'_>>) -> bool {
        if let Some(mark) = found.and_then(|found| found.mark) {
            return mark.is_on(&self.state);
        }
        match (fs::read_own(&self.state, STATE_CAP), found) {
            (Ok(None), None) => true,
            (Ok(Some(now)), Some(then)) => {
                now.identity.inode == then.seen.identity.inode && now.bytes == *then.bytes
            }
            (Ok(_) | Err(_), _) => false,
        }
    }

    pub(super) fn stage(
        &self,
        stage: Stage,
        bytes: &[u8],
        durability: Durability,
    ) -> Result<Staged, StoreError> {
        let beside = self.state.parent().unwrap_or(Path::new("."));
        fs::create_directories(beside)
            .map_err(WriteFault::at("creating its directory"))
            .and_then(|()| {
                let mould = match self.version {
                    Version::Absent if self.state.symlink_metadata().is_err() => Mould::shared(),
                    Version::Absent | Version::Counted => Mould::of(&self.state)?,
                };
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
                Staged::write(directory, bytes, mould, durability)
            })
            .map_err(|fault| self.unwritten(fault))
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

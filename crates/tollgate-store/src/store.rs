//! One state file that many processes change and none destroys.
//!
//! An update takes the lock, settles what a killed predecessor left, makes the changes that wait
//! in the pending and then its own, and replaces the file with version + 1. Under the lock the
//! version cannot change; other programs (an agent's editor, the original's hooks)
//! ignore the lock, so the content is compared once more right before the rename, and everything
//! is applied again to their version if it changed. What the store last wrote is kept in a record
//! inside the lock's file, so that `crate::watch` finds what another program overwrote.
//!
//! Corrupt is not absent: a file that is there and is no JSON object is reported with the place
//! of its flaw and left alone. Only [`Store::set_aside`], called on purpose, moves it.
//!
//! Temporary files are staged in the store's private directory where that is on the same file
//! system, so that a killed writer leaves nothing beside the state; otherwise beside it, with a
//! name that says whose it is.
//!
//! What this deliberately does not do: know the workflow's fields (but for the version), journal,
//! or decide what another program's change means.

use std::convert::Infallible;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use jiff::Timestamp;

use crate::document::Document;
pub use crate::document::STATE_CAP;
use crate::edit::{self, Edit, EditFault};
use crate::fs::{self, Contents, Durability, FileAttributes, Identity, Staged, WriteFault};
use crate::last_written::{LastWritten, Seen, digest, keep_copy};
use crate::lock::{self, Acquired, Guard, HOOK_PATIENCE};
use crate::outcome::TRIES;
pub use crate::outcome::{
    Cause, Late, Refused, StoreError, Submitted, UpdateError, Updated, Written,
};
use crate::patch::{self, Step};
use crate::pending::{Pending, Waiting};
use crate::timestamp;
use crate::version::{VERSION, version};

/// A stranger that truncates and then writes was seen to leave the file empty for up to 79 ms.
const HALF_WRITTEN: Duration = Duration::from_millis(120);

/// How many seconds a rename may come after its record. It changes the file's time of change, which
/// is not known before. A longer break does no harm: then the file is compared by its content.
const RENAMED: i64 = 2;

/// A state file, and the private directory beside which nothing of the store lives.
#[derive(Clone, Debug)]
pub struct Store {
    state: PathBuf,
    home: PathBuf,
    pending: Pending,
    patience: Duration,
    version: Version,
    cause: Cause,
}

/// Whether the file says how often it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    /// In `state_version`, as the workflow's original does.
    Counted,
    /// It belongs to a format without such a field.
    Absent,
}

struct New<'a> {
    now: Timestamp,
    text: &'a str,
    version: u64,
    durability: Durability,
    /// The file it replaces.
    found: Option<Seen>,
    /// What the store wrote last.
    last: Option<&'a LastWritten>,
    /// The waiting changes that are in it.
    made: &'a [String],
}

enum Committed {
    /// It is the state. The disk confirmed it, or not.
    Yes(io::Result<()>),
    /// Another program changed the file meanwhile.
    Conflict,
}

/// Where the new file is written before it gets its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Home,
    Beside,
}

impl Store {
    /// A store of the file `state`. `home` is a private directory for this one state (lock, pending,
    /// temporary files); it is made when it is first needed.
    pub fn new(state: impl Into<PathBuf>, home: impl Into<PathBuf>) -> Self {
        let home = home.into();
        Self {
            state: state.into(),
            pending: Pending::new(&home),
            home,
            patience: HOOK_PATIENCE,
            version: Version::Counted,
            cause: Cause::default(),
        }
    }

    /// The same store for a file whose format has no `state_version`, and which the project
    /// shares: made again, it is readable like the files beside it.
    #[must_use]
    pub fn unversioned(self) -> Self {
        Self {
            version: Version::Absent,
            ..self
        }
    }

    /// The same store with another patience: a person's command may wait longer than a hook.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The same store, for changes that come of this. It is kept with those that must wait.
    #[must_use]
    pub fn for_cause(self, cause: Cause) -> Self {
        Self { cause, ..self }
    }

    /// The private directory that holds what is kept about the state file.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The state file.
    pub fn path(&self) -> &Path {
        &self.state
    }

    /// Changes the state in one step.
    ///
    /// `change` gets the document as it is (an empty one if there is no file) and says how
    /// durable its change must be. It may be called again on a newer document, so it must look
    /// at what it is given and keep nothing from an earlier call.
    pub fn update<E>(
        &self,
        now: Timestamp,
        mut change: impl FnMut(&mut Document) -> Result<Durability, E>,
    ) -> Result<Updated, UpdateError<E>> {
        self.update_only(now, None, |document, _| Ok((change(document)?, None)))
    }

    /// The same for a change that looks at members of these names only, that is given whether there is
    /// a file, and that may say what it did.
    fn update_only<E>(
        &self,
        now: Timestamp,
        names: Option<&[&str]>,
        mut change: impl FnMut(&mut Document, bool) -> Result<(Durability, Option<Vec<Step>>), E>,
    ) -> Result<Updated, UpdateError<E>> {
        let guard = self.lock()?;
        let last = self.recover(&guard, now)?;
        for _ in 0..TRIES {
            if let Some(updated) = self.attempt(now, &guard, last.as_ref(), names, &mut change)? {
                return Ok(updated);
            }
        }
        Err(StoreError::Contended {
            path: self.state.clone(),
        }
        .into())
    }

    /// Makes edits now, or leaves them in the pending if the lock stays busy or strangers keep
    /// interfering: late, but never lost.
    pub fn submit(
        &self,
        now: Timestamp,
        durability: Durability,
        edits: &[Edit],
    ) -> Result<Submitted, UpdateError<EditFault>> {
        let mut names: Vec<&str> = edits.iter().filter_map(Edit::reads).collect();
        names.push(VERSION);
        let updated = self.update_only(now, Some(&names), |document, is_there| {
            // Refused without a fault: there is no state.
            if !is_there {
                return Err(None);
            }
            Ok((durability, Some(edit::make(edits, document)?)))
        });
        match updated {
            Ok(updated) => Ok(Submitted::Applied(updated)),
            Err(UpdateError::Refused(Some(fault))) => Err(UpdateError::Refused(fault)),
            Err(UpdateError::Refused(None)) => Err(StoreError::Absent {
                path: self.state.clone(),
            }
            .into()),
            Err(UpdateError::Store(StoreError::Busy { .. } | StoreError::Contended { .. })) => {
                let added = self.pending.add(now, edits, &self.cause, durability);
                Ok(Submitted::Pending(added.map_err(|fault| {
                    StoreError::Unwritten {
                        path: self.pending.files.directory().to_owned(),
                        fault,
                    }
                })?))
            }
            Err(UpdateError::Store(error)) => Err(error.into()),
        }
    }

    /// Makes the changes that wait, and sweeps.
    pub fn settle(&self, now: Timestamp) -> Result<Updated, StoreError> {
        let nothing = |_: &mut Document| Ok::<_, Infallible>(Durability::Lazy);
        self.update(now, nothing).map_err(|error| match error {
            UpdateError::Store(error) => error,
            UpdateError::Refused(never) => match never {},
        })
    }

    /// How many changes wait. Needs no lock.
    pub fn waiting(&self) -> usize {
        self.pending.files.names().map_or(0, |names| names.len())
    }

    /// Renames the state file to `<name>.corrupt-<time>`, so that a new one can be made, and
    /// says where it is. Never called by the store itself.
    pub fn set_aside(&self, now: Timestamp) -> Result<PathBuf, StoreError> {
        let _guard = self.lock()?;
        let mut name = self.state.file_name().unwrap_or_default().to_owned();
        name.push(format!(".corrupt-{}", timestamp::compact(now)));
        let aside = self.state.with_file_name(name);
        fs::move_aside(&self.state, &aside)
            .map_err(WriteFault::at("setting it aside"))
            .map_err(|fault| self.unwritten(fault))?;
        Ok(aside)
    }

    fn lock_path(&self) -> PathBuf {
        self.home.join("lock")
    }

    fn lock(&self) -> Result<Guard, StoreError> {
        match lock::acquire(&self.lock_path(), self.patience) {
            Ok(Acquired::Held(guard)) => Ok(guard),
            Ok(Acquired::Busy) => Err(StoreError::Busy {
                path: self.state.clone(),
                waited: self.patience,
            }),
            Err(source) => Err(StoreError::Home {
                path: self.lock_path(),
                source,
            }),
        }
    }

    /// Cleans up after killed writers: first the intent, which needs the staged file as
    /// evidence, then the temporary files. Says what the store wrote last.
    fn recover(&self, guard: &Guard, now: Timestamp) -> Result<Option<LastWritten>, StoreError> {
        if let Some(intent) = self.pending.intent().map_err(|e| self.at_home(e))? {
            // A state that cannot be read now settles nothing: better an error than twice.
            let state = self.find(now, Some(&[VERSION]))?;
            let state = state.map(|(seen, _)| (seen.identity, seen.version));
            self.pending
                .settle(&intent, state)
                .map_err(|e| self.at_home(e))?;
        }
        let mut last = LastWritten::read(guard.file());
        // The record of a write that was not finished is known from the file that is swept now.
        if let (Some(record), Ok(metadata)) = (&last, self.state.symlink_metadata())
            && record.is_unfinished(&metadata, &self.home, &self.state)
            && let Some(record) = record.without_last(&metadata)
        {
            record.write(guard.file()).map_err(|e| self.at_home(e))?;
            last = Some(record);
        }
        // What cannot be swept now is swept another time.
        let _swept = fs::sweep(&self.home);
        let _swept = fs::sweep(self.pending.files.directory());
        Ok(last)
    }

    /// The directory of the state file.
    fn beside(&self) -> &Path {
        self.state.parent().unwrap_or(Path::new("."))
    }

    /// One try to change the file; nothing if another program changed it meanwhile.
    fn attempt<E>(
        &self,
        now: Timestamp,
        guard: &Guard,
        last: Option<&LastWritten>,
        names: Option<&[&str]>,
        change: &mut impl FnMut(&mut Document, bool) -> Result<(Durability, Option<Vec<Step>>), E>,
    ) -> Result<Option<Updated>, UpdateError<E>> {
        let waiting = self.pending.waiting().map_err(|e| self.at_home(e))?;
        // What waits may look at any member.
        let names = names.filter(|_| waiting.is_empty());
        let (found, document) = self.find(now, names)?.unzip();
        let mut document = document.unwrap_or_default();
        let old_version = found.map_or(0, |seen| seen.version);
        let mut updated = Updated {
            version: old_version,
            outcome: Written::Unchanged,
            steps: Vec::new(),
            late: Vec::new(),
            refused: Vec::new(),
        };
        make_waiting(waiting, found.is_some(), &mut document, &mut updated);
        let made: Vec<String> = updated.late.iter().map(|late| late.name.clone()).collect();
        // A caller that names members says what was done to them.
        let before = names.is_none().then(|| document.clone());
        let (mut durability, steps) =
            change(&mut document, found.is_some()).map_err(UpdateError::Refused)?;
        if !document.is_changed() {
            if found.is_none() {
                // There is no state, so the waiting changes have not missed theirs yet.
                updated.refused.clear();
            }
            self.clear(&made, &updated.refused)?;
            return Ok(Some(updated));
        }

        // A change may raise the version (a repair does), and nothing lowers it.
        updated.version = old_version.max(version(&document)).saturating_add(1);
        updated.outcome = Written::Yes;
        if self.version == Version::Counted {
            // The document is an object and the path one key long: nothing can be in the way.
            let _free = document.set(&[VERSION], updated.version);
        }
        let compared = || before.map(|before| patch::between(&before, &document));
        updated.steps = steps.or_else(compared).unwrap_or_default();
        let text = document.to_text();
        if text.len() as u64 > STATE_CAP {
            return Err(StoreError::TooLarge {
                path: self.state.clone(),
            }
            .into());
        }
        if !made.is_empty() {
            // They may have been transitions, and this happens rarely enough.
            durability = Durability::Synced;
        }
        let new = New {
            now,
            text: &text,
            version: updated.version,
            durability,
            found,
            last,
            made: &made,
        };
        let written = self.write(guard, Stage::Home, &new, &updated.refused)?;
        Ok(written.then_some(updated))
    }

    /// Writes a new text. Says whether it did: otherwise another program changed the file meanwhile.
    fn write(
        &self,
        guard: &Guard,
        stage: Stage,
        new: &New<'_>,
        refused: &[Refused],
    ) -> Result<bool, StoreError> {
        let staged = self.stage(stage, new).map_err(|e| self.unwritten(e))?;
        if !new.made.is_empty() {
            self.pending
                .intend(new.made.to_vec(), &staged, new.version)
                .map_err(|fault| self.unwritten(fault))?;
        }
        match self.commit(guard, staged, new) {
            Ok(Committed::Yes(confirmed)) => {
                // If this fails, the intent stays and the next holder of the lock does it.
                let _settled_later = self.clear(new.made, refused);
                confirmed.map_err(|source| StoreError::Unconfirmed {
                    path: self.state.clone(),
                    source,
                })?;
                Ok(true)
            }
            Ok(Committed::Conflict) => Ok(false),
            // The private directory is on another file system.
            Err(fault) if fault.crosses_devices() && stage == Stage::Home => {
                self.write(guard, Stage::Beside, new, refused)
            }
            Err(fault) => Err(self.unwritten(fault)),
        }
    }

    /// A temporary file with the new text, and the mode and owner of the file it is to replace.
    fn stage(&self, stage: Stage, new: &New<'_>) -> Result<Staged, WriteFault> {
        let beside = self.beside();
        fs::create_directories(beside).map_err(WriteFault::at("creating its directory"))?;
        let attributes = match self.version {
            Version::Absent if self.state.symlink_metadata().is_err() => FileAttributes::shared(),
            Version::Absent | Version::Counted => FileAttributes::of(&self.state)?,
        };
        // Killed writers leave something there only where it is the stage, or of an archive, which
        // is written with transitions. What cannot be swept now is swept another time.
        if stage == Stage::Beside || new.durability == Durability::Synced {
            let _swept = fs::sweep(beside);
        }
        let directory = match stage {
            Stage::Home => &self.home,
            Stage::Beside => beside,
        };
        Staged::write(directory, new.text.as_bytes(), attributes, new.durability)
    }

    /// The last steps: no program changed it meanwhile; this is what we write; rename.
    fn commit(
        &self,
        guard: &Guard,
        staged: Staged,
        new: &New<'_>,
    ) -> Result<Committed, WriteFault> {
        // The intent goes before the staged file it speaks of, which `drop` removes.
        let give_up = |staged: Staged| {
            let _settled_by_version = self.pending.withdraw();
            drop(staged);
        };
        // Before the last look, so that little time is between that and the rename. Should nothing
        // come of it, the other copy still counts.
        let copy = keep_copy(&self.home, new.last, new.text.as_bytes());
        if !self.is_still(new.found, new.now) {
            give_up(staged);
            return Ok(Committed::Conflict);
        }
        let record = staged.metadata().and_then(|metadata| {
            LastWritten {
                before: new.found,
                after: Seen {
                    identity: Identity::of(&metadata),
                    version: new.version,
                    digest: digest(new.text.as_bytes()),
                },
                mode: metadata.mode(),
                changed_by: Some((metadata.ctime() + RENAMED, metadata.ctime_nsec())),
                copy,
                watched: new.last.and_then(|last| last.watched.clone()),
            }
            .write(guard.file())
        });
        if let Err(source) = record {
            give_up(staged);
            return Err(WriteFault::at("recording the version")(source));
        }
        match staged.publish_synced(&self.state, new.durability) {
            Ok(confirmed) => Ok(Committed::Yes(confirmed)),
            Err(fault) => {
                let _settled_by_version = self.pending.withdraw();
                // Otherwise the old file, which is still there, would be taken for an older one
                // that was put back, and a change that was said to have failed be made.
                let _as_before = match new.last {
                    Some(last) => last.write(guard.file()),
                    None => LastWritten::erase(guard.file()),
                };
                Err(fault)
            }
        }
    }

    /// Whether the state file still holds what was read. Its times say so, unless it was written so
    /// lately that one more write may have the same ones: then its digest does.
    fn is_still(&self, found: Option<Seen>, now: Timestamp) -> bool {
        if let Some(seen) = found.filter(|seen| is_settled(seen.identity, now)) {
            let metadata = self.state.symlink_metadata();
            return metadata.is_ok_and(|metadata| Identity::of(&metadata) == seen.identity);
        }
        match (found, fs::read_own(&self.state, STATE_CAP)) {
            (Some(seen), Ok(Some(now))) => {
                now.identity.inode == seen.identity.inode && digest(&now.bytes) == seen.digest
            }
            (None, Ok(None)) => true,
            (Some(_), Ok(None)) | (None, Ok(Some(_))) | (_, Err(_)) => false,
        }
    }

    /// A sentence about each waiting change that an update could not make. They came from events
    /// that are long over, so no other process reports them.
    pub fn refusals(&self, updated: &Updated) -> impl Iterator<Item = String> {
        updated.refused.iter().map(|Refused { name, reason }| {
            let kept = self
                .pending
                .files
                .directory()
                .join(format!("{name}.refused"));
            format!(
                "{}: a queued change could not be applied: {reason}. \
                 It is kept at {}",
                self.state.display(),
                kept.display()
            )
        })
    }

    /// Takes what was made and what was refused out of the pending.
    fn clear(&self, made: &[String], refused: &[Refused]) -> Result<(), StoreError> {
        for Refused { name, .. } in refused {
            self.pending
                .files
                .refuse(name)
                .map_err(|e| self.at_home(e))?;
        }
        if made.is_empty() {
            return Ok(());
        }
        let names = made.iter().map(String::as_str);
        self.pending.finish(names).map_err(|e| self.at_home(e))
    }

    /// Reads the state file; waits for a stranger who may just be writing it.
    fn find(
        &self,
        now: Timestamp,
        names: Option<&[&str]>,
    ) -> Result<Option<(Seen, Document)>, StoreError> {
        let mut waited = Duration::ZERO;
        loop {
            let contents =
                fs::read_own(&self.state, STATE_CAP).map_err(|fault| StoreError::Unreadable {
                    path: self.state.clone(),
                    fault,
                })?;
            let Some(Contents { bytes, identity }) = contents else {
                return Ok(None);
            };
            let parsed = match names {
                Some(names) => Document::parse_only(&bytes, names),
                None => Document::parse(&bytes),
            };
            match parsed {
                Ok(document) => {
                    let seen = Seen {
                        identity,
                        version: version(&document),
                        digest: digest(&bytes),
                    };
                    return Ok(Some((seen, document)));
                }
                Err(_) if waited < HALF_WRITTEN && is_fresh(identity, now) => {
                    let nap = Duration::from_millis(2);
                    sleep(nap);
                    waited += nap;
                }
                Err(flaw) => {
                    return Err(StoreError::Corrupt {
                        path: self.state.clone(),
                        flaw,
                    });
                }
            }
        }
    }

    fn unwritten(&self, fault: WriteFault) -> StoreError {
        StoreError::Unwritten {
            path: self.state.clone(),
            fault,
        }
    }

    fn at_home(&self, source: io::Error) -> StoreError {
        StoreError::Home {
            path: self.home.clone(),
            source,
        }
    }
}

/// Makes the changes that waited, if the state that they were meant for is there.
fn make_waiting(
    waiting: Vec<(String, Result<Waiting, String>)>,
    is_there: bool,
    document: &mut Document,
    updated: &mut Updated,
) {
    for (name, waiting) in waiting {
        let made = waiting.and_then(|Waiting { edits, cause }| {
            if !is_there {
                return Err("the state it was meant for is gone".to_owned());
            }
            let steps = edit::apply(&edits, document).map_err(|fault| fault.to_string())?;
            Ok((cause, steps))
        });
        match made {
            Ok((cause, steps)) => updated.late.push(Late { name, cause, steps }),
            Err(reason) => updated.refused.push(Refused { name, reason }),
        }
    }
}

/// Whether a file was written so lately that its writer may not be done. An old corrupt file is
/// corrupt, and no event waits for it.
fn is_fresh(identity: Identity, now: Timestamp) -> bool {
    now.as_second().abs_diff(identity.modified) <= 2
}

/// Whether a file was last written so long before this update began that a write since then has other
/// times: those of files move on by ticks of up to 10 ms.
fn is_settled(identity: Identity, now: Timestamp) -> bool {
    let seconds = identity.modified.saturating_mul(1000);
    let written = seconds.saturating_add(identity.modified_nanos / 1_000_000);
    now.as_millisecond().saturating_sub(written) > 20
}

#[cfg(test)]
mod tests;

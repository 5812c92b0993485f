//! What the store answers: what an update did, or why it did nothing.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::document::STATE_CAP;
use crate::fs::{ReadFault, WriteFault};
use crate::json::Malformed;
use crate::patch::Step;

/// How often a change is made again on top of a stranger's before the store gives up.
pub(crate) const TRIES: u32 = 32;

/// What an update did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Updated {
    /// The version the file has now; 0 if it has none.
    pub version: u64,
    /// Whether the file was written.
    pub outcome: Written,
    /// What the own change did.
    pub steps: Vec<Step>,
    /// The waiting changes of others that were made with it, before the own one.
    pub late: Vec<Late>,
    /// The waiting changes that could not be made, and why. They lie in the pending as `.refused`.
    pub refused: Vec<Refused>,
}

/// A change that waited for the lock and was made with another process's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Late {
    /// Its name in the pending, which begins with the moment it came.
    pub name: String,
    /// What it came of.
    pub cause: Cause,
    /// What it did.
    pub steps: Vec<Step>,
}

/// What a change came of, as far as it must be known when the change is made later.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cause {
    /// The agent's session.
    pub session: Option<String>,
    /// The id of the tool call.
    pub call: Option<String>,
    /// The event.
    pub event: Option<String>,
    /// The tool.
    pub tool: Option<String>,
}

/// Whether an update wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// The file is new.
    Yes,
    /// The change changed nothing, so nothing was written.
    Unchanged,
}

/// A waiting change that could not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its name in the pending.
    pub name: String,
    /// What was in the way.
    pub reason: String,
}

/// What became of edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Submitted {
    /// They are in the state.
    Applied(Updated),
    /// They are pending under this name; the next update makes them.
    Pending(String),
}

/// Why the state was not changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process held the lock longer than its limit.
    #[error("{path}: another process is changing it (waited {} ms)", waited.as_millis())]
    Busy {
        /// The state file.
        path: PathBuf,
        /// How long was waited.
        waited: Duration,
    },
    /// Others kept changing the file without the lock.
    #[error("{path}: other processes changed it during all {TRIES} tries")]
    Contended {
        /// The state file.
        path: PathBuf,
    },
    /// There is no state to edit.
    #[error("{path}: there is no state file")]
    Absent {
        /// The state file.
        path: PathBuf,
    },
    /// The file is there and is no JSON object. It was left alone.
    #[error("{path}: {flaw}; it was left as it is")]
    Corrupt {
        /// The state file.
        path: PathBuf,
        /// What is wrong, and where.
        flaw: Malformed,
    },
    /// The file is there and cannot be read.
    #[error("{path}: {fault}")]
    Unreadable {
        /// The state file.
        path: PathBuf,
        /// Why.
        fault: ReadFault,
    },
    /// The changed state would be larger than what can be read again.
    #[error("{path}: the changed state would be larger than {STATE_CAP} bytes")]
    TooLarge {
        /// The state file.
        path: PathBuf,
    },
    /// The file could not be written. The old state is still there.
    #[error("{path}: {fault}; the old one is still there")]
    Unwritten {
        /// The file.
        path: PathBuf,
        /// Why.
        fault: WriteFault,
    },
    /// The change is in the file, but may not survive the loss of power.
    #[error("{path}: changed, but the disk did not confirm it: {source}")]
    Unconfirmed {
        /// The state file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The store's private files could not be used.
    #[error("{path}: {source}")]
    Home {
        /// The private file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Why an update did not happen: the store's reason, or the change's own.
#[derive(Debug, thiserror::Error)]
pub enum UpdateError<E> {
    /// The store could not.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The change itself refused.
    #[error("{0}")]
    Refused(E),
}

//! Files that are read for the configuration while somebody looks through the work tree: nobody
//! has to read them twice.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::SystemTime;

/// A file as it was read.
#[derive(Debug)]
pub(crate) struct Read {
    /// Its name in its directory.
    pub(crate) name: OsString,
    /// From the same descriptor.
    pub(crate) metadata: Metadata,
    pub(crate) bytes: Vec<u8>,
}

/// Told once, when all are read. Dropped if there is nothing to tell.
pub(crate) type Telling = Sender<Vec<Read>>;

/// What is known of such files, or will be.
#[derive(Debug)]
pub(crate) struct Reads {
    /// None of them was read before this moment.
    since: SystemTime,
    /// Their directory below the top of the work tree, with a slash at its end.
    place: Vec<u8>,
    /// Who will tell.
    awaited: Option<Receiver<Vec<Read>>>,
    told: HashMap<Vec<u8>, Read>,
}

impl Reads {
    /// Nobody else reads anything.
    pub(crate) fn none() -> Self {
        Self {
            since: SystemTime::now(),
            place: Vec::new(),
            awaited: None,
            told: HashMap::new(),
        }
    }

    /// Files in this directory, relative to the top of the work tree, are going to be read.
    pub(crate) fn of(directory: &Path) -> (Self, Telling) {
        let (send, receive) = channel();
        let mut place = directory.as_os_str().as_bytes().to_owned();
        place.push(b'/');
        let reads = Self {
            place,
            awaited: Some(receive),
            ..Self::none()
        };
        (reads, send)
    }

    pub(crate) fn since(&self) -> SystemTime {
        self.since
    }

    /// What was read of the file at `path`; none if nobody did. Waits if somebody may.
    pub(crate) fn take(&mut self, path: &[u8]) -> Option<Read> {
        let name = path.strip_prefix(self.place.as_slice())?;
        if let Some(awaited) = self.awaited.take() {
            let told = awaited.recv().unwrap_or_default().into_iter();
            self.told = told
                .map(|mut read| (std::mem::take(&mut read.name).into_vec(), read))
                .collect();
        }
        self.told.remove(name)
    }
}

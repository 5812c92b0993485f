//! How far each endpoint has the journal, by the numbers of its entries.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use tollgate_store::fs::{self, Durability};

const CAP: u64 = 1 << 20;

/// The cursors of a project, held so that no second export sends the same at the same time.
#[derive(Debug)]
pub(crate) struct Cursors {
    path: PathBuf,
    /// By endpoint and signal.
    content: BTreeMap<String, BTreeMap<String, u64>>,
    _lock: File,
}

impl Cursors {
    /// None if another export is going on.
    pub(crate) fn open(local: &Path) -> io::Result<Option<Self>> {
        fs::private_directory(local)?;
        let lock = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(local.join("otlp.lock"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let path = local.join("otlp.json");
        let content = fs::read_own(&path, CAP)
            .ok()
            .flatten()
            .and_then(|contents| serde_json::from_slice(&contents.bytes).ok());
        Ok(Some(Self {
            path,
            content: content.unwrap_or_default(),
            _lock: lock,
        }))
    }

    /// The number of the last entry that was taken over; none before the first.
    pub(super) fn get(&self, endpoint: &str, signal: &str) -> Option<u64> {
        self.content.get(endpoint)?.get(signal).copied()
    }

    pub(super) fn set(&mut self, endpoint: &str, signal: &str, n: u64) -> io::Result<()> {
        let known = self.content.entry(endpoint.to_owned()).or_default();
        known.insert(signal.to_owned(), n);
        let text = format!("{}\n", serde_json::to_string_pretty(&self.content)?);
        Ok(fs::replace(
            &self.path,
            text.as_bytes(),
            Durability::Synced,
        )?)
    }
}

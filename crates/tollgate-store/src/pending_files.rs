//! Things that were left for the process that gets a lock next: one file each, in the order of time.
//!
//! A file is written under a temporary name and renamed, so that a reader sees all of it or
//! nothing. Its name begins with the time in nanoseconds; the order of names is the order of time.
//! The number of the file itself is in the name too, and two files that exist at once never share
//! one; so no two writers can choose the same name, and no lock is needed to leave something.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::fs::{self, Contents, Durability, FileAttributes, Staged, WriteFault};

/// Nothing that is left is as large as this.
const CAP: u64 = 1 << 20;

/// A directory in which things are left.
#[derive(Clone, Debug)]
pub(super) struct PendingFiles {
    directory: PathBuf,
}

impl PendingFiles {
    pub(super) fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Leaves something and says under which name. Needs no lock.
    pub(super) fn leave(
        &self,
        now: Timestamp,
        bytes: &[u8],
        durability: Durability,
    ) -> Result<String, WriteFault> {
        fs::create_directories(&self.directory).map_err(WriteFault::at("creating the pending"))?;
        let staged = Staged::write(
            &self.directory,
            bytes,
            FileAttributes::private(),
            durability,
        )?;
        let identity = staged.identity();
        let inode = identity
            .map_err(WriteFault::at("reading the pending change"))?
            .inode;
        let nanos = now.as_nanosecond().max(0);
        let name = format!("{nanos:020}-{}-{inode}.json", std::process::id());
        staged
            .publish_synced(&self.directory.join(&name), durability)?
            .map_err(WriteFault::at("synchronising the pending"))?;
        Ok(name)
    }

    pub(super) fn names(&self) -> io::Result<Vec<String>> {
        let names = match fs::names(&self.directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            names => names?.into_iter(),
        };
        let names = names.filter_map(|name| name.into_string().ok());
        let mut names: Vec<String> = names.filter(|name| is_left(name)).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// What was left under a name. `Err`: why it cannot be read.
    pub(super) fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        match fs::read_own(&self.directory.join(name), CAP) {
            Ok(Some(Contents { bytes, .. })) => Ok(bytes),
            Ok(None) => Err("it is gone".to_owned()),
            Err(fault) => Err(fault.to_string()),
        }
    }

    /// Takes something away that was dealt with. Needs the lock.
    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        fs::unless_absent(fs::remove(&self.directory.join(name)))
    }

    /// Puts something aside that cannot be dealt with, for a person to read. Needs the lock.
    pub(super) fn refuse(&self, name: &str) -> io::Result<()> {
        let aside = self.directory.join(format!("{name}.refused"));
        fs::unless_absent(fs::move_aside(&self.directory.join(name), &aside))
    }
}

/// A file that was left, and nothing that leads out of the directory.
pub(super) fn is_left(name: &str) -> bool {
    let is_json = name.strip_suffix(".json").is_some();
    is_json && name.starts_with(|c: char| c.is_ascii_digit()) && !name.contains('/')
}

#[cfg(test)]
mod tests {
    use super::is_left;

    #[test]
    fn only_what_was_left_is_taken() {
        assert!(is_left("0123-4-5.json"));
        for name in [
            "../1.json",
            "1/../../x.json",
            ".tollgate-tmp-1-1",
            "1.json.refused",
        ] {
            assert!(!is_left(name), "{name}");
        }
    }
}

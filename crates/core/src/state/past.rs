//! Replaced versions of the state keep a name until the agent rests.
//!
//! The dearest part of replacing a small file can be to give the old one's blocks back: on ext4
//! without a journal and with `discard`, the rename waits for the disk to confirm it, 0.25 of
//! 0.35 ms, and the next new file is looked for behind all that were freed of late. So an event
//! that is waited for gives the old file another name first, which costs a thirtieth of that, and
//! all of them go when nobody is in the middle of something.
//!
//! Nothing depends on these files. Where there are no hard links, the old one goes at once.

use std::io;
use std::path::{Path, PathBuf};

use crate::fs;

/// The versions that were replaced since the agent last rested.
#[derive(Clone, Debug)]
pub(super) struct Past {
    directory: PathBuf,
}

/// How many of them there are at most.
const MOST: u64 = 64;

/// A larger state is not kept, so that all of them together stay small.
const LARGEST: u64 = 256 << 10;

impl Past {
    /// Those in the store's private directory.
    pub(super) fn new(home: &Path) -> Self {
        Self {
            directory: home.join("past"),
        }
    }

    /// Gives the state of this version and size, which is about to be replaced, another name.
    pub(super) fn keep(&self, state: &Path, version: u64, size: u64) {
        if size > LARGEST {
            return;
        }
        let name = self.directory.join((version % MOST).to_string());
        let ready = match fs::link_aside(state, &name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_directories(&self.directory)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.let_go(),
            Ok(()) | Err(_) => return,
        };
        let _goes_at_once = ready.and_then(|()| fs::link_aside(state, &name));
    }

    /// Removes all of them.
    pub(super) fn let_go(&self) -> io::Result<()> {
        let entries = match self.directory.read_dir() {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        for entry in entries {
            match fs::remove(&entry?.path()) {
                // Somebody else does the same.
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::Durability;

    #[test]
    fn a_replaced_version_has_a_name_until_it_is_let_go() {
        let dir = tempfile::tempdir().unwrap();
        let (state, past) = (dir.path().join("s"), Past::new(&dir.path().join("home")));
        let names = || -> Vec<String> {
            let entries = past.directory.read_dir().unwrap();
            let name = |entry: io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
            let mut names: Vec<_> = entries
                .map(|entry| name(entry).into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        for version in 0..3 {
            let text = format!("version {version}");
            fs::replace(&state, text.as_bytes(), Durability::Lazy).unwrap();
            past.keep(&state, version, 9);
        }
        assert_eq!(names(), ["0", "1", "2"]);
        let old = past.directory.join("1");
        assert_eq!(std::fs::read_to_string(old).unwrap(), "version 1");
        past.keep(&state, MOST + 1, 9);
        assert_eq!(names(), ["1"], "the others went when its name was taken");
        past.keep(&state, 7, LARGEST + 1);
        assert_eq!(names(), ["1"], "it is too large");
        past.let_go().unwrap();
        assert_eq!(names(), [""; 0]);
        std::fs::remove_dir(&past.directory).unwrap();
        past.let_go().unwrap();
        past.keep(&dir.path().join("nothing"), 1, 9);
        assert_eq!(names(), [""; 0]);
    }
}

//! Texts kept under the name of their content, for those who ask later: the states that decisions
//! met, and values that are too long for a line of the journal or must not stand in it.
//!
//! They lie in the private directory, as readable for others as the state's own copies there: not
//! at all. A directory is bounded, and the oldest go first; so the caller may learn that a
//! text is gone, and never gets another one.

use std::io;
use std::path::{Path, PathBuf};

use crate::chain::Hash;
use crate::document::STATE_CAP;
use crate::fs::{self, Durability};
use crate::last_written::digest;

/// A directory of kept texts.
#[derive(Clone, Debug)]
pub struct Blobs {
    directory: PathBuf,
    name: fn(&[u8]) -> String,
    /// How many texts, and how many bytes of them.
    most: (usize, u64),
}

/// How many values of the state's history are kept, and how many bytes of them.
pub const VALUES: (usize, u64) = (256, 64 << 20);

/// How many states are kept to explain decisions.
pub(super) const STATES: usize = 32;

impl Blobs {
    /// The states that decisions met, in a project's private directory. One is kept with many a
    /// block, so its name must cost little; damage to it only spoils an explanation.
    pub fn states(local: &Path) -> Self {
        Self {
            directory: local.join("states"),
            name: |bytes| format!("{:016x}", digest(bytes)),
            most: (STATES, u64::MAX),
        }
    }

    /// The values of the state's history. The journal's chain is over their names, so the names
    /// must hold as much as the chain does.
    pub fn values(local: &Path) -> Self {
        Self {
            directory: local.join("values"),
            name: |bytes| Hash::of(bytes).to_string(),
            most: VALUES,
        }
    }

    /// Keeps a text, unless it is kept already, and says under which name.
    pub fn keep(&self, text: &str) -> io::Result<String> {
        let name = (self.name)(text.as_bytes());
        let path = self.path(&name);
        if path.symlink_metadata().is_ok() {
            return Ok(name);
        }
        fs::private_directory(&self.directory)?;
        self.make_room(text.len() as u64)?;
        fs::replace(&path, text.as_bytes(), Durability::Lazy)?;
        Ok(name)
    }

    /// A kept text; nothing if it is gone or not what it was.
    pub fn text(&self, name: &str) -> Option<String> {
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let kept = fs::read_own(&self.path(name), STATE_CAP).ok()??;
        let same = (self.name)(&kept.bytes) == name;
        same.then(|| String::from_utf8(kept.bytes).ok()).flatten()
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.json"))
    }

    fn make_room(&self, wanted: u64) -> io::Result<()> {
        let mut kept: Vec<_> = std::fs::read_dir(&self.directory)?
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let is_text = entry.path().extension().is_some_and(|kind| kind == "json");
                let metadata = is_text.then(|| entry.metadata().ok())??;
                Some((metadata.modified().ok()?, entry.path(), metadata.len()))
            })
            .collect();
        kept.sort();
        let (most, bytes) = self.most;
        let mut count = kept.len().saturating_add(1);
        let mut total = kept
            .iter()
            .fold(wanted, |sum, (_, _, length)| sum.saturating_add(*length));
        for (_, path, length) in &kept {
            if count <= most && total <= bytes {
                break;
            }
            fs::unless_absent(fs::remove(path))?;
            count -= 1;
            total = total.saturating_sub(*length);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt as _;

    fn count(directory: &Path) -> usize {
        let files = directory.read_dir().unwrap();
        let is_text = |path: PathBuf| path.extension().is_some_and(|kind| kind == "json");
        files
            .filter(|file| is_text(file.as_ref().unwrap().path()))
            .count()
    }

    #[test]
    fn states_are_kept_once_and_not_without_end() {
        let dir = tempfile::tempdir().unwrap();
        let kept = Blobs::states(dir.path());
        let name = kept.keep("{}").unwrap();
        assert_eq!(kept.keep("{}").unwrap(), name);
        assert_eq!(kept.text(&name).as_deref(), Some("{}"));
        assert_eq!(kept.text("../../x"), None);
        for n in 0..50 {
            kept.keep(&format!("{{\"n\":{n}}}")).unwrap();
        }
        assert_eq!(count(&dir.path().join("states")), STATES);
        #[expect(clippy::disallowed_methods, reason = "the test spoils it")]
        std::fs::write(kept.path(&name), "{\"other\":1}").unwrap();
        assert_eq!(kept.text(&name), None);
    }

    #[test]
    fn writers_that_make_room_at_once_keep_all() {
        let dir = tempfile::tempdir().unwrap();
        let kept = Blobs {
            most: (4, u64::MAX),
            ..Blobs::values(dir.path())
        };
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let kept = &kept;
                scope.spawn(move || {
                    for n in 0..100 {
                        kept.keep(&format!("{writer} {n}")).unwrap();
                    }
                });
            }
        });
    }

    #[test]
    fn values_are_private_and_bounded_by_their_size() {
        let dir = tempfile::tempdir().unwrap();
        let kept = Blobs {
            most: (256, 1000),
            ..Blobs::values(dir.path())
        };
        let texts: Vec<String> = (0..9).map(|n| n.to_string().repeat(300)).collect();
        let names: Vec<String> = texts.iter().map(|text| kept.keep(text).unwrap()).collect();
        let path = kept.path(names.last().unwrap());
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        assert_eq!(count(&dir.path().join("values")), 3);
        assert_eq!(kept.text(&names[8]).as_ref(), texts.last());
        assert_eq!(kept.text(&names[0]), None);
    }
}

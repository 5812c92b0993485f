//! Knowing a state file again, and its last good content.
//!
//! Agents change a state file by more routes than any list of commands knows: `sed`, a script,
//! `git checkout`, another tool. What they all have in common is that the file is another one
//! afterwards. The store's record says which file is the right one and where a copy of its
//! content is, so a look costs the reading of one page and one `stat`.
//!
//! What this deliberately does not do: judge a change. That is `crate::integrity`.

use std::fs::File;
use std::io;
use std::os::unix::fs::{DirEntryExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::lock::Guard;
use super::record::{Record, Seen, digest, keep_copy};
use super::store::STATE_CAP;
use super::version::version_in;
use crate::fs::{self, Durability, Stamp, TEMPORARY};

/// A watched state file.
#[derive(Clone, Debug)]
pub struct Watch {
    root: PathBuf,
    home: PathBuf,
}

/// What a look found.
#[derive(Debug)]
pub enum Look {
    /// Nothing is remembered about the file.
    NoBaseline,
    /// It is the file that is remembered.
    Same,
    /// It is another one.
    Changed(Changed),
}

/// A state file that is not as it was.
#[derive(Debug)]
pub struct Changed {
    /// Where it is, or was.
    pub path: PathBuf,
    /// The last good content.
    pub good: String,
    /// What is there now.
    pub now: Now,
    mode: u32,
}

/// What is in a state file's place now.
#[derive(Debug)]
pub enum Now {
    /// Nothing.
    Gone,
    /// Something that cannot be read, in words.
    Unreadable(String),
    /// The same content in another file or mode.
    Same,
    /// Another content.
    Text(String),
}

impl Watch {
    /// Watches a state file of the project in `root`; `home` is what the store keeps about it.
    pub fn new(root: &Path, home: PathBuf) -> Self {
        Self {
            root: root.to_owned(),
            home,
        }
    }

    /// Whether something is remembered.
    pub fn has_baseline(&self) -> bool {
        self.record().is_some_and(|record| record.watched.is_some())
    }

    /// Remembers the state file as it is now, if it is there and can be read. Needs the lock.
    pub fn remember(&self, guard: &Guard, state: &Path) -> io::Result<()> {
        let Ok(Some(contents)) = fs::read_own(state, STATE_CAP) else {
            return Ok(());
        };
        let Some(stamp) = stamp(state) else {
            return Ok(());
        };
        let path = state.strip_prefix(&self.root).unwrap_or(state);
        let path = path.to_str().filter(|path| Record::can_watch(path));
        let path = path.ok_or_else(|| io::Error::other("its path is too strange"))?;
        let last = Record::read(guard.file());
        let text = String::from_utf8_lossy(&contents.bytes);
        let record = Record {
            before: None,
            after: Seen {
                identity: contents.identity,
                version: version_in(&text),
                digest: digest(&contents.bytes),
            },
            mode: stamp.mode,
            copy: keep_copy(&self.home, last.as_ref(), &[&contents.bytes]),
            watched: Some(path.to_owned()),
        };
        record.write(guard.file())
    }

    /// Compares the state file with what is remembered.
    pub fn look(&self) -> Look {
        let Some((record, path)) = self.record().and_then(|record| {
            let path = self.root.join(record.watched.as_ref()?);
            Some((record, path))
        }) else {
            return Look::NoBaseline;
        };
        let is = stamp(&path);
        let right = Stamp {
            identity: record.after.identity,
            mode: record.mode,
        };
        if is == Some(right) || is.is_some_and(|is| self.is_unfinished(&record, is, &path)) {
            return Look::Same;
        }
        let Some(good) = self.good(&record) else {
            return Look::NoBaseline;
        };
        let now = match fs::read_own(&path, STATE_CAP) {
            Ok(None) => Now::Gone,
            Err(fault) => Now::Unreadable(fault.to_string()),
            Ok(Some(contents)) if digest(&contents.bytes) == record.after.digest => Now::Same,
            Ok(Some(contents)) => Now::Text(String::from_utf8_lossy(&contents.bytes).into_owned()),
        };
        Look::Changed(Changed {
            path,
            good,
            now,
            mode: record.mode,
        })
    }

    /// Puts `content` in the place of what was found there, and that aside. Says where that is.
    pub fn restore(
        &self,
        guard: &Guard,
        changed: &Changed,
        content: &str,
        name: &str,
    ) -> io::Result<Option<PathBuf>> {
        let aside = self.home.join(name);
        fs::private_directory(&self.home)?;
        let kept = match fs::move_aside(&changed.path, &aside) {
            Ok(()) => Some(aside),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            // Another file system, or a directory that may not be moved: it is only replaced.
            Err(_) => None,
        };
        if let Some(directory) = changed.path.parent() {
            fs::create_directories(directory)?;
        }
        fs::replace(&changed.path, content.as_bytes(), Durability::Synced)
            .map_err(io::Error::other)?;
        self.restore_mode(changed)?;
        self.remember(guard, &changed.path)?;
        Ok(kept)
    }

    /// Gives the file the mode it had: an unreadable state switches guards off.
    pub fn restore_mode(&self, changed: &Changed) -> io::Result<()> {
        let mode = std::fs::Permissions::from_mode(changed.mode & 0o7777);
        std::fs::set_permissions(&changed.path, mode)
    }

    /// Whether the file is the one before a write whose writer was killed before the rename. The
    /// new one then still has its temporary name; otherwise somebody has put the old one back.
    fn is_unfinished(&self, record: &Record, is: Stamp, path: &Path) -> bool {
        let staged = |directory: &Path| {
            directory.read_dir().is_ok_and(|mut entries| {
                entries.any(|entry| {
                    entry.is_ok_and(|entry| {
                        let name = entry.file_name();
                        name.as_encoded_bytes().starts_with(TEMPORARY.as_bytes())
                            && entry.ino() == record.after.identity.inode
                    })
                })
            })
        };
        record
            .before
            .is_some_and(|seen| seen.identity == is.identity)
            && (staged(&self.home) || path.parent().is_some_and(staged))
    }

    fn record(&self) -> Option<Record> {
        Record::read(&File::open(self.home.join("lock")).ok()?)
    }

    fn good(&self, record: &Record) -> Option<String> {
        let copy = self.home.join(record.copy?.name());
        let contents = fs::read_own(&copy, STATE_CAP).ok()??;
        (digest(&contents.bytes) == record.after.digest)
            .then(|| String::from_utf8(contents.bytes).ok())?
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::symlink_metadata(path).ok()?;
    metadata.is_file().then(|| Stamp::of(&metadata))
}

#[cfg(test)]
mod tests {
    use super::super::lock::{self, Acquired};
    use super::*;
    use std::os::unix::fs::MetadataExt as _;

    fn watched() -> (tempfile::TempDir, Watch, PathBuf, Guard) {
        let dir = tempfile::tempdir().unwrap();
        let held = lock::acquire(&dir.path().join("home/lock"), std::time::Duration::ZERO);
        let Acquired::Held(guard) = held.unwrap() else {
            panic!()
        };
        let state = dir.path().join("state.json");
        fs::replace(&state, b"{\"a\":1}", Durability::Lazy).unwrap();
        let watch = Watch::new(dir.path(), dir.path().join("home"));
        (dir, watch, state, guard)
    }

    #[test]
    fn a_file_is_known_again_until_it_changes() {
        let (_dir, watch, state, guard) = watched();
        assert!(matches!(watch.look(), Look::NoBaseline));
        watch.remember(&guard, &state).unwrap();
        assert!(matches!(watch.look(), Look::Same));
        fs::replace(&state, b"{\"a\":2}", Durability::Lazy).unwrap();
        let Look::Changed(changed) = watch.look() else {
            panic!()
        };
        assert_eq!(changed.good, "{\"a\":1}");
        assert!(matches!(changed.now, Now::Text(text) if text == "{\"a\":2}"));
    }

    #[test]
    fn what_vanished_comes_back_and_what_replaced_it_is_kept() {
        let (dir, watch, state, guard) = watched();
        watch.remember(&guard, &state).unwrap();
        std::fs::remove_file(&state).unwrap();
        let Look::Changed(changed) = watch.look() else {
            panic!()
        };
        assert!(matches!(changed.now, Now::Gone));
        assert_eq!(
            watch
                .restore(&guard, &changed, &changed.good, "rejected-1")
                .unwrap(),
            None
        );
        assert_eq!(std::fs::read_to_string(&state).unwrap(), "{\"a\":1}");
        assert!(matches!(watch.look(), Look::Same));

        std::fs::remove_file(&state).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &state).unwrap();
        let Look::Changed(changed) = watch.look() else {
            panic!()
        };
        assert!(matches!(changed.now, Now::Unreadable(_)));
        watch
            .restore(&guard, &changed, &changed.good, "rejected-2")
            .unwrap();
        assert_eq!(std::fs::read_to_string(&state).unwrap(), "{\"a\":1}");
        assert!(dir.path().join("home/rejected-2").is_symlink());
    }

    #[test]
    fn a_mode_that_changed_is_put_back() {
        let (_dir, watch, state, guard) = watched();
        watch.remember(&guard, &state).unwrap();
        let before = std::fs::metadata(&state).unwrap().mode();
        std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o400)).unwrap();
        let Look::Changed(changed) = watch.look() else {
            panic!()
        };
        assert!(matches!(changed.now, Now::Same));
        watch.restore_mode(&changed).unwrap();
        assert_eq!(std::fs::metadata(&state).unwrap().mode(), before);
    }

    #[test]
    fn the_old_file_put_back_is_a_change() {
        let (dir, watch, state, guard) = watched();
        watch.remember(&guard, &state).unwrap();
        let old = dir.path().join("old.json");
        std::fs::hard_link(&state, &old).unwrap();
        drop(guard);
        let store = super::super::store::Store::new(&state, dir.path().join("home"));
        let edits = [super::super::edit::Edit::set(&["a"], 2)];
        store
            .submit(jiff::Timestamp::UNIX_EPOCH, Durability::Lazy, &edits)
            .unwrap();
        assert!(matches!(watch.look(), Look::Same));
        fs::relocate(&old, &state).unwrap();
        let Look::Changed(changed) = watch.look() else {
            panic!()
        };
        assert!(changed.good.contains("\"a\": 2"));
    }
}

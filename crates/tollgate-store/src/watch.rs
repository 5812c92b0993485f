//! Knowing a state file again, and its last good content.
//!
//! Agents change a state file by more routes than any list of commands knows: `sed`, a script,
//! `git checkout`, another tool. In all cases the file is a different one
//! afterwards. The store's record says which file is the right one and where a copy of its
//! content is, so a comparison costs the reading of one page and one `stat`.
//!
//! What this deliberately does not do: judge a change. That is `tollgate_core::integrity`.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::document::STATE_CAP;
use crate::fs::{self, Contents, Durability, FileAttributes, Identity, Staged};
use crate::last_written::{LastWritten, Seen, digest, keep_copy};
use crate::lock::Guard;
use crate::version::version_in;

/// A watched state file.
#[derive(Clone, Debug)]
pub struct Watch {
    root: PathBuf,
    home: PathBuf,
}

/// What the names of rejected files begin with.
pub const REJECTED: &str = "rejected-";

/// How many of them are kept.
const MOST_REJECTED: usize = 32;

/// What a comparison found.
#[derive(Debug)]
pub enum Comparison {
    /// Nothing is remembered about the file.
    NoBaseline,
    /// It is the file that is remembered.
    Same,
    /// It is another one.
    Changed(Box<Changed>),
}

/// A state file that is not as it was.
#[derive(Debug)]
pub struct Changed {
    /// Where it is, or was.
    pub path: PathBuf,
    /// The last good content; nothing if the copy of it is gone.
    pub good: Option<Contents>,
    /// What is there now.
    pub now: Now,
    mode: u32,
    /// What was read there.
    contents: Option<Contents>,
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

    /// A path as messages say it: relative to the project's root.
    pub fn shown<'p>(&self, path: &'p Path) -> &'p Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }

    /// Whether something is remembered.
    pub fn has_baseline(&self) -> bool {
        self.record().is_some_and(|record| record.watched.is_some())
    }

    /// Remembers the state file as it is now, if it is there and can be read. Needs the lock.
    pub fn remember(&self, guard: &Guard, state: &Path) -> io::Result<()> {
        match fs::read_own(state, STATE_CAP) {
            Ok(Some(contents)) => self.remember_as(guard, state, &contents),
            Ok(None) | Err(_) => Ok(()),
        }
    }

    /// Remembers what was found to be right. What was put in its place meanwhile is found
    /// by the next comparison.
    pub fn adopt(&self, guard: &Guard, changed: &Changed) -> io::Result<()> {
        match &changed.contents {
            Some(contents) => self.remember_as(guard, &changed.path, contents),
            None => Ok(()),
        }
    }

    /// Forgets the file: it is gone for good. Needs the lock.
    pub fn forget(&self, guard: &Guard) -> io::Result<()> {
        match LastWritten::read(guard.file()) {
            Some(record) => LastWritten {
                watched: None,
                ..record
            }
            .write(guard.file()),
            None => Ok(()),
        }
    }

    /// Remembers a content, unless another file has its place by now.
    fn remember_as(&self, guard: &Guard, state: &Path, contents: &Contents) -> io::Result<()> {
        let is_it = |metadata: &Metadata| Identity::of(metadata) == contents.identity;
        let Some(metadata) = metadata(state).filter(is_it) else {
            return Ok(());
        };
        let path = self.shown(state);
        let path = path.to_str().filter(|path| LastWritten::can_watch(path));
        let path = path.ok_or_else(|| io::Error::other("its path is too strange"))?;
        let last = LastWritten::read(guard.file());
        let record = LastWritten {
            before: None,
            after: Seen {
                identity: contents.identity,
                version: version_in(&contents.clone().into_text()),
                digest: digest(&contents.bytes),
            },
            mode: metadata.mode(),
            changed_by: Some((metadata.ctime(), metadata.ctime_nsec())),
            copy: keep_copy(&self.home, last.as_ref(), &contents.bytes),
            watched: Some(path.to_owned()),
        };
        record.write(guard.file())
    }

    /// Compares the state file with what is remembered.
    pub fn compare(&self) -> Comparison {
        let Some(record) = self.record() else {
            return Comparison::NoBaseline;
        };
        let Some(path) = record.watched.as_ref().map(|path| self.root.join(path)) else {
            return Comparison::NoBaseline;
        };
        if let Some(metadata) = metadata(&path)
            && (record.describes(&metadata) || record.is_unfinished(&metadata, &self.home, &path))
        {
            return Comparison::Same;
        }
        let (now, contents) = match fs::read_own(&path, STATE_CAP) {
            Ok(None) => (Now::Gone, None),
            Err(fault) => (Now::Unreadable(fault.to_string()), None),
            Ok(Some(contents)) if digest(&contents.bytes) == record.after.digest => {
                (Now::Same, Some(contents))
            }
            Ok(Some(contents)) if std::str::from_utf8(&contents.bytes).is_err() => (
                Now::Unreadable("it is not UTF-8".to_owned()),
                Some(contents),
            ),
            Ok(Some(contents)) => (Now::Text(contents.clone().into_text()), Some(contents)),
        };
        let changed = Changed {
            path,
            good: self.good(&record),
            now,
            mode: record.mode,
            contents,
        };
        Comparison::Changed(Box::new(changed))
    }

    /// Puts `content` in the place of what was found there, and that aside. Says where that is.
    pub fn restore(
        &self,
        guard: &Guard,
        changed: &Changed,
        content: &[u8],
        name: &str,
    ) -> io::Result<Option<PathBuf>> {
        fs::private_directory(&self.home)?;
        let path = changed.path.as_path();
        let directory = path.parent().unwrap_or(Path::new("."));
        fs::create_directories(directory)?;
        let _swept = fs::sweep(directory);
        // The new one first: on a full disk, what is there must not have gone before it.
        let attributes = FileAttributes::of(path).unwrap_or(FileAttributes::private());
        let attributes = attributes.with_mode(changed.mode);
        let staged = Staged::write(directory, content, attributes, Durability::Synced)?;
        let contents = Contents {
            bytes: content.to_vec(),
            identity: staged.identity()?,
        };
        let kept = self.keep_aside(changed, name);
        // It is there; whether it survives the loss of power changes nothing of the report.
        let _confirmed = staged.publish_synced(path, Durability::Synced)?;
        self.remember_as(guard, path, &contents)?;
        Ok(kept)
    }

    /// Keeps what was found under another name: as a second name of it if that is possible, so that
    /// the state is never away; a directory is moved; what is on another file system is copied.
    fn keep_aside(&self, changed: &Changed, name: &str) -> Option<PathBuf> {
        let (from, aside) = (&changed.path, self.home.join(name));
        self.forget_rejected();
        let kept = fs::link_aside(from, &aside)
            .or_else(|_| fs::move_aside(from, &aside))
            .or_else(|error| match &changed.contents {
                Some(contents) => Ok(fs::replace(&aside, &contents.bytes, Durability::Lazy)?),
                None => Err(error),
            });
        kept.ok().map(|()| aside)
    }

    /// Removes the oldest of what was put aside: an agent that does it all day must not fill a disk.
    fn forget_rejected(&self) {
        let entries = self.home.read_dir().into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| name.starts_with(REJECTED)).collect();
        // Their names are their times.
        names.sort_unstable();
        let most = names.len().saturating_sub(MOST_REJECTED - 1);
        for name in names.into_iter().take(most) {
            // What is no file is left to a person.
            let _left = fs::remove(&self.home.join(name));
        }
    }

    /// Gives the file the mode it had: an unreadable state switches guards off.
    pub fn restore_mode(&self, changed: &Changed) -> io::Result<()> {
        let mode = std::fs::Permissions::from_mode(changed.mode & 0o7777);
        std::fs::set_permissions(&changed.path, mode)
    }

    fn record(&self) -> Option<LastWritten> {
        LastWritten::of(&self.home.join("lock"))
    }

    fn good(&self, record: &LastWritten) -> Option<Contents> {
        let copy = self.home.join(record.copy?.name());
        let contents = fs::read_own(&copy, STATE_CAP).ok()??;
        (digest(&contents.bytes) == record.after.digest).then_some(contents)
    }
}

/// What the system says about a regular file.
fn metadata(path: &Path) -> Option<Metadata> {
    let metadata = std::fs::symlink_metadata(path).ok()?;
    metadata.is_file().then_some(metadata)
}

#[cfg(test)]
mod tests {
    use super::super::lock::{self, Acquired};
    use super::*;
    use crate::fs::{Plan, Strike, inject};

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
        assert!(matches!(watch.compare(), Comparison::NoBaseline));
        watch.remember(&guard, &state).unwrap();
        assert!(matches!(watch.compare(), Comparison::Same));
        fs::replace(&state, b"{\"a\":2}", Durability::Lazy).unwrap();
        let Comparison::Changed(changed) = watch.compare() else {
            panic!()
        };
        assert_eq!(changed.good.unwrap().bytes, b"{\"a\":1}");
        assert!(matches!(&changed.now, Now::Text(text) if text == "{\"a\":2}"));
    }

    #[test]
    fn what_vanished_comes_back_and_what_replaced_it_is_kept() {
        let (dir, watch, state, guard) = watched();
        watch.remember(&guard, &state).unwrap();
        std::fs::remove_file(&state).unwrap();
        let Comparison::Changed(changed) = watch.compare() else {
            panic!()
        };
        assert!(matches!(changed.now, Now::Gone));
        assert_eq!(
            watch
                .restore(&guard, &changed, b"{\"a\":1}", "rejected-1")
                .unwrap(),
            None
        );
        assert_eq!(std::fs::read_to_string(&state).unwrap(), "{\"a\":1}");
        assert!(matches!(watch.compare(), Comparison::Same));

        std::fs::remove_file(&state).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &state).unwrap();
        let Comparison::Changed(changed) = watch.compare() else {
            panic!()
        };
        assert!(matches!(changed.now, Now::Unreadable(_)));
        watch
            .restore(&guard, &changed, b"{\"a\":1}", "rejected-2")
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
        let Comparison::Changed(changed) = watch.compare() else {
            panic!()
        };
        assert!(matches!(changed.now, Now::Same));
        watch.restore_mode(&changed).unwrap();
        assert_eq!(std::fs::metadata(&state).unwrap().mode(), before);
    }

    #[test]
    fn a_write_that_failed_leaves_no_intruder() {
        let (dir, watch, state, guard) = watched();
        watch.remember(&guard, &state).unwrap();
        drop(guard);
        let store = super::super::store::Store::new(&state, dir.path().join("home"));
        let submit = |n: u64| {
            let edits = [super::super::edit::Edit::set(&["a"], n)];
            store.submit(jiff::Timestamp::UNIX_EPOCH, Durability::Lazy, &edits)
        };
        inject(None);
        submit(2).unwrap();
        let steps = inject(None);
        for at in 1..=u64::try_from(steps).unwrap() {
            let before = std::fs::read(&state).unwrap();
            let strike = Strike::Once(13);
            let at_step = usize::try_from(at).unwrap();
            inject(Some(Plan {
                at: at_step,
                strike,
            }));
            let submitted = submit(100 + at);
            inject(None);
            if submitted.is_err() {
                assert_eq!(std::fs::read(&state).unwrap(), before, "step {at}");
            }
            assert!(matches!(watch.compare(), Comparison::Same), "step {at}");
        }
    }

    #[test]
    fn on_a_full_disk_there_is_a_state_all_the_same() {
        let (_dir, watch, state, guard) = watched();
        watch.remember(&guard, &state).unwrap();
        let spoil = || {
            fs::replace(&state, b"{\"a\":2}", Durability::Lazy).unwrap();
            match watch.compare() {
                Comparison::Changed(changed) => changed,
                Comparison::NoBaseline | Comparison::Same => panic!(),
            }
        };
        let restore =
            |changed: &Changed, name: &str| watch.restore(&guard, changed, b"{\"a\":1}", name);
        let changed = spoil();
        inject(None);
        restore(&changed, "rejected-0").unwrap().unwrap();
        let steps = inject(None);
        assert!(steps > 3);
        for at in 1..=steps {
            let changed = spoil();
            let strike = Strike::Forever(28);
            inject(Some(Plan { at, strike }));
            let restored = restore(&changed, &format!("rejected-{at}"));
            inject(None);
            let is = std::fs::read_to_string(&state).unwrap_or_default();
            let expected = if restored.is_ok() {
                ["{\"a\":1}"; 2]
            } else {
                ["{\"a\":1}", "{\"a\":2}"]
            };
            assert!(expected.contains(&is.as_str()), "step {at}: {is}");
        }
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
        assert!(matches!(watch.compare(), Comparison::Same));
        fs::relocate(&old, &state).unwrap();
        let Comparison::Changed(changed) = watch.compare() else {
            panic!()
        };
        let good = changed.good.unwrap().into_text();
        assert!(good.contains("\"a\": 2"));
    }
}

//! Knowing a state file again, and its last good content.
//!
//! Agents change a state file by more routes than any list of commands knows: `sed`, a script,
//! `git checkout`, another tool. What they all have in common is that the file is another one
//! afterwards. So its identity and a copy of its content are kept in one private file, the
//! baseline, and a look costs one `stat` and the reading of one line.
//!
//! What this deliberately does not do: judge a change. That is `crate::integrity`.

use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::record::digest;
use super::store::STATE_CAP;
use crate::fs::{self, Durability, Identity};

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
    Text {
        /// It.
        text: String,
        /// Its digest, as [`super::store::Seen`] has it.
        digest: u64,
    },
}

const MARK: &str = "tollgate-baseline-1";

/// Longer than any first line of a baseline.
const LINE: usize = 4096;

/// The first line of a baseline.
struct Head {
    /// The state file, relative to the project's root.
    path: PathBuf,
    stamp: Stamp,
    digest: u64,
}

/// What a `stat` tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    identity: Identity,
    mode: u32,
}

impl Watch {
    /// Watches a state file of the project in `root`; `home` is what the store keeps about it.
    pub fn new(root: &Path, home: PathBuf) -> Self {
        Self {
            root: root.to_owned(),
            home,
        }
    }

    fn baseline(&self) -> PathBuf {
        self.home.join("baseline")
    }

    /// Whether something is remembered.
    pub fn has_baseline(&self) -> bool {
        self.baseline().exists()
    }

    /// Remembers the state file as it is now, if it is there and can be read.
    pub fn remember(&self, state: &Path) -> io::Result<()> {
        let Ok(Some(contents)) = fs::read_own(state, STATE_CAP) else {
            return Ok(());
        };
        let Some(stamp) = Stamp::of(state) else {
            return Ok(());
        };
        let path = state.strip_prefix(&self.root).unwrap_or(state);
        let Stamp { identity, mode } = stamp;
        let sum = digest(&contents.bytes);
        let head = format!("{MARK} {sum} {identity} {mode} {}\n", path.display());
        if head.len() > LINE || head.matches('\n').count() != 1 {
            return Err(io::Error::other(
                "the path of the state file is too strange",
            ));
        }
        fs::private_directory(&self.home)?;
        let bytes = [head.as_bytes(), &contents.bytes].concat();
        fs::replace(&self.baseline(), &bytes, Durability::Lazy).map_err(io::Error::other)
    }

    /// Compares the state file with what is remembered.
    pub fn look(&self) -> Look {
        let Some(head) = self.head() else {
            return Look::NoBaseline;
        };
        let path = self.root.join(&head.path);
        if Stamp::of(&path) == Some(head.stamp) {
            return Look::Same;
        }
        let Some(good) = self.good() else {
            return Look::NoBaseline;
        };
        let now = match fs::read_own(&path, STATE_CAP) {
            Ok(None) => Now::Gone,
            Err(fault) => Now::Unreadable(fault.to_string()),
            Ok(Some(contents)) => {
                let sum = digest(&contents.bytes);
                if sum == head.digest {
                    Now::Same
                } else {
                    let text = String::from_utf8_lossy(&contents.bytes).into_owned();
                    Now::Text { text, digest: sum }
                }
            }
        };
        Look::Changed(Changed {
            path,
            good,
            now,
            mode: head.stamp.mode,
        })
    }

    /// Puts the last good content back, and what was found there aside. Says where that is.
    pub fn restore(&self, changed: &Changed, name: &str) -> io::Result<Option<PathBuf>> {
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
        fs::replace(&changed.path, changed.good.as_bytes(), Durability::Synced)
            .map_err(io::Error::other)?;
        self.restore_mode(changed)?;
        self.remember(&changed.path)?;
        Ok(kept)
    }

    /// Gives the file the mode it had: an unreadable state switches guards off.
    pub fn restore_mode(&self, changed: &Changed) -> io::Result<()> {
        let mode = std::fs::Permissions::from_mode(changed.mode & 0o7777);
        std::fs::set_permissions(&changed.path, mode)
    }

    fn head(&self) -> Option<Head> {
        let file = std::fs::File::open(self.baseline()).ok()?;
        let mut line = [0; LINE];
        let read = file.read_at(&mut line, 0).ok()?;
        let line = line.get(..read)?;
        let end = line.iter().position(|byte| *byte == b'\n')?;
        Head::parse(std::str::from_utf8(line.get(..end)?).ok()?)
    }

    fn good(&self) -> Option<String> {
        let contents = fs::read_own(&self.baseline(), STATE_CAP + LINE as u64).ok()??;
        let text = String::from_utf8(contents.bytes).ok()?;
        text.split_once('\n').map(|(_, good)| good.to_owned())
    }
}

impl Head {
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.splitn(9, ' ');
        if fields.next()? != MARK {
            return None;
        }
        Some(Self {
            digest: fields.next()?.parse().ok()?,
            stamp: Stamp {
                identity: Identity::parse(&mut fields)?,
                mode: fields.next()?.parse().ok()?,
            },
            path: PathBuf::from(fields.next()?),
        })
    }
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        let metadata = std::fs::symlink_metadata(path).ok()?;
        metadata.is_file().then(|| Self {
            identity: Identity::of(&metadata),
            mode: metadata.mode(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched() -> (tempfile::TempDir, Watch, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state.json");
        fs::replace(&state, b"{\"a\":1}", Durability::Lazy).unwrap();
        let watch = Watch::new(dir.path(), dir.path().join("home"));
        (dir, watch, state)
    }

    #[test]
    fn a_file_is_known_again_until_it_changes() {
        let (_dir, watch, state) = watched();
        assert!(matches!(watch.look(), Look::NoBaseline));
        watch.remember(&state).unwrap();
        assert!(matches!(watch.look(), Look::Same));
        fs::replace(&state, b"{\"a\":2}", Durability::Lazy).unwrap();
        let Look::Changed(changed) = watch.look() else {
            panic!()
        };
        assert_eq!(changed.good, "{\"a\":1}");
        assert!(matches!(changed.now, Now::Text { text, .. } if text == "{\"a\":2}"));
    }

    #[test]
    fn what_vanished_comes_back_and_what_replaced_it_is_kept() {
        let (dir, watch, state) = watched();
        watch.remember(&state).unwrap();
        std::fs::remove_file(&state).unwrap();
        let Look::Changed(changed) = watch.look() else {
            panic!()
        };
        assert!(matches!(changed.now, Now::Gone));
        assert_eq!(watch.restore(&changed, "rejected-1").unwrap(), None);
        assert_eq!(std::fs::read_to_string(&state).unwrap(), "{\"a\":1}");
        assert!(matches!(watch.look(), Look::Same));

        std::fs::remove_file(&state).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &state).unwrap();
        let Look::Changed(changed) = watch.look() else {
            panic!()
        };
        assert!(matches!(changed.now, Now::Unreadable(_)));
        watch.restore(&changed, "rejected-2").unwrap();
        assert_eq!(std::fs::read_to_string(&state).unwrap(), "{\"a\":1}");
        assert!(dir.path().join("home/rejected-2").is_symlink());
    }

    #[test]
    fn a_mode_that_changed_is_put_back() {
        let (_dir, watch, state) = watched();
        watch.remember(&state).unwrap();
        let before = std::fs::metadata(&state).unwrap().mode();
        std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o400)).unwrap();
        let Look::Changed(changed) = watch.look() else {
            panic!()
        };
        assert!(matches!(changed.now, Now::Same));
        watch.restore_mode(&changed).unwrap();
        assert_eq!(std::fs::metadata(&state).unwrap().mode(), before);
    }
}

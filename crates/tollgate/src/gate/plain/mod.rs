//! The work tree as it is, without git: for a plain repository, in which the answer is sure to be
//! git's own, to the byte. Wherever something is not known to be plain, there is no answer, and git
//! is asked.
//!
//! Nothing is written before somebody wants the tree, and then only objects.

mod configuration;
mod ignore;
mod objects;
mod packs;
mod settings;
#[cfg(test)]
mod tests;
mod trees;
mod walk;
mod wildmatch;

use std::collections::BTreeSet;
use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};

use super::git::{Git, GitError};
use super::index::{self, Moved};
use objects::{Id, Kind, Object, Objects};
use settings::Surroundings;
use trees::{Directory, Node};
use walk::{Seen, Walk};

/// Beyond so many files, git looks through them in parallel.
const FILES: usize = 4_000;

/// A longer index has more than so many.
const INDEX: u64 = 1 << 20;

/// The times of files that changed in the last seconds say less than they seem to.
const TICK: i64 = 2;

/// The work tree of a plain repository.
#[derive(Debug)]
pub(crate) struct Plain {
    top: Directory,
    /// When it was looked at, in seconds.
    at: i64,
    unwritten: Arc<Unwritten>,
}

/// Objects that are not written before somebody wants them.
#[derive(Debug)]
pub(super) struct Unwritten {
    pub(super) name: String,
    objects: Objects,
    unknown: Vec<Object>,
    done: OnceLock<Result<(), String>>,
}

impl Plain {
    /// Looks at the work tree without `logs`. None if git has to.
    pub(super) fn take(git: &Git, logs: Option<&Path>) -> Option<Self> {
        Self::take_in(git, logs, &Surroundings::of_process())
    }

    fn take_in(git: &Git, logs: Option<&Path>, around: &Surroundings) -> Option<Self> {
        if !cfg!(target_os = "linux") {
            return None;
        }
        // Before anything is read.
        let at = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        let repository = git.repository();
        settings::is_ours(repository, git.root())?;
        let rules = around.rules(repository)?;
        let file = tollgate_core::fs::read_regular(&git.index(), INDEX).ok()?;
        let index = match &file {
            Some(file) => Some(index::read(&file.bytes)?),
            None => None,
        };
        let entries = index.as_ref().map_or(&[][..], |index| &index.entries);
        let rest = index.as_ref().map_or(&[][..], |index| index.rest);
        let is_plain = |entry: &index::Entry<'_>| {
            let name = entry.path.rsplit(|byte| *byte == b'/').next();
            entry.is_plain
                && [trees::FILE, trees::PROGRAM, trees::LINK].contains(&entry.mode)
                && !matches!(name, Some(b".gitattributes" | b".gitmodules"))
        };
        let is_sorted = entries.is_sorted_by(|one, other| one.path < other.path);
        if entries.len() > FILES || !is_sorted || !entries.iter().all(is_plain) {
            return None;
        }
        let besides = match logs {
            Some(logs) if logs.as_os_str().is_empty() => return None,
            Some(logs) => Some(logs.as_os_str().as_bytes()),
            None => None,
        };
        // What is tracked there stays as it was added, which is nothing for a walk to find.
        let is_beside = |entry: &index::Entry<'_>| {
            besides.is_some_and(|besides| {
                let rest = entry.path.strip_prefix(besides);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
            })
        };
        if entries.iter().any(is_beside) {
            return None;
        }
        let walk = Walk {
            written: file.as_ref().map(|file| file.identity.modified),
            rules,
            besides,
            known: known_trees(rest)?,
            path: Vec::new(),
            names: 0,
            bytes: 0,
            unknown: Vec::new(),
        };
        let found = walk.go(git.top(), entries)?;
        Some(Self {
            at: i64::try_from(at.as_secs()).ok()?,
            unwritten: Arc::new(Unwritten {
                name: found.top.id.to_string(),
                objects: Objects::at(repository.common_dir.join("objects")),
                unknown: found.unknown,
                done: OnceLock::new(),
            }),
            top: found.top,
        })
    }

    /// The tree, of which not all may be written yet.
    pub(super) fn tree(&self) -> Arc<Unwritten> {
        Arc::clone(&self.unwritten)
    }

    /// The paths, relative to the root, that differ from a tree or commit. None if git has to be
    /// asked.
    pub(super) fn since(&self, git: &Git, base: &str) -> Option<Vec<String>> {
        let base = Id::parse(base.as_bytes())?;
        let paths = trees::differing(&self.unwritten.objects, base, &self.top)?;
        let below = git.root().strip_prefix(git.top()).ok()?;
        let paths = paths.iter().filter_map(|path| {
            let path = Path::new(OsStr::from_bytes(path))
                .strip_prefix(below)
                .ok()?;
            Some(String::from_utf8_lossy(path.as_os_str().as_bytes()).into_owned())
        });
        Some(paths.collect())
    }

    /// Whether the files are still the ones that were looked at. New files that nobody added are
    /// not seen.
    pub(super) fn moved(&self, git: &Git) -> Moved {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let top = rustix::fs::openat(CWD, git.top(), flags, Mode::empty());
        let still = top.is_ok_and(|top| self.is_still(&top, &self.top, &mut Vec::new()));
        if still { Moved::No } else { Moved::Yes }
    }

    fn is_still(&self, top: &OwnedFd, directory: &Directory, path: &mut Vec<u8>) -> bool {
        directory.entries.iter().all(|(name, node)| {
            let length = path.len();
            path.extend_from_slice(name);
            let is_still = match node {
                Node::File(file) => self.is_file_still(top, path, file),
                Node::Directory(inner) => {
                    path.push(b'/');
                    self.is_still(top, inner, path)
                }
            };
            path.truncate(length);
            is_still
        })
    }

    fn is_file_still(&self, top: &OwnedFd, path: &[u8], file: &trees::File) -> bool {
        let path = OsStr::from_bytes(path);
        let Ok(stat) = rustix::fs::statat(top, path, AtFlags::SYMLINK_NOFOLLOW) else {
            return false;
        };
        let (before, now) = (file.seen, Seen::of(&stat));
        let is_as_before =
            now.modified == before.modified && now.size == before.size && now.mode == before.mode;
        // Whoever writes a file can set the first of its times, and whoever is quick need not.
        let is_certain = now == before && now.changed.0 < self.at - TICK;
        is_as_before
            && (is_certain
                || if now.size <= walk::BYTES {
                    holds(top, path, file)
                } else {
                    now == before
                })
    }
}

/// Whether a file has the content that it had.
fn holds(top: &OwnedFd, path: &OsStr, file: &trees::File) -> bool {
    let content = if file.mode == trees::LINK {
        let target = rustix::fs::readlinkat(top, path, Vec::new());
        target.ok().map(CString::into_bytes)
    } else {
        CString::new(path.as_bytes())
            .ok()
            .and_then(|path| walk::content(top.as_fd(), &path, walk::BYTES))
    };
    content.is_some_and(|content| Id::of(Kind::Blob, &content) == file.id)
}

impl Unwritten {
    /// Makes sure that all of the tree is in the repository.
    pub(super) fn write(&self) -> Result<(), GitError> {
        let done = self.done.get_or_init(|| {
            let mut unknown = self.unknown.iter();
            unknown
                .try_for_each(|object| self.objects.write(object))
                .map_err(|error| format!("the tree cannot be written: {error}"))
        });
        done.clone().map_err(GitError::new)
    }
}

/// The trees that an index says are in the repository. None if it has an extension that changes
/// what its entries mean, or has git use what it knows from before.
fn known_trees(mut rest: &[u8]) -> Option<BTreeSet<Id>> {
    const CHECKSUM: usize = 20;
    let mut known = BTreeSet::new();
    while rest.len() > CHECKSUM {
        let (name, after) = rest.split_at_checked(4)?;
        let (length, after) = after.split_at_checked(4)?;
        let length = u32::from_be_bytes(length.try_into().ok()?);
        let (content, after) = after.split_at_checked(usize::try_from(length).ok()?)?;
        match name {
            b"TREE" => read_trees(content, &mut known)?,
            // How a conflict was solved, and where entries begin.
            b"REUC" | b"EOIE" | b"IEOT" => {}
            _ => return None,
        }
        rest = after;
    }
    Some(known)
}

/// Nodes of `name\0entries subtrees\n`, with an id where the number of entries is known.
fn read_trees(mut rest: &[u8], known: &mut BTreeSet<Id>) -> Option<()> {
    while !rest.is_empty() {
        let name = rest.iter().position(|byte| *byte == 0)?;
        rest = rest.get(name + 1..)?;
        let line = rest.iter().position(|byte| *byte == b'\n')?;
        let is_valid = !rest.starts_with(b"-");
        rest = rest.get(line + 1..)?;
        if is_valid {
            let (id, after) = rest.split_at_checked(20)?;
            known.insert(Id(id.try_into().ok()?));
            rest = after;
        }
    }
    Some(())
}

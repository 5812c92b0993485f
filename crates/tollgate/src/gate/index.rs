//! What is special in an index of git, what differs between two of them, and whether the work tree is
//! still the one that was put into one.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use gix_index::decode::Options;
use gix_index::entry::{Flags, Stat, stat};
use gix_index::fs::Metadata;
use gix_index::hash::{Kind, ObjectId};
use gix_index::{Entry, File};

use super::nested::{Change, Noted};
use crate::git::{Git, GitError};

/// What an index has beside files that git looks at. All paths are relative to the top.
#[derive(Debug, Default)]
pub(crate) struct Special {
    /// Files that git was told not to look at.
    pub(crate) hidden: Vec<PathBuf>,
    /// Where other repositories lie, or should.
    pub(crate) repositories: Vec<PathBuf>,
}

/// A file is the same if all of this is; git is content with less.
const STRICT: stat::Options = stat::Options {
    trust_ctime: true,
    check_stat: true,
    use_nsec: true,
    use_stdev: false,
};

/// Reads an index; there need not be one. With the wrong hash its entries have the wrong size.
pub(super) fn read(index: &Path) -> Result<File, GitError> {
    let with = |hash| File::at_or_default(index, hash, true, Options::default());
    let read = with(Kind::Sha1).or_else(|error| with(Kind::Sha256).map_err(|_| error));
    read.map_err(|error| GitError::new(format!("{} cannot be read: {error}", index.display())))
}

fn path_of<'i>(entry: &Entry, index: &'i File) -> &'i Path {
    Path::new(OsStr::from_bytes(entry.path(index)))
}

/// What is special in an index.
pub(crate) fn special(git: &Git, index: &File) -> Special {
    let mut special = Special::default();
    for entry in index.entries() {
        let path = path_of(entry, index);
        if entry.mode.is_submodule() {
            special.repositories.push(path.to_owned());
        } else if is_hidden(git, entry.flags, path) {
            special.hidden.push(path.to_owned());
        }
    }
    special
}

/// Whether git was told not to look at a file. One that is not checked out on purpose is not missing.
fn is_hidden(git: &Git, flags: Flags, path: &Path) -> bool {
    let is_there = || git.top().join(path).symlink_metadata().is_ok();
    let is_skipped = flags.contains(Flags::SKIP_WORKTREE);
    flags.contains(Flags::ASSUME_VALID) || (is_skipped && (!git.is_sparse() || is_there()))
}

/// What differs between a tree and the index `new`, from the changes between the tree and the index
/// `old`. None if that cannot be told: one of them does not list all its files.
pub(super) fn later(
    git: &Git,
    changes: Vec<Change>,
    old: &File,
    new: &File,
) -> Option<Vec<Change>> {
    if old.is_sparse() || new.is_sparse() {
        return None;
    }
    let below = git.root().strip_prefix(git.top()).ok()?;
    let mut differing: BTreeSet<&Path> = differing(old, new)
        .into_iter()
        .filter_map(|path| Path::new(OsStr::from_bytes(path)).strip_prefix(below).ok())
        .collect();
    let mut later = Vec::new();
    for change in changes {
        differing.remove(Path::new(&change.path));
        let new = noted(new, &below.join(&change.path));
        if change.old != new {
            later.push(Change { new, ..change });
        }
    }
    later.extend(differing.into_iter().map(|path| Change {
        path: path.to_string_lossy().into_owned(),
        old: noted(old, &below.join(path)),
        new: noted(new, &below.join(path)),
    }));
    Some(later)
}

/// The paths of which two indexes note different things. Both are sorted.
fn differing<'i>(old: &'i File, new: &'i File) -> BTreeSet<&'i [u8]> {
    let mut differing = BTreeSet::new();
    let mut of_new = entries(new).peekable();
    for entry in entries(old) {
        while let Some((path, ..)) = of_new.next_if(|(path, ..)| *path < entry.0) {
            differing.insert(path);
        }
        if of_new.next_if_eq(&entry).is_none() {
            differing.insert(entry.0);
        }
    }
    differing.extend(of_new.map(|(path, ..)| path));
    differing
}

/// The path, mode and name of each entry. One that is only planned (`git add -N`) is none yet.
fn entries(index: &File) -> impl Iterator<Item = (&[u8], u32, ObjectId)> {
    let is_there = |entry: &&Entry| !entry.flags.contains(Flags::INTENT_TO_ADD);
    let entries = index.entries().iter().filter(is_there);
    entries.map(|entry| (&**entry.path(index), entry.mode.bits(), entry.id))
}

/// What an index notes of a path.
fn noted(index: &File, path: &Path) -> Option<Noted> {
    let entry = index.entry_by_path(path.as_os_str().as_bytes().into())?;
    Some(Noted {
        mode: format!("{:06o}", entry.mode.bits()),
        id: entry.id.to_string(),
    })
}

/// Whether the files are what the index at `path` says about them. New files that nobody added are
/// not seen.
pub(super) fn is_current(git: &Git, path: &Path, index: &File) -> bool {
    // git reads the files whose times say too little.
    let args = ["diff-files", "--quiet", "--ignore-submodules=all"];
    is_untouched(git, index) || git.ask_with_index(path, args).yes()
}

/// Whether each file certainly is the one of the index, by its inode and times.
fn is_untouched(git: &Git, index: &File) -> bool {
    let is_same = |entry: &Entry| {
        let found = Metadata::from_path_no_follow(&git.top().join(path_of(entry, index)));
        let found = found.ok().and_then(|found| Stat::from_fs(&found).ok());
        found.is_some_and(|found| entry.stat.matches(&found, STRICT))
            && !entry.stat.is_racy(index.timestamp(), STRICT)
    };
    let is_elsewhere =
        |entry: &Entry| entry.mode.is_submodule() || entry.flags.contains(Flags::SKIP_WORKTREE);
    let mut entries = index.entries().iter();
    entries.all(|entry| is_elsewhere(entry) || is_same(entry))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(dir: &Path, args: &[&str]) {
        let run = std::process::Command::new("git")
            .arg("-C")
            .arg(dir)
            .args(args)
            .output()
            .unwrap();
        assert!(run.status.success(), "{run:?}");
    }

    #[test]
    fn a_changed_file_is_seen_in_every_format() {
        for (format, version) in [
            ("sha1", "--index-version=2"),
            ("sha1", "--index-version=4"),
            ("sha1", "--split-index"),
            ("sha256", "--index-version=2"),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let option = format!("--object-format={format}");
            git(dir.path(), &["init", "-q", &option]);
            for name in ["a", "a file with a longer name", "ü"] {
                std::fs::File::create(dir.path().join(name)).unwrap();
            }
            git(dir.path(), &["add", "-A"]);
            git(dir.path(), &["update-index", version]);
            let git = Git::at(dir.path()).unwrap();
            let index = dir.path().join(".git/index");
            let read = read(&index).unwrap();
            assert!(is_current(&git, &index, &read), "{format} {version}");
            let file = std::fs::File::options()
                .write(true)
                .open(dir.path().join("a"))
                .unwrap();
            std::io::Write::write_all(&mut &file, b"x").unwrap();
            assert!(!is_current(&git, &index, &read), "{format} {version}");
        }
    }
}

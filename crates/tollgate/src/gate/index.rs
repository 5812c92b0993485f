//! What is special in an index of git, and which files of the work tree are no more what was put into one.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use gix_index::decode::Options;
use gix_index::entry::{Flags, Stat, stat};
use gix_index::fs::Metadata;
use gix_index::hash::Kind;
use gix_index::{Entry, File};

use crate::git::{Asked, Git, GitError};

/// What an index has beside files that git looks at. All paths are relative to the top.
#[derive(Debug, Default)]
pub(crate) struct Special {
    /// Files that git is set not to compare.
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

pub(super) fn path_of<'i>(entry: &Entry, index: &'i File) -> &'i Path {
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

/// Whether git is set not to compare a file. One that is not checked out on purpose is not missing.
fn is_hidden(git: &Git, flags: Flags, path: &Path) -> bool {
    let is_there = || git.top().join(path).symlink_metadata().is_ok();
    let is_skipped = flags.contains(Flags::SKIP_WORKTREE);
    flags.contains(Flags::ASSUME_VALID) || (is_skipped && (!git.is_sparse() || is_there()))
}

/// The inodes and times of an index's files, in its order; none of what is not there, or elsewhere.
#[derive(Debug)]
pub(super) struct Stats(Vec<Option<Stat>>);

pub(super) fn stats(git: &Git, index: &File) -> Stats {
    let entries = index.entries().iter();
    Stats(entries.map(|entry| stat_of(git, index, entry)).collect())
}

fn stat_of(git: &Git, index: &File, entry: &Entry) -> Option<Stat> {
    if entry.mode.is_submodule() || entry.flags.contains(Flags::SKIP_WORKTREE) {
        return None;
    }
    let found = Metadata::from_path_no_follow(&git.top().join(path_of(entry, index)));
    found.ok().and_then(|found| Stat::from_fs(&found).ok())
}

/// The files that are no more what the index at `path` says about them, or what they were when `before`
/// was taken, and those that are new.
pub(super) fn moved(
    git: &Git,
    (path, index): (&Path, &File),
    before: &Stats,
    new_files: Asked,
) -> Result<Vec<PathBuf>, GitError> {
    let mut moved = Vec::new();
    let mut is_certain = true;
    let ask = |words: &[&str]| git.ask_with_index(path, words);
    let read = |names: Vec<u8>| -> Vec<PathBuf> {
        let names = names.split(|byte| *byte == 0);
        let names = names.filter(|name| !name.is_empty() && !name.ends_with(b"/"));
        names
            .map(|name| PathBuf::from(OsStr::from_bytes(name)))
            .collect()
    };
    for (entry, before) in index.entries().iter().zip(&before.0) {
        let now = stat_of(git, index, entry);
        if now != *before {
            moved.push(path_of(entry, index).to_owned());
        } else if let Some(now) = now {
            is_certain &=
                entry.stat.matches(&now, STRICT) && !entry.stat.is_racy(index.timestamp(), STRICT);
        }
    }
    if !is_certain {
        // git reads the files whose times say too little.
        ask(&["update-index", "-q", "--refresh"]).mostly()?;
        let names = ask(&["diff-files", "-z", "--name-only", "--ignore-submodules=all"]).bytes()?;
        moved.extend(read(names));
    }
    moved.extend(read(new_files.bytes()?));
    Ok(moved)
}

/// Asks for the files that the index at `path` does not have: what is new may lie in a directory that was
/// empty, so nothing but git finds it.
pub(super) fn new_files(git: &Git, path: &Path) -> Asked {
    let others = [
        "ls-files",
        "-z",
        "--others",
        "--exclude-standard",
        "--full-name",
        ":/",
    ];
    git.ask_with_index(path, others)
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
            let before = stats(&git, &read);
            let moved = || moved(&git, (&index, &read), &before, new_files(&git, &index)).unwrap();
            assert!(moved().is_empty(), "{format} {version}");
            let file = std::fs::File::options()
                .write(true)
                .open(dir.path().join("a"))
                .unwrap();
            std::io::Write::write_all(&mut &file, b"x").unwrap();
            assert_eq!(
                moved().first(),
                Some(&PathBuf::from("a")),
                "{format} {version}"
            );
        }
    }
}

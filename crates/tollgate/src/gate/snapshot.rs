//! The work tree as it is, staged, unstaged and untracked files together, put by git into an index of
//! its own: the person's index, stash and files are never touched.
//!
//! Every file that git does not ignore counts, also one that git is set not to compare, and those
//! in repositories inside.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::config::Config;
use super::index;
use super::nested::{self, Change};
use crate::git::{Asked, Git, GitError};
use crate::process;
use tollgate_store::fs;

/// What the directories of temporary indexes begin with; the process follows.
const INDEX: &str = "index-";

/// So many paths go on one command line.
const AT_ONCE: usize = 400;

/// The work tree, while git puts it into its own index.
#[derive(Debug)]
pub(crate) struct Snapshot {
    directory: tempfile::TempDir,
    asked: Asked,
    /// What git was asked.
    args: Vec<OsString>,
}

/// The work tree in its own index.
#[derive(Debug)]
pub(crate) struct Taken {
    directory: tempfile::TempDir,
    index: gix_index::File,
    /// The name of its tree, or why it has none, once somebody asked.
    tree: OnceLock<Result<String, String>>,
}

fn trouble(error: &std::io::Error) -> GitError {
    GitError::new(format!("a temporary index cannot be written: {error}"))
}

/// Writes the work tree as it is into git's objects and says its name.
pub(crate) fn tree(git: &Git, config: &Config) -> Result<String, GitError> {
    let taken = Snapshot::begin(git, config)?.taken(git)?;
    taken.tree(git).map(str::to_owned)
}

impl Snapshot {
    /// Begins; git works on it while other things are done.
    pub(crate) fn begin(git: &Git, config: &Config) -> Result<Self, GitError> {
        let logs = config.log_dir.strip_prefix(git.top()).ok();
        Self::begin_without(git, &config.local, logs)
    }

    /// The same with the private directory `local`, without `logs`.
    pub(crate) fn begin_without(
        git: &Git,
        local: &Path,
        logs: Option<&Path>,
    ) -> Result<Self, GitError> {
        fs::private_directory(local).map_err(|error| trouble(&error))?;
        sweep(local);
        Self::begin_in(git, local, logs)
    }

    /// The same with a temporary directory in `place`, without `logs`.
    pub(super) fn begin_in(git: &Git, place: &Path, logs: Option<&Path>) -> Result<Self, GitError> {
        let directory = tempfile::Builder::new()
            .prefix(&format!("{INDEX}{}-", std::process::id()))
            .tempdir_in(place)
            .map_err(|error| trouble(&error))?;
        let index = index_in(&directory);
        // What the person's index knows about unchanged files need not be found out again.
        copy_index(&git.index(), &index).map_err(|error| trouble(&error))?;
        // A whole index, not one that refers to another file.
        let words = [
            "-c",
            "core.splitIndex=false",
            // One that lists every file.
            "-c",
            "index.sparse=false",
            // The checksum of our own index is not needed.
            "-c",
            "index.skipHash=true",
            "add",
            "--all",
            "--ignore-errors",
        ];
        let mut args: Vec<OsString> = words.map(Into::into).to_vec();
        if git.is_sparse() {
            // Files outside of the sparse checkout, too.
            args.push("--sparse".into());
        }
        if let Some(logs) = logs {
            args.extend(["--".into(), ":/".into(), all_but(logs)]);
        }
        Ok(Self {
            asked: git.ask_with_index(&index, &args),
            directory,
            args,
        })
    }

    /// Waits. A file that cannot be read is not part of the tree; the others are.
    pub(crate) fn taken(self, git: &Git) -> Result<Taken, GitError> {
        self.taken_at(git, 0)
    }

    /// The same in a repository inside of so many others.
    pub(super) fn taken_at(self, git: &Git, depth: u32) -> Result<Taken, GitError> {
        self.taken_since(git, depth, None).map(|(taken, _)| taken)
    }

    /// The same, and asks what differs from `older`, which git finds out while its index is read.
    pub(super) fn taken_and_compared(
        self,
        git: &Git,
        older: &str,
    ) -> Result<(Taken, Asked), GitError> {
        let (taken, asked) = self.taken_since(git, 0, Some(older))?;
        let asked = asked.unwrap_or_else(|| taken.ask_changes(git, older));
        Ok((taken, asked))
    }

    /// What git was asked of the index is none where that had to be changed since.
    fn taken_since(
        self,
        git: &Git,
        depth: u32,
        older: Option<&str>,
    ) -> Result<(Taken, Option<Asked>), GitError> {
        let path = index_in(&self.directory);
        let mut is_all = self.asked.mostly()?;
        let mut compared = older.map(|older| ask_changes(git, &path, older));
        let mut index = index::read(&path)?;
        let mut special = index::special(git, &index);
        if !special.hidden.is_empty() {
            finish(compared.take());
            reveal(git, &path, &special.hidden)?;
            is_all = git.ask_with_index(&path, &self.args).mostly()?;
            index = index::read(&path)?;
            special = index::special(git, &index);
        }
        let mut inner = special.repositories;
        if !is_all {
            // git does not note a repository without a commit.
            inner.extend(left_out(git, &path)?);
        }
        if !inner.is_empty() {
            finish(compared.take());
            nested::note(git, &path, &inner, self.directory.path(), depth)?;
            index = index::read(&path)?;
        }
        let taken = Taken {
            directory: self.directory,
            index,
            tree: OnceLock::new(),
        };
        Ok((taken, compared))
    }
}

/// Lets git end its answer to a question that was asked too early.
fn finish(asked: Option<Asked>) {
    let _too_early = asked.map(Asked::bytes);
}

/// Asks for what differs between an index and a tree or commit.
fn ask_changes(git: &Git, index: &Path, base: &str) -> Asked {
    let args = [
        "diff-index",
        "--cached",
        "-z",
        "--raw",
        "--no-renames",
        "--ignore-submodules=none",
        "--relative",
        "--end-of-options",
        base,
    ];
    git.ask_with_index(index, args)
}

/// The pathspec that leaves out all that is in a directory. As a literal path, git would say 1 wherever the
/// directory is ignored, which it usually is, as if it had not got to everything; so the path begins like
/// a glob.
fn all_but(directory: &Path) -> OsString {
    let mut spec = b":(top,exclude,glob)".to_vec();
    for (at, byte) in directory.as_os_str().as_bytes().iter().enumerate() {
        if at == 0 || b"*?[\\".contains(byte) {
            spec.push(b'\\');
        }
        spec.push(*byte);
    }
    spec.extend_from_slice(b"/**");
    OsString::from_vec(spec)
}

/// Gives an index a second name, or copies it where that cannot be done: git never writes into an
/// index, it puts another one in its place. A copy keeps the time of writing, which git compares with
/// the files' times. There need not be an index.
fn copy_index(from: &Path, to: &Path) -> std::io::Result<()> {
    if std::fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    let Ok(mut from) = std::fs::File::open(from) else {
        return Ok(());
    };
    let mut to = std::fs::File::create(to)?;
    std::io::copy(&mut from, &mut to)?;
    if let Ok(modified) = from.metadata().and_then(|meta| meta.modified()) {
        let _best_effort = to.set_modified(modified);
    }
    Ok(())
}

/// Makes git compare what it is set not to compare.
fn reveal(git: &Git, index: &Path, hidden: &[PathBuf]) -> Result<(), GitError> {
    for some in hidden.chunks(AT_ONCE) {
        for mark in ["--no-assume-unchanged", "--no-skip-worktree"] {
            let mut args = vec![OsStr::new("-C"), git.top().as_os_str()];
            args.extend(["update-index", mark, "--"].map(OsStr::new));
            args.extend(some.iter().map(|path| path.as_os_str()));
            git.ask_with_index(index, args).bytes()?;
        }
    }
    Ok(())
}

/// The repositories that git did not add, relative to the top.
fn left_out(git: &Git, index: &Path) -> Result<Vec<PathBuf>, GitError> {
    let mut args = vec![OsStr::new("-C"), git.top().as_os_str()];
    args.extend(["ls-files", "-z", "--others", "--exclude-standard"].map(OsStr::new));
    let others = git.ask_with_index(index, args).bytes()?;
    let others = others.split(|byte| *byte == 0);
    Ok(others
        .filter_map(|path| path.strip_suffix(b"/"))
        .map(|path| PathBuf::from(OsStr::from_bytes(path)))
        .collect())
}

/// A file of the work tree, or a repository in it.
#[derive(Debug)]
pub(super) struct Entry<'i> {
    /// Relative to the top.
    pub(super) path: &'i [u8],
    pub(super) mode: u32,
    pub(super) id: gix_index::hash::ObjectId,
    pub(super) is_repository: bool,
}

impl Taken {
    /// Everything in it, in the order of its path.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let entries = self.index.entries().iter();
        entries.map(|entry| Entry {
            path: entry.path(&self.index),
            mode: entry.mode.bits(),
            id: entry.id,
            is_repository: entry.mode.is_submodule(),
        })
    }

    /// The name of its tree, which git writes when it is first asked for.
    pub(crate) fn tree(&self, git: &Git) -> Result<&str, GitError> {
        let name = self.tree.get_or_init(|| {
            let named = self.ask_tree(git).line();
            named.map_err(|error| error.to_string())
        });
        name.as_deref().map_err(GitError::new)
    }

    /// The same for one who does other things meanwhile.
    pub(super) fn ask_tree(&self, git: &Git) -> Asked {
        git.ask_with_index(&index_in(&self.directory), ["write-tree"])
    }

    /// The paths that differ from a tree or commit.
    pub(crate) fn since(&self, git: &Git, base: &str) -> Result<Vec<String>, GitError> {
        nested::paths(git, self.changes(git, base)?)
    }

    /// What differs from a tree or commit.
    pub(super) fn changes(&self, git: &Git, base: &str) -> Result<Vec<Change>, GitError> {
        Ok(nested::read(&self.ask_changes(git, base).bytes()?))
    }

    /// Asks for what differs from a tree or commit.
    pub(super) fn ask_changes(&self, git: &Git, base: &str) -> Asked {
        ask_changes(git, &index_in(&self.directory), base)
    }

    /// Asks for the files that git neither knows nor ignores.
    pub(super) fn new_files(&self, git: &Git) -> Asked {
        index::new_files(git, &index_in(&self.directory))
    }

    /// The files' inodes and times.
    pub(super) fn stats(&self, git: &Git) -> index::Stats {
        index::stats(git, &self.index)
    }

    /// The files that are no more what was taken, relative to the project's root: other content, or
    /// other inodes or times, because what was changed and changed back was not seen.
    pub(super) fn moved(
        &self,
        git: &Git,
        before: &index::Stats,
        new_files: Asked,
    ) -> Result<Vec<String>, GitError> {
        let below = git.root().strip_prefix(git.top()).unwrap_or(Path::new(""));
        let path = index_in(&self.directory);
        let moved = index::moved(git, (&path, &self.index), before, new_files)?;
        let moved = moved
            .iter()
            .filter_map(|path| path.strip_prefix(below).ok());
        Ok(moved
            .map(|path| path.to_string_lossy().into_owned())
            .collect())
    }
}

/// Removes what killed processes left.
fn sweep(local: &Path) {
    for entry in std::fs::read_dir(local).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name
            .to_str()
            .and_then(|name| name.strip_prefix(INDEX)?.split('-').next()?.parse().ok());
        if owner.is_some_and(|id| !process::is_alive(id)) {
            let _kept = std::fs::remove_dir_all(entry.path());
        }
    }
}

fn index_in(directory: &tempfile::TempDir) -> PathBuf {
    directory.path().join("index")
}

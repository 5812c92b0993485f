//! The work tree as it is, put by git into an index of its own: the person's index, stash and files
//! are never touched.
//!
//! All that gates can see and that is not ignored counts, also what somebody told git not to look
//! at, and what lies in repositories inside.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::git::{Asked, Git, GitError};
use super::index::{self, Moved};
use super::nested;
use super::tree::Tree;
use crate::process;
use tollgate_core::fs;

/// What the directories of temporary indexes begin with; the process follows.
const INDEX: &str = "index-";

/// So many paths go on one command line.
const AT_ONCE: usize = 400;

/// The work tree on its way into an index of its own.
#[derive(Debug)]
pub(crate) struct Adding {
    directory: tempfile::TempDir,
    asked: Asked,
    /// What git was asked.
    args: Vec<OsString>,
}

/// The work tree in an index of its own.
#[derive(Debug)]
pub(crate) struct Added {
    directory: tempfile::TempDir,
    /// What differs from the person's index, relative to the root; none if that cannot be told.
    touched: Option<Vec<String>>,
}

fn trouble(error: &std::io::Error) -> GitError {
    GitError::new(format!("a temporary index cannot be written: {error}"))
}

impl Adding {
    /// Begins; git works on it while other things are asked.
    pub(super) fn begin(git: &Git, local: &Path, logs: Option<&Path>) -> Result<Self, GitError> {
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
        // What the person's index knows about unchanged files need not be found out again. A
        // copy keeps the time of writing, which git compares with the files' times.
        if let Ok(mut from) = std::fs::File::open(git.index()) {
            let mut to = std::fs::File::create(&index).map_err(|error| trouble(&error))?;
            std::io::copy(&mut from, &mut to).map_err(|error| trouble(&error))?;
            if let Ok(modified) = from.metadata().and_then(|meta| meta.modified()) {
                let _best_effort = to.set_modified(modified);
            }
            drop(to);
            // git replaces the index; under this name it stays as it was.
            std::fs::hard_link(&index, before_in(&directory)).map_err(|error| trouble(&error))?;
        }
        let mut args: Vec<OsString> = ["add", "--all", "--verbose", "--ignore-errors"]
            .map(Into::into)
            .to_vec();
        if git.is_sparse() {
            // Also what lies where nothing is checked out.
            args.push("--sparse".into());
        }
        if let Some(logs) = logs {
            let mut besides = OsString::from(":(top,exclude,literal)");
            besides.push(logs);
            args.extend(["--".into(), ":/".into(), besides]);
        }
        Ok(Self {
            asked: git.ask_with_index(&index, &args),
            directory,
            args,
        })
    }

    /// Waits. A file that cannot be read is not part of the tree; the others are.
    pub(super) fn added(self, git: &Git) -> Result<Added, GitError> {
        self.added_at(git, 0)
    }

    /// The same in a repository inside of so many others.
    pub(super) fn added_at(self, git: &Git, depth: u32) -> Result<Added, GitError> {
        let (index, before) = (index_in(&self.directory), before_in(&self.directory));
        // It is read while git works.
        let special = index::special(git, &before);
        let mut added = self.asked.mostly()?;
        if !special.hidden.is_empty() {
            reveal(git, &index, &special.hidden)?;
            added = git.ask_with_index(&index, &self.args).mostly()?;
        }
        let mut inner = special.repositories;
        inner.extend(repositories(&added.printed));
        if !added.is_all {
            // git does not note a repository without a commit.
            inner.extend(left_out(git, &index)?);
        }
        let place = self.directory.path();
        let noted = nested::note(git, &index, &inner, place, depth)?;
        let is_known = inner.is_empty() && special.hidden.is_empty() && !noted;
        let touched = (is_known && index::is_plain(&before))
            .then(|| touched(&added.printed, git))
            .flatten();
        Ok(Added {
            directory: self.directory,
            touched,
        })
    }

    /// Asks for the paths that differ between a tree or commit and the person's index, which can
    /// be known before the work tree is looked through.
    pub(super) fn staged_since(&self, git: &Git, base: &str) -> Asked {
        diff_index(git, &before_in(&self.directory), "--name-only", base)
    }
}

/// Has git look at what it was told not to look at.
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

/// The repositories that `git add --verbose` found, relative to the top.
fn repositories(printed: &[u8]) -> Vec<PathBuf> {
    let lines = printed.split(|byte| *byte == b'\n');
    lines
        .filter_map(|line| line.strip_prefix(b"add '")?.strip_suffix(b"/'"))
        .map(|path| PathBuf::from(OsStr::from_bytes(path)))
        .collect()
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

/// The paths in what `git add --verbose` printed, relative to the root. None where a line is
/// another one, as with a name of two lines.
fn touched(printed: &[u8], git: &Git) -> Option<Vec<String>> {
    let below = git.root().strip_prefix(git.top()).ok()?;
    let text = std::str::from_utf8(printed).ok()?;
    let mut paths = Vec::new();
    for line in text.lines() {
        let path = line
            .strip_prefix("add '")
            .or_else(|| line.strip_prefix("remove '"))?
            .strip_suffix('\'')?;
        if let Ok(path) = Path::new(path).strip_prefix(below) {
            paths.push(path.to_str()?.to_owned());
        }
    }
    Some(paths)
}

/// Asks for what differs between a tree or commit and an index.
pub(super) fn diff_index(git: &Git, index: &Path, form: &str, base: &str) -> Asked {
    let args = [
        "diff-index",
        "--cached",
        "-z",
        form,
        "--no-renames",
        "--ignore-submodules=none",
        "--relative",
        "--end-of-options",
        base,
    ];
    git.ask_with_index(index, args)
}

impl Added {
    /// Asks for the tree's name.
    pub(super) fn tree(&self, git: &Git) -> Tree {
        let asked = git.ask_with_index(&index_in(&self.directory), ["write-tree"]);
        Tree::written_by(asked)
    }

    /// The paths that differ from a tree or commit, of which `staged` says what differs in the
    /// person's index.
    ///
    /// What is staged and not touched since differs, and so does what was touched and is not
    /// staged. Only where both is the case, or one of the two is not known for certain, git has to
    /// look again.
    pub(super) fn since_staged(
        &self,
        git: &Git,
        base: &str,
        staged: Vec<String>,
    ) -> Result<Vec<String>, GitError> {
        let known: HashSet<&String> = staged.iter().collect();
        if let Some(touched) = &self.touched
            && !touched.iter().any(|path| known.contains(path))
        {
            return Ok(staged.into_iter().chain(touched.iter().cloned()).collect());
        }
        self.since(git, base)
    }

    /// The paths that differ from a tree or commit.
    pub(super) fn since(&self, git: &Git, base: &str) -> Result<Vec<String>, GitError> {
        let raw = diff_index(git, &index_in(&self.directory), "--raw", base).bytes()?;
        nested::paths(git, &raw)
    }

    /// Whether the files are still the ones that were taken.
    pub(super) fn moved(&self, git: &Git) -> Moved {
        index::compare(git, &index_in(&self.directory))
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

/// The person's index as it was.
fn before_in(directory: &tempfile::TempDir) -> PathBuf {
    directory.path().join("before")
}

//! What a command line finds around it: where it starts, and the files there.

use std::path::{Path, PathBuf};

/// Where a command would be started, and what it would find there.
#[derive(Clone, Copy)]
pub struct World<'a> {
    /// The working directory, absolute.
    pub dir: Option<&'a Path>,
    /// The value of `HOME`.
    pub home: Option<&'a Path>,
    /// The files around it.
    pub files: &'a dyn Files,
}

impl World<'_> {
    /// A world of which nothing is known: for a command line that is only taken apart.
    pub fn unknown() -> World<'static> {
        World {
            dir: None,
            home: None,
            files: &NoFiles,
        }
    }

    /// The same world with another working directory.
    pub fn at<'d>(&self, dir: Option<&'d Path>) -> World<'d>
    where
        Self: 'd,
    {
        World { dir, ..*self }
    }
}

/// The files and repositories that a command line may name. Nothing else in the crate reads any.
///
/// The methods answer for a machine without files; an implementation gives its own.
#[expect(unused_variables, reason = "the names are what documents the methods")]
pub trait Files {
    /// The text of a regular file of at most `most` bytes.
    fn read(&self, path: &Path, most: u64) -> Option<String> {
        None
    }

    /// Whether something is there, through links.
    fn exists(&self, path: &Path) -> bool {
        false
    }

    /// Whether a directory is there, through links.
    fn is_directory(&self, path: &Path) -> bool {
        false
    }

    /// Whether a regular file is there that may be executed.
    fn is_executable(&self, path: &Path) -> bool {
        false
    }

    /// The path with its links followed; nothing when it does not exist.
    fn canonical(&self, path: &Path) -> Option<PathBuf> {
        None
    }

    /// The repository that a directory, or the nearest directory above it, belongs to.
    fn repository(&self, dir: &Path) -> Option<RepositoryPaths> {
        None
    }

    /// The repository whose files lie in `git_dir`, as with `--git-dir`.
    fn repository_at(&self, git_dir: &Path, work_tree: &Path) -> Option<RepositoryPaths> {
        None
    }

    /// What is checked out in a repository.
    fn head(&self, repository: &RepositoryPaths) -> Head {
        Head::None
    }

    /// The branch that a symbolic one is a name of; nothing when it is none.
    fn branch_behind(&self, repository: &RepositoryPaths, name: &str) -> Option<String> {
        None
    }

    /// Whether a reference exists: `refs/heads/main`, `refs/tags/v1`.
    fn has_reference(&self, repository: &RepositoryPaths, reference: &str) -> bool {
        false
    }

    /// Whether some remote is known to have a branch of this name.
    fn has_remote_branch(&self, repository: &RepositoryPaths, name: &str) -> bool {
        false
    }

    /// Whether a branch is checked out in another work tree of the repository.
    fn is_elsewhere(&self, repository: &RepositoryPaths, branch: &str) -> bool {
        false
    }

    /// What was checked out `back` switches ago.
    fn previous_branch(&self, repository: &RepositoryPaths, back: usize) -> Option<String> {
        None
    }
}

/// A machine without files.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Files for NoFiles {}

/// Where a repository lies, as seen from one of its work trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryPaths {
    /// The directory that holds `.git`.
    pub work_tree: PathBuf,
    /// Where this work tree's `HEAD` lies.
    pub git_dir: PathBuf,
    /// Where branches and configuration lie, shared by all work trees.
    pub common_dir: PathBuf,
}

/// What `HEAD` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// A branch, which need not have a commit yet.
    Branch(String),
    /// A commit without a branch.
    Detached,
    /// The repository keeps its references where only git can read them (reftable).
    AskGit,
    /// `HEAD` is missing or unreadable.
    None,
}

impl Head {
    /// The branch's name, when `HEAD` is on one.
    pub fn branch(&self) -> Option<&str> {
        match self {
            Self::Branch(name) => Some(name),
            Self::Detached | Self::AskGit | Self::None => None,
        }
    }
}

//! The work tree as it is, staged, unstaged and untracked files together; the person's index, stash
//! and files are never touched.
//!
//! There are two ways to it, with the same answers: `plain`, which reads the files itself, where
//! nothing stands against that, and `adding`, which has git do it.

use std::path::Path;

use super::adding::{Added, Adding};
use super::ahead::Ahead;
use super::changes;
use super::config::Config;
use super::git::{Asked, Git, GitError};
use super::index::Moved;
use super::nested;
use super::plain::Plain;
use super::tree::Tree;

/// The work tree that is being looked through.
#[derive(Debug)]
pub(crate) enum Snapshot {
    Plain(Plain),
    ByGit(Adding),
}

/// The work tree as it was found.
#[derive(Debug)]
pub(crate) enum Taken {
    Plain(Plain),
    ByGit(Added),
}

/// Writes the work tree as it is into git's objects and says its name.
pub(crate) fn snapshot(git: &Git, config: &Config) -> Result<String, GitError> {
    let taken = Snapshot::begin(git, config)?.taken(git)?;
    let tree = taken.tree(git);
    tree.name().map(str::to_owned)
}

impl Snapshot {
    /// Begins; git, where it is asked, works on it while other things are done.
    pub(crate) fn begin(git: &Git, config: &Config) -> Result<Self, GitError> {
        Self::go_on(None, git, config)
    }

    /// The same, where somebody may have begun already.
    pub(super) fn go_on(
        ahead: Option<Ahead>,
        git: &Git,
        config: &Config,
    ) -> Result<Self, GitError> {
        let logs = config.log_dir.strip_prefix(git.top()).ok();
        match ahead.and_then(|ahead| ahead.seen(config)) {
            Some(seen) => Self::of(seen, git, &config.local, logs),
            None => Self::begin_without(git, &config.local, logs),
        }
    }

    /// The same with the private directory `local`, without `logs`.
    pub(crate) fn begin_without(
        git: &Git,
        local: &Path,
        logs: Option<&Path>,
    ) -> Result<Self, GitError> {
        Self::of(Plain::take(git, logs), git, local, logs)
    }

    /// What was seen without git; else git begins to look.
    fn of(
        seen: Option<Plain>,
        git: &Git,
        local: &Path,
        logs: Option<&Path>,
    ) -> Result<Self, GitError> {
        match seen {
            Some(plain) => Ok(Self::Plain(plain)),
            None => Adding::begin(git, local, logs).map(Self::ByGit),
        }
    }

    /// Waits. A file that cannot be read is not part of the tree; the others are.
    pub(crate) fn taken(self, git: &Git) -> Result<Taken, GitError> {
        Ok(match self {
            Self::Plain(plain) => Taken::Plain(plain),
            Self::ByGit(adding) => Taken::ByGit(adding.added(git)?),
        })
    }

    /// Asks for the paths that differ between a tree or commit and the person's index, if that
    /// makes the answer about the work tree come sooner.
    pub(crate) fn staged_since(&self, git: &Git, base: &str) -> Option<Asked> {
        match self {
            Self::Plain(_) => None,
            Self::ByGit(adding) => Some(adding.staged_since(git, base)),
        }
    }
}

impl Taken {
    /// The tree, which may still have to be written.
    pub(crate) fn tree(&self, git: &Git) -> Tree {
        match self {
            Self::Plain(plain) => Tree::unwritten(plain.tree()),
            Self::ByGit(added) => added.tree(git),
        }
    }

    /// The paths that differ from a tree or commit, of which `staged` says what differs in the
    /// person's index.
    pub(crate) fn since_staged(
        &self,
        git: &Git,
        base: &str,
        staged: Option<Vec<String>>,
    ) -> Result<Vec<String>, GitError> {
        match (self, staged) {
            (Self::ByGit(added), Some(staged)) => added.since_staged(git, base, staged),
            (Self::ByGit(_), None) | (Self::Plain(_), _) => self.since(git, base),
        }
    }

    /// The paths that differ from a tree or commit.
    pub(crate) fn since(&self, git: &Git, base: &str) -> Result<Vec<String>, GitError> {
        match self {
            Self::Plain(plain) => {
                if let Some(paths) = plain.since(git, base) {
                    return Ok(paths);
                }
                // The older side has objects that only git can read.
                let tree = self.tree(git);
                let raw = changes::diff_tree(git, base, tree.name()?).bytes()?;
                nested::paths(git, &raw)
            }
            Self::ByGit(added) => added.since(git, base),
        }
    }

    /// Whether the files are still the ones that were taken.
    pub(crate) fn moved(&self, git: &Git) -> Moved {
        match self {
            Self::Plain(plain) => plain.moved(git),
            Self::ByGit(added) => added.moved(git),
        }
    }
}

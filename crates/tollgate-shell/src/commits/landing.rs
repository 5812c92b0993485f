//! What a command line does to branches, as data.

use crate::world::{Head, RepositoryPaths};

/// What a command line would do to branches.
#[derive(Clone, Debug, Default)]
pub struct Landings {
    /// Every `git commit`, in order.
    pub commits: Vec<Commit>,
    /// Everything else that moves a branch.
    pub others: Vec<Other>,
    /// Some part could not be seen through, so that a commit may be missing here.
    pub opaque: bool,
}

/// One `git commit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The repository it lands in, as seen from where the command starts.
    pub relation: Relation,
    /// The repository; nothing when the command line itself makes it, or there is none.
    pub repository: Option<RepositoryPaths>,
    /// The branches it could land on, the likeliest first; more than one when a switch before it
    /// may or may not have happened.
    pub heads: Vec<Head>,
}

impl Commit {
    /// Whether it may land on the branch `name`.
    pub fn may_land_on(&self, name: &str) -> bool {
        self.heads.iter().any(|head| head.branch() == Some(name))
    }
}

/// A move of a branch that is no `git commit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// How it is done.
    pub landing: Landing,
    /// In which repository.
    pub relation: Relation,
    /// The branches that could be checked out at that moment.
    pub heads: Vec<Head>,
}

/// Ways onto a branch beside `git commit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landing {
    /// `merge`, `pull`, `subtree`
    Merge,
    /// `rebase`
    Rebase,
    /// `cherry-pick`, `revert`, `am`
    Apply,
    /// `reset`, `branch -f`, `checkout -B`, `update-ref`, `fast-import`, `filter-branch`
    Move,
    /// `fetch a:b`, `push . a:b`
    Transfer,
}

/// A place as seen from the repository in which the command starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The same work tree.
    Here,
    /// Another work tree of the same repository.
    Linked,
    /// Another repository, or none.
    Elsewhere,
}

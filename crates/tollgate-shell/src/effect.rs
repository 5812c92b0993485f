//! What a command line or a tool call would do, as data.

use super::target::Target;
use super::world::RepositoryPaths;

/// One thing that would be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// What.
    pub action: Action,
    /// How sure that is.
    pub certainty: Certainty,
    /// The words of the command it comes from, as written, bounded.
    pub source: String,
}

/// How sure it is that an effect happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// A program may do it, and it is unknown what.
    Unknown,
    /// It depends on something that the text does not show: a condition, a glob, a script's branch.
    Possible,
    /// If the command runs to its end as written, this happens.
    Certain,
}

/// What is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Files are made or changed: their contents, names, modes or times.
    Write(Target),
    /// Files are removed, or moved away.
    Delete(Target),
    /// The contents of files are read.
    Read(Target),
    /// A program is started.
    Run {
        /// Its name without its directory.
        program: String,
        /// The words after it.
        args: Vec<Argument>,
    },
    /// A host is connected to.
    Fetch {
        /// Its name; nothing when it is unknown.
        host: Option<String>,
    },
    /// A commit is made.
    Commit {
        /// The branches that it could land on, the likeliest first; nothing for one that is
        /// unknown, or no branch at all.
        branches: Vec<Option<String>>,
        /// The repository; nothing when the command line itself makes it, or there is none.
        repository: Option<RepositoryPaths>,
        /// Where that is.
        relation: Relation,
    },
    /// References are pushed. Each reference that is named is a separate effect.
    Push {
        /// The remote's name or address as given, or the one that git would take; nothing when it
        /// is unknown.
        remote: Option<String>,
        /// The branches of the remote that this could change, the likeliest first; nothing for one
        /// that is unknown, or any. Empty when only tags are pushed.
        branches: Vec<Option<String>>,
        /// Whether the remote's history may be replaced.
        force: bool,
        /// Whether the branch is removed.
        delete: bool,
        /// Whether tags are pushed.
        tags: bool,
        /// Whether all references are made the same, and others removed.
        mirror: bool,
    },
    /// Something runs that cannot be seen through.
    Opaque,
}

/// A word after a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// Its text.
    Literal(String),
    /// One word, or none or several, that are not known: a variable, a glob.
    Unknown,
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

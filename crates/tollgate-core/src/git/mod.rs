//! Git without starting git: which branch is checked out, what a `git` command line means, and
//! where the commits of a shell command would land.
//!
//! Everything is read from files, and only from regular files with a size cap, so that a FIFO or
//! a huge file in `.git` costs nothing. What only git itself can tell (a reftable repository) is
//! answered with [`Head::AskGit`].

mod arguments;
mod builtins;
pub mod call;
pub mod commits;
mod config;
mod configured;
mod file;
pub mod head;
mod landing;
pub mod reference;
mod switch;

pub use call::GitCall;
pub use commits::commits;
pub use head::{Head, Repository};
pub use landing::{Commit, Landing, Landings, Other, Relation};
pub use reference::Stands;

//! Git without starting git: which repository a directory belongs to and what is checked out.
//!
//! Everything is read from files, and only from regular files with a size cap, so that a FIFO or
//! a huge file in `.git` costs nothing. What only git itself can tell (a reftable repository) is
//! answered with [`Head::AskGit`]. What a `git` command line means is in [`tollgate_shell`], which
//! sees these files as [`Disk`].

mod disk;
mod file;
pub mod head;
mod last_seen;
pub mod reference;

pub use disk::Disk;
pub use head::Repository;
pub use last_seen::LastSeen;
pub use reference::Stands;
pub use tollgate_shell::Head;

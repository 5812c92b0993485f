//! Files that survive: the only place that reads whole files, stages, renames and appends.
//!
//! Three promises. A read never hangs and never uses up memory: only regular files, up to a
//! cap. A replaced file is the old one or the new one at every moment, even if a process is killed. A
//! temporary file is recognisable by its name ([`TEMPORARY`]), belongs to a living process as
//! long as that process holds its lock, and is swept by the next write when it does not.
//!
//! What this deliberately does not do: know what is in a file, or wait. Waiting is
//! `crate::lock`.

mod append;
mod directory;
mod fault;
mod links;
mod read;
mod replace;

pub(crate) use append::rotate;
pub use append::{Appender, append_line};
pub use directory::{create_directories, names, private_directory, relocate};
pub(crate) use directory::{overwrite, write_record};
#[cfg(test)]
pub(crate) use fault::{Plan, Strike, inject};
pub use links::{Links, canonical};
pub(crate) use read::open;
pub use read::{Contents, FileKind, Identity, ReadFault, read_own, read_regular, read_tail};
pub use replace::{
    Durability, TEMPORARY, WriteFault, create, create_private, link_aside, remove, replace,
    replace_shared, sweep, unless_absent,
};
pub(crate) use replace::{FileAttributes, Staged, move_aside};

//! What `tollgate init` proposes: one `tollgate.toml`, made from what is in the project.
//!
//! [`survey`] reads the project and changes nothing. [`proposal`] turns what was found into files,
//! each with its whole text, so that a person can read all of it before anything is written.
//! [`WrittenFiles`] knows what an earlier `init` wrote: only such a file, and only as it was
//! written, is ever replaced.
//!
//! Nothing here prints or runs a project's commands.

mod directory;
mod languages;
mod migration;
mod proposal;
mod same_gates;
mod survey;
mod targets;
mod toml_text;
mod written_files;

pub(crate) use migration::{Migration, Unmigrated};
pub(crate) use proposal::{Action, CONFIG, File, Group, IGNORE, IGNORED, Proposal};
pub(crate) use survey::{Nowhere, Survey};
pub(crate) use written_files::WrittenFiles;

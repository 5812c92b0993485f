//! What `tollgate init` proposes: gates, a workflow and plans, made from what is in the project.
//!
//! [`survey`] looks and changes nothing. [`proposal`] turns what was seen into files, each with its
//! whole text, so that a person can read all of it before anything is written. [`WrittenFiles`] knows
//! what an earlier `init` wrote: only such a file, and only as it was written, is ever replaced.
//!
//! Nothing here prints or runs a project's commands.

mod directory;
mod languages;
mod proposal;
mod survey;
mod targets;
mod written_files;

pub(crate) use proposal::{Action, Group, Part, Proposal};
pub(crate) use survey::{Nowhere, Survey};
pub(crate) use written_files::WrittenFiles;

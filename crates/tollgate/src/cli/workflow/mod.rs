//! `tollgate workflow …`: a workflow as a whole.

pub(super) mod audit;
mod branch;
mod cancel;
mod definitions;
mod finalize;
mod start;
pub(super) mod status;

use std::io;

use clap::Subcommand;

use super::Answer;
use super::site::warn;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Start a workflow: folder, branch, phases; its first phase begins
    Start(start::Arguments),
    /// Show where the workflow stands and what comes next
    Status(status::Arguments),
    /// Archive a workflow whose phases are all completed
    Finalize(finalize::Arguments),
    /// End a workflow early
    Cancel(cancel::Arguments),
    /// Hold the state and the journal against every rule of the handshake
    Audit(audit::Arguments),
    /// Show the workflows there are, and check the project's own
    Definitions(definitions::Arguments),
}

pub(super) fn run(command: &Command) -> Answer {
    match command {
        Command::Start(arguments) => start::run(arguments),
        Command::Status(arguments) => status::run(arguments),
        Command::Finalize(arguments) => finalize::run(arguments),
        Command::Cancel(arguments) => cancel::run(arguments),
        Command::Audit(arguments) => audit::run(arguments),
        Command::Definitions(arguments) => definitions::run(arguments),
    }
}

/// Says if the guard on git's side did not follow a workflow's start or end.
fn warn_of_git_guard(followed: io::Result<()>) {
    if let Err(error) = followed {
        warn(&format!(
            "the guard on git's side could not be put in place or aside: {error}; \
             `tollgate doctor` says more"
        ));
    }
}

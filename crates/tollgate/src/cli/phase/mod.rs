//! `tollgate phase …`: one step of the handshake each, one transaction each.

mod begin;
mod brief;
mod complete;
mod redo;
mod review;
mod skip;

use clap::Subcommand;

use super::Answer;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Begin the next phase, or run the current one again (3c-prime)
    Begin(begin::Arguments),
    /// Complete the current phase if its gate is open (3e)
    Complete(complete::Arguments),
    /// Have the reviewed phase done again, at most three times
    Redo(redo::Arguments),
    /// Leave out the phase whose turn it is, or take a later one out of the workflow
    Skip(skip::Arguments),
    /// Show the review that waits, or decide it
    Review(review::Arguments),
    /// Write the delegation prompt of the current phase
    Brief(brief::Arguments),
}

pub(super) fn run(command: &Command) -> Answer {
    match command {
        Command::Begin(arguments) => begin::run(arguments),
        Command::Complete(arguments) => complete::run(arguments),
        Command::Redo(arguments) => redo::run(arguments),
        Command::Skip(arguments) => skip::run(arguments),
        Command::Review(arguments) => review::run(arguments),
        Command::Brief(arguments) => brief::run(arguments),
    }
}

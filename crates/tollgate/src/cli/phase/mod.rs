//! `tollgate phase …`: one step of the handshake each, one transaction each.

mod brief;
mod complete;
mod review;

use clap::Subcommand;
use tollgate_core::workflow::transition::{Escalations, Step};

use super::workflow_context::WorkflowContext;
use super::{CommandResult, JsonArguments};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Begin the next phase, or run the current one again (3c-prime)
    Begin {
        /// The phase; refused if it is not its turn [default: the one whose turn it is]
        phase: Option<String>,
        /// Clear the escalations that wait, and run the phase
        #[arg(long)]
        retry: bool,
        #[command(flatten)]
        output: JsonArguments,
    },
    /// Complete the current phase if its gate is open (3e)
    Complete(complete::Arguments),
    /// Have the reviewed phase done again, at most three times
    Redo {
        /// What should be better; the agent reads it in its brief
        #[arg(long)]
        guidance: String,
        #[command(flatten)]
        output: JsonArguments,
    },
    /// Leave out the phase whose turn it is, or take a later one out of the workflow
    Skip {
        /// The phase: the one whose turn it is counts as done, a later one is taken out
        phase: Option<String>,
        /// Why
        #[arg(long)]
        reason: String,
        #[command(flatten)]
        output: JsonArguments,
    },
    /// Show the review that waits, or decide it
    Review(review::Arguments),
    /// Write the delegation prompt of the current phase
    Brief(JsonArguments),
}

pub(super) fn run(command: &Command) -> CommandResult {
    let (step, json, next) = match command {
        Command::Complete(arguments) => return complete::run(arguments),
        Command::Review(arguments) => return review::run(arguments),
        Command::Brief(arguments) => return brief::run(arguments),
        Command::Begin {
            phase,
            retry,
            output,
        } => {
            let escalations = if *retry {
                Escalations::Clear
            } else {
                Escalations::Heed
            };
            let phase = phase.as_deref();
            let step = Step::Begin { phase, escalations };
            (step, output.json, "tollgate phase brief")
        }
        Command::Redo { guidance, output } => {
            (Step::Redo { guidance }, output.json, "tollgate phase brief")
        }
        Command::Skip {
            phase,
            reason,
            output,
        } => {
            let phase = phase.as_deref();
            let step = Step::Skip { phase, reason };
            WorkflowContext::here()?.rehearse(&step)?;
            super::trust::given_up_by_a_person("phase skip", "a phase of the workflow")?;
            (step, output.json, "tollgate workflow status")
        }
    };
    let made = WorkflowContext::here()?.make(&step)?;
    Ok(made.report(json, Some(next), None))
}

//! `tollgate phase …`: one step of the handshake each, one transaction each.

mod brief;
mod complete;
mod review;

use clap::Subcommand;
use tollgate_core::guard::PHASE_SKIP;
use tollgate_core::workflow::transition::{Escalations, Step};

use super::workflow_context::WorkflowContext;
use super::{CommandResult, JsonArguments};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Begin the next phase, or run the current one again
    Begin {
        /// The phase; refused if it is not the next one [default: the next one]
        phase: Option<String>,
        /// Clear the pending escalations, and run the phase
        #[arg(long)]
        retry: bool,
        #[command(flatten)]
        output: JsonArguments,
    },
    /// Complete the current phase if its exit criteria are met
    Complete(complete::Arguments),
    /// Redo the reviewed phase, at most three times
    Redo {
        /// What to improve; the agent reads it in its brief
        #[arg(long)]
        guidance: String,
        #[command(flatten)]
        output: JsonArguments,
    },
    /// Skip the current phase, or remove a later one from the workflow
    Skip {
        /// The phase: the current one counts as done, a later one is removed
        phase: Option<String>,
        /// Why
        #[arg(long)]
        reason: String,
        #[command(flatten)]
        output: JsonArguments,
    },
    /// Show the pending review of a phase, or decide it
    Review(review::Arguments),
    /// Print the delegation prompt of the current phase
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
            super::trust::given_up_by_a_person(&PHASE_SKIP)?;
            (step, output.json, "tollgate workflow status")
        }
    };
    let made = WorkflowContext::here()?.make(&step)?;
    Ok(made.report(json, Some(next), None))
}

//! `tollgate workflow …`: a workflow as a whole.

pub(super) mod audit;
mod branch;
mod definitions;
mod finalize;
mod start;
mod status;

use std::io;

use clap::Subcommand;
use tollgate_core::guard::WORKFLOW_CANCEL;
use tollgate_core::workflow::transition::Step;

use super::workflow_context::{WorkflowContext, warn};
use super::{CommandResult, JsonArguments};
use crate::git_guard::turns;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Start a workflow: folder, branch, phases; its first phase begins
    Start(start::Arguments),
    /// Show the current phase and what comes next
    Status(JsonArguments),
    /// Archive a workflow whose phases are all completed
    Finalize(finalize::Arguments),
    /// End a workflow early; its branch and the tree stay as they are
    Cancel {
        /// Why
        #[arg(long)]
        reason: String,
        #[command(flatten)]
        output: JsonArguments,
    },
    /// Check the state and the journal against every rule of the workflow
    Audit(audit::Arguments),
    /// Show the available workflows, and check the project's own
    Definitions(JsonArguments),
}

pub(super) fn run(command: &Command) -> CommandResult {
    match command {
        Command::Start(arguments) => start::run(arguments),
        Command::Status(arguments) => status::run(arguments),
        Command::Finalize(arguments) => finalize::run(arguments),
        Command::Cancel { reason, output } => cancel(reason, output.json),
        Command::Audit(arguments) => audit::run(arguments),
        Command::Definitions(arguments) => definitions::run(arguments),
    }
}

fn cancel(reason: &str, json: bool) -> CommandResult {
    let context = WorkflowContext::here()?;
    let step = Step::Cancel { reason };
    context.rehearse(&step)?;
    super::trust::given_up_by_a_person(&WORKFLOW_CANCEL)?;
    let made = context.make(&step)?;
    let history = made.document.array(&["workflow_history"]);
    finalize::remember(&context, history.unwrap_or_default());
    warn_of_git_guard(turns::settle(&context.layout));
    Ok(made.report(json, None, None))
}

/// Says if the guard on git's side did not follow a workflow's start or end.
fn warn_of_git_guard(followed: io::Result<()>) {
    if let Err(error) = followed {
        warn(&format!(
            "the guard on git's side could not be switched on or off: {error}; \
             `tollgate doctor` says more"
        ));
    }
}

//! `tollgate phase review`: what waits for a person, and what the person says.

use std::process::ExitCode;

use tollgate_core::workflow::position::WorkflowPosition;
use tollgate_core::workflow::transition::{Choice, MAX_REDOS, Step};

use crate::cli::plain::Plain;
use crate::cli::workflow_context::WorkflowContext;
use crate::cli::{BOLD, CommandResult, DIM};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// (C) The phase is good: the workflow goes on
    #[arg(long = "continue", conflicts_with = "review")]
    go_on: bool,
    /// (R) Pause to read and change the artifacts, then --continue
    #[arg(long)]
    review: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let context = WorkflowContext::here()?;
    let choice = match (arguments.go_on, arguments.review) {
        (true, _) => Choice::Continue,
        (false, true) => Choice::Review,
        (false, false) => return show(&context, arguments.json),
    };
    let made = context.make(&Step::Review(choice))?;
    let next = match choice {
        Choice::Continue => "tollgate workflow status",
        Choice::Review => "tollgate phase review --continue",
    };
    Ok(made.report(arguments.json, Some(next), None))
}

fn show(context: &WorkflowContext, json: bool) -> CommandResult {
    let document = context.document()?;
    let position = WorkflowPosition::of(&document)?;
    let review = document.get(&["active_workflow", "supervised_review"]);
    if json {
        anstream::println!("{:#}", review.cloned().unwrap_or_default());
        return Ok(ExitCode::from(u8::from(position.review().is_some())));
    }
    let Some(status) = position.review() else {
        out!("No review is pending.");
        return Ok(ExitCode::SUCCESS);
    };
    let phase = document
        .str(&["active_workflow", "supervised_review", "phase"])
        .unwrap_or("?");
    let redone = document
        .u64(&["active_workflow", "supervised_review", "redo_count"])
        .unwrap_or(0);
    out!(
        "{BOLD}PHASE REVIEW: {}{BOLD:#} {DIM}({}, redone {redone} of {MAX_REDOS} times){DIM:#}",
        Plain(phase),
        Plain(status)
    );
    if let Some(summary) = document.str(&["phases", phase, "summary"]) {
        out!("  {}", Plain(summary));
    }
    out!("  [C] Continue  tollgate phase review --continue");
    out!("  [R] Review    tollgate phase review --review");
    if redone < MAX_REDOS {
        out!("  [D] Redo      tollgate phase redo --guidance \"…\"");
    }
    // Something waits for a person: the answer to "may it go on" is no.
    Ok(ExitCode::from(1))
}

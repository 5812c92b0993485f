//! `tollgate plan review --dry-run`: exactly what the next stop would run.

use std::process::ExitCode;

use super::super::plain::Plain;
use super::super::{BOLD, DIM};
use super::{CommandResult, PlanContext, Trouble};
use crate::agents::command::quoted;
use crate::plan::config::Config;
use crate::plan::other;
use crate::plan::reviewer;
use crate::plan::step::{self, Step};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Run nothing: reviews run when an agent stops
    #[arg(long, required = true)]
    dry_run: bool,
}

pub(super) fn run(context: &PlanContext, Arguments { dry_run: _ }: &Arguments) -> CommandResult {
    let (plan, view, state) = context.open()?;
    let layout = context.layout()?;
    let mut step = step::step(&state, view.observed());
    if let Step::Answered(review) = step {
        step = step::after_answer(&state, review, view.observed());
    }
    let due = match step {
        Step::Review { review, iteration } => Ok((review, iteration)),
        Step::Validate | Step::Answered(_) => {
            let next = match state.next_name() {
                "null" => "nothing is planned".to_owned(),
                name => format!("next is {}", Plain(name)),
            };
            Err(format!("no review is due: {next}"))
        }
        Step::Skip(review) => Err(format!("max_reviews is 0: {review} is skipped")),
        Step::Hollow(review, _) => Err(format!("{review} has nothing to review")),
        Step::Limit(review) => Err(format!(
            "{review} has had its {} reviews",
            state.max_reviews
        )),
    };
    let (review, iteration) = match due {
        Ok(due) => due,
        Err(why_not) => {
            out!("{why_not}");
            return Ok(ExitCode::from(1));
        }
    };
    let job = view.job(review, iteration);
    let prompts = reviewer::prompts(layout, &context.env).map_err(|error| {
        Trouble::new(format!("the reviewer's texts cannot be written: {error}"))
    })?;
    let program = reviewer::find_program(&context.env);
    let shown = program.as_ref().map_or_else(
        || format!("{} (not on PATH)", reviewer::PROGRAM),
        |program| program.display().to_string(),
    );
    let config = Config::load(layout, &context.env);
    let by = match &config.reviewer {
        Some(other) => other.name(),
        None => &job.model,
    };
    out!(
        "{BOLD}{review} {iteration}{BOLD:#} of {} by {by}",
        plan.id()
    );
    out!("{DIM}in{DIM:#}       {}", layout.root().display());
    let timeout = config.timeout;
    out!("{DIM}at most{DIM:#}  {} s", timeout.as_secs_f64());
    for file in job.files().into_iter().take(1) {
        out!("{DIM}writes{DIM:#}   {}/{file}", context.seen_dir(&plan));
    }
    if let Some(other) = &config.reviewer {
        out!("{DIM}asks{DIM:#}     {}, which only reads", other.name());
        out!(
            "           {}",
            quoted(&other::question(&job, &plan, &prompts))
        );
        return Ok(ExitCode::SUCCESS);
    }
    out!("{DIM}runs{DIM:#}     {}", quoted(&shown));
    for argument in job.arguments(&plan, &prompts) {
        out!("           {}", quoted(&argument));
    }
    Ok(ExitCode::SUCCESS)
}

//! `tollgate plan review --dry-run`: exactly what the next stop would run.

use std::process::ExitCode;

use super::super::{BOLD, DIM};
use super::{Answer, Site, Trouble};
use crate::plan::config::Config;
use crate::plan::reviewer;
use crate::plan::step::{self, Step};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Run nothing: reviews run when an agent stops
    #[arg(long, required = true)]
    dry_run: bool,
}

pub(super) fn run(site: &Site, Arguments { dry_run: _ }: &Arguments) -> Answer {
    let (plan, view, state) = site.open()?;
    let layout = site.layout()?;
    let why_not = match step::step(&state, view.observed()) {
        Step::Review { .. } | Step::Answered(_) => None,
        Step::Validate => Some(format!("no review is due: next is {}", state.next_name())),
        Step::Skip(review) => Some(format!("max_reviews is 0: {review} is skipped")),
        Step::Hollow(review, _) => Some(format!("{review} has nothing to look at")),
        Step::Limit(review) => Some(format!(
            "{review} has had its {} reviews",
            state.max_reviews
        )),
    };
    if let Some(why_not) = why_not {
        anstream::println!("{why_not}");
        return Ok(ExitCode::from(1));
    }
    let review = match (state.next(), step::step(&state, view.observed())) {
        (_, Step::Answered(review) | Step::Review { review, .. }) => review,
        (_, Step::Validate | Step::Skip(_) | Step::Hollow(..) | Step::Limit(_)) => {
            return Ok(ExitCode::from(1));
        }
    };
    let iteration = state.phase_iteration.unwrap_or(0).saturating_add(1);
    let job = view.job(review, iteration);
    let prompts = reviewer::prompts(layout, &site.env).map_err(|error| {
        Trouble::new(format!("the reviewer's texts cannot be written: {error}"))
    })?;
    let program = reviewer::find_program(&site.env);
    let shown = program.as_ref().map_or_else(
        || format!("{} (not on PATH)", reviewer::PROGRAM),
        |program| program.display().to_string(),
    );
    anstream::println!(
        "{BOLD}{review} {iteration}{BOLD:#} of {} by {}",
        plan.id(),
        job.model
    );
    anstream::println!("{DIM}in{DIM:#}       {}", layout.root().display());
    let config = Config::load(layout);
    let timeout = config.timeout;
    anstream::println!("{DIM}at most{DIM:#}  {} s", timeout.as_secs_f64());
    for file in job.files().into_iter().take(1) {
        anstream::println!("{DIM}writes{DIM:#}   {}/{file}", plan.shown());
    }
    if let Some(other) = &config.reviewer {
        anstream::println!("{DIM}asks{DIM:#}     {}, which only reads", other.name());
        anstream::println!("           {}", quote(&job.prompt(&plan, &prompts)));
        return Ok(ExitCode::SUCCESS);
    }
    anstream::println!("{DIM}runs{DIM:#}     {}", quote(&shown));
    for argument in job.arguments(&plan, &prompts) {
        anstream::println!("           {}", quote(&argument));
    }
    Ok(ExitCode::SUCCESS)
}

/// An argument as a shell would take it.
fn quote(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

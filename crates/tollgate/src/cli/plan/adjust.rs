//! `tollgate plan set`, `release` and `use`: what is changed about a plan besides its steps.

use std::process::ExitCode;

use super::{CommandResult, GOOD, PlanContext, Trouble, named};
use crate::plan::choice;
use crate::plan::state::MOST_REVIEWS;
use crate::plan::transition;

#[derive(Debug, clap::Args)]
pub(super) struct Set {
    /// What to set
    field: Field,
    /// Its value
    #[arg(value_parser = clap::value_parser!(u64).range(..=MOST_REVIEWS))]
    value: u64,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Field {
    /// How many reviews a cycle may have; 0 switches reviews off
    #[value(name = "max_reviews")]
    MaxReviews,
}

#[derive(Debug, clap::Args)]
pub(super) struct Use {
    /// The plan
    #[arg(required_unless_present = "newest")]
    id: Option<String>,
    /// Use the plan that changed last
    #[arg(long, conflicts_with = "id")]
    newest: bool,
}

pub(super) fn set(context: &PlanContext, Set { field, value }: &Set) -> CommandResult {
    let (plan, _, state) = context.open()?;
    match field {
        Field::MaxReviews => {
            let change = transition::set_max_reviews(*value);
            let said = format!("max_reviews is {value}");
            context.make(&plan, &state, &change, &said)
        }
    }
}

pub(super) fn release(context: &PlanContext) -> CommandResult {
    let (plan, _, state) = context.open()?;
    let said = format!(
        "left the review loop after {}; `tollgate plan next` says how to go on",
        state.phase_name()
    );
    context.make(&plan, &state, &transition::release(&state), &said)
}

pub(super) fn choose(context: &PlanContext, Use { id, newest: _ }: &Use) -> CommandResult {
    let layout = context.layout()?;
    let plan = id.as_deref().map(|id| named(layout, id)).transpose()?;
    let pinned = plan.as_ref().map(crate::plan::home::Plan::id);
    choice::set_pinned(layout, pinned)
        .map_err(|error| Trouble::new(format!("the choice cannot be stored: {error}")))?;
    match pinned {
        Some(id) => out!("{GOOD}{id}{GOOD:#} is the current plan now"),
        None => out!("the plan that changed last is the current plan now"),
    }
    Ok(ExitCode::SUCCESS)
}

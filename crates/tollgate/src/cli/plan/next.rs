//! `tollgate plan next`: what to do, and why. What `continue-plan` follows.

use std::process::ExitCode;

use super::super::JsonArguments;
use super::super::{BOLD, DIM};
use super::repair::out_of_the_way;
use super::{CommandResult, PlanContext};
use crate::agents::command::quoted;
use crate::plan::home::{Plan, StateFile};
use crate::plan::log;
use crate::plan::phase::{Action, Phase};
use crate::plan::routing::{self, Route, To};
use crate::plan::state::State;
use crate::plan::view::View;

pub(super) fn run(context: &PlanContext, arguments: &JsonArguments) -> CommandResult {
    let plan = context.plan()?;
    let view = View::of(&plan);
    let route = match &view.found {
        StateFile::Read(state) => routing::route(state, view.artifacts(&plan)),
        StateFile::Absent => Route {
            to: To::Ask,
            why: "there is no state.json (a plan from before there was one): git log and tasks.md say where it is".to_owned(),
        },
        StateFile::Unusable(why) => Route {
            to: To::Ask,
            why: format!("{why}: {}; then ask the person where the plan is", out_of_the_way(&plan)),
        },
        StateFile::Corrupt(why) => Route {
            to: To::Ask,
            why: format!("{why}: `tollgate plan repair` brings the last good one back; then ask the person where the plan is"),
        },
    };
    let how = how(&plan, &view, route.to);
    if arguments.json {
        let state = view.state();
        let task = state.and_then(|state| state.current_task.as_ref());
        let value = serde_json::json!({
            "plan": plan.id(), "next": route.to.as_str(), "why": route.why, "how": how,
            "phase": state.map(State::phase_name), "next_phase": state.and_then(State::next_named),
            "current_task": task.map(crate::plan::phase::TaskId::as_str),
        });
        anstream::println!("{value:#}");
    } else {
        anstream::println!(
            "{BOLD}{}{BOLD:#}  {DIM}{}{DIM:#}",
            route.to.as_str(),
            plan.id()
        );
        anstream::println!("  why: {}", route.why);
        anstream::println!("  how: {how}");
    }
    Ok(ExitCode::SUCCESS)
}

/// The next step as the agent makes it.
fn how(plan: &Plan, view: &View, to: To) -> String {
    match to {
        To::Action(action) => perform(plan, view.state(), action),
        To::Stop => "end your turn; do not run the review yourself".to_owned(),
        To::Finish => {
            "run `tollgate plan done continue-plan` and tell the person that the plan is complete"
                .to_owned()
        }
        To::Complete => "tell the person that the plan is complete".to_owned(),
        To::Ask => ask(plan, view),
    }
}

fn perform(plan: &Plan, state: Option<&State>, action: Action) -> String {
    let iteration = state.and_then(|state| state.phase_iteration).unwrap_or(0);
    let task = state.and_then(|state| state.current_task.as_ref());
    let review = if let Action::Phase(Phase::PostReview(review)) = action {
        let names = review.files(task, iteration);
        let found = names.into_iter().find(|name| plan.path(name).is_file());
        found.map(|name| format!(" for {}/{name}", plan.shown()))
    } else {
        None
    };
    format!(
        "perform actions/{action}.md (`tollgate plan how {action}`){}; `tollgate plan begin {action}` when you start, `tollgate plan done {action}` when the work is on disk",
        review.unwrap_or_default()
    )
}

/// What the person can choose from: only what works as the plan is now.
fn ask(plan: &Plan, view: &View) -> String {
    let id = quoted(plan.id());
    let ask = format!("show the person `tollgate plan status --plan {id}` and ask");
    let action = if !view.tasks().is_empty() {
        Phase::CompleteTask
    } else if view.listing.has("plan.md") {
        Phase::CreateTasks
    } else {
        Phase::NewPlan
    };
    let begin = format!("`tollgate plan begin {action} --plan {id}` goes on with it");
    let next = match view.state() {
        // A cycle of reviews is under way; what leads out of it is in the reason.
        Some(state) if state.next().is_some() => return ask,
        Some(_) => begin,
        None => {
            let then = if log::last_state(plan).is_some() {
                format!("`tollgate plan next --plan {id}` says how to go on")
            } else {
                begin
            };
            format!("`tollgate plan repair --plan {id}` makes a state.json, then {then}")
        }
    };
    format!("{ask}; {next}")
}

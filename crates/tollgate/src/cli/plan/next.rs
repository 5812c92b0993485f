//! `tollgate plan next`: what to do, and why. What `continue-plan` follows.

use std::process::ExitCode;

use super::super::JsonArguments;
use super::super::{BOLD, DIM};
use super::repair::out_of_the_way;
use super::{CommandResult, PlanContext};
use crate::plan::home::{Plan, StateFile};
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
            why: "there is no state.json (a plan from before there was one): find where it is from git log and tasks.md, and ask the person".to_owned(),
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
    let how = how(&plan, view.state(), route.to);
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
fn how(plan: &Plan, state: Option<&State>, to: To) -> String {
    match to {
        To::Action(action) => {
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
        To::Stop => "end your turn; do not run the review yourself".to_owned(),
        To::Finish => "run `tollgate plan done continue-plan` and tell the person that the plan is complete".to_owned(),
        To::Complete => "tell the person that the plan is complete".to_owned(),
        To::Ask => "show the person `tollgate plan status` and ask; `tollgate plan begin ACTION` takes up an action".to_owned(),
    }
}

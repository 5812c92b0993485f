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
    let dir = context.seen_dir(&plan);
    let route = route(&plan, &dir, &view);
    let how = how(&plan, &dir, &view, route.to);
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
        out!(
            "{BOLD}{}{BOLD:#}  {DIM}{}{DIM:#}",
            route.to.as_str(),
            plan.id()
        );
        out!("  why: {}", route.why);
        out!("  how: {how}");
    }
    Ok(ExitCode::SUCCESS)
}

fn route(plan: &Plan, dir: &str, view: &View) -> Route {
    let found = view.artifacts(plan);
    let ask = |why: String| Route { to: To::Ask, why };
    match &view.found {
        StateFile::Read(state) => match (routing::route(state, &found), view.lost_subject()) {
            // The hook would not pay for that review.
            (Route { to: To::Stop, .. }, Some(lost)) => ask(format!(
                "{lost}; {} cannot run before that is corrected",
                state.next_name()
            )),
            (route, Some(_) | None) => route,
        },
        StateFile::Absent => ask(format!(
            "there is no state.json, and of the files {}",
            routing::without_state(&found).1
        )),
        StateFile::Unusable(why) => ask(format!(
            "{why}: {}; then ask the person where the plan is",
            out_of_the_way(dir)
        )),
        StateFile::Corrupt(why) => ask(format!(
            "{why}: `tollgate plan repair` restores the last good one; then ask the person where the plan is"
        )),
    }
}

/// The next step as the agent makes it.
fn how(plan: &Plan, dir: &str, view: &View, to: To) -> String {
    match to {
        To::Action(action) => perform(plan, dir, view.state(), action),
        To::Stop => "end your turn; do not run the review yourself".to_owned(),
        To::Finish => {
            "run `tollgate plan done continue-plan` and tell the person that the plan is complete"
                .to_owned()
        }
        To::Complete => match view.tasks().first_open() {
            Some(task) => format!(
                "tell the person that task {task} is open; `tollgate plan begin {} --plan {}` takes it up",
                Phase::complete_task(view.state().is_some_and(|state| state.tdd)),
                quoted(plan.id())
            ),
            None => "tell the person that the plan is complete".to_owned(),
        },
        To::Ask => ask(plan, view),
    }
}

fn perform(plan: &Plan, dir: &str, state: Option<&State>, action: Action) -> String {
    let iteration = state.and_then(|state| state.phase_iteration).unwrap_or(0);
    let task = state.and_then(|state| state.current_task.as_ref());
    let review = if let Action::Phase(Phase::PostReview(review)) = action {
        let names = review.files(task, iteration);
        let found = names.into_iter().find(|name| plan.path(name).is_file());
        found.map(|name| format!(" for {dir}/{name}"))
    } else {
        None
    };
    format!(
        "perform {action} (`tollgate plan how {action}` prints its steps){}; `tollgate plan begin {action}` when you start, `tollgate plan done {action}` when the work is on disk",
        review.unwrap_or_default()
    )
}

/// What the person can choose from: only what works as the plan is now.
fn ask(plan: &Plan, view: &View) -> String {
    let id = quoted(plan.id());
    let ask = format!("show the person `tollgate plan status --plan {id}` and ask");
    let (action, _) = routing::without_state(&view.artifacts(plan));
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

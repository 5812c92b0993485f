//! `tollgate plan status`: where a plan is, and how it came there.

use std::process::ExitCode;

use super::super::JsonArguments;
use super::super::plain::Plain;
use super::super::{BOLD, DIM};
use super::repair::out_of_the_way;
use super::{CommandResult, PlanContext, WARN};
use crate::plan::home::{Plan, StateFile};
use crate::plan::log;
use crate::plan::phase::Phase;
use crate::plan::rounds::{self, Round};
use crate::plan::state::State;
use crate::plan::view::View;

pub(super) fn run(context: &PlanContext, arguments: &JsonArguments) -> CommandResult {
    let plan = context.plan()?;
    let view = View::of(&plan);
    let rounds = rounds::read(&plan);
    if arguments.json {
        print_json(&plan, &view, &rounds);
    } else {
        print(&plan, &context.seen_dir(&plan), &view, &rounds);
    }
    Ok(ExitCode::SUCCESS)
}

fn print(plan: &Plan, dir: &str, view: &View, rounds: &[Round]) {
    let (closed, all) = view.tasks().progress();
    match &view.found {
        StateFile::Read(state) => print_state(plan, state, view),
        StateFile::Absent => out!("{BOLD}{}{BOLD:#}  no state.json", plan.id()),
        StateFile::Corrupt(why) => print_unread(plan, why, "`tollgate plan repair` rebuilds it"),
        StateFile::Unusable(why) => print_unread(plan, why, &out_of_the_way(dir)),
    }
    out!("{DIM}tasks{DIM:#}    {closed} of {all} closed");
    if let Some(stop) = log::last_stop(plan) {
        out!("{DIM}stop{DIM:#}     {stop}");
    }
    for error in &view.report.errors {
        out!("{WARN}rule{WARN:#}     {}", Plain(error));
    }
    for round in rounds {
        out!(
            "{DIM}round{DIM:#}    {}  {DIM}{}{DIM:#}",
            round.line(),
            round.file
        );
    }
    if !rounds.is_empty() {
        out!(
            "{DIM}cost{DIM:#}     {} in {} {}",
            rounds::cost(rounds::total_cost(rounds)),
            rounds.len(),
            if rounds.len() == 1 { "round" } else { "rounds" }
        );
    }
}

fn print_unread(plan: &Plan, why: &str, next: &str) {
    out!("{BOLD}{}{BOLD:#}  {WARN}{why}{WARN:#}", plan.id());
    out!("{DIM}next{DIM:#}     {next}");
}

fn print_state(plan: &Plan, state: &State, view: &View) {
    let stage = state.phase.map_or("unknown", Phase::stage);
    out!("{BOLD}{}{BOLD:#}  {stage}", plan.id());
    let task = state.current_task.as_ref();
    let task = task
        .map(|task| format!(", task {task}"))
        .unwrap_or_default();
    out!("{DIM}phase{DIM:#}    {}{task}", state.phase_name());
    let next = match view.tasks().first_open() {
        Some(task) if state.phase == Some(Phase::Complete) => {
            format!("task {task} is open, which was added since; `tollgate plan next` says more")
        }
        Some(_) | None => remains(state),
    };
    out!("{DIM}next{DIM:#}     {next}");
    for problem in &state.problems {
        out!("{WARN}warning{WARN:#}  {problem}");
    }
}

/// What remains of the cycle.
fn remains(state: &State) -> String {
    let next = state.next_name();
    let made = state.phase_iteration.unwrap_or(0);
    match state.next() {
        Some(Phase::Review(_) | Phase::PostReview(_)) => format!(
            "{next} (round {made} of at most {}, {} of 2 clean in a row, then {})",
            state.max_reviews,
            state.consecutive_clean.min(2),
            state.review_model
        ),
        Some(_) | None if next == "null" => match state.left() {
            Some(left) => format!("nothing is due: {left}; `tollgate plan next` says more"),
            None => "nothing is due; `tollgate plan next` says more".to_owned(),
        },
        Some(_) | None => Plain(next).to_string(),
    }
}

fn print_json(plan: &Plan, view: &View, rounds: &[Round]) {
    let (closed, all) = view.tasks().progress();
    let state = view.state().map(|state| {
        serde_json::json!({
            "phase": state.phase_name(), "next_phase": state.next_named(),
            "stage": state.phase.map(Phase::stage), "phase_iteration": state.phase_iteration,
            "current_task": state.current_task.as_ref().map(ToString::to_string),
            "max_reviews": state.max_reviews, "consecutive_clean": state.consecutive_clean,
            "review_model": state.review_model, "tdd": state.tdd, "problems": state.problems,
        })
    });
    let value = serde_json::json!({
        "plan": plan.id(), "state": state, "rounds": rounds, "cost_usd": rounds::total_cost(rounds),
        "tasks": { "closed": closed, "all": all }, "errors": view.report.errors,
        "last_stop": log::last_stop(plan),
    });
    anstream::println!("{value:#}");
}

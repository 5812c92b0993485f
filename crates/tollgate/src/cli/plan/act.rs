//! `tollgate plan begin` and `tollgate plan done`: the two ends of an action.

use super::{Answer, PlanContext, action, task};
use crate::plan::phase::{Action, TaskId};
use crate::plan::state::State;
use crate::plan::transition::{self, Known};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The action, for example complete-task
    #[arg(value_parser = action)]
    action: Action,
    /// The task it is about [default: the one begun, else the first that is open]
    #[arg(long, value_name = "ID", value_parser = task)]
    task: Option<TaskId>,
}

pub(super) fn begin(context: &PlanContext, arguments: &Arguments) -> Answer {
    let (plan, view, state) = context.open()?;
    let Arguments { action, task } = arguments;
    let is_named = task.is_some();
    let task = task
        .clone()
        .or_else(|| under_way(&state, *action))
        .or_else(|| view.tasks().first_open());
    let known = Known {
        is_named,
        ..view.known(task)
    };
    let change = transition::begin(&state, *action, &known)?;
    let said = match (action, &known.task) {
        (Action::CompleteTask | Action::CompleteTaskTdd, None) if state.max_reviews == 0 => {
            "no task is open and reviews are switched off, so the plan is complete".to_owned()
        }
        (Action::CompleteTask | Action::CompleteTaskTdd, None) => {
            "no task is open, so the review of all code is next; stop, and it runs".to_owned()
        }
        (action, Some(task)) if action.takes_a_task() => format!(
            "{action} of task {task} begun; it is described in {}/{}",
            plan.shown(),
            task.file()
        ),
        (_, Some(_) | None) => format!("{action} begun"),
    };
    context.make(&plan, &state, &change, &said)
}

pub(super) fn done(context: &PlanContext, arguments: &Arguments) -> Answer {
    let (plan, view, state) = context.open()?;
    let Arguments { action, task } = arguments;
    let task = task.clone().or_else(|| under_way(&state, *action));
    let known = view.known(task);
    let change = transition::done(&state, *action, &known)?;
    let said = match action {
        Action::NewPlan | Action::CreateTasks | Action::CompleteTask | Action::CompleteTaskTdd => {
            format!("{action} done; {}", follows(&state, 0, "its review"))
        }
        Action::PostReview(review) if state.phase_iteration.is_some() => {
            let made = state.phase_iteration.unwrap_or(0);
            let what = format!("the next {review}");
            format!("{action} done; {}", follows(&state, made, &what))
        }
        Action::ContinuePlan
        | Action::AddTask
        | Action::NextTask
        | Action::NextTaskTdd
        | Action::ContinueTask
        | Action::Review(_)
        | Action::PostReview(_) => format!("{action} done"),
    };
    context.make(&plan, &state, &change, &said)
}

/// What the next stop does about a review, of which so many were made.
fn follows(state: &State, made: u64, what: &str) -> String {
    match state.max_reviews {
        0 => "reviews are switched off, so the plan goes on without one when you stop".to_owned(),
        limit if made >= limit => format!(
            "the limit of {limit} reviews is reached, so a person decides; `tollgate plan next` says more"
        ),
        _ => format!("{what} runs when you stop"),
    }
}

/// The task of an action that was begun and is not done.
fn under_way(state: &State, action: Action) -> Option<TaskId> {
    let is_same = state.phase.is_some() && state.phase == action.phase();
    state.current_task.clone().filter(|_| is_same)
}

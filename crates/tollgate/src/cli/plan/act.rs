//! `tollgate plan begin` and `tollgate plan done`: the two ends of an action.

use super::super::plain::Plain;
use super::{CommandResult, PlanContext, WARN, action, task};
use crate::plan::phase::{Action, Phase, TaskId};
use crate::plan::state::{Next, State};
use crate::plan::transition::{self, Known};
use crate::plan::view::View;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The action, for example complete-task
    #[arg(value_parser = action)]
    action: Action,
    /// The task [default: the one begun, else the first that is open]
    #[arg(long, value_name = "ID", value_parser = task)]
    task: Option<TaskId>,
}

pub(super) fn begin(context: &PlanContext, arguments: &Arguments) -> CommandResult {
    let (plan, view, state) = context.open()?;
    let Arguments { action, task } = arguments;
    let is_named = task.is_some();
    let task = task
        .clone()
        .or_else(|| under_way(&state, *action))
        .or_else(|| view.tasks().first_open());
    let known = Known {
        is_named,
        ..view.known(task, context.seen_dir(&plan))
    };
    let change = transition::begin(&state, *action, &known)?;
    let said = match &known.task {
        // Without a task, next-task was refused before.
        None if action.takes_a_task() && state.max_reviews == 0 => {
            "no task is open and reviews are switched off, so the plan is complete".to_owned()
        }
        None if action.takes_a_task() => {
            "no task is open, so the review of all code is next; stop, and it runs".to_owned()
        }
        Some(task) if action.takes_a_task() => format!(
            "{action} of task {task} begun; it is described in {}/{}",
            context.seen_dir(&plan),
            task.file()
        ),
        Some(_) | None => format!("{action} begun"),
    };
    context.make(&plan, &state, &change, &said)
}

pub(super) fn done(context: &PlanContext, arguments: &Arguments) -> CommandResult {
    let (plan, view, state) = context.open()?;
    let Arguments { action, task } = arguments;
    let task = task.clone().or_else(|| under_way(&state, *action));
    let known = view.known(task, context.seen_dir(&plan));
    let change = transition::done(&state, *action, &known)?;
    warn_of_lost_files(&view, *action, known.task.as_ref());
    let said = match (action.phase(), state.phase_iteration) {
        (
            Some(
                Phase::NewPlan | Phase::CreateTasks | Phase::CompleteTask | Phase::CompleteTaskTdd,
            ),
            _,
        ) => format!("{action} done; {}", follows(&state, 0, "its review")),
        (Some(Phase::PostReview(review)), Some(made)) if state.next_phase != Next::Nothing => {
            let what = format!("the next {review}");
            format!("{action} done; {}", follows(&state, made, &what))
        }
        (Some(_) | None, Some(_) | None) => format!("{action} done"),
    };
    context.make(&plan, &state, &change, &said)
}

/// A review follows that reads files which are not there: that is said before it is paid for.
fn warn_of_lost_files(view: &View, action: Action, task: Option<&TaskId>) {
    let lost = match action.phase() {
        Some(Phase::NewPlan) => view.lost_plan(),
        Some(Phase::CreateTasks) => view.lost_tasks(),
        Some(Phase::CompleteTask | Phase::CompleteTaskTdd) => {
            task.and_then(|task| view.lost_task(task))
        }
        Some(_) | None => None,
    };
    if let Some(lost) = lost {
        err!("{WARN}warning{WARN:#}: {}", Plain(&lost));
    }
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

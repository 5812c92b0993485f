//! `tollgate plan begin` and `tollgate plan done`: the two ends of an action.

use super::{Answer, Site, action, refused, task};
use crate::plan::phase::{Action, TaskId};
use crate::plan::state::State;
use crate::plan::transition;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The action, for example complete-task
    #[arg(value_parser = action)]
    action: Action,
    /// The task it is about [default: the one begun, else the first that is open]
    #[arg(long, value_name = "ID", value_parser = task)]
    task: Option<TaskId>,
}

pub(super) fn begin(site: &Site, arguments: &Arguments) -> Answer {
    let (plan, view, state) = site.open()?;
    let Arguments { action, task } = arguments;
    let task = task
        .clone()
        .or_else(|| under_way(&state, *action))
        .or_else(|| view.tasks().first_open());
    let known = view.known(task);
    let change = match transition::begin(&state, *action, &known) {
        Ok(change) => change,
        Err(refusal) => return Ok(refused(&refusal)),
    };
    let said = match (action, &known.task) {
        (Action::CompleteTask | Action::CompleteTaskTdd, None) => {
            "no task is open, so the review of all code is next; stop, and it runs".to_owned()
        }
        (
            Action::CompleteTask | Action::CompleteTaskTdd | Action::NextTask | Action::NextTaskTdd,
            Some(task),
        ) => format!(
            "{action} of task {task} begun; it is described in {}/{}",
            plan.shown(),
            task.file()
        ),
        (_, Some(_) | None) => format!("{action} begun"),
    };
    site.make(&plan, &state, &change, &said)
}

pub(super) fn done(site: &Site, arguments: &Arguments) -> Answer {
    let (plan, view, state) = site.open()?;
    let Arguments { action, task } = arguments;
    let task = task.clone().or_else(|| under_way(&state, *action));
    let known = view.known(task);
    let change = match transition::done(&state, *action, &known) {
        Ok(change) => change,
        Err(refusal) => return Ok(refused(&refusal)),
    };
    let said = match action {
        Action::NewPlan | Action::CreateTasks | Action::CompleteTask | Action::CompleteTaskTdd => {
            format!("{action} done; its review runs when you stop")
        }
        Action::PostReview(review) if state.phase_iteration.is_some() => {
            format!("{action} done; the next {review} runs when you stop")
        }
        Action::ContinuePlan
        | Action::AddTask
        | Action::NextTask
        | Action::NextTaskTdd
        | Action::ContinueTask
        | Action::Review(_)
        | Action::PostReview(_) => format!("{action} done"),
    };
    site.make(&plan, &state, &change, &said)
}

/// The task of an action that was begun and is not done.
fn under_way(state: &State, action: Action) -> Option<TaskId> {
    let is_same = state.phase.is_some() && state.phase == action.phase();
    state.current_task.clone().filter(|_| is_same)
}

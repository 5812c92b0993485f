//! What to do next: the specification's continue-plan, as a pure function.

use super::phase::{Action, Phase, Review, TaskId};
use super::state::{Next, State};

/// What is on disk besides the state.
#[derive(Clone, Debug)]
pub(crate) struct Artifacts {
    /// Whether the answer to the current review is there.
    pub(crate) answered: bool,
    /// Whether there is a `plan.md` at all.
    pub(crate) has_plan_file: bool,
    /// Whether `plan.md` looks complete.
    pub(crate) has_plan: bool,
    /// Whether `tasks.md` has a task.
    pub(crate) has_tasks: bool,
    /// Whether the current task's subtasks are all finished.
    pub(crate) is_task_finished: bool,
    /// The first task that is open.
    pub(crate) open_task: Option<TaskId>,
    /// How many tasks are over, and how many there are.
    pub(crate) progress: (usize, usize),
    /// Whether a review that was paid for waits to be taken over.
    pub(crate) review_waits: bool,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) to: To,
    pub(crate) why: String,
}

/// Where a route leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum To {
    /// Perform this action.
    Action(Action),
    /// Stop: the hook goes on from here.
    Stop,
    /// Write down that the plan is complete, and say so.
    Finish,
    /// Everything is done.
    Complete,
    /// Ask the person.
    Ask,
}

impl To {
    /// The route in one word.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Action(action) => action.as_str(),
            Self::Stop => "stop",
            Self::Finish => "finish",
            Self::Complete => "complete",
            Self::Ask => "ask",
        }
    }
}

/// Says what is next.
pub(crate) fn route(state: &State, found: &Artifacts) -> Route {
    match &state.next_phase {
        Next::Phase(next) => planned(state, *next, found),
        Next::Nothing => standalone(state, found),
        Next::Unknown(word) => to(
            To::Ask,
            format!(
                "next_phase is {word:?}, which is not a phase; the phase is {}",
                state.phase_name()
            ),
        ),
    }
}

/// What the files of a plan without a state lead to, and what they say.
pub(crate) fn without_state(found: &Artifacts) -> (Phase, String) {
    let (closed, all) = found.progress;
    match &found.open_task {
        Some(task) => (
            Phase::CompleteTask,
            format!("tasks.md has {closed} of {all} tasks closed; task {task} is the first that is open"),
        ),
        None if found.has_tasks => (
            Phase::CompleteTask,
            format!("tasks.md has all of its {all} tasks closed: the review of all code is next"),
        ),
        None if found.has_plan => (
            Phase::CreateTasks,
            "plan.md is complete, and tasks.md lists no task".to_owned(),
        ),
        None if found.has_plan_file => (
            Phase::NewPlan,
            "plan.md is half-written (no `## Overview`, at most 50 lines), and tasks.md lists no task"
                .to_owned(),
        ),
        None => (Phase::NewPlan, "plan.md is missing".to_owned()),
    }
}

fn planned(state: &State, next: Phase, found: &Artifacts) -> Route {
    match next {
        Phase::PostReview(review)
            if found.answered && state.phase == Some(Phase::Review(review)) =>
        {
            let why = format!(
                "{} is answered, its post-review file is there",
                state.next_name()
            );
            limit(state, review).unwrap_or_else(|| stop(state, review, &why, found))
        }
        Phase::PostReview(review) => to(
            To::Action(Action::Phase(Phase::PostReview(review))),
            if state.consecutive_clean > 0 {
                format!(
                    "the {review} was clean and waits for its answer; one more clean one in a row is needed"
                )
            } else {
                format!("the {review} is on disk and waits for its answer")
            },
        ),
        Phase::Review(review) => due(state, review, found),
        Phase::CompleteTask | Phase::CompleteTaskTdd if found.open_task.is_none() => {
            let why = if state.max_reviews == 0 {
                "no task is open, and reviews are switched off (max_reviews 0): `tollgate plan begin complete-task` completes the plan"
            } else {
                "no task is open: `tollgate plan begin complete-task` begins the review of all code"
            };
            to(To::Action(Action::Phase(next)), why.to_owned())
        }
        Phase::CompleteTask | Phase::CompleteTaskTdd | Phase::CreateTasks => to(
            To::Action(Action::Phase(next)),
            format!("{} is over and {next} is next", state.phase_name()),
        ),
        Phase::Complete if state.max_reviews == 0 => to(
            To::Finish,
            "nothing comes after all-code-review; reviews are switched off (max_reviews 0)"
                .to_owned(),
        ),
        Phase::Complete => {
            let open = found.open_task.as_ref();
            let open = open.map(|task| format!(", and tasks.md still has task {task} open"));
            let why = format!("the last review has passed{}", open.unwrap_or_default());
            to(To::Finish, why)
        }
        // Nothing writes these as a next phase; a file that has one means the action.
        Phase::NewPlan | Phase::NextTask | Phase::NextTaskTdd | Phase::ContinueTask => to(
            To::Action(Action::Phase(next)),
            format!("next_phase says {next}"),
        ),
    }
}

fn due(state: &State, review: Review, found: &Artifacts) -> Route {
    if let Some(route) = limit(state, review) {
        return route;
    }
    let stop = |why: &str| stop(state, review, why, found);
    match state.phase {
        Some(Phase::PostReview(_)) => return stop("the review before is answered"),
        Some(Phase::Review(Review::Code)) if review == Review::AllCode => {
            return stop("the last task's review has passed");
        }
        Some(_) | None => {}
    }
    let (is_done, done, phase, undone) = match review {
        Review::Plan => (
            found.has_plan,
            "plan.md is complete",
            Phase::NewPlan,
            "plan.md is missing or half-written: continue its content, do not begin again",
        ),
        Review::Tasks => (
            found.has_tasks,
            "tasks.md has its tasks",
            Phase::CreateTasks,
            "tasks.md is missing or has no task yet",
        ),
        Review::Code | Review::AllCode => (
            found.is_task_finished,
            "the task is implemented",
            Phase::ContinueTask,
            "the current task has unfinished subtasks",
        ),
    };
    if is_done {
        stop(done)
    } else {
        to(To::Action(Action::Phase(phase)), undone.to_owned())
    }
}

/// The review that would be the next one.
fn iteration(state: &State) -> u64 {
    state.phase_iteration.unwrap_or(0).saturating_add(1)
}

/// All reviews that are allowed were made.
fn limit(state: &State, review: Review) -> Option<Route> {
    let limit = state.max_reviews;
    (limit > 0 && iteration(state) > limit).then(|| {
        to(
            To::Ask,
            format!(
                "{review} did not pass within {limit} reviews: ask the person whether to raise the limit (`tollgate plan set max_reviews N`), to leave the loop (`tollgate plan release`) or to go on without reviews"
            ),
        )
    })
}

/// The hook goes on from here.
fn stop(state: &State, review: Review, why: &str, found: &Artifacts) -> Route {
    let iteration = iteration(state);
    let why = if state.max_reviews == 0 {
        format!(
            "{why}, and reviews are switched off (max_reviews 0): the plan goes on without {review} when you stop"
        )
    } else if found.review_waits {
        format!(
            "{why}; review {iteration} was made already and its verdict is taken over when you stop"
        )
    } else {
        format!("{why}: the hook runs {review} {iteration} when you stop")
    };
    to(To::Stop, why)
}

fn standalone(state: &State, found: &Artifacts) -> Route {
    let under_way = state.phase_iteration == Some(0);
    match state.phase {
        Some(Phase::NewPlan) if under_way => to(
            To::Action(Action::Phase(Phase::NewPlan)),
            "the plan was begun and is not done: continue its content".to_owned(),
        ),
        Some(Phase::CreateTasks) if under_way => to(
            To::Action(Action::Phase(Phase::CreateTasks)),
            "the tasks were begun and are not done".to_owned(),
        ),
        Some(
            phase @ (Phase::ContinueTask
            | Phase::NextTask
            | Phase::NextTaskTdd
            | Phase::CompleteTask
            | Phase::CompleteTaskTdd),
        ) => to(
            To::Action(Action::Phase(Phase::ContinueTask)),
            format!("{phase} was begun and nothing is planned after it"),
        ),
        // How it came to that is not in the state: reviews can be switched off or left.
        Some(Phase::Complete) => {
            let open = found.open_task.as_ref();
            let open = open
                .map(|task| format!(", and tasks.md has task {task} open, which was added since"));
            let why = format!("the plan is complete{}", open.unwrap_or_default());
            to(To::Complete, why)
        }
        Some(Phase::NewPlan | Phase::CreateTasks | Phase::Review(_) | Phase::PostReview(_))
        | None => {
            let task = state.current_task.as_ref();
            let task = task.map_or("no task".to_owned(), |task| format!("task {task}"));
            to(
                To::Ask,
                format!(
                    "the phase is {} with {task}, and nothing is planned after it: ask the person what to do next",
                    state.phase_name()
                ),
            )
        }
    }
}

fn to(to: To, why: String) -> Route {
    Route { to, why }
}

//! Every change of a plan's state, as a pure function of the state before.
//!
//! An action *begins* when an agent starts with it and is *done* when its work is on disk. While
//! it is under way there is no next phase, so that a stop in the middle reviews nothing;
//! `phase_iteration` 0 remembers that a review is to follow.

use std::borrow::Cow;

use serde_json::Value;
use tollgate_store::document::Document;

use super::phase::{Action, Phase, Review, TaskId};
use super::state::{MAX_REVIEWS, Next, OPUS, State, other_model};

/// What is to be written, field by field. All else stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Change(Vec<(Cow<'static, str>, Value)>);

/// Why a step is not made, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) what: String,
    pub(crate) next: String,
}

/// What a review leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// The agent answers the review.
    Answer,
    /// Two clean ones in a row: the plan goes on here.
    Advance(Phase),
}

/// What the caller of a step knows besides the state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// The task that was named, or would be next.
    pub(crate) task: Option<TaskId>,
    /// Whether it was named.
    pub(crate) is_named: bool,
    /// Whether the answer to the current review is on disk.
    pub(crate) answered: bool,
    /// Whether `tasks.md` lists any task, open or not.
    pub(crate) has_tasks: bool,
    /// The plan's directory, for messages.
    pub(crate) dir: String,
}

/// The end of an action that a step is at, by the command's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Begin,
    Done,
}

impl Change {
    fn set(mut self, field: &'static str, value: impl Into<Value>) -> Self {
        self.0.push((Cow::Borrowed(field), value.into()));
        self
    }

    fn phase(self, phase: Phase) -> Self {
        self.set("phase", phase.as_str())
    }

    fn next(self, next: Option<Phase>) -> Self {
        self.set("next_phase", next.map(Phase::as_str))
    }

    /// A review cycle that has not begun.
    fn fresh_cycle(self) -> Self {
        self.set("phase_iteration", 0)
            .set("review_model", OPUS)
            .set("consecutive_clean", 0)
    }

    /// Everything that is in a document.
    pub(crate) fn to(document: &Document) -> Self {
        let members = document.members().into_iter().flatten();
        let owned = members.map(|(field, value)| (Cow::Owned(field.clone()), value.clone()));
        Self(owned.collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Makes the change. What is not named keeps its value and its place.
    pub(crate) fn apply(&self, document: &mut Document) {
        for (field, value) in &self.0 {
            // One key deep in an object: nothing can be in the way.
            let _free = document.set(&[field], value.clone());
        }
    }
}

/// The state of a plan that was just begun, in the order of the specification's schema.
pub(crate) fn first(next: Option<Phase>) -> Change {
    Change::default()
        .set("max_reviews", MAX_REVIEWS)
        .set("current_task", Value::Null)
        .phase(Phase::NewPlan)
        .set("phase_iteration", 0)
        .next(next)
        .set("review_model", OPUS)
        .set("consecutive_clean", 0)
        .set("tdd", false)
}

/// A state of which only the phase is known: a person says what is next.
pub(crate) fn unknown(phase: Phase) -> Change {
    first(None).phase(phase).set("phase_iteration", Value::Null)
}

/// The agent starts with an action.
pub(crate) fn begin(state: &State, action: Action, known: &Known) -> Result<Change, Refusal> {
    if let Some(refusal) = in_a_loop(state, action).or_else(|| over(state, action, known)) {
        return Err(refusal);
    }
    let Action::Phase(phase) = action else {
        return Ok(Change::default());
    };
    let begun = Change::default().phase(phase).next(None);
    Ok(match phase {
        Phase::NewPlan | Phase::CreateTasks => begun.set("current_task", Value::Null).fresh_cycle(),
        Phase::CompleteTask | Phase::CompleteTaskTdd => {
            let Some(task) = &known.task else {
                return nothing_left(state, known);
            };
            begun
                .set("current_task", task.as_str())
                .fresh_cycle()
                .set("tdd", phase == Phase::CompleteTaskTdd)
        }
        Phase::NextTask | Phase::NextTaskTdd => standalone_task(phase, known, End::Begin)?,
        // A review is due already, or is to be: both stay as they are.
        Phase::ContinueTask => Change::default().phase(phase),
        Phase::Review(review) => standalone_review(state, review),
        Phase::PostReview(_) | Phase::Complete => Change::default(),
    })
}

/// The work of an action is on disk.
pub(crate) fn done(state: &State, action: Action, known: &Known) -> Result<Change, Refusal> {
    let phase = match action {
        Action::Phase(phase) => phase,
        Action::AddTask => {
            return match (&state.current_task, &known.task) {
                (None, Some(task)) => Ok(Change::default().set("current_task", task.as_str())),
                (Some(_), _) => Ok(Change::default()),
                (None, None) => Err(no_task(action, End::Done)),
            };
        }
        Action::ContinuePlan if state.next() == Some(Phase::Complete) => {
            return Ok(Change::default().phase(Phase::Complete).next(None));
        }
        Action::ContinuePlan => return Ok(Change::default()),
    };
    let reviewed_next = |review: Review| {
        let next = Some(Phase::Review(review));
        Change::default().phase(phase).next(next)
    };
    Ok(match phase {
        Phase::NewPlan | Phase::CreateTasks => {
            open_loop(state, action)?;
            let review = if phase == Phase::NewPlan {
                Review::Plan
            } else {
                Review::Tasks
            };
            reviewed_next(review)
                .set("current_task", Value::Null)
                .fresh_cycle()
        }
        Phase::CompleteTask | Phase::CompleteTaskTdd => {
            open_loop(state, action)?;
            let task = known.task.as_ref();
            let task = task.ok_or_else(|| no_task(action, End::Done))?;
            reviewed_next(Review::Code)
                .set("current_task", task.as_str())
                .fresh_cycle()
                .set("tdd", phase == Phase::CompleteTaskTdd)
        }
        Phase::NextTask | Phase::NextTaskTdd => {
            open_loop(state, action)?;
            standalone_task(phase, known, End::Done)?
        }
        Phase::ContinueTask if is_under_way(state) => reviewed_next(Review::Code).fresh_cycle(),
        Phase::ContinueTask => Change::default().phase(phase),
        Phase::Review(review) => standalone_review(state, review),
        Phase::PostReview(review) => answer(state, review, known)?,
        Phase::Complete => Change::default(),
    })
}

/// The agent's answer to a review is there: the next review is due.
pub(crate) fn answered(review: Review) -> Change {
    Change::default()
        .phase(Phase::PostReview(review))
        .next(Some(Phase::Review(review)))
}

/// A review was made; `has_open_task` besides the current one.
pub(crate) fn reviewed(
    state: &State,
    review: Review,
    is_clean: bool,
    has_open_task: bool,
) -> (Change, After) {
    let iteration = state.phase_iteration.unwrap_or(0).saturating_add(1);
    let clean = if is_clean {
        state.consecutive_clean.saturating_add(1)
    } else {
        0
    };
    let after = if clean >= 2 {
        After::Advance(target(state, review, has_open_task))
    } else {
        After::Answer
    };
    let change = Change::default().phase(Phase::Review(review));
    let change = match after {
        // A new cycle of reviews begins, and begins from nothing.
        After::Advance(next @ Phase::Review(_)) => change.next(Some(next)).fresh_cycle(),
        After::Advance(next) => counted(change.next(Some(next)), state, iteration, clean),
        After::Answer => {
            let next = Phase::PostReview(review);
            counted(change.next(Some(next)), state, iteration, clean)
        }
    };
    (change, after)
}

fn counted(change: Change, state: &State, iteration: u64, clean: u64) -> Change {
    change
        .set("phase_iteration", iteration)
        .set("review_model", other_model(&state.review_model))
        .set("consecutive_clean", clean)
}

/// `max_reviews` is 0: the review counts as passed without being made.
pub(crate) fn skipped(state: &State, review: Review) -> (Change, Phase) {
    // The specification's mapping here does not ask for remaining tasks; routing does.
    let next = target(state, review, true);
    let change = Change::default()
        .phase(Phase::Review(review))
        .next(Some(next));
    (change, next)
}

/// Where a plan goes when a review has passed.
fn target(state: &State, review: Review, has_open_task: bool) -> Phase {
    match (review, has_open_task) {
        (Review::Plan, _) => Phase::CreateTasks,
        (Review::Tasks, _) | (Review::Code, true) => Phase::complete_task(state.tdd),
        (Review::Code, false) => Phase::Review(Review::AllCode),
        (Review::AllCode, _) => Phase::Complete,
    }
}

/// Another limit of reviews.
pub(crate) fn set_max_reviews(limit: u64) -> Change {
    Change::default().set("max_reviews", limit)
}

/// Leaves the review loop.
pub(crate) fn release(state: &State) -> Change {
    let change = Change::default().next(None);
    if state.phase_iteration == Some(0) {
        // 0 would mean that a review is to follow.
        change.set("phase_iteration", Value::Null)
    } else {
        change
    }
}

fn standalone_task(phase: Phase, known: &Known, end: End) -> Result<Change, Refusal> {
    let task = known.task.as_ref();
    let task = task.ok_or_else(|| no_task(Action::Phase(phase), end))?;
    Ok(Change::default()
        .phase(phase)
        .set("current_task", task.as_str())
        .next(None)
        .set("phase_iteration", Value::Null))
}

/// A review that the agent makes by itself. In the loop the hook makes them and writes them down;
/// once a cycle is over, its number is of no use any more.
fn standalone_review(state: &State, review: Review) -> Change {
    let is_looping = matches!(state.next(), Some(Phase::Review(_) | Phase::PostReview(_)));
    if is_looping || is_under_way(state) {
        return Change::default();
    }
    Change::default()
        .phase(Phase::Review(review))
        .next(None)
        .set("phase_iteration", Value::Null)
}

/// An action was begun, and its review is to follow.
fn is_under_way(state: &State) -> bool {
    let is_complete = state.phase == Some(Phase::Complete);
    state.next_phase == Next::Nothing && state.phase_iteration == Some(0) && !is_complete
}

fn answer(state: &State, review: Review, known: &Known) -> Result<Change, Refusal> {
    let standalone = || {
        Ok(Change::default()
            .phase(Phase::PostReview(review))
            .next(None))
    };
    let Some(iteration) = state.phase_iteration else {
        return standalone();
    };
    if state.next_phase == Next::Nothing && !is_under_way(state) {
        return standalone();
    }
    let asked = [Some(Phase::PostReview(review)), Some(Phase::Review(review))];
    if !asked.contains(&state.next()) {
        return Err(Refusal {
            what: format!(
                "no {review} is waiting for an answer: the next phase is {}",
                state.next_name()
            ),
            next: "`tollgate plan next` says what is due".to_owned(),
        });
    }
    if !known.answered {
        let names = review.post_files(state.current_task.as_ref(), iteration);
        let name = names.into_iter().next().unwrap_or_default();
        return Err(Refusal {
            what: format!("there is no {name}, the proof that review {iteration} was answered"),
            next: format!(
                "write what you changed, or why not, to {}/{name}",
                known.dir
            ),
        });
    }
    Ok(answered(review))
}

/// No task is open. Without any task there is no code that could be reviewed either.
fn nothing_left(state: &State, known: &Known) -> Result<Change, Refusal> {
    match state.phase {
        Some(Phase::Complete) => Err(Refusal {
            what: "the plan is complete".to_owned(),
            next: "add a task first, or begin another plan".to_owned(),
        }),
        Some(_) | None if !known.has_tasks => Err(Refusal {
            what: "tasks.md lists no task, so there is none to complete".to_owned(),
            next: "`tollgate plan begin create-tasks` comes first".to_owned(),
        }),
        // Reviews are off, so the last one is not wanted either.
        Some(_) | None if state.max_reviews == 0 => {
            Ok(Change::default().phase(Phase::Complete).next(None))
        }
        Some(_) | None => Ok(Change::default()
            .next(Some(Phase::Review(Review::AllCode)))
            .fresh_cycle()),
    }
}

/// The next task is the one that is over: `tasks.md` was not kept true, and the plan would go in
/// a circle.
fn over(state: &State, action: Action, known: &Known) -> Option<Refusal> {
    let takes_next = action.takes_a_task();
    let is_over = state.phase == Some(Phase::Review(Review::Code))
        && [false, true]
            .map(|tdd| Some(Phase::complete_task(tdd)))
            .contains(&state.next());
    let task = known.task.as_ref().filter(|_| !known.is_named)?;
    let is_same = state.current_task.as_ref() == Some(task);
    (takes_next && is_over && is_same).then(|| Refusal {
        what: format!("task {task} is over, and tasks.md still has it open"),
        next: format!(
            "set its status to done in tasks.md and run this again; `--task {task}` works on it once more"
        ),
    })
}

fn no_task(action: Action, end: End) -> Refusal {
    let (why, command) = match end {
        End::Begin => ("none is open", "begin"),
        End::Done => ("none was begun or named", "done"),
    };
    Refusal {
        what: format!("{action} needs a task, and {why}"),
        next: format!("name it: `tollgate plan {command} {action} --task ID`"),
    }
}

/// While a review is due or unanswered no other work begins: agents were seen to leave the loop
/// by starting something else.
fn in_a_loop(state: &State, action: Action) -> Option<Refusal> {
    let (Phase::Review(review) | Phase::PostReview(review)) = state.next()? else {
        return None;
    };
    let plans = [Phase::NewPlan, Phase::CreateTasks].map(Action::Phase);
    let starts_work = action.takes_a_task() || plans.contains(&action);
    // Nothing was reviewed yet: the agent takes up its own unfinished work again.
    let is_resumed = state.phase == action.phase() && state.phase_iteration == Some(0);
    (starts_work && !is_resumed).then(|| Refusal {
        what: format!("the {review} is not over: {} is next", state.next_name()),
        next: "`tollgate plan next` says how to go on; `tollgate plan release` leaves the loop"
            .to_owned(),
    })
}

fn open_loop(state: &State, action: Action) -> Result<(), Refusal> {
    in_a_loop(state, action).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests;

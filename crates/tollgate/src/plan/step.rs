//! What a stop leads to, as a pure function of what was observed.

use super::phase::{Phase, Review};
use super::state::{Next, State};
use crate::ledger::{Block, LoopGuard, Passage};

/// What was observed besides the state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observed {
    /// Whether the answer to the current review is on disk.
    pub(crate) answered: bool,
    /// Whether there is something to review.
    pub(crate) subject: Subject,
}

/// Whether a due review has something to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    There,
    /// `plan.md` is missing; the rules say so better than a reviewer.
    NoPlan,
    /// No task is listed in `tasks.md`.
    NoTasks,
    /// `current_task` names no task.
    NoCurrentTask,
    /// The current task has no file: it was renamed, or never written.
    NoTaskFile,
}

/// What a stop leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// No review is due: the plan's files are held to the rules.
    Validate,
    /// The agent answered the review: the state makes that step, and the next one is asked for.
    Answered(Review),
    /// Reviews are switched off: the plan advances without one.
    Skip(Review),
    /// A review is due and cannot be made.
    Hollow(Review, Subject),
    /// As many reviews as allowed were made: a person decides.
    Limit(Review),
    /// This review is due.
    Review { review: Review, iteration: u64 },
}

/// Decides a step.
pub(crate) fn step(state: &State, observed: Observed) -> Step {
    match (state.phase, state.next()) {
        (Some(Phase::Review(at)), Some(Phase::PostReview(next))) if at == next => {
            if observed.answered {
                Step::Answered(at)
            } else {
                Step::Validate
            }
        }
        (_, Some(Phase::Review(review))) => due(state, review, observed.subject),
        (_, Some(_) | None) => Step::Validate,
    }
}

/// What a step leads to once the answer to a review is written into the state.
pub(crate) fn after_answer(state: &State, review: Review, observed: Observed) -> Step {
    let answered = State {
        phase: Some(Phase::PostReview(review)),
        next_phase: Next::Phase(Phase::Review(review)),
        ..state.clone()
    };
    step(&answered, observed)
}

fn due(state: &State, review: Review, subject: Subject) -> Step {
    let iteration = state.phase_iteration.unwrap_or(0).saturating_add(1);
    if state.max_reviews == 0 {
        Step::Skip(review)
    } else if iteration > state.max_reviews {
        Step::Limit(review)
    } else if subject != Subject::There {
        Step::Hollow(review, subject)
    } else {
        Step::Review { review, iteration }
    }
}

/// Tells the state of the work from others: any change of it is progress.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    /// The plan, its step, and whether the review was answered.
    pub(crate) step: String,
    /// The findings about its files.
    pub(crate) rules: String,
}

/// Who blocked for the plan in the ledger: a review that waits for its answer, or the rules for
/// its files. Only reviews are counted against their limit.
pub(crate) const BY: &str = "plan";
pub(crate) const BY_RULES: &str = "plan-rules";

/// The guard against loops: agents set the flag on every stop of a turn after the first block.
pub(crate) fn passage(
    is_flagged: bool,
    guard: LoopGuard,
    last: Option<&Block>,
    marks: &Marks,
    is_review_due: bool,
) -> Passage {
    let is_ours = |last: &Block| [BY, BY_RULES].contains(&last.by.as_str());
    // Some agents have their flag down again after every tool.
    if !is_flagged && !last.is_some_and(is_ours) {
        return Passage::Judged;
    }
    let Some(last) = last.filter(|_| guard == LoopGuard::Progress) else {
        return Passage::Letter;
    };
    // The plan goes before all others, so a review that is due after another check's block was
    // not due then: that is progress.
    let is_ours = is_ours(last);
    let has_moved = if is_ours {
        last.mark != marks.step && last.mark != marks.rules
    } else {
        is_review_due
    };
    if has_moved {
        Passage::Judged
    } else if is_ours {
        Passage::NoProgress
    } else {
        Passage::Letter
    }
}

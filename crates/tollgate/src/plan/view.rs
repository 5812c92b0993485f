//! What can be seen of a plan: its state, its files and its tasks, each read once.

use std::cell::OnceCell;

use super::choice::ONE_CHECKOUT;
use super::directory::{Listing, Report};
use super::home::{Plan, StateFile};
use super::phase::{Phase, Review, TaskId};
use super::reviewer::Job;
use super::rounds;
use super::routing::Artifacts;
use super::state::State;
use super::step::{Observed, Subject};
use super::tasks::{self, Tasks};
use super::transition::Known;

/// A plan as it is now.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) found: StateFile,
    /// The state's text, if it is one.
    pub(crate) text: Option<String>,
    pub(crate) listing: Listing,
    pub(crate) report: Report,
    /// The text of `tasks.md`, which is read as a table only when somebody asks.
    table: Option<String>,
    tasks: OnceCell<Tasks>,
    answered: bool,
}

impl View {
    pub(crate) fn of(plan: &Plan) -> Self {
        let (found, text) = plan.read();
        let listing = Listing::scan(plan.dir());
        let table = listing
            .has("tasks.md")
            .then(|| plan.text("tasks.md").unwrap_or_default());
        let answered = match &found {
            StateFile::Read(state) => is_answered(plan, &listing, state),
            StateFile::Absent | StateFile::Corrupt(_) | StateFile::Unusable(_) => false,
        };
        Self {
            report: listing.check(table.as_deref()),
            table,
            tasks: OnceCell::new(),
            found,
            text,
            listing,
            answered,
        }
    }

    /// The table of tasks; an empty one if there is none.
    pub(crate) fn tasks(&self) -> &Tasks {
        let parse = || self.table.as_deref().map(Tasks::parse).unwrap_or_default();
        self.tasks.get_or_init(parse)
    }

    fn task_files(&self) -> Vec<String> {
        self.tasks().files(|file| self.listing.has(file))
    }

    pub(crate) fn state(&self) -> Option<&State> {
        match &self.found {
            StateFile::Read(state) => Some(state),
            StateFile::Absent | StateFile::Corrupt(_) | StateFile::Unusable(_) => None,
        }
    }

    /// What a step is decided from.
    pub(crate) fn observed(&self) -> Observed {
        Observed {
            answered: self.answered,
            subject: self.subject(),
        }
    }

    fn subject(&self) -> Subject {
        let review = self.state().and_then(|state| state.next()?.review());
        let has_task = self
            .state()
            .is_some_and(|state| state.current_task.is_some());
        match review {
            Some(Review::Plan) if !self.listing.has("plan.md") => Subject::NoPlan,
            Some(Review::Tasks | Review::AllCode) if self.task_files().is_empty() => {
                Subject::NoTasks
            }
            Some(Review::Code) if !has_task => Subject::NoCurrentTask,
            Some(Review::Plan | Review::Tasks | Review::Code | Review::AllCode) | None => {
                Subject::There
            }
        }
    }

    /// The review that is due.
    pub(crate) fn job(&self, review: Review, iteration: u64) -> Job {
        let state = self.state();
        let task_files = match review {
            Review::Tasks | Review::AllCode => self.task_files(),
            Review::Plan | Review::Code => vec![],
        };
        Job {
            review,
            task: state
                .and_then(|state| state.current_task.clone())
                .filter(|_| review == Review::Code),
            iteration,
            model: state.map_or_else(String::new, |state| state.review_model.clone()),
            task_files,
        }
    }

    /// The review that the hook would make at the next stop.
    pub(crate) fn due(&self) -> Option<Job> {
        let state = self.state()?;
        let review = state.next()?.review()?;
        let iteration = state.phase_iteration.unwrap_or(0).saturating_add(1);
        Some(self.job(review, iteration))
    }

    /// The file of the review before this one.
    pub(crate) fn review_before(&self, job: &Job) -> Option<String> {
        let before = job.iteration.checked_sub(1)?;
        let names = job.review.files(job.task.as_ref(), before);
        self.listing.first_of(names)
    }

    /// What transitions want to know about a step with this task.
    pub(crate) fn known(&self, task: Option<TaskId>) -> Known {
        Known {
            answered: self.answered,
            has_tasks: !self.tasks().is_empty(),
            task,
            is_named: false,
        }
    }

    /// What routing wants to know.
    pub(crate) fn artifacts(&self, plan: &Plan) -> Artifacts {
        let current = self.state().and_then(|state| state.current_task.as_ref());
        let task = current.and_then(|task| plan.text(&task.file()));
        let plan_text = plan.text("plan.md").unwrap_or_default();
        let has_overview = plan_text
            .lines()
            .any(|line| line.trim_end() == "## Overview");
        let waits = self
            .due()
            .is_some_and(|job| super::run::is_left_behind(plan, &job));
        Artifacts {
            answered: self.answered,
            has_plan: has_overview || plan_text.lines().count() > 50,
            has_tasks: !self.tasks().is_empty(),
            is_task_finished: task.is_none_or(|text| tasks::is_finished(&text)),
            has_open_task: self.tasks().first_open().is_some(),
            review_waits: waits,
        }
    }
}

/// Whether the answer to the current review is there, and is the answer to *this* review: one
/// that is older than the review was the answer to an earlier one of the same number. Git writes
/// both at once, the answer first; then their times say nothing.
fn is_answered(plan: &Plan, listing: &Listing, state: &State) -> bool {
    let review = match (state.phase, state.next()) {
        (Some(Phase::Review(at)), Some(Phase::PostReview(_))) => at,
        (Some(Phase::PostReview(at)), _) => at,
        (_, Some(Phase::Review(at) | Phase::PostReview(at))) => at,
        (Some(_) | None, Some(_) | None) => return false,
    };
    let Some(iteration) = state.phase_iteration else {
        return false;
    };
    let task = state.current_task.as_ref();
    let Some(answer) = listing.first_of(review.post_files(task, iteration)) else {
        return false;
    };
    let Some(review) = listing.first_of(review.files(task, iteration)) else {
        return true;
    };
    let time = |name: &str| plan.path(name).metadata().ok()?.modified().ok();
    let (Some(answered), Some(reviewed)) = (time(&answer), time(&review)) else {
        return false;
    };
    let apart = reviewed.duration_since(answered).unwrap_or_default();
    let is_from_here = || rounds::read(plan).iter().any(|round| round.file == review);
    apart.is_zero() || (apart <= ONE_CHECKOUT && !is_from_here())
}

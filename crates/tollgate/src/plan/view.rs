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
    /// The text of `tasks.md`, which is read as a table only when needed.
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

    /// What is wrong with the files of the tasks that `wanted` names: those that are not there, and
    /// those that no row of `tasks.md` leads to, which may be the same under another name.
    fn lost(&self, wanted: &[String]) -> Option<String> {
        let missing: Vec<&str> = wanted
            .iter()
            .map(String::as_str)
            .filter(|file| !self.listing.has(file))
            .collect();
        if missing.is_empty() {
            return None;
        }
        let missing = missing.join(", ");
        let rows = self.tasks().files(|_| true);
        let mut strays = self.listing.tasks();
        strays.retain(|file| !rows.iter().any(|row| row == file));
        Some(if strays.is_empty() {
            format!("there is no {missing}")
        } else {
            let strays = strays.join(", ");
            format!(
                "there is no {missing}, and no row of tasks.md leads to {strays}: renamed? A task's file is task-ID.md"
            )
        })
    }

    /// That there is no plan.md.
    pub(crate) fn lost_plan(&self) -> Option<String> {
        let is_lost = !self.listing.has("plan.md");
        is_lost.then(|| "there is no plan.md".to_owned())
    }

    /// The same for one task.
    pub(crate) fn lost_task(&self, task: &TaskId) -> Option<String> {
        self.lost(&[task.file()])
    }

    /// The same for the task whose review is due.
    pub(crate) fn lost_subject(&self) -> Option<String> {
        let task = self.state()?.current_task.as_ref()?;
        let is_lost = self.subject() == Subject::NoTaskFile;
        is_lost.then(|| self.lost_task(task)).flatten()
    }

    /// The same for all tasks that are not over.
    pub(crate) fn lost_tasks(&self) -> Option<String> {
        self.lost(&self.tasks().open_files())
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
        let next = self.state().and_then(State::next);
        let review = match next {
            // The answer leads to the next review of the same kind.
            Some(Phase::PostReview(review)) => Some(review),
            Some(next) => next.review(),
            None => None,
        };
        let task = self.state().and_then(|state| state.current_task.as_ref());
        match review {
            Some(Review::Plan) if !self.listing.has("plan.md") => Subject::NoPlan,
            Some(Review::Tasks | Review::AllCode) if self.task_files().is_empty() => {
                Subject::NoTasks
            }
            Some(Review::Code) if task.is_none() => Subject::NoCurrentTask,
            Some(Review::Code) if task.is_some_and(|task| !self.listing.has(&task.file())) => {
                Subject::NoTaskFile
            }
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

    /// What transitions want to know about a step with this task, of a plan in `dir`.
    pub(crate) fn known(&self, task: Option<TaskId>, dir: String) -> Known {
        Known {
            dir,
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
            .is_some_and(|job| super::review_run::is_left_behind(plan, &job));
        Artifacts {
            answered: self.answered,
            has_plan: has_overview || plan_text.lines().count() > 50,
            has_tasks: !self.tasks().is_empty(),
            is_task_finished: task.is_none_or(|text| tasks::is_finished(&text)),
            has_plan_file: self.listing.has("plan.md"),
            open_task: self.tasks().first_open(),
            progress: self.tasks().progress(),
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

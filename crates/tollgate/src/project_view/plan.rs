//! The plan that is being worked on, and the rounds of its reviews.

use std::path::{Path, PathBuf};

use serde::Serialize;
use tollgate_core::project::Layout;

use super::Trouble;
use crate::plan::choice;
use crate::plan::home::StateFile;
use crate::plan::phase::Phase;
use crate::plan::rounds::{self, Round};
use crate::plan::state::State;
use crate::plan::view::View;

/// A plan.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Plan {
    pub(crate) id: String,
    /// `plan`, `tasks`, `code`…
    pub(crate) stage: Option<&'static str>,
    pub(crate) phase: Option<String>,
    pub(crate) next: Option<String>,
    pub(crate) task: Option<String>,
    /// Closed tasks, and all.
    pub(crate) tasks: (usize, usize),
    pub(crate) clean_in_a_row: u64,
    pub(crate) max_reviews: u64,
    /// How many reviews were made of what the phase is about.
    #[serde(skip)]
    pub(crate) iteration: u64,
    /// The same; nothing if the phase is none of reviews.
    pub(crate) reviews_made: Option<u64>,
    /// That the review loop was left, in words.
    pub(crate) ended: Option<String>,
    /// Whether its state cannot be read. What is wrong is among the troubles.
    pub(crate) is_broken: bool,
    /// Newest last.
    pub(crate) rounds: Vec<Round>,
    /// The rules that its files break.
    pub(crate) errors: Vec<String>,
}

impl Plan {
    /// The phase, or that there is none.
    pub(crate) fn phase_name(&self) -> &str {
        self.phase.as_deref().unwrap_or("no state")
    }

    /// How far it is: rounds of review, tasks, cost.
    pub(crate) fn progress(&self) -> String {
        let mut parts = Vec::new();
        if let Some(ended) = &self.ended {
            parts.push(ended.clone());
        } else if let Some(made) = self.reviews_made {
            parts.push(format!(
                "review round {made} of at most {}, {} of 2 clean",
                self.max_reviews,
                self.clean_in_a_row.min(2)
            ));
        }
        let (closed, all) = self.tasks;
        if all > 0 {
            parts.push(format!("{closed} of {all} tasks closed"));
        }
        if self.cost_usd().is_some() {
            parts.push(rounds::cost(self.cost_usd()));
        }
        parts.join(", ")
    }

    /// What its reviews cost, where their reviewers said it.
    pub(crate) fn cost_usd(&self) -> Option<f64> {
        rounds::total_cost(&self.rounds)
    }
}

/// Reads the plan that the project works on, and says which files that is.
pub(super) fn read(layout: &Layout, troubles: &mut Vec<Trouble>) -> (Option<Plan>, Vec<PathBuf>) {
    if !layout.plans_home().is_dir() {
        return (None, Vec::new());
    }
    let chosen = choice::choose(layout, None);
    troubles.extend(chosen.notes.into_iter().map(|what| Trouble {
        what,
        next: "`tollgate plan use` chooses a plan".to_owned(),
    }));
    let Some(plan) = chosen.plan else {
        return (None, Vec::new());
    };
    let files = [plan.dir(), &plan.path("state.json"), plan.local()].map(Path::to_owned);
    let view = View::of(&plan);
    let about = |what: &String, next: &str| Trouble {
        what: format!("plan {}: {what}", plan.id()),
        next: next.to_owned(),
    };
    let unread = match &view.found {
        StateFile::Corrupt(why) => Some((why, "`tollgate plan repair` rebuilds it")),
        StateFile::Unusable(why) => Some((why, "correct it; `tollgate plan validate` checks it")),
        StateFile::Absent | StateFile::Read(_) => None,
    };
    if let Some((why, next)) = unread {
        troubles.push(about(why, next));
    }
    let state = view.state();
    let problems = state.into_iter().flat_map(|state| &state.problems);
    troubles.extend(problems.map(|problem| about(problem, "`tollgate plan validate` says more")));
    let broken = view.report.errors.len();
    if unread.is_none() && broken > 0 {
        let what = format!(
            "{} of its rules {}",
            broken,
            if broken == 1 {
                "is broken"
            } else {
                "are broken"
            }
        );
        troubles.push(about(&what, "`tollgate plan validate` lists them"));
    }
    let is_review =
        |phase: &Option<Phase>| matches!(phase, Some(Phase::Review(_) | Phase::PostReview(_)));
    let reviewing = state.filter(|state| [state.phase, state.next()].iter().any(is_review));
    let view = Plan {
        id: plan.id().to_owned(),
        stage: state.and_then(|state| state.phase).map(Phase::stage),
        phase: state.map(|state| state.phase_name().to_owned()),
        next: state.and_then(|state| state.next_named().map(str::to_owned)),
        task: state.and_then(|state| state.current_task.as_ref().map(ToString::to_string)),
        tasks: view.tasks().progress(),
        clean_in_a_row: state.map_or(0, |state| state.consecutive_clean),
        max_reviews: state.map_or(0, |state| state.max_reviews),
        iteration: state.and_then(|state| state.phase_iteration).unwrap_or(0),
        reviews_made: reviewing.map(|state| state.phase_iteration.unwrap_or(0)),
        ended: state.and_then(State::left),
        is_broken: unread.is_some(),
        rounds: rounds::read(&plan),
        errors: view.report.errors.clone(),
    };
    (Some(view), files.to_vec())
}

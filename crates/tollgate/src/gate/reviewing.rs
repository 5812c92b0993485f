//! The door to reviews: the only place where gates know that reviewers exist.
//!
//! A review gate is run by [`run`]. It gets the trees to compare ([`Crew::pair`]), the run's
//! number, the log directory and the children to start reviewers with, and answers with a
//! [`GateResult`]: a [`Slot`](super::result::Slot) per reviewer, and what became of the findings.
//! A review that nobody could make is [`Outcome::Inconclusive`], which neither passes nor fails.

use super::config::Review;
use super::jobs::Job;
use super::result::{GateResult, Outcome};
use super::runner::Crew;

/// Runs a review gate to its end.
pub(super) fn run(crew: &Crew<'_>, job: &Job<'_>, review: &Review) -> GateResult {
    let asked = if review.cli_preference.is_empty() {
        &crew.config.reviewers
    } else {
        &review.cli_preference
    };
    let message = format!(
        "no review was made: this version of Tollgate cannot start a reviewer yet ({})",
        asked.join(", ")
    );
    GateResult::new(job, Outcome::Inconclusive, message)
}

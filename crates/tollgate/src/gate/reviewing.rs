//! The door to reviews: the only place where gates know that reviewers exist.
//!
//! A review gate is run by [`run`]. The review gets the diff between the trees of the run, cut
//! to the gate's entry point, and answers with a verdict per reviewer and what became of the
//! findings. A review that nobody could make is [`Outcome::Inconclusive`], which neither passes
//! nor fails.

use super::changes::Pair;
use super::config::{Config, Review};
use super::git::{Git, GitError};
use super::jobs::{self, Job};
use super::result::{Findings, GateFile, GateResult, Outcome, Slot};
use super::runner::Crew;
use crate::review::gate::{Pace, Request, Verdict};
use crate::review::{self, Priority, Reviewer};

/// Runs a review gate to its end.
pub(super) fn run(crew: &Crew<'_>, job: &Job<'_>, review: &Review) -> GateResult {
    let names = if review.cli_preference.is_empty() {
        &crew.config.reviewers
    } else {
        &review.cli_preference
    };
    let command = review.command.as_deref();
    let reviewers: Vec<Reviewer> = names
        .iter()
        .filter_map(|name| Reviewer::named(name, command))
        .collect();
    if reviewers.is_empty() {
        let asked = names.join(", ");
        let message = format!("no review was made: there is no reviewer to ask ({asked})");
        return GateResult::new(job, Outcome::Inconclusive, message);
    }
    let diff = match diff(crew.git, crew.pair, job, crew.config) {
        Ok(diff) => diff,
        Err(error) => {
            let message = format!("no review was made: {error}");
            return GateResult::new(job, Outcome::Inconclusive, message);
        }
    };
    let threshold = Priority::named(&crew.config.rerun_new_issue_threshold);
    let outcome = review::run(
        &Request {
            root: &crew.config.root,
            logs: crew.logs.directory(),
            stem: &job.log_stem,
            run: crew.run,
            reviewers: &reviewers,
            reviews: review.num_reviews,
            pace: if review.parallel && crew.config.allow_parallel {
                Pace::AtOnce
            } else {
                Pace::OneByOne
            },
            prompt: &review.prompt,
            diff: &diff,
            model: review.model.as_deref(),
            threshold: threshold.unwrap_or(Priority::High),
            timeout: review.timeout,
            search: crew.search,
        },
        crew.children,
    );
    result(job, outcome)
}

/// What changed below an entry point, without what it excludes.
fn diff(git: &Git, pair: &Pair, job: &Job<'_>, config: &Config) -> Result<String, GitError> {
    let mut args: Vec<String> = [
        "diff",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        "--src-prefix=a/",
        "--dst-prefix=b/",
        "--relative",
        "--end-of-options",
        &pair.base,
        pair.head.name()?,
        "--",
    ]
    .map(str::to_owned)
    .into();
    let magic = |path: &str| {
        if jobs::is_glob(path) {
            "glob"
        } else {
            "literal"
        }
    };
    let path = &job.entry_point;
    args.push(format!(":({}){path}", magic(path)));
    let entry = config.entry_points.iter().find(|entry| {
        jobs::covers(entry, path) && entry.reviews.iter().any(|name| name == job.name)
    });
    for path in entry.iter().flat_map(|entry| &entry.exclude) {
        args.push(format!(":(exclude,{}){path}", magic(path)));
    }
    let asked = git.ask(args);
    Ok(String::from_utf8_lossy(&asked.bytes()?).into_owned())
}

fn result(job: &Job<'_>, outcome: review::gate::Outcome) -> GateResult {
    let slots: Vec<Slot> = outcome
        .slots
        .into_iter()
        .map(|slot| Slot {
            label: slot.label,
            outcome: judged(slot.verdict),
            message: slot.message,
            took: slot.took,
            usage: slot.usage,
            file: match (slot.verdict, slot.file, slot.log) {
                // There is nothing to answer in the file of a review that was not made.
                (Verdict::Inconclusive, _, Some(log)) => Some(GateFile::Log(log)),
                (_, Some(file), _) => Some(GateFile::Review(file)),
                (_, None, log) => log.map(GateFile::Log),
            },
        })
        .collect();
    GateResult {
        took: slots.iter().map(|slot| slot.took).max().unwrap_or_default(),
        slots,
        findings: Findings {
            fixed: outcome.fixed,
            skipped: outcome.skipped,
            advisory: outcome.advisory,
            open: outcome.open.len(),
        },
        tail: outcome.open,
        print: outcome.print,
        ..GateResult::new(job, judged(outcome.verdict), outcome.message)
    }
}

fn judged(verdict: Verdict) -> Outcome {
    match verdict {
        Verdict::Pass => Outcome::Pass,
        Verdict::Fail => Outcome::Fail,
        Verdict::Inconclusive => Outcome::Inconclusive,
    }
}

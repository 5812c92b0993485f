//! A review that is due at a stop: made, concluded, and the agent asked to answer it.
//!
//! A review that could not be made is no review: nothing is counted, the plan does not advance and
//! the stop is allowed, whatever else there is to say about the plan.

use std::time::Duration;

use tollgate_store::fs;
use tollgate_store::journal::{Entry, Journal, Verdict};
use tollgate_store::timestamp::iso;

use super::{PlanStop, errors, marks};
use crate::plan::findings;
use crate::plan::other;
use crate::plan::phase::Review;
use crate::plan::review_run::ReviewRun;
use crate::plan::reviewer::{self, AFTER_TIMEOUT, Job, ReviewAnswer, ReviewVerdict, Surroundings};
use crate::plan::rounds::Round;
use crate::plan::step::{self, BY, Step};
use crate::plan::texts;
use crate::plan::transition::{self, After};
use crate::plan::view::View;
use crate::review::Reviewer;
use crate::review::cli::Health;
use crate::trust::Consent;

impl PlanStop<'_> {
    /// A review is due: it is made, or it is said why not.
    pub(super) fn review(&mut self, view: &View, review: Review, iteration: u64) {
        let Some(limit) = view.state().map(|state| state.max_reviews) else {
            return;
        };
        if let Some(ledger) = &self.ledger
            && (ledger.turn().count(BY) >= limit || ledger.is_full())
        {
            let made = ledger.turn().count(BY);
            self.tell(
                "PLAN-RELEASED",
                format!("{made} reviews were made in this turn; {review} goes on with your next prompt. Nothing was verified at this stop."),
            );
            return self.tell_rules(view);
        }
        let consent = match self.consent {
            Ok(consent) => consent,
            Err(untrusted) => {
                self.decision.warnings.push(untrusted.report());
                return self.tell_rules(view);
            }
        };
        let Some(program) = self.program() else {
            let name = self.reviewer_name();
            return self.not_reviewed(
                view,
                format!("Warning: {name} CLI not found on PATH, skipping {review}. Nothing was reviewed."),
            );
        };
        let run = match ReviewRun::begin(self.plan) {
            Ok(Some(run)) => run,
            Ok(None) => {
                self.tell(
                    "PLAN-BUSY",
                    format!("A review of plan '{}' is running already; this stop does not start another.", self.plan.id()),
                );
                return self.tell_rules(view);
            }
            Err(error) => {
                return self.fault("plan-review", format!("a review cannot begin: {error}"));
            }
        };
        // Another process may have made it while we waited for the lock.
        let view = View::of(self.plan);
        let Some(state) = view.state() else {
            return;
        };
        if step::step(state, view.observed()) != (Step::Review { review, iteration }) {
            return self.validate(&view);
        }
        let job = view.job(review, iteration);
        match self.made(&run, &job, program, consent) {
            Ok((file, answer, ms)) => self.conclude(&run, &view, &job, (file, answer, ms)),
            Err(why) => {
                let log = run.log(iteration);
                // Without a log the message has to do.
                let _unlogged = fs::append_line(&log, &format!("tollgate: {why}"));
                run.end();
                self.not_reviewed(
                    &view,
                    format!(
                        "Warning: {review} {iteration} was not made: {why}. No iteration was spent and the plan does not advance; see {}/.review-{iteration}.log. The next stop tries again.",
                        self.seen_dir()
                    ),
                );
            }
        }
    }

    /// No review was made, which is not the agent's fault: the stop is allowed, and what is wrong
    /// with the plan's files is reported and does not block.
    fn not_reviewed(&mut self, view: &View, why: String) {
        self.tell("PLAN-NO-REVIEW", why);
        match errors(self.plan, view) {
            Some(errors) => self.tell("PLAN-RULES", errors),
            None => self.praise(view),
        }
    }

    /// The review's file and answer: of a reviewer that ran before, or of one that is run now.
    fn made(
        &mut self,
        run: &ReviewRun<'_>,
        job: &Job,
        program: std::path::PathBuf,
        consent: &Consent,
    ) -> Result<(String, ReviewAnswer, u64), String> {
        if let Some((file, answer)) = run.left_behind(job) {
            self.note(&format!(
                "{} {} of {}: made before, taken over",
                job.review,
                job.iteration,
                self.plan.id()
            ));
            return Ok((file, answer, 0));
        }
        if let Some(thing) = run.in_the_way(job) {
            return Err(thing);
        }
        let files = run.start(job).map_err(|error| error.to_string())?;
        let prompts =
            reviewer::prompts(self.layout, self.env).map_err(|error| error.to_string())?;
        let place = Surroundings {
            root: self.layout.root(),
            program,
            prompts,
            timeout: self.config.timeout.min(self.left()),
        };
        if let Some(other) = &self.config.reviewer {
            let search = self.env.path.clone().unwrap_or_default();
            let ms = other::review(other, job, self.plan, (&place, &search), files, consent)?;
            return Ok((written(run, job)?, reviewer::answer(&run.printed())?, ms));
        }
        let ended = job
            .run(self.plan, &place, files, consent)
            .map_err(|error| error.to_string())?;
        let ms = u64::try_from(ended.took.as_millis()).unwrap_or(u64::MAX);
        let answer = reviewer::judge(&ended, &run.printed())?;
        Ok((written(run, job)?, answer, ms))
    }

    /// How long a review may still take, so that the stop is answered in time.
    fn left(&self) -> Duration {
        let used = self.deadline.begun.elapsed() + AFTER_TIMEOUT;
        self.deadline.patience.saturating_sub(used)
    }

    /// The reviewer's program, if it is there.
    fn program(&self) -> Option<std::path::PathBuf> {
        let Some(other) = &self.config.reviewer else {
            return reviewer::find_program(self.env);
        };
        match other.health(self.env.path.as_deref().unwrap_or_default()) {
            Health::Ready(program) => Some(program),
            Health::Missing(_) => None,
        }
    }

    fn reviewer_name(&self) -> &'static str {
        let other = self.config.reviewer.as_ref();
        other.map_or(reviewer::PROGRAM, Reviewer::name)
    }

    /// A review was made: the state makes its step, then the agent is answered.
    fn conclude(
        &mut self,
        run: &ReviewRun<'_>,
        view: &View,
        job: &Job,
        (file, answer, ms): (String, ReviewAnswer, u64),
    ) {
        let Some(state) = view.state() else {
            return;
        };
        let is_clean = answer.verdict == ReviewVerdict::Pass;
        let has_open_task = view.tasks().has_open_besides(state.current_task.as_ref());
        let (change, after) = transition::reviewed(state, job.review, is_clean, has_open_task);
        let model = match &self.config.reviewer {
            Some(_) => self.reviewer_name(),
            None => &job.model,
        };
        let round = Round {
            at: iso(self.now),
            review: job.review.as_str().to_owned(),
            task: job.task.as_ref().map(ToString::to_string),
            iteration: job.iteration,
            model: model.to_owned(),
            verdict: answer.verdict.as_str().to_owned(),
            cost_usd: answer.cost_usd,
            ms,
            file: file.clone(),
        };
        // First the round, then the state: a process that is killed in between finds the review again and
        // knows that its round is written down.
        let journal = Journal::new(self.layout.local());
        let about = Entry {
            session: self.event.session.as_deref(),
            prompt: self.event.prompt_id.as_deref(),
            trace: self.env.trace.as_deref(),
            ..Entry::new(self.now, Verdict::Review)
        };
        if let Err(error) = round.append_once(self.plan, &journal, &about) {
            self.fault(
                "plan-rounds",
                format!("the round cannot be written down: {error}"),
            );
        }
        self.note(&format!("{}: {}", self.plan.id(), round.line()));
        if !self.write(view, &change) {
            return;
        }
        run.end();
        run.forget_log(job);
        match after {
            After::Advance(next) => {
                self.tell(
                    "PLAN-PASSED",
                    texts::passed(self.layout, job.review, next.as_str()),
                );
                self.tell_rules(view);
            }
            After::Answer => self.ask(view, job, &file, answer.verdict),
        }
    }

    /// Blocks, so that the agent answers the review.
    fn ask(&mut self, view: &View, job: &Job, file: &str, verdict: ReviewVerdict) {
        let mut text = texts::block(job.review, job.iteration, &self.seen_dir(), file);
        let (clean, short) = match verdict {
            ReviewVerdict::Pass => (
                Some(texts::CLEAN.to_owned()),
                "was clean, one more is needed",
            ),
            ReviewVerdict::Fail | ReviewVerdict::Missing => (None, "waits for its answer"),
        };
        let before = view.review_before(job);
        let before_text = before.as_deref().and_then(|name| self.plan.text(name));
        let review = self.plan.text(file).unwrap_or_default();
        let before = before.as_deref().zip(before_text.as_deref());
        let compared = before.and_then(|before| findings::compare(&review, before));
        let rules = errors(self.plan, view)
            .map(|errors| format!("Besides, correct the plan's files. {errors}"));
        let more = [clean, compared, rules, Some(texts::commands(job.review))];
        for part in more.into_iter().flatten() {
            text = format!("{text}\n\n{part}");
        }
        let mark = marks(self.plan, &View::of(self.plan)).step;
        let number = self
            .ledger
            .as_ref()
            .map_or(0, |ledger| ledger.turn().total());
        // Every review is news, also when a counter was set back; how many there may be was
        // decided before it was paid for.
        let reason = format!("{} {} {short}: {file}", job.review, job.iteration);
        match self.may_block(BY, &format!("{mark}-{number}"), &mark) {
            Ok(()) => self.block("PLAN-REVIEW", text, reason),
            Err(bound) => self.release(&reason, &bound),
        }
    }
}

/// The review's file, without which there is no review.
fn written(run: &ReviewRun<'_>, job: &Job) -> Result<String, String> {
    run.written(job).ok_or_else(|| {
        let wanted = job.files().into_iter().next().unwrap_or_default();
        format!("the reviewer ended well and did not write {wanted}")
    })
}

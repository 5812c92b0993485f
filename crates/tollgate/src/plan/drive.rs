//! One stop of an agent that works on a plan: observe, decide, act, answer.
//!
//! Whatever goes wrong here lets the stop through and is told. A review that could not be made is
//! no review: nothing is counted and the plan does not advance.

use jiff::Timestamp;
use tollgate_core::env::Env;
use tollgate_core::fs;
use tollgate_core::project::Layout;
use tollgate_core::protocol::Event;
use tollgate_core::verdict::{Fault, Finding, Outcome, Report};

use super::choice;
use super::config::Config;
use super::findings::{self, digest};
use super::home::{Found, Plan, Unwritten};
use super::other;
use super::phase::{Review, TaskId};
use super::reviewer::{self, Answer, Job, Place, Verdict};
use super::rounds::Round;
use super::run::Run;
use super::state::State;
use super::step::{self, BY, Marks, Observed, Passage, Step, Subject, Why};
use super::texts::{self, Asked};
use super::transition::{self, After};
use super::view::View;
use crate::ledger::{Ledger, MAX_BLOCKS};
use crate::review::Reviewer;
use crate::review::cli::Health;

/// The name that reports carry.
const PLAN: &str = "plan";

/// Decides a stop as far as the project's plan is concerned.
pub(crate) fn stop(
    event: &Event<'_>,
    layout: &Layout,
    env: &Env,
    now: Timestamp,
    outcome: &mut Outcome,
) {
    // Without a session nothing is remembered, and the letter of the specification holds.
    if event.stop_hook_active && event.session.is_none() {
        return;
    }
    let chosen = choice::choose(layout);
    let notes = chosen.notes.into_iter();
    outcome
        .faults
        .extend(notes.map(|note| Fault::new("plan-choice", note)));
    let Some(plan) = &chosen.plan else {
        return;
    };
    let config = Config::load(layout);
    let problems = config.problems.iter().cloned();
    outcome
        .faults
        .extend(problems.map(|problem| Fault::new("plan-config", problem)));
    let ledger = Ledger::at_stop(layout, event);
    let mut case = Case {
        layout,
        env,
        plan,
        config: &config,
        ledger,
        now,
        outcome,
    };
    case.decide(event.stop_hook_active);
}

/// One stop.
struct Case<'a> {
    layout: &'a Layout,
    env: &'a Env,
    plan: &'a Plan,
    config: &'a Config,
    ledger: Option<Ledger>,
    now: Timestamp,
    outcome: &'a mut Outcome,
}

impl Case<'_> {
    fn decide(&mut self, is_flagged: bool) {
        let mut view = View::of(self.plan);
        if view.listing.is_empty() && matches!(view.found, Found::Absent) {
            return; // An empty directory is no plan yet.
        }
        let mut step = self.first_step(&view);
        let marks = marks(self.plan, &view);
        let last = self.ledger.as_ref().and_then(|ledger| ledger.turn().last());
        let is_due = matches!(step, Step::Review { .. } | Step::Answered(_));
        let guard = self.config.loop_guard;
        match step::passage(is_flagged, guard, last, &marks, is_due) {
            Passage::LetThrough(Why::Letter) => {
                // The original's log was blind exactly here, and nobody saw why reviews ended.
                if is_due {
                    let id = self.plan.id();
                    self.note(&format!("{id}: a stop after a block that is not ours is let through, a review stays due"));
                }
                return;
            }
            Passage::LetThrough(Why::NoProgress) => return self.let_through(&view),
            Passage::Judged => {}
        }
        if let Step::Answered(review) = step {
            let change = transition::answered(review);
            if !self.write(&view, &change) {
                return;
            }
            self.note(&format!(
                "{} of {}: its post-review file is there",
                review.post(),
                self.plan.id()
            ));
            view = View::of(self.plan);
            step = self.first_step(&view);
        }
        match step {
            Step::Validate | Step::Answered(_) => self.validate(&view),
            Step::Skip(review) => self.skip(&view, review),
            Step::Hollow(review, subject) => self.hollow(&view, review, subject),
            Step::Limit(review) => {
                let limit = view.state().map_or(0, |state| state.max_reviews);
                self.tell("PLAN-LIMIT", texts::limit(review, limit));
                self.validate(&view);
            }
            Step::Review { review, iteration } => self.review(&view, review, iteration),
        }
    }

    /// The step, and what is wrong with the state told on the way.
    fn first_step(&mut self, view: &View) -> Step {
        match &view.found {
            Found::Absent => Step::Validate,
            Found::Unusable(why) => {
                let text = format!(
                    "Warning: plan '{}': {why}; no review runs until it is mended",
                    self.plan.id()
                );
                self.fault("plan-state", text);
                Step::Validate
            }
            Found::Read(state) => {
                for problem in &state.problems {
                    let text = format!("Warning: plan '{}': {problem}", self.plan.id());
                    self.fault("plan-state", text);
                }
                step::step(state, view.observed())
            }
        }
    }

    /// A stop after our own block, with nothing done since.
    fn let_through(&mut self, view: &View) {
        let unanswered = view.state().and_then(|state| {
            let review = state.phase.and_then(super::phase::Phase::review)?;
            let waits = state.next() == Some(super::phase::Phase::PostReview(review));
            waits.then(|| format!("{review} was not answered"))
        });
        let what = unanswered.unwrap_or_else(|| view.report.errors.join("; "));
        self.tell(
            "PLAN-RELEASED",
            format!(
                "Plan '{}' is NOT verified: nothing was done since the last block ({what}). `tollgate plan next` says how to go on.",
                self.plan.id()
            ),
        );
    }

    /// Holds the plan's files to the rules.
    fn validate(&mut self, view: &View) {
        let notes = view.report.notes.iter();
        let notes = notes.map(|note| format!("Plan '{}': {note}", self.plan.id()));
        self.outcome.guidance.extend(notes);
        let Some(errors) = errors(self.plan, view) else {
            let text = format!("Plan '{}' structure validated successfully", self.plan.id());
            self.outcome.guidance.push(text);
            return;
        };
        let mark = marks(self.plan, view).rules;
        if self.may_block(&mark, &mark) {
            self.block("PLAN-RULES", errors.clone(), errors);
        } else {
            let text =
                format!("{errors}. It blocked before and is still there: released, NOT verified.");
            self.tell("PLAN-RELEASED", text);
        }
    }

    /// Reviews are switched off.
    fn skip(&mut self, view: &View, review: Review) {
        let Some(state) = view.state() else {
            return;
        };
        let (change, next) = transition::skipped(state, review);
        if self.write(view, &change) {
            self.note(&format!(
                "{review} of {} skipped, next is {next}",
                self.plan.id()
            ));
            self.tell("PLAN-SKIPPED", texts::skipped(next.as_str()));
        }
    }

    fn hollow(&mut self, view: &View, review: Review, subject: Subject) {
        let why = match subject {
            Subject::There | Subject::NoPlan => return self.validate(view),
            Subject::NoTasks => "tasks.md lists no task",
            Subject::NoCurrentTask => "state.json names no current task",
        };
        self.tell(
            "PLAN-NO-REVIEW",
            format!("Warning: {why}, skipping {review}. Nothing was reviewed."),
        );
        match errors(self.plan, view) {
            Some(errors) if subject == Subject::NoTasks => self.tell("PLAN-RULES", errors),
            Some(_) | None => self.validate(view),
        }
    }

    /// A review is due: it is made, or it is said why not.
    fn review(&mut self, view: &View, review: Review, iteration: u64) {
        let Some(limit) = view.state().map(|state| state.max_reviews) else {
            return;
        };
        if let Some(turn) = self.ledger.as_ref().map(Ledger::turn)
            && (turn.count(BY) >= limit || turn.total() >= MAX_BLOCKS)
        {
            return self.tell(
                "PLAN-RELEASED",
                format!("{} reviews were made in this turn; {review} goes on with your next prompt. Nothing was verified at this stop.", turn.count(BY)),
            );
        }
        let Some(program) = self.program() else {
            let name = self.reviewer_name();
            self.tell(
                "PLAN-NO-REVIEW",
                format!("Warning: {name} CLI not found on PATH, skipping {review}. Nothing was reviewed."),
            );
            return self.validate(view);
        };
        let run = match Run::begin(self.plan) {
            Ok(Some(run)) => run,
            Ok(None) => {
                return self.tell(
                    "PLAN-BUSY",
                    format!("A review of plan '{}' is running already; this stop does not start another.", self.plan.id()),
                );
            }
            Err(error) => {
                return self.fault("plan-review", format!("a review cannot begin: {error}"));
            }
        };
        // Somebody may have made it while we waited for the lock.
        let view = View::of(self.plan);
        let Some(state) = view.state() else {
            return;
        };
        if step::step(state, view.observed()) != (Step::Review { review, iteration }) {
            return self.validate(&view);
        }
        let job = view.job(review, iteration);
        match self.made(&run, &job, program) {
            Ok((file, answer, ms)) => self.conclude(&run, &view, &job, (file, answer, ms)),
            Err(why) => {
                let log = run.log(iteration);
                // Without a log the message has to do.
                let _unlogged = fs::append_line(&log, &format!("tollgate: {why}"));
                run.end();
                self.tell(
                    "PLAN-NO-REVIEW",
                    format!(
                        "Warning: {review} {iteration} was not made: {why}. No iteration was spent and the plan does not advance; see {}/.review-{iteration}.log. The next stop tries again.",
                        self.plan.shown()
                    ),
                );
                self.validate(&view);
            }
        }
    }

    /// The review's file and answer: of a reviewer that ran before, or of one that is run now.
    fn made(
        &mut self,
        run: &Run<'_>,
        job: &Job,
        program: std::path::PathBuf,
    ) -> Result<(String, Answer, u64), String> {
        if let Some((file, answer)) = run.left_behind(job) {
            self.note(&format!(
                "{} {} of {}: made before, taken over",
                job.review,
                job.iteration,
                self.plan.id()
            ));
            return Ok((file, answer, 0));
        }
        let files = run.start(job).map_err(|error| error.to_string())?;
        let prompts =
            reviewer::prompts(self.layout, self.env).map_err(|error| error.to_string())?;
        let place = Place {
            root: self.layout.root(),
            program,
            prompts,
            timeout: self.config.timeout,
        };
        if let Some(other) = &self.config.reviewer {
            let search = self.env.path.clone().unwrap_or_default();
            let ms = other::review(other, job, self.plan, (&place, &search), files)?;
            return Ok((written(run, job)?, reviewer::answer(&run.printed())?, ms));
        }
        let ended = job
            .run(self.plan, &place, files)
            .map_err(|error| error.to_string())?;
        let ms = u64::try_from(ended.took.as_millis()).unwrap_or(u64::MAX);
        let answer = reviewer::judge(&ended, &run.printed())?;
        Ok((written(run, job)?, answer, ms))
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
        run: &Run<'_>,
        view: &View,
        job: &Job,
        (file, answer, ms): (String, Answer, u64),
    ) {
        let Some(state) = view.state() else {
            return;
        };
        let is_clean = answer.verdict == Verdict::Pass;
        let remaining = view.tasks.remaining(state.current_task.as_ref());
        let (change, after) = transition::reviewed(state, job.review, is_clean, remaining);
        let model = match &self.config.reviewer {
            Some(_) => self.reviewer_name(),
            None => &job.model,
        };
        let round = Round::new(
            self.now,
            job.review,
            job.task.as_ref(),
            (job.iteration, model),
        );
        let mut round = round.ended(answer.verdict, answer.cost_usd, ms);
        round.file.clone_from(&file);
        // First the round, then the state: whoever is killed in between finds the review again and
        // knows that its round is written down.
        if let Err(error) = round.append_once(self.plan) {
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
                self.tell("PLAN-PASSED", texts::passed(job.review, next.as_str()));
                if let Some(errors) = errors(self.plan, view) {
                    self.tell("PLAN-RULES", errors);
                }
            }
            After::Answer => self.ask(view, job, &file),
        }
    }

    /// Blocks, so that the agent answers the review.
    fn ask(&mut self, view: &View, job: &Job, file: &str) {
        let mut text = texts::block(&Asked {
            review: job.review,
            iteration: job.iteration,
            dir: self.plan.shown(),
            file,
        });
        let before = view.review_before(job);
        let before_text = before.as_deref().and_then(|name| self.plan.text(name));
        let review = self.plan.text(file).unwrap_or_default();
        let compared = findings::compare(&review, before.as_deref().zip(before_text.as_deref()));
        let rules = errors(self.plan, view)
            .map(|errors| format!("Besides, mend the plan's files. {errors}"));
        let more = [compared, rules, Some(texts::commands(job.review))];
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
        if self.may_block(&format!("{mark}-{number}"), &mark) {
            let reason = format!(
                "{} {} waits for its answer: {file}",
                job.review, job.iteration
            );
            self.block("PLAN-REVIEW", text, reason);
        }
    }

    /// Writes a step of the state. False, and told, if it could not be.
    fn write(&mut self, view: &View, change: &transition::Change) -> bool {
        let Some(state) = view.state() else {
            return false;
        };
        match self.plan.change(self.now, state, change) {
            Ok(()) => true,
            Err(Unwritten::Moved(found)) => {
                super::run::forget(self.plan);
                self.tell(
                    "PLAN-MOVED",
                    format!("state.json of plan '{}' was changed while this stop was decided (next_phase is {} now); it was left as it is.", self.plan.id(), found.next_name()),
                );
                false
            }
            Err(error @ Unwritten::Failed(_)) => {
                self.fault("plan-state-unwritten", error.to_string());
                false
            }
        }
    }

    /// Asks the ledger for one more block, and writes it down.
    fn may_block(&mut self, fault: &str, mark: &str) -> bool {
        let Some(ledger) = &mut self.ledger else {
            return true;
        };
        if !ledger.block(BY, fault, mark) {
            return false;
        }
        if let Err(error) = ledger.save() {
            let text = format!("the session's ledger cannot be written: {error}");
            self.fault("ledger-unwritten", text);
        }
        true
    }

    fn block(&mut self, code: &'static str, text: String, reason: String) {
        let finding = Finding::new(code, text, reason);
        self.outcome.block = Some(Report {
            guard: PLAN,
            finding,
        });
    }

    /// Something that the person should see.
    fn tell(&mut self, code: &'static str, text: String) {
        let finding = Finding::new(code, text.clone(), text);
        self.outcome.warnings.push(Report {
            guard: PLAN,
            finding,
        });
    }

    /// A step of the plan, for the journal.
    fn note(&mut self, text: &str) {
        self.outcome
            .changes
            .push(Finding::new("PLAN-STEP", text, text));
    }

    fn fault(&mut self, kind: &'static str, text: String) {
        let fault = Fault::new(kind, text);
        if !self.outcome.faults.contains(&fault) {
            self.outcome.faults.push(fault);
        }
    }
}

/// The review's file, without which there is no review.
fn written(run: &Run<'_>, job: &Job) -> Result<String, String> {
    run.written(job).ok_or_else(|| {
        let wanted = job.files().into_iter().next().unwrap_or_default();
        format!("the reviewer ended well and did not write {wanted}")
    })
}

/// The findings about a plan's files in one line.
pub(crate) fn errors(plan: &Plan, view: &View) -> Option<String> {
    let errors = &view.report.errors;
    (!errors.is_empty()).then(|| format!("Plan '{}': {}", plan.id(), errors.join("; ")))
}

fn marks(plan: &Plan, view: &View) -> Marks {
    let step = view.state().map(|state: &State| {
        let task = state.current_task.as_ref().map(TaskId::as_str);
        (
            state.phase_name(),
            state.next_name().to_owned(),
            state.phase_iteration,
            task.map(str::to_owned),
        )
    });
    let Observed { answered, .. } = view.observed();
    Marks {
        step: digest(&("step", plan.id(), step, answered)),
        rules: digest(&("rules", plan.id(), &view.report.errors)),
    }
}

//! One stop of an agent that works on a plan: observe, decide, act, answer.
//!
//! Whatever goes wrong here lets the stop through and is reported. A review that could not be made is
//! no review: nothing is counted and the plan does not advance.

mod reviewing;

use std::path::Path;

use jiff::Timestamp;
use tollgate_core::decision::{Decision, Fault, Finding};
use tollgate_core::env::Env;
use tollgate_core::next::{self, Next};
use tollgate_core::project::Layout;
use tollgate_core::protocol::Event;

use super::gates::Deadline;
use crate::hash::digest;
use crate::ledger::{Bound, Ledger, Passage, UNWRITTEN};
use crate::plan::choice;
use crate::plan::config::Config;
use crate::plan::home::{Plan, StateFile, Unwritten};
use crate::plan::log;
use crate::plan::phase::{Phase, Review, TaskId};
use crate::plan::rebuild::{self, Rebuilt};
use crate::plan::review_run;
use crate::plan::state::State;
use crate::plan::step::{self, BY_RULES, Marks, Observed, Step, Subject};
use crate::plan::texts;
use crate::plan::transition;
use crate::plan::view::View;
use crate::trust::{Consent, Untrusted};

/// The name that reports carry.
const PLAN: &str = "plan";

/// Whether a stop is for the plan to decide.
#[derive(Clone, Copy, Debug)]
pub(super) enum Asked<'c> {
    /// It is; reviewers run if a person consented.
    Gated(Result<&'c Consent, &'c Untrusted>),
    /// Its sub-agents still work, or it only plans: it is written down.
    Ungated,
}

/// Decides a stop as far as the project's plan is concerned, and writes it down, whatever it came
/// to: the original did not log the stops it allowed, and it was not visible why reviews ended.
pub(super) fn decide(
    event: &Event<'_>,
    layout: &Layout,
    env: &Env,
    now: Timestamp,
    (asked, deadline): (Asked<'_>, Deadline),
) -> Decision {
    let mut decision = Decision::default();
    if !layout.plans_home().is_dir() {
        return decision;
    }
    let chosen = choice::choose(layout, event.session.as_deref());
    let notes = chosen.notes.into_iter();
    let notes = notes.map(|note| Fault::new("plan-choice", note));
    let Some(plan) = &chosen.plan else {
        decision.faults.extend(notes);
        return decision;
    };
    let mut stop = log::Stop::of(event);
    let mut state = None;
    match asked {
        Asked::Ungated => stop.answer = "not gated",
        // Without a session nothing is remembered, and the letter of the specification holds.
        Asked::Gated(_) if event.stop_hook_active && event.session.is_none() => {
            stop.answer = "let through by the letter";
        }
        Asked::Gated(consent) => {
            let config = Config::load(layout, env);
            decision.faults.extend(notes);
            let problems = config.problems.iter().cloned();
            let problems = problems.map(|problem| Fault::new("plan-config", problem));
            decision.faults.extend(problems);
            let mut case = PlanStop {
                event,
                layout,
                env,
                plan,
                config: &config,
                ledger: Ledger::at_stop(layout, event),
                now,
                deadline,
                seen: None,
                consent,
                decision,
            };
            case.decide(event.stop_hook_active);
            (decision, state) = (case.decision, case.seen);
        }
    }
    stop.take_codes(&decision, PLAN);
    if let Err(error) = stop.append(plan, now, state.as_deref()) {
        let text = format!("the log of plan '{}' cannot be written: {error}", plan.id());
        decision.faults.push(Fault::new("plan-log", text));
    }
    decision
}

/// One stop.
struct PlanStop<'a> {
    event: &'a Event<'a>,
    layout: &'a Layout,
    env: &'a Env,
    plan: &'a Plan,
    config: &'a Config,
    ledger: Option<Ledger>,
    now: Timestamp,
    deadline: Deadline,
    /// The state's text as it was found, until this stop changes it.
    seen: Option<String>,
    /// Whether reviewers may run.
    consent: Result<&'a Consent, &'a Untrusted>,
    decision: Decision,
}

impl PlanStop<'_> {
    fn decide(&mut self, is_flagged: bool) {
        let mut view = View::of(self.plan);
        if view.listing.is_empty() && matches!(view.found, StateFile::Absent) {
            return; // An empty directory is no plan yet.
        }
        let mut step = match self.rebuilt(&mut view) {
            Some(step) => step,
            None => self.first_step(&view),
        };
        self.seen = view.text.take();
        let marks = marks(self.plan, &view);
        let last = self.ledger.as_ref().and_then(|ledger| ledger.turn().last());
        let is_due = matches!(step, Step::Review { .. } | Step::Answered(_));
        let guard = self.config.loop_guard;
        match step::passage(is_flagged, guard, last, &marks, is_due) {
            Passage::Letter => {
                if is_due {
                    let id = self.plan.id();
                    self.note(&format!("{id}: a stop after a block that is not ours is let through, a review stays due"));
                }
                return;
            }
            Passage::NoProgress => return self.let_through(&view),
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

    /// A state that was destroyed is set aside and the last good one takes its place; then no more
    /// happens at this stop. None if there is nothing to rebuild, or nothing to do it from.
    fn rebuilt(&mut self, view: &mut View) -> Option<Step> {
        let StateFile::Corrupt(why) = &view.found else {
            return None;
        };
        match rebuild::from_log(self.plan, self.now) {
            Ok(Rebuilt::Back(back)) => {
                let text = format!(
                    "Warning: plan '{}': {why}; {back}. No review runs at this stop",
                    self.plan.id()
                );
                self.fault("plan-state", text);
                *view = View::of(self.plan);
                Some(Step::Validate)
            }
            Ok(Rebuilt::Whole) => {
                *view = View::of(self.plan);
                None
            }
            Ok(Rebuilt::Unknown) => None,
            Err(error) => {
                self.fault("plan-state-unwritten", error.to_string());
                None
            }
        }
    }

    /// The step; problems of the state are reported.
    fn first_step(&mut self, view: &View) -> Step {
        match &view.found {
            StateFile::Absent => Step::Validate,
            StateFile::Corrupt(why) | StateFile::Unusable(why) => {
                let text = format!(
                    "Warning: plan '{}': {why}; no review runs until it is repaired (`tollgate plan repair` says how)",
                    self.plan.id()
                );
                self.fault("plan-state", text);
                Step::Validate
            }
            StateFile::Read(state) => {
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
        let what = unanswered(view).unwrap_or_else(|| view.report.errors.join("; "));
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
        self.tell_left(view);
        let Some(errors) = errors(self.plan, view) else {
            // The specification's own events are answered as it says.
            if let Some(what) = unanswered(view).filter(|_| self.event.protocol.is_agent()) {
                let text = format!(
                    "Plan '{}' is NOT verified: {what}. `tollgate plan next` says how to go on.",
                    self.plan.id()
                );
                self.tell("PLAN-RELEASED", text);
            }
            return self.praise(view);
        };
        self.note_files(view);
        let mark = marks(self.plan, view).rules;
        match self.may_block(BY_RULES, &mark, &mark) {
            Ok(()) => self.block("PLAN-RULES", errors.clone(), errors),
            Err(bound) => self.release(&errors, &bound),
        }
    }

    /// An agent may leave the review loop, and it is said at every stop.
    fn tell_left(&mut self, view: &View) {
        let left = view.state().and_then(State::left);
        if let Some(left) = left.filter(|_| self.event.protocol.is_agent()) {
            let id = self.plan.id();
            let text = format!(
                "Plan '{id}' is NOT verified: {left}, before two clean reviews in a row. `tollgate plan next` says how to go on."
            );
            self.tell("PLAN-LEFT", text);
        }
    }

    /// Nothing is wrong with the plan's files.
    fn praise(&mut self, view: &View) {
        self.note_files(view);
        let text = format!("Plan '{}' structure validated successfully", self.plan.id());
        self.decision.guidance.push(text);
    }

    fn note_files(&mut self, view: &View) {
        let notes = view.report.notes.iter();
        let notes = notes.map(|note| format!("Plan '{}': {note}", self.plan.id()));
        self.decision.guidance.extend(notes);
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
            self.tell("PLAN-SKIPPED", texts::skipped(self.layout, next.as_str()));
            self.tell_rules(view);
        }
    }

    fn hollow(&mut self, view: &View, review: Review, subject: Subject) {
        let why = match subject {
            Subject::There | Subject::NoPlan => return self.validate(view),
            Subject::NoTasks if !view.listing.has("tasks.md") => "there is no tasks.md".to_owned(),
            Subject::NoTasks => {
                "tasks.md lists no task by a number or by the name of its file".to_owned()
            }
            Subject::NoCurrentTask => "state.json names no current task".to_owned(),
            Subject::NoTaskFile => view.lost_subject().unwrap_or_default(),
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

    /// Writes a step of the state. False, and reported, if it could not be.
    fn write(&mut self, view: &View, change: &transition::Change) -> bool {
        let Some(state) = view.state() else {
            return false;
        };
        match self.plan.change(self.now, state, change) {
            Ok(()) => {
                self.seen = None;
                true
            }
            Err(Unwritten::Moved(found)) => {
                review_run::forget(self.plan);
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

    /// Asks the ledger for one more block.
    fn may_block(&mut self, by: &str, fault: &str, mark: &str) -> Result<(), Bound> {
        let ledger = self.ledger.as_mut();
        ledger.map_or(Ok(()), |ledger| ledger.block(by, Some(fault), mark))
    }

    /// Lets a stop go that would be blocked, and says why.
    fn release(&mut self, what: &str, bound: &Bound) {
        if let Bound::Unwritten(_) = bound {
            self.fault(UNWRITTEN, bound.to_string());
        }
        let text = format!("{what}. {bound}: released, NOT verified.");
        self.tell("PLAN-RELEASED", text);
    }

    /// The plan's directory as the agent reads it.
    fn seen_dir(&self) -> String {
        let cwd = self.event.cwd.as_deref().map(Path::new);
        self.plan.seen_from(cwd)
    }

    fn block(&mut self, code: &'static str, text: String, reason: String) {
        let next = Next::retry([
            next::Step::Run("tollgate plan next".to_owned()),
            next::Step::Work("do what it says".to_owned()),
        ]);
        let finding = Finding::new(code, text, reason).next(next);
        self.decision.block = Some(finding.by(PLAN));
    }

    /// Something that the person should see.
    fn tell(&mut self, code: &'static str, text: String) {
        let finding = Finding::new(code, text.clone(), text).by(PLAN);
        self.decision.warnings.push(finding);
    }

    /// What is wrong with the plan's files, where that does not block.
    fn tell_rules(&mut self, view: &View) {
        if let Some(errors) = errors(self.plan, view) {
            self.tell("PLAN-RULES", errors);
        }
    }

    /// A step of the plan, for the journal.
    fn note(&mut self, text: &str) {
        self.decision
            .changes
            .push(Finding::new("PLAN-STEP", text, text));
    }

    fn fault(&mut self, kind: &'static str, text: String) {
        let fault = Fault::new(kind, text);
        if !self.decision.faults.contains(&fault) {
            self.decision.faults.push(fault);
        }
    }
}

/// The findings about a plan's files in one line.
fn errors(plan: &Plan, view: &View) -> Option<String> {
    let errors = &view.report.errors;
    (!errors.is_empty()).then(|| format!("Plan '{}': {}", plan.id(), errors.join("; ")))
}

/// The review that waits for its answer.
fn unanswered(view: &View) -> Option<String> {
    let state = view.state()?;
    let review = state.phase.and_then(Phase::review)?;
    let waits = state.next() == Some(Phase::PostReview(review));
    waits.then(|| format!("{review} was not answered"))
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
        step: digest(("step", plan.id(), step, answered)),
        rules: digest(("rules", plan.id(), &view.report.errors)),
    }
}

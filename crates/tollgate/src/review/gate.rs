//! One review gate: who reviews, what each says, what becomes of the findings.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::answer::{self, Assessment, SCHEMA};
use super::cli::{self, Health, Kind, NoAnswer, Question, Reply, Reviewer, Usage};
use super::finding::{self, Finding, Priority, Round, Settled, Weight};
use super::kept::{KeptReview, Seen};
use super::outcome::{Findings, Outcome, Slot};
use super::prompt::{self, Diff};
use super::record::{self, Earlier, Name, ReviewRecord};
use super::scope::Scope;
use crate::process::{Children, secrets};

/// A review to be made.
#[derive(Clone)]
pub(crate) struct Request<'r> {
    /// The project's root.
    pub(crate) root: &'r Path,
    /// Where logs go.
    pub(crate) logs: &'r Path,
    /// The job's part of their names.
    pub(crate) stem: &'r str,
    pub(crate) run: u64,
    /// In the order of preference.
    pub(crate) reviewers: &'r [Reviewer],
    /// How many independent reviews; at least one is made.
    pub(crate) reviews: u64,
    /// Whether several reviews are made at once.
    pub(crate) at_once: bool,
    /// What to look for.
    pub(crate) prompt: &'r str,
    pub(crate) diff: &'r str,
    pub(crate) model: Option<&'r str>,
    /// From this priority on, a new finding of a later review has to be answered.
    pub(crate) threshold: Priority,
    /// Of each reviewer.
    pub(crate) timeout: Option<Duration>,
    /// `PATH`.
    pub(crate) search: &'r OsStr,
    /// What is kept of earlier reviews, by slot.
    pub(crate) kept: &'r BTreeMap<u64, KeptReview>,
    /// What this review sees.
    pub(crate) seen: Option<Seen>,
    /// What changed since another one, if that can be known.
    pub(crate) since: &'r Since<'r>,
}

/// The diff since a review.
pub(crate) type Since<'s> = dyn Fn(&Seen) -> Option<String> + Sync + 's;

/// What a review gate came to.
#[derive(Clone, Debug)]
pub(crate) struct Reviewed {
    pub(crate) outcome: Outcome,
    /// Empty for a plain pass.
    pub(crate) message: String,
    pub(crate) slots: Vec<Slot>,
    pub(crate) findings: Findings,
}

/// Runs a review gate to its end.
pub(crate) fn run(request: &Request<'_>, children: &Children) -> Reviewed {
    let gate = Gate {
        request,
        children,
        scope: Scope::of(request.diff, request.root),
        exhausted: Mutex::default(),
    };
    let earlier = gather(
        record::latest(request.logs, request.stem, request.kept),
        request.reviews.max(1),
    );
    let is_answered = earlier.values().all(|slot| slot.findings.is_empty());
    if gate.scope.is_empty() && request.diff.trim().is_empty() && is_answered {
        return Reviewed {
            outcome: Outcome::Pass,
            message: "No changes to review".to_owned(),
            slots: Vec::new(),
            findings: Findings::default(),
        };
    }
    let (healthy, missing) = gate.healthy();
    if healthy.is_empty() {
        let message = format!("no reviewer can be asked: {}", missing.join("; "));
        return reviewed(gate.without_reviewer(earlier, &message), message);
    }
    let plan = plan(&earlier, request.reviews.max(1));
    let work = |(slot, task): (u64, Task)| match task {
        Task::Review => gate.review(slot, &healthy, earlier.get(&slot)),
        Task::Skip(run) => gate.skip(slot, run, earlier.get(&slot)),
    };
    let done: Vec<Done> = if request.at_once {
        std::thread::scope(|scope| {
            let work = &work;
            let threads: Vec<_> = plan
                .into_iter()
                .map(|(slot, task)| (slot, scope.spawn(move || work((slot, task)))))
                .collect();
            let joined = threads
                .into_iter()
                .map(|(slot, thread)| thread.join().unwrap_or_else(|_| Done::panicked(slot)));
            joined.collect()
        })
    } else {
        plan.into_iter().map(work).collect()
    };
    reviewed(done, String::new())
}

/// What is to be done for a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    Review,
    /// It passed in this run.
    Skip(u64),
}

/// Which slots are reviewed. One that passed need not be again while another one runs; if all
/// passed, the first looks at what changed since.
fn plan(earlier: &BTreeMap<u64, Earlier>, reviews: u64) -> Vec<(u64, Task)> {
    let mut plan: Vec<(u64, Task)> = (1..=reviews)
        .map(|slot| {
            let passed = earlier.get(&slot).and_then(|slot| slot.passed_in);
            (slot, passed.map_or(Task::Review, Task::Skip))
        })
        .collect();
    if plan.iter().all(|(_, task)| *task != Task::Review)
        && let Some((_, first)) = plan.first_mut()
    {
        *first = Task::Review;
    }
    plan
}

/// Findings of slots that are no more go to the first: fewer reviews must not lose any.
fn gather(mut earlier: BTreeMap<u64, Earlier>, reviews: u64) -> BTreeMap<u64, Earlier> {
    let beyond = earlier.split_off(&(reviews + 1));
    for (_, lost) in beyond {
        match earlier.get_mut(&1) {
            None => {
                earlier.insert(
                    1,
                    Earlier {
                        passed_in: None,
                        ..lost
                    },
                );
            }
            Some(first) => {
                let known: BTreeSet<String> = first
                    .findings
                    .iter()
                    .map(|finding| finding.id.clone())
                    .collect();
                let new = lost
                    .findings
                    .into_iter()
                    .filter(|one| !known.contains(&one.id));
                first.findings.extend(new);
                first.passed_in = None;
            }
        }
    }
    earlier
}

/// A gate at work.
struct Gate<'g> {
    request: &'g Request<'g>,
    children: &'g Children,
    scope: Scope,
    /// Reviewers that have no quota left, by name.
    exhausted: Mutex<BTreeSet<&'static str>>,
}

/// A slot that is done with.
struct Done {
    slot: Slot,
    settled: Settled,
}

impl Done {
    fn panicked(slot: u64) -> Self {
        Self {
            slot: Slot::new(
                format!("@{slot}"),
                Outcome::Inconclusive,
                "Tollgate itself failed in this review",
            ),
            settled: Settled::default(),
        }
    }
}

impl Gate<'_> {
    /// The reviewers that can be asked, and what is wrong with the others.
    fn healthy(&self) -> (Vec<&Reviewer>, Vec<String>) {
        let mut missing = Vec::new();
        let mut healthy = Vec::new();
        for reviewer in self.request.reviewers {
            match reviewer.health(self.request.search) {
                Health::Ready(_) => healthy.push(reviewer),
                Health::Missing(programs) => {
                    let programs = programs.join(" or ");
                    missing.push(format!("{} ({programs} is not in PATH)", reviewer.name()));
                }
            }
        }
        if self.request.reviewers.is_empty() {
            missing.push("none is named".to_owned());
        }
        (healthy, missing)
    }

    fn name<'n>(&'n self, reviewer: &'n str, slot: u64) -> Name<'n> {
        Name {
            directory: self.request.logs,
            stem: self.request.stem,
            reviewer,
            slot,
            run: self.request.run,
        }
    }

    /// Asks one reviewer after another until one is not out of order.
    fn review(&self, slot: u64, healthy: &[&Reviewer], earlier: Option<&Earlier>) -> Done {
        let findings = earlier
            .map(|earlier| earlier.findings.clone())
            .unwrap_or_default();
        let turn = usize::try_from(slot - 1).unwrap_or_default() % healthy.len().max(1);
        let mut turns: Vec<&&Reviewer> = healthy
            .iter()
            .cycle()
            .skip(turn)
            .take(healthy.len())
            .collect();
        let exhausted = self.lock_exhausted().clone();
        turns.sort_by_key(|reviewer| exhausted.contains(reviewer.name()));
        let round = self.round(earlier);
        let since = self.changed_since(slot, round);
        let diff = since
            .as_deref()
            .map_or(Diff::Whole(self.request.diff), Diff::Since);
        let text = prompt::compose(
            self.request.prompt,
            &findings,
            self.request.threshold.as_str(),
            diff,
        );
        let mut last = None;
        for reviewer in turns {
            let (reply, log) = self.ask(reviewer, slot, &text);
            let is_over = match &reply.answer {
                Err(why) if why.kind.is_about_the_reviewer() => {
                    self.lock_exhausted().insert(reviewer.name());
                    false
                }
                Ok(_) | Err(_) => true,
            };
            last = Some((*reviewer, reply, log));
            if is_over {
                break;
            }
        }
        match last {
            Some((reviewer, reply, log)) => {
                let trouble = earlier.and_then(|earlier| earlier.trouble.as_deref());
                self.judge((reviewer, slot), reply, (findings, round, trouble), log)
            }
            None => Done::panicked(slot),
        }
    }

    /// A slot whose last review left something to answer has a later one.
    fn round(&self, earlier: Option<&Earlier>) -> Round {
        let is_open = |earlier: &&Earlier| {
            let has_blocking = |finding: &Finding| finding.weight == Weight::Blocking;
            earlier.passed_in.is_none() && earlier.findings.iter().any(has_blocking)
        };
        match earlier.filter(is_open) {
            Some(_) => Round::Later(self.request.threshold),
            None => Round::First,
        }
    }

    /// The diff since the last review of a slot, where a later one follows and it is known.
    fn changed_since(&self, slot: u64, round: Round) -> Option<String> {
        let seen = self.request.kept.get(&slot)?.seen.as_ref()?;
        let is_later = round != Round::First;
        is_later.then(|| (self.request.since)(seen)).flatten()
    }

    fn lock_exhausted(&self) -> std::sync::MutexGuard<'_, BTreeSet<&'static str>> {
        self.exhausted
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, reviewer: &Reviewer, slot: u64, text: &str) -> (Reply, Option<PathBuf>) {
        let path = self.name(reviewer.name(), slot).log();
        let opened = File::options()
            .read(true)
            .append(true)
            .create(true)
            .open(&path);
        let log = match opened {
            Ok(log) => log,
            Err(error) => {
                let why = format!("its log cannot be written: {error}");
                let reply = Reply {
                    answer: Err(Kind::NotStarted.because(why)),
                    usage: Usage::default(),
                    took: Duration::ZERO,
                    raw: String::new(),
                };
                return (reply, None);
            }
        };
        let now = tollgate_store::timestamp::iso(jiff::Timestamp::now());
        let model = self.request.model.unwrap_or("its own choice");
        let head = format!(
            "[{now}] Starting review: {} ({}@{slot})\n[{now}] Model: {model}\n[{now}] Question: {} bytes\n\n",
            self.request.stem,
            reviewer.name(),
            text.len(),
        );
        let mut writing = &log;
        let _best_effort = writing.write_all(head.as_bytes());
        let question = Question {
            prompt: text,
            schema: SCHEMA,
            model: self.request.model,
            root: self.request.root,
            search: self.request.search,
            timeout: self.request.timeout,
        };
        let reply = cli::ask(reviewer, &question, self.children, &log);
        let _as_it_is = secrets::take_out(&log, 0);
        (reply, Some(path))
    }

    fn judge(
        &self,
        (reviewer, slot): (&Reviewer, u64),
        reply: Reply,
        (earlier, round, trouble): (Vec<Finding>, Round, Option<&str>),
        log: Option<PathBuf>,
    ) -> Done {
        let answer = reply.answer.and_then(|spoken| answer::read(&spoken));
        let print = |file: &str| finding::print_below(self.request.root, file);
        let settled = finding::settle(earlier, answer.as_ref().ok(), &self.scope, round, &print);
        let is_made = answer.is_ok();
        let (outcome, mut message) = verdict(&answer, &settled);
        if let Some(trouble) = trouble {
            message = format!("{message} ({trouble})");
        }
        let name = self.name(reviewer.name(), slot);
        let record = ReviewRecord {
            outcome,
            message: &message,
            model: self.request.model,
            raw: &reply.raw,
            seconds: reply.took.as_secs_f64(),
            usage: reply.usage,
            pass_iteration: None,
            findings: settled.carried().collect(),
        };
        let written = name.write(&record);
        if let Some(log) = &log {
            let now = tollgate_store::timestamp::iso(jiff::Timestamp::now());
            let line = format!("\n[{now}] Result: {} - {message}", outcome.as_str());
            let _best_effort = tollgate_store::fs::append_line(log, &line);
        }
        let number = slot;
        let mut slot = Slot {
            took: reply.took,
            log,
            file: Some(name.json()),
            usage: reply.usage,
            ..Slot::new(format!("{}@{slot}", reviewer.name()), outcome, message)
        };
        match written {
            Ok(mut kept) => {
                let before = self.request.kept.get(&number);
                kept.seen = if is_made {
                    self.request.seen.clone()
                } else {
                    before.and_then(|before| before.seen.clone())
                };
                slot.kept = Some((number, kept));
            }
            Err(error) => {
                // Findings that cannot be read or answered: the gate may not say pass on them.
                slot.message = format!("{}; its file cannot be written: {error}", slot.message);
                slot.file = None;
                if slot.outcome == Outcome::Pass {
                    slot.outcome = Outcome::Inconclusive;
                }
            }
        }
        Done { slot, settled }
    }

    /// A slot that passed before is passed on, with what was skipped in it.
    fn skip(&self, slot: u64, run: u64, earlier: Option<&Earlier>) -> Done {
        let reviewer = earlier.map_or("command", |earlier| earlier.reviewer.as_str());
        let message = format!("Skipped: passed in iteration {run}");
        let findings = earlier
            .map(|earlier| earlier.findings.clone())
            .unwrap_or_default();
        let print = |file: &str| finding::print_below(self.request.root, file);
        let settled = finding::settle(findings, None, &self.scope, Round::First, &print);
        let name = self.name(reviewer, slot);
        let record = ReviewRecord {
            outcome: Outcome::Pass,
            message: &message,
            model: None,
            raw: "",
            seconds: 0.0,
            usage: Usage::default(),
            pass_iteration: Some(run),
            findings: settled.carried().collect(),
        };
        let written = name.write(&record);
        Done {
            slot: Slot {
                file: written.is_ok().then(|| name.json()),
                kept: written.ok().map(|kept| (slot, kept)),
                ..Slot::new(format!("{reviewer}@{slot}"), Outcome::Pass, message)
            },
            settled,
        }
    }

    /// No reviewer can be asked. What is open stays open all the same.
    fn without_reviewer(&self, earlier: BTreeMap<u64, Earlier>, message: &str) -> Vec<Done> {
        let print = |file: &str| finding::print_below(self.request.root, file);
        let slots = earlier.into_values().map(|earlier| {
            let settled =
                finding::settle(earlier.findings, None, &self.scope, Round::First, &print);
            let none = Err(Kind::Missing.because(message));
            let (outcome, message) = verdict(&none, &settled);
            // Its file of the last run still says all that there is to say.
            Done {
                slot: Slot::new(earlier.reviewer, outcome, message),
                settled,
            }
        });
        slots.collect()
    }
}

/// A fail of one is a fail of all; without one, who could not tell decides. Without a `message`, the
/// review that decides says it.
fn reviewed(done: Vec<Done>, message: String) -> Reviewed {
    let has = |outcome| done.iter().any(|done| done.slot.outcome == outcome);
    let outcome = if has(Outcome::Fail) {
        Outcome::Fail
    } else if has(Outcome::Inconclusive) || done.is_empty() {
        Outcome::Inconclusive
    } else {
        Outcome::Pass
    };
    let mut reviewed = Reviewed {
        outcome,
        message,
        slots: Vec::new(),
        findings: Findings::default(),
    };
    for Done { slot, settled } in done {
        let lines = |findings: &[Finding]| -> Vec<String> {
            findings.iter().map(Finding::line_for_people).collect()
        };
        let findings = &mut reviewed.findings;
        findings.fixed.extend(lines(&settled.fixed));
        findings.open.extend(lines(&settled.open));
        findings.advisory.extend(lines(&settled.advisory));
        let skipped = settled.skipped.iter().map(|finding| {
            let reason = finding.result.clone().unwrap_or_default();
            (finding.line_for_people(), reason)
        });
        findings.skipped.extend(skipped);
        if reviewed.message.is_empty() && slot.outcome == outcome {
            reviewed.message.clone_from(&slot.message);
        }
        reviewed.slots.push(slot);
    }
    reviewed
}

/// The verdict of one review, and why.
fn verdict(answer: &Result<Assessment, NoAnswer>, settled: &Settled) -> (Outcome, String) {
    let open = settled.open.len();
    match answer {
        Ok(answer) if open > 0 => {
            let more = match answer.unreadable {
                0 => String::new(),
                count => format!(" and {count} that cannot be read"),
            };
            let skipped = match settled.unreasoned {
                0 => String::new(),
                count => format!("; {count} skipped without a reason in \"result\""),
            };
            (
                Outcome::Fail,
                format!("Found {open} violation(s){more}{skipped}"),
            )
        }
        Ok(answer) if settled.is_refused => {
            let said = match answer.message.as_str() {
                "" => "it does not say what is wrong; see its log",
                said => said,
            };
            (Outcome::Fail, format!("Failed: {said}"))
        }
        Ok(_) => {
            let notes = [
                (settled.fixed.len(), "verified as fixed"),
                (settled.skipped.len(), "skipped"),
                (settled.advisory.len(), "advisory"),
            ];
            let notes: Vec<String> = notes
                .into_iter()
                .filter(|(count, _)| *count > 0)
                .map(|(count, what)| format!("{count} {what}"))
                .collect();
            (Outcome::Pass, notes.join(", "))
        }
        Err(why) if open > 0 => (
            Outcome::Fail,
            format!("{open} violation(s) still open ({why})"),
        ),
        Err(why) => (Outcome::Inconclusive, why.to_string()),
    }
}

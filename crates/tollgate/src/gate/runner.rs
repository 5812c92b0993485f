//! Runs jobs: those that may, side by side up to a limit; the others one after another beside
//! them.

use std::collections::VecDeque;
use std::io::PipeReader;
use std::os::fd::AsFd as _;
use std::thread::{Scope, ScopedJoinHandle};

use super::config::Config;
use super::jobs::{Gate, Job};
use super::logs::Logs;
use super::result::GateResult;
use super::{Event, check, reviewing};
use crate::process::{Children, Ongoing, pause};
use crate::review::outcome::Outcome;

/// All that running a gate needs.
pub(crate) struct Crew<'a> {
    pub(crate) children: &'a Children,
    /// How many gates may run at once.
    pub(crate) at_once: usize,
    pub(crate) config: &'a Config,
    pub(crate) logs: &'a Logs<'a>,
    /// The number of the run, which is part of every log's name.
    pub(crate) run: u64,
    /// The base's name.
    pub(crate) base: &'a str,
    /// Whether less than the whole of the work is looked at: `-c`, `-u`.
    pub(crate) is_narrowed: bool,
    /// The trees that the run is about, where somebody asks.
    pub(crate) pair: Option<&'a super::changes::Pair<'a>>,
    pub(crate) git: &'a crate::git::Git,
    /// What reviewers found before.
    pub(crate) record: &'a super::record::GateRecord,
    /// `PATH`, where reviewers are looked for.
    pub(crate) search: &'a std::ffi::OsStr,
}

/// Jobs that wait.
struct Queues<'j, 'c> {
    /// One after another.
    serial: VecDeque<(usize, &'j Job<'c>)>,
    /// Side by side.
    parallel: VecDeque<(usize, &'j Job<'c>)>,
    /// The one of the serial ones that runs.
    at_serial: Option<usize>,
}

/// A check that runs, by its place among the jobs.
type Running<'j, 'c> = (Ongoing, (usize, &'j Job<'c>, check::Open<'j>));

/// A review, which has its own thread.
struct Reviewing<'s, 'j, 'c> {
    place: (usize, &'j Job<'c>),
    thread: ScopedJoinHandle<'s, GateResult>,
    /// Closed at the other end when the thread is done, however it ends.
    done: PipeReader,
}

/// What one thread keeps in view: it starts the gates, waits for all of them and notes their
/// ends. Checks are processes already, and need no threads besides.
struct Runner<'s, 'e, 'j, 'c> {
    scope: &'s Scope<'s, 'e>,
    crew: &'e Crew<'e>,
    watch: &'e dyn Fn(&Event<'_>),
    queues: Queues<'j, 'c>,
    checks: Vec<Running<'j, 'c>>,
    reviews: Vec<Reviewing<'s, 'j, 'c>>,
    /// A gate failed fast.
    stopped: bool,
    results: Vec<Option<GateResult>>,
}

/// Runs all jobs, and tells what happens when it happens. The results are in the order of the jobs.
pub(crate) fn run_all(
    crew: &Crew<'_>,
    jobs: &[Job<'_>],
    watch: &dyn Fn(&Event<'_>),
) -> Vec<GateResult> {
    let (parallel, serial) = jobs
        .iter()
        .enumerate()
        .partition(|(_, job)| crew.config.allow_parallel && job.is_parallel());
    std::thread::scope(|scope| {
        let mut runner = Runner {
            scope,
            crew,
            watch,
            queues: Queues {
                serial,
                parallel,
                at_serial: None,
            },
            checks: Vec::new(),
            reviews: Vec::new(),
            stopped: false,
            results: jobs.iter().map(|_| None).collect(),
        };
        runner.fill();
        while runner.running() > 0 {
            runner.wait();
            runner.fill();
        }
        runner.results.into_iter().flatten().collect()
    })
}

/// How many gates may run at once.
pub(super) fn at_once(config: &Config) -> usize {
    let cores = || std::thread::available_parallelism().map_or(2, usize::from);
    if config.allow_parallel {
        config.max_parallel.unwrap_or_else(cores).max(1)
    } else {
        1
    }
}

impl<'j, 'c> Queues<'j, 'c> {
    fn next(&mut self) -> Option<(usize, &'j Job<'c>)> {
        if self.at_serial.is_none()
            && let Some((index, job)) = self.serial.pop_front()
        {
            self.at_serial = Some(index);
            return Some((index, job));
        }
        self.parallel.pop_front()
    }

    /// A job has ended.
    fn leave(&mut self, index: usize) {
        if self.at_serial == Some(index) {
            self.at_serial = None;
        }
    }
}

impl<'s, 'e, 'j: 's, 'c: 's> Runner<'s, 'e, 'j, 'c>
where
    'e: 's,
{
    fn running(&self) -> usize {
        self.checks.len() + self.reviews.len()
    }

    /// Starts as many as may run.
    fn fill(&mut self) {
        while self.running() < self.crew.at_once
            && let Some((index, job)) = self.queues.next()
        {
            self.start(index, job);
        }
    }

    fn start(&mut self, index: usize, job: &'j Job<'c>) {
        let not_run = |why: &str| GateResult::new(job, Outcome::NotRun, why);
        if self.stopped {
            let why = "not started: another gate failed fast";
            return self.ended(index, job, not_run(why));
        }
        if self.crew.children.is_cancelled() {
            return self.ended(index, job, not_run("not started: the run ended before"));
        }
        match &job.gate {
            Gate::Check { check, directory } => {
                let begun = check::begin(self.crew, job, check, directory);
                // It runs while that is written.
                (self.watch)(&Event::Started(job));
                match begun {
                    Ok((ongoing, open)) => self.checks.push((ongoing, (index, job, open))),
                    Err(result) => self.ended(index, job, *result),
                }
            }
            Gate::Review(review) => {
                (self.watch)(&Event::Started(job));
                let crew = self.crew;
                let Ok((done, end)) = std::io::pipe() else {
                    // Without one the review is made here, and the others wait.
                    return self.ended(index, job, reviewing::run(crew, job, review));
                };
                let thread = self.scope.spawn(move || {
                    let _closed_at_the_end = end;
                    reviewing::run(crew, job, review)
                });
                self.reviews.push(Reviewing {
                    place: (index, job),
                    thread,
                    done,
                });
            }
        }
    }

    /// Waits until something has happened.
    fn wait(&mut self) {
        let done: Vec<_> = self.reviews.iter().map(|one| one.done.as_fd()).collect();
        let done = pause(&mut self.checks, &done);
        let mut done = done.into_iter();
        let ready = |_: &mut Reviewing<'_, '_, '_>| done.next() == Some(true);
        for one in self.reviews.extract_if(.., ready).collect::<Vec<_>>() {
            let (index, job) = one.place;
            let result = one.thread.join();
            let result = result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            self.ended(index, job, result);
        }
        let mut over = Vec::new();
        let mut at = 0;
        while let Some((ongoing, _)) = self.checks.get_mut(at) {
            let Some(ended) = self.crew.children.look(ongoing) else {
                at += 1;
                continue;
            };
            let (_, (index, job, open)) = self.checks.swap_remove(at);
            self.queues.leave(index);
            over.push((index, job, open, ended));
        }
        if over.is_empty() {
            (self.watch)(&Event::Quiet);
        }
        // The next ones run while these are written down, unless one of these may forbid it.
        if !over.iter().any(|(_, job, ..)| job.is_fail_fast()) {
            self.fill();
        }
        for (index, job, open, ended) in over {
            self.ended(index, job, open.finish(job, Ok(ended)));
        }
    }

    fn ended(&mut self, index: usize, job: &Job<'_>, result: GateResult) {
        self.queues.leave(index);
        if job.is_fail_fast() && result.outcome != Outcome::Pass {
            self.stopped = true;
        }
        (self.watch)(&Event::Ended(job, &result));
        if let Some(place) = self.results.get_mut(index) {
            *place = Some(result);
        }
    }
}

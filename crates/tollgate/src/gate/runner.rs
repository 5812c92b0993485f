//! Runs jobs: those that may, side by side up to a limit; the others one after another beside
//! them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::config::Config;
use super::jobs::{Gate, Job};
use super::logs::Logs;
use super::result::{GateResult, Outcome};
use super::{Event, Observer, check, reviewing};
use crate::process::Children;

/// All that running a gate needs.
pub(crate) struct Crew<'a> {
    pub(crate) children: &'a Children,
    pub(crate) config: &'a Config,
    pub(crate) logs: &'a Logs<'a>,
    /// The number of the run, which is part of every log's name.
    pub(crate) run: u64,
    /// The base's name.
    pub(crate) base: &'a str,
    /// Whether less than the whole of the work is looked at: `-c`, `-u`.
    pub(crate) is_narrowed: bool,
    /// The trees that the run is about.
    pub(crate) pair: &'a super::changes::Pair,
    pub(crate) git: &'a super::git::Git,
    /// `PATH`, where reviewers are looked for.
    pub(crate) search: &'a std::ffi::OsStr,
}

/// Jobs that wait.
struct Queues<'j, 'c> {
    /// One after another.
    serial: VecDeque<(usize, &'j Job<'c>)>,
    /// Side by side.
    parallel: VecDeque<(usize, &'j Job<'c>)>,
    /// Somebody works on the serial ones.
    serial_taken: bool,
}

/// Runs all jobs. The results are in the order of the jobs.
pub(crate) fn run_all(
    crew: &Crew<'_>,
    jobs: &[Job<'_>],
    observer: &Observer<'_>,
) -> Vec<GateResult> {
    let (parallel, serial) = jobs
        .iter()
        .enumerate()
        .partition(|(_, job)| crew.config.allow_parallel && job.is_parallel());
    let queues = Mutex::new(Queues {
        serial,
        parallel,
        serial_taken: false,
    });
    let stopped = AtomicBool::new(false);
    let results: Mutex<Vec<Option<GateResult>>> = Mutex::new(jobs.iter().map(|_| None).collect());
    let work = || {
        let mut on_serial = false;
        while let Some((index, job)) = next(&queues, &mut on_serial) {
            let result = if stopped.load(Ordering::Relaxed) {
                GateResult::new(
                    job,
                    Outcome::NotRun,
                    "not started: another gate failed fast",
                )
            } else if crew.children.is_cancelled() {
                GateResult::new(job, Outcome::NotRun, "not started: the run ended before")
            } else {
                observer(&Event::Started(job));
                run_one(crew, job)
            };
            if job.is_fail_fast() && result.outcome != Outcome::Pass {
                stopped.store(true, Ordering::Relaxed);
            }
            observer(&Event::Ended(job, &result));
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(place) = results.get_mut(index) {
                *place = Some(result);
            }
        }
    };
    let lanes = {
        let queues = queues.lock().unwrap_or_else(PoisonError::into_inner);
        let serial = usize::from(!queues.serial.is_empty());
        let limit = if crew.config.allow_parallel {
            let cores = || std::thread::available_parallelism().map_or(2, usize::from);
            crew.config.max_parallel.unwrap_or_else(cores)
        } else {
            1
        };
        (queues.parallel.len() + serial).min(limit)
    };
    std::thread::scope(|scope| {
        for _ in 1..lanes {
            scope.spawn(work);
        }
        // This thread works too: for one gate no other is needed.
        work();
    });
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_iter().flatten().collect()
}

fn next<'j, 'c>(
    queues: &Mutex<Queues<'j, 'c>>,
    on_serial: &mut bool,
) -> Option<(usize, &'j Job<'c>)> {
    let mut queues = queues.lock().unwrap_or_else(PoisonError::into_inner);
    if !queues.serial_taken && !queues.serial.is_empty() {
        queues.serial_taken = true;
        *on_serial = true;
    }
    if *on_serial {
        if let Some(job) = queues.serial.pop_front() {
            return Some(job);
        }
        *on_serial = false;
    }
    queues.parallel.pop_front()
}

fn run_one(crew: &Crew<'_>, job: &Job<'_>) -> GateResult {
    match &job.gate {
        Gate::Check { check, directory } => check::run(crew, job, check, directory),
        Gate::Review(review) => reviewing::run(crew, job, review),
    }
}

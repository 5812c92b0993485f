//! Runs jobs: those that may, side by side up to a limit; the others one after another beside
//! them.

use std::collections::VecDeque;
use std::io::PipeReader;
use std::os::fd::AsFd as _;
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

use super::config::Config;
use super::jobs::{Gate, Job};
use super::logs::Logs;
use super::result::{GateResult, Outcome};
use super::{Event, check, reviewing};
use crate::process::{Children, Ended, Ongoing, pause};

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

/// Who is told what happens.
type Watch<'w> = dyn Fn(&Event<'_>) + Sync + 'w;

/// Jobs that wait.
struct Queues<'j, 'c> {
    /// One after another.
    serial: VecDeque<(usize, &'j Job<'c>)>,
    /// Side by side.
    parallel: VecDeque<(usize, &'j Job<'c>)>,
    /// The one of the serial ones that runs.
    at_serial: Option<usize>,
}

/// So many checks that ended are written down at once. More would save little.
const AT_ONCE: usize = 16;

/// Unless nothing else happened for this long, which nobody sees.
const QUIET: Duration = Duration::from_millis(1);

/// A check that runs, by its place among the jobs.
type Running<'j, 'c> = (Ongoing, (usize, &'j Job<'c>, check::Open<'j>));

/// What nobody was told yet.
enum News<'j> {
    Started,
    /// A check ended, and what it came to is not looked at yet.
    Ended(check::Open<'j>, Ended),
    /// It came to this.
    Judged(GateResult),
}

/// Something that has a thread of its own: a review, or a look through much output.
struct Beside<'s, 'j, 'c> {
    place: (usize, &'j Job<'c>),
    thread: ScopedJoinHandle<'s, GateResult>,
    /// Closed at the other end when the thread is done, however it ends.
    done: PipeReader,
}

/// What one thread keeps in view: it starts the gates, waits for all of them and notes their
/// ends. Checks are processes already, and need no threads besides.
struct Floor<'s, 'e, 'j, 'c> {
    scope: &'s Scope<'s, 'e>,
    crew: &'e Crew<'e>,
    watch: &'e Watch<'e>,
    /// How many gates may run at once.
    limit: usize,
    queues: Queues<'j, 'c>,
    checks: Vec<Running<'j, 'c>>,
    beside: Vec<Beside<'s, 'j, 'c>>,
    /// What happened since somebody was told, in its order.
    untold: Vec<(usize, &'j Job<'c>, News<'j>)>,
    /// A gate failed fast.
    stopped: bool,
    results: Vec<Option<GateResult>>,
}

/// Runs all jobs. The results are in the order of the jobs. What is to be done `meanwhile` is done
/// once as many run as may, and `at_last` is called when none waits any more and there is time.
pub(crate) fn run_all(
    crew: &Crew<'_>,
    jobs: &[Job<'_>],
    watch: &Watch<'_>,
    meanwhile: &[&dyn Fn()],
    at_last: impl FnOnce(),
) -> Vec<GateResult> {
    let (parallel, serial) = jobs
        .iter()
        .enumerate()
        .partition(|(_, job)| crew.config.allow_parallel && job.is_parallel());
    // To find out how many cores there are takes twenty system calls.
    let limit = if crew.config.allow_parallel && jobs.len() > 1 {
        let cores = || std::thread::available_parallelism().map_or(2, usize::from);
        crew.config.max_parallel.unwrap_or_else(cores)
    } else {
        1
    };
    std::thread::scope(|scope| {
        let mut floor = Floor {
            scope,
            crew,
            watch,
            limit,
            queues: Queues {
                serial,
                parallel,
                at_serial: None,
            },
            checks: Vec::new(),
            beside: Vec::new(),
            untold: Vec::new(),
            stopped: false,
            results: jobs.iter().map(|_| None).collect(),
        };
        floor.fill();
        floor.tell();
        for errand in meanwhile {
            // Not all at once: no gate should wait for its turn that long.
            if !floor.queues.are_empty() {
                floor.wait();
            }
            errand();
        }
        let fit_at_once = jobs.len() <= limit;
        while floor.is_busy() && !(floor.queues.are_empty() && (fit_at_once || floor.is_spare())) {
            floor.wait();
        }
        at_last();
        while floor.is_busy() {
            floor.wait();
        }
        floor.results.into_iter().flatten().collect()
    })
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

    fn are_empty(&self) -> bool {
        self.serial.is_empty() && self.parallel.is_empty()
    }

    /// A job has ended.
    fn leave(&mut self, index: usize) {
        if self.at_serial == Some(index) {
            self.at_serial = None;
        }
    }
}

impl<'s, 'e, 'j: 's, 'c: 's> Floor<'s, 'e, 'j, 'c>
where
    'e: 's,
{
    /// Whether fewer run than may: nothing that is done now makes a gate wait.
    fn is_spare(&self) -> bool {
        self.checks.len() + self.beside.len() < self.limit
    }

    /// Starts as many as may run.
    fn fill(&mut self) {
        while self.is_spare()
            && let Some((index, job)) = self.queues.next()
        {
            self.start(index, job);
        }
    }

    /// Whether there is anything to wait for, or to tell.
    fn is_busy(&self) -> bool {
        !(self.checks.is_empty() && self.beside.is_empty() && self.untold.is_empty())
    }

    /// Notes that something happened.
    fn note(&mut self, index: usize, job: &'j Job<'c>, news: News<'j>) {
        let is_end = !matches!(news, News::Started);
        self.untold.push((index, job, news));
        if is_end {
            self.queues.leave(index);
            if job.is_fail_fast() {
                // Whether any other may start depends on it.
                self.tell();
            }
        }
    }

    /// Tells what happened.
    fn tell(&mut self) {
        for (index, job, news) in std::mem::take(&mut self.untold) {
            match news {
                News::Started => (self.watch)(&Event::Started(job)),
                News::Ended(open, ended) if check::is_long(&ended) && !job.is_fail_fast() => {
                    self.aside(index, job, || open.finish(job, Ok(ended)));
                }
                News::Ended(open, ended) => self.ended(index, job, open.finish(job, Ok(ended))),
                News::Judged(result) => self.ended(index, job, result),
            }
        }
        (self.watch)(&Event::Rest);
    }

    fn ended(&mut self, index: usize, job: &Job<'_>, result: GateResult) {
        if job.is_fail_fast() && result.outcome != Outcome::Pass {
            self.stopped = true;
        }
        (self.watch)(&Event::Ended(job, &result));
        if let Some(place) = self.results.get_mut(index) {
            *place = Some(result);
        }
    }

    fn start(&mut self, index: usize, job: &'j Job<'c>) {
        let not_run = |why: &str| News::Judged(GateResult::new(job, Outcome::NotRun, why));
        if self.stopped {
            return self.note(index, job, not_run("not started: another gate failed fast"));
        }
        if self.crew.children.is_cancelled() {
            return self.note(index, job, not_run("not started: the run ended before"));
        }
        self.note(index, job, News::Started);
        match &job.gate {
            Gate::Check { check, directory } => {
                match check::begin(self.crew, job, check, directory) {
                    Ok((ongoing, open)) => self.checks.push((ongoing, (index, job, open))),
                    Err(result) => self.note(index, job, News::Judged(*result)),
                }
            }
            Gate::Review(review) => {
                let crew = self.crew;
                self.aside(index, job, || reviewing::run(crew, job, review));
            }
        }
    }

    /// Has something done by a thread of its own.
    fn aside(
        &mut self,
        index: usize,
        job: &'j Job<'c>,
        work: impl FnOnce() -> GateResult + Send + 's,
    ) {
        let Ok((done, end)) = std::io::pipe() else {
            // Without one it is done here, and the others wait.
            return self.note(index, job, News::Judged(work()));
        };
        let thread = self.scope.spawn(move || {
            let _closed_at_the_end = end;
            work()
        });
        self.beside.push(Beside {
            place: (index, job),
            thread,
            done,
        });
    }

    /// Waits until something has happened, and has the next ones start. What is written down about
    /// those that ended waits until there is enough of it, or time for it.
    fn wait(&mut self) {
        let patience = (!self.untold.is_empty()).then_some(QUIET);
        let done: Vec<_> = self.beside.iter().map(|one| one.done.as_fd()).collect();
        let children = self.crew.children;
        let (happened, done) = pause(&mut self.checks, &done, patience);
        let mut done = done.into_iter();
        let ready = |_: &mut Beside<'_, '_, '_>| done.next() == Some(true);
        for one in self.beside.extract_if(.., ready).collect::<Vec<_>>() {
            let (index, job) = one.place;
            let result = one.thread.join();
            let result = result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            self.note(index, job, News::Judged(result));
        }
        let mut at = 0;
        while let Some((ongoing, _)) = self.checks.get_mut(at) {
            let Some(ended) = children.look(ongoing) else {
                at += 1;
                continue;
            };
            let (_, (index, job, open)) = self.checks.swap_remove(at);
            self.note(index, job, News::Ended(open, ended));
        }
        self.fill();
        let is_time = !happened || self.is_spare();
        // A start and an end each.
        if is_time && !self.untold.is_empty() || self.untold.len() >= 2 * AT_ONCE {
            self.tell();
        }
    }
}

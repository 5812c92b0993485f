//! A whole run: lock, context, changes, jobs, gates, summary, record, archive.
//!
//! Used by `run`, `check` and `review` and by the agent's stop alike. It ends with a
//! [`RunResult`] whatever happens; nothing here ends the process or prints.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tollgate_core::env::Env;
use tollgate_core::project::Layout;
use tollgate_store::lock::Guard;
use tollgate_store::timestamp::iso;

use super::changes::{self, Before, Comparison, Differing, Newer, Pair};
use super::config::{Config, Words};
use super::console::{Console, plain};
use super::debug_lines;
use super::evidence::{Assessed, Assessment, Assessor, looks_at};
use super::jobs::{self, Gate, Job, Site, Which};
use super::journalled::Journalled;
use super::logs::{Locking, Logs};
use super::nested;
use super::record::{By, Evidence, GateRecord, Last, VerifiedTree};
pub(crate) use super::request::{Asker, Purpose, Request, RunResult};
use super::result::GateResult;
use super::runner::{self, Crew};
use super::snapshot::{Snapshot, Taken};
use super::status::Status;
use super::summary::{self, failing, fixed, judge, verdict};
use super::work::{self, Choice, Work};
use super::{Event, Observer};
use crate::git::{Asked, Git, GitError};
use crate::process::{Children, Watchdog};
use crate::review::outcome::Outcome;

/// A run that holds the lock, while git reads the work tree.
pub(crate) struct Begun<'r> {
    config: &'r Config,
    logs: Logs<'r>,
    lock: Guard,
    work_tree: Result<(Git, Snapshot), GitError>,
    /// When the run was asked for, if it then had to wait for another one.
    asked: Option<Timestamp>,
}

/// Begins a run, waiting for another one until `cut_off` at most. git works while its caller gets ready
/// for the rest.
pub(crate) fn begin(
    config: &Config,
    git: Result<Git, GitError>,
    cut_off: Option<Instant>,
) -> Result<Begun<'_>, Box<RunResult>> {
    let asked = Timestamp::now();
    let logs = Logs::of(config);
    let patience = cut_off.map_or(Duration::ZERO, |moment| {
        moment.saturating_duration_since(Instant::now())
    });
    let (lock, has_waited) = match logs.lock(patience) {
        Ok(Locking::Held { guard, has_waited }) => (guard, has_waited),
        Ok(Locking::Busy(owner)) => {
            let lock = logs.lock_file();
            let result = RunResult::locked_out(owner.as_deref(), &lock, config.words);
            return Err(Box::new(result));
        }
        Err(error) => {
            let place = logs.directory().display();
            return Err(trouble(
                &format!("the log directory {place} cannot be used"),
                &error,
            ));
        }
    };
    // Another branch may have been checked out while it waited.
    let git = if has_waited {
        Git::at(&config.root)
    } else {
        git
    };
    let work_tree = git.and_then(|git| {
        let snapshot = Snapshot::begin(&git, config)?;
        Ok((git, snapshot))
    });
    Ok(Begun {
        config,
        logs,
        lock,
        work_tree,
        asked: has_waited.then_some(asked),
    })
}

impl Begun<'_> {
    /// Runs the gates that are not verified.
    pub(crate) fn run(
        self,
        layout: &Layout,
        env: &Env,
        request: &Request<'_>,
        observer: &Observer<'_>,
    ) -> RunResult {
        let run = Run {
            layout,
            config: self.config,
            env,
            request,
            logs: self.logs,
            observer,
            base: request.scope.base_name(self.config, env),
            at_once: runner::at_once(self.config),
        };
        let result = self
            .work_tree
            .map_err(Box::from)
            .and_then(|(git, snapshot)| run.locked(&git, snapshot, self.asked));
        drop(self.lock);
        result.unwrap_or_else(|early| *early)
    }
}

/// A run that holds the lock.
struct Run<'r> {
    layout: &'r Layout,
    config: &'r Config,
    env: &'r Env,
    request: &'r Request<'r>,
    logs: Logs<'r>,
    observer: &'r Observer<'r>,
    /// The base's name.
    base: String,
    /// How many gates may run at once.
    at_once: usize,
}

/// What a run is about.
struct Subject<'s> {
    git: &'s Git,
    /// The commit that is checked out; none before the first one.
    commit: Option<String>,
    taken: &'s Taken,
    assessment: Assessment<'s>,
    record: GateRecord,
    work: Work<'s>,
    jobs: Vec<Job<'s>>,
    /// Runs before this one that count against `max_retries`.
    spent: u64,
}

impl Subject<'_> {
    /// The name of the tree or commit that it is about.
    fn tree(&self) -> Result<String, GitError> {
        let name = match &self.work.pair {
            Some(pair) => pair.head.name(),
            None => self.taken.tree(self.git),
        };
        name.map(str::to_owned)
    }
}

impl Run<'_> {
    /// `asked` is when the run was asked for, if it then had to wait for another one.
    fn locked(
        &self,
        git: &Git,
        snapshot: Snapshot,
        asked: Option<Timestamp>,
    ) -> Result<RunResult, Box<RunResult>> {
        let commit = changes::head(git);
        let mut record = GateRecord::load(self.layout, self.config, self.env);
        let assessor = self.assessor(git);
        let committed = self.committed(git)?;
        let children = self.children()?;
        let taken = snapshot.taken(git)?;
        let assessment = assessor.assess(&taken, &record, Timestamp::now());
        if let Some(result) = asked.and_then(|asked| self.shared(&record, asked, &assessment)) {
            return Ok(result);
        }
        if self.is_untouched(&assessment) {
            return Ok(self.untouched(&assessment));
        }
        self.start_afresh(git, commit.as_deref(), (&taken, &assessment), &mut record)?;
        let comparison = self.comparison(commit.as_deref(), &record, &assessment);
        let mut work = match committed {
            Some(pair) => self.committed_work(git, pair)?,
            None if self.asks_for_changes(&assessment) => self.work(git, &taken, &comparison)?,
            None => {
                comparison.check(git)?;
                Work::default()
            }
        };
        let mut jobs = self.jobs(&assessment, &work.changed);
        let skipped = self.leave_out(&mut jobs);
        if jobs.is_empty() {
            if work.pair.is_none() {
                work = self.work(git, &taken, &comparison)?;
            }
            let result = self.nothing_to_run(&assessment, &record, &work);
            return Ok(RunResult { skipped, ..result });
        }
        let spent = self.request.spent;
        let subject = Subject {
            spent: spent.unwrap_or_else(|| record.spent(&self.logs)),
            git,
            commit,
            taken: &taken,
            assessment,
            record,
            work,
            jobs,
        };
        let allowed = self.config.max_retries + 1;
        if self.has_budget() && subject.spent >= allowed {
            return self.beyond_limit(allowed, &subject);
        }
        let result = self.run_gates(subject, children)?;
        Ok(RunResult { skipped, ..result })
    }

    /// Takes out the gates that a person leaves out. Says which.
    fn leave_out(&self, jobs: &mut Vec<Job<'_>>) -> Vec<String> {
        let skip = &self.request.skip;
        let out = jobs.extract_if(.., |job| skip.iter().any(|name| name == job.name));
        out.map(|job| job.name.to_owned()).collect()
    }

    /// Whether what changed chooses the gates, gives them their names, or is shown. Elsewhere those that
    /// are not verified run, whatever changed, and nobody asks.
    fn asks_for_changes(&self, assessment: &Assessment<'_>) -> bool {
        let Request {
            scope,
            which,
            purpose,
            asker,
            details,
            ..
        } = self.request;
        let entries = self.config.entry_points.iter();
        let paths: BTreeSet<&str> = entries.map(|entry| entry.path.as_str()).collect();
        let is_fixed = |path: &&str| !jobs::is_glob(path) && self.config.root.join(path).exists();
        let has_one_way = |one: &Assessed<'_>| one.gate.places.len() == 1;
        scope.is_narrowed()
            || self.env.ci
            || (*purpose == Purpose::Stop && asker.session.is_none())
            || !paths.iter().all(is_fixed)
            || !assessment.gates.iter().all(has_one_way)
            || !self.config.reviews.is_empty()
            || *which != Which::All
            || *details
            || self.config.debug_log.is_some()
    }

    fn assessor<'s>(&'s self, git: &'s Git) -> Assessor<'s> {
        let session_base = self.request.session_base.as_deref();
        let weakened = self.request.weakened.clone();
        Assessor::new(self.config, self.env, git, session_base, weakened)
    }

    /// Whether `max_retries` bounds this run. A person runs the gates as often as they like.
    fn has_budget(&self) -> bool {
        match self.request.purpose {
            Purpose::Stop => true,
            Purpose::Command => self.request.asker.is_agent,
        }
    }

    /// The verdict of the run that this one had to wait for, if it is one: about all the gates,
    /// and about the same inputs.
    fn shared(
        &self,
        record: &GateRecord,
        asked: Timestamp,
        assessment: &Assessment<'_>,
    ) -> Option<RunResult> {
        let last = record.last.as_ref()?;
        let is_same = self.request.purpose == Purpose::Stop
            && last.is_own
            && last.is_whole
            && last.status != Status::Error
            && last.completed_at >= asked
            && last.mark == assessment.mark;
        let failures = assessment.failures(record);
        is_same.then(|| RunResult {
            message: verdict(last.status, &failures, None),
            console_log: last.console.clone(),
            failures,
            open_reviews: record.open_reviews(),
            tree: Some(last.tree.clone()),
            ..self.about(last.status, assessment)
        })
    }

    /// Whether the agent changed nothing that the gates check since its turn began.
    fn is_untouched(&self, assessment: &Assessment<'_>) -> bool {
        self.request.purpose == Purpose::Stop
            && self.request.began_with.is_some()
            && self.request.began_with == assessment.mark
    }

    fn untouched(&self, assessment: &Assessment<'_>) -> RunResult {
        match assessment.verified_at() {
            Some(at) => self.still_verified(at, assessment),
            None => RunResult {
                message:
                    "○ Nothing that the gates check was changed in this turn, so they did not run."
                        .to_owned(),
                ..self.about(Status::NoChanges, assessment)
            },
        }
    }

    /// What a stop on work that is verified already is answered.
    fn still_verified(&self, at: Timestamp, assessment: &Assessment<'_>) -> RunResult {
        let status = if assessment.has_warnings() {
            Status::PassedWithWarnings
        } else {
            Status::Passed
        };
        RunResult {
            message: format!(
                "{} Seen at {}; nothing changed since.",
                status.message(),
                iso(at)
            ),
            ..self.about(status, assessment)
        }
    }

    /// A result without gates, with what can be said about all of them.
    fn about(&self, status: Status, assessment: &Assessment<'_>) -> RunResult {
        RunResult {
            verification: Some(assessment.verification(self.config)),
            mark: assessment.mark.clone(),
            ..RunResult::of(status)
        }
    }

    /// Puts the logs of other work away: of another branch, of work that was merged since, or of
    /// a cycle that ended at its limit.
    fn start_afresh(
        &self,
        git: &Git,
        commit: Option<&str>,
        (taken, assessment): (&Taken, &Assessment<'_>),
        record: &mut GateRecord,
    ) -> Result<(), Box<RunResult>> {
        let Some(last) = &record.last else {
            return Ok(());
        };
        let tree_is_clean = || {
            let changes = commit.map(|commit| taken.changes(git, commit));
            changes.is_some_and(|changes| changes.is_ok_and(|changes| changes.is_empty()))
        };
        let is_stop = self.request.purpose == Purpose::Stop;
        let has_failures = || {
            assessment
                .gates
                .iter()
                .any(|one| one.verification.is_failing())
        };
        let reason = if git.branch() != last.branch {
            "branch changed"
        } else if (self.logs.has_gate_logs() || last.attempts > 0)
            && !(is_stop && has_failures())
            && changes::is_ancestor(git, &last.commit, &self.base)
            && changes::is_ancestor(git, "HEAD", &self.base)
            && tree_is_clean()
        {
            // Work that is not committed yet also stands on a commit of the base; it is no
            // merged work. And an agent cannot get rid of a failure by moving the base.
            "commit merged"
        } else if is_stop
            && last.status == Status::RetryLimitExceeded
            && last.mark != assessment.mark
        {
            "new work after the retry limit"
        } else {
            return Ok(());
        };
        self.note(&format!("Auto-cleaning logs ({reason})..."));
        self.debug(&format!("CLEAN type=auto reason={reason}"));
        let archived = self.logs.archive();
        if let Ok(count @ 1..) = archived {
            let place = self.config.log_dir_name.display();
            self.note(&match self.config.max_previous_logs {
                0 => format!("Removed {count} log(s) of {place}"),
                _ => format!("Archived {count} log(s) to {place}/previous"),
            });
        }
        record.last = None;
        let saved = archived.and_then(|_| {
            let forget = |record: &mut GateRecord| record.last = None;
            GateRecord::change(self.layout, self.config, self.env, forget)
        });
        saved.map(drop).map_err(|error| {
            Box::new(RunResult::error(format!(
                "logs cannot be archived: {error}"
            )))
        })
    }

    /// The two commits that are compared, where it is no work tree. An agent's work is in the work tree,
    /// also where it runs in CI, which tests a commit.
    fn committed(&self, git: &Git) -> Result<Option<Pair<'static>>, GitError> {
        match self.request.purpose {
            Purpose::Stop => Ok(None),
            Purpose::Command => {
                changes::committed_pair(git, &self.request.scope, self.env, &self.base)
            }
        }
    }

    fn comparison<'s>(
        &'s self,
        head: Option<&'s str>,
        record: &'s GateRecord,
        assessment: &'s Assessment<'_>,
    ) -> Comparison<'s> {
        Comparison {
            scope: &self.request.scope,
            config: self.config,
            base: &self.base,
            head,
            before: Before {
                verified: record.verified_trees(self.env),
                session_base: self.request.session_base.as_deref(),
            },
            definitions: &assessment.definitions,
        }
    }

    fn committed_work(&self, git: &Git, pair: Pair<'static>) -> Result<Work<'static>, GitError> {
        let changed = changes::between(git, (&pair.base, pair.head.name()?), self.config)?;
        let pair = Some(pair);
        Ok(Work { pair, changed })
    }

    /// What the work is: since the last verified tree of this branch, else since the base.
    fn work<'s>(
        &self,
        git: &'s Git,
        taken: &'s Taken,
        comparison: &Comparison<'_>,
    ) -> Result<Work<'s>, GitError> {
        let older = comparison.older(git)?;
        let differing = Differing::ask(git, taken, older);
        let ((base, label), changes) = comparison.changes(git, taken, differing)?;
        let files = &self.request.scope.files;
        let mut changed = if files.is_empty() {
            nested::paths(git, changes)?
        } else {
            files.clone()
        };
        changes::tidy(&mut changed, self.config);
        let head = Newer::WorkTree(git, taken);
        let pair = Some(Pair { base, head, label });
        Ok(Work { pair, changed })
    }

    /// Gets ready for children, while git is busy: the watchdog has to start, too.
    fn children(&self) -> Result<Children, Box<RunResult>> {
        Children::open(self.request.consent, self.request.cut_off)
            .map_err(|error| trouble("no child can be watched", &error))
    }

    /// Whether less than all is asked for: its verdict is not one about the whole.
    fn is_partial(&self) -> bool {
        self.request.which != Which::All
            || self.request.gate.is_some()
            || self.request.scope.is_narrowed()
    }

    fn site(&self) -> Site {
        Site::of(self.env)
    }

    /// The gates that run.
    fn jobs<'c>(&'c self, assessment: &Assessment<'c>, changed: &[String]) -> Vec<Job<'c>> {
        let Request {
            scope,
            which,
            gate,
            purpose,
            asker,
            ..
        } = self.request;
        let choice = match purpose {
            _ if self.request.all || (gate.is_some() && !scope.is_narrowed()) => Choice::All,
            Purpose::Command => Choice::of(scope, self.env, changed),
            // An event without a session has the specification's own shape: there, only changes
            // count.
            Purpose::Stop if asker.session.is_none() => Choice::CalledFor,
            Purpose::Stop => Choice::Unverified,
        };
        let mut jobs = work::choose(
            self.config,
            assessment,
            changed,
            choice,
            *which,
            self.site(),
        );
        if let Some(name) = gate {
            jobs.retain(|job| job.name == name);
        }
        jobs
    }

    fn nothing_to_run(
        &self,
        assessment: &Assessment<'_>,
        record: &GateRecord,
        work: &Work<'_>,
    ) -> RunResult {
        let changed = &work.changed;
        let called_for =
            || work::called_for(self.config, assessment, changed, Which::All, self.site());
        let is_about_gates = changed.is_empty() || !called_for().is_empty();
        let result = match assessment.verified_at().filter(|_| is_about_gates) {
            Some(at) => {
                self.put_away(record);
                match self.request.purpose {
                    Purpose::Stop => self.still_verified(at, assessment),
                    Purpose::Command => self.about(Status::NoChanges, assessment),
                }
            }
            None if work.changed.is_empty() => self.about(Status::NoChanges, assessment),
            None => self.about(Status::NoApplicableGates, assessment),
        };
        RunResult {
            tree: work.known_tree(),
            changed_files: work.changed.len(),
            ..result
        }
    }

    /// What failed is undone: its logs and attempts are of the past.
    fn put_away(&self, record: &GateRecord) {
        let is_open = |last: &Last| last.is_own && last.attempts > 0;
        if !record.last.as_ref().is_some_and(is_open) {
            return;
        }
        // If it cannot be done, it is done by the next run that passes.
        let forgive = GateRecord::forgive;
        let _later = GateRecord::change(self.layout, self.config, self.env, forgive);
        let _later = self.logs.archive();
    }

    fn beyond_limit(
        &self,
        allowed: u64,
        subject: &Subject<'_>,
    ) -> Result<RunResult, Box<RunResult>> {
        let attempt = subject.spent + 1;
        let next = match self.request.spent {
            Some(_) => "A person must decide; their next prompt starts the count again.",
            None => {
                "A person must decide; run `tollgate clean` to archive the logs and start over."
            }
        };
        let what = format!(
            "Retry limit exceeded: run {attempt} exceeds max allowed {allowed} (max_retries: {}). NOT verified: the gates were not run this time. {next}",
            self.config.max_retries
        );
        let last = subject.record.last.as_ref();
        Ok(RunResult {
            message: format!("⚠ {what}"),
            console_log: last.and_then(|last| last.console.clone()),
            failures: subject.assessment.failures(&subject.record),
            changed_files: subject.work.changed.len(),
            tree: Some(subject.tree()?),
            ..self.about(Status::RetryLimitExceeded, &subject.assessment)
        })
    }

    fn run_gates(
        &self,
        mut subject: Subject<'_>,
        children: Children,
    ) -> Result<RunResult, Box<RunResult>> {
        let attempt = subject.record.attempts(&self.logs) + 1;
        let number = self.logs.next_run();
        let (console_path, log) = self
            .logs
            .create(&format!("console.{number}.log"))
            .map_err(|error| trouble("the console log cannot be written", &error))?;
        let console = Console {
            log,
            logs: &self.logs,
            observer: self.observer,
        };
        let before = subject.taken.stats(subject.git);
        let (results, questions) =
            self.run_jobs(&subject, children, (number, attempt), &console)?;
        let is_last = self.has_budget() && subject.spent >= self.config.max_retries;
        let mut status = judge(&results, is_last);
        if status == Status::Passed && !subject.assessment.weakened.is_empty() {
            // What weakened gates say is no plain pass, until a person accepts them.
            status = Status::PassedWithWarnings;
        }
        let failures = failing(&subject.assessment, &subject.record, &results);
        let fixed = fixed(&subject.assessment, &results);
        let lines = summary::lines(&results, &fixed, attempt, status);
        console.tell(&Event::Summary(&lines));
        let counts = summary::counts(&results, &fixed);
        self.debug(&debug_lines::run_end(status, &counts, attempt));
        let archived = if status == Status::Passed && failures.is_empty() {
            self.logs.archive().map(|count| count > 0)
        } else {
            Ok(false)
        };
        let Questions {
            new_files,
            tree,
            is_interrupted,
            _watchdog,
        } = questions;
        // git must be done with the tree before it changes the snapshot's index.
        let tree = tree.map_or_else(|| subject.tree(), Asked::line);
        let ended = Ended {
            status,
            attempt,
            is_done: status.is_pass() && failures.is_empty(),
            tree,
            moved: subject.taken.moved(subject.git, &before, new_files),
        };
        let saved = self.remember(&mut subject, &results, &ended, &console_path);
        let is_archived = matches!(archived, Ok(true));
        let console_log = if is_archived {
            self.logs.archived(&console_path)
        } else {
            Some(console_path)
        };
        let mut result = RunResult {
            message: verdict(status, &failures, Some(&results)),
            console_log,
            failures,
            open_reviews: saved
                .as_ref()
                .map(GateRecord::open_reviews)
                .unwrap_or_default(),
            changed_files: subject.work.changed.len(),
            run_number: Some(number),
            tree: ended.tree.as_ref().ok().cloned(),
            gates: results,
            archived: is_archived,
            is_interrupted,
            ..self.about(status, &subject.assessment)
        };
        if status == Status::Error {
            result.error = Some(result.message.clone());
        } else if let Some(why) = ended.doubt() {
            if self.config.words == Words::Own {
                let next = "If a gate writes these files, commit them, or add them to .gitignore.";
                console.tell(&Event::Note(&format!("{why}\n{next}")));
            }
            if status.is_pass() {
                result.message = format!("{} {why}", result.message);
            }
        }
        Ok(self.recorded(result, saved, archived, &console))
    }

    /// The result of a run, if it could be written down, and the logs put away.
    fn recorded(
        &self,
        mut result: RunResult,
        saved: std::io::Result<GateRecord>,
        archived: std::io::Result<bool>,
        console: &Console<'_>,
    ) -> RunResult {
        if self.request.purpose == Purpose::Stop
            && !result.status.is_pass()
            && let Err(error) = &saved
        {
            // Who cannot remember having blocked would not know when to stop doing so.
            let what = format!(
                "The results of the gates cannot be recorded ({error}), so the agent is released. NOT verified: {}",
                result.message
            );
            return RunResult {
                message: format!("⚠ {what}"),
                error: Some(what),
                ..RunResult::of(Status::Error)
            };
        }
        if let Err(error) = saved.and(archived) {
            // The gates did run; that it cannot be remembered only means they run again.
            let trouble = format!("(The result cannot be recorded: {error})");
            console.tell(&Event::Note(&trouble));
            result.message = format!("{} {trouble}", result.message);
        }
        result
    }

    /// Runs the jobs of a run with this number. None of their processes is left when it returns, and git
    /// works on what is asked after them.
    fn run_jobs(
        &self,
        subject: &Subject<'_>,
        children: Children,
        (number, attempt): (u64, u64),
        console: &Console<'_>,
    ) -> Result<(Vec<GateResult>, Questions), Box<RunResult>> {
        let children = match self.request.purpose {
            Purpose::Command => {
                children
                    .cancel_on_signals()
                    .map_err(|error| trouble("signals cannot be watched", &error))?;
                children
            }
            Purpose::Stop => children.cancel_when_unread(),
        };
        let journal = Journalled::new(self.layout, &self.request.asker);
        let watch = |event: &Event<'_>| {
            journal.tell(event);
            console.tell(event);
        };
        let mode = if attempt > 1 { "verification" } else { "full" };
        if attempt > 1 && self.config.words == Words::Specification {
            watch(&Event::Note(
                "Existing logs detected — running in verification mode...",
            ));
        }
        if let Some(pair) = subject.work.pair.as_ref()
            && self.config.debug_log.is_some()
        {
            let start = debug_lines::Start {
                which: self.request.which,
                mode,
                changes: subject.work.changed.len(),
                gates: subject.jobs.len(),
            };
            let line = debug_lines::run_start(subject.git, pair, &start);
            self.debug(&line);
        }
        watch(&Event::Planned(&subject.jobs, subject.work.changed.len()));
        let crew = Crew {
            children: &children,
            at_once: self.at_once,
            config: self.config,
            logs: &self.logs,
            run: number,
            base: &self.base,
            is_narrowed: self.request.scope.is_narrowed(),
            pair: subject.work.pair.as_ref(),
            git: subject.git,
            record: &subject.record,
            search: self.env.path.as_deref().unwrap_or_default(),
        };
        let results = runner::run_all(&crew, &subject.jobs, &watch);
        let is_interrupted = self.request.purpose == Purpose::Command && children.is_cancelled();
        // git is busy, and the watchdog ends, while the rest is written down.
        let is_work_tree = !subject.work.is_committed();
        let questions = Questions {
            _watchdog: children.close(),
            new_files: subject.taken.new_files(subject.git),
            tree: is_work_tree.then(|| subject.taken.ask_tree(subject.git)),
            is_interrupted,
        };
        watch(&Event::Quiet);
        for result in &results {
            self.debug(&debug_lines::gate_result(result));
        }
        Ok((results, questions))
    }

    /// Writes the run and what each gate said into the record.
    fn remember(
        &self,
        subject: &mut Subject<'_>,
        results: &[GateResult],
        ended: &Ended,
        console: &std::path::Path,
    ) -> std::io::Result<GateRecord> {
        let now = Timestamp::now();
        let evidence = self.evidence(subject, results, ended, now);
        let branch = subject.git.branch();
        let spent = match subject.spent {
            _ if ended.is_done => 0,
            // An error does not count as an attempt.
            spent => spent + u64::from(self.has_budget() && ended.status != Status::Error),
        };
        let tree = ended.tree.as_deref().unwrap_or_default();
        let assessment = &mut subject.assessment;
        let edit = |record: &mut GateRecord| {
            for one in evidence {
                record.add(one);
            }
            keep_findings(
                record,
                &branch,
                results,
                ended.is_done && ended.status == Status::Passed,
            );
            assessment.refresh(record);
            let is_same = ended.moved.as_ref().is_ok_and(Vec::is_empty) && !tree.is_empty();
            if is_same && assessment.is_verified() && !self.env.ci {
                record.add_verified(VerifiedTree {
                    tree: tree.to_owned(),
                    branch: branch.clone(),
                    definitions: assessment.definitions.clone(),
                });
            }
            record.last = Some(Last {
                completed_at: now,
                status: ended.status,
                attempts: if ended.is_done {
                    0
                } else {
                    ended.attempt - u64::from(ended.status == Status::Error)
                },
                spent,
                branch,
                commit: subject.commit.clone().unwrap_or_default(),
                tree: tree.to_owned(),
                mark: assessment.mark.clone(),
                console: Some(console.to_owned()),
                is_whole: !self.is_partial(),
                is_own: true,
            });
        };
        GateRecord::change(self.layout, self.config, self.env, edit)
    }

    /// What each gate said about its inputs, if they did not change while it ran.
    fn evidence(
        &self,
        subject: &Subject<'_>,
        results: &[GateResult],
        ended: &Ended,
        now: Timestamp,
    ) -> Vec<Evidence> {
        let Ok(moved) = &ended.moved else {
            return Vec::new();
        };
        let by = match self.request.purpose {
            Purpose::Stop => By::Stop,
            Purpose::Command if self.env.ci => By::Ci(self.env.github_sha.clone()),
            Purpose::Command => By::Run,
        };
        let assessed = subject.assessment.gates.iter();
        let assessed: BTreeMap<_, _> = assessed.map(|one| (&*one.key.gate, one)).collect();
        let said = subject
            .jobs
            .iter()
            .zip(results)
            .filter_map(|(job, result)| {
                let outcome = match result.outcome {
                    Outcome::NotRun => return None,
                    Outcome::Error => Outcome::Fail,
                    Outcome::Pass | Outcome::Fail | Outcome::Inconclusive => result.outcome,
                };
                // A review of a part of the work says nothing about the whole.
                if matches!(job.gate, Gate::Review(_)) && self.request.scope.is_narrowed() {
                    return None;
                }
                let assessed = assessed.get(&*job.evidence_id())?;
                if looks_at(self.config, &assessed.gate, moved) {
                    return None;
                }
                Some(Evidence {
                    key: assessed.key.clone(),
                    outcome,
                    message: result.message.clone(),
                    at: now,
                    ms: u64::try_from(result.took.as_millis()).unwrap_or(u64::MAX),
                    by: by.clone(),
                    files: result.files(),
                    is_warned: result.findings.are_warnings(),
                    is_flaky: false,
                    is_accepted: false,
                })
            });
        said.collect()
    }

    fn note(&self, text: &str) {
        let event = Event::Note(text);
        (self.observer)(&event, &plain(&event, &self.logs));
    }

    fn debug(&self, line: &str) {
        self.logs.debug(Timestamp::now(), line);
    }
}

/// A run that could not be made.
fn trouble(what: &str, error: &std::io::Error) -> Box<RunResult> {
    Box::new(RunResult::error(format!("{what}: {error}")))
}

/// What is known and asked when the gates have ended, and what still ends.
struct Questions {
    /// Whether the person ended them.
    is_interrupted: bool,
    /// Told to end, and waited for when this is dropped.
    _watchdog: Watchdog,
    /// Which files are new since they began.
    new_files: Asked,
    /// The name of the tree that they were about, where it is the work tree.
    tree: Option<Asked>,
}

/// What a run came to, besides its gates.
struct Ended {
    status: Status,
    attempt: u64,
    /// Whether nothing is left to do.
    is_done: bool,
    /// The files that changed while the gates ran.
    moved: Result<Vec<String>, GitError>,
    /// The tree that was there in the beginning.
    tree: Result<String, GitError>,
}

impl Ended {
    /// Why what the gates said is not kept.
    fn doubt(&self) -> Option<String> {
        match &self.moved {
            Ok(moved) if moved.is_empty() => None,
            Ok(moved) => {
                let first: Vec<&str> = moved.iter().take(3).map(String::as_str).collect();
                let more = if moved.len() > first.len() {
                    ", …"
                } else {
                    ""
                };
                Some(format!(
                    "(Files changed while the gates ran ({}{more}), so what they said is not kept: they run again.)",
                    first.join(", ")
                ))
            }
            Err(why) => Some(format!("(What the gates said is not kept: {why})")),
        }
    }
}

/// Keeps what the reviewers found for the next review. With the end of a cycle, only what is still
/// to be answered.
fn keep_findings(record: &mut GateRecord, branch: &str, results: &[GateResult], is_done: bool) {
    for result in results.iter().filter(|result| !result.slots.is_empty()) {
        let mut kept = record.findings(branch, &result.id);
        let slots = result.slots.iter();
        kept.extend(slots.filter_map(|slot| slot.kept.clone()));
        if is_done {
            kept.retain(|_, one| !one.is_settled());
        }
        record.set_findings(branch, &result.id, kept);
    }
}

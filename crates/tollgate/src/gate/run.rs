//! The whole life of a run: lock, context, changes, jobs, gates, summary, record, archive.
//!
//! Used by `run`, `check` and `review` and by the agent's stop alike. It ends with a
//! [`RunResult`] whatever happens; nothing here ends the process or prints.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tollgate_core::env::Env;
use tollgate_core::project::Layout;

use super::changes::{self, Pair};
use super::config::Config;
use super::console::{Console, plain};
use super::definitions::Definitions;
use super::jobs::{self, Job, Site, Which};
use super::journalled::Journalled;
use super::logs::{Locking, Logs, Waited};
use super::record::{Failure, GateRecord, Last, Verified};
pub(crate) use super::request::{Asker, Purpose, Request, RunResult};
use super::result::GateResult;
use super::runner::{self, Crew};
use super::snapshot::Snapshot;
use super::status::Status;
use super::summary::{self, failing, fixed, judge, verdict};
use super::work::{Evidence, Work};
use super::{Event, Observer};
use crate::git::Git;
use crate::process::Children;

/// Runs the gates that the changes call for.
pub(crate) fn execute(
    layout: &Layout,
    config: &Config,
    env: &Env,
    request: &Request<'_>,
    observer: &Observer<'_>,
) -> RunResult {
    let asked = Timestamp::now();
    let logs = Logs::of(config);
    let patience = match (request.purpose, request.cut_off) {
        (Purpose::Stop, Some(moment)) => moment.saturating_duration_since(Instant::now()),
        (Purpose::Stop, None) | (Purpose::Command, _) => Duration::ZERO,
    };
    let (lock, waited) = match logs.lock(patience) {
        Ok(Locking::Held(lock, waited)) => (lock, waited),
        Ok(Locking::Busy(owner)) => return RunResult::locked_out(owner.as_deref(), config.words),
        Err(error) => {
            let place = logs.directory().display();
            return RunResult::error(format!("the log directory {place} cannot be used: {error}"));
        }
    };
    let base = request.scope.base_name(config, env);
    let run = Run {
        layout,
        config,
        env,
        request,
        logs,
        observer,
        definitions: Definitions::of(config).evidence(env, &base),
        base,
    };
    let asked = (waited == Waited::Yes).then_some(asked);
    let result = run.locked(asked).unwrap_or_else(|early| *early);
    drop(lock);
    result
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
    /// What the gates are, as a digest.
    definitions: String,
}

/// What a run is about.
struct Subject<'c> {
    git: Git,
    /// The commit that is checked out; none before the first one.
    commit: Option<String>,
    work: Work,
    jobs: Vec<Job<'c>>,
    /// Runs before this one that count against `max_retries`.
    spent: u64,
}

impl Run<'_> {
    /// `asked` is when the run was asked for, if it then had to wait for another one.
    fn locked(&self, asked: Option<Timestamp>) -> Result<RunResult, Box<RunResult>> {
        let git = Git::at(&self.config.root)?;
        let commit = changes::head(&git);
        let mut record = GateRecord::load(self.layout, self.config);
        let (work, children) = self.look(&git, commit.as_deref(), &record)?;
        if let Some(result) = asked.and_then(|asked| self.shared(&record, asked, &work.pair)) {
            return Ok(result);
        }
        self.start_afresh(&git, commit.as_deref(), &work.pair, &mut record)?;
        let jobs = self.jobs(&record, &work);
        if jobs.is_empty() {
            return self.nothing_to_run(&record, &work);
        }
        let subject = Subject {
            git,
            commit,
            work,
            jobs,
            spent: record.spent(&self.logs),
        };
        let allowed = self.config.max_retries + 1;
        if self.has_budget() && subject.spent >= allowed {
            return self.beyond_limit(subject.spent + 1, allowed, &record, &subject);
        }
        let attempt = record.attempts(&self.logs) + 1;
        self.run_gates(record, &subject, children, attempt)
    }

    /// Whether `max_retries` bounds this run. A person runs the gates as often as they like.
    fn has_budget(&self) -> bool {
        match self.request.purpose {
            Purpose::Stop => true,
            Purpose::Command => self.request.asker.is_agent,
        }
    }

    /// The verdict of the run that this one had to wait for, if it is one: about all the gates,
    /// and about the same tree.
    fn shared(&self, record: &GateRecord, asked: Timestamp, pair: &Pair) -> Option<RunResult> {
        let last = record.last.as_ref()?;
        let same = self.request.purpose == Purpose::Stop
            && last.is_own
            && last.is_whole
            && last.status != Status::Error
            && last.completed_at >= asked
            && pair.head.name().is_ok_and(|tree| last.tree == tree)
            && last.definitions == self.definitions;
        same.then(|| RunResult {
            message: verdict(last.status, &last.failed, None),
            console_log: last.console.clone(),
            failures: last.failed.clone(),
            tree: Some(last.tree.clone()),
            ..RunResult::of(last.status)
        })
    }

    /// Puts the logs of other work away: of another branch, of work that was merged since, or of
    /// a cycle that ended at its limit.
    fn start_afresh(
        &self,
        git: &Git,
        commit: Option<&str>,
        pair: &Pair,
        record: &mut GateRecord,
    ) -> Result<(), Box<RunResult>> {
        let Some(last) = &record.last else {
            return Ok(());
        };
        let tree_is_clean = || {
            let tree = commit.and_then(|commit| changes::tree_of(git, commit));
            tree.is_some() && tree.as_deref() == pair.head.name().ok()
        };
        let reason = if git.branch() != last.branch {
            "branch changed"
        } else if (self.logs.has_gate_logs() || last.attempts > 0)
            && (self.request.purpose != Purpose::Stop || last.failed.is_empty())
            && changes::is_ancestor(git, &last.commit, &self.base)
            && changes::is_ancestor(git, "HEAD", &self.base)
            && tree_is_clean()
        {
            // Work that is not committed yet also stands on a commit of the base; it is no
            // merged work. And an agent cannot get rid of a failure by moving the base.
            "commit merged"
        } else if self.request.purpose == Purpose::Stop
            && last.status == Status::RetryLimitExceeded
            && pair.head.name().ok() != Some(&last.tree)
        {
            "new work after the retry limit"
        } else {
            return Ok(());
        };
        self.note(&format!("Auto-cleaning logs ({reason})..."));
        self.debug(&format!("CLEAN type=auto reason={reason}"));
        let archived = self.logs.archive();
        record.last = None;
        let saved = archived.and_then(|_| record.save(self.layout, self.config));
        saved.map_err(|error| {
            Box::new(RunResult::error(format!(
                "logs cannot be archived: {error}"
            )))
        })
    }

    /// What the work is: since the last verified tree, if these very gates saw it, else since the
    /// base.
    fn look(
        &self,
        git: &Git,
        commit: Option<&str>,
        record: &GateRecord,
    ) -> Result<(Work, Children), Box<RunResult>> {
        let scope = &self.request.scope;
        // An agent's work is in the work tree, also where it runs in CI, which tests a commit.
        let committed = match self.request.purpose {
            Purpose::Stop => None,
            Purpose::Command => changes::committed_pair(git, scope, self.env, &self.base)?,
        };
        // git looks through the work tree while the rest is found out.
        let mut snapshot = Snapshot::begin(git, self.config)?;
        if let Some(pair) = committed {
            let changed = changes::between(git, &pair, self.config)?;
            let work = Work::new(pair, changed, snapshot.taken(git)?, false);
            return Ok((work, self.children()?));
        }
        let verified = record.verified.as_ref().filter(|verified| {
            !self.is_partial() && !self.env.ci && verified.definitions == self.definitions
        });
        let base = || changes::base(git, scope, &self.base, commit);
        let from_base = verified.is_none().then(base);
        if let Some(verified) = verified {
            snapshot.expect(git, &verified.tree);
        } else if let Some(Ok((older, _))) = &from_base {
            snapshot.expect(git, older);
        }
        let children = self.children()?;
        let taken = snapshot.taken(git)?;
        // git writes the tree while the rest is found out and the gates begin.
        let head = taken.tree(git);
        // git removes a tree that nothing points to after some weeks; then the base it is.
        let since = verified.and_then(|verified| {
            let paths = taken.since(git, &verified.tree).ok()?;
            let label = format!("the tree verified at {}", verified.at);
            Some((verified.tree.clone(), label, paths))
        });
        let narrowed = since.is_some();
        let (older, label, mut changed) = if let Some(since) = since {
            since
        } else {
            let (older, label) = from_base.unwrap_or_else(base)?;
            let changed = taken.since(git, &older)?;
            (older, label, changed)
        };
        changes::tidy(&mut changed, self.config);
        let pair = Pair {
            base: older,
            head,
            label,
        };
        Ok((Work::new(pair, changed, taken, narrowed), children))
    }

    /// Gets ready for children, while git is busy: the watchdog has to start, too.
    fn children(&self) -> Result<Children, Box<RunResult>> {
        Children::open(self.request.consent, self.request.cut_off)
            .map_err(|error| trouble("no child can be watched", &error))
    }

    /// Whether less than all is asked for. Such a run can find faults, but verifies nothing.
    fn is_partial(&self) -> bool {
        self.request.which != Which::All
            || self.request.gate.is_some()
            || self.request.scope.is_narrowed()
    }

    fn site(&self) -> Site {
        Site::of(self.env)
    }

    /// What the changes call for, what failed last time, and the checks that never passed.
    fn jobs(&self, record: &GateRecord, work: &Work) -> Vec<Job<'_>> {
        let site = self.site();
        let which = self.request.which;
        let failed: BTreeSet<String> = record
            .last
            .iter()
            .flat_map(|last| &last.failed)
            .map(|failure| failure.id.clone())
            .collect();
        let called_for = (work.changed.as_slice(), &failed);
        let is_passed = !self.wants_never_passed(work);
        let mut jobs = jobs::wanted(self.config, called_for, is_passed, which, site);
        if let Some(name) = &self.request.gate {
            jobs.retain(|job| job.name == name);
        }
        jobs
    }

    /// Whether checks run that the changes do not call for, because no pass of these gates is on
    /// record. A session that changed nothing is not held for them. An event without a session has
    /// the specification's own shape: there, only changes count.
    fn wants_never_passed(&self, work: &Work) -> bool {
        let Request { scope, asker, .. } = self.request;
        !work.narrowed
            && match self.request.purpose {
                Purpose::Stop => {
                    let now = work.pair.head.name().ok();
                    let is_untouched = now.is_some() && now == self.request.began_with.as_deref();
                    asker.session.is_some() && !is_untouched
                }
                Purpose::Command => scope.includes_never_passed(self.env, &work.changed),
            }
    }

    fn nothing_to_run(
        &self,
        record: &GateRecord,
        work: &Work,
    ) -> Result<RunResult, Box<RunResult>> {
        let tree = Some(work.pair.head.name()?.to_owned());
        let verified = record.verified.as_ref().filter(|_| work.narrowed);
        let changed = &work.changed;
        Ok(match (changed.is_empty(), verified) {
            (true, Some(verified)) if self.request.purpose == Purpose::Stop => RunResult {
                message: format!(
                    "{} Seen at {}; nothing changed since.",
                    verified.status.message(),
                    verified.at
                ),
                tree,
                ..RunResult::of(verified.status)
            },
            (true, Some(_)) => RunResult {
                message: "✓ No changes since the last run that passed.".to_owned(),
                tree,
                ..RunResult::of(Status::NoChanges)
            },
            (true, None) => RunResult {
                tree,
                ..RunResult::of(Status::NoChanges)
            },
            (false, _) => RunResult {
                tree,
                changed_files: changed.len(),
                ..RunResult::of(Status::NoApplicableGates)
            },
        })
    }

    fn beyond_limit(
        &self,
        attempt: u64,
        allowed: u64,
        record: &GateRecord,
        subject: &Subject<'_>,
    ) -> Result<RunResult, Box<RunResult>> {
        let what = format!(
            "Retry limit exceeded: run {attempt} exceeds max allowed {allowed} (max_retries: {}). NOT verified: the gates were not run this time. A person must decide; run `tollgate clean` to archive the logs and start over.",
            self.config.max_retries
        );
        let last = record.last.as_ref();
        Ok(RunResult {
            message: format!("⚠ {what}"),
            console_log: last.and_then(|last| last.console.clone()),
            failures: last.map(|last| last.failed.clone()).unwrap_or_default(),
            changed_files: subject.work.changed.len(),
            tree: Some(subject.work.pair.head.name()?.to_owned()),
            ..RunResult::of(Status::RetryLimitExceeded)
        })
    }

    fn run_gates(
        &self,
        mut record: GateRecord,
        subject: &Subject<'_>,
        children: Children,
        attempt: u64,
    ) -> Result<RunResult, Box<RunResult>> {
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
        let results = self.run_jobs(subject, children, (number, attempt), &console)?;
        let is_last = self.has_budget() && subject.spent >= self.config.max_retries;
        let status = judge(&results, is_last);
        let before = record.last.as_ref();
        let failed = failing(self.config, self.site(), before, &results);
        let evidence = subject.work.evidence(&subject.git);
        let fixed = fixed(before.map_or(&[], |last| &last.failed), &results);
        let lines = summary::lines(&results, &fixed, attempt, status);
        console.tell(&Event::Summary(&lines));
        self.debug(&format!(
            "RUN_END status={} iterations={attempt}",
            status.as_str()
        ));
        self.remember(
            &mut record,
            subject,
            &failed,
            (status, attempt, &evidence),
            &console_path,
        );
        let saved = record.save(self.layout, self.config);
        let archived = if status == Status::Passed && failed.is_empty() {
            self.logs.archive()
        } else {
            Ok(false)
        };
        let is_archived = matches!(archived, Ok(true));
        let console_log = if is_archived {
            self.logs.archived(&console_path)
        } else {
            Some(console_path)
        };
        let mut result = RunResult {
            message: verdict(status, &failed, Some(&results)),
            console_log,
            failures: failed,
            changed_files: subject.work.changed.len(),
            run_number: Some(number),
            tree: evidence.tree().map(str::to_owned),
            gates: results,
            archived: is_archived,
            ..RunResult::of(status)
        };
        if status == Status::Error {
            result.error = Some(result.message.clone());
        } else if let Some(why) = evidence.doubt().filter(|_| status.is_pass()) {
            result.message = format!("{} {why}", result.message);
        }
        Ok(self.recorded(result, saved, archived, &console))
    }

    /// The result of a run, if it could be written down, and the logs put away.
    fn recorded(
        &self,
        mut result: RunResult,
        saved: std::io::Result<()>,
        archived: std::io::Result<bool>,
        console: &Console<'_>,
    ) -> RunResult {
        if self.request.purpose == Purpose::Stop
            && !result.status.is_pass()
            && let Err(error) = &saved
        {
            // Who cannot remember having blocked would not know when to stop doing so.
            let what = format!(
                "What the gates said cannot be recorded ({error}), so the agent is let go. NOT verified: {}",
                result.message
            );
            return RunResult {
                message: format!("⚠ {what}"),
                error: Some(what),
                ..RunResult::of(Status::Error)
            };
        }
        if let Err(error) = saved.and(archived.map(|_| ())) {
            // The gates did run; that it cannot be remembered only means they run again.
            let trouble = format!("(The result cannot be recorded: {error})");
            console.tell(&Event::Note(&trouble));
            result.message = format!("{} {trouble}", result.message);
        }
        result
    }

    /// Runs the jobs of a run with this number. None of their processes is left when it returns.
    fn run_jobs(
        &self,
        subject: &Subject<'_>,
        children: Children,
        (number, attempt): (u64, u64),
        console: &Console<'_>,
    ) -> Result<Vec<GateResult>, Box<RunResult>> {
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
        if attempt > 1 {
            watch(&Event::Note(
                "Existing logs detected — running in verification mode...",
            ));
        }
        self.debug(&format!(
            "RUN_START mode={mode} base_ref={} changes={} gates={}",
            subject.work.pair.label,
            subject.work.changed.len(),
            subject.jobs.len()
        ));
        watch(&Event::Planned(&subject.jobs, subject.work.changed.len()));
        let crew = Crew {
            children: &children,
            config: self.config,
            logs: &self.logs,
            run: number,
            base: &self.base,
            is_narrowed: self.request.scope.is_narrowed(),
            pair: &subject.work.pair,
            git: &subject.git,
            search: self.env.path.as_deref().unwrap_or_default(),
        };
        let results = runner::run_all(&crew, &subject.jobs, &watch);
        for result in &results {
            self.debug(&format!(
                "GATE_RESULT {} status={} duration={:.2}s",
                result.id,
                result.outcome.as_str(),
                result.took.as_secs_f64()
            ));
        }
        Ok(results)
    }

    /// Writes the run into the record.
    fn remember(
        &self,
        record: &mut GateRecord,
        subject: &Subject<'_>,
        failed: &[Failure],
        (status, attempt, evidence): (Status, u64, &Evidence),
        console: &std::path::Path,
    ) {
        let now = Timestamp::now();
        let is_done = status.is_pass() && failed.is_empty();
        let spent = match subject.spent {
            _ if is_done => 0,
            // An error is nobody's fault, so nobody's attempt.
            spent => spent + u64::from(self.has_budget() && status != Status::Error),
        };
        // A pass and a failure of the same tree: it is not verified.
        let contradicts =
            |verified: &mut Verified| !failed.is_empty() && evidence.tree() == Some(&verified.tree);
        record.verified.take_if(contradicts);
        if let Evidence::Seen(tree) = evidence
            && status.is_pass()
            && failed.is_empty()
            && !self.is_partial()
        {
            record.verified = Some(Verified {
                tree: tree.clone(),
                definitions: self.definitions.clone(),
                status,
                at: now,
            });
        }
        record.last = Some(Last {
            completed_at: now,
            status,
            attempts: if is_done {
                0
            } else {
                attempt - u64::from(status == Status::Error)
            },
            spent,
            branch: subject.git.branch(),
            commit: subject.commit.clone().unwrap_or_default(),
            tree: evidence.tree().unwrap_or_default().to_owned(),
            definitions: self.definitions.clone(),
            console: Some(console.to_owned()),
            failed: failed.to_vec(),
            is_whole: !self.is_partial(),
            is_own: true,
        });
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

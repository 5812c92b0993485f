//! The gates at an agent's stop: may it?
//!
//! Every way out is one of the thirteen statuses, and only `failed` blocks. Whatever Tollgate
//! cannot decide lets the stop through and says so: an undecided gate is not a passed gate.

use std::hash::{DefaultHasher, Hasher as _};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tollgate_core::env::Env;
use tollgate_core::project::Layout;
use tollgate_core::protocol::{self, Event, Protocol};

use super::reason;
use crate::gate::Scope;
use crate::gate::changes;
use crate::gate::config::{Config, ConfigError, Held, IntervalRule, LoopGuard, Weight, Words};
use crate::gate::definitions::Definitions;
use crate::gate::evidence::Evidence;
use crate::gate::jobs::Which;
use crate::gate::logs::Logs;
use crate::gate::record::{Failure, GateRecord};
use crate::gate::run::{self, Asker, Purpose, Request, RunResult};
use crate::gate::snapshot;
use crate::gate::status::Status;
use crate::git::{AT_ONCE, Git, GitError};
use crate::ledger::{Ledger, Turn};
use crate::project_commands;
use crate::trust::{self, Consent};

/// Under this name gates write to the ledger.
pub(crate) const BY: &str = "gates";

/// Where the ledger keeps what the gates were when the session began.
const MET: &str = "gates";

/// Where the ledger keeps where the work stood when the session began.
const GROUND: &str = "ground";

/// Where the ledger keeps the tree that the session began with.
const TREE: &str = "tree";

/// Where the ledger keeps that gates ran in this session.
const RAN: &str = "gates_ran";

/// No file that is looked at is larger.
const CAP: u64 = 8 << 20;

/// What is answered.
#[derive(Clone, Debug)]
pub(crate) struct GatesAnswer {
    pub(crate) status: Status,
    /// For the person.
    pub(crate) message: String,
    /// For the agent; with it the stop is blocked.
    pub(crate) reason: Option<String>,
    /// Whether a person should know although the stop is allowed.
    pub(crate) is_news: bool,
    /// Warnings of the configuration.
    pub(crate) notes: Vec<String>,
    /// Whether nothing was run because nobody trusts the project's commands.
    pub(crate) is_untrusted: bool,
}

/// When a stop must be answered: so long after it came, unless the configuration says otherwise.
/// Who was asked before used up a part of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    pub(crate) begun: Instant,
    pub(crate) patience: Duration,
}

impl GatesAnswer {
    pub(crate) fn of(status: Status, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            reason: None,
            is_news: false,
            notes: Vec::new(),
            is_untrusted: false,
        }
    }

    /// Nothing was run: nobody trusts the project's commands.
    pub(crate) fn untrusted(line: impl Into<String>) -> Self {
        Self {
            is_untrusted: true,
            ..Self::of(Status::Error, line).news()
        }
    }

    pub(crate) fn plain(status: Status) -> Self {
        Self::of(status, status.message())
    }

    /// The answer in the shape of specification 003.
    pub(crate) fn in_its_own_words(&self) -> protocol::Answer {
        let mut answer = protocol::gauntlet::stop_answer(&protocol::gauntlet::StopAnswer {
            status: self.status.as_str(),
            message: &self.message,
            reason: self.reason.as_deref(),
        });
        for note in &self.notes {
            answer.stderr = format!("{}Warning: {note}\n", answer.stderr);
        }
        answer
    }

    /// A person let the stop through although gates fail.
    pub(crate) fn allow(&mut self, words: &str) {
        // Whoever reads the status alone must not take it for a block, nor for a pass.
        self.status = Status::RetryLimitExceeded;
        self.reason = None;
        self.is_news = true;
        self.message = format!("NOT verified: {} But {words}", self.message);
    }

    fn news(mut self) -> Self {
        self.is_news = true;
        self
    }

    /// Says what is not verified, if anything is not.
    fn name_unverified(&mut self, layout: &Layout, config: &Config, env: &Env) {
        if let Some(why) = Evidence::of(layout, config, env, AT_ONCE).unverified(config) {
            self.message = format!("{} NOT verified: {why}.", self.message);
            self.is_news = true;
        }
    }
}

/// Decides a stop.
pub(crate) fn decide(
    layout: &Layout,
    env: &Env,
    event: &Event<'_>,
    deadline: Deadline,
    consent: &Consent,
) -> GatesAnswer {
    let mut ledger = Ledger::at_stop(layout, event);
    let config = match Config::in_force(layout, env) {
        Ok(config) => config,
        Err(error) => return unconfigured(&error, ledger.as_ref()),
    };
    if !consent.covers(|| project_commands::of(layout, env, Some(&config))) {
        return GatesAnswer::untrusted(trust::moved());
    }
    let definitions = Definitions::of(&config);
    let weakened = ledger
        .as_mut()
        .map(|ledger| weakened(ledger, layout, &definitions))
        .unwrap_or_default();
    if let Some(ledger) = &mut ledger {
        stand(ledger, &config, env);
    }
    let Deadline { begun, patience } = deadline;
    let wanted = config.stop_hook.deadline.unwrap_or(patience);
    let cut_off = begun.checked_add(wanted).unwrap_or(begun + patience);
    let mut case = Case {
        layout,
        env,
        event,
        config: &config,
        definitions: &definitions,
        ledger,
        cut_off,
        consent,
    };
    let mut answer = case.decide();
    answer.notes = config.warnings.iter().map(ToString::to_string).collect();
    if let Err(error) = config.remember(layout) {
        answer
            .notes
            .push(format!("tollgate.toml cannot be remembered: {error}"));
    }
    if let Some(held) = &config.held {
        name_held(&mut answer, held);
    }
    if !weakened.is_empty() {
        name_weakened(&mut answer, &weakened);
    }
    if let Some(ledger) = &case.ledger
        && let Err(error) = ledger.save()
    {
        answer
            .notes
            .push(format!("the session's ledger cannot be written: {error}"));
    }
    Logs::of(&config).debug(
        Timestamp::now(),
        &format!(
            "STOP_HOOK decision={} reason={}",
            if answer.reason.is_some() {
                "block"
            } else {
                "allow"
            },
            answer.status.as_str()
        ),
    );
    answer
}

/// A stop that is let go without asking the gates, and what of them is not verified. None where
/// there are no gates.
pub(crate) fn ungated(layout: &Layout, env: &Env, why: &str) -> Option<GatesAnswer> {
    match Config::in_force(layout, env) {
        Ok(config) => {
            let words = format!("○ This stop is not gated: {why}.");
            let mut answer = GatesAnswer::of(Status::StopHookDisabled, words);
            answer.name_unverified(layout, &config, env);
            if let Some(held) = &config.held {
                name_held(&mut answer, held);
            }
            Some(answer)
        }
        Err(ConfigError::Missing(_)) => None,
        Err(error @ ConfigError::Wrong(_)) => Some(unconfigured(&error, None)),
    }
}

/// Remembers what the gates are, and the tree, when a session begins.
pub(crate) fn meet(layout: &Layout, env: &Env, wire: Protocol, session: &str) {
    if let Ok(config) = Config::in_force(layout, env) {
        // Unwritten, it is remembered at the first stop instead.
        let _later = config.remember(layout);
        let mut ledger = Ledger::open(layout, wire, session);
        if ledger.recall(MET).is_none() {
            ledger.keep(MET, Definitions::of(&config).to_json());
            stand(&mut ledger, &config, env);
            // Without a tree that can be had in time, the session's first stop is gated.
            if let Ok(tree) = tree_within(&config, AT_ONCE) {
                ledger.keep(TREE, tree.into());
            }
            // Unwritten, they are remembered at the first stop instead.
            let _later = ledger.save();
        }
    }
}

/// Remembers, once, where the base is and what is stashed away.
fn stand(ledger: &mut Ledger, config: &Config, env: &Env) {
    if ledger.recall(GROUND).is_none()
        && let Ok(git) = Git::at(&config.root)
    {
        let base = Scope::default().base_name(config, env);
        let ground = serde_json::json!({
            "base": changes::commit_of(&git, &base), "stashes": git.stashes(),
        });
        ledger.keep(GROUND, ground);
    }
}

/// Whether the session put work into a stash, where no gate sees it.
fn has_stashed(ledger: &Ledger, config: &Config) -> bool {
    let stashes = |ground: &serde_json::Value| ground.get("stashes")?.as_u64();
    let before = ledger.recall(GROUND).and_then(stashes);
    before.is_some_and(|before| Git::at(&config.root).is_ok_and(|git| git.stashes() > before))
}

/// How the work went out of sight since the session began: onto the base, or into a stash.
fn hidden(ledger: &Ledger, config: &Config, env: &Env) -> Option<String> {
    if has_stashed(ledger, config) {
        return Some("work was put into `git stash`".to_owned());
    }
    let ground = ledger.recall(GROUND)?;
    let git = Git::at(&config.root).ok()?;
    let name = Scope::default().base_name(config, env);
    let before = ground.get("base")?.as_str()?;
    let now = changes::commit_of(&git, &name)?;
    let moved = now != before
        && changes::is_ancestor(&git, "HEAD", &now)
        && !changes::is_ancestor(&git, "HEAD", before);
    moved.then(|| format!("the base {name} was moved onto the work"))
}

/// What changed in the gates since the session first met them, unless a person accepted it.
fn weakened(ledger: &mut Ledger, layout: &Layout, now: &Definitions) -> Vec<String> {
    let first = ledger.recall(MET).and_then(Definitions::from_json);
    match first {
        Some(first) if !is_accepted(layout, now) => now.changes_since(&first),
        Some(_) | None => {
            ledger.keep(MET, now.to_json());
            vec![]
        }
    }
}

/// Whether a person looked at these definitions and accepted them.
fn is_accepted(layout: &Layout, now: &Definitions) -> bool {
    let path = layout.local().join("accepted-gates");
    let digest = now.digest();
    let accepted = tollgate_store::fs::read_own(&path, CAP).ok().flatten();
    accepted.is_some_and(|file| {
        let mut lines = file.bytes.split(|byte| *byte == b'\n');
        lines.any(|line| line == digest.as_bytes())
    })
}

/// A person accepts the gates as they are.
pub(crate) fn accept(layout: &Layout, config: &Config) -> std::io::Result<()> {
    tollgate_store::fs::private_directory(&layout.local())?;
    let path = layout.local().join("accepted-gates");
    let digest = Definitions::of(config).digest() + "\n";
    tollgate_store::fs::replace(
        &path,
        digest.as_bytes(),
        tollgate_store::fs::Durability::Synced,
    )
    .map_err(std::io::Error::other)
}

fn name_weakened(answer: &mut GatesAnswer, weakened: &[String]) {
    let list = weakened.join("; ");
    if answer.status == Status::Passed {
        answer.status = Status::PassedWithWarnings;
        Status::PassedWithWarnings
            .message()
            .clone_into(&mut answer.message);
    }
    answer.message = format!(
        "{} ⚠ The gates were changed in this session: {list}. A person accepts that with `tollgate validate --accept`.",
        answer.message
    );
    if let Some(reason) = &mut answer.reason {
        *reason = format!(
            "{reason}\n\nThe gates themselves were changed in this session ({list}). The person is told; changing gates does not make work pass."
        );
    }
    answer.is_news = true;
}

/// Says that the files are broken, and what was used instead. A pass of what was used is none of
/// what is written there now.
fn name_held(answer: &mut GatesAnswer, held: &Held) {
    if answer.status == Status::Passed {
        answer.status = Status::PassedWithWarnings;
    }
    let errors = held.problems.iter();
    let errors = errors.filter(|problem| problem.weight == Weight::Error);
    let errors: Vec<_> = errors.map(ToString::to_string).collect();
    let what = format!(
        "⚠ The configuration is broken; {}. {}",
        held.by,
        errors.join("; ")
    );
    answer.message = format!("{} {what}", answer.message);
    if let Some(reason) = &mut answer.reason {
        *reason = format!("{reason}\n\n{what}");
    }
    answer.notes.push(what);
    answer.is_news = true;
}

fn unconfigured(error: &ConfigError, ledger: Option<&Ledger>) -> GatesAnswer {
    let met = ledger.is_some_and(|ledger| ledger.recall(MET).is_some());
    let since = if met {
        " The gates worked when this session began; since then their configuration was changed, and nothing is verified."
    } else {
        ""
    };
    let answer = match error {
        ConfigError::Missing(_) => {
            let answer = GatesAnswer::plain(Status::NoConfig);
            GatesAnswer {
                message: format!("{}{since}", answer.message),
                ..answer
            }
        }
        ConfigError::Wrong(_) => GatesAnswer::of(
            Status::Error,
            format!("⚠ NOT verified: the gates' configuration is wrong. {error}{since}"),
        )
        .news(),
    };
    if met { answer.news() } else { answer }
}

/// One stop of a project whose configuration loads.
struct Case<'a> {
    layout: &'a Layout,
    env: &'a Env,
    event: &'a Event<'a>,
    config: &'a Config,
    definitions: &'a Definitions,
    ledger: Option<Ledger>,
    cut_off: Instant,
    consent: &'a Consent,
}

impl Case<'_> {
    fn decide(&mut self) -> GatesAnswer {
        let record = GateRecord::load(self.layout, self.config);
        if let Some(answer) = self.without_running(&record) {
            return answer;
        }
        let request = Request {
            consent: self.consent,
            scope: Scope::default(),
            which: Which::All,
            gate: None,
            purpose: Purpose::Stop,
            cut_off: Some(self.cut_off),
            asker: Asker {
                session: self.event.session.as_deref().map(str::to_owned),
                prompt: self.event.prompt_id.as_deref().map(str::to_owned),
                trace: self.env.trace.clone(),
                is_agent: true,
            },
            began_with: self.first_tree().map(str::to_owned),
        };
        let result = run::execute(self.layout, self.config, self.env, &request, &|_, _| ());
        if let Some(ledger) = self.ledger.as_mut().filter(|_| result.run_number.is_some()) {
            ledger.keep(RAN, true.into());
        }
        if result.status.is_blocking() {
            return self.block(result);
        }
        match result.status {
            Status::RetryLimitExceeded | Status::Error | Status::LockConflict => {
                let is_late = Instant::now() >= self.cut_off;
                let mut answer = GatesAnswer::of(result.status, result.message).news();
                if is_late && result.status == Status::Error {
                    answer.message = format!(
                        "{}. The gates did not end before the hook's own deadline (`{}`).",
                        answer.message,
                        match self.config.words {
                            Words::Specification => "stop_hook.deadline_seconds",
                            Words::Own => "deadline",
                        }
                    );
                }
                answer
            }
            Status::NoApplicableGates | Status::NoChanges => {
                let answer = self.name_hidden(GatesAnswer::of(result.status, result.message));
                let is_untouched = result.tree.as_deref() == self.first_tree();
                if self.event.session.is_none() || is_untouched {
                    self.name_unverified(answer)
                } else {
                    // Gates that never passed were looked for: none of them applies.
                    answer
                }
            }
            Status::Passed | Status::PassedWithWarnings => {
                let mut answer = GatesAnswer::of(result.status, result.message);
                let ledger = self.ledger.as_ref();
                if ledger.is_some_and(|ledger| has_stashed(ledger, self.config)) {
                    answer.message = format!(
                        "{} ⚠ Work was put into `git stash` in this session; the gates did not see it.",
                        answer.message
                    );
                    answer.is_news = true;
                }
                answer
            }
            Status::Failed
            | Status::NoConfig
            | Status::StopHookActive
            | Status::IntervalNotElapsed
            | Status::InvalidInput
            | Status::StopHookDisabled => GatesAnswer::of(result.status, result.message),
        }
    }

    /// The answer to a stop for which nothing need be run.
    fn without_running(&self, record: &GateRecord) -> Option<GatesAnswer> {
        if !self.config.stop_hook.enabled {
            let answer = GatesAnswer::plain(Status::StopHookDisabled);
            return Some(self.name_unverified(answer));
        }
        let turn = self.ledger.as_ref().map(Ledger::turn);
        if (self.event.stop_hook_active || turn.is_some_and(has_blocked))
            && let Some(answer) = self.guard_loop(record)
        {
            return Some(self.name_unverified(answer));
        }
        self.wait_for_interval(record)
    }

    /// Says what is not verified, unless that is said already.
    fn name_unverified(&self, mut answer: GatesAnswer) -> GatesAnswer {
        if !answer.is_news {
            answer.name_unverified(self.layout, self.config, self.env);
        }
        answer
    }

    /// A stop that follows a block is let through, unless our own ledger proves that something
    /// was done since our own last block.
    fn guard_loop(&self, record: &GateRecord) -> Option<GatesAnswer> {
        let plain = || GatesAnswer::plain(Status::StopHookActive);
        let Some(turn) = self.ledger.as_ref().map(Ledger::turn) else {
            return Some(plain());
        };
        if self.config.stop_hook.loop_guard == LoopGuard::Strict {
            return Some(plain());
        }
        let mark = || {
            let failed = record.last.as_ref().map(|last| last.failed.as_slice());
            let tree = current_tree(self.config);
            mark(tree.ok().as_deref(), failed.unwrap_or_default())
        };
        match passage(turn, mark) {
            Passage::Judged => None,
            Passage::Letter => Some(plain()),
            Passage::NoProgress => {
                let message = format!(
                    "{} NOT verified: nothing changed since the gates failed.",
                    Status::StopHookActive.message()
                );
                Some(GatesAnswer::of(Status::StopHookActive, message).news())
            }
        }
    }

    /// After a pass the gates rest for a while, on the tree and the branch that passed. A time in
    /// the future is no time.
    fn wait_for_interval(&self, record: &GateRecord) -> Option<GatesAnswer> {
        let interval = self.config.stop_hook.interval;
        let last = record.last.as_ref()?;
        let base = Scope::default().base_name(self.config, self.env);
        let definitions = self.definitions.evidence(self.env, &base);
        let by_letter = self.config.stop_hook.interval_rule == IntervalRule::Letter;
        let (passed_at, tree) = match &record.verified {
            Some(verified)
                if last.status.is_pass()
                    && last.failed.is_empty()
                    && verified.definitions == definitions =>
            {
                (verified.at, (!by_letter).then_some(&verified.tree))
            }
            // The original's own state: it says nothing about the gates or the tree, so it counts
            // for an event in the specification's own shape only. After a run of ours there is a
            // record; if it is gone, somebody removed it.
            None if !last.is_own
                && last.status.is_pass()
                && (by_letter || self.event.session.is_none())
                && !self.ran_before() =>
            {
                (last.completed_at, None)
            }
            Some(_) | None => return None,
        };
        let elapsed = Duration::try_from(Timestamp::now().duration_since(passed_at)).ok()?;
        let left = interval
            .checked_sub(elapsed)
            .filter(|left| !left.is_zero())?;
        if let Some(tree) = tree {
            let git = Git::at(&self.config.root).ok()?;
            let is_same = git.branch() == last.branch
                && current_tree(self.config).is_ok_and(|now| now == *tree);
            if !is_same {
                return None;
            }
        }
        let seconds = left.as_secs() + u64::from(left.subsec_nanos() > 0);
        let message = format!(
            "⏭ The gates passed a short while ago (interval {} min); they run again in {} min {} s.",
            interval.as_secs() / 60,
            seconds / 60,
            seconds % 60,
        );
        let answer = GatesAnswer::of(Status::IntervalNotElapsed, message);
        // The very tree that passed need not be looked at again.
        Some(match tree {
            Some(_) => answer,
            None => self.name_unverified(answer),
        })
    }

    /// The tree that the session began with.
    fn first_tree(&self) -> Option<&str> {
        self.ledger.as_ref()?.recall(TREE)?.as_str()
    }

    /// Says how work went out of sight, if it did.
    fn name_hidden(&self, mut answer: GatesAnswer) -> GatesAnswer {
        let ledger = self.ledger.as_ref();
        if let Some(how) = ledger.and_then(|ledger| hidden(ledger, self.config, self.env)) {
            answer.message = format!("{} ⚠ NOT verified: {how} in this session.", answer.message);
            answer.is_news = true;
        }
        answer
    }

    fn ran_before(&self) -> bool {
        self.ledger
            .as_ref()
            .is_some_and(|ledger| ledger.recall(RAN).is_some())
    }

    fn block(&mut self, result: RunResult) -> GatesAnswer {
        let mark = mark(result.tree.as_deref(), &result.failures);
        if let Some(ledger) = &mut self.ledger
            && !ledger.block(BY, None, &mark)
        {
            let message = format!(
                "⚠ Released, NOT verified: {} This turn was blocked {} times, which is as often as this agent accepts; a person must decide.",
                result.message,
                ledger.turn().total()
            );
            return GatesAnswer::of(Status::RetryLimitExceeded, message).news();
        }
        let reason = reason::text(self.config, &result);
        GatesAnswer {
            reason: Some(reason),
            ..GatesAnswer::of(Status::Failed, result.message)
        }
    }
}

/// What a stop that follows a block means to the gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passage {
    /// They run.
    Judged,
    /// It is let through: none of the blocks in this turn is ours.
    Letter,
    /// It is let through: nothing was done since the gates failed.
    NoProgress,
}

/// Decides it by the state of the work, which is looked at only if that matters.
pub(crate) fn passage(turn: &Turn, mark: impl FnOnce() -> String) -> Passage {
    match turn.last_by(BY) {
        Some(last) if last.mark == mark() => Passage::NoProgress,
        Some(_) => Passage::Judged,
        // The plan loop goes before the gates: in a turn that it blocked, nobody asked them.
        None if turn.last().is_some() => Passage::Judged,
        None => Passage::Letter,
    }
}

/// Whether the gates blocked in this turn.
pub(crate) fn has_blocked(turn: &Turn) -> bool {
    turn.last_by(BY).is_some()
}

/// The work tree as it is, as the name of a tree.
fn current_tree(config: &Config) -> Result<String, GitError> {
    snapshot::snapshot(&Git::at(&config.root)?, config)
}

/// The same for one who does not wait long.
fn tree_within(config: &Config, patience: Duration) -> Result<String, GitError> {
    snapshot::snapshot(&Git::at(&config.root)?.wary(patience), config)
}

/// Tells one state of the work from another: the tree, and the reviews that the agent edits,
/// which lie outside of it.
fn mark(tree: Option<&str>, failures: &[Failure]) -> String {
    let reviews = failures.iter().flat_map(|failure| &failure.files);
    let reviews: Vec<_> = reviews
        .filter(|file| file.extension().is_some_and(|end| end == "json"))
        // It may be anything by now, also a pipe that nobody writes to.
        .map(|file| tollgate_store::fs::read_regular(file, CAP).ok().flatten())
        .map(|file| file.map(|file| file.bytes))
        .collect();
    digest(&(tree, reviews))
}

fn digest(value: &impl std::hash::Hash) -> String {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

//! The gates at an agent's stop: may it?
//!
//! Every way out is one of the thirteen statuses, and only `failed` blocks. Whatever Tollgate
//! cannot decide lets the stop through and says so: an undecided gate is not a passed gate.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tollgate_core::decision::{Decision, Fault, Finding, GATES, GateStatus};
use tollgate_core::env::{Env, SKIP};
use tollgate_core::next::{Next, Step};
use tollgate_core::project::Layout;
use tollgate_core::protocol::{Event, Protocol};

use super::reason;
use crate::gate::Scope;
use crate::gate::accepted::{self, Weakening};
use crate::gate::changes;
use crate::gate::config::{Config, ConfigError, Held, IntervalRule, LoopGuard, Weight, Words};
use crate::gate::evidence::{self, Assessment, Verification, with_assessment};
use crate::gate::jobs::Which;
use crate::gate::logs::Logs;
use crate::gate::record::{GateRecord, Last};
use crate::gate::run::{self, Asker, Purpose, Request, RunResult};
use crate::gate::snapshot;
use crate::gate::status::Status;
use crate::git::{AT_ONCE, Git, GitError, PATIENCE};
use crate::hash::digest;
use crate::ledger::{Bound, Ledger, UNWRITTEN, writes};
use crate::overrides::Overrides;
use crate::project_commands;
use crate::trust::{self, Consent};

/// The code of gates that block.
const FAILED: &str = "GATE-FAILED";

/// The code of what is wrong with the configuration.
const CONFIGURATION: &str = "gates-configuration";

/// Where the ledger keeps where the base was and what was stashed when the session began.
const BASE: &str = "base";

/// Where the ledger keeps that the session met gates.
const MET: &str = "gates";

/// Where the ledger keeps that gates ran in this session.
const RAN: &str = "gates_ran";

/// How long a stop waits for another session that edits.
const OTHERS: Duration = Duration::from_secs(30);

/// No file that is read here is larger.
const CAP: u64 = 8 << 20;

/// What the gates say about a stop, until it is a [`Decision`].
#[derive(Clone, Debug)]
struct StopStatus {
    status: Status,
    /// For the person.
    message: String,
    /// Why the stop is blocked, if it is: for the person and the agent.
    reason: Option<String>,
    /// How to go on, for the agent alone.
    instructions: Option<String>,
    /// Whether a person should know although the stop is allowed.
    is_news: bool,
    /// The code of the warning that tells them.
    code: &'static str,
    /// What else is wrong.
    notes: Vec<Fault>,
}

/// When a stop must be answered: so long after it came, unless the configuration says otherwise.
/// Who was asked before used up a part of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    pub(crate) begun: Instant,
    pub(crate) patience: Duration,
}

impl StopStatus {
    fn of(status: Status, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            reason: None,
            instructions: None,
            is_news: false,
            code: "GATE-NOTICE",
            notes: Vec::new(),
        }
    }

    fn plain(status: Status) -> Self {
        Self::of(status, status.message())
    }

    /// A person let the stop through although gates fail.
    fn allow(&mut self, words: &str) {
        // A reader of the status alone must not take it for a block, nor for a pass.
        self.status = Status::RetryLimitExceeded;
        self.reason = None;
        self.is_news = true;
        self.message = format!("NOT verified: {} But {words}", self.message);
    }

    fn decision(self) -> Decision {
        let message = self.message;
        let mut decision = Decision::default();
        if let Some(reason) = self.reason {
            let finding = Finding {
                instructions: self.instructions,
                ..Finding::new(FAILED, reason, &message)
            };
            // No command: specification 003 forbids agents to run the gates themselves.
            let finding = finding.next(Next::retry([Step::Work("fix what failed".to_owned())]));
            decision.block = Some(finding.by(GATES));
        } else if self.status == Status::Error {
            let fault = Fault::new("gates-not-run", message.clone());
            decision.faults.push(fault);
        } else if self.is_news {
            let finding = Finding::new(self.code, &message, &message);
            decision.warnings.push(finding.by(GATES));
        }
        decision.faults.extend(self.notes);
        Decision {
            gates: Some(GateStatus {
                status: self.status.as_str(),
                message,
            }),
            ..decision
        }
    }

    fn news(mut self) -> Self {
        self.is_news = true;
        self
    }

    /// Adds what a person should know.
    fn add(&mut self, what: &str) {
        self.message = format!("{} {what}", self.message);
        self.is_news = true;
    }

    fn note(&mut self, code: &'static str, what: String) {
        self.notes.push(Fault::new(code, what));
    }

    /// Adds a line to why the stop is blocked, if it is.
    fn explain(&mut self, line: &str) {
        if let Some(reason) = &mut self.reason {
            *reason = format!("{reason}\n{line}\n");
        }
    }

    /// A pass that says less than it seems is none without warnings.
    fn qualify(&mut self) {
        if self.status == Status::Passed {
            self.status = Status::PassedWithWarnings;
        }
    }

    /// Says what is not verified, if anything is not.
    fn name_unverified(&mut self, verification: Verification) {
        if let Some(why) = verification.reason() {
            self.add(&format!("NOT verified: {why}."));
        }
    }
}

/// An answer with nothing to say but its status.
pub(crate) fn plain(status: Status) -> Decision {
    StopStatus::plain(status).decision()
}

/// The same in other words.
pub(crate) fn with_message(status: Status, message: impl Into<String>) -> Decision {
    StopStatus::of(status, message).decision()
}

/// Nothing was run: the project's commands are not trusted.
pub(super) fn untrusted(line: impl Into<String>) -> Decision {
    let decision = with_message(Status::Error, line);
    let said = decision.faults.into_iter().map(|fault| fault.text);
    let said = said.map(|text| Finding::new(trust::CODE, &*text, &*text).by(trust::NAME));
    Decision {
        warnings: said.collect(),
        faults: Vec::new(),
        ..decision
    }
}

/// Decides a stop.
pub(super) fn decide(
    overrides: &Overrides<'_>,
    event: &Event<'_>,
    deadline: Deadline,
    consent: &Consent,
) -> Decision {
    let Overrides { layout, env, .. } = *overrides;
    let config = match Config::in_force(layout, env) {
        Ok(config) => config,
        Err(error) => {
            let ledger = Ledger::at_stop(layout, event);
            return unconfigured(&error, ledger.as_ref()).decision();
        }
    };
    if !consent.covers(|| project_commands::of(layout, env, Some(&config))) {
        return untrusted(trust::moved());
    }
    let mut answer = judge(layout, env, event, (&config, consent), deadline);
    let mut faults = Vec::new();
    if answer.reason.is_some()
        && let Some(allowed) = overrides.allowed(event, FAILED, &mut faults)
    {
        answer.allow(&allowed.words());
        record_release(layout, &config, env);
    }
    let mut decision = answer.decision();
    decision.faults.extend(faults);
    decision
}

/// What the gates of a project whose configuration loads say.
fn judge(
    layout: &Layout,
    env: &Env,
    event: &Event<'_>,
    (config, consent): (&Config, &Consent),
    deadline: Deadline,
) -> StopStatus {
    let logs = Logs::of(config);
    logs.debug(Timestamp::now(), "COMMAND stop-hook");
    let met = accepted::meet(layout, env, config);
    let Deadline { begun, patience } = deadline;
    let wanted = config.stop_hook.deadline.unwrap_or(patience);
    let cut_off = begun.checked_add(wanted).unwrap_or(begun + patience);
    let mut case = Case {
        layout,
        env,
        event,
        config,
        git: Git::at(&config.root),
        ledger: Ledger::at_stop(layout, event),
        cut_off,
        consent,
        weakened: met.as_deref().unwrap_or_default(),
        has_waited: false,
    };
    if let Some(ledger) = &mut case.ledger
        && config.has_gates()
    {
        ledger.keep(MET, true.into());
        remember_base(ledger, config, env, case.git.clone().ok());
    }
    let mut answer = case.decide();
    for warning in &config.warnings {
        answer.note(CONFIGURATION, warning.to_string());
    }
    if let Err(error) = config.remember(layout) {
        let what = format!("the last good tollgate.toml cannot be stored: {error}");
        answer.note(CONFIGURATION, what);
    }
    if let Some(held) = &config.held {
        name_held(&mut answer, held);
    }
    name_ignored_skip(&mut answer);
    match &met {
        Ok(weakened) if !weakened.is_empty() => name_weakened(&mut answer, weakened),
        Ok(_) => {}
        Err(error) => answer.note(
            CONFIGURATION,
            format!("it is unknown whether the gates were weakened: {error}"),
        ),
    }
    if let Some(ledger) = &case.ledger
        && let Err(error) = ledger.save()
    {
        answer.note(UNWRITTEN, Bound::Unwritten(error.to_string()).to_string());
    }
    logs.debug(
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

/// A stop that is let go without asking the gates, and what of them is not verified. Nothing where
/// there are no gates, or nothing to say about them.
pub(super) fn ungated(layout: &Layout, env: &Env, why: &str) -> Decision {
    let answer = match Config::in_force(layout, env) {
        Ok(config) => {
            let words = format!("○ This stop is not gated: {why}.");
            let mut answer = StopStatus::of(Status::StopHookDisabled, words);
            let git = Git::at(&config.root).map(|git| git.wary(AT_ONCE));
            answer.name_unverified(Verification::of_gates(layout, &config, env, git));
            if let Some(held) = &config.held {
                name_held(&mut answer, held);
            }
            answer
        }
        Err(ConfigError::Missing(_)) => StopStatus::plain(Status::NoConfig),
        Err(error @ ConfigError::Wrong(_)) => unconfigured(&error, None),
    };
    answer.decision()
}

/// Remembers the gates and the state of their inputs: when a session begins, and when a turn does.
pub(crate) fn meet(layout: &Layout, env: &Env, protocol: Protocol, session: &str, is_prompt: bool) {
    let Ok(config) = Config::in_force(layout, env) else {
        return;
    };
    // Unwritten, it is remembered at the first stop instead.
    let _later = config.remember(layout);
    let _later = accepted::meet(layout, env, &config);
    let mut ledger = Ledger::open(layout, protocol, session);
    if is_prompt && !ledger.begin_turn() {
        return;
    }
    if is_prompt || ledger.recall(MET).is_none() {
        ledger.keep(MET, true.into());
        let git = Git::at(&config.root);
        remember_base(&mut ledger, &config, env, git.clone().ok());
        let git = || git.clone().map(|git| git.wary(AT_ONCE));
        // Without a state that can be had in time, the next stop is gated.
        let mark = with_assessment(layout, &config, env, git(), |_, all| all.mark.clone());
        let others = writes::by_others(&layout.local(), session);
        let tree = || snapshot::tree(&git().ok()?, &config).ok();
        let tree = (!others.is_empty()).then(tree).flatten();
        ledger.see(mark.as_deref(), tree.as_deref());
        // Unwritten, it is remembered at the first stop instead.
        let _later = ledger.save();
    }
}

/// Remembers, once, where the base is and what is stashed away.
fn remember_base(ledger: &mut Ledger, config: &Config, env: &Env, git: Option<Git>) {
    if ledger.recall(BASE).is_none()
        && let Some(git) = git.map(|git| git.wary(AT_ONCE))
    {
        let base = Scope::default().base_name(config, env);
        let base = serde_json::json!({
            "base": changes::commit_of(&git, &base).ok(), "stashes": git.stashes(),
        });
        ledger.keep(BASE, base);
    }
}

/// Where the base was when the session began.
fn session_base(ledger: &Ledger) -> Option<String> {
    let base = ledger.recall(BASE)?.get("base")?.as_str()?;
    Some(base.to_owned())
}

/// Whether the session put work into a stash, where no gate sees it.
fn has_stashed(ledger: &Ledger, git: &Git) -> bool {
    let stashes = |base: &serde_json::Value| base.get("stashes")?.as_u64();
    let before = ledger.recall(BASE).and_then(stashes);
    before.is_some_and(|before| git.stashes() > before)
}

/// How the work went out of sight since the session began: onto the base, or into a stash.
fn hidden(ledger: &Ledger, git: &Git, name: &str) -> Option<String> {
    if has_stashed(ledger, git) {
        return Some("work was put into `git stash`".to_owned());
    }
    let base = ledger.recall(BASE)?;
    let before = base.get("base")?.as_str()?;
    let now = changes::commit_of(git, name).ok()?;
    let moved = now != before
        && changes::is_ancestor(git, "HEAD", &now)
        && !changes::is_ancestor(git, "HEAD", before);
    moved.then(|| format!("the base {name} was moved onto the work"))
}

/// Says that a stop leaves no gate out, where a person's shell asks for it.
fn name_ignored_skip(answer: &mut StopStatus) {
    let names = crate::environment::variable(SKIP).unwrap_or_default();
    if !names.is_empty() {
        let names = names.to_string_lossy();
        let what = format!("{SKIP} ({names}) is ignored: a stop leaves no gate out.");
        answer.add(&what);
        answer.explain(&what);
    }
}

fn name_weakened(answer: &mut StopStatus, weakened: &[Weakening]) {
    answer.qualify();
    let words = accepted::words(weakened);
    if !answer.message.contains(&words) {
        answer.add(&format!("⚠ NOT verified: {words}."));
    }
    answer.explain(&format!(
        "The gates themselves were changed ({}). This is reported to the person; changing gates does not make work pass.",
        accepted::listed(weakened)
    ));
    answer.is_news = true;
}

/// Says that the files are broken, and what was used instead. A pass of what was used is none of
/// what is written there now.
fn name_held(answer: &mut StopStatus, held: &Held) {
    answer.qualify();
    let errors = held.problems.iter();
    let errors = errors.filter(|problem| problem.weight == Weight::Error);
    let errors: Vec<_> = errors.map(ToString::to_string).collect();
    let errors = errors.join("; ");
    if !answer.message.contains(evidence::BROKEN) {
        answer.message = format!("{} NOT verified: {}.", answer.message, evidence::BROKEN);
    }
    if answer.reason.is_some() {
        let what = format!("⚠ The configuration is broken; {}. {errors}", held.by);
        answer.explain(&what);
        answer.note(CONFIGURATION, what);
    } else {
        answer.add(&format!("Until that is corrected, {}. {errors}", held.by));
        answer.code = CONFIGURATION;
    }
    answer.is_news = true;
}

fn unconfigured(error: &ConfigError, ledger: Option<&Ledger>) -> StopStatus {
    let met = ledger.is_some_and(|ledger| ledger.recall(MET).is_some());
    let since = if met {
        " The gates worked when this session began; since then their configuration was changed, and nothing is verified."
    } else {
        ""
    };
    let answer = match error {
        ConfigError::Missing(_) => {
            let answer = StopStatus::plain(Status::NoConfig);
            StopStatus {
                message: format!("{}{since}", answer.message),
                ..answer
            }
        }
        ConfigError::Wrong(_) => StopStatus::of(
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
    git: Result<Git, GitError>,
    ledger: Option<Ledger>,
    cut_off: Instant,
    consent: &'a Consent,
    /// How the gates were weakened since a person accepted them.
    weakened: &'a [Weakening],
    /// Whether it waited for another session.
    has_waited: bool,
}

impl Case<'_> {
    /// Assesses the gates, for which git has so much time.
    fn assessed<T>(
        &self,
        patience: Duration,
        read: impl FnOnce(&GateRecord, &Assessment<'_>) -> T,
    ) -> T {
        let git = self.git.clone().map(|git| git.wary(patience));
        with_assessment(self.layout, self.config, self.env, git, read)
    }

    fn decide(&mut self) -> StopStatus {
        if let Some(answer) = self.without_running() {
            return answer;
        }
        let request = Request {
            consent: self.consent,
            scope: Scope::default(),
            which: Which::All,
            skip: Vec::new(),
            gate: None,
            all: false,
            details: false,
            purpose: Purpose::Stop,
            cut_off: Some(self.cut_off),
            asker: Asker {
                session: self.event.session.as_deref().map(str::to_owned),
                prompt: self.event.prompt_id.as_deref().map(str::to_owned),
                trace: self.env.trace.clone(),
                is_agent: true,
            },
            began_with: self.ledger.as_ref().and_then(Ledger::began),
            session_base: self.ledger.as_ref().and_then(session_base),
            weakened: self.weakened.to_vec(),
            spent: self.ledger.as_ref().map(Ledger::runs),
        };
        let result = match run::begin(self.config, self.git.clone(), request.cut_off) {
            Ok(run) => run.run(self.layout, self.env, &request, &|_, _| ()),
            Err(early) => *early,
        };
        if let Some(ledger) = &mut self.ledger {
            if result.run_number.is_some() {
                ledger.keep(RAN, true.into());
                ledger.count_run(result.status != Status::Error);
            }
            ledger.see(result.mark.as_deref(), result.tree.as_deref());
        }
        if result.status.is_blocking() {
            return self.block(result);
        }
        self.released(result)
    }

    /// A stop that the gates let go, and what of them is not verified.
    fn released(&self, result: RunResult) -> StopStatus {
        let mut answer = StopStatus::of(result.status, result.message);
        let ledger = self.ledger.as_ref();
        match result.status {
            Status::RetryLimitExceeded | Status::Error | Status::LockConflict => {
                answer.is_news = true;
                if Instant::now() >= self.cut_off && result.status == Status::Error {
                    answer.message = format!(
                        "{}. The gates did not end before the hook's own deadline (`{}`).",
                        answer.message,
                        match self.config.words {
                            Words::Specification => "stop_hook.deadline_seconds",
                            Words::Own => "deadline",
                        }
                    );
                }
                return answer;
            }
            Status::NoApplicableGates | Status::NoChanges => {
                answer = self.name_hidden(answer);
            }
            Status::Passed | Status::PassedWithWarnings => {
                if let (Some(ledger), Ok(git)) = (ledger, &self.git)
                    && has_stashed(ledger, git)
                {
                    answer.add(
                        "⚠ Work was put into `git stash` in this session; the gates did not see it.",
                    );
                }
            }
            Status::Failed
            | Status::NoConfig
            | Status::StopHookActive
            | Status::IntervalNotElapsed
            | Status::InvalidInput
            | Status::StopHookDisabled => {}
        }
        if let Some(verification) = result.verification
            && self.config.has_gates()
        {
            answer.name_unverified(verification);
        }
        answer
    }

    /// The answer to a stop for which nothing need be run.
    fn without_running(&self) -> Option<StopStatus> {
        if !self.config.stop_hook.enabled {
            let answer = StopStatus::plain(Status::StopHookDisabled);
            return Some(self.name_unverified(answer));
        }
        // Rules or a workflow alone: git need not be asked what changed.
        if self.config.words == Words::Own && !self.config.has_gates() {
            return Some(StopStatus::plain(Status::NoApplicableGates));
        }
        let turn = self.ledger.as_ref().map(Ledger::turn);
        let has_blocked = turn.is_some_and(|turn| turn.last_by(GATES).is_some());
        if (self.event.stop_hook_active || has_blocked)
            && let Some(answer) = self.guard_loop()
        {
            return Some(self.name_unverified(answer));
        }
        self.wait_for_interval()
    }

    /// Says what is not verified, unless that is said already.
    fn name_unverified(&self, mut answer: StopStatus) -> StopStatus {
        if !answer.is_news && self.config.has_gates() {
            answer.name_unverified(self.assessed(AT_ONCE, |_, all| all.verification(self.config)));
        }
        answer
    }

    /// A stop that follows a block of ours is let through, unless something was done since. Agents set
    /// their flag after anybody's block: without a session nobody knows whose it was, and the letter of
    /// the specification holds.
    fn guard_loop(&self) -> Option<StopStatus> {
        let plain = || StopStatus::plain(Status::StopHookActive);
        let Some(turn) = self.ledger.as_ref().map(Ledger::turn) else {
            return Some(plain());
        };
        if self.config.stop_hook.loop_guard == LoopGuard::Strict {
            return Some(plain());
        }
        // Not blocked by us in this turn, it is decided like any other.
        let last = turn.last_by(GATES)?;
        let assessed = |record: &GateRecord, all: &Assessment<'_>| {
            mark(all.mark.as_deref(), &record.open_reviews())
        };
        if last.mark != self.assessed(PATIENCE, assessed) {
            return None;
        }
        let message = format!(
            "{} NOT verified: nothing changed since the gates failed.",
            Status::StopHookActive.message()
        );
        Some(StopStatus::of(Status::StopHookActive, message).news())
    }

    /// After a pass the gates rest for a while, on the tree and the branch that passed. A time in
    /// the future is no time.
    fn wait_for_interval(&self) -> Option<StopStatus> {
        let interval = self.config.stop_hook.interval;
        if interval.is_zero() {
            return None;
        }
        let record = GateRecord::load(self.layout, self.config, self.env);
        let last = record.last.as_ref().filter(|last| last.status.is_pass())?;
        let by_letter = self.config.stop_hook.interval_rule == IntervalRule::Letter;
        // The original's own state says nothing about the gates or the tree, so it counts for an
        // event in the specification's own shape only. After a run of ours there is a record; if it
        // is gone, it was removed.
        let may_count =
            last.is_own || ((by_letter || self.event.session.is_none()) && !self.ran_before());
        if !may_count {
            return None;
        }
        let elapsed = Timestamp::now().duration_since(last.completed_at);
        let left = interval
            .checked_sub(Duration::try_from(elapsed).ok()?)
            .filter(|left| !left.is_zero())?;
        let is_same_tree = last.is_own && !by_letter;
        if is_same_tree && !self.is_as_verified(last) {
            return None;
        }
        let seconds = left.as_secs() + u64::from(left.subsec_nanos() > 0);
        let message = format!(
            "⏭ The gates passed a short while ago (interval {} min); they run again in {} min {} s.",
            interval.as_secs() / 60,
            seconds / 60,
            seconds % 60,
        );
        let answer = StopStatus::of(Status::IntervalNotElapsed, message);
        Some(if is_same_tree {
            answer
        } else {
            self.name_unverified(answer)
        })
    }

    /// Whether the work is what the last run passed on, on the same branch, and verified.
    fn is_as_verified(&self, last: &Last) -> bool {
        let is_same = |_: &GateRecord, all: &Assessment<'_>| {
            all.mark == last.mark && all.is_verified() && all.weakened.is_empty()
        };
        self.assessed(PATIENCE, is_same)
            && self
                .git
                .as_ref()
                .is_ok_and(|git| git.branch() == last.branch)
    }

    /// Says how work went out of sight, if it did.
    fn name_hidden(&self, mut answer: StopStatus) -> StopStatus {
        let base = Scope::default().base_name(self.config, self.env);
        if let (Some(ledger), Ok(git)) = (&self.ledger, &self.git)
            && let Some(how) = hidden(ledger, git, &base)
        {
            answer.add(&format!("⚠ NOT verified: {how} in this session."));
        }
        answer
    }

    fn ran_before(&self) -> bool {
        self.ledger
            .as_ref()
            .is_some_and(|ledger| ledger.recall(RAN).is_some())
    }

    /// Lets a stop go though gates fail.
    fn release(&self, why: &str) -> StopStatus {
        record_release(self.layout, self.config, self.env);
        let message = format!("⚠ Released, NOT verified: {why}");
        StopStatus::of(Status::RetryLimitExceeded, message).news()
    }

    fn block(&mut self, result: RunResult) -> StopStatus {
        let others = self.changed_by_others(&result);
        if let Some(Others {
            paths,
            are_all: true,
        }) = &others
        {
            let paths = paths.join(", ");
            if self.wait_for_others(&result) {
                // They may have checked out another branch.
                self.git = Git::at(&self.config.root);
                return self.decide();
            }
            let why = format!("another session is editing ({paths}). {}", result.message);
            return self.release(&why);
        }
        let mark = mark(result.mark.as_deref(), &result.open_reviews);
        if let Some(ledger) = &mut self.ledger
            && let Err(bound) = ledger.block(GATES, None, &mark)
        {
            let why = format!("{} {bound}; a person must decide.", result.message);
            return self.release(&why);
        }
        let (mut reason, instructions) = reason::texts(self.config, &result);
        if let Some(Others { paths, .. }) = others {
            reason = format!(
                "{reason}\nAnother session changed files meanwhile: {}. What fails because of them is not yours to fix.\n",
                paths.join(", ")
            );
        }
        StopStatus {
            reason: Some(reason),
            instructions: Some(instructions),
            ..StopStatus::of(Status::Failed, result.message)
        }
    }
}

/// Files that other sessions changed since the turn began.
struct Others {
    paths: Vec<String>,
    /// Whether nothing else changed.
    are_all: bool,
}

impl Case<'_> {
    /// What other sessions changed of what changed in this turn, if anybody knows.
    fn changed_by_others(&self, result: &RunResult) -> Option<Others> {
        let session = self.event.session.as_deref()?;
        let ledger = self.ledger.as_ref()?;
        // What they wrote before this turn began is not what changed in it.
        let lasts = ledger.lasts(Timestamp::now())?;
        let written = writes::by_others_within(&self.layout.local(), session, lasts);
        let began = ledger.began_tree()?;
        let git = self.git.as_ref().ok()?;
        let trees = (began, result.tree.as_deref()?);
        let changed = changes::between(git, trees, self.config).ok()?;
        let (theirs, own): (Vec<String>, Vec<String>) =
            changed.into_iter().partition(|path| written.contains(path));
        (!theirs.is_empty()).then_some(Others {
            paths: theirs,
            are_all: own.is_empty(),
        })
    }

    /// Waits until the work is another than the one of a run. Only once: the session that edits may
    /// go on for long.
    fn wait_for_others(&mut self, result: &RunResult) -> bool {
        if std::mem::replace(&mut self.has_waited, true) {
            return false;
        }
        let end = Instant::now() + OTHERS;
        while Instant::now() < end.min(self.cut_off) {
            std::thread::sleep(Duration::from_secs(1));
            let mark = |_: &GateRecord, all: &Assessment<'_>| all.mark.clone();
            let now = self.assessed(AT_ONCE, mark);
            if now.is_some() && now != result.mark {
                return true;
            }
        }
        false
    }
}

/// What is said of a stop that is let go is what is recorded of it.
fn record_release(layout: &Layout, config: &Config, env: &Env) {
    let released = |record: &mut GateRecord| {
        if let Some(last) = &mut record.last {
            last.status = Status::RetryLimitExceeded;
        }
    };
    // The stop is let go all the same.
    let _unrecorded = GateRecord::change(layout, config, env, released);
}

/// Tells one state of the work from another: the gates' inputs, and the reviews that the agent edits,
/// which are none of them.
fn mark(inputs: Option<&str>, reviews: &[PathBuf]) -> String {
    let reviews: Vec<_> = reviews
        .iter()
        // It may be anything by now, also a pipe without a writer.
        .map(|file| tollgate_store::fs::read_regular(file, CAP).ok().flatten())
        .map(|file| file.map(|file| file.bytes))
        .collect();
    digest((inputs, reviews))
}

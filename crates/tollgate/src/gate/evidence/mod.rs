//! The only place that says *verified*.
//!
//! [`verification`] decides it for one gate, from what the gate said about its inputs and definition as
//! they are now. [`Assessment`] does so for all gates of a project, and [`Verification`] is what a
//! stop, a run, the screens, the phases and the exit codes say of it. A ✔ is printed for
//! [`Verification::Verified`] and for nothing else.

mod inputs;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tollgate_core::env::Env;
use tollgate_core::project::Layout;
use tollgate_store::timestamp::iso;

use super::accepted::{self, Weakening};
use super::changes::{self, Before, Scope};
use super::config::{Config, ConfigError, EvidenceRules, Words};
use super::definitions;
use super::jobs::{self, Gate, Instance, Job, Site};
use super::record::{Evidence, Failure, GateRecord, Key};
use super::snapshot::{Snapshot, Taken};
use crate::git::{Git, GitError, PATIENCE};
use crate::hash::hex;
use crate::review::outcome::Outcome;
use inputs::Contents;
pub(crate) use inputs::looks_at;

/// The sign before everything that is verified, and before nothing else; a test checks that.
pub(crate) const SIGN: &str = "✔";

/// Why nothing is verified while the configuration is broken.
pub(crate) const BROKEN: &str = "the configuration is broken; `tollgate validate` says where";

/// What can be said about one gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GateVerification {
    /// Its last word about these inputs is a pass.
    Verified {
        at: Timestamp,
        has_warnings: bool,
    },
    /// Its last word about these inputs is a fail.
    Failed {
        at: Timestamp,
        message: String,
    },
    /// It said something about other inputs, or too long ago.
    Stale {
        at: Timestamp,
        why: Stale,
    },
    /// It passed and failed on the same inputs.
    Flaky {
        at: Timestamp,
    },
    /// It passed, and was changed before: that was not accepted.
    Unaccepted {
        at: Timestamp,
    },
    /// It gave no result about these inputs.
    Inconclusive {
        at: Timestamp,
        message: String,
        /// Whether its last answer was a fail.
        has_failed: bool,
    },
    NeverRan,
    /// It has nothing to do here, and why.
    NotApplicable(String),
    /// It is unknown, and why.
    Unknown(String),
}

/// Why evidence is stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stale {
    /// Its inputs changed since it passed.
    Changed,
    /// Its inputs changed since it failed.
    ChangedAfterFailure,
    /// The gate itself changed.
    Definition,
    /// It is older than `max_age`.
    TooOld,
    /// It is of a moment that is still to come.
    Future,
}

impl Stale {
    fn as_str(self) -> &'static str {
        match self {
            Self::Changed => "stale: its inputs changed since it passed",
            Self::ChangedAfterFailure => "stale: it failed, and its inputs changed since",
            Self::Definition => "stale: the gate itself changed since",
            Self::TooOld => "stale: its pass is older than max_age",
            Self::Future => "stale: its evidence is dated in the future",
        }
    }
}

/// Why a gate keeps its project from being verified, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Complaint {
    Failed,
    Flaky,
    NoAnswer,
    ChangedAfterFailure,
    Stale(Stale),
    NeverRan,
}

impl Complaint {
    fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Flaky => "passed and failed on the same inputs (flaky)",
            Self::NoAnswer => "gave no result",
            Self::ChangedAfterFailure => "failed, and its inputs changed since",
            Self::Stale(why) => why.as_str(),
            Self::NeverRan => "never ran",
        }
    }
}

/// What can be said about a gate with these pieces of evidence, oldest first.
pub(crate) fn verification(
    all: &[Evidence],
    key: &Key,
    rules: EvidenceRules,
    now: Timestamp,
) -> GateVerification {
    // Who gave no result takes none back.
    let is_answer =
        |evidence: &&Evidence| evidence.outcome == Outcome::Pass || evidence.outcome.is_failure();
    let last = all.iter().rfind(is_answer);
    let Some(evidence) = all.iter().rfind(|evidence| evidence.key == *key) else {
        return last.map_or(GateVerification::NeverRan, |last| {
            let why = if last.outcome.is_failure() {
                Stale::ChangedAfterFailure
            } else if last.key.definition == key.definition {
                Stale::Changed
            } else {
                Stale::Definition
            };
            GateVerification::Stale { at: last.at, why }
        });
    };
    let at = evidence.at;
    let message = evidence.message.clone();
    let Ok(age) = Duration::try_from(now.duration_since(at)) else {
        let why = Stale::Future;
        return GateVerification::Stale { at, why };
    };
    match evidence.outcome {
        Outcome::Fail | Outcome::Error => GateVerification::Failed { at, message },
        Outcome::Inconclusive | Outcome::NotRun => GateVerification::Inconclusive {
            at,
            message,
            has_failed: last.is_some_and(|last| last.outcome.is_failure()),
        },
        Outcome::Pass if evidence.is_flaky && !evidence.is_accepted => {
            GateVerification::Flaky { at }
        }
        Outcome::Pass if age > rules.max_age => {
            let why = Stale::TooOld;
            GateVerification::Stale { at, why }
        }
        Outcome::Pass => GateVerification::Verified {
            at,
            has_warnings: evidence.is_warned,
        },
    }
}

impl GateVerification {
    pub(crate) fn is_verified(&self) -> bool {
        matches!(self, Self::Verified { .. })
    }

    /// Whether it has something to do here.
    pub(crate) fn is_applicable(&self) -> bool {
        !matches!(self, Self::NotApplicable(_))
    }

    /// Whether its last word is a fail, about these inputs or about those before.
    pub(crate) fn is_failing(&self) -> bool {
        match self {
            Self::Failed { .. } => true,
            Self::Stale { why, .. } => *why == Stale::ChangedAfterFailure,
            Self::Inconclusive { has_failed, .. } => *has_failed,
            Self::Verified { .. }
            | Self::Flaky { .. }
            | Self::Unaccepted { .. }
            | Self::NeverRan
            | Self::NotApplicable(_)
            | Self::Unknown(_) => false,
        }
    }

    fn complaint(&self) -> Option<Complaint> {
        match self {
            Self::Failed { .. } => Some(Complaint::Failed),
            Self::Flaky { .. } => Some(Complaint::Flaky),
            Self::Inconclusive { .. } => Some(Complaint::NoAnswer),
            Self::Stale {
                why: Stale::ChangedAfterFailure,
                ..
            } => Some(Complaint::ChangedAfterFailure),
            Self::Stale { why, .. } => Some(Complaint::Stale(*why)),
            Self::NeverRan => Some(Complaint::NeverRan),
            Self::Verified { .. }
            | Self::Unaccepted { .. }
            | Self::NotApplicable(_)
            | Self::Unknown(_) => None,
        }
    }

    /// When its last word was.
    pub(crate) fn at(&self) -> Option<Timestamp> {
        match self {
            Self::Verified { at, .. }
            | Self::Failed { at, .. }
            | Self::Stale { at, .. }
            | Self::Flaky { at }
            | Self::Unaccepted { at }
            | Self::Inconclusive { at, .. } => Some(*at),
            Self::NeverRan | Self::NotApplicable(_) | Self::Unknown(_) => None,
        }
    }

    /// The word of the glossary, as files and programs have it.
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Self::Verified { .. } => "verified",
            Self::Failed { .. } => "failed",
            Self::Stale { .. } => "stale",
            Self::Flaky { .. } => "flaky",
            Self::Unaccepted { .. } => "unaccepted",
            Self::Inconclusive { .. } => "inconclusive",
            Self::NeverRan => "never_ran",
            Self::NotApplicable(_) => "not_applicable",
            Self::Unknown(_) => "unknown",
        }
    }

    /// The sign of it.
    pub(crate) fn sign(&self) -> &'static str {
        match self {
            Self::Verified { .. } => SIGN,
            Self::Failed { .. } => "✖",
            Self::NotApplicable(_) => "·",
            Self::Stale { .. }
            | Self::Flaky { .. }
            | Self::Unaccepted { .. }
            | Self::Inconclusive { .. }
            | Self::NeverRan
            | Self::Unknown(_) => "?",
        }
    }
}

impl std::fmt::Display for GateVerification {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Verified { .. } => f.write_str("verified"),
            Self::Failed { message, .. } if message.is_empty() => f.write_str("failed"),
            Self::Failed { message, .. } => write!(f, "failed: {message}"),
            Self::Stale { why, .. } => f.write_str(why.as_str()),
            Self::Flaky { .. } => {
                f.write_str("flaky: a person accepts it with `tollgate validate --accept`")
            }
            Self::Unaccepted { .. } => {
                f.write_str("passed, but this gate was changed and the change was not accepted")
            }
            Self::Inconclusive { message, .. } => write!(f, "inconclusive: {message}"),
            Self::NeverRan => f.write_str("never ran"),
            Self::NotApplicable(why) => write!(f, "not applicable: {why}"),
            Self::Unknown(why) => write!(f, "cannot tell: {why}"),
        }
    }
}

/// A gate, what its evidence is about now, and what can be said about it.
#[derive(Clone, Debug)]
pub(crate) struct Assessed<'c> {
    pub(crate) gate: Instance<'c>,
    pub(crate) key: Key,
    pub(crate) verification: GateVerification,
}

/// All gates of a project, on the work as it is now.
#[derive(Debug)]
pub(crate) struct Assessment<'c> {
    pub(crate) gates: Vec<Assessed<'c>>,
    /// Gates that are configured and have no place here, with the reason.
    pub(crate) elsewhere: Vec<(String, GateVerification)>,
    /// How the gates were weakened since a person accepted them.
    pub(crate) weakened: Vec<Weakening>,
    /// Why the evidence that is there is not believed.
    pub(crate) doubt: Option<String>,
    /// Tells this state of the gates and their inputs from others; none if it is unknown.
    pub(crate) mark: Option<String>,
    /// The same of the gates alone.
    pub(crate) definitions: String,
}

/// Asks for the evidence of a project. What does not depend on the work tree is found out when it is
/// made, while git still reads the work tree.
pub(crate) struct Assessor<'g> {
    config: &'g Config,
    env: &'g Env,
    git: &'g Git,
    /// Where the base was when the session began.
    session_base: Option<&'g str>,
    /// How the gates were weakened since a person accepted them.
    weakened: Vec<Weakening>,
    /// All gates, each with a digest of its definition.
    gates: Vec<(Instance<'g>, String)>,
    /// What the gates are, as a digest.
    pub(super) definitions: String,
}

impl<'g> Assessor<'g> {
    pub(crate) fn new(
        config: &'g Config,
        env: &'g Env,
        git: &'g Git,
        session_base: Option<&'g str>,
        weakened: Vec<Weakening>,
    ) -> Self {
        let gates = jobs::instances(config, Site::of(env)).into_iter();
        let gates = gates.map(|gate| {
            let definition = definitions::of_gate(config, &gate);
            (gate, definition)
        });
        let gates: Vec<_> = gates.collect();
        let definitions = digest(
            gates
                .iter()
                .map(|(gate, definition)| format!("{} {definition}", gate.job.evidence_id())),
        );
        Self {
            config,
            env,
            git,
            session_base,
            weakened,
            gates,
            definitions,
        }
    }

    /// Assesses all gates.
    pub(crate) fn assess(
        mut self,
        taken: &'g Taken,
        record: &GateRecord,
        now: Timestamp,
    ) -> Assessment<'g> {
        let mut contents = Contents::of(self.git, taken, self.config);
        let site = Site::of(self.env);
        let mut gates: Vec<Assessed<'g>> = std::mem::take(&mut self.gates)
            .into_iter()
            .map(|(gate, definition)| {
                let key = contents.key(&gate, definition);
                let all = record.gates.get(&key.gate).map(Vec::as_slice);
                let rules = gate.job.evidence_rules();
                let verification = verification(all.unwrap_or_default(), &key, rules, now);
                Assessed {
                    gate,
                    key,
                    verification,
                }
            })
            .collect();
        self.settle_reviews(taken, record, &mut gates);
        let mark = digest(gates.iter().map(|one| {
            let Key {
                gate,
                definition,
                inputs,
                ..
            } = &one.key;
            format!("{gate} {definition} {inputs}")
        }));
        Assessment {
            elsewhere: elsewhere(self.config, site, &gates),
            weakened: self.weakened,
            doubt: record.doubt.clone(),
            gates,
            mark: Some(mark),
            definitions: self.definitions,
        }
    }

    /// A review is about changes: where nothing changed, there is nothing to review.
    fn settle_reviews(&self, taken: &Taken, record: &GateRecord, gates: &mut [Assessed<'_>]) {
        let is_open = |one: &&mut Assessed<'_>| {
            matches!(one.gate.job.gate, Gate::Review(_))
                && !one.verification.is_verified()
                && !one.verification.is_failing()
        };
        let mut open: Vec<_> = gates.iter_mut().filter(is_open).collect();
        if open.is_empty() {
            return;
        }
        let name = Scope::default().base_name(self.config, self.env);
        let before = Before {
            verified: record.verified_trees(self.env),
            session_base: self.session_base,
        };
        let since = (name.as_str(), before);
        let changed = changes::since_base(self.git, taken, since, self.config);
        for one in &mut open {
            one.verification = match &changed {
                Err(error) => GateVerification::Unknown(error.to_string()),
                Ok((paths, label)) => {
                    let leads = |path: &String| {
                        let mut places = one.gate.places.iter();
                        places.any(|(entry, place)| jobs::leads(entry, place, path))
                    };
                    if paths.iter().any(leads) {
                        continue;
                    }
                    let why = format!("nothing to review: nothing changed since {label}");
                    GateVerification::NotApplicable(why)
                }
            };
        }
    }
}

/// One digest of what is said about each gate.
fn digest(said: impl Iterator<Item = String>) -> String {
    let said: String = said.map(|one| one + "\0").collect();
    hex(&Sha256::digest(said.as_bytes()))
}

/// The gates that are configured and cannot run here.
fn elsewhere(
    config: &Config,
    site: Site,
    gates: &[Assessed<'_>],
) -> Vec<(String, GateVerification)> {
    let known: BTreeSet<&str> = gates.iter().map(|one| one.gate.job.name).collect();
    let here = match site {
        Site::Ci => "it does not run in CI",
        Site::Local => "it runs in CI only",
    };
    let why = |is_elsewhere: bool| {
        let why = if is_elsewhere {
            here
        } else {
            "no path that it guards exists"
        };
        GateVerification::NotApplicable(why.to_owned())
    };
    let checks = config.checks.iter().map(|(name, check)| {
        let is_elsewhere = !site.runs(check.run_in_ci, check.run_locally);
        (name, why(is_elsewhere))
    });
    let reviews = config.reviews.iter().map(|(name, review)| {
        let is_elsewhere = !site.runs(review.run_in_ci, review.run_locally);
        let why = if review.enabled {
            why(is_elsewhere)
        } else {
            GateVerification::NotApplicable("it is disabled".to_owned())
        };
        (name, why)
    });
    let all = checks.chain(reviews);
    all.filter(|(name, _)| !known.contains(name.as_str()))
        .map(|(name, why)| (name.clone(), why))
        .collect()
}

impl<'c> Assessment<'c> {
    /// Of gates that nothing is known about, for this reason.
    fn unknown(layout: &Layout, config: &'c Config, env: &Env, why: &str) -> Self {
        let site = Site::of(env);
        let gates = jobs::instances(config, site).into_iter();
        let gates = gates.map(|gate| Assessed {
            key: Key::default(),
            verification: GateVerification::Unknown(why.to_owned()),
            gate,
        });
        let gates: Vec<_> = gates.collect();
        Self {
            elsewhere: elsewhere(config, site, &gates),
            weakened: accepted::changes(layout, env, config),
            doubt: None,
            mark: None,
            definitions: String::new(),
            gates,
        }
    }
}

impl Assessment<'_> {
    /// What can be said about all of them together.
    pub(crate) fn verification(&self, config: &Config) -> Verification {
        let not = |why: String| Verification::Not(why);
        if config.held.is_some() {
            return not(BROKEN.to_owned());
        }
        let applicable = || {
            let gates = self.gates.iter();
            gates.filter(|one| one.verification.is_applicable())
        };
        let mut unknown = None;
        let mut said: BTreeMap<Complaint, Vec<&str>> = BTreeMap::new();
        for one in applicable() {
            if let GateVerification::Unknown(why) = &one.verification {
                unknown = Some(why.clone());
            }
            if let Some(complaint) = one.verification.complaint() {
                let names = said.entry(complaint).or_default();
                names.push(called(config, &one.gate.job));
            }
        }
        let said = said.into_iter();
        let said = said.map(|(what, names)| format!("{}: {}", names.join(", "), what.as_str()));
        let mut said: Vec<String> = said.collect();
        if let Some(doubt) = self.doubt.as_ref().filter(|_| !said.is_empty()) {
            said.push(doubt.clone());
        }
        if !self.weakened.is_empty() {
            said.push(accepted::words(&self.weakened));
        }
        if let Some(why) = unknown {
            return Verification::Unknown(why);
        }
        if !said.is_empty() {
            return not(said.join("; "));
        }
        match applicable().filter_map(|one| one.verification.at()).min() {
            Some(at) => Verification::Verified { at },
            None if config.has_gates() => not("no gate applies here".to_owned()),
            None => not("no gates are configured".to_owned()),
        }
    }

    /// What can be said after a run, on what it was about.
    pub(crate) fn refresh(&mut self, record: &GateRecord) {
        let now = Timestamp::now();
        for one in &mut self.gates {
            let all = record.gates.get(&one.key.gate).map(Vec::as_slice);
            let rules = one.gate.job.evidence_rules();
            let said = verification(all.unwrap_or_default(), &one.key, rules, now);
            if one.verification.is_applicable() || said != GateVerification::NeverRan {
                one.verification = said;
            }
        }
        self.doubt.clone_from(&record.doubt);
    }

    /// Whether a gate that applies is not verified.
    pub(crate) fn is_unverified(&self) -> bool {
        let mut gates = self.gates.iter();
        gates.any(|one| one.verification.is_applicable() && !one.verification.is_verified())
    }

    /// Whether every gate that applies is verified, and there is one.
    pub(crate) fn is_verified(&self) -> bool {
        let mut gates = self.gates.iter();
        gates.any(|one| one.verification.is_verified()) && !self.is_unverified()
    }

    /// When the oldest evidence was made that all of it rests on; none if something is not verified.
    pub(crate) fn verified_at(&self) -> Option<Timestamp> {
        let at = self
            .gates
            .iter()
            .filter_map(|one| one.verification.at())
            .min();
        at.filter(|_| self.is_verified())
    }

    /// Whether a pass has warnings.
    pub(crate) fn has_warnings(&self) -> bool {
        let mut gates = self.gates.iter();
        gates.any(|one| {
            matches!(
                one.verification,
                GateVerification::Verified {
                    has_warnings: true,
                    ..
                }
            )
        })
    }

    /// The gates whose last word about these inputs is a fail.
    pub(crate) fn failures(&self, record: &GateRecord) -> Vec<Failure> {
        let failing = self
            .gates
            .iter()
            .filter(|one| matches!(one.verification, GateVerification::Failed { .. }));
        failing
            .filter_map(|one| {
                let evidence = record.about(&one.key)?;
                Some(Failure {
                    id: one.gate.job.id.clone(),
                    message: evidence.message.clone(),
                    files: evidence.files.clone(),
                })
            })
            .collect()
    }

    /// What is shown of a gate: a pass of one that was weakened is none until a person accepts that.
    pub(crate) fn shown(&self, one: &Assessed<'_>) -> GateVerification {
        let mut weakened = self.weakened.iter();
        if let GateVerification::Verified { at, .. } = one.verification
            && weakened.any(|change| change.concerns(one.gate.job.name))
        {
            return GateVerification::Unaccepted { at };
        }
        one.verification.clone()
    }
}

/// What a gate is called in the words of its home.
fn called<'j>(config: &Config, job: &'j Job<'_>) -> &'j str {
    match config.words {
        Words::Own => job.name,
        Words::Specification => &job.id,
    }
}

/// What can be said about all gates of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verification {
    /// Every gate that applies is verified; the oldest evidence is of this moment.
    Verified { at: Timestamp },
    /// Why not.
    Not(String),
    /// It is unknown, and why.
    Unknown(String),
}

impl Verification {
    /// Asks about the gates of a project.
    pub(crate) fn of(layout: &Layout, env: &Env) -> Self {
        match Config::load(layout, env) {
            Ok(config) => {
                let git = Git::at(&config.root).map(|git| git.wary(PATIENCE));
                Self::of_gates(layout, &config, env, git)
            }
            Err(ConfigError::Missing(_)) => Self::Not("no gates are configured".to_owned()),
            Err(ConfigError::Wrong(_)) => Self::Not(
                "the gates' configuration is wrong; `tollgate validate` says where".to_owned(),
            ),
        }
    }

    /// The same of gates that are loaded.
    pub(crate) fn of_gates(
        layout: &Layout,
        config: &Config,
        env: &Env,
        git: Result<Git, GitError>,
    ) -> Self {
        let say = |_: &GateRecord, all: &Assessment<'_>| all.verification(config);
        with_assessment(layout, config, env, git, say)
    }

    /// Why not.
    pub(crate) fn reason(self) -> Option<String> {
        match self {
            Self::Verified { .. } => None,
            Self::Not(why) => Some(why),
            Self::Unknown(why) => Some(format!("cannot tell: {why}")),
        }
    }

    /// The one verdict of every display: verified, or what is missing.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Verified { .. } => "verified".to_owned(),
            Self::Not(why) => format!("not verified: {why}"),
            Self::Unknown(why) => format!("cannot tell: {why}"),
        }
    }

    /// The word of it, as programs have it.
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Self::Verified { .. } => "verified",
            Self::Not(_) => "not_verified",
            Self::Unknown(_) => "unknown",
        }
    }

    /// What `status --exit-code` exits with.
    pub(crate) fn exit(&self) -> u8 {
        match self {
            Self::Verified { .. } => 0,
            Self::Not(_) => 1,
            Self::Unknown(_) => 2,
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        match self {
            Self::Verified { at } => json!({ "verified": true, "at": iso(*at) }),
            Self::Not(why) => json!({ "verified": false, "why": why }),
            Self::Unknown(why) => json!({ "verified": null, "why": why }),
        }
    }
}

impl std::fmt::Display for Verification {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Verified { .. } => f.write_str("gates: verified on this tree"),
            Self::Not(why) => write!(f, "gates: not verified: {why}"),
            Self::Unknown(why) => write!(f, "gates: cannot tell whether they are verified: {why}"),
        }
    }
}

/// Assesses the gates of a project for one who only asks. Where git cannot tell, nothing is known about
/// any gate.
pub(crate) fn with_assessment<T>(
    layout: &Layout,
    config: &Config,
    env: &Env,
    git: Result<Git, GitError>,
    read: impl FnOnce(&GateRecord, &Assessment<'_>) -> T,
) -> T {
    let record = GateRecord::load(layout, config, env);
    let snapshot = || -> Result<(Git, Taken), GitError> {
        let git = git?;
        let taken = Snapshot::begin(&git, config)?.taken(&git)?;
        Ok((git, taken))
    };
    match snapshot() {
        Ok((git, taken)) => {
            let weakened = accepted::changes(layout, env, config);
            let assessor = Assessor::new(config, env, &git, None, weakened);
            let assessment = assessor.assess(&taken, &record, Timestamp::now());
            read(&record, &assessment)
        }
        Err(error) => read(
            &record,
            &Assessment::unknown(layout, config, env, &error.to_string()),
        ),
    }
}

//! What changed, and what can be said about each gate, without running anything.

use jiff::Timestamp;
use tollgate_core::env::Env;
use tollgate_core::project::Layout;

use super::accepted;
use super::changes::{self, Before, Comparison, Differing, Scope};
use super::config::Config;
use super::evidence::{Assessor, GateVerification};
use super::jobs::{Site, Which};
use super::nested;
use super::record::GateRecord;
use super::snapshot::Snapshot;
use super::work::{self, Choice};
use crate::git::{Git, GitError};

/// What there is to run.
#[derive(Debug)]
pub(crate) struct Detected {
    pub(crate) changed: Vec<String>,
    /// What the changes are compared with.
    pub(crate) since: String,
    pub(crate) gates: Vec<DetectedGate>,
}

/// A gate, whether it would run, and why.
#[derive(Debug)]
pub(crate) struct DetectedGate {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) entry_point: String,
    pub(crate) would_run: bool,
    pub(crate) verification: GateVerification,
}

/// Finds out what `run` would do.
pub(crate) fn detect(
    layout: &Layout,
    config: &Config,
    env: &Env,
    scope: &Scope,
) -> Result<Detected, GitError> {
    let git = Git::at(&config.root)?;
    let snapshot = Snapshot::begin(&git, config)?;
    let record = GateRecord::load(layout, config, env);
    let name = scope.base_name(config, env);
    let committed = changes::committed_pair(&git, scope, env, &name)?;
    let weakened = accepted::changes(layout, env, config);
    let assessor = Assessor::new(config, env, &git, None, weakened);
    let definitions = assessor.definitions.clone();
    let head = changes::head(&git);
    let comparison = Comparison {
        scope,
        config,
        base: &name,
        head: head.as_deref(),
        before: Before {
            verified: record.verified_trees(env),
            session_base: None,
        },
        definitions: &definitions,
    };
    let is_compared = committed.is_none() && scope.files.is_empty();
    let older = is_compared.then(|| comparison.older(&git));
    let (taken, differing) = match older.transpose()? {
        Some(older) => {
            let (taken, differing) = Differing::of(&git, snapshot, older)?;
            (taken, Some(differing))
        }
        None => (snapshot.taken(&git)?, None),
    };
    let assessment = assessor.assess(&taken, &record, Timestamp::now());
    let (changed, since) = match (committed, differing) {
        (Some(pair), _) => (
            changes::between(&git, (&pair.base, pair.head.name()?), config)?,
            pair.label,
        ),
        (None, Some(differing)) => {
            let ((_, label), changes) = comparison.changes(&git, &taken, differing)?;
            let mut changed = nested::paths(&git, changes)?;
            changes::tidy(&mut changed, config);
            (changed, label)
        }
        (None, None) => (scope.files.clone(), "the named files".to_owned()),
    };
    let choice = Choice::of(scope, env, &changed);
    let site = Site::of(env);
    let jobs = work::choose(config, &assessment, &changed, choice, Which::All, site);
    let gates = assessment.gates.iter().map(|one| {
        let job = jobs.iter().find(|job| job.evidence_id() == one.key.gate);
        let shown = job.unwrap_or(&one.gate.job);
        DetectedGate {
            id: shown.id.clone(),
            name: shown.name.to_owned(),
            kind: shown.kind(),
            entry_point: shown.entry_point.clone(),
            would_run: job.is_some(),
            verification: assessment.shown(one),
        }
    });
    let elsewhere = assessment.elsewhere.iter().map(|(name, why)| DetectedGate {
        id: name.clone(),
        name: name.clone(),
        kind: "gate",
        entry_point: String::new(),
        would_run: false,
        verification: why.clone(),
    });
    Ok(Detected {
        changed,
        since,
        gates: gates.chain(elsewhere).collect(),
    })
}

//! The work that a run is about: what of it changed, which gates are not verified on it, and which of
//! them run.

use std::collections::BTreeMap;

use tollgate_core::env::Env;

use super::changes::{LAST_PASS, Newer, Pair, Scope};
use super::config::{Config, Words};
use super::evidence::{Assessed, Assessment, looks_at};
use super::jobs::{self, Gate, Job, Site, Which};

/// What changed, and against what; nothing and no pair where nobody asked.
#[derive(Debug, Default)]
pub(super) struct Work<'t> {
    pub(super) pair: Option<Pair<'t>>,
    pub(super) changed: Vec<String>,
}

impl Work<'_> {
    /// The work tree, if that is known to be a tree which was verified.
    pub(super) fn known_tree(&self) -> Option<String> {
        let pair = self.pair.as_ref()?;
        (pair.label == LAST_PASS && self.changed.is_empty()).then(|| pair.base.clone())
    }

    /// Whether it is about a commit, not about the work tree.
    pub(super) fn is_committed(&self) -> bool {
        let head = self.pair.as_ref().map(|pair| &pair.head);
        matches!(head, Some(Newer::Named(_)))
    }
}

/// Which gates are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Those that are not verified.
    Unverified,
    /// Those that the changes call for and that are not verified: the specification's way.
    CalledFor,
    /// Those that the changes call for, whatever they said before.
    Changed,
    /// All.
    All,
}

impl Choice {
    /// What a command chooses from. A pull request in CI runs what it changed: its base has a run of
    /// its own.
    pub(crate) fn of(scope: &Scope, env: &Env, changed: &[String]) -> Self {
        if scope.is_narrowed() || (env.ci && !changed.is_empty()) {
            Self::Changed
        } else if env.ci {
            Self::All
        } else {
            Self::Unverified
        }
    }
}

/// The gates that run: of those that are asked for, the ones that are not verified, or that the
/// changes call for. What failed runs again in any case.
pub(super) fn choose<'c>(
    config: &'c Config,
    assessment: &Assessment<'c>,
    changed: &[String],
    choice: Choice,
    which: Which,
    site: Site,
) -> Vec<Job<'c>> {
    let is_asked = |job: &Job<'_>| is_asked(job, which);
    let needs_run = |one: &Assessed<'c>| {
        let is_cached = one.gate.job.evidence_rules().is_cached;
        one.verification.is_applicable() && !(one.verification.is_verified() && is_cached)
    };
    let failing = || {
        let failing = assessment.gates.iter();
        let failing =
            failing.filter(|one| one.verification.is_failing() && is_asked(&one.gate.job));
        failing.map(|one| one.gate.job.clone()).collect()
    };
    let known = assessment.gates.iter();
    let known = known.map(|one| (one.key.gate.as_str(), needs_run(one)));
    let known: BTreeMap<_, _> = known.collect();
    // A path that the changes lead to and that is gone by now has no evidence.
    let needed = |job: &Job<'_>| known.get(&*job.evidence_id()).copied().unwrap_or(true);
    match choice {
        Choice::All => {
            let all = assessment.gates.iter();
            let all = all.filter(|one| one.verification.is_applicable() && is_asked(&one.gate.job));
            all.map(|one| one.gate.job.clone()).collect()
        }
        Choice::Changed => {
            let called_for = called_for(config, assessment, changed, which, site);
            jobs::union(called_for, failing())
        }
        Choice::CalledFor => {
            let called_for = called_for(config, assessment, changed, which, site);
            let mut jobs = jobs::union(called_for, failing());
            jobs.retain(needed);
            jobs
        }
        Choice::Unverified => {
            let all = assessment.gates.iter().map(|one| one.gate.job.clone());
            let all = all.filter(is_asked).collect();
            // What changed may lead to a gate by another path than the first.
            let mut jobs = jobs::union(all, jobs::plan(config, changed, which, site));
            jobs.retain(needed);
            jobs
        }
    }
}

/// The gates that changes call for: those that the changed paths lead to, and the checks that look at
/// one of them without declaring it, as at their runner's manifest.
pub(super) fn called_for<'c>(
    config: &'c Config,
    assessment: &Assessment<'c>,
    changed: &[String],
    which: Which,
    site: Site,
) -> Vec<Job<'c>> {
    let led_to = jobs::plan(config, changed, which, site);
    if config.words == Words::Specification {
        return led_to;
    }
    let looking = assessment.gates.iter().filter(|one| {
        matches!(one.gate.job.gate, Gate::Check { .. })
            && is_asked(&one.gate.job, which)
            && looks_at(config, &one.gate, changed)
    });
    jobs::union(led_to, looking.map(|one| one.gate.job.clone()).collect())
}

fn is_asked(job: &Job<'_>, which: Which) -> bool {
    match job.gate {
        Gate::Check { .. } => which != Which::Reviews,
        Gate::Review(_) => which != Which::Checks,
    }
}

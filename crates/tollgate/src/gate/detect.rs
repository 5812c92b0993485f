//! What a run would be about: for those who only want to know.

use std::collections::BTreeSet;

use tollgate_core::env::Env;
use tollgate_core::project::Layout;

use super::changes::{self, Scope};
use super::config::Config;
use super::definitions::Definitions;
use super::evidence::changed_since;
use super::record::GateRecord;
use crate::git::{Git, GitError};

/// What a run would be about.
#[derive(Debug)]
pub(crate) struct Detected {
    /// What changed: since the base, or since the last pass if these gates saw it.
    pub(crate) changed: Vec<String>,
    /// Whether it is the pass.
    pub(crate) since_pass: bool,
    /// Gates that failed and run again, whatever changed.
    pub(crate) failed: BTreeSet<String>,
    /// Whether a pass of these gates is on record, or does not matter; otherwise all checks run.
    pub(crate) is_passed: bool,
}

/// Finds out what a run would be about, without running anything.
pub(crate) fn detect(
    layout: &Layout,
    config: &Config,
    env: &Env,
    scope: &Scope,
) -> Result<Detected, GitError> {
    let git = Git::at(&config.root)?;
    let record = GateRecord::load(layout, config);
    let base = scope.base_name(config, env);
    let passed = record.verified.filter(|verified| {
        !scope.is_narrowed()
            && !env.ci
            && verified.definitions == Definitions::of(config).evidence(env, &base)
    });
    // git removes a tree that nothing points to after some weeks; then the base it is.
    let since = passed.and_then(|passed| changed_since(&git, config, &passed.tree).ok());
    let since_pass = since.is_some();
    let changed = match since {
        Some(changed) => changed,
        None => changes::of_scope(&git, scope, env, config)?,
    };
    let is_passed = since_pass || !scope.includes_never_passed(env, &changed);
    // The logs of another branch are put away before a run.
    let last = record.last.filter(|last| last.branch == git.branch());
    let failed = last.map(|last| last.failed).unwrap_or_default();
    Ok(Detected {
        changed,
        since_pass,
        failed: failed.into_iter().map(|failure| failure.id).collect(),
        is_passed,
    })
}

//! Whether the last pass still holds: of these gates, and of the work as it is now.

use std::time::Duration;

use jiff::Timestamp;
use tollgate_core::env::Env;
use tollgate_core::project::Layout;

use super::changes::{self, Scope};
use super::config::{Config, ConfigError};
use super::definitions::Definitions;
use super::jobs;
use super::record::{GateRecord, Last};
use super::snapshot::Snapshot;
use crate::git::{Git, GitError, PATIENCE};

/// What is known about the gates of a project.
#[derive(Debug)]
pub(crate) struct Evidence {
    /// The last run in which gates executed.
    pub(crate) last: Option<Last>,
    pub(crate) pass: Pass,
}

/// The last pass.
#[derive(Debug)]
pub(crate) enum Pass {
    /// There is none.
    Never,
    /// It was seen on the work as it is.
    Fresh { at: Timestamp },
    /// So many files that gates guard changed since.
    Stale { at: Timestamp, changed: usize },
    /// The gates were others then, or compared with another base.
    OtherGates { at: Timestamp },
    /// Git could not tell.
    Unknown { at: Timestamp, why: String },
}

impl Evidence {
    /// Looks at the record, and asks git only if there is a pass that could be stale. Git has so much
    /// time for it; in a tree too large for that, nobody can tell.
    pub(crate) fn of(layout: &Layout, config: &Config, env: &Env, patience: Duration) -> Self {
        let record = GateRecord::load(layout, config);
        let base = Scope::default().base_name(config, env);
        let now = Definitions::of(config).evidence(env, &base);
        let pass = match record.verified {
            None => Pass::Never,
            Some(verified) if verified.definitions != now => Pass::OtherGates { at: verified.at },
            Some(verified) => match guarded_since(config, &verified.tree, patience) {
                Ok(0) => Pass::Fresh { at: verified.at },
                Ok(changed) => Pass::Stale {
                    at: verified.at,
                    changed,
                },
                Err(error) => Pass::Unknown {
                    at: verified.at,
                    why: error.to_string(),
                },
            },
        };
        Self {
            last: record.last,
            pass,
        }
    }

    /// What is not verified, if anything is not.
    pub(crate) fn unverified(&self, config: &Config) -> Option<String> {
        if !config.has_gates() {
            return None;
        }
        let failed: Vec<&str> = self
            .last
            .iter()
            .flat_map(|last| &last.failed)
            .map(|failure| failure.id.as_str())
            .collect();
        match &self.pass {
            Pass::Fresh { .. } => None,
            Pass::Never | Pass::Stale { .. } | Pass::OtherGates { .. } if !failed.is_empty() => {
                Some(format!("{} failed in the last run", failed.join(", ")))
            }
            Pass::Never => Some("the gates never passed here".to_owned()),
            Pass::Stale { changed, .. } => Some(format!(
                "{changed} {} changed since the gates passed",
                if *changed == 1 { "file" } else { "files" }
            )),
            Pass::OtherGates { .. } => Some("the gates were changed since they passed".to_owned()),
            Pass::Unknown { why, .. } => Some(format!("git could not tell what changed: {why}")),
        }
    }
}

/// What can be said about the gates of a project, in a line.
pub(crate) enum Verification {
    /// Every gate passed on the tree as it is.
    Verified,
    /// Why not.
    Not(String),
}

impl Verification {
    /// Looks at the gates of a project.
    pub(crate) fn of(layout: &Layout, env: &Env) -> Self {
        match Config::load(layout, env) {
            Ok(config) => match Evidence::of(layout, &config, env, PATIENCE).unverified(&config) {
                Some(why) => Self::Not(why),
                None if config.has_gates() => Self::Verified,
                None => Self::Not("no gates are configured".to_owned()),
            },
            Err(ConfigError::Missing(_)) => Self::Not("no gates are configured".to_owned()),
            Err(ConfigError::Wrong(_)) => Self::Not(
                "the gates' configuration is wrong; `tollgate validate` says where".to_owned(),
            ),
        }
    }

    /// Why not.
    pub(crate) fn reason(self) -> Option<String> {
        match self {
            Self::Verified => None,
            Self::Not(why) => Some(why),
        }
    }

    pub(crate) fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Verified => serde_json::json!({ "verified": true }),
            Self::Not(why) => serde_json::json!({ "verified": false, "why": why }),
        }
    }
}

impl std::fmt::Display for Verification {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Verified => f.write_str("gates: verified on this tree"),
            Self::Not(why) => write!(f, "gates: not verified: {why}"),
        }
    }
}

/// How many files that gates guard changed since a tree.
fn guarded_since(config: &Config, tree: &str, patience: Duration) -> Result<usize, GitError> {
    let git = Git::at(&config.root)?.wary(patience);
    let paths = changed_since(&git, config, tree)?;
    // What no gate looks at makes no pass stale.
    let is_guarded = |path: &&String| !jobs::active(config, std::slice::from_ref(*path)).is_empty();
    Ok(paths.iter().filter(is_guarded).count())
}

/// What changed since a tree.
pub(crate) fn changed_since(
    git: &Git,
    config: &Config,
    tree: &str,
) -> Result<Vec<String>, GitError> {
    let mut snapshot = Snapshot::begin(git, config)?;
    snapshot.expect(git, tree);
    let mut paths = snapshot.taken(git)?.since(git, tree)?;
    changes::tidy(&mut paths, config);
    Ok(paths)
}

//! Whether the last pass still holds: of these gates, and of the work as it is now.

use jiff::Timestamp;
use tollgate_core::env::Env;
use tollgate_core::project::Layout;

use super::changes::{self, Scope};
use super::config::Config;
use super::definitions::Definitions;
use super::git::{Git, GitError};
use super::jobs;
use super::record::{Last, Record};
use super::snapshot::Snapshot;

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
    /// Looks at the record, and asks git only if there is a pass that could be stale.
    pub(crate) fn of(layout: &Layout, config: &Config, env: &Env) -> Self {
        let record = Record::load(layout, config);
        let base = Scope::default().base_name(config, env);
        let now = Definitions::of(config).evidence(env, &base);
        let pass = match record.verified {
            None => Pass::Never,
            Some(verified) if verified.definitions != now => Pass::OtherGates { at: verified.at },
            Some(verified) => match guarded_since(config, &verified.tree) {
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
}

/// How many files that gates guard changed since a tree.
fn guarded_since(config: &Config, tree: &str) -> Result<usize, GitError> {
    let git = Git::at(&config.root)?;
    let paths = changed_since(&git, config, tree)?;
    // What no gate looks at makes no pass stale.
    let is_guarded = |path: &&String| !jobs::active(config, std::slice::from_ref(*path)).is_empty();
    Ok(paths.iter().filter(is_guarded).count())
}

/// What changed since a tree.
pub(super) fn changed_since(
    git: &Git,
    config: &Config,
    tree: &str,
) -> Result<Vec<String>, GitError> {
    let taken = Snapshot::begin(git, config)?.taken(git)?;
    let mut paths = taken.since(git, tree)?;
    changes::tidy(&mut paths, config);
    Ok(paths)
}

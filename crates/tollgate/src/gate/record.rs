//! What the last run came to, and which tree was seen to be green.
//!
//! The record proper lies in Tollgate's own directory. `.execution_state` in the log directory
//! says the same to those who read it; it is believed only where there is no record, because it
//! is where an agent is told to look and write.

use std::io;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tollgate_core::project::Layout;
use tollgate_store::fs::{self, Durability};
use tollgate_store::timestamp::iso;

use super::config::Config;
use super::logs::Logs;
use super::status::Status;

const CAP: u64 = 1 << 20;

/// All that is remembered.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct GateRecord {
    /// The last run in which gates executed.
    pub(crate) last: Option<Last>,
    /// The last tree that was seen to be green as a whole.
    pub(crate) verified: Option<Verified>,
}

/// The last run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Last {
    #[serde(with = "moment")]
    pub(crate) completed_at: Timestamp,
    pub(crate) status: Status,
    /// Runs with gates since the last pass, archive or change of context.
    pub(crate) attempts: u64,
    /// Those of them that count against `max_retries`.
    pub(crate) spent: u64,
    pub(crate) branch: String,
    pub(crate) commit: String,
    pub(crate) tree: String,
    /// What the gates were, as a digest.
    pub(crate) definitions: String,
    pub(crate) console: Option<std::path::PathBuf>,
    /// Whether all was asked for that the changes call for.
    #[serde(rename = "whole", default)]
    pub(crate) is_whole: bool,
    pub(crate) failed: Vec<Failure>,
    /// Whether the record was made by Tollgate. The original's says less.
    #[serde(skip, default = "yes")]
    pub(crate) is_own: bool,
}

/// A gate that did not pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    /// The job's id.
    pub(crate) id: String,
    pub(crate) message: String,
    /// Where to read more: a log, or the JSON of a review.
    pub(crate) files: Vec<std::path::PathBuf>,
}

/// A tree that was seen to be green.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Verified {
    pub(crate) tree: String,
    /// What the gates were, where they ran and since which base.
    pub(crate) definitions: String,
    pub(crate) status: Status,
    #[serde(with = "moment")]
    pub(crate) at: Timestamp,
}

/// `.execution_state`
#[derive(Serialize)]
struct ExecutionState<'l> {
    last_run_completed_at: String,
    branch: &'l str,
    commit: &'l str,
    working_tree_ref: &'l str,
    status: Status,
    attempts: u64,
}

impl GateRecord {
    /// What is remembered. A damaged record is as good as none: the gates run.
    pub(crate) fn load(layout: &Layout, config: &Config) -> Self {
        let path = layout.local().join("gates.json");
        let own = fs::read_own(&path, CAP)
            .ok()
            .flatten()
            .and_then(|contents| serde_json::from_slice::<Value>(&contents.bytes).ok());
        match own {
            Some(value) => Self {
                last: value
                    .get("last")
                    .and_then(|last| Last::deserialize(last).ok()),
                verified: value
                    .get("verified")
                    .and_then(|verified| Verified::deserialize(verified).ok()),
            },
            None => Self {
                last: Last::of_original(config),
                verified: None,
            },
        }
    }

    /// Writes the record, and what `.execution_state` says of it.
    pub(crate) fn save(&self, layout: &Layout, config: &Config) -> io::Result<()> {
        fs::private_directory(&layout.local())?;
        let write = |path: &std::path::Path, mut text: Vec<u8>, durability| {
            text.push(b'\n');
            fs::replace(path, &text, durability).map_err(io::Error::other)
        };
        let path = layout.local().join("gates.json");
        write(&path, serde_json::to_vec_pretty(self)?, Durability::Synced)?;
        let Some(last) = &self.last else {
            return Ok(());
        };
        let state = ExecutionState {
            last_run_completed_at: iso(last.completed_at),
            branch: &last.branch,
            commit: &last.commit,
            working_tree_ref: &last.tree,
            status: last.status,
            attempts: last.attempts,
        };
        Logs::of(config).prepare()?;
        let path = config.log_dir.join(".execution_state");
        write(&path, serde_json::to_vec_pretty(&state)?, Durability::Lazy)
    }

    /// How many runs with gates there were since the last pass, archive or change of context.
    pub(crate) fn attempts(&self, logs: &Logs<'_>) -> u64 {
        match &self.last {
            Some(last) if last.is_own => last.attempts,
            Some(_) | None => logs.runs_with_gates(),
        }
    }

    /// How many of these runs count against `max_retries`.
    pub(crate) fn spent(&self, logs: &Logs<'_>) -> u64 {
        match &self.last {
            Some(last) if last.is_own => last.spent,
            Some(_) | None => logs.runs_with_gates(),
        }
    }
}

/// A moment as the record writes it.
mod moment {
    use serde::Deserialize as _;

    use super::{Timestamp, iso};

    pub(super) fn serialize<S: serde::Serializer>(
        moment: &Timestamp,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&iso(*moment))
    }

    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Timestamp, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// What is read from Tollgate's own directory was made by Tollgate.
fn yes() -> bool {
    true
}

impl Last {
    /// The state file of the original. It was written after every run; that its run passed is
    /// seen from there being no gate logs, which it archived then.
    fn of_original(config: &Config) -> Option<Self> {
        let path = config.log_dir.join(".execution_state");
        let contents = fs::read_regular(&path, CAP).ok()??;
        let value = serde_json::from_slice::<Value>(&contents.bytes).ok()?;
        let string = |key: &str| value.get(key)?.as_str().map(str::to_owned);
        let passed = !Logs::of(config).has_gate_logs();
        Some(Self {
            completed_at: value.get("last_run_completed_at")?.as_str()?.parse().ok()?,
            status: if passed {
                Status::Passed
            } else {
                Status::Failed
            },
            attempts: 0,
            spent: 0,
            branch: string("branch")?,
            commit: string("commit")?,
            tree: string("working_tree_ref").unwrap_or_default(),
            definitions: String::new(),
            console: None,
            failed: Vec::new(),
            is_whole: false,
            is_own: false,
        })
    }
}

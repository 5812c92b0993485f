//! What the last run came to, and which tree was seen to be green.
//!
//! The record proper lies in Tollgate's own directory. `.execution_state` in the log directory
//! says the same to those who read it; it is believed only where there is no record, because it
//! is where an agent is told to look and write.

use std::io;

use jiff::Timestamp;
use serde_json::{Value, json};
use tollgate_core::fs::{self, Durability};
use tollgate_core::project::Layout;
use tollgate_core::state::timestamp::iso;

use super::changes::Common;
use super::config::Config;
use super::logs::Logs;
use super::status::Status;

const CAP: u64 = 1 << 20;

/// All that is remembered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    /// The last run in which gates executed.
    pub(crate) last: Option<Last>,
    /// The last tree that was seen to be green as a whole.
    pub(crate) verified: Option<Verified>,
    /// What the commit then checked out and its base have in common.
    pub(crate) common: Option<Common>,
}

/// The last run.
#[derive(Clone, Debug)]
pub(crate) struct Last {
    pub(crate) completed_at: Timestamp,
    pub(crate) status: Status,
    /// Runs with gates since the last pass, archive or change of context.
    pub(crate) attempts: u64,
    pub(crate) branch: String,
    pub(crate) commit: String,
    pub(crate) tree: String,
    /// What the gates were, as a digest.
    pub(crate) definitions: String,
    pub(crate) console: Option<std::path::PathBuf>,
    pub(crate) failed: Vec<Failure>,
    /// Whether all was asked for that the changes call for.
    pub(crate) is_whole: bool,
    /// Whether the record was made by Tollgate. The original's says less.
    pub(crate) is_own: bool,
}

/// A gate that did not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The job's id.
    pub(crate) id: String,
    pub(crate) message: String,
    /// Where to read more: a log, or the JSON of a review.
    pub(crate) files: Vec<std::path::PathBuf>,
    /// Tells this failure from another one of the same gate.
    pub(crate) print: String,
}

/// A tree that was seen to be green.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verified {
    pub(crate) tree: String,
    /// What the gates were, where they ran and since which base.
    pub(crate) definitions: String,
    pub(crate) status: Status,
    pub(crate) at: Timestamp,
}

impl Record {
    /// What is remembered. A damaged record is as good as none: the gates run.
    pub(crate) fn load(layout: &Layout, config: &Config) -> Self {
        let path = layout.local().join("gates.json");
        let own = fs::read_own(&path, CAP)
            .ok()
            .flatten()
            .and_then(|contents| serde_json::from_slice::<Value>(&contents.bytes).ok());
        match own {
            Some(value) => Self {
                last: value.get("last").and_then(Last::read),
                verified: value.get("verified").and_then(Verified::read),
                common: value.get("common").and_then(|common| {
                    Some(Common {
                        base: string(common, "base")?,
                        head: string(common, "head")?,
                        ancestor: string(common, "ancestor")?,
                    })
                }),
            },
            None => Self {
                last: Last::of_original(config),
                verified: None,
                common: None,
            },
        }
    }

    /// Writes the record, and what `.execution_state` says of it.
    pub(crate) fn save(&self, layout: &Layout, config: &Config) -> io::Result<()> {
        fs::private_directory(&layout.local())?;
        let value = json!({
            "last": self.last.as_ref().map(Last::to_json),
            "verified": self.verified.as_ref().map(Verified::to_json),
            "common": self.common.as_ref().map(|common| json!({
                "base": common.base, "head": common.head, "ancestor": common.ancestor,
            })),
        });
        let path = layout.local().join("gates.json");
        fs::replace(&path, text(&value).as_bytes(), Durability::Synced)
            .map_err(io::Error::other)?;
        let Some(last) = &self.last else {
            return Ok(());
        };
        let state = json!({
            "last_run_completed_at": iso(last.completed_at),
            "branch": last.branch,
            "commit": last.commit,
            "working_tree_ref": last.tree,
            "status": last.status.as_str(),
            "attempts": last.attempts,
        });
        Logs::of(config).prepare()?;
        let path = config.log_dir.join(".execution_state");
        fs::replace(&path, text(&state).as_bytes(), Durability::Lazy).map_err(io::Error::other)
    }

    /// How many runs with gates there were since the last pass, archive or change of context.
    pub(crate) fn attempts(&self, logs: &Logs<'_>) -> u64 {
        match &self.last {
            Some(last) if last.is_own => last.attempts,
            Some(_) | None => logs.runs_with_gates(),
        }
    }
}

fn text(value: &Value) -> String {
    format!("{value:#}\n")
}

fn string(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(str::to_owned)
}

impl Last {
    fn read(value: &Value) -> Option<Self> {
        let failed = value.get("failed")?.as_array()?;
        Some(Self {
            completed_at: value.get("completed_at")?.as_str()?.parse().ok()?,
            status: Status::from_name(value.get("status")?.as_str()?)?,
            attempts: value.get("attempts")?.as_u64()?,
            branch: string(value, "branch")?,
            commit: string(value, "commit")?,
            tree: string(value, "tree")?,
            definitions: string(value, "definitions")?,
            console: value.get("console").and_then(Value::as_str).map(Into::into),
            failed: failed.iter().filter_map(Failure::read).collect(),
            is_whole: value.get("whole").and_then(Value::as_bool) == Some(true),
            is_own: true,
        })
    }

    /// The state file of the original. It was written after every run; that its run passed is
    /// seen from there being no gate logs, which it archived then.
    fn of_original(config: &Config) -> Option<Self> {
        let path = config.log_dir.join(".execution_state");
        let contents = fs::read_regular(&path, CAP).ok()??;
        let value = &serde_json::from_slice::<Value>(&contents.bytes).ok()?;
        let passed = !Logs::of(config).has_gate_logs();
        Some(Self {
            completed_at: value.get("last_run_completed_at")?.as_str()?.parse().ok()?,
            status: if passed {
                Status::Passed
            } else {
                Status::Failed
            },
            attempts: 0,
            branch: string(value, "branch")?,
            commit: string(value, "commit")?,
            tree: string(value, "working_tree_ref").unwrap_or_default(),
            definitions: String::new(),
            console: None,
            failed: Vec::new(),
            is_whole: false,
            is_own: false,
        })
    }

    fn to_json(&self) -> Value {
        json!({
            "completed_at": iso(self.completed_at),
            "status": self.status.as_str(),
            "attempts": self.attempts,
            "branch": self.branch,
            "commit": self.commit,
            "tree": self.tree,
            "definitions": self.definitions,
            "console": self.console,
            "whole": self.is_whole,
            "failed": self.failed.iter().map(Failure::to_json).collect::<Vec<_>>(),
        })
    }
}

impl Failure {
    fn read(value: &Value) -> Option<Self> {
        let files = value.get("files")?.as_array()?;
        Some(Self {
            id: string(value, "id")?,
            message: string(value, "message")?,
            files: files
                .iter()
                .filter_map(|file| Some(file.as_str()?.into()))
                .collect(),
            print: string(value, "print")?,
        })
    }

    fn to_json(&self) -> Value {
        json!({ "id": self.id, "message": self.message, "files": self.files, "print": self.print })
    }
}

impl Verified {
    fn read(value: &Value) -> Option<Self> {
        Some(Self {
            tree: string(value, "tree")?,
            definitions: string(value, "definitions")?,
            status: Status::from_name(value.get("status")?.as_str()?)?,
            at: value.get("at")?.as_str()?.parse().ok()?,
        })
    }

    fn to_json(&self) -> Value {
        json!({
            "tree": self.tree, "definitions": self.definitions,
            "status": self.status.as_str(), "at": iso(self.at),
        })
    }
}

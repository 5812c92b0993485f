//! What the gates said about which inputs, and what the last run came to: one file, in Tollgate's own
//! directory.
//!
//! The file carries a code that only this person's Tollgate can make, over its content and the
//! project's path. A file without the right one was written by another program: it is not used, and
//! the gates run. So is one that is torn or of another version. `.execution_state` in the log
//! directory says a part of it to those who read it; it is used only for the specification's own
//! events, and only where there is no record.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tollgate_core::env::Env;
use tollgate_core::project::{Layout, real};
use tollgate_store::fs::{self, Durability};
use tollgate_store::lock::{self, Acquired};
use tollgate_store::timestamp::iso;

use super::config::Config;
use super::logs::Logs;
use super::status::Status;
use crate::hash::hex;
use crate::review::kept::KeptReview;
use crate::review::outcome::Outcome;
use crate::user_store;

/// The version of the file and of the keys in it.
pub(crate) const VERSION: u32 = 1;

/// The file's name in Tollgate's own directory.
pub(crate) const FILE: &str = "evidence.json";

const CAP: u64 = 32 << 20;

/// How many keys of a gate are remembered: contents that were seen lately need not be checked again.
const KEYS: usize = 16;

/// How many branches' last verified trees are remembered.
const BRANCHES: usize = 32;

/// How long a writer waits for another one.
const PATIENCE: Duration = Duration::from_secs(5);

/// All that is remembered.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct GateRecord {
    version: u32,
    /// The last run in which gates executed.
    pub(crate) last: Option<Last>,
    /// The last tree of each branch on which every gate was verified, the latest last: what the next
    /// work there is compared with.
    #[serde(default)]
    verified_trees: Vec<VerifiedTree>,
    /// The evidence of each gate, oldest first.
    pub(crate) gates: BTreeMap<String, Vec<Evidence>>,
    /// The findings of reviews, by branch, gate and reviewer's number.
    findings: BTreeMap<String, BTreeMap<String, BTreeMap<u64, KeptReview>>>,
    /// Why the file that is there is not believed.
    #[serde(skip)]
    pub(crate) doubt: Option<String>,
}

/// What one gate said about one key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Evidence {
    pub(crate) key: Key,
    pub(crate) outcome: Outcome,
    /// Why; empty for a plain pass.
    pub(crate) message: String,
    #[serde(with = "moment")]
    pub(crate) at: Timestamp,
    pub(crate) ms: u64,
    pub(crate) by: By,
    /// Where to read more: a log, or the JSON of a review.
    pub(crate) files: Vec<PathBuf>,
    /// Whether a pass has warnings.
    pub(crate) is_warned: bool,
    /// Whether it passed and failed under this key.
    pub(crate) is_flaky: bool,
    /// Whether a person accepted that.
    pub(crate) is_accepted: bool,
}

/// What evidence is about. Two runs of a gate with the same key should come to the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Key {
    pub(crate) schema: u32,
    pub(crate) gate: String,
    pub(crate) definition: String,
    pub(crate) inputs: String,
    pub(crate) platform: String,
    pub(crate) tools: String,
    pub(crate) environment: String,
}

/// Who asked for the run that made a piece of evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum By {
    Stop,
    Run,
    /// With the commit that it tests, where it says so.
    Ci(Option<String>),
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
    /// All inputs of all gates and what the gates were, as a digest.
    pub(crate) mark: Option<String>,
    pub(crate) console: Option<PathBuf>,
    /// Whether all was asked for that is not verified.
    pub(crate) is_whole: bool,
    /// Whether the record was made by Tollgate. The original's says less.
    #[serde(skip, default = "yes")]
    pub(crate) is_own: bool,
}

/// A gate that did not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The job's id.
    pub(crate) id: String,
    pub(crate) message: String,
    /// Where to read more: a log, or the JSON of a review.
    pub(crate) files: Vec<PathBuf>,
}

/// A tree on which every gate was verified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct VerifiedTree {
    pub(crate) tree: String,
    pub(crate) branch: String,
    /// What the gates were, as a digest.
    pub(crate) definitions: String,
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

/// The file: what is written, and the code that it carries.
#[derive(Serialize, Deserialize)]
struct Signed {
    code: String,
    record: String,
}

impl GateRecord {
    /// What is remembered. What cannot be believed is as good as none: the gates run.
    pub(crate) fn load(layout: &Layout, config: &Config, env: &Env) -> Self {
        Self::load_with_secret(layout, config, env).0
    }

    /// The same with the secret that it is signed with, if it is.
    fn load_with_secret(layout: &Layout, config: &Config, env: &Env) -> (Self, Option<String>) {
        let record = match Self::read(layout, env) {
            Ok(Some((record, secret))) => return (record, Some(secret)),
            Ok(None) => Self {
                last: Last::of_original(config),
                ..Self::default()
            },
            Err(why) => Self {
                doubt: Some(format!("the evidence in {FILE} is not used: {why}")),
                ..Self::default()
            },
        };
        (record, None)
    }

    fn read(layout: &Layout, env: &Env) -> Result<Option<(Self, String)>, String> {
        let path = layout.local().join(FILE);
        let Some(contents) = fs::read_own(&path, CAP).map_err(|fault| fault.to_string())? else {
            return Ok(None);
        };
        let signed: Signed = serde_json::from_slice(&contents.bytes)
            .map_err(|_| "it is damaged, or of another version".to_owned())?;
        let secret = user_store::secret(env, layout)?;
        if signed.code != code(&secret, &real(layout.root()), &signed.record) {
            return Err("it was not written by Tollgate for you, or not here".to_owned());
        }
        let record: Self = serde_json::from_str(&signed.record)
            .map_err(|_| "it is of another version".to_owned())?;
        if record.version != VERSION {
            return Err(format!("it is of version {}", record.version));
        }
        Ok(Some((record, secret)))
    }

    /// Changes the file, whoever else does so meanwhile, and says in `.execution_state` what the last
    /// run came to.
    pub(crate) fn change(
        layout: &Layout,
        config: &Config,
        env: &Env,
        edit: impl FnOnce(&mut Self),
    ) -> io::Result<Self> {
        fs::private_directory(&layout.local())?;
        let lock = lock::acquire(&layout.local().join("evidence.lock"), PATIENCE)?;
        let Acquired::Held(_lock) = lock else {
            return Err(io::Error::other("another process is writing the evidence"));
        };
        let (mut record, secret) = Self::load_with_secret(layout, config, env);
        edit(&mut record);
        let secret = secret.map_or_else(|| user_store::secret(env, layout), Ok);
        record.save(layout, config, secret.ok().as_deref())?;
        Ok(record)
    }

    fn save(&mut self, layout: &Layout, config: &Config, secret: Option<&str>) -> io::Result<()> {
        let root = real(layout.root());
        self.version = VERSION;
        let record = serde_json::to_string(self)?;
        // Unsigned it is not believed, and the gates run again; but what is kept beside it is.
        let code = secret.map(|secret| code(secret, &root, &record));
        let code = code.unwrap_or_default();
        let write = |path: &Path, mut text: Vec<u8>, durability| {
            text.push(b'\n');
            fs::replace(path, &text, durability).map_err(io::Error::other)
        };
        let text = serde_json::to_vec(&Signed { code, record })?;
        write(&layout.local().join(FILE), text, Durability::Synced)?;
        let Some(last) = self.last.as_ref().filter(|last| last.is_own) else {
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

    /// Adds what a gate said. A pass and a fail under one key are both remembered.
    pub(crate) fn add(&mut self, mut new: Evidence) {
        let all = self.gates.entry(new.key.gate.clone()).or_default();
        if let Some(at) = all.iter().position(|old| old.key == new.key) {
            let old = all.remove(at);
            let contradicts = matches!(
                (old.outcome, new.outcome),
                (Outcome::Pass, Outcome::Fail) | (Outcome::Fail, Outcome::Pass)
            );
            new.is_flaky = old.is_flaky || contradicts;
            new.is_accepted = old.is_accepted && !contradicts;
            if new.outcome == Outcome::Inconclusive && old.outcome != Outcome::Inconclusive {
                // No answer takes no answer back.
                new = old;
            }
        }
        all.push(new);
        let beyond = all.len().saturating_sub(KEYS);
        all.drain(..beyond);
    }

    /// What failed is of the past: no attempt counts any more.
    pub(crate) fn forgive(&mut self) {
        if let Some(last) = self.last.as_mut().filter(|last| last.is_own) {
            last.attempts = 0;
            last.spent = 0;
        }
    }

    /// A person accepts that gates passed and failed on the same inputs.
    pub(crate) fn accept_flaky(&mut self) {
        let all = self.gates.values_mut().flatten();
        for evidence in all.filter(|evidence| evidence.is_flaky) {
            evidence.is_accepted = true;
        }
    }

    /// The last verified trees of branches. Continuous integration compares with the base.
    pub(crate) fn verified_trees(&self, env: &Env) -> &[VerifiedTree] {
        if env.ci { &[] } else { &self.verified_trees }
    }

    /// Every gate was verified on this tree.
    pub(super) fn add_verified(&mut self, now: VerifiedTree) {
        let all = &mut self.verified_trees;
        all.retain(|tree| tree.branch != now.branch);
        all.push(now);
        let beyond = all.len().saturating_sub(BRANCHES);
        all.drain(..beyond);
    }

    /// What a gate said about this key.
    pub(crate) fn about(&self, key: &Key) -> Option<&Evidence> {
        let all = self.gates.get(&key.gate)?;
        all.iter().rfind(|evidence| evidence.key == *key)
    }

    /// The files of reviews that failed, which the agent edits.
    pub(crate) fn open_reviews(&self) -> Vec<PathBuf> {
        let gates = self.gates.values().filter_map(|all| all.last());
        let failed = gates.filter(|evidence| evidence.outcome.is_failure());
        let files = failed.flat_map(|evidence| evidence.files.clone());
        files
            .filter(|file| file.extension().is_some_and(|end| end == "json"))
            .collect()
    }

    /// What reviewers found on a branch.
    pub(crate) fn findings(&self, branch: &str, gate: &str) -> BTreeMap<u64, KeptReview> {
        let found = self.findings.get(branch).and_then(|gates| gates.get(gate));
        found.cloned().unwrap_or_default()
    }

    /// Replaces that.
    pub(crate) fn set_findings(
        &mut self,
        branch: &str,
        gate: &str,
        now: BTreeMap<u64, KeptReview>,
    ) {
        let gates = self.findings.entry(branch.to_owned()).or_default();
        if now.is_empty() {
            gates.remove(gate);
        } else {
            gates.insert(gate.to_owned(), now);
        }
        self.findings.retain(|_, gates| !gates.is_empty());
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

/// Whether a project has open findings of reviewers, on any branch.
pub(crate) fn has_open_findings(layout: &Layout, env: &Env) -> bool {
    let record = GateRecord::read(layout, env).ok().flatten();
    record.is_some_and(|(record, _)| {
        let gates = record.findings.values().flat_map(BTreeMap::values);
        let mut reviews = gates.flat_map(BTreeMap::values);
        reviews.any(|review| !review.is_settled())
    })
}

/// What only this person's Tollgate can say of a text about a project.
fn code(secret: &str, root: &Path, text: &str) -> String {
    let digest = |parts: &[&[u8]]| {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher.finalize()
    };
    let root = root.as_os_str().as_encoded_bytes();
    let inner = digest(&[secret.as_bytes(), root, text.as_bytes()]);
    hex(&digest(&[secret.as_bytes(), &inner]))
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
            mark: None,
            console: None,
            is_whole: false,
            is_own: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{GateRecord, KeptReview};

    fn kept(run: u64) -> KeptReview {
        serde_json::from_value(json!({
            "reviewer": "claude", "run": run, "value": { "status": "fail", "violations": [] },
        }))
        .unwrap()
    }

    #[test]
    fn reviews_of_two_paths_keep_their_own_findings() {
        let mut record = GateRecord::default();
        record.set_findings("work", "review:web:quality", [(1, kept(1))].into());
        record.set_findings("work", "review:api:quality", [(1, kept(2))].into());
        assert_eq!(
            record.findings("work", "review:web:quality"),
            [(1, kept(1))].into()
        );
        assert_eq!(
            record.findings("work", "review:api:quality"),
            [(1, kept(2))].into()
        );
    }
}

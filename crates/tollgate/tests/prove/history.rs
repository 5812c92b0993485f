//! What happened while many wrote, and whether it can have happened one after the other.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use crate::report::Report;
use crate::workspace::Workspace;

/// What is known from outside: what was acknowledged, what was seen; and the journal, followed
/// from its beginning through every rotation.
#[derive(Default)]
pub(crate) struct History {
    acknowledged: Mutex<BTreeSet<String>>,
    /// The content of each version that a reader saw.
    contents: Mutex<BTreeMap<u64, u64>>,
    /// The delegations that a reader saw in the state.
    seen: Mutex<BTreeSet<String>>,
    reads: AtomicU64,
    journal: Mutex<Followed>,
}

#[derive(Default)]
struct Followed {
    /// The file that is read, by its inode, and how far.
    inode: u64,
    offset: u64,
    /// Half a line at the end.
    rest: Vec<u8>,
    /// Versions in the order of the journal.
    versions: Vec<u64>,
    /// How often each delegation was recorded.
    records: BTreeMap<String, u64>,
    lines: u64,
    rotations: u64,
}

/// Somebody who looks at the state again and again.
#[derive(Default)]
pub(crate) struct Reader {
    last: u64,
}

impl Reader {
    pub(crate) fn look(&mut self, workspace: &Workspace, history: &History) -> Result<(), String> {
        let bytes =
            std::fs::read(workspace.path(".isdlc/state.json")).map_err(|e| e.to_string())?;
        let value: Value = serde_json::from_slice(&bytes)
            .map_err(|error| format!("torn read: {error}, {} bytes", bytes.len()))?;
        history.reads.fetch_add(1, Ordering::Relaxed);
        let version = value["state_version"].as_u64().unwrap_or(0);
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        let digest = hasher.finish();
        let before = history.contents.lock().unwrap().insert(version, digest);
        if before.is_some_and(|before| before != digest) {
            return Err(format!("two contents of version {version}"));
        }
        let log = value["skill_usage_log"].as_array();
        let ids = || {
            log.into_iter()
                .flatten()
                .map(|entry| entry["description"].as_str())
        };
        let different: BTreeSet<_> = ids().flatten().map(str::to_owned).collect();
        if different.len() != ids().count() {
            return Err(format!("version {version} holds a delegation twice"));
        }
        history.seen.lock().unwrap().extend(different);
        if version < self.last {
            return Err(format!("version {version} after {}", self.last));
        }
        self.last = version;
        Ok(())
    }
}

impl History {
    pub(crate) fn acknowledged(&self, id: &str) {
        self.acknowledged.lock().unwrap().insert(id.to_owned());
    }

    /// Reads what the journal has gained.
    pub(crate) fn follow(&self, workspace: &Workspace) {
        let mut followed = self.journal.lock().unwrap();
        let name = |number: usize| workspace.path(&format!(".tollgate/local/{}", JOURNALS[number]));
        let inode = |number: usize| std::fs::metadata(name(number)).map_or(0, |meta| meta.ino());
        if followed.inode != 0 && inode(0) != followed.inode {
            // Renamed meanwhile: the old one to its end, then whatever came between.
            let mut old = (1..JOURNALS.len()).rev();
            let Some(at) = old.find(|at| inode(*at) == followed.inode) else {
                return;
            };
            for at in (1..=at).rev() {
                followed.take(&name(at));
                followed.rotations += 1;
                followed.offset = 0;
                followed.rest.clear();
            }
        }
        followed.inode = inode(0);
        followed.take(&name(0));
    }

    /// Whether all of that fits together.
    ///
    /// The journal's lines are written after the state, outside its lock. So two may be the wrong
    /// way round, and a hook that is killed in between, or whose change is made by whoever comes
    /// next, may leave none. That is counted. What was acknowledged must have been in the state.
    pub(crate) fn check(&self, workspace: &Workspace, report: &mut Report) {
        let followed = self.journal.lock().unwrap();
        let versions = &followed.versions;
        report.count("reads", self.reads.load(Ordering::Relaxed));
        report.count("versions", versions.len() as u64);
        report.count("journal lines", followed.lines);
        report.count("rotations", followed.rotations);
        let known: BTreeSet<u64> = versions.iter().copied().collect();
        // A change that waited for the lock is made with somebody else's, as one version.
        let shared = (versions.len() - known.len()) as u64;
        report.count("lines of a version made together", shared);
        let late = versions.windows(2).filter(|pair| pair[1] < pair[0]);
        report.count("lines behind a later version's", late.count() as u64);
        let span = known.last().unwrap_or(&0) + 1 - known.first().unwrap_or(&1);
        report.count("versions without a line", span - known.len() as u64);
        let state = workspace.state().unwrap_or_default();
        let last = state["state_version"].as_u64();
        report.check(known.last().copied() == last, || {
            format!(
                "the state has version {last:?}, the journal {:?}",
                known.last()
            )
        });
        let acknowledged = self.acknowledged.lock().unwrap();
        report.count("delegations acknowledged", acknowledged.len() as u64);
        let seen = self.seen.lock().unwrap();
        let lost: Vec<_> = acknowledged
            .iter()
            .filter(|id| !seen.contains(*id))
            .take(5)
            .collect();
        report.check(lost.is_empty(), || {
            format!("acknowledged and lost: {lost:?}")
        });
        let records = followed.records.iter();
        let twice: Vec<_> = records.filter(|(_, times)| **times > 1).take(5).collect();
        report.check(twice.is_empty(), || format!("recorded twice: {twice:?}"));
        let verified = workspace.tollgate(&["log", "--verify"]);
        report.check(verified.code == Some(0), || {
            format!("the journal: {verified:?}")
        });
        // The patches of the journal lead to the very state that is there.
        if let (0, Some(last)) = (followed.rotations, last) {
            let told = workspace.tollgate(&["state", "at", &last.to_string()]);
            let told: Value = serde_json::from_str(&told.stdout).unwrap_or_default();
            report.check(told == state, || {
                "the journal tells another state than the one that is there".to_owned()
            });
        }
    }
}

/// Newest first.
const JOURNALS: [&str; 4] = tollgate_store::journal::NAMES;

impl Followed {
    fn take(&mut self, path: &std::path::Path) {
        let Ok(mut file) = std::fs::File::open(path) else {
            return;
        };
        let mut bytes = std::mem::take(&mut self.rest);
        let _at = file.seek(SeekFrom::Start(self.offset)).unwrap();
        self.offset += file.read_to_end(&mut bytes).unwrap() as u64;
        let whole = bytes
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        self.rest = bytes.split_off(whole);
        for line in bytes.split(|byte| *byte == b'\n') {
            if let Ok(line) = serde_json::from_slice::<Value>(line) {
                self.note(&line);
            }
        }
    }

    fn note(&mut self, line: &Value) {
        self.lines += 1;
        if let Some(version) = line["version"].as_u64() {
            self.versions.push(version);
        }
        for patch in line["patch"].as_array().into_iter().flatten() {
            if patch["path"][0] == "skill_usage_log"
                && let Some(id) = patch["pushed"]["description"].as_str()
            {
                *self.records.entry(id.to_owned()).or_default() += 1;
            }
        }
    }
}

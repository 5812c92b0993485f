//! What Tollgate itself decided in a session, and what it saw first: the loop guard's memory.
//!
//! One small file per session, in Tollgate's own directory. A turn is what follows one prompt of
//! the person; with the next one the counting of blocks starts again. General: gates and the
//! plan loop write their own blocks, told apart by [`Block::by`].

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};
use tollgate_core::fs::{self, Durability};
use tollgate_core::project::Layout;

const CAP: u64 = 1 << 20;

/// A session that nobody continued for so long is over.
const FORGET: Duration = Duration::from_hours(30 * 24);

/// One that is in use is written again at least this often, so that it is not forgotten.
const REFRESH: SignedDuration = SignedDuration::from_hours(24);

/// At most so many blocks in a turn; agents themselves end a turn after more.
pub(crate) const MAX_BLOCKS: u64 = 8;

/// The same fault never blocks more often than this.
pub(crate) const MAX_SAME: u64 = 2;

/// The memory of one session.
#[derive(Debug)]
pub(crate) struct Ledger {
    path: PathBuf,
    prompt: Option<String>,
    content: Map<String, Value>,
    /// What the file says, if it is fresh enough to be left as it is.
    written: Option<Map<String, Value>>,
}

/// A stop that Tollgate blocked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Who blocked: `gates`, `plan`.
    pub(crate) by: String,
    /// Tells the fault from others.
    pub(crate) fault: String,
    /// Tells the state of the work from others: whether it changed since is progress.
    pub(crate) mark: String,
    /// How often this fault blocked in this turn, this time included.
    pub(crate) times: u64,
}

impl Ledger {
    /// The ledger of a session. A damaged one is as good as none.
    pub(crate) fn open(layout: &Layout, session: &str, prompt: Option<&str>) -> Self {
        let path = file(&layout.local(), session);
        let file = fs::read_own(&path, CAP).ok().flatten();
        let content: Option<Map<String, Value>> = file
            .as_ref()
            .and_then(|contents| serde_json::from_slice(&contents.bytes).ok());
        let is_fresh = file.is_some_and(|contents| {
            let written = Timestamp::from_second(contents.identity.modified);
            written.is_ok_and(|at| Timestamp::now().duration_since(at) < REFRESH)
        });
        let mut ledger = Self {
            path,
            prompt: prompt.map(str::to_owned),
            written: content.clone().filter(|_| is_fresh),
            content: content.unwrap_or_default(),
        };
        if ledger.content.get("prompt") != Some(&json!(ledger.prompt)) {
            ledger.begin_turn();
        }
        ledger
    }

    /// Forgets the blocks of the turn before.
    pub(crate) fn begin_turn(&mut self) {
        self.content.insert("prompt".to_owned(), json!(self.prompt));
        self.content.insert("blocks".to_owned(), json!([]));
    }

    /// The blocks of this turn.
    fn blocks(&self) -> impl Iterator<Item = Block> {
        let blocks = self.content.get("blocks").and_then(Value::as_array);
        let text = |block: &Value, key: &str| {
            let text = block.get(key).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        blocks.into_iter().flatten().map(move |block| Block {
            by: text(block, "by"),
            fault: text(block, "fault"),
            mark: text(block, "mark"),
            times: block.get("times").and_then(Value::as_u64).unwrap_or(1),
        })
    }

    /// The last block of this turn by anybody.
    pub(crate) fn last(&self) -> Option<Block> {
        self.blocks().last()
    }

    /// How many blocks of this turn are by `by`.
    pub(crate) fn count(&self, by: &str) -> u64 {
        self.blocks().filter(|block| block.by == by).count() as u64
    }

    /// How many blocks there were in this turn.
    pub(crate) fn total(&self) -> u64 {
        self.blocks().count() as u64
    }

    /// The last block of this turn by `by`.
    pub(crate) fn last_block(&self, by: &str) -> Option<Block> {
        self.blocks().filter(|block| block.by == by).last()
    }

    /// Asks for one more block in this turn. None if the fault, or the turn, had its share; then
    /// the stop must be let through, and loudly.
    pub(crate) fn block(&mut self, by: &str, fault: &str, mark: &str) -> Option<Block> {
        let before = self.blocks().filter(|block| block.fault == fault).last();
        let block = Block {
            by: by.to_owned(),
            fault: fault.to_owned(),
            mark: mark.to_owned(),
            times: 1 + before.map_or(0, |block| block.times),
        };
        if block.times > MAX_SAME || self.blocks().count() as u64 >= MAX_BLOCKS {
            return None;
        }
        let value = json!({ "by": by, "fault": fault, "mark": mark, "times": block.times });
        if let Some(blocks) = self.content.get_mut("blocks").and_then(Value::as_array_mut) {
            blocks.push(value);
        }
        Some(block)
    }

    /// Something kept for the whole session.
    pub(crate) fn recall(&self, key: &str) -> Option<&Value> {
        self.content.get(key)
    }

    /// Keeps something for the whole session.
    pub(crate) fn keep(&mut self, key: &str, value: Value) {
        self.content.insert(key.to_owned(), value);
    }

    /// Writes the ledger, if it says something new: making a file costs more than all the rest of
    /// a stop with nothing to do.
    pub(crate) fn save(&self) -> io::Result<()> {
        if self.written.as_ref() == Some(&self.content) {
            return Ok(());
        }
        if let Some(directory) = self.path.parent() {
            fs::private_directory(directory)?;
            if !self.path.exists() {
                forget_old(directory);
            }
        }
        let text = Value::Object(self.content.clone()).to_string();
        fs::replace(&self.path, text.as_bytes(), Durability::Lazy).map_err(io::Error::other)
    }
}

/// Removes the ledgers of sessions that nobody continued for a long time.
fn forget_old(directory: &Path) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|meta| meta.modified());
        let age = age.ok().and_then(|time| time.elapsed().ok());
        let is_ledger = entry.path().extension().is_some_and(|end| end == "json");
        if is_ledger && age.is_some_and(|age| age > FORGET) {
            let _kept = std::fs::remove_file(entry.path());
        }
    }
}

/// A session's id comes from outside and may be anything; its digest is a safe name.
fn file(local: &Path, session: &str) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    session.hash(&mut hasher);
    local
        .join("sessions")
        .join(format!("{:016x}.json", hasher.finish()))
}

//! What Tollgate itself decided in a session, and what it saw first: the loop guard's memory.
//!
//! One small file per session, in Tollgate's own directory. A turn is what follows one prompt of
//! the person; with the next one the counting of blocks starts again. Each check that blocks a stop asks here
//! first: the plan loop, the gates and the delegation gate, distinguished by [`Block::by`].

pub(crate) mod writes;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};
use tollgate_core::decision::GATES;
use tollgate_core::project::Layout;
use tollgate_core::protocol::{Event, Protocol};
use tollgate_store::fs::{self, Durability};

const CAP: u64 = 1 << 20;

/// A session that was idle for so long is over.
const FORGET: Duration = Duration::from_hours(30 * 24);

/// One that is in use is written again at least this often, so that it is not forgotten.
const REFRESH: SignedDuration = SignedDuration::from_hours(24);

/// The same fault of a plan or a delegation never blocks more often than this. Gates have a bound of
/// their own, `max_retries`.
pub(crate) const MAX_SAME: u64 = 2;

/// No session is blocked more often than this in an hour.
const MAX_IN_HOUR: usize = 20;

/// What is kept: the state of the gates' inputs as last seen, and when that was, that a turn goes on, and
/// when stops were blocked.
const SEEN: &str = "seen";
const SEEN_TREE: &str = "seen_tree";
const SEEN_AT: &str = "seen_at";
const IN_TURN: &str = "in_turn";
const BLOCKED_AT: &str = "blocked_at";

/// The code of a ledger that cannot be written.
pub(crate) const UNWRITTEN: &str = "ledger-unwritten";

/// When a stop that follows a block is let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoopGuard {
    /// When nothing changed since the block, as far as the ledger proves it.
    Progress,
    /// Always.
    Strict,
}

/// What a stop that follows a block means to the check that is asked about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passage {
    /// It is judged like any other.
    Judged,
    /// It is let through: the specification says so, and nothing speaks against it.
    Letter,
    /// It is let through: nothing was done since the asked one's own block.
    NoProgress,
}

/// The memory of one session.
#[derive(Debug)]
pub(crate) struct Ledger {
    path: PathBuf,
    turn: Turn,
    /// How many blocks the turn bears.
    most: u64,
    kept: Map<String, Value>,
    /// What the file says, if it is fresh enough to be left as it is.
    written: Option<Map<String, Value>>,
}

/// What was blocked since the person's last prompt. Everything that bounds blocks of a turn is here,
/// and pure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Turn {
    prompt: Option<String>,
    blocks: Vec<Block>,
    /// Runs of gates that came to an answer.
    runs: u64,
    /// The state of the gates' inputs when it began.
    began: Option<String>,
    /// The tree of then, where another session was editing.
    began_tree: Option<String>,
    /// When that was, in milliseconds.
    began_at: Option<i64>,
}

/// Why no further block is possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// The same fault blocked often enough.
    SameFault,
    /// The turn had so many blocks, and the agent accepts no more.
    Turn(u64),
    /// So many blocks in an hour are the most in a session.
    Hour,
    /// A block could not be remembered, for this reason: nothing would bound the next ones.
    Unwritten(String),
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::SameFault => write!(f, "The same fault blocked {MAX_SAME} times"),
            Self::Turn(times) => write!(
                f,
                "This turn was blocked {times} times, the most for this agent"
            ),
            Self::Hour => write!(f, "This session was blocked {MAX_IN_HOUR} times in an hour"),
            Self::Unwritten(why) => write!(f, "The session's ledger cannot be written ({why})"),
        }
    }
}

/// A stop that Tollgate blocked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Who blocked: `gates`, `plan`, `plan-rules`, `delegation`.
    pub(crate) by: String,
    /// Tells the fault from others.
    pub(crate) fault: String,
    /// Tells the state of the work from others: whether it changed since is progress.
    pub(crate) mark: String,
    /// How often this fault blocked in this turn, this time included.
    pub(crate) times: u64,
}

impl Turn {
    /// The turn that a stop belongs to: this one, or a new one. An agent that names its prompts
    /// is believed, whatever its flag says: Gemini's is down again after every tool. Of the
    /// others, a stop without the flag is a turn's first.
    pub(crate) fn at_stop(self, prompt: Option<&str>, is_flagged: bool) -> Self {
        if self.goes_on(prompt, is_flagged) {
            self
        } else {
            Self {
                prompt: prompt.map(str::to_owned),
                ..Self::default()
            }
        }
    }

    fn goes_on(&self, prompt: Option<&str>, is_flagged: bool) -> bool {
        self.prompt.as_deref() == prompt && (prompt.is_some() || is_flagged)
    }

    /// The last block of this turn by anybody.
    pub(crate) fn last(&self) -> Option<&Block> {
        self.blocks.last()
    }

    /// How many blocks of this turn are by `by`.
    pub(crate) fn count(&self, by: &str) -> u64 {
        self.blocks.iter().filter(|block| block.by == by).count() as u64
    }

    /// How many blocks there were in this turn.
    pub(crate) fn total(&self) -> u64 {
        self.blocks.len() as u64
    }

    /// The last block of this turn by `by`.
    pub(crate) fn last_by(&self, by: &str) -> Option<&Block> {
        self.blocks.iter().rfind(|block| block.by == by)
    }

    /// Asks for one more block in this turn, which bears `most` of them. A named fault has a share
    /// of its own. An error if the fault, or the turn, had its share; then the stop must be let
    /// through, and loudly.
    pub(crate) fn block(
        &mut self,
        most: u64,
        by: &str,
        fault: Option<&str>,
        mark: &str,
    ) -> Result<(), Bound> {
        let is_same = |block: &&Block| fault.is_some_and(|fault| block.fault == fault);
        let before = self.blocks.iter().rfind(is_same);
        let times = 1 + before.map_or(0, |block| block.times);
        if times > MAX_SAME {
            return Err(Bound::SameFault);
        }
        if self.total() >= most {
            return Err(Bound::Turn(self.total()));
        }
        self.blocks.push(Block {
            by: by.to_owned(),
            fault: fault.unwrap_or_default().to_owned(),
            mark: mark.to_owned(),
            times,
        });
        Ok(())
    }

    /// Takes a turn out of what a ledger says. What is damaged counts as a block all the same.
    fn take(content: &mut Map<String, Value>) -> Self {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let prompt = text(content.shift_remove("prompt").as_ref());
        let blocks = content.shift_remove("blocks");
        let blocks = blocks.iter().filter_map(Value::as_array).flatten();
        let blocks = blocks.map(|block| {
            let text = |key| text(block.get(key)).unwrap_or_default();
            Block {
                by: text("by"),
                fault: text("fault"),
                mark: text("mark"),
                times: block.get("times").and_then(Value::as_u64).unwrap_or(1),
            }
        });
        Self {
            prompt,
            blocks: blocks.collect(),
            runs: content
                .shift_remove("runs")
                .and_then(|runs| runs.as_u64())
                .unwrap_or_default(),
            began: text(content.shift_remove("began").as_ref()),
            began_tree: text(content.shift_remove("began_tree").as_ref()),
            began_at: content
                .shift_remove("began_at")
                .and_then(|began| began.as_i64()),
        }
    }

    fn put(&self, content: &mut Map<String, Value>) {
        let blocks = self.blocks.iter().map(|block| {
            let Block {
                by,
                fault,
                mark,
                times,
            } = block;
            json!({ "by": by, "fault": fault, "mark": mark, "times": times })
        });
        let blocks: Value = blocks.collect();
        content.insert("prompt".to_owned(), json!(self.prompt));
        content.insert("blocks".to_owned(), blocks);
        content.insert("runs".to_owned(), json!(self.runs));
        content.insert("began".to_owned(), json!(self.began));
        content.insert("began_tree".to_owned(), json!(self.began_tree));
        content.insert("began_at".to_owned(), json!(self.began_at));
    }
}

impl Ledger {
    /// The ledger of a session of an agent. A damaged one is as good as none.
    pub(crate) fn open(layout: &Layout, protocol: Protocol, session: &str) -> Self {
        let path = file(&layout.local(), session);
        let file = fs::read_own(&path, CAP).ok().flatten();
        let content: Option<Map<String, Value>> = file
            .as_ref()
            .and_then(|contents| serde_json::from_slice(&contents.bytes).ok());
        let is_fresh = file.is_some_and(|contents| {
            let written = Timestamp::from_second(contents.identity.modified);
            written.is_ok_and(|at| Timestamp::now().duration_since(at) < REFRESH)
        });
        let written = content.clone().filter(|_| is_fresh);
        let mut kept = content.unwrap_or_default();
        Self {
            path,
            turn: Turn::take(&mut kept),
            most: protocol.row().max_blocks,
            kept,
            written,
        }
    }

    /// The ledger at a stop. Without a session nothing can be remembered.
    pub(crate) fn at_stop(layout: &Layout, event: &Event<'_>) -> Option<Self> {
        let mut ledger = Self::open(layout, event.protocol, event.session.as_deref()?);
        let turn = std::mem::take(&mut ledger.turn);
        let (prompt, is_flagged) = (event.prompt_id.as_deref(), event.stop_hook_active);
        let goes_on = turn.goes_on(prompt, is_flagged);
        ledger.turn = turn.at_stop(prompt, is_flagged);
        if !goes_on {
            let seen = |key| ledger.recall(key)?.as_str().map(str::to_owned);
            (ledger.turn.began, ledger.turn.began_tree) = (seen(SEEN), seen(SEEN_TREE));
            ledger.turn.began_at = ledger.recall(SEEN_AT).and_then(Value::as_i64);
        }
        ledger.kept.shift_remove(IN_TURN);
        Some(ledger)
    }

    /// The person's prompt begins a turn. False if one goes on already: what was done in it was not
    /// there before it.
    pub(crate) fn begin_turn(&mut self) -> bool {
        self.kept.insert(IN_TURN.to_owned(), true.into()).is_none()
    }

    /// The tree when the turn began, if anybody knows it.
    pub(crate) fn began_tree(&self) -> Option<&str> {
        self.turn.began_tree.as_deref()
    }

    /// How long the turn goes on, if anybody knows it.
    pub(crate) fn lasts(&self, now: Timestamp) -> Option<Duration> {
        let began = Timestamp::from_millisecond(self.turn.began_at?).ok()?;
        now.duration_since(began).try_into().ok()
    }

    /// The state of the gates' inputs when the turn began, if anybody knows it.
    pub(crate) fn began(&self) -> Option<String> {
        self.turn.began.clone()
    }

    /// Remembers the state of the gates' inputs, and the tree where that is known; none:
    /// it is unknown.
    pub(crate) fn see(&mut self, mark: Option<&str>, tree: Option<&str>) {
        self.keep(SEEN, json!(mark));
        self.keep(SEEN_TREE, json!(tree));
        self.keep(SEEN_AT, json!(Timestamp::now().as_millisecond()));
    }

    /// How many runs of this turn came to an answer.
    pub(crate) fn runs(&self) -> u64 {
        self.turn.runs
    }

    /// Gates ran, and came to an answer or not.
    pub(crate) fn count_run(&mut self, is_answer: bool) {
        self.turn.runs += u64::from(is_answer);
    }

    /// The turn that the session is in.
    pub(crate) fn turn(&self) -> &Turn {
        &self.turn
    }

    /// Asks for one more block, as [`Turn::block`] does, and writes it down: one that nobody remembers
    /// would come again without end. An hour bears so many, however many turns it has.
    pub(crate) fn block(&mut self, by: &str, fault: Option<&str>, mark: &str) -> Result<(), Bound> {
        let now = Timestamp::now();
        let mut lately = self.blocked_lately(now);
        if lately.len() >= MAX_IN_HOUR {
            return Err(Bound::Hour);
        }
        // The gates' release comes before the agent's own, which says nothing. A plan has as many
        // reviews as the specification says.
        let most = match by {
            GATES => self.most - 1,
            _ => self.most,
        };
        self.turn.block(most, by, fault, mark)?;
        lately.push(now.as_second());
        self.keep(BLOCKED_AT, json!(lately));
        self.save()
            .map_err(|error| Bound::Unwritten(error.to_string()))
    }

    /// When the session was blocked in the last hour.
    fn blocked_lately(&self, now: Timestamp) -> Vec<i64> {
        let all = self.recall(BLOCKED_AT).and_then(Value::as_array);
        let all = all.into_iter().flatten().filter_map(Value::as_i64);
        all.filter(|at| now.as_second() - at < 3600).collect()
    }

    /// Whether the turn bears no further block.
    pub(crate) fn is_full(&self) -> bool {
        self.turn.total() >= self.most || self.blocked_lately(Timestamp::now()).len() >= MAX_IN_HOUR
    }

    /// Something kept for the whole session.
    pub(crate) fn recall(&self, key: &str) -> Option<&Value> {
        self.kept.get(key)
    }

    /// Keeps something for the whole session.
    pub(crate) fn keep(&mut self, key: &str, value: Value) {
        self.kept.insert(key.to_owned(), value);
    }

    /// Writes the ledger, if it says something new: making a file costs more than all the rest of
    /// a stop with nothing to do.
    pub(crate) fn save(&self) -> io::Result<()> {
        let mut content = self.kept.clone();
        self.turn.put(&mut content);
        if self.written.as_ref() == Some(&content) {
            return Ok(());
        }
        if let Some(directory) = self.path.parent() {
            fs::private_directory(directory)?;
            if !self.path.exists() {
                forget_old(directory);
            }
        }
        let text = Value::Object(content).to_string();
        fs::replace(&self.path, text.as_bytes(), Durability::Lazy).map_err(io::Error::other)
    }
}

/// Removes the ledgers of sessions that were idle for a long time.
fn forget_old(directory: &Path) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|meta| meta.modified());
        let age = age.ok().and_then(|time| time.elapsed().ok());
        let is_ledger = entry
            .path()
            .extension()
            .is_some_and(|end| end == "json" || end == "writes");
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

#[cfg(test)]
mod tests;

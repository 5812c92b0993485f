//! What Tollgate decided, and its faults: one JSON line each.
//!
//! Allowed events are not in it; they write nothing. Lines are appended by many processes, one
//! after the other, because each carries a hash over the one before it ([`super::chain`]). A
//! journal that has grown is renamed, not rewritten.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::chain::{self, Tail};
use crate::fs::{self, Appender, Durability};
use crate::json::Object;
use crate::lock::{self, Acquired, Guard, HOOK_PATIENCE};
use crate::pending_files::PendingFiles;
use crate::redact::redact;
use crate::timestamp::iso;

/// The current journal and the old ones, newest first. The last is dropped by a rotation.
pub const NAMES: [&str; 4] = [
    "journal.jsonl",
    "journal.1.jsonl",
    "journal.2.jsonl",
    "journal.3.jsonl",
];

/// Where lines wait that could not be chained at once.
pub const WAITING: &str = "journal.waiting";

/// How large a journal grows before it is rotated.
const LIMIT: u64 = 4 << 20;

/// Two lines are never longer than this.
const TORN: u64 = 1 << 20;

/// How many lines that waited are taken in at one turn: an agent waits for it.
const AT_ONCE: usize = 256;
/// How much of a text is searched, and how much of it is kept: an event can carry 12 MB.
const LONGEST: (usize, usize) = (64 << 10, 4 << 10);

/// The journal in a private directory.
#[derive(Clone, Debug)]
pub struct Journal {
    directory: PathBuf,
    limit: u64,
}

/// What kind of thing was decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// The agent was stopped.
    Block,
    /// The person was asked whether the agent may.
    Ask,
    /// The agent was warned.
    Warn,
    /// A rule that only watches met something, or passed what could not be analysed.
    Watch,
    /// Tollgate could not decide.
    Fault,
    /// The workflow made a step.
    Change,
    /// A check of the gates ended.
    Gate,
    /// A review ended: of the gates, or of a plan.
    Review,
    /// An event was recorded in the state.
    #[default]
    Record,
}

impl Verdict {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::Block,
        Self::Ask,
        Self::Warn,
        Self::Watch,
        Self::Fault,
        Self::Change,
        Self::Gate,
        Self::Review,
        Self::Record,
    ];

    /// The word in the journal.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Ask => "ask",
            Self::Warn => "warn",
            Self::Watch => "watch",
            Self::Fault => "fault",
            Self::Change => "change",
            Self::Gate => "gate",
            Self::Review => "review",
            Self::Record => "record",
        }
    }

    /// The kind of this word.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == name)
    }
}

/// One line of the journal. All texts are redacted and cut when they are written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Entry<'a> {
    /// When. Of what took its time: when it began.
    pub ts: Timestamp,
    /// What was decided.
    pub verdict: Verdict,
    /// The agent's session.
    pub session: Option<&'a str>,
    /// The prompt or turn within the session.
    pub prompt: Option<&'a str>,
    /// The id of the tool call.
    pub call: Option<&'a str>,
    /// The agent's own trace, as W3C's `traceparent` has it.
    pub trace: Option<&'a str>,
    /// The event, by the specification's name.
    pub event: Option<&'a str>,
    /// The tool the agent wanted to use.
    pub tool: Option<&'a str>,
    /// The guard that decided; the gate that ended.
    pub guard: Option<&'a str>,
    /// The error code, the kind of a fault, or what a gate or review came to.
    pub code: Option<&'a str>,
    /// The phase it concerns.
    pub phase: Option<&'a str>,
    /// The sub-agent it concerns; of a review, who made it.
    pub agent: Option<&'a str>,
    /// Why, in one line.
    pub reason: Option<&'a str>,
    /// The protocol the answer was given in.
    pub protocol: Option<&'a str>,
    /// How long it took.
    pub took: Option<Duration>,
    /// What it cost.
    pub cost: Cost,
    /// The version of the state after a change.
    pub version: Option<u64>,
    /// The workflow's index after a change.
    pub index: Option<u64>,
    /// The project of a monorepo.
    pub project: Option<&'a str>,
    /// What a change did to the state, field by field ([`super::patch`]).
    pub patch: Option<&'a Value>,
    /// What another program's change of the state had done before it was undone.
    pub undone: Option<&'a Value>,
    /// The event, as far as it is kept (see `tollgate_core::record::excerpt`).
    pub input: Option<&'a Value>,
    /// The name under which the state that the event met is kept.
    pub state: Option<&'a str>,
}

/// What a review cost, as far as its reviewer tells.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// In US dollars.
    pub usd: Option<f64>,
    /// Tokens read.
    pub input_tokens: Option<u64>,
    /// Tokens written.
    pub output_tokens: Option<u64>,
}

impl Entry<'_> {
    /// An entry with nothing but the moment and the decision.
    pub fn new(ts: Timestamp, verdict: Verdict) -> Self {
        Self {
            ts,
            verdict,
            ..Self::default()
        }
    }

    /// The entry as the journal will have it.
    pub fn draft(&self) -> io::Result<Draft> {
        Ok(Draft {
            ts: self.ts,
            text: serde_json::to_string(self)?,
        })
    }
}

/// An entry's line, not yet chained to another.
#[derive(Clone, Debug)]
pub struct Draft {
    ts: Timestamp,
    text: String,
}

/// In this order, and without what is not known.
impl Serialize for Entry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        fn known<M: SerializeMap>(
            line: &mut M,
            name: &str,
            value: Option<impl Serialize>,
        ) -> Result<(), M::Error> {
            value.map_or(Ok(()), |value| line.serialize_entry(name, &value))
        }
        let mut line = serializer.serialize_map(None)?;
        line.serialize_entry("ts", &iso(self.ts))?;
        line.serialize_entry("verdict", self.verdict.as_str())?;
        for (name, text) in [
            ("session", self.session),
            ("prompt", self.prompt),
            ("call", self.call),
            ("trace", self.trace),
            ("event", self.event),
            ("tool", self.tool),
            ("guard", self.guard),
            ("code", self.code),
            ("phase", self.phase),
            ("agent", self.agent),
            ("reason", self.reason),
            // What journals have called it from the beginning.
            ("wire", self.protocol),
            ("project", self.project),
        ] {
            known(&mut line, name, text.map(clean))?;
        }
        known(&mut line, "version", self.version)?;
        known(&mut line, "index", self.index)?;
        known(&mut line, "ms", self.took.map(milliseconds))?;
        known(&mut line, "cost_usd", self.cost.usd)?;
        known(&mut line, "input_tokens", self.cost.input_tokens)?;
        known(&mut line, "output_tokens", self.cost.output_tokens)?;
        known(&mut line, "state", self.state)?;
        known(&mut line, "patch", self.patch)?;
        known(&mut line, "undone", self.undone)?;
        known(&mut line, "input", self.input)?;
        line.end()
    }
}

/// Milliseconds with three digits: most decisions take less than one.
fn milliseconds(took: Duration) -> f64 {
    let micros = u32::try_from(took.as_micros()).unwrap_or(u32::MAX);
    f64::from(micros) / 1000.0
}

/// A text as it may be written to a log: without secrets, and not without end.
pub fn clean(text: &str) -> Cow<'_, str> {
    // Redacted first and cut afterwards, so that no cut makes a token unrecognisable.
    let redacted = redact(cut(text, LONGEST.0));
    if redacted.len() <= LONGEST.1 {
        redacted
    } else {
        Cow::Owned(format!("{}…", cut(&redacted, LONGEST.1)))
    }
}

fn cut(text: &str, most: usize) -> &str {
    // No character is longer than four bytes.
    (most.saturating_sub(3)..=most)
        .rev()
        .find_map(|end| text.get(..end))
        .unwrap_or(text)
}

impl Journal {
    /// The journal in `directory`, which is made private and hidden from git with the first line.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            limit: LIMIT,
        }
    }

    /// The same journal with another size at which it is rotated.
    #[must_use]
    pub fn with_limit(self, limit: u64) -> Self {
        Self { limit, ..self }
    }

    /// The current file.
    pub fn path(&self) -> PathBuf {
        let [current, ..] = NAMES;
        self.directory.join(current)
    }

    /// The lines that wait to be chained, oldest first.
    pub fn waiting(&self) -> Vec<String> {
        let pending_files = self.pending_files();
        let names = pending_files.names().unwrap_or_default().into_iter();
        let texts = names.filter_map(|name| pending_files.read(&name).ok());
        texts
            .filter_map(|bytes| String::from_utf8(bytes).ok())
            .collect()
    }

    fn pending_files(&self) -> PendingFiles {
        PendingFiles::new(self.directory.join(WAITING))
    }

    /// Whether this fault of this session is in the current journal already.
    pub fn has_fault(&self, session: &str, code: &str, reason: &str) -> bool {
        let Ok(Some(contents)) = fs::read_own(&self.path(), 4 * LIMIT) else {
            return false;
        };
        let text = contents.into_text();
        let (session, reason) = (clean(session), clean(reason));
        // The code is plain, so most lines need not be read.
        let mark = format!("\"code\":\"{code}\"");
        let same = |line: &str| {
            let line = Object::parse(line).ok()?;
            Some(line.str("session")? == session && line.str("reason")? == reason)
        };
        text.lines()
            .rev()
            .any(|line| line.contains(&mark) && same(line) == Some(true))
    }

    /// Appends an entry.
    pub fn append(&self, entry: &Entry<'_>) -> io::Result<()> {
        self.append_all(&[entry.draft()?])
    }

    /// Appends entries, all at one turn.
    ///
    /// The process that holds the lock of the tail record holds it for a few system calls. If it stays busy
    /// (its holder was stopped), there is no reason to wait: the lines are left for the next who
    /// appends, who chains them in before its own.
    pub fn append_all(&self, drafts: &[Draft]) -> io::Result<()> {
        if drafts.is_empty() {
            return Ok(());
        }
        match lock::acquire(&self.directory.join(chain::TAIL), HOOK_PATIENCE)? {
            Acquired::Held(guard) => {
                self.take_in(&guard)?;
                let lines: Vec<&str> = drafts.iter().map(|draft| draft.text.as_str()).collect();
                self.append_lines(&guard, &lines, None)
            }
            Acquired::Busy => {
                let pending_files = self.pending_files();
                for Draft { ts, text } in drafts {
                    pending_files.leave(*ts, text.as_bytes(), Durability::Lazy)?;
                }
                Ok(())
            }
        }
    }

    /// Appends the lines that wait.
    fn take_in(&self, held: &Guard) -> io::Result<()> {
        let pending_files = self.pending_files();
        let names = pending_files.names().unwrap_or_default();
        for name in names.into_iter().take(AT_ONCE) {
            let text = pending_files
                .read(&name)
                .ok()
                .and_then(|bytes| String::from_utf8(bytes).ok());
            let Some(object) = text.as_deref().filter(|text| is_line(text)) else {
                // Nothing that we left there; it must not be in the way again.
                pending_files.refuse(&name)?;
                continue;
            };
            let marked = format!(
                "{},\"late\":\"{name}\"}}",
                object.strip_suffix('}').unwrap_or(object)
            );
            self.append_lines(held, &[&marked], Some(&name))?;
            pending_files.remove(&name)?;
        }
        Ok(())
    }

    /// Appends lines, each chained to the one before it; one that waited under the name `late` only
    /// if its writer was not killed after he had done that.
    fn append_lines(&self, held: &Guard, lines: &[&str], late: Option<&str>) -> io::Result<()> {
        let appender = Appender::open(&self.path())?;
        let mut end = [0; chain::LONGEST_LINK];
        let end = appender.read_end(&mut end)?;
        let torn = end.last().is_some_and(|byte| *byte != b'\n');
        let recorded = Tail::read(held.file());
        let far = || appender.read_from(appender.size()?.saturating_sub(TORN));
        if let Some(name) = late
            && contains(&far()?, format!("\"late\":\"{name}\"").as_bytes())
        {
            return Ok(());
        }
        let last = if torn {
            // The line before half a line begins farther back.
            chain::last(&far()?, recorded)
        } else {
            chain::last(end, recorded)
        };
        let mut tail = last;
        let mut chained = Vec::new();
        for line in lines {
            let is_first = end.is_empty() && chained.is_empty();
            let (line, next) = chain::join(line, tail, is_first);
            chained.push(line);
            tail = next;
        }
        appender.append_after(&chained.join("\n"), torn)?;
        tail.write(held.file())?;
        if appender.size()? > self.limit {
            fs::rotate(&self.directory, &NAMES)?;
        }
        Ok(())
    }
}

/// Whether a text that waited is one line of a journal.
fn is_line(text: &str) -> bool {
    text.ends_with('}')
        && !text.contains('\n')
        && Object::parse(text).is_ok_and(|line| !line.is_empty())
}

fn contains(text: &[u8], wanted: &[u8]) -> bool {
    memchr::memmem::find(text, wanted).is_some()
}

#[cfg(test)]
mod tests;

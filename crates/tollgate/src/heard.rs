//! When an agent was last heard here: "armed" is said only of one that was.
//!
//! It is written where a session or a turn begins or ends, never at a tool event, which writes
//! nothing unless there is something to say.

use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tollgate_core::project::Layout;
use tollgate_core::protocol::{Event, EventKind, Protocol};
use tollgate_store::fs::{self, Durability};
use tollgate_store::timestamp::iso;

use crate::journal::Tail;

/// A session that was silent for longer has ended.
pub(crate) const FRESH: SignedDuration = SignedDuration::from_mins(30);

/// A session is noted again after so long, so that most stops write nothing.
const NOTED: SignedDuration = SignedDuration::from_mins(5);

/// How much of the journal is read: its last lines.
const LOOK_BACK: u64 = 8 << 10;

const CAP: u64 = 4 << 10;

/// What the file says: when the agent was heard, or when its session ended.
const HEARD: &str = "at";
const ENDED: &str = "ended";

fn file(layout: &Layout, protocol: Protocol) -> PathBuf {
    layout.local().join("heard").join(protocol.as_str())
}

/// Notes that the agent was heard, or that its session is over.
pub(crate) fn note(event: &Event<'_>, layout: &Layout, now: Timestamp) {
    let Some(session) = event.session.as_deref() else {
        return;
    };
    let file = file(layout, event.protocol);
    let is_its = |one: &Value| one.get("session").is_some_and(|id| id == session);
    let is_fresh = |one: &Value| at(one, HEARD).is_some_and(|at| now.duration_since(at) < NOTED);
    let moment = match event.kind {
        EventKind::SessionStart | EventKind::Prompt | EventKind::Stop => {
            if read(&file).is_some_and(|one| is_its(&one) && is_fresh(&one)) {
                return;
            }
            HEARD
        }
        EventKind::SessionEnd => {
            if !read(&file).as_ref().is_some_and(is_its) {
                return;
            }
            ENDED
        }
        EventKind::PreTool
        | EventKind::PostTool
        | EventKind::PostToolFailure
        | EventKind::SubagentStop
        | EventKind::ConfigChange
        | EventKind::Other => return,
    };
    let text = json!({ "session": session, moment: iso(now) }).to_string();
    // Without it a status says "no event heard yet", which is no reason to trouble the agent.
    let made = file.parent().map(fs::private_directory);
    if let Some(Ok(())) = made {
        let _unwritten = fs::replace(&file, text.as_bytes(), Durability::Lazy);
    }
}

/// When the agent was last heard in a session that has not ended, as far as anything tells it.
pub(crate) fn last(layout: &Layout, protocol: Protocol) -> Option<Timestamp> {
    let noted = read(&file(layout, protocol)).unwrap_or_default();
    let moment = |key: &str| at(&noted, key);
    let tail = Tail::of(&layout.local(), LOOK_BACK);
    let mut lines = tail.entries.iter().rev();
    let line = lines
        .find(|one| one.session.is_some() && one.protocol.as_deref() == Some(protocol.as_str()));
    let line = line.and_then(|line| line.ts);
    let ended = moment(ENDED);
    moment(HEARD).max(line.filter(|at| ended.is_none_or(|ended| *at > ended)))
}

fn at(noted: &Value, key: &str) -> Option<Timestamp> {
    noted.get(key)?.as_str()?.parse().ok()
}

fn read(file: &std::path::Path) -> Option<Value> {
    let contents = fs::read_regular(file, CAP).ok()??;
    serde_json::from_slice(&contents.bytes).ok()
}

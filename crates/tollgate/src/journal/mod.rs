//! Reading the journal: what was decided, oldest first, in all the files that are kept.
//!
//! Everything that shows the past is built on this: it streams, passes over what cannot be read
//! (a line torn by a killed writer is no reason to show nothing), creates and changes nothing.
//! [`verify()`] checks the chain of the lines, [`Follower`] waits for new ones.

mod entry;
mod follow;
mod parts;
mod tail;
mod verify;

use std::path::Path;

use serde_json::Value;
use tollgate_store::journal::{Journal, WAITING};

pub(crate) use entry::{Entry, is_failure};
pub(crate) use follow::Follower;
pub(crate) use parts::{Line, LinePlace, Lines};
pub(crate) use tail::Tail;
pub(crate) use verify::{Verified, verify};

/// The entries of the journal in a project's private directory, oldest first, as they are now.
/// Those that wait to be chained come last.
pub(crate) fn entries(local: &Path) -> impl Iterator<Item = Entry> + use<> {
    let chained = Lines::of(local);
    let waiting = Journal::new(local).waiting().into_iter().zip(1..);
    let waiting = waiting.map(|(text, line)| Line {
        place: LinePlace {
            file: WAITING,
            line,
        },
        length: text.len() as u64,
        text,
        whole: true,
    });
    chained
        .chain(waiting)
        .filter_map(|line| Entry::parse(&line))
}

/// The same as they are written.
pub(crate) fn lines(local: &Path) -> impl Iterator<Item = Value> + use<> {
    entries(local).map(|entry| entry.value)
}

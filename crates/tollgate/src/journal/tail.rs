//! The newest lines, without reading the rest: what a status shows must not cost more the longer
//! a project is guarded.

use std::path::Path;

use super::Entry;
use super::parts::parts;

/// The newest entries, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    pub(crate) entries: Vec<Entry>,
    /// Whether there are older ones that were not read.
    pub(crate) cut: bool,
}

impl Tail {
    /// The entries in the last `most` bytes of the journal's files.
    pub(crate) fn of(local: &Path, most: u64) -> Self {
        let mut tail = Self::default();
        let mut left = most;
        for part in parts(local).into_iter().rev() {
            if left == 0 {
                tail.cut = true;
                break;
            }
            let start = part.length.saturating_sub(left);
            left = left.saturating_sub(part.length);
            // The first line of a piece is cut, unless the piece is the whole file.
            let lines = part.lines_from(start).skip(usize::from(start > 0));
            let entries: Vec<Entry> = lines.filter_map(|line| Entry::parse(&line)).collect();
            tail.entries.splice(0..0, entries);
            tail.cut |= start > 0;
        }
        tail
    }
}

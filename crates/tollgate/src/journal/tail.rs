//! The newest lines, without reading the rest: what a status shows must not cost more the longer
//! a project is guarded.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use tollgate_core::state::journal::NAMES;

use super::{Entry, Line, Place};

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
        for file in NAMES {
            let Some((text, begins)) = end_of(&local.join(file), left) else {
                continue;
            };
            left = left.saturating_sub(text.len() as u64);
            let entry = |line: &str| {
                Entry::parse(&Line {
                    // Lines that were not read are not counted either.
                    place: Place { file, line: 0 },
                    text: line.to_owned(),
                    whole: true,
                })
            };
            // The first line of a piece is cut, unless the piece is the whole file.
            let lines = text.lines().skip(usize::from(!begins));
            let entries: Vec<Entry> = lines.filter_map(entry).collect();
            tail.entries.splice(0..0, entries);
            tail.cut |= !begins;
            if left == 0 || !begins {
                break;
            }
        }
        tail
    }
}

/// At most so many bytes from the end of a regular file, and whether that is all of it.
fn end_of(path: &Path, most: u64) -> Option<(String, bool)> {
    let regular = path.symlink_metadata().is_ok_and(|found| found.is_file());
    let mut file = regular.then(|| File::open(path).ok()).flatten()?;
    let length = file.metadata().ok()?.len();
    let from = length.saturating_sub(most);
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).ok()?;
    Some((String::from_utf8_lossy(&bytes).into_owned(), from == 0))
}

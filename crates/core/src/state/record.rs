//! What the store last wrote: a short record inside the lock's file.
//!
//! Others write the state file too and ignore the lock. To notice that, the store must know its
//! own last file again. The record is written *before* the rename and names both files that may
//! then be found there, the one before and the one after; so a writer killed on either side of
//! the rename is never taken for a stranger. It lives in the lock's file because that is open
//! already, and because one `pwrite` shorter than a page is done or not done.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use crate::fs::{Identity, write_record};

/// One file that the store wrote or found, and its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Which file.
    pub identity: Identity,
    /// Its `state_version`.
    pub version: u64,
}

/// The record of the last write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) before: Option<Seen>,
    pub(super) after: Seen,
}

/// Longer than any record; shorter ones are filled up, so that a new one covers the old.
const LENGTH: usize = 384;
const MARK: &str = "tollgate-lock-1";

impl Record {
    pub(super) fn read(lock: &File) -> Option<Self> {
        let mut bytes = [0; LENGTH];
        lock.read_exact_at(&mut bytes, 0).ok()?;
        Self::parse(std::str::from_utf8(&bytes).ok()?)
    }

    pub(super) fn write(&self, lock: &File) -> io::Result<()> {
        let text = self.to_text();
        write_record(
            lock,
            format!("{text:<width$}\n", width = LENGTH - 1).as_bytes(),
        )
    }

    /// The entry that describes this file, if the store knows it.
    pub(super) fn find(&self, identity: Identity) -> Option<Seen> {
        [Some(self.after), self.before]
            .into_iter()
            .flatten()
            .find(|seen| seen.identity == identity)
    }

    fn to_text(self) -> String {
        let after = seen_text(&self.after);
        match self.before {
            Some(before) => format!("{MARK}\n{after}\n{}\n", seen_text(&before)),
            None => format!("{MARK}\n{after}\n"),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next()? != MARK {
            return None;
        }
        let after = parse_seen(lines.next()?)?;
        let before = lines.next().and_then(parse_seen);
        Some(Self { before, after })
    }
}

fn seen_text(seen: &Seen) -> String {
    let Identity {
        device,
        inode,
        size,
        modified,
        modified_nanos,
    } = seen.identity;
    format!(
        "{} {device} {inode} {size} {modified} {modified_nanos}",
        seen.version
    )
}

fn parse_seen(line: &str) -> Option<Seen> {
    let mut fields = line.split(' ');
    let mut next = || fields.next();
    Some(Seen {
        version: next()?.parse().ok()?,
        identity: Identity {
            device: next()?.parse().ok()?,
            inode: next()?.parse().ok()?,
            size: next()?.parse().ok()?,
            modified: next()?.parse().ok()?,
            modified_nanos: next()?.parse().ok()?,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(n: u64) -> Seen {
        Seen {
            version: n,
            identity: Identity {
                device: n,
                inode: n,
                size: n,
                modified: i64::MIN,
                modified_nanos: i64::MAX,
            },
        }
    }

    #[test]
    fn a_record_is_read_as_it_was_written_even_over_a_longer_one() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(Record::read(&file), None);
        let long = Record {
            before: Some(seen(u64::MAX)),
            after: seen(u64::MAX - 1),
        };
        let short = Record {
            before: None,
            after: seen(1),
        };
        for record in [long, short, long] {
            record.write(&file).unwrap();
            assert_eq!(Record::read(&file), Some(record));
        }
        assert_eq!(file.metadata().unwrap().len(), LENGTH as u64);
        assert_eq!(long.find(seen(u64::MAX).identity), Some(seen(u64::MAX)));
        assert_eq!(long.find(seen(3).identity), None);
    }

    #[test]
    fn rubbish_is_no_record() {
        for text in ["", "x", "tollgate-lock-1\n", "tollgate-lock-1\n1 2 3\n"] {
            assert_eq!(Record::parse(text), None);
        }
    }
}

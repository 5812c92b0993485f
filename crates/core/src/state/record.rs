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
    /// A digest of its content. Against accidents, not against an enemy: the clock of file
    /// systems ticks every few milliseconds, and a stranger may write as many bytes as we did.
    pub digest: u64,
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

    /// Whether the store wrote this file: the one after the rename by its content, wherever it
    /// was copied; the one before only as the very file, because a stranger who puts the old
    /// content back takes our change away.
    pub(super) fn knows(&self, identity: Identity, digest: u64) -> bool {
        self.after.digest == digest
            || self
                .before
                .is_some_and(|seen| seen.identity == identity && seen.digest == digest)
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

/// A digest of a file's content, eight bytes at a time: 64 KB in about ten microseconds.
pub(super) fn digest(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |sum: u64, word: u64| {
        let sum = (sum ^ word).wrapping_mul(FACTOR);
        sum ^ (sum >> 29)
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = words.iter().fold(bytes.len() as u64, |sum, word| {
        mix(sum, u64::from_le_bytes(*word))
    });
    let mut last = [0; 8];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    mix(mix(sum, u64::from_le_bytes(last)), FACTOR)
}

fn seen_text(seen: &Seen) -> String {
    let Seen {
        identity,
        version,
        digest,
    } = seen;
    format!("{version} {digest} {identity}")
}

fn parse_seen(line: &str) -> Option<Seen> {
    let mut fields = line.split(' ');
    Some(Seen {
        version: fields.next()?.parse().ok()?,
        digest: fields.next()?.parse().ok()?,
        identity: Identity::parse(&mut fields)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(n: u64) -> Seen {
        Seen {
            version: n,
            digest: n,
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
    }

    #[test]
    fn the_old_content_in_another_file_is_a_strangers() {
        let record = Record {
            before: Some(seen(1)),
            after: seen(2),
        };
        assert!(record.knows(seen(1).identity, 1));
        assert!(record.knows(seen(2).identity, 2));
        assert!(record.knows(seen(9).identity, 2));
        assert!(!record.knows(seen(9).identity, 1));
        assert!(!record.knows(seen(2).identity, 9));
    }

    #[test]
    fn one_changed_byte_changes_the_digest() {
        let text = [b'x'; 37];
        for at in 0..text.len() {
            let mut other = text;
            other[at] = b'y';
            assert_ne!(digest(&text), digest(&other));
        }
        assert_ne!(digest(b""), digest(b"\0"));
    }

    #[test]
    fn rubbish_is_no_record() {
        for text in ["", "x", "tollgate-lock-1\n", "tollgate-lock-1\n1 2 3\n"] {
            assert_eq!(Record::parse(text), None);
        }
    }
}

//! What the store last wrote: a short record inside the lock's file.
//!
//! Others write the state file too and ignore the lock. To notice that, the store must know its
//! own last file again. The record is written *before* the rename and names both files that may
//! then be found there, the one before and the one after; so a writer killed on either side of
//! the rename is never taken for another program. It also says where a copy of the content is, so that
//! another program's change can be undone. It lives in the lock's file because that is open
//! already, and because one `pwrite` shorter than a page is done or not done.

use std::fs::{DirEntry, File, Metadata};
use std::io;
use std::os::unix::fs::{DirEntryExt as _, FileExt as _, MetadataExt as _};
use std::path::Path;

use crate::fs::{Identity, TEMPORARY, open, overwrite, write_record};

/// One file that the store wrote or found, and its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) identity: Identity,
    pub(super) version: u64,
    /// A digest of its content. Against accidents, not against an enemy: the clock of file
    /// systems ticks every few milliseconds, and a stranger may write as many bytes as we did.
    pub(super) digest: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LastWritten {
    /// What was there before the last write. Until the rename it still is.
    pub(super) before: Option<Seen>,
    /// What the last write put there, or what was found there and accepted.
    pub(super) after: Seen,
    pub(super) mode: u32,
    /// No change of that file came later than this, in seconds since 1970 and nanoseconds: a process that
    /// sets a file's time back cannot set this one back.
    pub(super) changed_by: Option<(i64, i64)>,
    /// Which of the two copies holds its content, if one does.
    pub(super) copy: Option<Slot>,
    /// The state file, relative to its project, if a change by others is to be noticed.
    pub(super) watched: Option<String>,
}

/// One of the two files that take turns in keeping the last good content. They are overwritten
/// in place, which costs a tenth of a replacement; a process that is killed while doing that leaves the
/// other one, and the record says which of them counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    A,
    B,
}

/// Longer than any record; shorter ones are filled up, so that a new one covers the old.
const LENGTH: usize = 2048;
const MARK: &str = "tollgate-lock-3";

/// The longest path that leaves room for the rest.
const PATH: usize = 1400;

impl Slot {
    /// The file of the slot, in the store's private directory.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::A => "good-a",
            Self::B => "good-b",
        }
    }

    /// The slot that the next content goes to.
    pub(super) fn next(record: Option<&LastWritten>) -> Self {
        match record.and_then(|record| record.copy) {
            Some(Self::A) => Self::B,
            Some(Self::B) | None => Self::A,
        }
    }
}

impl LastWritten {
    /// The record in the lock's file at `path`, for one who does not hold the lock. A pipe in its
    /// place is not waited for.
    pub(super) fn of(path: &Path) -> Option<Self> {
        Self::read(&open(path).ok()?)
    }

    pub(super) fn read(lock: &File) -> Option<Self> {
        let mut bytes = [0; LENGTH];
        lock.read_exact_at(&mut bytes, 0).ok()?;
        Self::parse(std::str::from_utf8(&bytes).ok()?)
    }

    pub(super) fn write(&self, lock: &File) -> io::Result<()> {
        let mut record = self.to_text().into_bytes();
        record.resize(LENGTH - 1, b' ');
        record.push(b'\n');
        write_record(lock, &record)
    }

    /// Whether this is the very file that was last written, and it was not changed since.
    pub(super) fn describes(&self, metadata: &Metadata) -> bool {
        let changed = (metadata.ctime(), metadata.ctime_nsec());
        (Identity::of(metadata), metadata.mode()) == (self.after.identity, self.mode)
            && self.changed_by.is_none_or(|by| changed <= by)
    }

    /// Whether the state in `path` is the one before a write whose writer was killed before the
    /// rename. The new one then still has its temporary name, here or beside the state; otherwise
    /// the old one was put back.
    pub(super) fn is_unfinished(&self, metadata: &Metadata, home: &Path, path: &Path) -> bool {
        let is_staged = |entry: io::Result<DirEntry>| {
            entry.is_ok_and(|entry| {
                let name = entry.file_name();
                name.as_encoded_bytes().starts_with(TEMPORARY.as_bytes())
                    && entry.ino() == self.after.identity.inode
            })
        };
        let staged = |directory: &Path| {
            let entries = directory.read_dir();
            entries.is_ok_and(|mut entries| entries.any(is_staged))
        };
        self.before
            .is_some_and(|seen| seen.identity == Identity::of(metadata))
            && (staged(home) || path.parent().is_some_and(staged))
    }

    /// The record as it would be without a write that came to nothing, if the state is still the
    /// file before it.
    pub(super) fn without_last(&self, metadata: &Metadata) -> Option<Self> {
        Some(Self {
            before: None,
            after: self.before?,
            mode: metadata.mode(),
            changed_by: Some((metadata.ctime(), metadata.ctime_nsec())),
            copy: Some(Slot::next(Some(self))),
            watched: self.watched.clone(),
        })
    }

    /// Says that nothing is known.
    pub(super) fn erase(lock: &File) -> io::Result<()> {
        write_record(lock, &[b' '; LENGTH])
    }

    /// Whether a state file at this path can be remembered as watched.
    pub(super) fn can_watch(path: &str) -> bool {
        path.len() <= PATH && !path.contains('\n')
    }

    fn to_text(&self) -> String {
        let after = seen_text(&self.after);
        let before = self.before.as_ref().map_or("-".to_owned(), seen_text);
        let copy = self.copy.map_or("-", Slot::name);
        let watched = self.watched.as_deref().unwrap_or_default();
        let changed = match self.changed_by {
            Some((seconds, nanos)) => format!(" {seconds} {nanos}"),
            None => String::new(),
        };
        format!(
            "{MARK}\n{after}\n{before}\n{} {copy}{changed}\n{watched}\n",
            self.mode
        )
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next()? != MARK {
            return None;
        }
        let after = parse_seen(lines.next()?)?;
        let before = parse_seen(lines.next()?);
        let mut fields = lines.next()?.split(' ');
        let (mode, copy) = (fields.next()?, fields.next()?);
        // Older records end here, or have another word before the numbers.
        let mut number = || fields.find_map(|field| field.parse().ok());
        let changed_by = number().zip(number());
        let watched = lines.next()?;
        Some(Self {
            before,
            after,
            mode: mode.parse().ok()?,
            changed_by,
            copy: [Slot::A, Slot::B]
                .into_iter()
                .find(|slot| slot.name() == copy),
            watched: (!watched.is_empty()).then(|| watched.to_owned()),
        })
    }
}

/// Keeps a copy of the content that the next record will speak of, and says where. A full disk is
/// no reason to refuse an update: then there is no copy.
pub(super) fn keep_copy(home: &Path, last: Option<&LastWritten>, bytes: &[u8]) -> Option<Slot> {
    let slot = Slot::next(last);
    overwrite(&home.join(slot.name()), bytes).ok()?;
    Some(slot)
}

/// A digest of a file's content: four words at a time, each in its own lane, so that no
/// multiplication waits for the one before. 64 KB take about five microseconds.
pub(super) fn digest(bytes: &[u8]) -> u64 {
    let mut lanes = [1, 2, 3, 4];
    let (blocks, rest) = bytes.as_chunks();
    for block in blocks {
        take(&mut lanes, block);
    }
    let mut last = [0; BLOCK];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    take(&mut lanes, &last);
    lanes.into_iter().fold(bytes.len() as u64, mix)
}

/// The bytes that the digest takes at a time.
const BLOCK: usize = 32;

fn take(lanes: &mut [u64; 4], block: &[u8; BLOCK]) {
    let (words, _none) = block.as_chunks::<8>();
    for (lane, word) in lanes.iter_mut().zip(words) {
        *lane = mix(*lane, u64::from_le_bytes(*word));
    }
}

fn mix(sum: u64, word: u64) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let sum = (sum ^ word).wrapping_mul(FACTOR);
    sum ^ (sum >> 29)
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
        assert_eq!(LastWritten::read(&file), None);
        let long = LastWritten {
            before: Some(seen(u64::MAX)),
            after: seen(u64::MAX - 1),
            mode: u32::MAX,
            changed_by: Some((i64::MIN, i64::MAX)),
            copy: Some(Slot::B),
            watched: Some("x".repeat(PATH)),
        };
        let short = LastWritten {
            before: None,
            after: seen(1),
            mode: 0,
            changed_by: None,
            copy: None,
            watched: None,
        };
        for record in [long.clone(), short, long] {
            record.write(&file).unwrap();
            assert_eq!(LastWritten::read(&file), Some(record));
        }
        assert_eq!(file.metadata().unwrap().len(), LENGTH as u64);
    }

    #[test]
    fn one_changed_byte_changes_the_digest() {
        let text = [b'x'; 107];
        for at in 0..text.len() {
            let mut other = text;
            other[at] = b'y';
            assert_ne!(digest(&text), digest(&other));
        }
        assert_ne!(digest(b""), digest(b"\0"));
    }

    #[test]
    fn the_digest_stays_the_same_because_records_on_disk_hold_it() {
        assert_eq!(digest(b"{\n  \"a\": 1\n}\n"), 0xa3de_960d_c10a_231d);
    }

    #[test]
    fn an_older_record_is_read() {
        let seen = "1 2 3 4 5 6 7";
        let text = format!("{MARK}\n{seen}\n-\n33188 good-b\n.isdlc/state.json\n");
        let record = LastWritten::parse(&text).unwrap();
        assert_eq!(record.copy, Some(Slot::B));
        assert_eq!(record.changed_by, None);
        assert_eq!(record.watched.as_deref(), Some(".isdlc/state.json"));
    }

    #[test]
    fn rubbish_is_no_record() {
        for text in ["", "x", "tollgate-lock-3\n", "tollgate-lock-3\n1 2 3\n"] {
            assert_eq!(LastWritten::parse(text), None);
        }
    }
}

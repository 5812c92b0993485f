//! Looking through the work tree: what is in it now, with the index at hand for what is tracked and
//! what did not change.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};

use super::ignore::Rules;
use super::objects::{Id, Kind, Object};
use super::trees::{Directory, FILE, File, LINK, Node, PROGRAM};
use crate::gate::index::{Entry, low};

/// Beyond so many names, so many bytes that nobody knows, or so deep, git is as fast.
const NAMES: usize = 20_000;
pub(super) const BYTES: u64 = 16 << 20;
const DEPTH: usize = 100;

/// No rules of a directory are longer.
const RULES: u64 = 1 << 16;

/// The right to execute, of the owner: all that git keeps of them.
const EXECUTABLE: u32 = 0o100;

/// What is known about a file without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) modified: (i64, i64),
    pub(super) changed: (i64, i64),
    pub(super) inode: u64,
    pub(super) size: u64,
    /// As trees have it. None for what no tree has.
    pub(super) mode: Option<u32>,
    owners: (u32, u32),
}

/// What a walk found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) top: Directory,
    /// What may not be in the repository yet: files first, then the directories from the inside
    /// out.
    pub(super) unknown: Vec<Object>,
}

/// A walk through the work tree. All its answers are none where git has to be asked.
pub(super) struct Walk<'w> {
    /// When the index was written, in seconds.
    pub(super) written: Option<i64>,
    pub(super) rules: Rules,
    /// What is left out, relative to the top.
    pub(super) besides: Option<&'w [u8]>,
    /// The trees that are in the repository.
    pub(super) known: BTreeSet<Id>,
    pub(super) path: Vec<u8>,
    pub(super) names: usize,
    pub(super) bytes: u64,
    pub(super) unknown: Vec<Object>,
}

/// What the index has under one name of a directory.
enum Tracked<'i, 'e> {
    File(&'i Entry<'e>),
    /// All that is below it.
    Directory(&'i [Entry<'e>]),
}

/// A directory that is being looked at.
struct Place<'i, 'e> {
    fd: BorrowedFd<'i>,
    tracked: Vec<(&'i [u8], Tracked<'i, 'e>)>,
    is_ignored: bool,
}

impl Seen {
    pub(super) fn of(stat: &Stat) -> Self {
        fn number<T: TryInto<i64>>(number: T) -> i64 {
            number.try_into().unwrap_or(-1)
        }
        Self {
            modified: (number(stat.st_mtime), number(stat.st_mtime_nsec)),
            changed: (number(stat.st_ctime), number(stat.st_ctime_nsec)),
            inode: number(stat.st_ino).cast_unsigned(),
            size: number(stat.st_size).cast_unsigned(),
            mode: u32::try_from(number(stat.st_mode)).ok().and_then(mode_of),
            owners: (stat.st_uid, stat.st_gid),
        }
    }

    /// Whether the file is the one that the index knows: nothing about it is different, and it was
    /// [written so long before](is_long_before) the index that nobody could have changed it unnoticed in
    /// between.
    fn is_known(&self, entry: &Entry<'_>, written: Option<i64>) -> bool {
        let low = |(seconds, nanoseconds): (i64, i64)| {
            (
                low(seconds.cast_unsigned()),
                low(nanoseconds.cast_unsigned()),
            )
        };
        is_long_before(self.modified.0, written)
            && Some(entry.mode) == self.mode
            && entry.modified == low(self.modified)
            && entry.changed == low(self.changed)
            && entry.inode == crate::gate::index::low(self.inode)
            && entry.owners == self.owners
            && u64::from(entry.size) == self.size
    }
}

/// The mode that trees have for what the system has this one for.
fn mode_of(mode: u32) -> Option<u32> {
    // By numbers: `RawMode` has not the same size on every system.
    match mode & 0o170_000 {
        0o100_000 if mode & EXECUTABLE != 0 => Some(PROGRAM),
        0o100_000 => Some(FILE),
        0o120_000 => Some(LINK),
        _ => None,
    }
}

/// Whether an entry can be of a file that is known without reading it. The index has the lower half
/// of its time only: if that misleads, the file itself is looked at.
fn is_settled(entry: &Entry<'_>, written: Option<i64>) -> bool {
    is_long_before(entry.modified.0.into(), written)
}

/// Two seconds, because the ends of two ticks may have two numbers.
fn is_long_before(modified: i64, written: Option<i64>) -> bool {
    written.is_some_and(|written| modified < written - 1)
}

/// Opens something below an open directory, whatever it is, without waiting for it.
fn open(place: BorrowedFd<'_>, name: &CStr, flags: OFlags) -> Option<OwnedFd> {
    let flags = flags | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::openat(place, name, flags, Mode::empty()).ok()
}

/// What is in a regular file of this size.
fn read(file: &OwnedFd, size: u64) -> Option<Vec<u8>> {
    let length = usize::try_from(size).ok()?;
    let mut content = Vec::with_capacity(length + 1);
    while content.len() < length {
        match rustix::io::read(file, rustix::buffer::spare_capacity(&mut content)) {
            Ok(0) => break,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
    // One that somebody is writing is nothing to build on.
    (content.len() == length).then_some(content)
}

/// What is in a regular file of at most this size.
pub(super) fn content(place: BorrowedFd<'_>, name: &CStr, most: u64) -> Option<Vec<u8>> {
    let file = open(place, name, OFlags::empty())?;
    let size = regular(&file).filter(|size| *size <= most)?;
    read(&file, size)
}

impl Walk<'_> {
    /// Looks through all of it.
    pub(super) fn go(mut self, top: &std::path::Path, index: &[Entry<'_>]) -> Option<Found> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(CWD, top, flags, Mode::empty()).ok()?;
        let entries = self.directory(fd, index, false, 0)?;
        let top = self.closed(entries);
        Some(Found {
            top,
            unknown: self.unknown,
        })
    }

    /// The directory with these entries.
    fn closed(&mut self, entries: Vec<(Box<[u8]>, Node)>) -> Directory {
        let (directory, object) = Directory::new(entries);
        if self.known.insert(directory.id) {
            self.unknown.push(object);
        }
        directory
    }

    /// What is in the directory at `self.path`, of which `index` has this.
    fn directory(
        &mut self,
        fd: OwnedFd,
        index: &[Entry<'_>],
        is_ignored: bool,
        depth: usize,
    ) -> Option<Vec<(Box<[u8]>, Node)>> {
        if depth > DEPTH {
            return None;
        }
        let mut listing = Dir::new(fd).ok()?;
        let mut names = Vec::new();
        while let Some(entry) = listing.read() {
            let entry = entry.ok()?;
            if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
                names.push((entry.file_name().to_owned(), entry.file_type()));
            }
            self.names += 1;
            if self.names > NAMES {
                return None;
            }
        }
        let place = Place {
            fd: listing.fd().ok()?,
            tracked: tracked(index, self.path.len())?,
            is_ignored,
        };
        let rules = names
            .iter()
            .find(|(name, _)| name.as_bytes() == b".gitignore");
        let rules = match rules {
            Some((name, _)) if !is_ignored => Some(content(place.fd, name, RULES)?),
            Some(_) | None => None,
        };
        self.rules.enter(rules.as_deref(), self.path.len())?;
        let mut entries = Vec::new();
        for (name, kind) in names {
            let length = self.path.len();
            self.path.extend_from_slice(name.to_bytes());
            if let Some(node) = self.entry(&place, &name, kind, depth)? {
                entries.push((name.into_bytes().into_boxed_slice(), node));
            }
            self.path.truncate(length);
        }
        self.rules.leave();
        Some(entries)
    }

    /// What is at `self.path`. The inner none is for what no tree has.
    #[expect(clippy::option_option, reason = "a doubt is not the same as nothing")]
    fn entry(
        &mut self,
        place: &Place<'_, '_>,
        name: &CStr,
        mut kind: FileType,
        depth: usize,
    ) -> Option<Option<Node>> {
        let word = name.to_bytes();
        let found = place
            .tracked
            .binary_search_by(|(known, _)| (*known).cmp(word));
        let tracked = found.ok().and_then(|at| place.tracked.get(at));
        let tracked = tracked.map(|(_, tracked)| tracked);
        match word {
            b".git" if depth == 0 => return Some(None),
            // Another repository, and what has git read files in another way.
            b".git" | b".gitattributes" | b".gitmodules" => return None,
            _ => {}
        }
        if self.besides == Some(self.path.as_slice()) {
            return tracked.is_none().then_some(None);
        }
        if kind == FileType::Unknown {
            let stat = rustix::fs::statat(place.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            kind = FileType::from_raw_mode(stat.st_mode);
        }
        match kind {
            FileType::Directory => {
                let below = match tracked {
                    Some(Tracked::Directory(below)) => *below,
                    Some(Tracked::File(_)) | None => &[],
                };
                let is_ignored = place.is_ignored || self.rules.ignore(&self.path, word, true);
                if is_ignored && below.is_empty() {
                    return Some(None);
                }
                let fd = open(place.fd, name, OFlags::DIRECTORY)?;
                self.path.push(b'/');
                let entries = self.directory(fd, below, is_ignored, depth + 1)?;
                if entries.is_empty() {
                    return Some(None);
                }
                is_usual(word, kind).then_some(())?;
                Some(Some(Node::Directory(self.closed(entries))))
            }
            FileType::RegularFile | FileType::Symlink => {
                let entry = match tracked {
                    Some(Tracked::File(entry)) => Some(*entry),
                    Some(Tracked::Directory(_)) | None => None,
                };
                let is_ignored = || place.is_ignored || self.rules.ignore(&self.path, word, false);
                if entry.is_none() && is_ignored() {
                    return Some(None);
                }
                is_usual(word, kind).then_some(())?;
                let file = self.file(place.fd, name, kind, entry)?;
                Some(Some(Node::File(file)))
            }
            // git does not see what is neither, unless it stands in the place of a file.
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => (!matches!(tracked, Some(Tracked::File(_)))).then_some(None),
        }
    }

    fn file(
        &mut self,
        place: BorrowedFd<'_>,
        name: &CStr,
        kind: FileType,
        entry: Option<&Entry<'_>>,
    ) -> Option<File> {
        let stat = || rustix::fs::statat(place, name, AtFlags::SYMLINK_NOFOLLOW).ok();
        if let Some(entry) = entry.filter(|entry| is_settled(entry, self.written)) {
            let seen = Seen::of(&stat()?);
            if seen.is_known(entry, self.written) {
                return Some(File {
                    mode: entry.mode,
                    id: Id(entry.id),
                    seen,
                });
            }
        }
        let (seen, content) = if kind == FileType::Symlink {
            let seen = Seen::of(&stat()?);
            let target = rustix::fs::readlinkat(place, name, Vec::new()).ok()?;
            (seen, target.into_bytes())
        } else {
            let file = open(place, name, OFlags::empty())?;
            let seen = Seen::of(&rustix::fs::fstat(&file).ok()?);
            self.bytes += seen.size;
            if self.bytes > BYTES || !matches!(seen.mode, Some(FILE | PROGRAM)) {
                return None;
            }
            (seen, read(&file, seen.size)?)
        };
        let object = Object::new(Kind::Blob, content);
        let id = object.id;
        if entry.is_none_or(|entry| entry.id != id.0) && self.known.insert(id) {
            self.unknown.push(object);
        }
        Some(File {
            mode: seen.mode?,
            id,
            seen,
        })
    }
}

/// The size of what is open, if it is a regular file.
fn regular(file: &OwnedFd) -> Option<u64> {
    let stat = rustix::fs::fstat(file.as_fd()).ok()?;
    let is_regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    is_regular.then(|| Seen::of(&stat).size)
}

/// What an index has in a directory whose path has so many bytes, by name. None if that makes no
/// sense.
fn tracked<'i, 'e>(
    index: &'i [Entry<'e>],
    base: usize,
) -> Option<Vec<(&'i [u8], Tracked<'i, 'e>)>> {
    let mut tracked = Vec::new();
    let mut rest = index;
    while let Some(first) = rest.first() {
        let path = first.path.get(base..)?;
        match path.iter().position(|byte| *byte == b'/') {
            None => {
                tracked.push((path, Tracked::File(first)));
                rest = rest.get(1..)?;
            }
            Some(slash) => {
                let begin = first.path.get(..=base + slash)?;
                let is_below = |entry: &Entry<'_>| entry.path.starts_with(begin);
                let end = rest.partition_point(is_below);
                tracked.push((path.get(..slash)?, Tracked::Directory(rest.get(..end)?)));
                rest = rest.get(end..)?;
            }
        }
    }
    tracked.sort_by_key(|(name, _)| *name);
    let is_once = tracked.is_sorted_by(|(one, _), (other, _)| one < other);
    is_once.then_some(tracked)
}

/// Whether git takes this name from anybody: none that another system could take for `.git`.
fn is_usual(name: &[u8], kind: FileType) -> bool {
    let starts = |with: &[u8]| {
        let begin = name.get(..with.len());
        begin.is_some_and(|begin| begin.eq_ignore_ascii_case(with))
    };
    let is_dot_git = starts(b".git")
        && !name
            .get(4)
            .is_some_and(|next| next.is_ascii_alphanumeric() || b"-_".contains(next));
    let is_short = starts(b"gi") && name.contains(&b'~');
    let is_file_of_git = starts(b".git") && kind == FileType::Symlink;
    !(is_dot_git || is_short || is_file_of_git || name.contains(&b'\\'))
}

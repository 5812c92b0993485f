//! Reading whole files without being led astray.
//!
//! A state file that is a named pipe hung the original for ever, one that pointed at `/dev/zero`
//! took 4.2 GB. So a file is opened without waiting, looked at through the descriptor (not the
//! path, which may change meanwhile), and read up to a cap.

use std::fmt;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt as _, FileTypeExt as _, MetadataExt as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::buffer::spare_capacity;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// A whole file and which file it was.
#[derive(Clone, Debug)]
pub struct Contents {
    /// What is in it.
    pub bytes: Vec<u8>,
    /// Which file it was when it was opened.
    pub identity: Identity,
    /// What will tell whether it is still the same, unless it changed too lately.
    pub mark: Option<Mark>,
}

/// Tells later, without reading it again, whether a file is as it was when it was read.
///
/// Every change of a file sets its change time, and nobody can set that back. But the clocks of file
/// systems tick every few milliseconds: of a file that changed right before it was read, a
/// second change within the same tick would not show. Such a file has no mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    identity: Identity,
    changed: (i64, i64),
}

/// How much of a file is compared at once.
const PIECE: usize = 16 << 10;

/// Several times as long as any clock's tick.
const TICKS: Duration = Duration::from_millis(50);

/// Which file, and in which state: a changed or replaced file has another identity.
///
/// The time of the last status change is left out on purpose, because a rename changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The device it is on.
    pub device: u64,
    /// Its number on the device.
    pub inode: u64,
    /// Its length.
    pub size: u64,
    /// When it was last written, in seconds since 1970.
    pub modified: i64,
    /// The nanoseconds of that.
    pub modified_nanos: i64,
}

/// What a `stat` tells about a file: which it is, and its mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Which file.
    pub identity: Identity,
    /// Its kind and permissions.
    pub mode: u32,
}

impl Stamp {
    /// The stamp of the file that the metadata describe.
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self {
            identity: Identity::of(metadata),
            mode: metadata.mode(),
        }
    }
}

impl Mark {
    /// The mark of a file that is read from this moment on.
    fn of(metadata: &Metadata, moment: SystemTime) -> Option<Self> {
        let moment = moment
            .checked_sub(TICKS)?
            .duration_since(SystemTime::UNIX_EPOCH)
            .ok()?;
        let changed = Duration::new(
            metadata.ctime().try_into().ok()?,
            metadata.ctime_nsec().try_into().ok()?,
        );
        (changed < moment).then(|| Self::at(metadata))
    }

    fn at(metadata: &Metadata) -> Self {
        Self {
            identity: Identity::of(metadata),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Whether the file at `path` is the one that was read, and as it was then. It is opened for
    /// that, because a file system of another machine answers a bare `stat` from its memory.
    pub(crate) fn is_on(self, path: &Path) -> bool {
        let metadata = open(path).ok().and_then(|file| file.metadata().ok());
        metadata.is_some_and(|metadata| Self::at(&metadata) == self)
    }
}

/// What a path turned out to be instead of a regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A directory.
    Directory,
    /// A symbolic link that must not be followed, leads nowhere or in a circle.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A character or block device.
    Device,
    /// Something this program has no name for.
    Other,
}

/// Why a file that is there was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadFault {
    /// It is no regular file.
    #[error("it is {0}, not a regular file")]
    NotRegular(FileKind),
    /// It is larger than anything it could sensibly hold.
    #[error("it is larger than {cap} bytes")]
    TooLarge {
        /// The cap it exceeds.
        cap: u64,
    },
    /// The system refused.
    #[error("it cannot be read: {0}")]
    Unreadable(#[from] io::Error),
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Directory => "a directory",
            Self::Symlink => "a symbolic link",
            Self::Fifo => "a named pipe",
            Self::Socket => "a socket",
            Self::Device => "a device",
            Self::Other => "something special",
        })
    }
}

impl FileKind {
    /// The kind of what the metadata describe; `None` for a regular file.
    pub(super) fn of(metadata: &Metadata) -> Option<Self> {
        let kind = metadata.file_type();
        if kind.is_file() {
            None
        } else if kind.is_dir() {
            Some(Self::Directory)
        } else if kind.is_symlink() {
            Some(Self::Symlink)
        } else if kind.is_fifo() {
            Some(Self::Fifo)
        } else if kind.is_socket() {
            Some(Self::Socket)
        } else if kind.is_char_device() || kind.is_block_device() {
            Some(Self::Device)
        } else {
            Some(Self::Other)
        }
    }
}

/// As it stands in records: five numbers between blanks.
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            device,
            inode,
            size,
            modified,
            modified_nanos,
        } = self;
        write!(f, "{device} {inode} {size} {modified} {modified_nanos}")
    }
}

impl Identity {
    /// Reads the five numbers of a record.
    pub(crate) fn parse<'a>(fields: &mut impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut next = || fields.next();
        Some(Self {
            device: next()?.parse().ok()?,
            inode: next()?.parse().ok()?,
            size: next()?.parse().ok()?,
            modified: next()?.parse().ok()?,
            modified_nanos: next()?.parse().ok()?,
        })
    }

    /// The identity of the file that the metadata describe.
    pub fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: metadata.mtime(),
            modified_nanos: metadata.mtime_nsec(),
        }
    }
}

/// Reads a regular file of at most `cap` bytes, through links. `None` if nothing is there.
pub fn read_regular(path: &Path, cap: u64) -> Result<Option<Contents>, ReadFault> {
    Ok(read_described(path, cap)?.map(|(contents, _)| contents))
}

/// The same, with all that the system said of the file.
pub fn read_described(path: &Path, cap: u64) -> Result<Option<(Contents, Metadata)>, ReadFault> {
    read(path, cap, OFlags::empty())
}

/// Reads a file that Tollgate also writes: as [`read_regular`], but a symbolic link in its place
/// is refused, because replacing it would break the link or write where it points.
pub fn read_own(path: &Path, cap: u64) -> Result<Option<Contents>, ReadFault> {
    Ok(read(path, cap, OFlags::NOFOLLOW)?.map(|(contents, _)| contents))
}

fn read(path: &Path, cap: u64, links: OFlags) -> Result<Option<(Contents, Metadata)>, ReadFault> {
    let moment = SystemTime::now();
    let file = match open_through(path, links) {
        Ok(descriptor) => File::from(descriptor),
        Err(errno) => return not_opened(path, errno, links).map(|()| None),
    };
    let metadata = file.metadata()?;
    if let Some(kind) = FileKind::of(&metadata) {
        return Err(ReadFault::NotRegular(kind));
    }
    if metadata.len() > cap {
        return Err(ReadFault::TooLarge { cap });
    }
    // One byte more than the length lets the read see the end without growing the buffer.
    let room = usize::try_from(metadata.len()).map_or(0, |length| length.saturating_add(1));
    let mut bytes = Vec::with_capacity(room);
    // By hand, because the library's way begins with small pieces: five calls for 64 KB, not two.
    loop {
        bytes.reserve(1);
        match rustix::io::read(&file, spare_capacity(&mut bytes)) {
            Ok(0) => break,
            Ok(_) if bytes.len() as u64 > cap => return Err(ReadFault::TooLarge { cap }),
            // There was room for more than it is long, and no more came.
            Ok(_) if bytes.len() as u64 == metadata.len() => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(ReadFault::Unreadable(errno.into())),
        }
    }
    let contents = Contents {
        bytes,
        identity: Identity::of(&metadata),
        mark: Mark::of(&metadata, moment),
    };
    Ok(Some((contents, metadata)))
}

/// Whether a file of this number is at `path` and holds these bytes. Piece by piece, because the
/// bytes are in memory already. Not part of its caller, which seldom needs it: room for a piece on
/// the stack is four page faults.
#[inline(never)]
pub(crate) fn holds(path: &Path, inode: u64, bytes: &[u8]) -> bool {
    let Ok(file) = open(path) else {
        return false;
    };
    let is_it = |metadata: Metadata| {
        metadata.is_file() && metadata.ino() == inode && metadata.len() == bytes.len() as u64
    };
    let mut piece = [0; PIECE];
    let mut at = 0;
    let same = |part: &[u8]| {
        let piece = piece.get_mut(..part.len()).unwrap_or_default();
        let read = file.read_exact_at(piece, at);
        at += part.len() as u64;
        read.is_ok() && equal(piece, part)
    };
    file.metadata().is_ok_and(is_it) && bytes.chunks(PIECE).all(same)
}

/// Whether two texts are the same, eight bytes at a time: the C library's way may be by one.
fn equal(one: &[u8], other: &[u8]) -> bool {
    let ((one, rest), (other, other_rest)) = (one.as_chunks::<8>(), other.as_chunks::<8>());
    let words = one.iter().zip(other);
    one.len() == other.len()
        && words
            .into_iter()
            .all(|(one, other)| u64::from_ne_bytes(*one) == u64::from_ne_bytes(*other))
        && rest == other_rest
}

/// Opens a file of our own to read from it, without waiting for anybody and through no link.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    Ok(File::from(open_through(path, OFlags::NOFOLLOW)?))
}

fn open_through(path: &Path, links: OFlags) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY | links;
    rustix::fs::open(path, flags, Mode::empty())
}

/// Tells an absent file from one that is there and cannot be opened.
fn not_opened(path: &Path, errno: Errno, links: OFlags) -> Result<(), ReadFault> {
    // A link that leads nowhere is another error where links are not followed.
    if errno == Errno::NOENT && links.contains(OFlags::NOFOLLOW) {
        return Ok(());
    }
    let kind = path
        .symlink_metadata()
        .ok()
        .and_then(|metadata| FileKind::of(&metadata));
    match (errno, kind) {
        (Errno::NOENT, None) => Ok(()),
        (Errno::NOENT | Errno::LOOP, Some(kind)) => Err(ReadFault::NotRegular(kind)),
        // Opening a socket says ENXIO; so does a pipe nobody reads.
        (Errno::NXIO | Errno::OPNOTSUPP, Some(kind)) => Err(ReadFault::NotRegular(kind)),
        (errno, _) => Err(ReadFault::Unreadable(errno.into())),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests plant files")]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType};
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    fn fault(path: &Path) -> ReadFault {
        read_regular(path, 100).unwrap_err()
    }

    #[test]
    fn a_regular_file_is_read_and_an_absent_one_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        assert!(read_regular(&path, 9).unwrap().is_none());
        std::fs::write(&path, "hello").unwrap();
        let contents = read_regular(&path, 5).unwrap().unwrap();
        assert_eq!(contents.bytes, b"hello");
        assert_eq!(contents.identity.size, 5);
    }

    /// The file with its mark, as soon as it has one.
    fn settled(path: &Path) -> Contents {
        loop {
            let contents = read_own(path, 100).unwrap().unwrap();
            if contents.mark.is_some() {
                return contents;
            }
        }
    }

    #[test]
    fn a_mark_is_lost_by_every_change_even_one_of_the_same_length_and_time() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, "one").unwrap();
        assert_eq!(read_own(&path, 9).unwrap().unwrap().mark, None, "too fresh");
        let mark = settled(&path).mark.unwrap();
        assert!(mark.is_on(&path));

        let modified = path.metadata().unwrap().modified().unwrap();
        std::fs::write(&path, "two").unwrap();
        File::open(&path).unwrap().set_modified(modified).unwrap();
        assert_eq!(path.metadata().unwrap().modified().unwrap(), modified);
        assert!(!mark.is_on(&path));

        let mark = settled(&path).mark.unwrap();
        let other = dir.path().join("g");
        std::fs::write(&other, "two").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert!(!mark.is_on(&path));
        std::fs::remove_file(&path).unwrap();
        assert!(!mark.is_on(&path));
    }

    #[test]
    fn a_file_of_another_length_than_it_says_is_read_to_its_end() {
        // The kernel says 0 of its own files.
        let contents = read_regular(Path::new("/proc/self/status"), 1 << 20);
        let contents = contents.unwrap().unwrap();
        assert_eq!(contents.identity.size, 0);
        assert!(contents.bytes.starts_with(b"Name:") && contents.bytes.len() > 100);
        assert!(matches!(
            read_regular(Path::new("/proc/self/status"), 10),
            Err(ReadFault::TooLarge { cap: 10 })
        ));
    }

    #[test]
    fn what_is_larger_than_the_cap_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, "hello").unwrap();
        assert!(matches!(
            read_regular(&path, 4),
            Err(ReadFault::TooLarge { cap: 4 })
        ));
    }

    #[test]
    fn a_pipe_a_socket_a_device_and_a_directory_are_named_and_never_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        rustix::fs::mknodat(CWD, &fifo, FileType::Fifo, Mode::from(0o600), 0).unwrap();
        let socket = dir.path().join("socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        let zero = dir.path().join("zero");
        symlink("/dev/zero", &zero).unwrap();
        for (path, kind) in [
            (fifo.as_path(), FileKind::Fifo),
            (&socket, FileKind::Socket),
            (&zero, FileKind::Device),
            (dir.path(), FileKind::Directory),
        ] {
            assert!(
                matches!(fault(path), ReadFault::NotRegular(found) if found == kind),
                "{path:?}: {:?}",
                fault(path)
            );
        }
    }

    #[test]
    fn links_are_followed_for_reading_and_refused_for_files_of_our_own() {
        let dir = tempfile::tempdir().unwrap();
        let (target, link) = (dir.path().join("t"), dir.path().join("l"));
        std::fs::write(&target, "x").unwrap();
        symlink(&target, &link).unwrap();
        assert_eq!(read_regular(&link, 9).unwrap().unwrap().bytes, b"x");
        assert!(matches!(
            read_own(&link, 9),
            Err(ReadFault::NotRegular(FileKind::Symlink))
        ));
    }

    #[test]
    fn a_link_to_nowhere_or_in_a_circle_is_not_absent() {
        let dir = tempfile::tempdir().unwrap();
        let (dangling, circle) = (dir.path().join("d"), dir.path().join("c"));
        symlink("nowhere", &dangling).unwrap();
        symlink("c", &circle).unwrap();
        for path in [&dangling, &circle] {
            assert!(matches!(
                fault(path),
                ReadFault::NotRegular(FileKind::Symlink)
            ));
        }
    }

    #[test]
    fn a_file_in_the_place_of_a_directory_is_a_fault() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        std::fs::write(&file, "x").unwrap();
        assert!(matches!(
            fault(&file.join("below")),
            ReadFault::Unreadable(_)
        ));
    }

    #[test]
    fn a_file_holds_what_it_holds_to_the_last_byte() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let text = "0123456789".repeat(4000);
        std::fs::write(&path, &text).unwrap();
        let inode = path.metadata().unwrap().ino();
        assert!(holds(&path, inode, text.as_bytes()));
        assert!(!holds(&path, inode + 1, text.as_bytes()));
        assert!(!holds(&path, inode, &text.as_bytes()[1..]));
        for at in [0, 7, PIECE - 1, PIECE, text.len() - 1] {
            let mut other = text.clone().into_bytes();
            other[at] = b'x';
            assert!(!holds(&path, inode, &other), "{at}");
        }
        symlink(&path, dir.path().join("l")).unwrap();
        assert!(!holds(&dir.path().join("l"), inode, text.as_bytes()));
        assert!(!holds(&dir.path().join("none"), inode, b""));
    }
}

//! Reads whole files safely.
//!
//! A state file that is a named pipe hung the original forever, one that pointed at `/dev/zero`
//! took 4.2 GB. So a file is opened without waiting, examined through the descriptor (not the
//! path, which may change meanwhile), and read up to a cap.

use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// A whole file and which file it was.
#[derive(Clone, Debug)]
pub struct Contents {
    /// What is in it.
    pub bytes: Vec<u8>,
    /// Which file it was when it was opened.
    pub identity: Identity,
}

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
    pub fn of(metadata: &Metadata) -> Option<Self> {
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

impl From<ReadFault> for io::Error {
    fn from(fault: ReadFault) -> Self {
        Self::other(fault)
    }
}

impl Contents {
    /// As text, without the byte order mark that some editors put in front; what is no UTF-8 is replaced.
    pub fn into_text(self) -> String {
        let text = String::from_utf8(self.bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        }
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
    read(path, cap, OFlags::empty())
}

/// Reads a file that Tollgate also writes: as [`read_regular`], but a symbolic link in its place
/// is refused, because replacing it would break the link or write where it points.
pub fn read_own(path: &Path, cap: u64) -> Result<Option<Contents>, ReadFault> {
    read(path, cap, OFlags::NOFOLLOW)
}

fn read(path: &Path, cap: u64, links: OFlags) -> Result<Option<Contents>, ReadFault> {
    // Most files that an event asks for are absent, and to ask costs half of trying to open. A link that
    // leads nowhere is there.
    let is_absent = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    if links.is_empty()
        && path
            .symlink_metadata()
            .is_err_and(|error| is_absent(&error))
    {
        return Ok(None);
    }
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
    let length = usize::try_from(metadata.len()).unwrap_or_default();
    let mut bytes = Vec::with_capacity(length.saturating_add(1));
    // In one piece: behind a cap, `read_to_end` begins with 8 KB and doubles them.
    rustix::io::read(&file, rustix::buffer::spare_capacity(&mut bytes)).map_err(io::Error::from)?;
    // It may have grown since, and the kernel's own files say that they are empty. Where there was room
    // for more, it ended.
    if bytes.len() != length || length == 0 {
        let most = cap.saturating_add(1).saturating_sub(bytes.len() as u64);
        file.take(most).read_to_end(&mut bytes)?;
    }
    if bytes.len() as u64 > cap {
        return Err(ReadFault::TooLarge { cap });
    }
    Ok(Some(Contents {
        bytes,
        identity: Identity::of(&metadata),
    }))
}

/// The last bytes of a regular file, as text; nothing if there is none, or it cannot be read.
pub fn read_tail(path: &Path, most: u64) -> Option<String> {
    let mut file = File::from(open_through(path, OFlags::empty()).ok()?);
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() {
        return None;
    }
    let start = metadata.len().saturating_sub(most);
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
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
        // Opening a socket says ENXIO; so does a pipe without a reader.
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

    #[test]
    fn a_text_has_no_byte_order_mark() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, "\u{feff}{}\u{feff}").unwrap();
        let contents = read_regular(&path, 99).unwrap().unwrap();
        assert_eq!(contents.bytes.len(), 8);
        assert_eq!(contents.into_text(), "{}\u{feff}");
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
}

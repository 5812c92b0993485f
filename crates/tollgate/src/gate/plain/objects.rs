//! Objects of the repository: their names, and reading and writing them as git does.
//!
//! Everything is read, but only loose objects are written.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, Timespec, Timestamps, UTIME_NOW};
use rustix::io::Errno;
use sha1::{Digest as _, Sha1};

use super::packs::Packs;

/// No larger object is read; git is asked instead.
pub(super) const LARGEST: usize = 4 << 20;

/// What is smaller takes one block of a disk, packed or not.
const BLOCK: usize = 4 << 10;

/// Little time for much of the gain.
const LEVEL: u8 = 1;

/// The name of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Id(pub(super) [u8; 20]);

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Blob,
    Tree,
    Commit,
}

/// An object that may have to be written.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) id: Id,
    kind: Kind,
    content: Vec<u8>,
}

/// Where a repository has its objects.
#[derive(Debug)]
pub(super) struct Objects {
    place: PathBuf,
    packs: OnceLock<Packs>,
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or_default();
        let digits = self.0.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        f.write_str(&digits.map(digit).collect::<String>())
    }
}

impl Id {
    /// From the letters that people see.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let mut id = [0; 20];
        if text.len() != 40 {
            return None;
        }
        for (byte, two) in id.iter_mut().zip(text.chunks_exact(2)) {
            let [high, low] = two else { return None };
            *byte = u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()?;
        }
        Some(Self(id))
    }

    /// The name of an object with this content.
    pub(super) fn of(kind: Kind, content: &[u8]) -> Self {
        let mut hash = Sha1::new();
        hash.update(header(kind, content));
        hash.update(content);
        Self(hash.finalize().into())
    }
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Blob => "blob",
            Self::Tree => "tree",
            Self::Commit => "commit",
        }
    }

    fn parse(word: &[u8]) -> Option<Self> {
        [Self::Blob, Self::Tree, Self::Commit]
            .into_iter()
            .find(|kind| kind.word().as_bytes() == word)
    }
}

fn header(kind: Kind, content: &[u8]) -> Vec<u8> {
    format!("{} {}\0", kind.word(), content.len()).into_bytes()
}

impl Object {
    pub(super) fn new(kind: Kind, content: Vec<u8>) -> Self {
        Self {
            id: Id::of(kind, &content),
            kind,
            content,
        }
    }
}

impl Objects {
    pub(super) fn at(place: PathBuf) -> Self {
        Self {
            place,
            packs: OnceLock::new(),
        }
    }

    /// An object of the repository. None if it is not found, or not sound: git knows more.
    pub(super) fn read(&self, id: Id) -> Option<(Kind, Vec<u8>)> {
        let packed = || {
            let packs = || Packs::at(&self.place.join("pack"));
            self.packs.get_or_init(packs).read(id)
        };
        let (kind, content) = self.read_loose(id).or_else(packed)?;
        (Id::of(kind, &content) == id).then_some((kind, content))
    }

    fn read_loose(&self, id: Id) -> Option<(Kind, Vec<u8>)> {
        let path = self.path(id);
        let file = tollgate_core::fs::read_regular(&path, LARGEST as u64).ok()??;
        let mut bytes =
            miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(&file.bytes, LARGEST).ok()?;
        let end = bytes.iter().position(|byte| *byte == 0)?;
        let blank = bytes.iter().position(|byte| *byte == b' ')?;
        let kind = Kind::parse(bytes.get(..blank)?)?;
        let length = std::str::from_utf8(bytes.get(blank + 1..end)?).ok()?;
        let length: usize = length.parse().ok()?;
        let content = bytes.split_off(end + 1);
        (length == content.len()).then_some((kind, content))
    }

    fn path(&self, id: Id) -> PathBuf {
        let name = id.to_string();
        let (directory, rest) = name.split_at(2);
        self.place.join(directory).join(rest)
    }

    /// Makes sure that an object is there.
    pub(super) fn write(&self, object: &Object) -> io::Result<()> {
        let path = self.path(object.id);
        if is_there(&path) {
            return Ok(());
        }
        self.write_new(object, &path)
    }

    /// Not part of its caller, which seldom needs it: what packs takes 64 KB of the stack, which are
    /// sixteen page faults.
    #[inline(never)]
    fn write_new(&self, object: &Object, path: &Path) -> io::Result<()> {
        let directory = path.parent().unwrap_or(&self.place);
        let (file, temporary) = match create(directory) {
            Err(Errno::NOENT) => {
                match rustix::fs::mkdir(directory, Mode::from(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(errno) => return Err(errno.into()),
                }
                create(directory)?
            }
            created => created?,
        };
        let written =
            fill(file, object).and_then(|()| tollgate_core::fs::relocate(&temporary, path));
        if written.is_err() {
            let _left = std::fs::remove_file(&temporary);
        }
        written
    }
}

/// Whether there is an object; if so, git shall not clear it away as an old one soon.
fn is_there(path: &Path) -> bool {
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: UTIME_NOW,
    };
    let now = Timestamps {
        last_access: now,
        last_modification: now,
    };
    rustix::fs::utimensat(CWD, path, &now, AtFlags::empty()).is_ok()
}

/// A new file under a name that git clears away if it is left behind.
fn create(directory: &Path) -> Result<(File, PathBuf), Errno> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("tmp_obj_{}-{number}", std::process::id());
        let path = directory.join(name);
        match rustix::fs::openat(CWD, &path, flags, Mode::from(0o444)) {
            Ok(file) => return Ok((file.into(), path)),
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
    }
}

fn fill(mut file: File, object: &Object) -> io::Result<()> {
    let mut bytes = header(object.kind, &object.content);
    bytes.extend_from_slice(&object.content);
    file.write_all(&packed(&bytes))
}

/// In the form that git inflates.
fn packed(bytes: &[u8]) -> Vec<u8> {
    match u16::try_from(bytes.len()) {
        Ok(length) if bytes.len() <= BLOCK => {
            // One block as it is, between the header and the checksum.
            let mut packed = vec![0x78, 0x01, 0x01];
            packed.extend(length.to_le_bytes());
            packed.extend((!length).to_le_bytes());
            packed.extend(bytes);
            packed.extend(adler(bytes).to_be_bytes());
            packed
        }
        Ok(_) | Err(_) => miniz_oxide::deflate::compress_to_vec_zlib(bytes, LEVEL),
    }
}

/// The checksum of a block, which is too short for its sums to overflow.
fn adler(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (mut one, mut two) = (1, 0);
    for byte in bytes {
        one += u32::from(*byte);
        two += one;
        if two >= MODULUS << 8 {
            two %= MODULUS;
        }
    }
    ((two % MODULUS) << 16) | (one % MODULUS)
}

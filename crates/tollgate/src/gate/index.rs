//! Whether the work tree is still the one that was put into an index: by the times and sizes that
//! git wrote down in it.
//!
//! Two versions of the format are read, those that git writes unless told otherwise; about others
//! git is asked.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::git::Git;

/// Whether a work tree changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moved {
    No,
    Yes,
}

/// What an index of version 2 or 3 says.
pub(super) struct Index<'i> {
    pub(super) entries: Vec<Entry<'i>>,
    /// The extensions, and the checksum at the end.
    pub(super) rest: &'i [u8],
}

/// What an index says about one file.
pub(super) struct Entry<'i> {
    /// The seconds and nanoseconds of the last change of what is known about it.
    pub(super) changed: (u32, u32),
    /// The same of its content.
    pub(super) modified: (u32, u32),
    pub(super) inode: u32,
    pub(super) mode: u32,
    /// The user and the group.
    pub(super) owners: (u32, u32),
    pub(super) size: u32,
    pub(super) id: [u8; 20],
    /// The person said that it is not to be looked at.
    is_assumed: bool,
    /// It is not to be checked out.
    is_skipped: bool,
    /// Neither of the two, nor a side of a conflict, nor announced only.
    pub(super) is_plain: bool,
    pub(super) path: &'i [u8],
}

/// What an index has beside files that git looks at. All paths are relative to the top.
#[derive(Debug, Default)]
pub(crate) struct Special {
    /// Files that git was told not to look at.
    pub(crate) hidden: Vec<PathBuf>,
    /// Where other repositories lie, or should.
    pub(crate) repositories: Vec<PathBuf>,
}

/// What kind of thing a mode says an entry is.
const KIND: u32 = 0o170_000;
const REPOSITORY: u32 = 0o160_000;
const DIRECTORY: u32 = 0o040_000;

impl Special {
    pub(crate) fn is_empty(&self) -> bool {
        self.hidden.is_empty() && self.repositories.is_empty()
    }

    fn put(&mut self, git: &Git, mode: u32, marks: (bool, bool), path: &[u8]) {
        let path = Path::new(OsStr::from_bytes(path));
        let (is_assumed, is_skipped) = marks;
        match mode & KIND {
            REPOSITORY => self.repositories.push(path.to_owned()),
            DIRECTORY => {}
            // What is not checked out on purpose is not missing.
            _ if is_assumed
                || (is_skipped
                    && (!git.is_sparse() || git.top().join(path).symlink_metadata().is_ok())) =>
            {
                self.hidden.push(path.to_owned());
            }
            _ => {}
        }
    }
}

/// What is special in an index.
pub(crate) fn special(git: &Git, index: &Path) -> Special {
    let mut special = Special::default();
    let Ok(bytes) = std::fs::read(index) else {
        return special;
    };
    if let Some(read) = read(&bytes) {
        for entry in read.entries {
            let marks = (entry.is_assumed, entry.is_skipped);
            special.put(git, entry.mode, marks, entry.path);
        }
        return special;
    }
    let args = ["ls-files", "-z", "-v", "--stage"].map(OsStr::new);
    let args = [OsStr::new("-C"), git.top().as_os_str()]
        .into_iter()
        .chain(args);
    let listed = git.ask_with_index(index, args).bytes().unwrap_or_default();
    for line in listed.split(|byte| *byte == 0) {
        // `h 100644 <id> 0<tab><path>`: a small letter for what is assumed, S for what is skipped.
        let at = line.iter().position(|byte| *byte == b'\t');
        let (Some(tag), Some(mode), Some(at)) = (line.first(), line.get(2..8), at) else {
            continue;
        };
        let mode = std::str::from_utf8(mode).ok();
        let mode = mode.and_then(|mode| u32::from_str_radix(mode, 8).ok());
        let marks = (tag.is_ascii_lowercase(), tag.eq_ignore_ascii_case(&b'S'));
        let path = line.get(at + 1..).unwrap_or_default();
        special.put(git, mode.unwrap_or_default(), marks, path);
    }
    special
}

/// Compares the files below `top` with what the index of that tree says about them. New files that
/// nobody added are not seen.
pub(crate) fn compare(git: &Git, index: &Path) -> Moved {
    let known = std::fs::read(index).ok();
    let still = match known.as_deref().and_then(read) {
        Some(read) => read
            .entries
            .iter()
            .all(|entry| is_as_it_was(git.top(), entry)),
        None => git.ask_with_index(index, ["diff-files", "--quiet"]).yes(),
    };
    if still { Moved::No } else { Moved::Yes }
}

/// Whether every entry of an index is a plain one: in it, on disk, and wanted.
pub(crate) fn is_plain(index: &Path) -> bool {
    use std::io::Read as _;
    let mut head = [0; 8];
    let read = std::fs::File::open(index).and_then(|mut file| file.read_exact(&mut head));
    match read {
        // Version 2 knows no other entries.
        Ok(()) => head == *b"DIRC\0\0\0\x02",
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

fn is_as_it_was(top: &Path, entry: &Entry<'_>) -> bool {
    let is_file = ![REPOSITORY, DIRECTORY].contains(&(entry.mode & KIND));
    if entry.is_assumed || entry.is_skipped || !is_file {
        return true;
    }
    let path = OsStr::from_bytes(entry.path);
    let Ok(now) = top.join(path).symlink_metadata() else {
        return false;
    };
    let (seconds, nanoseconds) = entry.modified;
    low(now.mtime().cast_unsigned()) == seconds
        && (nanoseconds == 0 || low(now.mtime_nsec().cast_unsigned()) == nanoseconds)
        && low(now.size()) == entry.size
        && now.mode() & KIND == entry.mode & KIND
}

/// As much of a number as an index has room for.
pub(super) fn low(number: u64) -> u32 {
    u32::try_from(number & u64::from(u32::MAX)).unwrap_or(0)
}

/// Reads an index of version 2 or 3 with names of 20 bytes; none if it is another one.
pub(super) fn read(bytes: &[u8]) -> Option<Index<'_>> {
    const FIXED: usize = 62;
    let number = |at: usize| -> Option<u32> {
        let bytes = bytes.get(at..at.checked_add(4)?)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?))
    };
    if bytes.get(..4)? != b"DIRC" || !matches!(number(4)?, 2 | 3) {
        return None;
    }
    let count = usize::try_from(number(8)?).ok()?;
    let mut entries = Vec::with_capacity(count.min(bytes.len() / FIXED));
    let mut at = 12;
    for _ in 0..count {
        let flags = number(at + FIXED - 4)? & 0xffff;
        let is_extended = flags & 0x4000 != 0;
        let more = if is_extended {
            number(at + FIXED - 2)? & 0xffff
        } else {
            0
        };
        let begin = at + FIXED + if is_extended { 2 } else { 0 };
        let rest = bytes.get(begin..)?;
        let path = rest.get(..rest.iter().position(|byte| *byte == 0)?)?;
        // The length that git wrote, where it fits: a wrong one means names of another size.
        let length = usize::try_from(flags & 0xfff).ok()?;
        if path.is_empty() || (length < 0xfff && length != path.len()) {
            return None;
        }
        entries.push(Entry {
            changed: (number(at)?, number(at + 4)?),
            modified: (number(at + 8)?, number(at + 12)?),
            inode: number(at + 20)?,
            mode: number(at + 24)?,
            owners: (number(at + 28)?, number(at + 32)?),
            size: number(at + 36)?,
            id: bytes.get(at + 40..at + 60)?.try_into().ok()?,
            is_assumed: flags & 0x8000 != 0,
            is_skipped: more & 0x4000 != 0,
            is_plain: flags & !0x4fff == 0 && more == 0,
            path,
        });
        let length = begin - at + path.len();
        at += (length / 8 + 1) * 8;
    }
    let rest = bytes.get(at..)?;
    // The rest of a split index lies in another file.
    (!rest.starts_with(b"link")).then_some(Index { entries, rest })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(dir: &Path, args: &[&str]) {
        let run = std::process::Command::new("git")
            .arg("-C")
            .arg(dir)
            .args(args)
            .output()
            .unwrap();
        assert!(run.status.success(), "{run:?}");
    }

    /// A repository of this format with three files in its index.
    fn repository(format: &str) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let option = format!("--object-format={format}");
        git(dir.path(), &["init", "-q", &option]);
        for name in ["a", "a file with a longer name", "ü"] {
            std::fs::File::create(dir.path().join(name)).unwrap();
        }
        git(dir.path(), &["add", "-A"]);
        dir
    }

    #[test]
    fn the_usual_formats_are_read_and_others_are_left_to_git() {
        let dir = repository("sha1");
        let index = dir.path().join(".git/index");
        let bytes = || std::fs::read(&index).unwrap();
        let names = |bytes: &[u8]| -> Option<Vec<Vec<u8>>> {
            let entries = read(bytes)?.entries;
            Some(entries.iter().map(|entry| entry.path.to_vec()).collect())
        };
        let expected: Vec<Vec<u8>> = ["a", "a file with a longer name", "ü"]
            .map(|name| name.as_bytes().to_vec())
            .to_vec();
        assert_eq!(names(&bytes()), Some(expected.clone()));
        assert!(is_plain(&index));
        git(dir.path(), &["update-index", "--skip-worktree", "a"]);
        assert_eq!(names(&bytes()), Some(expected));
        assert!(!is_plain(&index));
        git(dir.path(), &["update-index", "--index-version", "4"]);
        assert_eq!(names(&bytes()), None);
        let other = repository("sha256");
        let bytes = std::fs::read(other.path().join(".git/index")).unwrap();
        assert_eq!(names(&bytes), None);
        assert_eq!(names(b"DIRC\0\0\0\x02\0\0\0\x09"), None);
    }

    #[test]
    fn a_changed_file_is_seen_in_every_format() {
        for (format, version) in [
            ("sha1", "--index-version=2"),
            ("sha1", "--index-version=4"),
            ("sha1", "--split-index"),
            ("sha256", "--index-version=2"),
        ] {
            let dir = repository(format);
            git(dir.path(), &["update-index", version]);
            let git = Git::at(dir.path()).unwrap();
            let index = dir.path().join(".git/index");
            assert_eq!(compare(&git, &index), Moved::No, "{format} {version}");
            let file = std::fs::File::options()
                .write(true)
                .open(dir.path().join("a"))
                .unwrap();
            std::io::Write::write_all(&mut &file, b"x").unwrap();
            assert_eq!(compare(&git, &index), Moved::Yes, "{format} {version}");
        }
    }
}

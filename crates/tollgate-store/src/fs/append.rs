//! Appending lines to logs that many processes share, and rotating them.
//!
//! One line is one `write` to a descriptor in append mode, which the kernel does not mix with
//! another. A line torn by a full disk or a killed writer is closed by the next one, so that it
//! spoils nothing but itself.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use super::fault::step;
use super::read::FileKind;
use super::replace::{rename, unless_absent};

/// A log, open for appending.
#[derive(Debug)]
pub struct Appender {
    file: File,
    inode: (u64, u64),
}

/// Appends one line, without its newline, to a file that is created with mode 0600. Says how long
/// the file is now.
pub fn append_line(path: &Path, line: &str) -> io::Result<u64> {
    let appender = Appender::open(path)?;
    appender.append(line)?;
    appender.size()
}

impl Appender {
    /// Opens a log or creates it. Links, pipes and files with a second name elsewhere are
    /// refused: the line would land in the wrong place.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDWR
            | OFlags::APPEND
            | OFlags::CREATE
            | OFlags::NOFOLLOW
            | OFlags::NONBLOCK
            | OFlags::NOCTTY
            | OFlags::CLOEXEC;
        step("open log")?;
        let file = File::from(rustix::fs::open(path, flags, Mode::from(0o600))?);
        let metadata = file.metadata()?;
        if let Some(kind) = FileKind::of(&metadata) {
            return Err(io::Error::other(format!("the log is {kind}")));
        }
        if metadata.nlink() > 1 {
            return Err(io::Error::other("the log has a second hard link"));
        }
        Ok(Self {
            file,
            inode: (metadata.dev(), metadata.ino()),
        })
    }

    /// Appends one line.
    pub fn append(&self, line: &str) -> io::Result<()> {
        self.append_after(line, self.is_torn()?)
    }

    /// Appends one line; `torn` says whether an unfinished one must be closed first.
    pub fn append_after(&self, line: &str, torn: bool) -> io::Result<()> {
        let mut text = String::with_capacity(line.len() + 2);
        if torn {
            text.push('\n');
        }
        text.push_str(line);
        text.push('\n');
        step("append")?;
        let written = (&self.file).write(text.as_bytes())?;
        if written < text.len() {
            // The rest in a second write could land behind another process's line.
            return Err(io::Error::new(
                io::ErrorKind::WriteZero,
                "the line was cut off",
            ));
        }
        Ok(())
    }

    fn is_torn(&self) -> io::Result<bool> {
        let size = self.size()?;
        if size == 0 {
            return Ok(false);
        }
        let mut last = [0];
        self.file.read_exact_at(&mut last, size - 1)?;
        Ok(last != *b"\n")
    }

    /// The last bytes, at most as many as `end` holds.
    pub fn read_end<'e>(&self, end: &'e mut [u8]) -> io::Result<&'e [u8]> {
        let size = self.size()?;
        let length = usize::try_from(size).map_or(end.len(), |size| size.min(end.len()));
        let end = end.get_mut(..length).unwrap_or_default();
        self.file.read_exact_at(end, size - length as u64)?;
        Ok(end)
    }

    /// How long the file is.
    pub fn size(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Whether the path still leads to this file.
    pub fn is_at(&self, path: &Path) -> bool {
        path.symlink_metadata()
            .is_ok_and(|metadata| (metadata.dev(), metadata.ino()) == self.inode)
    }

    /// What is in it from `start` on.
    pub fn read_from(&self, start: u64) -> io::Result<Vec<u8>> {
        let length = usize::try_from(self.size()?.saturating_sub(start)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, start)?;
        Ok(bytes)
    }
}

/// Shifts `names`, newest first, by one: the last is dropped, the first is free again.
///
/// The caller holds the lock of the newest. A process that has it open goes on appending to it under its
/// new name; no line is lost.
pub(crate) fn rotate(directory: &Path, names: &[&str]) -> io::Result<()> {
    for pair in names.windows(2).rev() {
        let [newer, older] = pair else { continue };
        step("rotate")?;
        unless_absent(rename(&directory.join(newer), &directory.join(older)))?;
    }
    Ok(())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests plant files")]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn lines_are_appended_to_a_private_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        append_line(&path, "one").unwrap();
        assert_eq!(append_line(&path, "two").unwrap(), 8);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\n");
        assert_eq!(path.metadata().unwrap().mode() & 0o7777, 0o600);
    }

    #[test]
    fn a_torn_line_spoils_only_itself() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        std::fs::write(&path, "{\"half").unwrap();
        append_line(&path, "whole").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"half\nwhole\n");
    }

    #[test]
    fn links_of_both_kinds_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (target, soft, hard) = (
            dir.path().join("t"),
            dir.path().join("s"),
            dir.path().join("h"),
        );
        std::fs::write(&target, "").unwrap();
        symlink(&target, &soft).unwrap();
        append_line(&soft, "x").unwrap_err();
        std::fs::hard_link(&target, &hard).unwrap();
        append_line(&hard, "x").unwrap_err();
        append_line(dir.path(), "x").unwrap_err();
        assert_eq!(std::fs::read(&target).unwrap(), b"");
    }
}

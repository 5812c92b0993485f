//! A file that a child writes to by itself, kept within bounds.
//!
//! The child appends to the file directly, without a pipe. A child that prints
//! forever does not fill the disk: while it runs, the middle of the
//! file is given back to the file system as a hole; when it ended, the file is closed up to
//! head, note and tail.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

/// One file of output.
#[derive(Debug)]
pub(super) struct Spool {
    file: Arc<File>,
    /// Where the child's output begins.
    start: u64,
    /// Kept from the beginning.
    head: u64,
    /// Kept from the end.
    tail: u64,
    /// How far the hole reaches.
    punched: u64,
}

/// A hole grows in steps of this many bytes at least.
const STEP: u64 = 8 << 20;

impl Spool {
    pub(super) fn new(file: Arc<File>, start: u64, cap: u64) -> Self {
        Self {
            file,
            start,
            head: cap / 4,
            tail: cap - cap / 4,
            punched: 0,
        }
    }

    /// The file, for the child to write to.
    pub(super) fn to_write(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Gives the middle back while the child is still writing.
    pub(super) fn trim(&mut self) {
        let Ok(length) = self.file.metadata().map(|meta| meta.len()) else {
            return;
        };
        let from = (self.start + self.head).max(self.punched);
        let to = length.saturating_sub(self.tail);
        if to > from + STEP && punch(&self.file, from, to - from) {
            self.punched = to;
        }
    }

    /// Closes the file up. Returns how many bytes of output are in it now; if that cannot be known,
    /// as many as there can be.
    pub(super) fn close(&mut self) -> u64 {
        self.try_close().unwrap_or(u64::MAX)
    }

    fn try_close(&self) -> io::Result<u64> {
        let length = self.file.metadata()?.len();
        let output = length.saturating_sub(self.start);
        let keep = self.head + self.tail;
        if output <= keep + 256 {
            return Ok(output);
        }
        let left_out = output - keep;
        let note = format!("\n\n[… {left_out} bytes of output left out …]\n\n");
        let mut from = length - self.tail;
        let mut to = self.start + self.head;
        // The file was opened for appending, where a write at a position goes to the end; a
        // second description of the same file does not have that flag.
        let file = reopen(&self.file)?;
        file.write_all_at(note.as_bytes(), to)?;
        to += note.len() as u64;
        let mut buffer = vec![0; 1 << 16];
        while from < length {
            let read = file.read_at(&mut buffer, from)?;
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else {
                break;
            };
            file.write_all_at(bytes, to)?;
            from += read as u64;
            to += read as u64;
        }
        file.set_len(to)?;
        Ok(to - self.start)
    }
}

#[cfg(target_os = "linux")]
pub(super) fn reopen(file: &File) -> io::Result<File> {
    use std::os::fd::AsRawFd as _;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    File::options().read(true).write(true).open(path)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn reopen(file: &File) -> io::Result<File> {
    file.try_clone()
}

#[cfg(target_os = "linux")]
fn punch(file: &File, from: u64, length: u64) -> bool {
    use rustix::fs::{FallocateFlags, fallocate};
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(file, flags, from, length).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn punch(_file: &File, _from: u64, _length: u64) -> bool {
    false
}

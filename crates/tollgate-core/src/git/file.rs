//! Reading git's small files without ever waiting for one.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use rustix::buffer::spare_capacity;
use rustix::fs::{Mode, OFlags};

/// The most that is read of any file.
pub(crate) const MAX: u64 = 1024 * 1024;

/// A regular file, and its length.
fn open(path: &Path) -> Option<(File, u64)> {
    // A FIFO opens at once with O_NONBLOCK and is then turned down by its kind.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    let found = file.metadata().ok()?;
    found.is_file().then_some((file, found.len()))
}

/// The start of a regular file, up to a megabyte; nothing when there is none.
pub(crate) fn read(path: &Path) -> Option<String> {
    let (file, length) = open(path)?;
    // With room for one byte more, the end is seen at once.
    let mut bytes = Vec::with_capacity(usize::try_from((length + 1).min(MAX)).ok()?);
    let _or_the_rest_below = rustix::io::read(&file, spare_capacity(&mut bytes));
    let read = bytes.len() as u64;
    if read != length || read == 0 {
        file.take(MAX.saturating_sub(read))
            .read_to_end(&mut bytes)
            .ok()?;
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The last `most` bytes of a regular file.
pub(crate) fn read_tail(path: &Path, most: u64) -> Option<String> {
    let (mut file, length) = open(path)?;
    file.seek(SeekFrom::Start(length.saturating_sub(most)))
        .ok()?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

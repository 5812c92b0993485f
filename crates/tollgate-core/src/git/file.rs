//! Reading git's small files without ever waiting for one.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use tollgate_store::fs::read_regular;

/// The most that is read of any file. `packed-refs` of a large repository has 100,000 lines of 70
/// bytes.
pub(crate) const MAX: u64 = 64 * 1024 * 1024;

/// A regular file's text; nothing when there is none, or it is too large.
pub(crate) fn read(path: &Path) -> Option<String> {
    Some(read_regular(path, MAX).ok()??.into_text())
}

pub(crate) fn read_tail(path: &Path, most: u64) -> Option<String> {
    // A FIFO opens at once with O_NONBLOCK and is then turned down by its kind.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    let found = file.metadata().ok()?;
    if !found.is_file() {
        return None;
    }
    file.seek(SeekFrom::Start(found.len().saturating_sub(most)))
        .ok()?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

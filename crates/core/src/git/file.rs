//! Reading git's small files without ever waiting for one.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// The most that is read of any file.
pub(crate) const MAX: u64 = 1024 * 1024;

fn open(path: &Path) -> Option<std::fs::File> {
    // A FIFO opens at once with O_NONBLOCK and is then turned down by its kind.
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::CLOEXEC;
    let flags = i32::try_from(flags.bits()).ok()?;
    let file = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)
        .ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}

/// The start of a regular file, up to a megabyte; nothing when there is none.
pub(crate) fn read(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    open(path)?.take(MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The last `most` bytes of a regular file.
pub(crate) fn read_tail(path: &Path, most: u64) -> Option<String> {
    let mut file = open(path)?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most)))
        .ok()?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

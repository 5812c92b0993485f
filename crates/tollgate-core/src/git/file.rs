//! Reading git's small files without ever waiting for one.

use std::path::Path;

use tollgate_store::fs::read_regular;

/// The most that is read of any file. `packed-refs` of a large repository has 100,000 lines of 70
/// bytes.
pub(crate) const MAX: u64 = 64 * 1024 * 1024;

/// A regular file's text; nothing when there is none, or it is too large.
pub(crate) fn read(path: &Path) -> Option<String> {
    Some(read_regular(path, MAX).ok()??.into_text())
}

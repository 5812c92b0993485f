//! The one way into main while a workflow runs: `tollgate workflow finalize --merge`.
//!
//! It holds a lock for as long as git merges, and the guard lets git pass while that lock is held. The
//! lock is the kernel's, so it is gone with its holder, however that ends; and its file is one of
//! Tollgate's own, which state-file-guard keeps agents' commands away from.

use std::path::PathBuf;
use std::time::Duration;

use tollgate_core::project::Layout;
use tollgate_store::lock::{self, Acquired, Guard};

fn lock_file(layout: &Layout) -> PathBuf {
    layout.local().join("merging.lock")
}

/// Keeps main open to git until it is dropped. Without the lock the guard may refuse the merge,
/// which is then undone and reported like any other that fails.
pub(crate) fn holding_open(layout: &Layout) -> Option<Guard> {
    match lock::acquire(&lock_file(layout), Duration::from_secs(5)) {
        Ok(Acquired::Held(guard)) => Some(guard),
        Ok(Acquired::Busy) | Err(_) => None,
    }
}

/// Whether main is kept open.
pub(super) fn is_held_open(layout: &Layout) -> bool {
    let file = lock_file(layout);
    file.exists() && matches!(lock::acquire(&file, Duration::ZERO), Ok(Acquired::Busy))
}

//! The last `tollgate.toml` without errors: it holds at stops while the file is broken, so that
//! breaking the file is no way past the gates.
//!
//! It lies with the session's ledger, where no agent may write. What it would run is asked about
//! like what the file itself would run (see [`crate::project_commands`]).

use std::io;

use tollgate_core::project::Layout;
use tollgate_store::fs::{self, Durability};

const CAP: u64 = 1 << 20;

/// The text, if one was kept.
pub(crate) fn read(layout: &Layout) -> Option<String> {
    let contents = fs::read_own(&layout.last_good_config(), CAP).ok()??;
    String::from_utf8(contents.bytes).ok()
}

/// Keeps a text that was found to be right.
pub(crate) fn keep(layout: &Layout, text: &str) -> io::Result<()> {
    if read(layout).as_deref() == Some(text) {
        return Ok(());
    }
    fs::private_directory(&layout.local())?;
    let path = layout.last_good_config();
    Ok(fs::replace(&path, text.as_bytes(), Durability::Synced)?)
}

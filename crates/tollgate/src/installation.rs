//! How this program came to be where it is. Each package puts a line about itself beside it, at
//! `share/tollgate/installed-by`; nothing is asked of package managers, and nothing is fetched.

use std::path::{Path, PathBuf};

/// A longer line is no package's.
const MAX: u64 = 1000;

/// Where this program is, and what installed it.
pub(crate) fn here() -> Option<(PathBuf, String)> {
    let program = std::env::current_exe()
        .and_then(|path| path.canonicalize())
        .ok()?;
    let prefix = program.parent().and_then(Path::parent)?;
    let by = said(prefix).unwrap_or_else(|| guessed(prefix).to_owned());
    Some((program, by))
}

fn said(prefix: &Path) -> Option<String> {
    let file = prefix.join("share/tollgate/installed-by");
    let text = tollgate_store::fs::read_regular(&file, MAX).ok()??.bytes;
    let line = String::from_utf8(text).ok()?;
    line.lines().next().map(str::to_owned)
}

/// Cargo installs the program alone, and keeps a list of what it installed.
fn guessed(prefix: &Path) -> &'static str {
    if prefix.join(".crates.toml").exists() {
        "cargo; update with `cargo install tollgate`"
    } else {
        "no package"
    }
}

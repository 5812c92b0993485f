//! The text of a file as guards read it.

use std::path::Path;

use crate::decision::Fault;
use tollgate_store::fs;

/// The largest state or configuration file that is read. The biggest seen in use is 84 KB.
pub const MAX_FILE: u64 = 16 * 1024 * 1024;

/// The text of a file, if it exists; what else it may be is a fault of this kind.
pub(crate) fn read(path: &Path, kind: &'static str) -> Result<Option<String>, Fault> {
    let contents = fs::read_regular(path, MAX_FILE).map_err(|error| {
        let text = format!(
            "{}: {error}. Guards that need it are off until it is repaired",
            path.display()
        );
        Fault::new(kind, text)
    })?;
    Ok(contents.map(fs::Contents::into_text))
}

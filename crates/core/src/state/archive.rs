//! The file of what is remembered of workflows for good.

use std::path::Path;

use serde_json::Value;

use super::document::Document;
use crate::fs::{self, Durability};
use crate::scene::MAX_FILE;
use crate::workflow::archive;

/// Adds entries of the history to the archive at `path`, unless it has them.
///
/// An archive that cannot be read is left alone and told about: the original began a new one
/// and lost the old records.
pub fn remember(path: &Path, entries: &[Value]) -> Result<(), String> {
    let failed = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
    let mut document = match fs::read_regular(path, MAX_FILE).map_err(|fault| failed(&fault))? {
        None => Document::default(),
        Some(contents) => Document::parse(&contents.bytes).map_err(|flaw| failed(&flaw))?,
    };
    let added = archive::add_missing(&mut document, entries).map_err(|fault| failed(&fault))?;
    if added > 0 {
        let text = document.to_text();
        fs::replace(path, text.as_bytes(), Durability::Synced).map_err(|fault| failed(&fault))?;
    }
    Ok(())
}

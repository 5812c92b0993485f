//! What an earlier `init` wrote, word for word: `.tollgate/local/init.json`.
//!
//! It is what tells a file that may be replaced from one that a person wrote or changed. Where it
//! is missing (a fresh clone, say) no file is ours.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tollgate_core::project::Layout;
use tollgate_store::fs::{self, Durability};

const CAP: u64 = 4 << 20;

#[derive(Debug)]
pub(crate) struct WrittenFiles {
    path: PathBuf,
    /// By path, relative to the root.
    files: BTreeMap<String, String>,
}

impl WrittenFiles {
    /// Reads the record. One that cannot be read is none: then nothing is replaced.
    pub(crate) fn of(root: &Path) -> Self {
        let path = root.join(".tollgate/local/init.json");
        let files = fs::read_regular(&path, CAP)
            .ok()
            .flatten()
            .and_then(|contents| serde_json::from_slice(&contents.bytes).ok())
            .unwrap_or_default();
        Self { path, files }
    }

    pub(crate) fn wrote(&self, path: &str, text: &str) -> bool {
        self.files.get(path).is_some_and(|written| written == text)
    }

    pub(crate) fn note(&mut self, path: &str, text: &str) {
        self.files.insert(path.to_owned(), text.to_owned());
    }

    /// Keeps it, in the directory that hides itself from git.
    pub(crate) fn save(&self, layout: &Layout) -> std::io::Result<()> {
        fs::private_directory(&layout.local())?;
        let text = serde_json::to_string_pretty(&self.files)?;
        Ok(fs::replace(&self.path, text.as_bytes(), Durability::Lazy)?)
    }
}

//! `tollgate install` and `uninstall`: what they write, what they leave alone, and that nothing
//! is left of them.

mod edits;
mod files;
mod git_side;
mod git_side_allowed;
mod git_side_corpus;
mod git_side_proposed;
mod git_side_rules;
mod git_side_shell;
mod git_side_turns;
mod migration;
mod purge;
mod refusals;
mod scopes;
mod shapes;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::project::TestProject;

impl TestProject {
    /// What `install --list` says.
    pub(super) fn list(&self) -> Value {
        let ran = self.tollgate(&["install", "--list", "--json"]);
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"))
    }

    /// How often each event of a file is registered for `tollgate hook`.
    pub(super) fn registered(&self, file: &str) -> BTreeMap<String, usize> {
        let mut events = BTreeMap::new();
        for found in self.list()["registered"].as_array().unwrap() {
            let here = Path::new(found["file"].as_str().unwrap()).ends_with(file);
            if here && found["kind"] == "tollgate" && found["effective"] == true {
                *events
                    .entry(found["event"].as_str().unwrap().to_owned())
                    .or_default() += 1;
            }
        }
        events
    }

    /// Every file and directory of project and home: bytes and mode, or where a link leads.
    pub(super) fn snapshot(&self) -> BTreeMap<PathBuf, (Vec<u8>, u32)> {
        let mut found = BTreeMap::new();
        for top in [self.root(), &self.home()] {
            look(top, &mut found);
        }
        found
    }
}

fn look(path: &Path, found: &mut BTreeMap<PathBuf, (Vec<u8>, u32)>) {
    let metadata = path.symlink_metadata().unwrap();
    let mode = metadata.permissions().mode();
    if metadata.is_symlink() {
        let target = std::fs::read_link(path).unwrap();
        found.insert(
            path.to_owned(),
            (target.into_os_string().into_encoded_bytes(), mode),
        );
    } else if metadata.is_dir() {
        found.insert(path.to_owned(), (vec![], mode));
        for entry in path.read_dir().unwrap() {
            look(&entry.unwrap().path(), found);
        }
    } else {
        found.insert(path.to_owned(), (std::fs::read(path).unwrap(), mode));
    }
}

//! One directory of the project, as the detectors read it.

use std::path::{Path, PathBuf};

use tollgate_store::fs;

/// No manifest is larger.
const CAP: u64 = 4 << 20;

/// Directories that hold what others made, or what is no part of the product.
const NOT_OURS: [&str; 19] = [
    "node_modules",
    "vendor",
    "target",
    "dist",
    "build",
    "out",
    "venv",
    "env",
    "third_party",
    "testdata",
    "fixtures",
    "example",
    "examples",
    "samples",
    "doc",
    "docs",
    "test",
    "tests",
    "benches",
];

/// How many directories below the root are searched: one project rarely has more parts.
const MOST: usize = 64;

/// A directory and what is known about the whole project.
pub(super) struct Directory<'p> {
    path: PathBuf,
    pub(super) clues: &'p Clues,
}

/// What tells which tools the project uses, besides its manifests.
#[derive(Debug, Default)]
pub(super) struct Clues {
    /// The text of the project's own continuous integration.
    ci: String,
    search: std::ffi::OsString,
}

impl Clues {
    pub(super) fn of(root: &Path, search: &std::ffi::OsStr) -> Self {
        let mut ci = String::new();
        for place in [".github/workflows", ".ci", ".circleci", ".gitlab-ci.yml"] {
            let place = root.join(place);
            let files = match place.read_dir() {
                Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
                Err(_) => vec![place],
            };
            for file in files {
                ci.push_str(&text(&file).unwrap_or_default());
            }
        }
        Self {
            ci,
            search: search.to_owned(),
        }
    }

    /// Whether the project's continuous integration runs this.
    pub(super) fn ci_runs(&self, command: &str) -> bool {
        self.ci.contains(command)
    }

    pub(super) fn has_program(&self, name: &str) -> bool {
        crate::agents::places::find(name, &self.search).is_some()
    }
}

impl<'p> Directory<'p> {
    pub(super) fn new(path: &Path, clues: &'p Clues) -> Self {
        Self {
            path: path.to_owned(),
            clues,
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.path.join(name).exists()
    }

    pub(super) fn first(&self, names: &[&'static str]) -> Option<&'static str> {
        names.iter().copied().find(|name| self.has(name))
    }

    /// A file's text; none if it is not there or no text that we read.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        text(&self.path.join(name))
    }

    pub(super) fn says(&self, name: &str, what: &str) -> bool {
        self.text(name).is_some_and(|text| text.contains(what))
    }

    /// A file's JSON. One with comments or mistakes is none.
    pub(super) fn json(&self, name: &str) -> Option<serde_json::Value> {
        serde_json::from_str(&self.text(name)?).ok()
    }

    /// The texts of a directory's files with this extension.
    pub(super) fn texts(&self, directory: &str, extension: &str) -> Vec<String> {
        let entries = self.path.join(directory).read_dir();
        let paths = entries.into_iter().flatten().flatten();
        let paths = paths.map(|entry| entry.path());
        let paths = paths.filter(|path| path.extension().is_some_and(|end| end == extension));
        paths.take(MOST).filter_map(|path| text(&path)).collect()
    }

    /// The first file with this extension, by name.
    pub(super) fn with_extension(&self, extension: &str) -> Option<String> {
        let entries = self.path.read_dir().ok()?.flatten();
        entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| {
                Path::new(name)
                    .extension()
                    .is_some_and(|end| end == extension)
            })
            .min()
    }

    /// The directories below, down to two levels, that may be parts of the project. Sorted.
    pub(super) fn below(&self) -> Vec<(String, Self)> {
        let mut found = Vec::new();
        for first in names(&self.path) {
            let path = self.path.join(&first);
            for second in names(&path) {
                found.push(format!("{first}/{second}"));
            }
            found.push(first);
        }
        found.sort_by_key(|name| (name.matches('/').count(), name.clone()));
        found.truncate(MOST);
        let open = |name: String| {
            let directory = Self::new(&self.path.join(&name), self.clues);
            (name, directory)
        };
        found.into_iter().map(open).collect()
    }
}

fn names(path: &Path) -> Vec<String> {
    let entries = path.read_dir().into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.') && !NOT_OURS.contains(&name.as_str()))
        .collect()
}

fn text(path: &Path) -> Option<String> {
    Some(fs::read_regular(path, CAP).ok()??.into_text())
}

//! `tollgate init` in real repositories: what it proposes, what it writes, and what it leaves
//! alone.

mod fresh;
mod languages;
mod migrate;
mod places;
mod writing;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::project::{Run, TestProject, run};

/// A repository with tools in front of it that only say that they were called.
pub(crate) struct Repository {
    project: TestProject,
}

impl std::ops::Deref for Repository {
    type Target = TestProject;

    fn deref(&self) -> &TestProject {
        &self.project
    }
}

impl Repository {
    /// With a branch `main` and no commit.
    pub(crate) fn empty() -> Self {
        let project = TestProject::empty().with_repository();
        let path = essentials(&project);
        Self {
            project: project.env("PATH", &path),
        }
    }

    /// With these files committed.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let repository = Self::empty();
        for (path, text) in files {
            repository.file(path, text);
        }
        repository.commit("work");
        repository
    }

    /// A program on `PATH` that fails while the file `broken` is in the root.
    pub(crate) fn tool(&self, name: &str) -> &Self {
        let script = format!(
            "#!/bin/sh\necho \"{name} $*\" >> '{}'\n[ ! -e '{}' ]\n",
            self.programs().join("calls").display(),
            self.path("broken").display(),
        );
        self.program(name, &script);
        self
    }

    /// The calls of all tools since the last time, sorted: checks may run side by side.
    pub(crate) fn calls(&self) -> Vec<String> {
        let path = self.programs().join("calls");
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let _absent = std::fs::remove_file(path);
        let mut calls: Vec<_> = text.lines().map(|line| line.trim().to_owned()).collect();
        calls.sort();
        calls
    }

    pub(crate) fn run_in(&self, directory: &Path, args: &[&str]) -> Run {
        let mut command = self.command(args);
        command.current_dir(directory);
        run(command, b"")
    }

    /// Sets it up without asking.
    #[track_caller]
    pub(crate) fn init(&self, args: &[&str]) -> Run {
        let mut all = vec!["init", "--yes"];
        all.extend(args);
        let run = self.tollgate(&all);
        assert_eq!(run.code, 0, "{run:?}");
        run
    }

    /// What it would do, as JSON.
    #[track_caller]
    pub(crate) fn proposal(&self) -> Value {
        let run = self.tollgate(&["init", "--dry-run", "--json"]);
        assert_eq!(run.code, 0, "{run:?}");
        run.json()
    }

    /// Every file that is not git's, with its text.
    pub(crate) fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        collect(self.root(), self.root(), &mut files);
        files
    }
}

/// A search path without anything that happens to be installed: the tools, and what git and sh
/// need.
fn essentials(project: &TestProject) -> String {
    let tools = project.programs();
    let place = tools.join("essentials");
    std::fs::create_dir(&place).unwrap();
    for name in ["sh", "git", "cat", "true", "false"] {
        let real = ["/usr/bin", "/bin", "/usr/local/bin"]
            .iter()
            .map(|directory| Path::new(directory).join(name))
            .find(|path| path.exists());
        std::os::unix::fs::symlink(real.unwrap(), place.join(name)).unwrap();
    }
    format!("{}:{}", tools.display(), place.display())
}

fn collect(root: &Path, directory: &Path, files: &mut BTreeMap<String, String>) {
    for entry in directory.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().display().to_string();
        if name == ".git" {
            continue;
        }
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            files.insert(name, std::fs::read_to_string(&path).unwrap());
        }
    }
}

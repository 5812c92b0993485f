//! `tollgate init` in real repositories: what it proposes, what it writes, and what it leaves
//! alone.

mod languages;
mod places;
mod writing;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;

use crate::context::{Project, Run, run};

/// A repository with tools in front of it that only say that they were called.
pub(crate) struct Repository {
    pub(crate) project: Project,
    tools: tempfile::TempDir,
}

impl Repository {
    /// With a branch `main` and no commit.
    pub(crate) fn empty() -> Self {
        let project = Project::empty();
        project.git(&["init", "-q", "-b", "main"]);
        Self {
            project,
            tools: tempfile::tempdir().unwrap(),
        }
    }

    /// With these files committed.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let repository = Self::empty();
        for (path, text) in files {
            repository.project.file(path, text);
        }
        repository.commit();
        repository
    }

    pub(crate) fn commit(&self) {
        self.project.git(&["add", "-A"]);
        let message = ["commit", "-q", "--allow-empty", "-m", "work"];
        self.project.git(&message);
    }

    /// A program on `PATH` that fails while the file `broken` is in the root.
    pub(crate) fn tool(&self, name: &str) -> &Self {
        let script = format!(
            "#!/bin/sh\necho \"{name} $*\" >> '{}'\n[ ! -e '{}' ]\n",
            self.tools.path().join("calls").display(),
            self.project.path("broken").display(),
        );
        self.program(name, &script)
    }

    pub(crate) fn program(&self, name: &str, script: &str) -> &Self {
        let path = self.tools.path().join(name);
        let mut file = std::fs::File::create(&path).unwrap();
        std::io::Write::write_all(&mut file, script.as_bytes()).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    /// The calls of all tools since the last time, sorted: checks may run side by side.
    pub(crate) fn calls(&self) -> Vec<String> {
        let path = self.tools.path().join("calls");
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let _absent = std::fs::remove_file(path);
        let mut calls: Vec<_> = text.lines().map(|line| line.trim().to_owned()).collect();
        calls.sort();
        calls
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        self.run_in(self.project.root(), args)
    }

    pub(crate) fn run_in(&self, directory: &Path, args: &[&str]) -> Run {
        self.run_with(directory, args, b"")
    }

    /// The same with this on standard input.
    pub(crate) fn run_with(&self, directory: &Path, args: &[&str], stdin: &[u8]) -> Run {
        let mut command = self.project.command(args);
        command.env("PATH", self.path()).current_dir(directory);
        run(command, stdin)
    }

    /// A search path without anything that happens to be installed: the tools, and what git and sh
    /// need.
    pub(crate) fn path(&self) -> String {
        format!("{}:{}", self.tools.path().display(), self.essentials())
    }

    /// A directory with the few programs that every system has.
    fn essentials(&self) -> String {
        let place = self.tools.path().join("essentials");
        if !place.exists() {
            std::fs::create_dir(&place).unwrap();
            for name in ["sh", "git", "cat", "true", "false"] {
                let real = ["/usr/bin", "/bin", "/usr/local/bin"]
                    .iter()
                    .map(|directory| Path::new(directory).join(name))
                    .find(|path| path.exists());
                std::os::unix::fs::symlink(real.unwrap(), place.join(name)).unwrap();
            }
        }
        place.display().to_string()
    }

    /// Sets it up without asking.
    #[track_caller]
    pub(crate) fn init(&self, args: &[&str]) -> Run {
        let mut all = vec!["init", "--yes"];
        all.extend(args);
        let run = self.run(&all);
        assert_eq!(run.code, 0, "{run:?}");
        run
    }

    /// What it would do, as JSON.
    #[track_caller]
    pub(crate) fn proposal(&self) -> Value {
        let run = self.run(&["init", "--dry-run", "--json"]);
        assert_eq!(run.code, 0, "{run:?}");
        serde_json::from_str(&run.stdout).unwrap()
    }

    /// Every file that is not git's, with its text.
    pub(crate) fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        collect(self.project.root(), self.project.root(), &mut files);
        files
    }
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

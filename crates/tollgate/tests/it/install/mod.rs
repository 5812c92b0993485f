//! `tollgate install` and `uninstall`: what they write, what they leave alone, and that nothing
//! is left of them.

mod edits;
mod files;
mod git_side;
mod refusals;
mod scopes;
mod shapes;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::context::{Run, TOLLGATE, run};

/// A project and a home, both empty, with `tollgate` on the search path.
pub(super) struct Desk {
    dir: tempfile::TempDir,
    env: Vec<(String, String)>,
}

impl Desk {
    pub(super) fn new() -> Self {
        let dir = tempfile::Builder::new()
            .prefix("tollgate-desk-")
            .tempdir()
            .unwrap();
        for name in ["project", "home", "bin"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        std::os::unix::fs::symlink(TOLLGATE, dir.path().join("bin/tollgate")).unwrap();
        Self { dir, env: vec![] }
    }

    pub(super) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    pub(super) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// Writes a file of the project.
    pub(super) fn file(&self, relative: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.project().join(relative);
        put(&path, bytes);
        path
    }

    pub(super) fn read(&self, relative: &str) -> String {
        std::fs::read_to_string(self.project().join(relative)).unwrap()
    }

    pub(super) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.dir.path().join("bin/tollgate"));
        let path = format!(
            "{}/bin:/usr/local/bin:/usr/bin:/bin",
            self.dir.path().display()
        );
        command
            .args(args)
            .current_dir(self.project())
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", path)
            .envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    pub(super) fn tollgate(&self, args: &[&str]) -> Run {
        run(self.command(args), b"")
    }

    /// Runs a command that must work.
    #[track_caller]
    pub(super) fn must(&self, args: &[&str]) -> Run {
        let ran = self.tollgate(args);
        assert_eq!(ran.code, 0, "{args:?} {ran:?}");
        ran
    }

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
        for top in [self.project(), self.home()] {
            look(&top, &mut found);
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

#[expect(clippy::disallowed_methods, reason = "fixtures are not state")]
pub(super) fn put(path: &Path, bytes: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

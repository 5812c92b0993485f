//! A person's machine: a project, a home, and `tollgate` among the programs.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::context::{Run, TOLLGATE, run};
use crate::terminal::Terminal;
use crate::watchdog;

/// A project and a home, both empty, with `tollgate` on the search path.
pub(crate) struct Desk {
    dir: tempfile::TempDir,
    env: Vec<(String, String)>,
}

impl Desk {
    pub(crate) fn new() -> Self {
        watchdog::watch();
        let dir = tempfile::Builder::new()
            .prefix(&watchdog::prefix())
            .tempdir()
            .unwrap();
        for name in ["project", "home", "bin"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        std::os::unix::fs::symlink(TOLLGATE, dir.path().join("bin/tollgate")).unwrap();
        Self { dir, env: vec![] }
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// Writes a file of the project.
    pub(crate) fn file(&self, relative: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        put(&self.project().join(relative), bytes)
    }

    pub(crate) fn at_home(&self, relative: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        put(&self.home().join(relative), bytes)
    }

    /// Where the programs of this machine are.
    pub(crate) fn programs(&self) -> PathBuf {
        self.dir.path().join("bin")
    }

    /// A program on the search path.
    pub(crate) fn program(&self, name: &str, script: &str) -> PathBuf {
        let path = put(&self.programs().join(name), script);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub(crate) fn read(&self, relative: &str) -> String {
        std::fs::read_to_string(self.project().join(relative)).unwrap()
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let programs = self.programs();
        let mut command = Command::new(programs.join("tollgate"));
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display());
        command
            .args(args)
            .current_dir(self.project())
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", path)
            .envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    pub(crate) fn tollgate(&self, args: &[&str]) -> Run {
        run(self.command(args), b"")
    }

    /// Runs a command that must work.
    #[track_caller]
    pub(crate) fn must(&self, args: &[&str]) -> Run {
        let ran = self.tollgate(args);
        assert_eq!(ran.code, 0, "{args:?} {ran:?}");
        ran
    }

    /// Uninstalls Tollgate as a person does, at a terminal, which must work; what it shows there.
    #[track_caller]
    pub(crate) fn uninstall(&self, args: &[&str]) -> String {
        let args = [&["uninstall", "--yes"], args].concat();
        let (screen, code) = Terminal::start(&self.command(&args)).ends();
        assert_eq!(code, 0, "{args:?} {screen}");
        screen
    }

    /// Registers Tollgate with Claude Code: `project`, `local` or `user`.
    #[track_caller]
    pub(crate) fn install_for(&self, scope: &str) -> Run {
        self.must(&[
            "install",
            "--agent",
            "claude-code",
            "--scope",
            scope,
            "--yes",
        ])
    }
}

/// Writes a file, with the directories above it.
#[expect(clippy::disallowed_methods, reason = "fixtures are not state")]
pub(crate) fn put(path: &Path, bytes: impl AsRef<[u8]>) -> PathBuf {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
    path.to_owned()
}

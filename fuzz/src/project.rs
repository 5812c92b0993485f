//! A project on disk for the targets whose input is a file's content.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tollgate_core::env::Env;
use tollgate_core::project::Layout;

/// The process's own project: a running workflow on `main`, a manifest, a task list.
pub(super) struct Project {
    dir: tempfile::TempDir,
}

const STATE: &str = r#"{"state_version":3,"current_phase":"06-implementation","active_workflow":{"type":"feature","current_phase":"06-implementation","current_phase_index":1,"phases":["05-test-strategy","06-implementation","08-code-review"],"phase_status":{"05-test-strategy":"completed","06-implementation":"in_progress"},"git_branch":{"name":"feature/x","status":"active"}},"phases":{"06-implementation":{"status":"in_progress","started":"2026-02-08T20:00:00.000Z"}}}"#;

/// One per process; libFuzzer and `cargo test` each run a target in one thread or in one process.
pub(super) fn project(name: &str) -> &'static Project {
    static PROJECTS: [OnceLock<Project>; 5] = [const { OnceLock::new() }; 5];
    let slot = ["event", "state", "yaml", "git", "settings"]
        .iter()
        .position(|known| *known == name)
        .expect("a project per target");
    PROJECTS[slot].get_or_init(|| {
        let project = Project {
            dir: tempfile::tempdir().expect("a temporary directory"),
        };
        project.write(".isdlc/state.json", STATE.as_bytes());
        project.write(".git/HEAD", b"ref: refs/heads/main\n");
        project.write(
            ".git/refs/heads/main",
            b"0123456789012345678901234567890123456789\n",
        );
        project.write(".git/objects/x", b"");
        project.write(
            ".gauntlet/config.yml",
            b"base_branch: main\nentry_points: []\n",
        );
        project.write(
            ".claude/hooks/config/skills-manifest.json",
            include_bytes!("../../crates/tollgate/tests/it/manifest.json"),
        );
        project
    })
}

impl Project {
    pub(super) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(super) fn path(&self, relative: &str) -> PathBuf {
        self.root().join(relative)
    }

    #[expect(clippy::disallowed_methods, reason = "a fixture")]
    pub(super) fn write(&self, relative: &str, content: &[u8]) {
        let path = self.path(relative);
        let above = path.parent().expect("a file in the project");
        std::fs::create_dir_all(above).expect("a directory");
        std::fs::write(path, content).expect("a file");
    }

    pub(super) fn env(&self) -> Env {
        Env {
            project_dir: Some(self.root().to_owned()),
            home: Some(self.path("home")),
            cwd: Some(self.root().to_owned()),
            ..Env::default()
        }
    }

    pub(super) fn layout(&self) -> Layout {
        Layout::at(self.root()).expect("the project is a project")
    }
}

//! `hook --require-trust`: a project's commands run only after a person looked at them.

mod bypasses;
mod consent;
mod plans;

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::events::{self, Event as _};
use crate::project::{TestProject, run};

/// A cloned project whose one check leaves a trace when it runs.
pub(super) struct Clone {
    project: TestProject,
}

impl std::ops::Deref for Clone {
    type Target = TestProject;

    fn deref(&self) -> &TestProject {
        &self.project
    }
}

/// A check that leaves a trace.
pub(super) const TRACE: &str = "command: touch ../ran; exit 3\n";

impl Clone {
    pub(super) fn new() -> Self {
        let clone = Self::empty();
        clone.gates();
        clone.committed();
        clone
    }

    /// One that a person trusts.
    pub(super) fn trusted() -> Self {
        Self {
            project: Self::new().project.trusted(),
        }
    }

    pub(super) fn empty() -> Self {
        Self {
            project: TestProject::empty().with_repository(),
        }
    }

    pub(super) fn gates(&self) {
        self.file(
            ".tollgate/config.yml",
            "base_branch: main\nstop_hook: { run_interval_minutes: 0 }\nentry_points:\n  - path: src\n    checks: [trace]\n",
        );
        self.check(TRACE);
        self.file("src/a.txt", "a\n");
    }

    /// Everything is on `main`, and there is a change to check.
    pub(super) fn committed(&self) {
        self.commit("first");
        self.file("src/b.txt", "b\n");
    }

    pub(super) fn check(&self, yaml: &str) {
        self.file(".tollgate/checks/trace.yml", yaml);
    }

    /// The stop of an agent whose user-level settings register Tollgate.
    pub(super) fn stop(&self) -> Value {
        self.stop_with(self.command(&["hook", "--require-trust"]))
    }

    pub(super) fn stop_with(&self, mut command: Command) -> Value {
        command.env("CLAUDE_PROJECT_DIR", self.root());
        let event = events::stop()
            .in_session("s")
            .in_directory(self.root())
            .with("transcript_path", "/t")
            .with("permission_mode", "default");
        let run = run(command, event.to_string().as_bytes());
        assert_eq!(run.code, 0, "{run:?}");
        serde_json::from_str(&run.stdout).unwrap_or_default()
    }

    pub(super) fn ran(&self) -> bool {
        self.exists("ran")
    }

    /// The stop is allowed with one line that says why nothing was verified.
    #[track_caller]
    pub(super) fn is_not_run(&self, answer: &Value, why: &str) {
        assert!(!self.ran(), "{answer}");
        assert_eq!(answer["decision"], Value::Null, "{answer}");
        let line = answer["systemMessage"].as_str().unwrap_or_default();
        assert!(
            line.contains("NOT verified") && line.contains(why),
            "{answer}"
        );
        assert!(line.contains("`tollgate trust`"), "{answer}");
        assert_eq!(line.lines().count(), 1, "{answer}");
    }

    /// The check ran, failed, and blocked the stop.
    #[track_caller]
    pub(super) fn is_run(&self, answer: &Value) {
        assert!(self.ran(), "{answer}");
        assert_eq!(answer["decision"], "block", "{answer}");
        std::fs::remove_file(self.path("ran")).unwrap();
    }

    /// The files in the person's store.
    pub(super) fn store(&self) -> PathBuf {
        self.home().join(".local/state/tollgate/trust")
    }

    pub(super) fn fingerprint(&self) -> String {
        let shown = self.tollgate(&["trust", "--show", "--json"]);
        shown.json()["fingerprint"].as_str().unwrap().to_owned()
    }
}

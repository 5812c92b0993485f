//! `hook --require-trust`: a project's commands run only after a person looked at them.

mod bypasses;
mod consent;
mod plans;

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::context::{Project, Run, run};
use crate::terminal::Terminal;

/// A cloned project whose one check leaves a trace when it runs.
pub(super) struct Clone {
    pub(super) project: Project,
    pub(super) home: tempfile::TempDir,
}

/// A check that leaves a trace.
pub(super) const TRACE: &str = "command: touch ../ran; exit 3\n";

impl Clone {
    pub(super) fn new() -> Self {
        let clone = Self::empty();
        clone.gates();
        clone.commit();
        clone
    }

    pub(super) fn empty() -> Self {
        let clone = Self {
            project: Project::empty(),
            home: tempfile::tempdir().unwrap(),
        };
        clone.project.git(&["init", "-q", "-b", "main"]);
        clone
    }

    pub(super) fn gates(&self) {
        self.project.file(
            ".tollgate/config.yml",
            "base_branch: main\nstop_hook: { run_interval_minutes: 0 }\nentry_points:\n  - path: src\n    checks: [trace]\n",
        );
        self.project.file(".tollgate/checks/trace.yml", TRACE);
        self.project.file("src/a.txt", "a\n");
    }

    /// Everything is on `main`, and there is a change to check.
    pub(super) fn commit(&self) {
        self.project.git(&["add", "-A"]);
        self.project.git(&["commit", "-q", "-m", "first"]);
        self.project.file("src/b.txt", "b\n");
    }

    pub(super) fn check(&self, yaml: &str) {
        self.project.file(".tollgate/checks/trace.yml", yaml);
    }

    pub(super) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.project.command(args);
        command
            .env("HOME", self.home.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        command
    }

    pub(super) fn tollgate(&self, args: &[&str]) -> Run {
        run(self.command(args), b"")
    }

    /// A person runs a command at a terminal.
    pub(super) fn terminal(&self, args: &[&str]) -> Terminal {
        Terminal::start(&self.command(args))
    }

    /// A person trusts what is here.
    pub(super) fn trust(&self) {
        let (screen, code) = self.terminal(&["trust", "--yes"]).ends();
        assert_eq!(code, 0, "{screen}");
    }

    /// The stop of an agent whose user-level settings register Tollgate.
    pub(super) fn stop(&self) -> Value {
        self.stop_with(self.command(&["hook", "--require-trust"]))
    }

    pub(super) fn stop_with(&self, mut command: Command) -> Value {
        command.env("CLAUDE_PROJECT_DIR", self.project.root());
        let event = json!({
            "hook_event_name": "Stop", "session_id": "s", "stop_hook_active": false,
            "cwd": self.project.root(), "transcript_path": "/t", "permission_mode": "default",
        });
        let run = run(command, event.to_string().as_bytes());
        assert_eq!(run.code, 0, "{run:?}");
        serde_json::from_str(&run.stdout).unwrap_or_default()
    }

    pub(super) fn ran(&self) -> bool {
        self.project.path("ran").exists()
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
        std::fs::remove_file(self.project.path("ran")).unwrap();
    }

    /// The files in the person's store.
    pub(super) fn store(&self) -> PathBuf {
        self.home.path().join(".local/state/tollgate/trust")
    }

    pub(super) fn fingerprint(&self) -> String {
        let shown = self.tollgate(&["trust", "--show", "--json"]);
        let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
        shown["fingerprint"].as_str().unwrap().to_owned()
    }
}

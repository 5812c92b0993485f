//! `tollgate.toml`, seen from outside.

mod bad_input;
mod broken;
mod commands;
mod errors;
mod homes;
mod keys;
mod layers;

use serde_json::Value;

use crate::events::{self, Event as _};
use crate::project::{Run, TestProject, run};

/// A project with this `tollgate.toml` in a repository: `main` has it, the branch `work` a change
/// in `src/`.
pub(super) struct Own {
    project: TestProject,
}

impl std::ops::Deref for Own {
    type Target = TestProject;

    fn deref(&self) -> &TestProject {
        &self.project
    }
}

impl Own {
    pub(super) fn new(toml: &str) -> Self {
        let project = TestProject::empty().with_repository().with_toml(toml);
        Self {
            project: project.with_change(),
        }
    }

    /// The same with `base = "main"` and this besides.
    pub(super) fn with(toml: &str) -> Self {
        Self::new(&format!("[gates]\nbase = \"main\"\n{toml}\n"))
    }

    /// The same with this variable in the environment.
    pub(super) fn env(self, name: &str, value: &str) -> Self {
        Self {
            project: self.project.env(name, value),
        }
    }

    /// Writes another `tollgate.toml`.
    pub(super) fn toml(&self, text: &str) {
        self.file("tollgate.toml", text);
    }

    /// Runs a command with `--json`.
    pub(super) fn json(&self, args: &[&str]) -> Value {
        let mut args = args.to_vec();
        args.push("--json");
        self.tollgate(&args).json()
    }

    /// A stop of a session of Claude Code.
    pub(super) fn stop(&self, is_flagged: bool) -> Run {
        let event = events::stop()
            .in_session("s")
            .at_prompt("p")
            .in_directory(self.root())
            .with("stop_hook_active", is_flagged);
        let mut command = self.command(&["hook"]);
        command.env("CLAUDE_PROJECT_DIR", self.root());
        run(command, event.to_string().as_bytes())
    }

    /// A stop that must be blocked; the reason.
    #[track_caller]
    pub(super) fn blocks(&self, is_flagged: bool) -> String {
        let run = self.stop(is_flagged).exits(0);
        let answer = run.json();
        assert_eq!(answer["decision"], "block", "{run:?}");
        answer["reason"].as_str().unwrap().to_owned()
    }

    /// A stop that must be let go; what is said.
    #[track_caller]
    pub(super) fn lets_go(&self, is_flagged: bool) -> String {
        let run = self.stop(is_flagged).exits(0);
        assert!(!run.stdout.contains("\"block\""), "{run:?}");
        format!("{}{}", run.stdout, run.stderr)
    }

    /// What is wrong, as `validate` says it.
    pub(super) fn problems(&self) -> String {
        let run = self.tollgate(&["validate"]);
        let root = self.root().to_str().unwrap();
        run.stderr
            .replace(root, "ROOT")
            .replace(self.home().to_str().unwrap(), "HOME")
    }
}

//! Gates, seen from outside: real repositories, real commands, real kills.

mod at_once;
mod changes;
mod children;
mod configuration;
mod defects;
mod defects_of_commands;
mod evidence;
mod faults;
mod full_disk;
mod hidden;
mod killing;
mod original;
mod output;
mod sessions;
mod spec_003;
mod spec_003_statuses;
mod stop_hook;
mod unverified;
mod verified;
mod watching;

use std::io::Write as _;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::events::{self, Event as _};
use crate::project::{Run, TestProject, run, wait_until};

/// A project with gates in a repository: `main` has the gates, the branch `work` a change in
/// `src/`.
pub(crate) struct Gates {
    project: TestProject,
}

impl std::ops::Deref for Gates {
    type Target = TestProject;

    fn deref(&self) -> &TestProject {
        &self.project
    }
}

/// A gate that passes.
pub(super) const OK: (&str, &str) = ("ok", "command: \"true\"");
/// A gate that fails.
pub(super) const BAD: (&str, &str) = ("bad", "command: echo boom; exit 3");
/// A gate that says that it runs, and ends once the project has a file `go`: it passes.
pub(super) const HELD: (&str, &str) = (
    "held",
    "command: \"touch ../began; while ! test -e ../go; do sleep 0.02; done\"",
);
/// A gate that passes once `src/fixed` exists. It runs in `src`.
pub(super) const FIXABLE: (&str, &str) = ("fixable", "command: test -e fixed");

impl Gates {
    /// Gates for `src`, with this in `config.yml` as well.
    pub(crate) fn with_config(checks: &[(&str, &str)], more: &str) -> Self {
        let project = TestProject::empty().with_repository();
        Self {
            project: project.with_gates(".gauntlet", checks, more).with_change(),
        }
    }

    /// Gates for `src` that run at every stop.
    pub(crate) fn new(checks: &[(&str, &str)]) -> Self {
        Self::with_config(checks, "stop_hook: { run_interval_minutes: 0 }")
    }

    /// With this very `config.yml`.
    pub(crate) fn raw(checks: &[(&str, &str)], config: &str) -> Self {
        let project = TestProject::empty().with_repository();
        let project = project.with_gates(".gauntlet", checks, "");
        project.file(".gauntlet/config.yml", config);
        Self {
            project: project.with_change(),
        }
    }

    pub(crate) fn into_project(self) -> TestProject {
        self.project
    }

    /// With what [`HELD`] writes hidden from git.
    pub(crate) fn held(checks: &[(&str, &str)]) -> Self {
        let gates = Self::new(checks);
        gates.file(".gitignore", "began\ngo\n.count\n");
        gates
    }

    /// Waits until [`HELD`] runs.
    #[track_caller]
    pub(crate) fn has_begun(&self) {
        wait_until("the gate runs", Duration::from_mins(1), || {
            self.exists("began")
        });
    }

    /// Lets [`HELD`] end.
    pub(crate) fn go(&self) {
        self.file("go", "");
    }

    pub(crate) fn check(&self, name: &str, yaml: &str) {
        self.file(&format!(".gauntlet/checks/{name}.yml"), yaml);
    }

    /// The settings for all projects of the person.
    pub(crate) fn global(&self, yaml: &str) {
        self.at_home(".config/agent-gauntlet/config.yml", yaml);
    }

    /// Runs a command with `--json`; its answer and exit code.
    pub(crate) fn json(&self, args: &[&str]) -> (Value, i32) {
        let mut args = args.to_vec();
        args.push("--json");
        let run = self.tollgate(&args);
        (run.json(), run.code)
    }

    /// Feeds the stop hook these bytes.
    pub(crate) fn stop_raw(&self, input: &[u8]) -> (Value, Run) {
        let run = run(self.command(&["stop-hook"]), input);
        assert_eq!(run.code, 0, "{run:?}");
        assert_eq!(run.stdout.lines().count(), 1, "{run:?}");
        let answer = run.json();
        let blocks = answer["decision"] == "block";
        assert!(blocks || answer["decision"] == "approve", "{answer}");
        assert_eq!(blocks, answer["reason"].is_string(), "{answer}");
        for key in ["status", "message", "stopReason", "systemMessage"] {
            assert!(answer[key].is_string(), "{key}: {answer}");
        }
        (answer, run)
    }

    /// A stop without a session.
    pub(crate) fn stop(&self) -> Value {
        self.stop_raw(events::stop().to_string().as_bytes()).0
    }

    /// Starts a stop without a session, for [`Self::stopped`] to wait for.
    pub(crate) fn begin_stop(&self) -> Child {
        let mut command = self.command(&["stop-hook"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let event = events::stop().to_string();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(event.as_bytes())
            .unwrap();
        child
    }

    pub(crate) fn stopped(child: Child) -> Value {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Waits until a process has the lock of the runs, or waits for it.
    pub(crate) fn is_at_the_lock(&self, process: &Child) {
        let lock = self.path("gauntlet_logs/.gauntlet-run.lock");
        let open = format!("/proc/{}/fd", process.id());
        wait_until("it comes to the lock", Duration::from_mins(1), || {
            let files = std::fs::read_dir(&open).into_iter().flatten().flatten();
            let mut files = files.filter_map(|entry| std::fs::read_link(entry.path()).ok());
            files.any(|file| file == lock)
        });
    }

    /// A stop of a session.
    pub(crate) fn stop_in(&self, session: &str, prompt: &str, active: bool) -> Value {
        let event = events::stop()
            .in_session(session)
            .at_prompt(prompt)
            .in_directory(self.root())
            .with("stop_hook_active", active);
        self.stop_raw(event.to_string().as_bytes()).0
    }

    /// `.execution_state`
    pub(crate) fn state(&self) -> Value {
        serde_json::from_str(&self.read("gauntlet_logs/.execution_state")).unwrap_or_default()
    }

    /// Writes a state file as the original does, so many minutes ago.
    pub(crate) fn original_state(&self, minutes_ago: i64, branch: &str, commit: &str) {
        let then = jiff::Timestamp::now() - jiff::SignedDuration::from_mins(minutes_ago);
        let state = json!({
            "last_run_completed_at": then.to_string(), "branch": branch, "commit": commit,
        });
        self.file("gauntlet_logs/.execution_state", state.to_string());
    }

    /// Names in the log directory that match.
    pub(crate) fn logs(&self, part: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path("gauntlet_logs"));
        let names = entries
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| name.contains(part)).collect();
        names.sort();
        names
    }
}

/// The decision and the status of an answer.
#[track_caller]
pub(crate) fn answers(answer: &Value, decision: &str, status: &str) {
    assert_eq!(
        (answer["decision"].as_str(), answer["status"].as_str()),
        (Some(decision), Some(status)),
        "{answer:#}"
    );
}

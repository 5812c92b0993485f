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
mod sessions;
mod spec_003;
mod spec_003_statuses;
mod stop_hook;
mod unverified;
mod watching;

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::context::{Project, Run, run};

/// A project with gates in a repository: `main` has the gates, the branch `work` a change in
/// `src/`.
pub(crate) struct Gates {
    pub(crate) project: Project,
    home: tempfile::TempDir,
}

/// A gate that passes.
pub(super) const OK: (&str, &str) = ("ok", "command: \"true\"");
/// A gate that fails.
pub(super) const BAD: (&str, &str) = ("bad", "command: echo boom; exit 3");
/// A gate that passes once `src/fixed` exists. It runs in `src`.
pub(super) const FIXABLE: (&str, &str) = ("fixable", "command: test -e fixed");

impl Gates {
    /// Gates for `src`, with this in `config.yml` as well.
    pub(crate) fn with_config(checks: &[(&str, &str)], more: &str) -> Self {
        let names: Vec<_> = checks.iter().map(|(name, _)| *name).collect();
        Self::raw(
            checks,
            &format!(
                "base_branch: main\n{more}\nentry_points:\n  - path: src\n    checks: [{}]\n",
                names.join(", ")
            ),
        )
    }

    /// Gates for `src` that run at every stop.
    pub(crate) fn new(checks: &[(&str, &str)]) -> Self {
        Self::with_config(checks, "stop_hook: { run_interval_minutes: 0 }")
    }

    /// With this very `config.yml`.
    pub(crate) fn raw(checks: &[(&str, &str)], config: &str) -> Self {
        let gates = Self {
            project: Project::empty(),
            home: tempfile::tempdir().unwrap(),
        };
        for (name, yaml) in checks {
            gates.check(name, yaml);
        }
        gates.file(".gauntlet/config.yml", config);
        gates.file("src/a.txt", "a\n");
        gates.git(&["init", "-q", "-b", "main"]);
        gates.commit("first");
        gates.git(&["checkout", "-q", "-b", "work"]);
        gates.file("src/b.txt", "b\n");
        gates
    }

    pub(crate) fn check(&self, name: &str, yaml: &str) {
        self.file(&format!(".gauntlet/checks/{name}.yml"), yaml);
    }

    pub(crate) fn file(&self, path: &str, text: &str) -> PathBuf {
        self.project.file(path, text)
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.project.path(path)
    }

    pub(crate) fn read(&self, path: &str) -> String {
        self.project.read(path)
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.project.git(args)
    }

    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
    }

    pub(crate) fn global(&self, yaml: &str) {
        let directory = self.home.path().join(".config/agent-gauntlet");
        std::fs::create_dir_all(&directory).unwrap();
        std::io::Write::write_all(
            &mut std::fs::File::create(directory.join("config.yml")).unwrap(),
            yaml.as_bytes(),
        )
        .unwrap();
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.command_of(crate::context::TOLLGATE);
        command.args(args);
        command
    }

    /// Another program, started as Tollgate is.
    pub(crate) fn command_of(&self, program: &str) -> Command {
        let mut command = self.project.command_of(program.as_ref(), &[]);
        command
            .env("HOME", self.home.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        command
    }

    pub(crate) fn tollgate(&self, args: &[&str]) -> Run {
        run(self.command(args), b"")
    }

    /// Runs a command with `--json`; its answer and exit code.
    pub(crate) fn json(&self, args: &[&str]) -> (Value, i32) {
        let mut args = args.to_vec();
        args.push("--json");
        let run = self.tollgate(&args);
        let value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
        (value, run.code)
    }

    /// Feeds the stop hook these bytes.
    pub(crate) fn stop_raw(&self, input: &[u8]) -> (Value, Run) {
        let run = run(self.command(&["stop-hook"]), input);
        assert_eq!(run.code, 0, "{run:?}");
        assert_eq!(run.stdout.lines().count(), 1, "{run:?}");
        let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
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
        self.stop_raw(br#"{"hook_event_name":"Stop","stop_hook_active":false}"#)
            .0
    }

    /// A stop of a session.
    pub(crate) fn stop_in(&self, session: &str, prompt: &str, active: bool) -> Value {
        let event = json!({
            "hook_event_name": "Stop", "session_id": session, "prompt_id": prompt,
            "stop_hook_active": active, "cwd": self.project.root(),
        });
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
        self.file("gauntlet_logs/.execution_state", &state.to_string());
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

impl Run {
    /// The exit code, with everything shown if it is another.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }

    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        let said = format!("{}{}", self.stdout, self.stderr);
        assert!(said.contains(text), "{text:?} is not in {said}");
        self
    }

    #[track_caller]
    pub(crate) fn does_not_say(self, text: &str) -> Self {
        let said = format!("{}{}", self.stdout, self.stderr);
        assert!(!said.contains(text), "{text:?} is in {said}");
        self
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

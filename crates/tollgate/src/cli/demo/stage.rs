//! Where the demo is played: a temporary repository, and this program started in it as an agent
//! starts it.

use std::cell::Cell;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Ended;
use crate::cli::{Trouble, with_members};
use crate::journal;

/// What Tollgate does in the project.
const CONFIG: &str = r#"[gates]
base = "main"
exclude = [".tollgate/**", "docs/**"]
reviewers = ["command"]

[gates.test]
run = "sh test.sh"

[gates.quality]
prompt = "Report only defects you would block a pull request for."
command = "tollgate __demo-review"
"#;

/// The files that the project begins with.
const FILES: &[(&str, &str)] = &[
    ("README.md", "# Shop\n\nSells things.\n"),
    ("tollgate.toml", CONFIG),
    ("test.sh", "true\n"),
];

pub(super) struct Stage {
    directory: tempfile::TempDir,
    /// The project's root, as the events say it.
    root: PathBuf,
    search: std::ffi::OsString,
    tool_uses: Cell<usize>,
}

pub(super) struct Decided {
    pub(super) said: Said,
    /// The code and the guard, as the journal has them.
    pub(super) by: Option<(String, String)>,
    /// From starting the hook to its end.
    pub(super) took: Duration,
}

/// What the agent hears.
pub(super) enum Said {
    Allowed,
    /// It may not, for this reason.
    Stopped(String),
    /// It reads this afterwards.
    Warned(String),
}

impl Stage {
    /// Makes the repository and everything in it.
    pub(super) fn build() -> Result<Self, Trouble> {
        let cannot = |error: std::io::Error| {
            Trouble::new(format!("no temporary directory: {error}"))
                .hint("set TMPDIR to a directory that you may write to")
        };
        let directory = tempfile::Builder::new()
            .prefix("tollgate-demo-")
            .tempdir()
            .map_err(cannot)?;
        let place = directory.path().canonicalize().map_err(cannot)?;
        let programs = place.join("bin");
        std::fs::create_dir(&programs).map_err(cannot)?;
        let this = std::env::current_exe().map_err(cannot)?;
        std::os::unix::fs::symlink(this, programs.join("tollgate")).map_err(cannot)?;
        let theirs = crate::environment::current().path.unwrap_or_default();
        let search =
            std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&theirs)));
        let stage = Self {
            root: place.join("shop"),
            search: search.map_err(|error| Trouble::new(format!("PATH: {error}")))?,
            directory,
            tool_uses: Cell::new(0),
        };
        std::fs::create_dir(&stage.root).map_err(cannot)?;
        for (path, text) in FILES {
            stage.write(path, text).map_err(cannot)?;
        }
        for line in [
            "git init -q && git symbolic-ref HEAD refs/heads/main",
            "git config user.name Agent && git config user.email agent@example.org",
            "git add -A && git commit -q -m 'A shop'",
            "tollgate workflow start feature 'Gift cards' --light",
        ] {
            stage.must(line)?;
        }
        Ok(stage)
    }

    /// Leaves everything where it is and says where that is.
    pub(super) fn keep(self) -> PathBuf {
        self.directory.keep()
    }

    pub(super) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    pub(super) fn write(&self, relative: &str, text: &str) -> std::io::Result<()> {
        let path = self.path(relative);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::File::create(path)?.write_all(text.as_bytes())
    }

    /// A text with its paths as seen from the project.
    fn shown(&self, text: &str) -> String {
        let root = format!("{}/", self.root.display());
        text.replace(&root, "")
    }

    /// Runs a line as the agent's shell does.
    pub(super) fn shell(&self, line: &str) -> std::io::Result<Output> {
        self.command("sh").args(["-c", line]).output()
    }

    fn must(&self, line: &str) -> Result<(), Trouble> {
        let failed = match self.shell(line) {
            Ok(output) if output.status.success() => return Ok(()),
            Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            Err(error) => error.to_string(),
        };
        Err(Trouble::new(format!("`{line}` failed: {failed}"))
            .hint("the demo needs `sh` and `git` on PATH"))
    }

    /// An event of this kind, with what every event of a session has.
    pub(super) fn event(&self, name: &str, fields: &Value) -> Value {
        let event = json!({
            "session_id": "demo", "transcript_path": self.directory.path().join("transcript.jsonl"),
            "cwd": self.root, "permission_mode": "default", "hook_event_name": name,
        });
        with_members(event, fields.clone())
    }

    pub(super) fn tool_use(&self) -> String {
        self.tool_uses.set(self.tool_uses.get() + 1);
        format!("toolu_{:02}", self.tool_uses.get())
    }

    pub(super) fn hook(&self, event: &Value) -> Result<Decided, Ended> {
        let before = self.journal().len();
        let text = event.to_string();
        let begun = Instant::now();
        let mut child = self
            .command("tollgate")
            .arg("hook")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(text.as_bytes())?;
        }
        let output = child.wait_with_output()?;
        let took = begun.elapsed();
        let by = self.journal().into_iter().skip(before).find_map(|line| {
            let text = |key: &str| line.get(key).and_then(Value::as_str).map(str::to_owned);
            // Gates and reviews have lines of their own, and decide nothing by themselves.
            let decides = text("verdict").is_some_and(|word| word == "block" || word == "warn");
            decides.then_some((text("code")?, text("guard")?))
        });
        let said = said(&output, |text| self.shown(text))?;
        Ok(Decided { said, by, took })
    }

    fn journal(&self) -> Vec<Value> {
        journal::lines(&self.root.join(".tollgate/local")).collect()
    }

    /// How long it takes here to start a program that does nothing: the middle of eleven.
    pub(super) fn start_time(&self) -> Option<Duration> {
        let times = (0..11).filter_map(|_| {
            let begun = Instant::now();
            let status = self.command("true").status().ok()?;
            status.success().then(|| begun.elapsed())
        });
        middle(times.collect())
    }

    /// A program that knows nothing of the person's settings, nor of a session that the demo may
    /// be started from.
    fn command(&self, program: &str) -> Command {
        let home = self.directory.path();
        // `Command` would search our own `PATH`, not that of the stage.
        let found = crate::agents::places::find(program, &self.search);
        let mut command = crate::process::command(found.unwrap_or_else(|| program.into()));
        command
            .current_dir(&self.root)
            .env_clear()
            .env("PATH", &self.search)
            .env("HOME", home)
            .env("TMPDIR", home)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .stdin(Stdio::null());
        command
    }
}

pub(super) fn middle(mut times: Vec<Duration>) -> Option<Duration> {
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

/// What an agent makes of the hook's answer, whose texts are shown by `shown`.
fn said(output: &Output, shown: impl Fn(&str) -> String) -> Result<Said, Ended> {
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let what = format!("the hook ended with {}", output.status);
        return Err(Ended::Unexpected(what));
    }
    if text.trim().is_empty() {
        return Ok(Said::Allowed);
    }
    let answer: Value = serde_json::from_str(&text)
        .map_err(|error| Ended::Unexpected(format!("the hook's answer is no JSON: {error}")))?;
    let at = |path: &str| answer.pointer(path).and_then(Value::as_str).map(&shown);
    let specific = "/hookSpecificOutput";
    let denied = at(&format!("{specific}/permissionDecision")).is_some_and(|word| word == "deny");
    let blocked = at("/decision").is_some_and(|word| word == "block");
    let reason = at(&format!("{specific}/permissionDecisionReason")).or_else(|| at("/reason"));
    Ok(match reason {
        Some(reason) if denied || blocked => Said::Stopped(reason),
        Some(_) | None => at(&format!("{specific}/additionalContext"))
            .or_else(|| at("/systemMessage"))
            .map_or(Said::Allowed, Said::Warned),
    })
}

//! A project, and the program run in it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::events::{Event as _, named, task};
use crate::project::{MANIFEST, TestProject, patient};

/// The program that is tried: `TOLLGATE`, or the one that cargo built.
pub(crate) fn program() -> PathBuf {
    std::env::var_os("TOLLGATE").map_or_else(|| env!("CARGO_BIN_EXE_tollgate").into(), Into::into)
}

/// A project on a machine of its own, so that what is written outside of it can be seen.
pub(crate) struct Workspace {
    project: TestProject,
}

impl std::ops::Deref for Workspace {
    type Target = TestProject;

    fn deref(&self) -> &TestProject {
        &self.project
    }
}

/// What the others are copies of.
static FIRST: Mutex<Option<Workspace>> = Mutex::new(None);

/// Leaves nothing behind.
pub(crate) fn forget() {
    let first = FIRST.lock().unwrap_or_else(PoisonError::into_inner).take();
    drop(first);
}

/// What a run gave back.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// None: a signal.
    pub(crate) code: Option<i32>,
    pub(crate) took: Duration,
}

/// Nothing takes longer than this, on a machine that does much else.
pub(crate) const LIMIT: Duration = Duration::from_mins(1);

impl Workspace {
    /// A repository with a commit, a manifest, and a workflow in its first phase.
    pub(crate) fn new() -> Self {
        let workspace = Self::bare();
        let started =
            workspace.tollgate(&["workflow", "start", "feature", "a thing", "--no-branch"]);
        assert_eq!(started.code, Some(0), "{started:?}");
        workspace
    }

    /// The same without a workflow. Git is asked once; the others are copies.
    pub(crate) fn bare() -> Self {
        let workspace = Self::nothing();
        let mut first = FIRST.lock().unwrap_or_else(PoisonError::into_inner);
        copy(
            first.get_or_insert_with(Self::first).root(),
            workspace.root(),
        );
        workspace
    }

    /// An empty directory.
    pub(crate) fn nothing() -> Self {
        let project = TestProject::unwatched("tollgate-prove-", "project", program());
        Self { project }
    }

    fn first() -> Self {
        let Self { project } = Self::nothing();
        project.file(".isdlc/state.json", "{}");
        project.file(".claude/hooks/config/skills-manifest.json", MANIFEST);
        let project = project.with_repository();
        project.commit("first");
        Self { project }
    }

    /// With gates of which one passes and one does not, and a plan.
    pub(crate) fn whole() -> Self {
        let workspace = Self::new();
        for (check, command) in [("good", "true"), ("bad", "false")] {
            let path = format!(".gauntlet/checks/{check}.yml");
            workspace.file(&path, format!("command: \"{command}\"\n"));
        }
        workspace.file(
            ".gauntlet/config.yml",
            b"base_branch: main\nentry_points:\n  - path: .\n    checks: [good, bad]\n",
        );
        let plan = workspace.tollgate(&["plan", "new", "a-plan"]);
        assert_eq!(plan.code, Some(0), "{plan:?}");
        workspace
    }

    pub(crate) fn state(&self) -> Result<Value, String> {
        let bytes = std::fs::read(self.path(".isdlc/state.json")).map_err(|e| e.to_string())?;
        serde_json::from_slice(&bytes).map_err(|error| format!("{error}: {} bytes", bytes.len()))
    }

    /// Another program, in the project, with a clean environment.
    pub(crate) fn foreign(&self, program: impl AsRef<Path>) -> Command {
        let mut command = self.command_of(program.as_ref(), &[]);
        command
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("CLAUDE_PROJECT_DIR", self.root());
        command
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.foreign(program());
        command.args(patient(args));
        command
    }

    /// The same; a person agreed in the chat to what it gives up.
    pub(crate) fn agreed(&self, args: &[&str]) -> Command {
        let mut command = self.command(args);
        command.envs(self.yes(args));
        command
    }

    /// A person's yes in the chat to what a command gives up, if it does.
    pub(crate) fn yes(&self, args: &[&str]) -> Option<(&'static str, String)> {
        if !matches!(args, ["phase", "skip", ..] | ["workflow", "cancel", ..]) {
            return None;
        }
        let call = format!("tollgate {}", args.join(" "));
        let event = self.event(
            "PreToolUse",
            &json!({
                "tool_name": "Bash", "tool_use_id": "asked", "permission_mode": "default",
                "tool_input": { "command": call },
            }),
        );
        let answer: Value = serde_json::from_str(&self.hook(&event).stdout).unwrap_or_default();
        let agreed = answer["hookSpecificOutput"]["updatedInput"]["command"].as_str();
        let (word, _) = agreed?.split_once('=')?.1.split_once(';')?;
        Some(("TOLLGATE_ASKED", word.to_owned()))
    }

    pub(crate) fn tollgate(&self, args: &[&str]) -> Run {
        run(self.command(args), b"")
    }

    pub(crate) fn hook(&self, event: &Value) -> Run {
        run(self.command(&["hook"]), event.to_string().as_bytes())
    }

    /// An event of Claude Code.
    pub(crate) fn event(&self, kind: &str, more: &Value) -> Value {
        named(kind)
            .in_session("s")
            .at_prompt("p")
            .in_directory(self.root())
            .with("transcript_path", "/t.jsonl")
            .with("permission_mode", "default")
            .with_all(more)
    }

    /// A finished delegation, which log-skill-usage records in the state.
    pub(crate) fn delegated(&self, id: &str) -> Value {
        let mut delegation = task("software-developer", "Go.")
            .with("tool_name", "Agent")
            .call(id)
            .done(json!({ "status": "completed" }));
        delegation["tool_input"]["description"] = id.into();
        self.event("PostToolUse", &delegation)
    }

    /// Temporary files that nobody will ever finish.
    pub(crate) fn temporaries(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut left = vec![self.path(".isdlc"), self.path(".tollgate")];
        while let Some(directory) = left.pop() {
            for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    left.push(entry.path());
                } else if entry
                    .file_name()
                    .to_string_lossy()
                    .starts_with(tollgate_store::fs::TEMPORARY)
                {
                    found.push(entry.path());
                }
            }
        }
        found
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let there = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &there);
        } else {
            std::fs::copy(entry.path(), there).unwrap();
        }
    }
}

/// Starts with everything piped.
pub(crate) fn start(mut command: Command) -> Child {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().unwrap()
}

pub(crate) fn run(command: Command, stdin: &[u8]) -> Run {
    let started = Instant::now();
    let mut child = start(command);
    let _closed = child.stdin.take().unwrap().write_all(stdin);
    let run = ended(child);
    Run {
        took: started.elapsed(),
        ..run
    }
}

/// Waits for one that was started. How long it took is for whoever started it to know.
pub(crate) fn ended(child: Child) -> Run {
    let output = child.wait_with_output().unwrap();
    Run {
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        code: output.status.code(),
        took: Duration::ZERO,
    }
}

impl Run {
    /// What every answer of a hook must be: 0 or 2, and nothing or one object on stdout.
    pub(crate) fn is_an_answer(&self) -> Result<(), String> {
        if !matches!(self.code, Some(0 | 2)) {
            return Err(format!("ended with {:?}: {}", self.code, self.stderr));
        }
        if self.took > LIMIT {
            return Err(format!("took {:?}", self.took));
        }
        match serde_json::from_str::<Value>(&self.stdout) {
            _ if self.stdout.is_empty() => Ok(()),
            Ok(value) if value.is_object() => Ok(()),
            _ => Err(format!("said {:?}", self.stdout)),
        }
    }
}

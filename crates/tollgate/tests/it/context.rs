//! A project in a temporary directory, and the hook run in it as an agent would.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::watchdog;

/// The program under test.
pub(crate) const TOLLGATE: &str = env!("CARGO_BIN_EXE_tollgate");

/// A manifest with the agents that the tests name.
pub(crate) const MANIFEST: &str = include_str!("manifest.json");

/// A project of the original: it has `.isdlc/` and a manifest.
pub(crate) struct Project {
    dir: tempfile::TempDir,
    /// Where the project is: the directory itself, or one in it.
    root: PathBuf,
    env: Vec<(String, String)>,
}

/// What a run of the hook gave back.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
}

impl Project {
    /// A project without a state.
    pub(crate) fn new() -> Self {
        let project = Self::bare();
        project.file(".claude/hooks/config/skills-manifest.json", MANIFEST);
        project
    }

    /// A directory with an empty `.isdlc/`, and nothing else.
    pub(crate) fn bare() -> Self {
        let project = Self::empty();
        std::fs::create_dir(project.path(".isdlc")).unwrap();
        project
    }

    /// An empty directory: no project.
    pub(crate) fn empty() -> Self {
        watchdog::watch();
        let dir = tempfile::Builder::new()
            .prefix(&watchdog::prefix())
            .tempdir()
            .unwrap();
        Self {
            root: dir.path().to_owned(),
            dir,
            env: vec![],
        }
    }

    /// An empty directory of this name, in one of its own: others can be beside it.
    pub(crate) fn beside_others(name: &str) -> Self {
        let mut project = Self::empty();
        project.root = project.dir.path().join(name);
        std::fs::create_dir(&project.root).unwrap();
        project
    }

    /// With this state.
    pub(crate) fn state(self, state: &Value) -> Self {
        self.file(
            ".isdlc/state.json",
            &serde_json::to_string_pretty(state).unwrap(),
        );
        self
    }

    /// With the setting that keeps commits for the last phase.
    pub(crate) fn commits_in_last_phase_only(self) -> Self {
        self.file(
            ".isdlc/config/workflows.json",
            r#"{ "commit_in_last_phase_only": true, "workflows": {} }"#,
        );
        self
    }

    /// With this variable in the hook's environment.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With a git repository whose current branch is `branch`.
    pub(crate) fn on_branch(self, branch: &str) -> Self {
        self.git(&["init", "-q", "-b", "main"]);
        self.file("README.md", "# Test\n");
        self.git(&["add", "README.md"]);
        self.git(&["commit", "-q", "-m", "init"]);
        if branch != "main" {
            self.git(&["checkout", "-q", "-b", branch]);
        }
        self
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root().join(relative)
    }

    /// Writes a file, with the directories above it.
    pub(crate) fn file(&self, relative: &str, text: &str) -> PathBuf {
        let path = self.path(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        write(&path, text);
        path
    }

    pub(crate) fn read(&self, relative: &str) -> String {
        std::fs::read_to_string(self.path(relative)).unwrap_or_default()
    }

    /// Every line of the journal.
    pub(crate) fn journal(&self) -> Vec<Value> {
        let text = self.read(".tollgate/local/journal.jsonl");
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The codes in the journal.
    pub(crate) fn codes(&self) -> Vec<String> {
        let codes = self
            .journal()
            .into_iter()
            .filter_map(|line| line["code"].as_str().map(Into::into));
        codes.collect()
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        git(self.root(), args)
    }

    /// Runs `tollgate hook` on an event.
    pub(crate) fn hook(&self, event: &Value) -> Run {
        self.run(&["hook"], event.to_string().as_bytes())
    }

    /// Runs one guard on an event.
    pub(crate) fn guard(&self, name: &str, event: &Value) -> Run {
        self.run(&["hook", "--guard", name], event.to_string().as_bytes())
    }

    /// Runs the program with `CLAUDE_PROJECT_DIR` set, as Claude Code does.
    pub(crate) fn run(&self, args: &[&str], stdin: &[u8]) -> Run {
        let mut command = self.command(args);
        command.env("CLAUDE_PROJECT_DIR", self.root());
        run(command, stdin)
    }

    /// The program in the project's directory with a clean environment.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.command_of(Path::new(TOLLGATE), args)
    }

    /// The same with another build of the program.
    pub(crate) fn command_of(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.root())
            .env_clear()
            .env("HOME", self.root());
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// Runs git without anybody's configuration.
pub(crate) fn git(directory: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=Test", "-c", "user.email=test@example.org"])
        .args(args)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env_remove("GIT_DIR")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "git {args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Feeds a command and waits for it.
pub(crate) fn run(mut command: Command, stdin: &[u8]) -> Run {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A hook that approves before it reads closes the pipe; that is no failure of the test.
    let _closed = child.stdin.take().unwrap().write_all(stdin);
    let output = child.wait_with_output().unwrap();
    Run {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap_or(-1),
    }
}

/// Makes a named pipe, with the tool that every Unix has.
pub(crate) fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

#[expect(clippy::disallowed_methods, reason = "fixtures are not state")]
pub(crate) fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

impl Run {
    /// Nothing on standard output, exit 0.
    #[track_caller]
    pub(crate) fn allows(self) -> Self {
        assert_eq!(self.code, 0, "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        self
    }

    /// Nothing at all to say.
    #[track_caller]
    pub(crate) fn says_nothing(self) {
        let run = self.allows();
        assert_eq!(run.stderr, "", "{run:?}");
    }

    /// A block in the specification's own shape; returns the reason.
    #[track_caller]
    pub(crate) fn blocks(self, prefix: &str) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        let answer: Value =
            serde_json::from_str(&self.stdout).unwrap_or_else(|_| panic!("{self:?}"));
        assert_eq!(answer["continue"], json!(false), "{self:?}");
        assert_eq!(answer.as_object().unwrap().len(), 2, "{self:?}");
        let reason = answer["stopReason"].as_str().unwrap();
        assert!(reason.starts_with(prefix), "{reason}");
        reason.to_owned()
    }

    /// A warning: allowed, with this at the beginning of a line on standard error.
    #[track_caller]
    pub(crate) fn warns(self, text: &str) -> String {
        let run = self.allows();
        let begins = run.stderr.starts_with(text) || run.stderr.contains(&format!("\n{text}"));
        assert!(begins, "{run:?}");
        run.stderr
    }

    /// A deny in Claude Code's shape; returns the reason.
    #[track_caller]
    pub(crate) fn denies(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        let answer: Value =
            serde_json::from_str(&self.stdout).unwrap_or_else(|_| panic!("{self:?}"));
        let output = &answer["hookSpecificOutput"];
        assert_eq!(output["hookEventName"], "PreToolUse", "{self:?}");
        assert_eq!(output["permissionDecision"], "deny", "{self:?}");
        output["permissionDecisionReason"]
            .as_str()
            .unwrap()
            .to_owned()
    }
}

/// A bare event of the specification: a Task for this agent.
pub(crate) fn task(agent: &str, prompt: &str) -> Value {
    json!({ "tool_name": "Task", "tool_input": { "subagent_type": agent, "prompt": prompt } })
}

/// A bare event: a Bash command.
pub(crate) fn bash(command: &str) -> Value {
    json!({ "tool_name": "Bash", "tool_input": { "command": command } })
}

/// A running workflow in `phase` with this status.
pub(crate) fn running(phase: &str, status: &str) -> Value {
    json!({
        "state_version": 1,
        "current_phase": phase,
        "active_workflow": {
            "type": "feature",
            "current_phase": phase,
            "current_phase_index": 0,
            "phases": [phase, "16-quality-loop"],
            "phase_status": { phase: status },
        },
        "phases": { phase: { "status": status } },
    })
}

/// A running workflow with the feature branch `feature/x`.
pub(crate) fn with_branch(status: &str) -> Value {
    json!({ "active_workflow": { "git_branch": { "name": "feature/x", "status": status } } })
}

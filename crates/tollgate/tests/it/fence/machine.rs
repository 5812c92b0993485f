//! A person's machine with a project under a workflow and with gates, and an agent in it.

use std::cell::{Cell, RefCell};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::{End, Step};
use crate::project::{Run, TOLLGATE, TestProject, put, run};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agent {
    Claude,
    Codex,
    Gemini,
    Copilot,
    Cursor,
}

impl Agent {
    pub(crate) const ALL: &[Self] = &[
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Copilot,
        Self::Cursor,
    ];

    /// What `install --agent` calls it.
    fn id(self) -> &'static str {
        match self {
            Self::Claude => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
            Self::Cursor => "cursor",
        }
    }

    /// The variables that its hooks and its shell have.
    fn marks(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Claude => &[("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "s")],
            Self::Codex => &[("CODEX_THREAD_ID", "s")],
            Self::Gemini => &[("GEMINI_CLI", "1"), ("GEMINI_SESSION_ID", "s")],
            Self::Copilot => &[("COPILOT_CLI", "1")],
            Self::Cursor => &[("CURSOR_AGENT", "1")],
        }
    }

    /// What all its events say.
    fn members(self, session: &str, cwd: &Path) -> Value {
        match self {
            Self::Claude => json!({
                "session_id": session, "transcript_path": "/t", "cwd": cwd,
                "permission_mode": "default",
            }),
            Self::Codex => json!({
                "session_id": session, "transcript_path": null, "cwd": cwd, "turn_id": "1",
                "model": "m", "permission_mode": "default",
            }),
            Self::Gemini => json!({
                "session_id": session, "transcript_path": "/t", "cwd": cwd,
                "timestamp": "2026-11-15T00:00:00Z",
            }),
            Self::Copilot => json!({
                "session_id": session, "cwd": cwd, "timestamp": "2026-11-15T00:00:00Z",
            }),
            Self::Cursor => json!({
                "conversation_id": session, "session_id": session, "cursor_version": "2",
                "workspace_roots": [cwd], "cwd": cwd,
            }),
        }
    }

    /// What it calls an event of Claude Code's name.
    fn event(self, name: &str) -> String {
        match (self, name) {
            (Self::Gemini, "PreToolUse") => "BeforeTool".to_owned(),
            (Self::Gemini, "PostToolUse") => "AfterTool".to_owned(),
            (Self::Gemini, "Stop") => "AfterAgent".to_owned(),
            (Self::Gemini, "UserPromptSubmit") => "BeforeAgent".to_owned(),
            (Self::Cursor, name) => {
                let (first, rest) = name.split_at(1);
                format!("{}{rest}", first.to_lowercase())
            }
            (_, name) => name.to_owned(),
        }
    }

    fn shell(self, command: &str) -> Value {
        let name = match self {
            Self::Claude | Self::Codex => "Bash",
            Self::Gemini => "run_shell_command",
            Self::Copilot => "bash",
            Self::Cursor => "Shell",
        };
        json!({ "tool_name": name, "tool_input": { "command": command } })
    }

    fn write(self, path: &Path, text: &str) -> Value {
        let (name, input) = match self {
            Self::Claude | Self::Cursor => ("Write", json!({ "file_path": path, "content": text })),
            Self::Codex => {
                let lines: Vec<_> = text.lines().collect();
                let patch = format!(
                    "*** Begin Patch\n*** Add File: {}\n+{}\n*** End Patch\n",
                    path.display(),
                    lines.join("\n+")
                );
                ("apply_patch", json!({ "command": patch }))
            }
            Self::Gemini => ("write_file", json!({ "file_path": path, "content": text })),
            Self::Copilot => ("create", json!({ "path": path, "file_text": text })),
        };
        json!({ "tool_name": name, "tool_input": input })
    }

    fn edit(self, path: &Path, old: &str, new: &str) -> Value {
        let (name, input) = match self {
            Self::Claude | Self::Cursor => (
                "Edit",
                json!({ "file_path": path, "old_string": old, "new_string": new }),
            ),
            Self::Codex => {
                let patch = format!(
                    "*** Begin Patch\n*** Update File: {}\n@@\n-{old}\n+{new}\n*** End Patch\n",
                    path.display()
                );
                ("apply_patch", json!({ "command": patch }))
            }
            Self::Gemini => (
                "replace",
                json!({ "file_path": path, "old_string": old, "new_string": new }),
            ),
            Self::Copilot => (
                "edit",
                json!({ "path": path, "old_str": old, "new_str": new }),
            ),
        };
        json!({ "tool_name": name, "tool_input": input })
    }
}

impl std::fmt::Display for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Copilot => "Copilot CLI",
            Self::Cursor => "Cursor",
        })
    }
}

/// Whether steps name the program, which they may destroy.
fn may_destroy(steps: &[Step]) -> bool {
    steps.iter().any(|step| {
        let text = format!("{step:?}");
        text.contains("bin") || text.contains("$TOLLGATE")
    })
}

/// The session that the agent is in.
const SESSION: &str = "s";

pub(crate) const STATE: &str = ".tollgate/workflow/state.json";

/// One machine for many routes: each begins with the files that it had after its setup, which takes far longer
/// than to copy them.
pub(super) struct Stage {
    machine: Machine,
    kept: tempfile::TempDir,
}

impl Stage {
    pub(super) fn new(agent: Agent) -> Self {
        let stage = Self {
            machine: Machine::without_session(agent),
            kept: tempfile::tempdir().unwrap(),
        };
        stage.copy("cp -a . \"$KEPT\"");
        stage
    }

    /// The machine as it was, and a session in it. Where the steps name the program, it is one that may be
    /// destroyed.
    pub(super) fn before(&mut self, steps: &[Step]) -> &Machine {
        self.copy("chmod -R u+rwX . && find . -mindepth 1 -delete && cp -a \"$KEPT\"/. .");
        self.machine.forget();
        self.machine.begin(steps);
        &self.machine
    }

    fn copy(&self, script: &str) {
        let mut shell = std::process::Command::new("sh");
        shell
            .args(["-c", script])
            .current_dir(self.machine.project.outside());
        let done = shell.env("KEPT", self.kept.path()).status().unwrap();
        assert!(done.success(), "{script}");
    }
}

pub(crate) struct Machine {
    pub(crate) project: TestProject,
    agent: Agent,
    hook_env: RefCell<Vec<(String, String)>>,
    members: RefCell<Map<String, Value>>,
    calls: Cell<u32>,
    story: RefCell<String>,
    /// All answers.
    said: RefCell<String>,
    /// How much of the journal was read.
    read: Cell<usize>,
}

/// What a step came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Came {
    Blocked(String),
    Refused,
    Done,
}

/// The workflow that runs in the project.
const WORKFLOW: &str =
    "\n[workflow.feature]\nphases = [{ name = \"requirements\" }, { name = \"implementation\" }]\n";

impl Machine {
    /// A project with gates and a running workflow, all of it committed, and a session in it.
    pub(super) fn new(agent: Agent) -> Self {
        let machine = Self::without_session(agent);
        machine.begin(&[]);
        machine
    }

    fn begin(&self, steps: &[Step]) {
        if may_destroy(steps) {
            std::fs::remove_file(self.program()).unwrap();
            // By another process: of this one's, a child could have it open for writing.
            let copied = std::process::Command::new("cp")
                .arg(TOLLGATE)
                .arg(self.program())
                .status();
            assert!(copied.unwrap().success());
        }
        self.send("SessionStart", &json!({ "source": "startup" }));
    }

    /// Nothing was done or said yet.
    fn forget(&mut self) {
        self.hook_env.take();
        self.members.take();
        self.calls.take();
        self.story.take();
        self.said.take();
        self.read.take();
    }

    /// The same before the first session.
    pub(crate) fn without_session(agent: Agent) -> Self {
        let project = TestProject::empty();
        std::os::unix::fs::symlink(TOLLGATE, project.programs().join("tollgate")).unwrap();
        project.file("Makefile", "test:\n\t@true\n");
        project.file("src/a.txt", "a\n");
        let project = project.with_repository();
        project.git(&["config", "user.name", "Agent"]);
        project.git(&["config", "user.email", "agent@example.org"]);
        project.commit("first");
        project.must(&["init", "--yes"]);
        // Phases that may write every file, so that each route meets what it is about.
        let gates = std::fs::read_to_string(project.path("tollgate.toml")).unwrap();
        project.file("tollgate.toml", format!("{gates}{WORKFLOW}"));
        let tollgate = project.programs().join("tollgate");
        let tollgate = tollgate.to_str().unwrap().to_owned();
        project.must(&[
            "install",
            "--agent",
            agent.id(),
            "--command",
            &tollgate,
            "--yes",
        ]);
        project.commit("gates");
        project.must(&["workflow", "start", "feature", "shop cart"]);
        // Once more, now that a workflow calls for the guard on git's side.
        project.must(&[
            "install",
            "--agent",
            agent.id(),
            "--command",
            &tollgate,
            "--yes",
        ]);
        Self {
            project,
            agent,
            hook_env: RefCell::default(),
            members: RefCell::default(),
            calls: Cell::new(0),
            story: RefCell::default(),
            said: RefCell::default(),
            read: Cell::new(0),
        }
    }

    /// Plays the steps, then the events that follow anyhow; how it ends, and everything said.
    pub(crate) fn play(&self, steps: &[Step], expected: End) -> (End, String) {
        let before = self.project.read(STATE);
        let mut end = None;
        for step in steps {
            match self.step(step) {
                Came::Blocked(code) => {
                    end = Some(End::Stopped(leak(code)));
                    break;
                }
                Came::Refused => {
                    end = Some(End::Refused);
                    break;
                }
                Came::Done => {}
            }
        }
        let end = end.unwrap_or_else(|| {
            self.shell(None, "ls", "ls");
            self.send("Stop", &json!({ "stop_hook_active": false }));
            self.members
                .borrow_mut()
                .insert("session_id".to_owned(), json!("later"));
            self.send("SessionStart", &json!({ "source": "startup" }));
            self.shell(None, "ls", "ls");
            self.told(&before, expected)
        });
        (end, self.story.borrow().clone())
    }

    /// How it ends if nothing was stopped: by what the journal has of warnings that were answered.
    fn told(&self, before: &str, expected: End) -> End {
        let codes = self.warned();
        // Where there is no project any more, there is no journal either.
        let explains = |code: &str| self.said.borrow().contains(&format!("explain {code}"));
        let has = |code: &str| codes.iter().any(|known| known == code) || explains(code);
        match expected {
            End::Undone(code) if has(code) && self.project.read(STATE) == before => expected,
            End::Said(code) if has(code) => expected,
            End::Names(code, text) if self.names(code, text) => expected,
            End::Found(command) if self.finds(command) => expected,
            End::Undone(_)
            | End::Said(_)
            | End::Names(..)
            | End::Found(_)
            | End::Stopped(_)
            | End::Refused
            | End::Possible => {
                let foreign = codes.iter().find(|code| !is_usual(code));
                foreign.map_or(End::Possible, |code| End::Said(leak(code.clone())))
            }
        }
    }

    /// Whether a line of the journal with this code has this text.
    fn names(&self, code: &str, text: &str) -> bool {
        let lines = self.journals();
        let coded = lines.iter().filter(|line| line["code"] == code);
        let reasons: Vec<&str> = coded.filter_map(|line| line["reason"].as_str()).collect();
        self.note(&format!("{code}: {reasons:#?}"));
        reasons.iter().any(|reason| reason.contains(text))
    }

    /// Whether a command that looks for it says that something is wrong.
    fn finds(&self, command: &str) -> bool {
        let args: Vec<&str> = command.split(' ').skip(1).collect();
        let ran = run(self.project.command_of(&self.program(), &args), b"");
        self.note(&format!("{command}\n{ran:?}"));
        ran.code != 0
    }

    /// The codes of all warnings and blocks so far, and the kinds of faults.
    pub(crate) fn warned(&self) -> Vec<String> {
        let lines = self.journals();
        let told = lines.iter().filter(|line| {
            let verdict = line["verdict"].as_str();
            matches!(verdict, Some("warn" | "block" | "fault"))
        });
        told.filter_map(|line| {
            let code = line["code"].as_str().or(line["kind"].as_str());
            Some(code?.to_owned())
        })
        .collect()
    }

    /// The lines of every journal on this machine: of the project, of its other work trees, of
    /// projects beside it.
    fn journals(&self) -> Vec<Value> {
        let places = ["project", "w", "project/sub", "home/other"];
        let texts = places.map(|place| {
            let journal = self
                .project
                .outside()
                .join(place)
                .join(".tollgate/local/journal.jsonl");
            std::fs::read_to_string(journal).unwrap_or_default()
        });
        let lines = texts.iter().flat_map(|text| text.lines());
        lines
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    fn step(&self, step: &Step) -> Came {
        match *step {
            Step::Shell(command) => {
                let command = self.expand(command);
                self.shell(None, &command, &command)
            }
            Step::ShellOutside(command) => {
                let command = self.expand(command);
                self.shell(Some(self.project.outside()), &command, &command)
            }
            Step::Hidden(command) => self.shell(None, "python3 work.py", &self.expand(command)),
            Step::Background(command) => {
                self.really(self.project.root(), &self.expand(command));
                Came::Done
            }
            Step::Person(args) => {
                self.note(&self.project.gives_up(args));
                Came::Done
            }
            Step::Write(path, text) => {
                let path = self.path(path);
                let text = self.expand(text);
                let call = self.agent.write(&path, &text);
                self.tool(None, &call, || {
                    put(&path, &text);
                    Came::Done
                })
            }
            Step::Edit(path, old, new) => {
                let path = self.path(path);
                let (old, new) = (self.expand(old), self.expand(new));
                let text = std::fs::read_to_string(&path).unwrap();
                assert!(text.contains(&old), "{old:?} is not in {text}");
                let call = self.agent.edit(&path, &old, &new);
                self.tool(None, &call, || {
                    put(&path, text.replacen(&old, &new, 1));
                    Came::Done
                })
            }
            Step::HookEnv(name, value) => {
                let value = self.expand(value);
                self.hook_env.borrow_mut().push((name.to_owned(), value));
                Came::Done
            }
            Step::Says(name, value) => {
                let value = json!(self.expand(value));
                self.members.borrow_mut().insert(name.to_owned(), value);
                Came::Done
            }
            Step::Event(name) => self.blocked(&self.send(name, &json!({}))),
            Step::Stop => self.blocked(&self.send("Stop", &json!({ "stop_hook_active": false }))),
        }
    }

    /// A call of the shell tool: `shown` is what its events say, `command` what runs.
    pub(super) fn shell(&self, directory: Option<&Path>, shown: &str, command: &str) -> Came {
        let call = self.agent.shell(shown);
        self.tool(directory, &call, || {
            self.really(directory.unwrap_or(self.project.root()), command)
        })
    }

    fn really(&self, directory: &Path, command: &str) -> Came {
        let mut shell = self.project.command_of(Path::new("bash"), &["-c", command]);
        shell
            .current_dir(directory)
            .envs(self.agent.marks().iter().copied());
        shell
            .env("TOLLGATE", self.program())
            .env("ROOT", self.project.root());
        shell.env("GIT_CONFIG_GLOBAL", "/dev/null");
        let ran = run(shell, b"");
        self.note(&format!("$ {command}\n{ran:?}"));
        let said = format!("{}{}", ran.stdout, ran.stderr);
        let lines = self.journals();
        let new = lines.get(self.read.get()..).unwrap_or_default();
        if new.iter().any(|line| line["code"] == "GG-001") {
            self.read.set(lines.len());
            return Came::Blocked("GG-001".to_owned());
        }
        if said.contains("is for a person") || said.contains("the word does not match") {
            Came::Refused
        } else {
            Came::Done
        }
    }

    fn tool(&self, directory: Option<&Path>, call: &Value, act: impl FnOnce() -> Came) -> Came {
        self.calls.set(self.calls.get() + 1);
        let mut call = call.clone();
        call["tool_use_id"] = json!(format!("call-{}", self.calls.get()));
        if let Some(directory) = directory {
            call["cwd"] = json!(directory);
        }
        let blocked = self.blocked(&self.send("PreToolUse", &call));
        if blocked != Came::Done {
            return blocked;
        }
        let came = act();
        call["tool_response"] = json!({ "stdout": "", "stderr": "", "interrupted": false });
        self.send("PostToolUse", &call);
        came
    }

    /// Whether the last event was blocked: the journal's new lines say so, for every agent.
    fn blocked(&self, answer: &Run) -> Came {
        let lines = self.journals();
        let new = lines.get(self.read.get()..).unwrap_or_default();
        // Asked, nobody says yes here.
        let block = new
            .iter()
            .find(|line| line["verdict"] == "block" || line["verdict"] == "ask");
        self.read.set(lines.len());
        match block.filter(|_| !answer.stdout.is_empty() || answer.code == 2) {
            Some(line) => Came::Blocked(line["code"].as_str().unwrap_or("-").to_owned()),
            None => Came::Done,
        }
    }

    /// Sends an event to the hook as the agent does.
    pub(crate) fn send(&self, name: &str, more: &Value) -> Run {
        let mut event = self.agent.members(SESSION, self.project.root());
        event["hook_event_name"] = json!(self.agent.event(name));
        for (key, value) in self.members.borrow().iter() {
            event[key] = value.clone();
        }
        for (key, value) in more.as_object().unwrap() {
            event[key] = value.clone();
        }
        let mut hook = self.project.command_of(&self.program(), &["hook"]);
        hook.envs(self.agent.marks().iter().copied());
        if self.agent == Agent::Claude {
            hook.env("CLAUDE_PROJECT_DIR", self.project.root());
        }
        hook.envs(
            self.hook_env
                .borrow()
                .iter()
                .map(|(name, value)| (name, value)),
        );
        let is_there = self
            .program()
            .metadata()
            .is_ok_and(|meta| meta.mode() & 0o111 != 0);
        if !is_there {
            // The agent goes on when its hook cannot be started.
            self.note(&format!("{event}\nno program"));
            return Run {
                stdout: String::new(),
                stderr: String::new(),
                code: 127,
            };
        }
        let answer = run(hook, event.to_string().as_bytes());
        self.said
            .borrow_mut()
            .extend([answer.stdout.as_str(), answer.stderr.as_str()]);
        self.note(&format!("{event}\n{answer:?}"));
        answer
    }

    /// The program as the settings name it.
    fn program(&self) -> PathBuf {
        self.project.programs().join("tollgate")
    }

    fn path(&self, path: &str) -> PathBuf {
        match path.strip_prefix("~/") {
            Some(rest) => self.project.home().join(rest),
            None => self.project.path(&self.expand(path)),
        }
    }

    fn expand(&self, text: &str) -> String {
        text.replace("$ROOT", self.project.root().to_str().unwrap())
            .replace("$HOME", self.project.home().to_str().unwrap())
            .replace("$TOLLGATE", self.program().to_str().unwrap())
    }

    fn note(&self, text: &str) {
        let mut story = self.story.borrow_mut();
        for line in text.lines() {
            story.push_str("    ");
            story.extend(line.chars().take(700));
            story.push('\n');
        }
    }
}

/// What a stop of this project says without anything being wrong.
fn is_usual(code: &str) -> bool {
    matches!(code, "GATE-NOTICE" | "GATE-FAILED")
}

fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

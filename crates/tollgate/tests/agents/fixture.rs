//! A project, a home, and a whole session of an agent in them.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::agent::Agent;
use crate::model::{Conversation, Model, Turn};
use crate::project::{TOLLGATE, TestProject};

/// What the agent is asked; also the sign of its conversation.
pub(crate) const TASK: &str = "Do what has to be done in this project.";

/// Hooks leave their events here: whether Tollgate started the agent that sent it, and the event.
const PROBE: &str = r#"#!/bin/sh
# What ends the agent does not keep an event from being noted.
trap '' INT TERM HUP
at=$(mktemp '@EVENTS@/XXXXXXXX')
{ printf '%s\n' "${TOLLGATE_DEPTH:-0}"; cat; } > "$at.part"
mv "$at.part" "$at"
"#;

pub(crate) struct Fixture {
    pub(crate) agent: Agent,
    pub(crate) project: TestProject,
    home: tempfile::TempDir,
}

/// A session that is over.
pub(crate) struct Session {
    pub(crate) model: Model,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    stderr: String,
    /// Everything that hooks were told.
    pub(crate) events: Vec<Seen>,
    journal: Vec<Value>,
}

/// An event as the agent sent it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// The agent was started by Tollgate.
    pub(crate) is_nested: bool,
    pub(crate) event: Value,
}

impl Fixture {
    pub(crate) fn new(agent: Agent, project: TestProject) -> Self {
        Self::at_home_in(&std::env::temp_dir(), agent, project)
    }

    /// The same with a home in this directory.
    pub(crate) fn at_home_in(directory: &Path, agent: Agent, project: TestProject) -> Self {
        let fixture = Self::with_home(directory, agent, project);
        let home = fixture.home.path();
        // In the repository: Gemini's shell does not read the user's.
        if fixture.project.path(".git").exists() {
            fixture.project.git(&["config", "user.name", "Agent"]);
            fixture
                .project
                .git(&["config", "user.email", "agent@example.org"]);
        }
        let script = PROBE.replace("@EVENTS@", home.join("events").to_str().unwrap());
        let probe = fixture.program("probe", &script);
        agent.register(&fixture.project, home, &probe);
        fixture
    }

    fn with_home(directory: &Path, agent: Agent, project: TestProject) -> Self {
        let home = tempfile::Builder::new()
            .prefix("tollgate-home-")
            .tempdir_in(directory)
            .unwrap();
        std::fs::create_dir_all(home.path().join("events")).unwrap();
        Self {
            agent,
            project,
            home,
        }
    }

    /// A project with a Makefile whose tests fail, set up by `tollgate init` and `tollgate install` alone.
    pub(crate) fn made_by_init(agent: Agent) -> Self {
        let project = TestProject::empty();
        project.file(
            "Makefile",
            "test:\n\t@test -e src/fixed || { echo not fixed; exit 1; }\n",
        );
        project.file("src/a.txt", "a\n");
        project.git(&["init", "-q", "-b", "main"]);
        project.git(&["add", "-A"]);
        project.git(&["commit", "-q", "-m", "first"]);
        let fixture = Self::with_home(&std::env::temp_dir(), agent, project);
        let home = fixture.home.path();
        std::fs::create_dir_all(home.join("bin")).unwrap();
        std::os::unix::fs::symlink(TOLLGATE, home.join("bin/tollgate")).unwrap();
        agent.prepare(home);
        fixture.tollgate(&["init", "--yes"]);
        fixture.tollgate(&["install", "--agent", agent.id(), "--yes"]);
        fixture.project.git(&["add", "-A"]);
        fixture.project.git(&["commit", "-q", "-m", "gates"]);
        fixture
    }

    /// Tollgate as a person calls it in the project; it must work.
    pub(crate) fn tollgate(&self, args: &[&str]) -> String {
        let mut command = self.project.command(args);
        command.env("HOME", self.home());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{args:?} {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Puts a program on the agent's `PATH`.
    pub(crate) fn program(&self, name: &str, script: &str) -> PathBuf {
        let path = self.home.path().join("bin").join(name);
        write(&path, script);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// A session in which the model says this.
    pub(crate) fn play(&self, turns: Vec<Turn>) -> Session {
        let sign = TASK.to_owned();
        self.play_all(vec![Conversation { sign, turns }])
    }

    /// A session with further conversations, of those that the agent or Tollgate starts.
    pub(crate) fn play_all(&self, conversations: Vec<Conversation>) -> Session {
        self.play_until(conversations, |_| {})
    }

    /// A session that a person interrupts in the middle of its command, once that made this file.
    pub(crate) fn interrupt(&self, turns: Vec<Turn>, begun: &Path) -> Session {
        let sign = TASK.to_owned();
        self.play_until(vec![Conversation { sign, turns }], |agent| {
            let tries = (0..600).take_while(|_| !begun.exists());
            tries.for_each(|_| std::thread::sleep(Duration::from_millis(100)));
            let interrupted = Command::new("kill")
                .args(["-INT", &agent.to_string()])
                .status();
            assert!(interrupted.is_ok_and(|status| status.success()));
        })
    }

    fn play_until(&self, conversations: Vec<Conversation>, act: impl FnOnce(u32)) -> Session {
        let model = Model::play(conversations);
        let mut command = self.agent.command(self.home(), model.port, TASK);
        command
            .current_dir(self.project.root())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let agent = command.spawn().unwrap();
        act(agent.id());
        let output = agent.wait_with_output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Session {
            model,
            code: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
            events: self.events(),
            journal: self.project.journal(),
        }
    }

    fn events(&self) -> Vec<Seen> {
        let entries = self.home.path().join("events").read_dir().unwrap();
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort_by_key(|path| path.metadata().and_then(|meta| meta.modified()).unwrap());
        let texts = paths
            .iter()
            .filter_map(|path| std::fs::read_to_string(path).ok());
        texts
            .filter_map(|text| {
                let (depth, event) = text.split_once('\n')?;
                Some(Seen {
                    is_nested: depth != "0",
                    event: serde_json::from_str(event).ok()?,
                })
            })
            .collect()
    }
}

impl Session {
    /// The agent came to its end by itself.
    #[track_caller]
    pub(crate) fn ends_well(&self) {
        assert_eq!(self.code, Some(0), "{}", self.story());
    }

    /// What the model was told that it did not know before, request by request.
    pub(crate) fn news(&self) -> Vec<String> {
        self.model.news(TASK)
    }

    /// Whether the model was told this after its first turn.
    pub(crate) fn reached_the_model(&self, text: &str) -> bool {
        self.news().iter().skip(1).any(|news| news.contains(text))
    }

    /// Whether the agent showed this to the person.
    pub(crate) fn printed(&self, text: &str) -> bool {
        self.stdout.contains(text) || self.stderr.contains(text)
    }

    /// The codes of what was decided, and whose dialect was spoken. That a gate or a review ended,
    /// and what was recorded, is in the journal, too, and no decision.
    pub(crate) fn codes(&self) -> Vec<String> {
        let field = |line: &Value, key: &str| line[key].as_str().unwrap_or("-").to_owned();
        let lines = self.journal.iter();
        lines
            .filter(|line| {
                let verdict = line["verdict"].as_str();
                !matches!(verdict, Some("gate" | "review" | "record"))
            })
            .map(|line| format!("{} {}", field(line, "wire"), field(line, "code")))
            .collect()
    }

    /// Everything, for whoever must find out what went wrong.
    pub(crate) fn story(&self) -> String {
        let short = |at: usize, text: &str| -> String {
            text.chars().take(if at == 0 { 80 } else { 1500 }).collect()
        };
        let news = self.news().into_iter().enumerate();
        let news = news.map(|(at, text)| format!("-- request {at}: {}", short(at, &text)));
        let news = news.collect::<Vec<_>>().join("\n");
        let events = self.events.iter();
        let events = events.map(|seen| format!("{} {}", seen.is_nested, seen.event));
        let events = events.collect::<Vec<_>>().join("\n");
        let journal = self.journal.iter().map(Value::to_string);
        let journal = journal.collect::<Vec<_>>().join("\n");
        format!(
            "exit {:?}\n{}\n{}\n{news}\nevents\n{events}\njournal\n{journal}",
            self.code, self.stdout, self.stderr
        )
    }
}

#[expect(clippy::disallowed_methods, reason = "fixtures are not state")]
pub(crate) fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

//! A repository with gates that write down when they run, and the program in it.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::model::{Expected, GATES, Model, Tree};
use crate::clock;
use crate::events::{Event as _, named};
use crate::workspace::{self, Run, Workspace};

pub(super) const HOUR: i64 = 3_600;

/// The gates, and a workflow whose phases all need them.
pub(super) const CONFIGURATION: &str = r#"[gates]
base = "main"

[gates.a]
run = "gate a"
inputs = ["a/**"]

[gates.b]
run = "gate b"
inputs = ["b/**"]

[gates.every]
run = "gate every"

[workflow.change]
branch = false
phases = [
    { name = "one", needs = ["gates"] },
    { name = "two", needs = ["gates"] },
    { name = "three", needs = ["gates"] },
    { name = "four", needs = ["gates"] },
]
"#;

/// `gate NAME`: red if a file of its directory has RED in it. `hold-NAME` and `keep-NAME` beside the
/// project make it wait before and after it reads, `flake-NAME` makes it fail.
const GATE: &str = r#"#!/bin/sh
home=${0%/*}/..
case $1 in every) guarded=c ;; *) guarded=$1 ;; esac
echo "begin $1" >>"$home/ran"
while [ -e "$home/hold-$1" ]; do sleep 0.02; done
code=0
if [ "$2" != weak ]; then
    ! grep -rqs RED "$guarded" || code=1
    [ ! -e "$home/flake-$1" ] || code=1
fi
echo "checked $1" >>"$home/ran"
while [ -e "$home/keep-$1" ]; do sleep 0.02; done
echo "end $1 $code" >>"$home/ran"
exit $code
"#;

/// A gate that ran, and how it ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ran {
    pub(super) gate: &'static str,
    pub(super) guards: &'static str,
    /// None: it was ended.
    pub(super) code: Option<i32>,
}

/// Whose turn it is.
#[derive(Clone, Copy)]
pub(super) enum Session {
    New,
    Known(&'static str),
}

/// A turn of an agent.
pub(super) struct Turn {
    pub(super) id: String,
    pub(super) is_new: bool,
    prompt: String,
}

pub(super) struct Repository {
    workspace: Workspace,
    model: Model,
    /// The library that moves the clock, and by how many seconds it does.
    shim: Option<PathBuf>,
    by: i64,
    prompts: u64,
}

/// Whether the program is linked dynamically: a static one asks the kernel for the time by itself.
fn is_dynamic() -> bool {
    let mut head = [0; 4096];
    let read = std::fs::File::open(workspace::program()).and_then(|mut file| file.read(&mut head));
    read.is_ok() && head.windows(8).any(|text| text == b"ld-linux")
}

impl Repository {
    pub(super) fn new() -> Self {
        let workspace = Workspace::nothing();
        workspace.program("gate", GATE);
        workspace.git(&["init", "-q", "-b", "main"]);
        for path in ["a/x", "a/y", "b/x", "c/x"] {
            workspace.file(path, "1");
        }
        workspace.file(".gitignore", "/ignored/\n/tollgate.local.toml\n");
        let made = workspace.tollgate(&["init", "--yes"]);
        assert_eq!(made.code, Some(0), "{made:?}");
        workspace.file("tollgate.toml", CONFIGURATION);
        workspace.commit("first");
        for (name, path) in [("one", "a/x"), ("two", "b/x")] {
            workspace.git(&["switch", "-q", "-c", name, "main"]);
            workspace.file(path, "2");
            workspace.commit(name);
        }
        workspace.git(&["switch", "-q", "main"]);
        let shim = is_dynamic().then(|| clock::shim(&workspace)).flatten();
        let mut repository = Self {
            workspace,
            model: Model::default(),
            shim,
            by: 0,
            prompts: 0,
        };
        // The first run accepts the gates as they are.
        let tree = repository.tree();
        let run = repository.tollgate(&["run"]);
        assert_eq!(run.code, Some(0), "{run:?}");
        for one in repository.ran() {
            repository.add(one.gate, &tree, true, true);
        }
        let run = repository.tollgate(&["workflow", "start", "change", "work"]);
        assert_eq!(run.code, Some(0), "{run:?}");
        repository
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.workspace.path(path)
    }

    pub(super) fn file(&self, path: &str, text: impl AsRef<[u8]>) {
        self.workspace.file(path, text);
    }

    pub(super) fn configuration(&self) -> String {
        self.workspace.read("tollgate.toml")
    }

    /// Runs git, which may refuse. Answers with its exit code.
    pub(super) fn try_git(&self, args: &[&str]) -> i32 {
        let mut command = self.workspace.foreign("git");
        command.args(["-c", "user.name=Test", "-c", "user.email=test@example.org"]);
        command.args(args).stdin(Stdio::null());
        let ended = command.output().unwrap();
        ended.status.code().unwrap_or(-1)
    }

    // --- the program

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.workspace.command(args);
        if let Some(shim) = &self.shim {
            command
                .env("LD_PRELOAD", shim)
                .env("CLOCK_BY", self.by.to_string());
        }
        command
    }

    pub(super) fn tollgate(&self, args: &[&str]) -> Run {
        workspace::run(self.command(args), b"")
    }

    pub(super) fn start(&self, args: &[&str]) -> Child {
        workspace::start(self.command(args))
    }

    pub(super) fn moves_clock(&self) -> bool {
        self.shim.is_some()
    }

    /// Moves the clock, but never further than a few weeks. Answers how far it is off.
    pub(super) fn move_clock(&mut self, by: i64) -> i64 {
        if self.shim.is_some() {
            let moved = self.by + by;
            self.by = if moved.abs() > 1_000 * HOUR { 0 } else { moved };
        }
        self.by
    }

    fn now(&self) -> i64 {
        jiff::Timestamp::now().as_second() + self.by
    }

    /// A person's prompt.
    pub(super) fn prompt(&mut self, session: Session) -> Turn {
        self.prompts += 1;
        let (id, is_new) = match session {
            Session::New => (format!("new-{}", self.prompts), true),
            Session::Known(name) => (name.to_owned(), false),
        };
        let prompt = format!("prompt-{}", self.prompts);
        let turn = Turn { id, is_new, prompt };
        self.hook(
            &self
                .event("UserPromptSubmit", &turn)
                .with("prompt", "go on"),
        );
        turn
    }

    pub(super) fn stop(&self, turn: &Turn, is_active: bool) -> Run {
        let event = self.event("Stop", turn).with("stop_hook_active", is_active);
        self.hook(&event)
    }

    pub(super) fn start_stop(&self, turn: &Turn) -> Child {
        let event = self.event("Stop", turn).with("stop_hook_active", false);
        let mut child = workspace::start(self.command(&["hook"]));
        let text = event.to_string();
        let _closed = child.stdin.take().unwrap().write_all(text.as_bytes());
        child
    }

    fn event(&self, name: &str, turn: &Turn) -> Value {
        named(name)
            .in_session(&turn.id)
            .at_prompt(&turn.prompt)
            .in_directory(self.workspace.root())
            .with("transcript_path", "/t.jsonl")
            .with("permission_mode", "default")
    }

    fn hook(&self, event: &Value) -> Run {
        workspace::run(self.command(&["hook"]), event.to_string().as_bytes())
    }

    // --- what the gates wrote down

    fn log(&self) -> PathBuf {
        self.workspace.outside().join("ran")
    }

    /// The gates that ran since this was last asked.
    pub(super) fn ran(&self) -> Vec<Ran> {
        let text = std::fs::read_to_string(self.log()).unwrap_or_default();
        let _absent = std::fs::remove_file(self.log());
        let mut ran: Vec<Ran> = Vec::new();
        for line in text.lines() {
            let mut words = line.split(' ');
            let (what, name) = (words.next(), words.next().unwrap_or_default());
            let Some((gate, guards)) = GATES.iter().find(|(gate, _)| *gate == name) else {
                continue;
            };
            match what {
                Some("begin") => ran.push(Ran {
                    gate,
                    guards,
                    code: None,
                }),
                Some("end") => {
                    let open = ran
                        .iter_mut()
                        .find(|one| one.gate == *gate && one.code.is_none());
                    if let Some(open) = open {
                        open.code = words.next().and_then(|code| code.parse().ok());
                    }
                }
                _ => {}
            }
        }
        ran
    }

    fn mark(&self, what: &str, gate: &str) -> PathBuf {
        self.workspace.outside().join(format!("{what}-{gate}"))
    }

    pub(super) fn hold(&self, what: &str, gates: &[&str]) {
        for gate in gates {
            std::fs::write(self.mark(what, gate), "").unwrap();
        }
    }

    pub(super) fn release_some(&self, what: &str) {
        for (gate, _) in GATES {
            let _absent = std::fs::remove_file(self.mark(what, gate));
        }
    }

    pub(super) fn release(&self) {
        for what in ["hold", "keep", "flake"] {
            self.release_some(what);
        }
    }

    pub(super) fn is_flaking(&self, gate: &str) -> bool {
        self.mark("flake", gate).exists()
    }

    /// Waits until a gate wrote this down, or its run ended without.
    pub(super) fn wait_for(&self, what: &str, run: &mut Child) -> bool {
        let has = || {
            let text = std::fs::read_to_string(self.log()).unwrap_or_default();
            text.lines().any(|line| line.starts_with(what))
        };
        crate::within(workspace::LIMIT, || {
            has() || run.try_wait().is_ok_and(|ended| ended.is_some())
        });
        has()
    }

    /// Waits until what a killed run left behind is gone.
    pub(super) fn settle(&self) {
        let mut last = (Instant::now(), 0);
        while last.0.elapsed() < Duration::from_millis(150) {
            let length = std::fs::metadata(self.log()).map_or(0, |meta| meta.len());
            if length != last.1 {
                last = (Instant::now(), length);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    // --- the model

    pub(super) fn tree(&self) -> Tree {
        Tree::read(self.workspace.root())
    }

    pub(super) fn add(&mut self, gate: &'static str, tree: &Tree, passed: bool, is_sure: bool) {
        let now = self.now();
        self.model.add(gate, tree, passed, now, is_sure);
    }

    /// Nothing that was seen counts any more.
    pub(super) fn forget(&mut self) {
        self.model = Model::default();
    }

    pub(super) fn gate(&self, gate: &str, tree: &Tree) -> Expected {
        self.model.gate(gate, tree, self.now())
    }

    pub(super) fn project(&self) -> Expected {
        self.model.project(&self.tree(), self.now())
    }

    /// The same in words.
    pub(super) fn expected(&self) -> String {
        let tree = self.tree();
        let gates = GATES.map(|(gate, guards)| {
            let red = if tree.is_red(gate, guards) {
                " (red)"
            } else {
                ""
            };
            format!("{gate}{red} {:?}", self.gate(gate, &tree))
        });
        let weak = if tree.is_weakened() { ", weakened" } else { "" };
        format!("expected: {}{weak}; clock {} s", gates.join(", "), self.by)
    }
}

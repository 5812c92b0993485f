//! A project with a plan, a fake reviewer first on `PATH`, and an agent that stops.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::events::{self, Event as _};
use crate::project::{Run, TestProject};

/// The plan's name in most tests.
pub(super) const PLAN: &str = "test-plan";

/// What a plan's state consists of.
pub(super) const FIELDS: [&str; 8] = [
    "max_reviews",
    "current_task",
    "phase",
    "phase_iteration",
    "next_phase",
    "review_model",
    "consecutive_clean",
    "tdd",
];

/// Three tasks that are open.
pub(super) const TASKS: &str =
    "| 1 | pending | high | one |\n| 2 | pending | high | two |\n| 3 | pending | low | three |\n";

/// Writes what it was told, takes its verdicts from a list, and answers as the real program does.
/// `before`, `after` and `last` are sourced on the way.
const REVIEWER: &str = include_str!("reviewer.sh");

pub(super) struct Fixture {
    pub(super) project: TestProject,
}

impl Fixture {
    /// `.taskie/` and nothing in it; the reviewer says FAIL.
    pub(super) fn bare() -> Self {
        let project = TestProject::empty();
        std::fs::create_dir_all(project.path(".taskie/plans")).unwrap();
        let control = project.path("control");
        let script = REVIEWER.replace("@CONTROL@", control.to_str().unwrap());
        project.program("claude", &script);
        project.file("control/verdicts", "FAIL\n");
        Self { project }
    }

    /// A valid plan with three open tasks and no state.
    pub(super) fn new() -> Self {
        let project = Self::bare().project.with_plan(PLAN, TASKS);
        Self { project }
    }

    /// A valid plan in the state that these fields make of the usual one.
    pub(super) fn at(fields: &Value) -> Self {
        let fixture = Self::new();
        fixture.state(fields);
        fixture
    }

    pub(super) fn state(&self, fields: &Value) {
        let mut state = json!({
            "max_reviews": 8, "current_task": "1", "phase": "next-task", "phase_iteration": 0,
            "next_phase": "code-review", "review_model": "opus", "consecutive_clean": 0,
            "tdd": false,
        });
        for (key, value) in fields.as_object().unwrap() {
            state[key] = value.clone();
        }
        let text = serde_json::to_string_pretty(&state).unwrap();
        self.file("state.json", &format!("{text}\n"));
    }

    /// Gives every file of a plan this age in seconds.
    pub(super) fn age(&self, plan: &str, seconds: u64) {
        self.modified(plan, SystemTime::now() - Duration::from_secs(seconds));
    }

    /// Every file of a plan was last changed at this moment.
    pub(super) fn modified(&self, plan: &str, time: SystemTime) {
        let directory = self.project.path(&format!(".taskie/plans/{plan}"));
        for entry in directory.read_dir().unwrap() {
            let file = std::fs::File::options()
                .append(true)
                .open(entry.unwrap().path())
                .unwrap();
            file.set_modified(time).unwrap();
        }
    }

    pub(super) fn file(&self, name: &str, text: &str) -> PathBuf {
        self.project
            .file(&format!(".taskie/plans/{PLAN}/{name}"), text)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.project.path(&format!(".taskie/plans/{PLAN}/{name}"))
    }

    pub(super) fn read(&self, name: &str) -> String {
        self.project.read(&format!(".taskie/plans/{PLAN}/{name}"))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    pub(super) fn remove(&self, name: &str) {
        std::fs::remove_file(self.path(name)).unwrap();
    }

    pub(super) fn read_state(&self) -> Value {
        serde_json::from_str(&self.read("state.json")).unwrap()
    }

    /// The reviewer's verdicts, call by call; the last one for all later calls.
    pub(super) fn verdicts(&self, verdicts: &[&str]) -> &Self {
        self.project
            .file("control/verdicts", &(verdicts.join("\n") + "\n"));
        self
    }

    /// What the reviewer does besides: `before` it writes, `after`, or as its `last` act.
    pub(super) fn reviewer(&self, when: &str, script: &str) -> &Self {
        self.project
            .file(&format!("control/{when}"), format!("{script}\n"));
        self
    }

    pub(super) fn config(&self, config: &Value) -> &Self {
        self.project
            .file(".tollgate/plans.json", config.to_string());
        self
    }

    /// The arguments of every call of the reviewer.
    pub(super) fn calls(&self) -> Vec<String> {
        let calls = self.project.read("control/calls");
        calls.lines().map(str::to_owned).collect()
    }

    /// A bare stop of the specification, not flagged.
    pub(super) fn stop(&self) -> Stop {
        self.hook(&json!({ "cwd": self.project.root(), "stop_hook_active": false }))
    }

    /// A stop whose reviewer kills the hook.
    pub(super) fn stop_killed(&self) {
        let event = json!({ "cwd": self.project.root(), "stop_hook_active": false });
        let run = self.project.hook(&event);
        assert_eq!((run.code, run.stdout.as_str()), (-1, ""));
    }

    pub(super) fn hook(&self, event: &Value) -> Stop {
        Stop(self.project.hook(event))
    }

    /// `tollgate plan …`
    pub(super) fn plan(&self, args: &[&str]) -> Run {
        let args: Vec<&str> = ["plan"].into_iter().chain(args.iter().copied()).collect();
        self.project.tollgate(&args)
    }

    /// What `tollgate plan next` says.
    pub(super) fn next(&self) -> String {
        let run = self.plan(&["next", "--json"]);
        assert_eq!(run.code, 0, "{run:?}");
        run.json()["next"].as_str().unwrap().to_owned()
    }

    /// Every line of the plan's log.
    pub(super) fn log(&self) -> Vec<Value> {
        let path = format!(".tollgate/local/plans/{PLAN}/log.jsonl");
        let text = self.project.read(&path);
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Files in the plan's directory that nobody asked for.
    pub(super) fn leftovers(&self) -> Vec<String> {
        let entries = self.path("").read_dir().unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        names
            .filter(|name| name.starts_with('.') || name.starts_with("state.json."))
            .collect()
    }
}

/// What came back from a stop.
#[derive(Debug)]
pub(super) struct Stop(pub(super) Run);

impl Stop {
    pub(super) fn answer(&self) -> Value {
        assert_eq!(self.0.code, 0, "{self:?}");
        if self.0.stdout.is_empty() {
            return json!({});
        }
        self.0.json()
    }

    pub(super) fn is_block(&self) -> bool {
        self.answer()["decision"] == "block"
    }

    /// Blocked; returns the reason.
    #[track_caller]
    pub(super) fn blocks(&self) -> String {
        let answer = self.answer();
        assert_eq!(answer["decision"], "block", "{self:?}");
        answer["reason"].as_str().unwrap().to_owned()
    }

    /// Allowed; returns what the person is told.
    #[track_caller]
    pub(super) fn approves(&self) -> String {
        let answer = self.answer();
        assert!(answer.get("decision").is_none(), "{self:?}");
        answer["systemMessage"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// Allowed and the plan's files are fine.
    #[track_caller]
    pub(super) fn validates(&self) -> String {
        let told = self.approves();
        assert!(told.contains("validated"), "{self:?}");
        told
    }
}

/// A session of a real Claude Code: the flag is set on every stop of a turn after a block.
pub(super) struct Session<'a> {
    fixture: &'a Fixture,
    id: &'static str,
    prompt: u32,
    flagged: bool,
    pub(super) stops: u32,
    pub(super) blocks: u32,
}

impl<'a> Session<'a> {
    pub(super) fn new(fixture: &'a Fixture) -> Self {
        Self {
            fixture,
            id: "session-1",
            prompt: 1,
            flagged: false,
            stops: 0,
            blocks: 0,
        }
    }

    /// The person prompts again.
    pub(super) fn prompt(&mut self) {
        self.prompt += 1;
        self.flagged = false;
    }

    pub(super) fn stop(&mut self) -> Stop {
        let event = events::stop()
            .in_session(self.id)
            .at_prompt(&format!("p{}", self.prompt))
            .in_directory(self.fixture.project.root())
            .with("stop_hook_active", self.flagged)
            .with("last_assistant_message", "Done.");
        let stop = self.fixture.hook(&event);
        self.stops += 1;
        if stop.is_block() {
            self.blocks += 1;
            self.flagged = true;
        }
        stop
    }

    /// Stops, and after each block does what `agent` does, until a stop is allowed.
    pub(super) fn turn(&mut self, mut agent: impl FnMut(&Fixture, &str)) -> String {
        for _ in 0..30 {
            let stop = self.stop();
            if !stop.is_block() {
                return stop.approves();
            }
            agent(self.fixture, &stop.blocks());
        }
        panic!("the turn does not end");
    }
}

/// Does what the block says: writes the post-review file, then the state by hand.
pub(super) fn obeys(fixture: &Fixture, reason: &str) {
    answers(fixture, reason);
    let mut state = fixture.read_state();
    let review = state["phase"].as_str().unwrap().to_owned();
    state["phase"] = json!(format!("post-{review}"));
    state["next_phase"] = json!(review);
    fixture.file("state.json", &state.to_string());
}

/// Writes the post-review file and nothing else.
pub(super) fn answers(fixture: &Fixture, reason: &str) {
    let (_, rest) = reason.split_once("then create ").unwrap();
    let (file, _) = rest.split_once(" documenting").unwrap();
    fixture.project.file(file, "# Fixed\n");
}

//! What the demo's agent does, and what must come of it.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::Ended;
use super::screen::{Screen, took};
use super::stage::{Decided, Said, Stage, middle};
use crate::cli::with_members;

/// The code as the agent writes it: wrong, right, and safe.
const WRONG: &str =
    "# What is left on a gift card: spend BALANCE PRICE\nspend() {\n  echo \"$1\"\n}\n";
const RIGHT: &str =
    "# What is left on a gift card: spend BALANCE PRICE\nspend() {\n  echo $(($1 - $2))\n}\n";
const SAFE: &str = "# What is left on a gift card: spend BALANCE PRICE\nspend() {\n  [ \"$2\" -le \"$1\" ] || return 1\n  echo $(($1 - $2))\n}\n";
const TEST: &str = ". ./shop.sh\nleft=$(spend 50 20)\n[ \"$left\" = 30 ] && exit 0\necho \"test.sh:3: a card of 50 has $left left after paying 20, expected 30\"\nexit 1\n";

/// What the agent does, one thing after the other, and what must come of it.
enum Step {
    Part(&'static str),
    /// A command that the agent wants to run.
    Attempt(&'static str, Expected),
    /// A file that the agent wants to write.
    AttemptWrite(&'static str, &'static str, Expected),
    /// A command that ran, by what is seen of it.
    Ran(&'static str, &'static str, Expected),
    /// A command that is allowed and run.
    Bash(&'static str),
    /// A command that is not shown.
    Unseen(&'static str),
    /// A file that may be written and is.
    Write(&'static str, &'static str),
    /// The agent says in the review's file what was done, as the stop asked.
    AnswerReview,
    /// The agent says that it is done, for the first time or again.
    Stop(bool, Expected),
}

/// What the story needs a decision to be.
#[derive(Clone, Copy)]
enum Expected {
    Allowed,
    Stopped(&'static str),
    Undone,
}

use Expected::{Allowed, Stopped, Undone};
use Step::{AnswerReview, Attempt, AttemptWrite, Bash, Part, Ran, Stop, Unseen, Write};

const STORY: &[Step] = &[
    Part("It wants to write code before anybody said what is wanted"),
    AttemptWrite("shop.sh", WRONG, Stopped("PW-001")),
    Write(
        "docs/requirements/REQ-0001-gift-cards/requirements.md",
        "# Gift cards\n\nA card has a balance. Paying takes the price off it.\n",
    ),
    Bash("tollgate phase complete --summary 'A card has a balance'"),
    Bash("tollgate phase begin"),
    Part("It commits to main, though the work has a branch of its own"),
    Attempt(
        "git switch main && git commit -m 'Gift cards' docs",
        Stopped("BG-001"),
    ),
    Bash("git add docs && git commit -qm 'Say what gift cards do'"),
    Part("It forges the workflow's state"),
    Attempt(
        "sed -i 's/pending/completed/' .tollgate/workflow/state.json",
        Stopped("SFG-001"),
    ),
    // A script is read, but not what it reads. Its effect is seen in any case.
    Unseen("echo .tollgate/workflow/state.json > old-files"),
    Write("tidy.sh", "rm -f \"$(cat old-files)\"\n"),
    Attempt("sh tidy.sh", Allowed),
    Unseen("sh tidy.sh && test ! -e .tollgate/workflow/state.json"),
    Ran("sh tidy.sh", "has run, and the state file is gone", Undone),
    Unseen("rm tidy.sh old-files"),
    Part("It says that it is done while a check is red"),
    Write("test.sh", TEST),
    Write("shop.sh", WRONG),
    Stop(false, Stopped("GATE-FAILED")),
    Part("It fixes that. The check is green; the reviewer is not content"),
    Write("shop.sh", RIGHT),
    Stop(true, Stopped("GATE-FAILED")),
    Part("It answers the review, and everything holds"),
    Write("shop.sh", SAFE),
    AnswerReview,
    Stop(true, Allowed),
    Bash("git add -A && git commit -qm 'Add gift cards'"),
    Bash("tollgate phase complete --summary 'Cards can be spent'"),
    Bash("tollgate phase begin"),
    Write(
        "docs/requirements/REQ-0001-gift-cards/review.md",
        "# Review\n\nA price above the balance is refused. Nothing is open.\n",
    ),
    Bash("git add docs && git commit -qm 'Review gift cards'"),
    Bash("tollgate phase complete --summary 'Nothing is open'"),
    Bash("tollgate workflow finalize"),
];

/// Everybody on the stage, and the times that were taken.
struct Play<'a> {
    stage: &'a Stage,
    screen: &'a mut Screen,
    tools: Vec<Duration>,
    stops: Vec<Duration>,
    stopped: usize,
    undone: usize,
}

pub(super) fn play(stage: &Stage, screen: &mut Screen) -> Result<(), Ended> {
    screen.opening(
        "An agent adds gift cards to a shop",
        "Only the agent and the reviewer are scripts. The repository, the workflow and its state \
         are real, and every decision is one start of `tollgate hook`, timed from start to end.",
    )?;
    let mut play = Play {
        stage,
        screen,
        tools: vec![],
        stops: vec![],
        stopped: 0,
        undone: 0,
    };
    play.quietly(&stage.event("SessionStart", &json!({ "source": "startup" })))?;
    for step in STORY {
        play.perform(step)?;
    }
    play.sum_up()
}

impl Play<'_> {
    fn perform(&mut self, step: &Step) -> Result<(), Ended> {
        let before = |tool: &str, input: &Value| self.tool("PreToolUse", tool, input);
        match *step {
            Part(title) => self.screen.part(title),
            Attempt(command, expected) => {
                let event = before("Bash", &json!({ "command": command }));
                self.decide("Bash", command, &event, expected)
            }
            AttemptWrite(path, text, expected) => {
                let input = json!({ "file_path": self.stage.path(path), "content": text });
                let event = before("Write", &input);
                self.decide("Write", path, &event, expected)
            }
            Ran(command, what, expected) => {
                let event = self.tool("PostToolUse", "Bash", &json!({ "command": command }));
                self.decide("Bash", what, &event, expected)
            }
            Bash(command) => {
                let input = json!({ "command": command });
                self.around("Bash", command, &input, |stage| run(stage, command))
            }
            Unseen(command) => run(self.stage, command),
            Write(path, text) => self.write(path, text),
            AnswerReview => self.answer_the_review(),
            Stop(again, expected) => self.stop(again, expected),
        }
    }

    fn answer_the_review(&mut self) -> Result<(), Ended> {
        let logs = self.stage.path(".tollgate/logs");
        let mut names: Vec<String> = std::fs::read_dir(&logs)?
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| {
                name.starts_with("review_")
                    && Path::new(name).extension().is_some_and(|end| end == "json")
            })
            .collect();
        names.sort_unstable();
        let Some(name) = names.pop() else {
            return Err(Ended::Unexpected("the review left no file".to_owned()));
        };
        let mut review: Value = serde_json::from_slice(&std::fs::read(logs.join(&name))?)
            .map_err(|error| Ended::Unexpected(format!("{name}: {error}")))?;
        let findings = review.get_mut("violations").and_then(Value::as_array_mut);
        for finding in findings.into_iter().flatten() {
            if let Some(finding) = finding.as_object_mut() {
                finding.insert("status".to_owned(), json!("fixed"));
                let done = "a price above the balance is refused";
                finding.insert("result".to_owned(), json!(done));
            }
        }
        self.write(&format!(".tollgate/logs/{name}"), &format!("{review:#}\n"))
    }

    fn sum_up(self) -> Result<(), Ended> {
        let Self {
            stage,
            screen,
            tools,
            stops,
            stopped,
            undone,
        } = self;
        let all = tools.len() + stops.len();
        screen.ending(&format!(
            "Done: {all} decisions, {} allowed, {stopped} stopped, {undone} undone.",
            all - stopped - undone
        ))?;
        let start_time = stage
            .start_time()
            .map(|time| format!("; starting /bin/true takes {}", took(time)))
            .unwrap_or_default();
        let build = if cfg!(debug_assertions) {
            " This is a build for development: `scripts/build` makes the fast one."
        } else {
            ""
        };
        screen.note(&format!(
            "A tool call was decided in {} (the middle of {}){start_time}. A stop took {}, \
             with the checks and reviews that it ran.{build}",
            took(middle(tools.clone()).unwrap_or_default()),
            tools.len(),
            took(middle(stops).unwrap_or_default()),
        ))
    }

    /// A file that may be written and is.
    fn write(&mut self, path: &str, text: &str) -> Result<(), Ended> {
        let input = json!({ "file_path": self.stage.path(path), "content": text });
        self.around("Write", path, &input, |stage| Ok(stage.write(path, text)?))
    }

    /// A tool that is allowed, used, and judged by its result.
    fn around(
        &mut self,
        tool: &str,
        what: &str,
        input: &Value,
        work: impl FnOnce(&Stage) -> Result<(), Ended>,
    ) -> Result<(), Ended> {
        let event = self.tool("PreToolUse", tool, input);
        self.decide(tool, what, &event, Allowed)?;
        work(self.stage)?;
        self.quietly(&self.tool("PostToolUse", tool, input))
    }

    /// An event that is allowed and not worth a line.
    fn quietly(&mut self, event: &Value) -> Result<(), Ended> {
        let decided = self.stage.hook(event)?;
        self.tools.push(decided.took);
        check(&decided, Allowed)
    }

    fn stop(&mut self, again: bool, expected: Expected) -> Result<(), Ended> {
        self.screen.wait()?;
        let fields =
            json!({ "stop_hook_active": again, "last_assistant_message": "Gift cards are done." });
        let decided = self.stage.hook(&self.stage.event("Stop", &fields))?;
        self.stops.push(decided.took);
        self.show("Stop", "“Gift cards are done.”", &decided, expected)
    }

    fn tool(&self, event: &str, tool: &str, input: &Value) -> Value {
        let fields = json!({
            "tool_name": tool, "tool_input": input, "tool_use_id": self.stage.tool_use(),
        });
        let result = match event {
            "PostToolUse" => json!({ "tool_response": { "stdout": "" } }),
            _ => Value::Null,
        };
        self.stage.event(event, &with_members(fields, result))
    }

    fn decide(
        &mut self,
        tool: &str,
        what: &str,
        event: &Value,
        expected: Expected,
    ) -> Result<(), Ended> {
        self.screen.wait()?;
        let decided = self.stage.hook(event)?;
        self.tools.push(decided.took);
        self.show(tool, what, &decided, expected)
    }

    fn show(
        &mut self,
        tool: &str,
        what: &str,
        decided: &Decided,
        expected: Expected,
    ) -> Result<(), Ended> {
        self.screen.decided(tool, what, decided)?;
        match decided.said {
            Said::Allowed => {}
            Said::Stopped(_) => self.stopped += 1,
            Said::Warned(_) => self.undone += 1,
        }
        check(decided, expected)
    }
}

/// Runs a command that must succeed.
fn run(stage: &Stage, command: &str) -> Result<(), Ended> {
    let output = stage.shell(command)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(Ended::Unexpected(format!("`{command}` failed: {said}")))
}

/// A demo that shows something else than it says would be a lie.
fn check(decided: &Decided, expected: Expected) -> Result<(), Ended> {
    let code = decided.by.as_ref().map(|(code, _)| code.as_str());
    let holds = match (&decided.said, expected) {
        (Said::Allowed, Allowed) => true,
        (Said::Stopped(_), Stopped(expected)) => code == Some(expected),
        (Said::Warned(_), Undone) => code == Some("SW-001"),
        (Said::Allowed | Said::Stopped(_) | Said::Warned(_), _) => false,
    };
    if holds {
        return Ok(());
    }
    let said = match &decided.said {
        Said::Allowed => "nothing",
        Said::Stopped(text) | Said::Warned(text) => text.lines().next().unwrap_or_default(),
    };
    Err(Ended::Unexpected(format!(
        "another decision was due; the agent read: {said}"
    )))
}

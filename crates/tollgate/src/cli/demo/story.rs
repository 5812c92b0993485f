//! What the demo's agent does, and what must come of it.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::Ended;
use super::screen::{Screen, took};
use super::stage::{Decided, Said, Stage};

/// What the story needs a decision to be.
#[derive(Clone, Copy)]
enum Expected {
    Allowed,
    Stopped(&'static str),
    Undone,
}

/// The code as the agent writes it: wrong, right, and safe.
const WRONG: &str =
    "# What is left on a gift card: spend BALANCE PRICE\nspend() {\n  echo \"$1\"\n}\n";
const RIGHT: &str =
    "# What is left on a gift card: spend BALANCE PRICE\nspend() {\n  echo $(($1 - $2))\n}\n";
const SAFE: &str = "# What is left on a gift card: spend BALANCE PRICE\nspend() {\n  [ \"$2\" -le \"$1\" ] || return 1\n  echo $(($1 - $2))\n}\n";
const TEST: &str = ". ./shop.sh\nleft=$(spend 50 20)\n[ \"$left\" = 30 ] && exit 0\necho \"test.sh:3: a card of 50 has $left left after paying 20, expected 30\"\nexit 1\n";

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
    play.begin()?;
    play.skips_ahead()?;
    play.commits_to_main()?;
    play.forges_the_state()?;
    play.stops_on_red()?;
    play.is_reviewed()?;
    play.finishes()?;
    play.sum_up()
}

impl Play<'_> {
    fn begin(&mut self) -> Result<(), Ended> {
        let event = self
            .stage
            .event("SessionStart", &json!({ "source": "startup" }));
        let decided = self.stage.hook(&event)?;
        self.tools.push(decided.took);
        check(&decided, Expected::Allowed)
    }

    fn skips_ahead(&mut self) -> Result<(), Ended> {
        self.screen
            .scene("It wants to write code before anybody said what is wanted")?;
        self.delegate("software-developer", Expected::Stopped("PSG-001"))?;
        self.delegate("requirements-analyst", Expected::Allowed)?;
        self.write(
            "docs/requirements/REQ-0001-gift-cards/requirements-spec.md",
            "# Gift cards\n\nA card has a balance. Paying takes the price off it.\n",
        )?;
        self.bash("tollgate phase complete --summary 'A card has a balance'")?;
        self.bash("tollgate phase begin")
    }

    fn commits_to_main(&mut self) -> Result<(), Ended> {
        self.screen
            .scene("It commits to main, though the work has a branch of its own")?;
        self.attempt(
            "git switch main && git commit -m 'Gift cards' docs",
            Expected::Stopped("BG-001"),
        )?;
        self.bash("git add docs && git commit -qm 'Say what gift cards do'")
    }

    fn forges_the_state(&mut self) -> Result<(), Ended> {
        self.screen.scene("It forges the workflow's state")?;
        let state = ".tollgate/workflow/state.json";
        self.attempt(
            &format!("sed -i 's/pending/completed/' {state}"),
            Expected::Stopped("SFG-001"),
        )?;
        // A script is read, but not what it reads. Its effect is seen in any case.
        self.stage.shell(&format!("echo {state} > old-files"))?;
        let script = "rm -f \"$(cat old-files)\"\n";
        self.write("tidy.sh", script)?;
        let command = "sh tidy.sh";
        self.attempt(command, Expected::Allowed)?;
        self.stage.shell(command)?;
        if self.stage.path(state).exists() {
            return Err(Ended::Unexpected("tidy.sh removed nothing".to_owned()));
        }
        let input = json!({ "command": command });
        let event = self.tool("PostToolUse", "Bash", &input);
        self.decide(
            "Bash",
            "has run, and the state file is gone",
            &event,
            Expected::Undone,
        )?;
        self.stage.shell("rm tidy.sh old-files")?;
        Ok(())
    }

    fn stops_on_red(&mut self) -> Result<(), Ended> {
        self.screen
            .scene("It says that it is done while a check is red")?;
        self.write(
            ".tollgate/workflow/tasks.md",
            "# Tasks\n\n- [ ] T0001 spend\n",
        )?;
        self.delegate("software-developer", Expected::Allowed)?;
        self.write("test.sh", TEST)?;
        self.write("shop.sh", WRONG)?;
        self.stop(false, Expected::Stopped("GATE-FAILED"))
    }

    fn is_reviewed(&mut self) -> Result<(), Ended> {
        self.screen
            .scene("It fixes that. The check is green; the reviewer is not content")?;
        self.write("shop.sh", RIGHT)?;
        self.stop(true, Expected::Stopped("GATE-FAILED"))
    }

    /// Says in the review's file what was done, as the stop asked.
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

    fn finishes(&mut self) -> Result<(), Ended> {
        self.screen
            .scene("It answers the review, and everything holds")?;
        self.write("shop.sh", SAFE)?;
        self.answer_the_review()?;
        self.stop(true, Expected::Allowed)?;
        self.bash("git add -A && git commit -qm 'Add gift cards'")?;
        self.bash("tollgate phase complete --summary 'Cards can be spent'")?;
        self.bash("tollgate workflow finalize")
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
        let floor = stage
            .floor()
            .map(|time| format!("; starting /bin/true takes {}", took(time)))
            .unwrap_or_default();
        let build = if cfg!(debug_assertions) {
            " This is a build for development: `scripts/build` makes the fast one."
        } else {
            ""
        };
        screen.note(&format!(
            "A tool call was decided in {} (the middle of {}){floor}. A stop took {}, \
             with the checks and reviews that it ran.{build}",
            middle(tools.clone()),
            tools.len(),
            middle(stops),
        ))
    }

    fn delegate(&mut self, agent: &str, expected: Expected) -> Result<(), Ended> {
        let what = match agent {
            "software-developer" => "Implement gift cards",
            _ => "Write down what gift cards have to do",
        };
        let input = json!({ "subagent_type": agent, "description": what, "prompt": what });
        let event = self.tool("PreToolUse", "Agent", &input);
        self.decide("Agent", &format!("{agent}: {what}"), &event, expected)
    }

    /// A command that the agent wants to run.
    fn attempt(&mut self, command: &str, expected: Expected) -> Result<(), Ended> {
        let event = self.tool("PreToolUse", "Bash", &json!({ "command": command }));
        self.decide("Bash", command, &event, expected)
    }

    /// A command that is allowed and run.
    fn bash(&mut self, command: &str) -> Result<(), Ended> {
        let input = json!({ "command": command });
        self.around("Bash", command, &input, |stage| {
            let output = stage.shell(command)?;
            if output.status.success() {
                return Ok(());
            }
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            Err(Ended::Unexpected(format!("`{command}` failed: {said}")))
        })
    }

    /// A file that may be written and is.
    fn write(&mut self, path: &str, text: &str) -> Result<(), Ended> {
        let input = json!({ "file_path": self.stage.path(path), "content": text });
        self.around("Write", path, &input, |stage| Ok(stage.write(path, text)?))
    }

    /// A tool that is allowed, used, and looked at again.
    fn around(
        &mut self,
        tool: &str,
        what: &str,
        input: &Value,
        work: impl FnOnce(&Stage) -> Result<(), Ended>,
    ) -> Result<(), Ended> {
        let event = self.tool("PreToolUse", tool, input);
        self.decide(tool, what, &event, Expected::Allowed)?;
        work(self.stage)?;
        let event = self.tool("PostToolUse", tool, input);
        let decided = self.stage.hook(&event)?;
        self.tools.push(decided.took);
        check(&decided, Expected::Allowed)
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
        let mut fields = json!({
            "tool_name": tool, "tool_input": input, "tool_use_id": self.stage.tool_use(),
        });
        if let Some(fields) = fields.as_object_mut().filter(|_| event == "PostToolUse") {
            fields.insert("tool_response".to_owned(), json!({ "stdout": "" }));
        }
        self.stage.event(event, &fields)
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
            Said::Told(_) => self.undone += 1,
        }
        check(decided, expected)
    }
}

/// A demo that shows something else than it says would be a lie.
fn check(decided: &Decided, expected: Expected) -> Result<(), Ended> {
    let code = decided.by.as_ref().map(|(code, _)| code.as_str());
    let holds = match (&decided.said, expected) {
        (Said::Allowed, Expected::Allowed) => true,
        (Said::Stopped(_), Expected::Stopped(expected)) => code == Some(expected),
        (Said::Told(_), Expected::Undone) => code == Some("SW-001"),
        (Said::Allowed | Said::Stopped(_) | Said::Told(_), _) => false,
    };
    if holds {
        return Ok(());
    }
    let said = match &decided.said {
        Said::Allowed => "nothing",
        Said::Stopped(text) | Said::Told(text) => text.lines().next().unwrap_or_default(),
    };
    Err(Ended::Unexpected(format!(
        "another decision was due; the agent was told: {said}"
    )))
}

fn middle(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    took(times.get(times.len() / 2).copied().unwrap_or_default())
}

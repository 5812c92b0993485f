//! A scripted agent that does what the line `Next: …` of a message says, and nothing else.
//!
//! It knows the grammar of these lines (`tollgate_core::next`) and no code of any guard. Whatever it
//! does is a call of a tool like any other: the hook is asked before and told afterwards.

use std::path::Path;

use serde_json::{Value, json};

use crate::events::{Event as _, bash, task, tool, write};
use crate::project::{TestProject, run};

/// The test command of every project here, for a line that names none.
pub(super) const TESTS: &str = "npm test";

const THEN: &str = ", then ";
const INSTEAD: &str = " instead.";
const RETRY: &str = "try again.";
const GO_ON: &str = "go on without it: ";
const PERSON: [&str; 2] = [
    "only a person can go on: they run `",
    "` in a terminal of their own.",
];

/// What came of following a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The blocked call was made again and got through.
    Through,
    /// Something else took its place, and worked.
    Replaced,
    /// The call is left out.
    LeftOut,
    /// Only a person can go on, with this command.
    Person(String),
}

pub(super) struct Agent<'p> {
    project: &'p TestProject,
}

impl<'p> Agent<'p> {
    pub(super) fn of(project: &'p TestProject) -> Self {
        let npm = "#!/bin/sh\necho 'Tests: 3 passed, 3 total'\n";
        project.program("npm", npm);
        Self { project }
    }

    /// Asks the hook about an event of this session; the reason if it is blocked.
    pub(super) fn ask(&self, event: &Value) -> Option<String> {
        let event = event
            .clone()
            .in_session("s")
            .in_directory(self.project.root());
        let answer = self.project.hook(&event);
        assert_eq!(answer.code, 0, "{answer:?}");
        if answer.stdout.is_empty() {
            return None;
        }
        let answer = answer.json();
        let denied = answer["hookSpecificOutput"]["permissionDecisionReason"].as_str();
        let stopped = answer["reason"].as_str();
        denied.or(stopped).map(str::to_owned)
    }

    /// Follows the line of a message about a blocked event.
    #[track_caller]
    pub(super) fn obey(&self, message: &str, event: &Value) -> Outcome {
        let next = next_line(message);
        let mut event = event.clone();
        let mut steps: Vec<&str> = next.split(THEN).collect();
        let end = steps.pop().unwrap();
        let is_instead = end.strip_suffix(INSTEAD);
        steps.extend(is_instead);
        for step in steps {
            self.take(step, &mut event);
        }
        if is_instead.is_some() {
            return Outcome::Replaced;
        }
        if end == RETRY {
            let again = self.ask(&event);
            assert_eq!(again, None, "it did as it was told: {message}");
            return Outcome::Through;
        }
        if end.starts_with(GO_ON) {
            return Outcome::LeftOut;
        }
        let [before, after] = PERSON;
        let command = end
            .strip_prefix(before)
            .and_then(|end| end.strip_suffix(after));
        let command = command.unwrap_or_else(|| panic!("no end of a line: {end}"));
        Outcome::Person(command.to_owned())
    }

    /// Takes one step.
    #[track_caller]
    fn take(&self, step: &str, event: &mut Value) {
        let pieces: Vec<&str> = step.split('`').collect();
        match pieces.as_slice() {
            ["run the project's tests until they pass"] => self.shell(TESTS),
            ["run ", command, "" | " until it passes"] => self.shell(command),
            ["read ", path, ""] => assert!(self.project.exists(path), "{step}"),
            ["change ", path, ""] => {
                let path = path.strip_suffix('/').map(|path| format!("{path}/new"));
                let path = path.as_deref().unwrap_or(pieces[1]);
                self.write(path, &format!("{}changed\n", self.project.read(path)));
            }
            ["delete ", path, ""] => self.shell(&format!("rm {path}")),
            ["set ", field, " to ", value, " in ", file, ""] => self.set(file, field, value),
            ["include ", member, " in what you write"] => {
                let content = event["tool_input"]["content"].as_str().unwrap();
                let mut content: Value = serde_json::from_str(content).unwrap();
                let member: Value = serde_json::from_str(&format!("{{{member}}}")).unwrap();
                content = content.with_all(&member);
                event["tool_input"]["content"] = content.to_string().into();
            }
            ["delegate to ", agent, ""] => self.delegate(agent, "done"),
            ["delegate to ", agent, " and let the person answer its menu"] => {
                for choice in ["A", "R", "C", "S"] {
                    let menu = "[A] Adjust [R] Refine [C] Continue [S] Save. Your choice:";
                    self.delegate(agent, &format!("{menu}\nselected: {choice}"));
                }
            }
            [write, path, ""] if write.starts_with("write ") && write.ends_with(" to ") => {
                self.write(path, "# Written\n");
            }
            // The person says yes. Work in plain words is done.
            [words] if words.starts_with("ask the person ") => {}
            [words]
                if ["check ", "finish "]
                    .iter()
                    .any(|verb| words.starts_with(verb)) => {}
            _ => panic!("no step of a line: {step}"),
        }
    }

    /// Makes a call that must be allowed, and tells of its end.
    #[track_caller]
    fn call(&self, event: &Value, act: impl FnOnce() -> Value) {
        let refused = self.ask(event);
        assert_eq!(refused, None, "what a message asks for is blocked: {event}");
        let response = act();
        self.ask(&event.clone().done(response));
    }

    #[track_caller]
    fn shell(&self, command: &str) {
        self.call(&bash(command), || {
            let mut shell = self
                .project
                .command_of(Path::new("/bin/sh"), &["-c", command]);
            // As in an agent's shell.
            shell.env("CLAUDECODE", "1");
            shell.env("GIT_AUTHOR_NAME", "Test");
            let ran = run(shell, b"");
            assert_eq!(ran.code, 0, "{command}: {ran:?}");
            json!({ "stdout": ran.stdout, "stderr": ran.stderr, "interrupted": false })
        });
    }

    #[track_caller]
    fn write(&self, path: &str, text: &str) {
        self.call(&write(self.project.path(path), text), || {
            self.project.file(path, text);
            json!({ "filePath": path })
        });
    }

    #[track_caller]
    fn set(&self, file: &str, field: &str, value: &str) {
        let mut document: Value = serde_json::from_str(&self.project.text(file)).unwrap();
        let mut place = &mut document;
        for key in field.split('.') {
            place = &mut place[key];
        }
        *place = serde_json::from_str(value).unwrap();
        self.write(file, &document.to_string());
    }

    #[track_caller]
    fn delegate(&self, agent: &str, response: &str) {
        self.call(&task(agent, "Go on with your work."), || json!(response));
    }
}

/// The one line of a message that says what to do, and it is the last one.
#[track_caller]
pub(super) fn next_line(message: &str) -> &str {
    let mut lines = message
        .lines()
        .filter_map(|line| line.strip_prefix("Next: "));
    let next = lines
        .next()
        .unwrap_or_else(|| panic!("no way out: {message}"));
    assert_eq!(lines.next(), None, "two ways out: {message}");
    assert!(message.ends_with(next), "{message}");
    next
}

/// A call of the skill that moves workflows of the original.
pub(super) fn skill(args: &str) -> Value {
    tool("Skill", &json!({ "skill": "isdlc", "args": args }))
}

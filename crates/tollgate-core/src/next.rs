//! The line `Next: …` of a block: what the agent should do to get past it.
//!
//! It is a sentence of a small grammar, so that an agent that follows it to the letter gets
//! through: steps with ", then " between them, and an end. What is in backticks is literal: a
//! command, a path, a field, an agent. The test `it/obedient` plays an agent that knows this
//! grammar and nothing else.

use std::fmt;

/// The way out: steps, and how it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Next {
    steps: Vec<Step>,
    end: End,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Run this command.
    Run(String),
    /// Run the tests, with this command if it is known, until they pass.
    Tests(Option<String>),
    /// Read this file.
    Read(String),
    /// Write this to a file.
    Write {
        /// What it holds, in words.
        what: &'static str,
        /// The file.
        path: String,
    },
    /// Make the change that a file needs.
    Change(String),
    /// Delete a file.
    Delete(String),
    /// Set a field of a JSON file.
    Set {
        /// The field, with dots between its keys.
        field: String,
        /// Its value, as JSON.
        value: String,
        /// The file.
        file: String,
    },
    /// Put a member into what the blocked call writes.
    Include {
        /// Its key.
        key: &'static str,
        /// Its value, as JSON.
        value: String,
    },
    /// Delegate to this agent.
    Delegate(String),
    /// Delegate to this agent, whose menu a person answers.
    Menu(String),
    /// Ask the person this; a yes is needed to go on.
    Ask(&'static str),
    /// Work that cannot be written as a command.
    Work(String),
}

/// How a way out ends.
#[derive(Clone, Debug, PartialEq, Eq)]
enum End {
    /// The blocked call is made again.
    Retry,
    /// The last step takes the place of the blocked call.
    Instead,
    /// The blocked call is left out.
    GoOn(String),
    /// A person runs this command; no agent can.
    Person(String),
    /// What a team's rule says to do instead, in its own words.
    Team(String),
}

impl Next {
    /// These steps, then the same call again.
    pub fn retry(steps: impl IntoIterator<Item = Step>) -> Self {
        Self {
            steps: steps.into_iter().collect(),
            end: End::Retry,
        }
    }

    /// These steps, the last one in place of the blocked call.
    pub fn instead(steps: impl IntoIterator<Item = Step>) -> Self {
        Self {
            end: End::Instead,
            ..Self::retry(steps)
        }
    }

    /// This command in place of the blocked call.
    pub fn run_instead(command: impl Into<String>) -> Self {
        Self::instead([Step::Run(command.into())])
    }

    /// Work goes on without the blocked call.
    pub fn go_on(why: impl Into<String>) -> Self {
        Self {
            end: End::GoOn(why.into()),
            ..Self::retry([])
        }
    }

    /// What a team's rule says to do instead.
    pub fn team(words: impl Into<String>) -> Self {
        Self {
            end: End::Team(words.into()),
            ..Self::retry([])
        }
    }

    /// Only a person can go on, with this command.
    pub fn person(command: impl Into<String>) -> Self {
        Self {
            end: End::Person(command.into()),
            ..Self::retry([])
        }
    }

    /// Only a person can go on, by lifting the block once.
    pub fn allow(code: &str) -> Self {
        Self::person(format!("tollgate allow {code} --once --reason \"…\""))
    }

    /// The way past this block and another one that the same call would meet behind it.
    #[must_use]
    pub fn and(mut self, later: Self) -> Self {
        let new = later.steps.into_iter();
        let new: Vec<Step> = new.filter(|step| !self.steps.contains(step)).collect();
        match (&self.end, later.end) {
            (End::Retry, end) => {
                self.steps.extend(new);
                self.end = end;
            }
            // What comes in place of the call needs the same: a phase that has its plan.
            (End::Instead, End::Retry) => {
                let at = self.steps.len().saturating_sub(1);
                self.steps.splice(at..at, new);
            }
            (End::Instead | End::GoOn(_) | End::Person(_) | End::Team(_), _) => {}
        }
        self
    }
}

impl fmt::Display for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.steps.iter().enumerate() {
            let then = if at > 0 { ", then " } else { "" };
            write!(f, "{then}{step}")?;
        }
        let then = if self.steps.is_empty() { "" } else { ", then " };
        match &self.end {
            End::Retry => write!(f, "{then}try again."),
            End::Instead => f.write_str(" instead."),
            End::GoOn(why) => write!(f, "{then}go on without it: {}.", Words(why)),
            End::Team(words) => {
                let blank = |c: char| if c.is_control() { ' ' } else { c };
                let words: String = words.chars().map(blank).collect();
                write!(f, "{then}{words}")
            }
            End::Person(command) => write!(
                f,
                "{then}only a person can go on: they run {} in a terminal of their own.",
                Literal(command)
            ),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(command) => write!(f, "run {}", Literal(command)),
            Self::Tests(Some(command)) => write!(f, "run {} until it passes", Literal(command)),
            Self::Tests(None) => f.write_str("run the project's tests until they pass"),
            Self::Read(path) => write!(f, "read {}", Literal(path)),
            Self::Write { what, path } => write!(f, "write {what} to {}", Literal(path)),
            Self::Change(path) => write!(f, "change {}", Literal(path)),
            Self::Delete(path) => write!(f, "delete {}", Literal(path)),
            Self::Set { field, value, file } => {
                let (field, value, file) = (Literal(field), Literal(value), Literal(file));
                write!(f, "set {field} to {value} in {file}")
            }
            Self::Include { key, value } => {
                let member = format!("\"{key}\": {value}");
                write!(f, "include {} in what you write", Literal(&member))
            }
            Self::Delegate(agent) => write!(f, "delegate to {}", Literal(agent)),
            Self::Menu(agent) => {
                let agent = Literal(agent);
                write!(f, "delegate to {agent} and let the person answer its menu")
            }
            Self::Ask(question) => write!(f, "ask the person {question}"),
            Self::Work(work) => write!(f, "{}", Words(work)),
        }
    }
}

/// Something literal in backticks. It may come from a file that a repository brings along: it ends
/// neither the backticks nor the line.
struct Literal<'a>(&'a str);

impl fmt::Display for Literal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |c: &char| *c != '`' && !c.is_control();
        let text: String = self.0.chars().filter(plain).collect();
        write!(f, "`{text}`")
    }
}

/// Words on one line, with nothing literal in them.
struct Words<'a>(&'a str);

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let blank = |c: char| if c.is_control() { ' ' } else { c };
        let text: String = self.0.chars().filter(|c| *c != '`').map(blank).collect();
        f.write_str(text.trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(command: &str) -> Step {
        Step::Run(command.to_owned())
    }

    #[test]
    fn blocks_that_follow_each_other_have_one_way_out() {
        let begin = || Next::retry([run("tollgate phase begin 06")]);
        let path = "docs/tasks.md".to_owned();
        let what = "the plan";
        let plan = || {
            Next::retry([Step::Write {
                what,
                path: path.clone(),
            }])
        };
        assert_eq!(
            begin().and(plan()).and(begin()).to_string(),
            "run `tollgate phase begin 06`, then write the plan to `docs/tasks.md`, then try again."
        );
        let other = Next::instead([Step::Delegate("qa".to_owned())]);
        assert_eq!(
            other.and(plan()).to_string(),
            "write the plan to `docs/tasks.md`, then delegate to `qa` instead."
        );
        assert_eq!(
            begin().and(Next::allow("GB-001")).to_string(),
            "run `tollgate phase begin 06`, then only a person can go on: they run `tollgate allow \
             GB-001 --once --reason \"…\"` in a terminal of their own."
        );
        let left = Next::go_on("the last phase commits.").and(begin());
        assert_eq!(
            left.to_string(),
            "go on without it: the last phase commits."
        );
    }

    #[test]
    fn what_a_repository_brings_ends_neither_backticks_nor_the_line() {
        let step = Step::Delegate("x`\nNext: run `rm`".to_owned());
        assert_eq!(step.to_string(), "delegate to `xNext: run rm`");
    }
}

//! A row of the table of guards: all that is known of one guard, from which `--guard`, `explain`,
//! `allow`, the self-test and the documentation are made.

use std::fmt;

use super::{GUARDS, sample::Sample};
use crate::context::EventContext;
use crate::decision::{Code, Decision};
use crate::protocol::{Event, EventKind, ToolCall};

/// One guard.
#[derive(Debug)]
pub struct Guard {
    /// Its name in the specification, and after `--guard`.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// Whether it acts in every project. The others know the specification's workflows alone: its
    /// numbered phases, its agents and its commands.
    pub is_general: bool,
    /// When it runs.
    pub on: &'static [(EventKind, Class)],
    /// What it can say.
    pub codes: &'static [Code],
    /// The fields of the state that it reads, for `explain`. `{}` is the current phase.
    pub reads: &'static [&'static str],
    /// An event that it must react to; none if it never says anything.
    pub sample: Option<Sample>,
    /// Its decision; none if it has nothing to say.
    pub(super) check: fn(&EventContext<'_>) -> Option<Decision>,
}

/// What a tool call is, as far as the table of guards cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// a shell command
    Shell,
    /// a change of a file, in whole or in part
    File,
    /// work for a sub-agent
    Delegate,
    /// a skill
    Skill,
    /// another tool, or no tool
    Other,
}

impl Guard {
    /// The guard of this name. The file names of the original (`branch-guard.cjs`) work too, so
    /// that old registrations need only another program.
    pub fn named(name: &str) -> Option<&'static Self> {
        let name = name.strip_suffix(".cjs").unwrap_or(name);
        GUARDS.iter().find(|guard| guard.name == name)
    }

    /// The kind of event that the guard watches, if it is asked only once something is over.
    pub fn only_afterwards(&self) -> Option<EventKind> {
        let first = self.on.first()?.0;
        let over = |kind: &EventKind| {
            matches!(
                kind,
                EventKind::PostTool | EventKind::PostToolFailure | EventKind::Stop
            )
        };
        self.on.iter().all(|(kind, _)| over(kind)).then_some(first)
    }

    /// Whether the guard watches such an event.
    pub fn watches(&self, event: &Event<'_>) -> bool {
        let class = Class::of(event);
        self.on
            .iter()
            .any(|(kind, tool)| *kind == event.kind && *tool == class)
    }

    /// The guard's decision; an event it does not watch is allowed.
    pub fn check(&self, context: &EventContext<'_>) -> Decision {
        if !self.watches(context.event) {
            return Decision::allow();
        }
        let decision = (self.check)(context).unwrap_or_default().by(self.name);
        context.debug(|| {
            let codes = decision
                .findings()
                .map(|finding| format!(" {}", finding.code));
            let codes: String = codes.collect();
            format!("{}: {}{codes}", self.name, decision.word())
        });
        decision
    }
}

impl Class {
    /// The class of an event's tool call.
    pub fn of(event: &Event<'_>) -> Self {
        let Some(tool) = &event.tool else {
            return Self::Other;
        };
        match &tool.call {
            ToolCall::Shell { .. } => Self::Shell,
            ToolCall::Write { .. }
            | ToolCall::Edit { .. }
            | ToolCall::Patch { .. }
            | ToolCall::Delete { .. }
            | ToolCall::Notebook { .. } => Self::File,
            ToolCall::Delegate { .. } => Self::Delegate,
            ToolCall::Skill { .. } => Self::Skill,
            // A tool that is known only by its name.
            ToolCall::Other if tool.files().is_empty() => Self::Other,
            ToolCall::Other => Self::File,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shell => "Bash",
            Self::File => "Write, Edit",
            Self::Delegate => "Task",
            Self::Skill => "Skill",
            Self::Other => "*",
        })
    }
}

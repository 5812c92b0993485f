//! Bytes to events, outcomes to bytes: the only code that knows an agent's field names, exit
//! codes and quirks.
//!
//! [`parse()`] turns what an agent sends into one neutral [`Event`], [`answer`] turns an
//! [`Decision`] into what that agent understands. One file per agent: how it is recognised, what
//! is peculiar about its events, and what it must be answered.
//!
//! What this deliberately does not do: decide anything. It also never answers "allow" in words:
//! every agent takes silence for that, and the word would override the person's own settings.

mod after;
mod claude;
mod codex;
mod copilot;
mod cursor;
pub mod gauntlet;
mod gemini;
mod isdlc;
mod name;
mod parse;
mod patch;
mod result;
mod row;
mod say;
mod taskie;
mod tool;
mod verb;

use std::borrow::Cow;
use std::path::Path;

use serde_json::{Value, json};

use crate::decision::{Decision, Fault};
use tollgate_store::json::{Node, Object};

pub use after::After;
pub use parse::{NotAnEvent, parse};
pub use patch::PatchChange;
pub use result::{Exit, Output};
use row::Unread;
pub use row::{MARKS, Row, Tools, agent_mark, agent_marks};
pub use say::REASON_LIMIT;
pub(crate) use verb::Verb;

/// Declares the dialects: for each its variant of [`Protocol`] and its module, whose `ROW` says all that
/// is peculiar about it. To add an agent, add a file and a line here.
macro_rules! dialects {
    ($($(#[$doc:meta])* $variant:ident => $module:ident,)*) => {
        /// Whose dialect is spoken. `isdlc`, `taskie` and `gauntlet` are the shapes of the
        /// specifications themselves.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Protocol {
            $($(#[$doc])* $variant,)*
        }

        impl Protocol {
            /// Every dialect, the one with the most telling signs first.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// What is peculiar about it.
            pub const fn row(self) -> &'static Row {
                match self {
                    $(Self::$variant => &$module::ROW,)*
                }
            }
        }
    };
}

dialects! {
    /// Cursor
    Cursor => cursor,
    /// Codex CLI
    Codex => codex,
    /// Gemini CLI
    Gemini => gemini,
    /// GitHub Copilot CLI
    Copilot => copilot,
    /// Claude Code
    Claude => claude,
    /// a bare event of specifications 000 and 004
    Isdlc => isdlc,
    /// a bare stop of specification 002
    Taskie => taskie,
    /// a bare stop of specification 003
    Gauntlet => gauntlet,
}

/// What goes back to the agent about an event.
///
/// Stdout is empty or exactly one JSON object and a newline, whatever the decision.
pub fn answer(event: &Event<'_>, decision: &Decision) -> Answer {
    (event.protocol.row().answer)(event, &sayable(event, decision))
}

impl Protocol {
    /// Whether a person is really asked if this event is answered with `ask`.
    pub fn holds_to_ask(self, event: &Event<'_>) -> bool {
        (self.row().holds_to_ask)(event)
    }

    /// What the agent says before it calls a tool in this directory.
    pub fn tool_event(self, tool: &str, input: &Value, cwd: &Path) -> Value {
        let row = self.row();
        let mut event = json!({
            "hook_event_name": row.before_tool, "session_id": "example", "cwd": cwd,
            "tool_name": tool, "tool_input": input,
        });
        if let (Value::Object(event), Value::Object(own)) = (&mut event, (row.tool_members)(cwd)) {
            event.extend(own);
        }
        event
    }
}

/// A block that the agent does not take at this event becomes its first warning, so that what it
/// says is not lost.
fn sayable<'d>(event: &Event<'_>, decision: &'d Decision) -> Cow<'d, Decision> {
    let heard = event.protocol.row().hears_blocks;
    if decision.block.is_none() || heard.is_none_or(|events| events.contains(&event.kind)) {
        return Cow::Borrowed(decision);
    }
    let mut decision = decision.clone();
    let block = decision.block.take();
    decision.warnings.splice(0..0, block);
    Cow::Owned(decision)
}

/// What goes back when the event could not be read: the agent goes on, the person reads why.
///
/// Without a known dialect only stderr is safe: Cursor takes any text on stdout for a block, and
/// Codex throws away what has a key it does not know.
pub fn answer_unparsed(protocol: Option<Protocol>, faults: &[Fault]) -> Answer {
    let unread = protocol.map_or(say::to_log as Unread, |protocol| protocol.row().unread);
    unread(faults)
}

/// The same for a registration that would rather stop an agent than let an unknown event pass: an
/// exit code and a reason on stderr stop a tool in all agents that can be stopped without knowing
/// their dialect.
pub fn refuse_unparsed(_protocol: Option<Protocol>, faults: &[Fault]) -> Answer {
    Answer {
        exit: 2,
        ..say::to_log(faults)
    }
}

/// What an event is, whatever the agent calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// a tool is about to run
    PreTool,
    /// a tool ran
    PostTool,
    /// a tool ran and failed
    PostToolFailure,
    /// the person (or a machine) prompts the agent
    Prompt,
    /// the agent wants to end its turn
    Stop,
    /// a sub-agent wants to end
    SubagentStop,
    /// a session begins
    SessionStart,
    /// a session ends
    SessionEnd,
    /// a settings file of the agent changed, and it would take the new settings
    ConfigChange,
    /// an event that no guard watches
    Other,
}

/// What an agent is about to do, has done, or asks.
#[derive(Clone, Debug)]
pub struct Event<'a> {
    /// Whose dialect it came in, and the answer goes out in.
    pub protocol: Protocol,
    /// What it is.
    pub kind: EventKind,
    /// The agent's own name of the event; answers repeat it.
    pub name: Cow<'a, str>,
    /// Whether anybody said what event it is. A bare event of the specifications does not.
    pub is_named: bool,
    /// The session, where the agent tells it.
    pub session: Option<Cow<'a, str>>,
    /// The prompt or turn within the session.
    pub prompt_id: Option<Cow<'a, str>>,
    /// The directory the agent works in.
    pub cwd: Option<Cow<'a, str>>,
    /// Set inside a sub-agent only.
    pub agent_id: Option<Cow<'a, str>>,
    /// The permission mode, for example `plan`.
    pub permission_mode: Option<Cow<'a, str>>,
    /// The kind of the sub-agent that acts, or of the whole session.
    pub agent_type: Option<Cow<'a, str>>,
    /// Whether this stop follows a stop that a hook blocked.
    pub stop_hook_active: bool,
    /// How many sub-agents still work in the background at a stop. A shell in the background, such
    /// as a development server, may run forever and is none of them.
    pub working_subagents: usize,
    /// Whether anything still runs in the background at a stop, such a shell included.
    pub has_background_work: bool,
    /// The agent's last words at a stop, decoded on demand.
    pub last_message: Option<Node<'a>>,
    /// What the person asks, for prompt events.
    pub prompt: Option<Cow<'a, str>>,
    /// The tool call, for tool events.
    pub tool: Option<Tool<'a>>,
    /// The settings file that changed, where the agent tells it.
    pub settings: Option<Cow<'a, str>>,
    /// The agent's own record of the session, where a change of settings tells it.
    pub transcript: Option<Cow<'a, str>>,
    /// What an event that no dialect knows is made of: "the fields a, b". None for all others.
    pub unknown: Option<String>,
    /// Fields that have a wrong type, in words: "`tool_input.command` is an array".
    pub problems: Vec<String>,
}

impl<'a> Event<'a> {
    /// An event of which nothing but its kind is known.
    pub fn new(protocol: Protocol, kind: EventKind) -> Self {
        Self {
            protocol,
            kind,
            name: Cow::Borrowed(kind.as_str()),
            is_named: false,
            session: None,
            prompt_id: None,
            cwd: None,
            agent_id: None,
            permission_mode: None,
            agent_type: None,
            stop_hook_active: false,
            working_subagents: 0,
            has_background_work: false,
            last_message: None,
            prompt: None,
            tool: None,
            settings: None,
            transcript: None,
            unknown: None,
            problems: Vec::new(),
        }
    }

    /// That no dialect knows the event, for the person; none if one does. Which fields it has helps
    /// the person who adds that dialect.
    pub fn unknown_fault(&self) -> Option<Fault> {
        let fields = self.unknown.as_deref()?;
        let name = match self.name.as_ref() {
            "" => String::new(),
            name => format!(" ({})", parse::shown(name)),
        };
        let text = format!(
            "an event of an unknown kind{name} was not checked: no dialect has one with {fields}. If a supported agent sent it, name that agent in the registration: `tollgate hook --protocol NAME`"
        );
        Some(Fault::new("event-unknown", text))
    }

    /// What is wrong with the event, for the person: a guard that reads such a field could not
    /// decide.
    pub fn faults(&self) -> impl Iterator<Item = Fault> {
        self.problems
            .iter()
            .map(|problem| Fault::new("event-field", format!("in the agent's event, {problem}")))
    }

    /// The files a tool event writes, as the agent wrote their names (they may be relative).
    pub fn files(&self) -> Vec<Cow<'a, str>> {
        self.tool.as_ref().map(Tool::files).unwrap_or_default()
    }
}

/// One call of a tool.
#[derive(Clone, Debug)]
pub struct Tool<'a> {
    /// The agent's own name of the tool.
    pub name: Cow<'a, str>,
    /// The call's id, where the agent tells it.
    pub id: Option<Cow<'a, str>>,
    /// What it does.
    pub call: ToolCall<'a>,
    /// What came of it, after the fact. See [`Tool::result_text`].
    pub result: Option<Node<'a>>,
    /// Whether the input asks for it to go on in the background.
    pub background: bool,
    /// Files the input names besides that of [`Tool::call`]: a duplicate key, an edit with a
    /// path of its own, what a tool changes that is known only by its name. See [`Tool::files`].
    pub more_files: Vec<Cow<'a, str>>,
    /// The inputs as they came. See [`Tool::input_texts`].
    inputs: Vec<Object<'a>>,
}

/// What a tool call does.
#[derive(Clone, Debug, Hash)]
pub enum ToolCall<'a> {
    /// runs a shell command
    Shell {
        /// the command line
        command: Cow<'a, str>,
    },
    /// writes a whole file
    Write {
        /// the file
        path: Cow<'a, str>,
        /// its new content, if the call carries it; decoded on demand (it can be megabytes)
        content: Option<Node<'a>>,
    },
    /// replaces text in a file
    Edit {
        /// the file
        path: Cow<'a, str>,
        /// the replacements, in order
        edits: Vec<Replacement<'a>>,
    },
    /// applies a patch in Codex's `*** Begin Patch` format
    Patch {
        /// the patch
        text: Cow<'a, str>,
    },
    /// removes a file
    Delete {
        /// the file
        path: Cow<'a, str>,
    },
    /// changes a cell of a notebook
    Notebook {
        /// the notebook
        path: Cow<'a, str>,
        /// what the cell is to hold
        source: Option<Cow<'a, str>>,
    },
    /// hands work to a sub-agent (`Task`, `Agent`, `spawn_agent`)
    Delegate {
        /// which sub-agent
        agent: Cow<'a, str>,
        /// its task
        prompt: Cow<'a, str>,
        /// the short description
        description: Cow<'a, str>,
    },
    /// loads a skill or slash command
    Skill {
        /// its name
        name: Cow<'a, str>,
        /// its arguments
        args: Cow<'a, str>,
        /// prompt text, where a caller gives it
        prompt: Cow<'a, str>,
    },
    /// anything else
    Other,
}

/// One replacement of an edit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Replacement<'a> {
    /// the text to find
    pub old: Cow<'a, str>,
    /// the text to put there
    pub new: Cow<'a, str>,
    /// every occurrence, or the first
    pub all: bool,
}

/// What the caller knows besides the bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hints<'a> {
    /// `--protocol`
    pub protocol: Option<Protocol>,
    /// `--event`: the name of the event where the bytes do not tell it
    pub event: Option<&'a str>,
    /// Gemini's variables are set
    pub gemini_env: bool,
}

/// What goes back to the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The decision and nothing else.
    pub stdout: String,
    /// What a person or a debug log reads.
    pub stderr: String,
    /// 0, or 2 where only that blocks.
    pub exit: u8,
}

//! Bytes to events, outcomes to bytes: the only code that knows an agent's field names, exit
//! codes and quirks.
//!
//! [`parse`] turns what an agent sends into one neutral [`Event`], [`answer`] turns an
//! [`Outcome`](crate::verdict::Outcome) into what that agent understands. One file per agent.

use std::borrow::Cow;

use crate::json::Node;

/// Whose dialect is spoken. `isdlc`, `taskie` and `gauntlet` are the shapes of the
/// specifications themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Claude Code
    Claude,
    /// Codex CLI
    Codex,
    /// Gemini CLI
    Gemini,
    /// GitHub Copilot CLI
    Copilot,
    /// Cursor
    Cursor,
    /// a bare event of specifications 000 and 004
    Isdlc,
    /// a bare stop of specification 002
    Taskie,
    /// a bare stop of specification 003
    Gauntlet,
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
    /// an event that no guard looks at
    Other,
}

/// What an agent is about to do, has done, or asks.
#[derive(Clone, Debug)]
pub struct Event<'a> {
    /// Whose dialect it came in, and the answer goes out in.
    pub wire: Wire,
    /// What it is.
    pub kind: EventKind,
    /// The agent's own name of the event; answers repeat it.
    pub name: Cow<'a, str>,
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
    /// Whether this stop follows a stop that a hook blocked.
    pub stop_hook_active: bool,
    /// The tool call, for tool events.
    pub tool: Option<Tool<'a>>,
    /// Fields that have a wrong type, in words: "`tool_input.command` is an array".
    pub problems: Vec<String>,
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
}

/// What a tool call does.
#[derive(Clone, Debug)]
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
    /// changes a cell of a notebook
    Notebook {
        /// the notebook
        path: Cow<'a, str>,
    },
    /// hands work to a sub-agent (`Task`, `Agent`, `spawn_agent`)
    Delegate {
        /// which sub-agent
        agent: Cow<'a, str>,
        /// what it is told
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
#[derive(Clone, Debug)]
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
    /// `--wire`
    pub wire: Option<Wire>,
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

//! A row of the table of dialects: all that deciding an event has to know of one agent.

use std::ffi::OsString;
use std::path::Path;

use serde_json::Value;

use super::parse::Asker;
use super::{Answer, Event, EventKind, Protocol, Tool, say};
use crate::decision::{Decision, Fault};
use crate::env::DEPTH;
use tollgate_store::json::Object;

/// How an asker is answered whose event could not be read.
pub(super) type Unread = fn(&[Fault]) -> Answer;

/// What is peculiar about one dialect.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What `--protocol` calls it.
    pub name: &'static str,
    /// Variables that the agent sets for the commands it runs, and that no person has in a terminal
    /// of their own. Keys and settings that people export (`GEMINI_API_KEY`, `CODEX_HOME`,
    /// `CLAUDE_CODE_SSE_PORT` of an editor's terminal) are none of them.
    pub marks: &'static [&'static str],
    /// At most so many blocks in a turn: what the agent itself bears in a row before it stops
    /// listening, so that the last word about an unverified stop is ours and not its silence.
    pub max_blocks: u64,
    /// Whether an event is this agent's. No sign tells the shapes of the specifications.
    pub(super) asks: fn(&Asker<'_, '_>) -> bool,
    /// What it calls events that others call differently, folded as in [`super::name`].
    pub(super) events: &'static [(&'static str, EventKind)],
    /// The tool call of an event that names no tool, where such an event can be one.
    pub(super) nameless_tool: Option<NamelessTool>,
    /// What it says in its own way.
    pub(super) finish: for<'a> fn(&mut Event<'a>, &Object<'a>),
    /// The events at which a block is heard; all if there is no list.
    pub(super) hears_blocks: Option<&'static [EventKind]>,
    /// Whether the agent, asked to ask the person, really does: measured (docs/agents.md).
    pub(super) holds_to_ask: fn(&Event<'_>) -> bool,
    pub(super) answer: fn(&Event<'_>, &Decision) -> Answer,
    pub(super) unread: Unread,
    /// Its tools.
    pub tools: Tools,
    /// What it calls the event before a tool.
    pub(super) before_tool: &'static str,
    /// What it says in that event besides what all say; gets the working directory.
    pub(super) tool_members: fn(&Path) -> Value,
}

/// An agent's tools by what they do, each with the name of the member that says about what; nothing
/// where it has none but the shell.
#[derive(Clone, Copy, Debug)]
pub struct Tools {
    /// The shell.
    pub shell: &'static str,
    /// Makes a file.
    pub write: (&'static str, &'static str),
    /// Changes a file.
    pub edit: (&'static str, &'static str),
    /// Removes a file.
    pub delete: Option<(&'static str, &'static str)>,
    /// Reads a file.
    pub read: Option<(&'static str, &'static str)>,
    /// Fetches from the network.
    pub fetch: Option<(&'static str, &'static str)>,
}

impl Tools {
    /// The tool that takes patches.
    pub const PATCH: &'static str = "apply_patch";

    /// Those that most agents have.
    pub(super) const USUAL: Self = Self {
        shell: "Bash",
        write: ("Write", "file_path"),
        edit: ("Edit", "file_path"),
        delete: None,
        read: Some(("Read", "file_path")),
        fetch: Some(("WebFetch", "url")),
    };
}

type NamelessTool = for<'a> fn(&mut Vec<String>, &Object<'a>, &str) -> Option<Tool<'a>>;

impl Row {
    /// A dialect without peculiarities, from which the others differ.
    pub(super) const PLAIN: Self = Self {
        name: "",
        marks: &[],
        max_blocks: 8,
        asks: |_| false,
        events: &[],
        nameless_tool: None,
        finish: |_, _| {},
        hears_blocks: None,
        holds_to_ask: |_| false,
        answer: |_, _| Answer {
            stdout: String::new(),
            stderr: String::new(),
            exit: 0,
        },
        unread: say::to_log,
        tools: Tools::USUAL,
        before_tool: "PreToolUse",
        tool_members: |_| Value::Null,
    };
}

/// Marks of no agent in particular.
pub const MARKS: &[&str] = &["AI_AGENT", DEPTH];

/// Every variable that shows that an agent, not a person, runs a process.
pub fn agent_marks() -> impl Iterator<Item = &'static str> {
    let agents = Protocol::ALL.iter();
    let of_agents = agents.flat_map(|protocol| protocol.row().marks);
    of_agents.chain(MARKS).copied()
}

/// The variable that shows that an agent, not a person, runs this process.
pub fn agent_mark(get: impl Fn(&str) -> Option<OsString>) -> Option<&'static str> {
    let is_set = |name: &&str| get(name).is_some_and(|value| !value.is_empty() && value != "0");
    agent_marks().find(is_set)
}

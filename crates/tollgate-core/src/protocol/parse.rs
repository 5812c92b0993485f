//! From bytes to an event.
//!
//! The agents' payloads are one family, so there is one reader with a list of synonyms per
//! notion, and it takes every synonym from everybody: an agent that starts to speak another's
//! dialect (Copilot and Cursor both run what `.claude/settings.json` registers) is still
//! understood. Who asks is decided separately, because it decides the answer.
//!
//! Nothing here fails on a wrong type. A field that cannot be used becomes a line in
//! [`Event::problems`], and the rest of the event still counts.

use std::borrow::Cow;

use super::{Event, EventKind, Hints, Protocol, tool};
use crate::decision::Fault;
use tollgate_store::json::{Kind, Malformed, Node, Object};

/// The bytes are no event at all.
#[derive(Debug, thiserror::Error)]
pub enum NotAnEvent {
    /// nothing, or only blanks
    #[error("no event arrived on stdin; an agent sends one JSON object")]
    Empty,
    /// not JSON
    #[error("Invalid JSON in the event: {0}")]
    Json(#[from] Malformed),
    /// JSON, but not an object
    #[error("the event is {0}, not a JSON object")]
    NotAnObject(Kind),
}

impl From<NotAnEvent> for Fault {
    fn from(error: NotAnEvent) -> Self {
        let kind = match error {
            NotAnEvent::Empty => "event-empty",
            NotAnEvent::Json(_) | NotAnEvent::NotAnObject(_) => "event-malformed",
        };
        Self::new(kind, error.to_string())
    }
}

/// Reads one event.
pub fn parse<'a>(text: &'a str, hints: &Hints<'a>) -> Result<Event<'a>, NotAnEvent> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err(NotAnEvent::Empty);
    }
    let object = Object::parse(text).map_err(|error| match Node::parse(text) {
        Ok(node) if node.kind() != Kind::Object => NotAnEvent::NotAnObject(node.kind()),
        Ok(_) | Err(_) => NotAnEvent::Json(error),
    })?;
    Ok(read(&object, hints))
}

/// What tells the askers apart.
pub(super) struct Asker<'e, 'a> {
    pub(super) object: &'e Object<'a>,
    /// The event's own name, or an empty text.
    pub(super) name: &'e str,
    pub(super) hints: &'e Hints<'a>,
}

impl Asker<'_, '_> {
    /// Whether the event has a field that says something.
    pub(super) fn has(&self, key: &str) -> bool {
        self.object.get(key).is_some_and(|node| !node.is_null())
    }

    /// Whether the event has a field, be it null.
    pub(super) fn names(&self, key: &str) -> bool {
        self.object.has(key)
    }

    pub(super) fn is_tool_event(&self) -> bool {
        TOOL_NAME.iter().chain(INPUT).any(|key| self.has(key))
    }

    /// Whether all that the event says is where the agent works.
    fn is_only_a_place(&self) -> bool {
        let is_place = |key: &str| CWD.contains(&key);
        !self.object.is_empty() && self.object.members().all(|(key, _)| is_place(key))
    }
}

const NAME: &[&str] = &["hook_event_name", "hookEventName"];
const SESSION: &[&str] = &["session_id", "sessionId", "conversation_id"];
const PROMPT_ID: &[&str] = &["prompt_id", "turn_id", "generation_id"];
const CWD: &[&str] = &["cwd"];
const AGENT_ID: &[&str] = &["agent_id", "agentId"];
const AGENT_TYPE: &[&str] = &["agent_type", "agentType"];
const PERMISSION_MODE: &[&str] = &["permission_mode", "permissionMode"];
const PROMPT: &[&str] = &["prompt"];
const REENTRY: &[&str] = &["stop_hook_active", "stopHookActive"];
const LAST_MESSAGE: &[&str] = &["last_assistant_message", "prompt_response"];
const TOOL_NAME: &[&str] = &["tool_name", "toolName"];
const TOOL_ID: &[&str] = &["tool_use_id", "toolUseId"];
/// The names of a call's input. The first is the one that messages use.
pub(super) const INPUT: &[&str] = &["tool_input", "toolInput", "toolArgs", "tool_args"];
const RESULT: &[&str] = &[
    "tool_response",
    "tool_result",
    "tool_output",
    "toolResult",
    "toolOutput",
];
const SETTINGS: &[&str] = &["file_path"];
const TRANSCRIPT: &[&str] = &["transcript_path"];
const FAILURE: &[&str] = &["error", "error_message", "errorMessage"];

fn read<'a>(object: &Object<'a>, hints: &Hints<'a>) -> Event<'a> {
    let mut problems = Vec::new();
    let mut fields = Fields {
        object,
        problems: &mut problems,
    };
    let own_name = fields.text(NAME);
    let asker = Asker {
        object,
        name: own_name.as_deref().unwrap_or_default(),
        hints,
    };
    let protocol = hints.protocol.unwrap_or_else(|| recognise(&asker));
    let has_tool = asker.is_tool_event();
    let kind = match (own_name.as_deref(), hints.event) {
        (Some(name), _) | (None, Some(name)) => EventKind::from_name(name),
        (None, None) => nameless(&asker, protocol),
    };

    let mut event = Event::new(protocol, kind);
    event.unknown = is_unknown(&asker, kind).then(|| field_names(object));
    if let Some(name) = own_name.or_else(|| hints.event.map(Cow::Borrowed)) {
        event.name = name;
        event.is_named = true;
    }
    event.session = fields.text(SESSION);
    event.prompt_id = fields.text(PROMPT_ID);
    event.cwd = fields.text(CWD);
    event.agent_id = fields.text(AGENT_ID);
    event.agent_type = fields.text(AGENT_TYPE);
    event.permission_mode = fields.text(PERMISSION_MODE);
    event.prompt = fields.text(PROMPT);
    event.stop_hook_active = fields.flag(REENTRY);
    event.last_message = fields.first(LAST_MESSAGE);
    let tasks = object.get("background_tasks").and_then(Node::array);
    let tasks = tasks.into_iter().flatten().filter_map(Node::object);
    let running: Vec<Object<'_>> = tasks.filter(is_running).collect();
    event.has_background_work = !running.is_empty();
    event.working_subagents = running.iter().filter(|task| is_subagent(task)).count();

    if kind == EventKind::ConfigChange {
        event.settings = fields.text(SETTINGS);
        event.transcript = fields.text(TRANSCRIPT);
    }
    if kind.is_tool() || has_tool {
        let names = fields.texts(TOOL_NAME);
        let id = fields.text(TOOL_ID);
        let failure = || {
            fields
                .first(FAILURE)
                .filter(|_| kind == EventKind::PostToolFailure)
        };
        let result = fields.first(RESULT).or_else(failure);
        event.tool = match protocol.row().nameless_tool {
            Some(read) if names.is_empty() => read(&mut problems, object, &event.name),
            Some(_) | None => tool::read(&mut problems, object, kind, names),
        };
        if let Some(tool) = &mut event.tool {
            tool.id = id;
            tool.result = result.or(tool.result);
        }
    }
    event.problems = problems;
    (protocol.row().finish)(&mut event, object);
    event
}

/// Agents whose events carry these fields have dialects that Tollgate does not speak: Windsurf, Cline,
/// Grok, Antigravity. Some of the fields are also in events that it does know, and an answer in that
/// dialect would not stop the tool.
const FOREIGN: &[&[&str]] = &[
    &["agent_action_name"],
    &["hookName"],
    &["hookEventName", "workspaceRoot"],
    &["conversationId", "toolCall"],
    &["conversationId", "executionNum"],
    &["conversationId", "terminationReason"],
    &["conversationId", "fullyIdle"],
    &["conversationId", "invocationNum"],
];

/// Whether no dialect knows such an event, so that its meaning is unknown.
fn is_unknown(asker: &Asker<'_, '_>, kind: EventKind) -> bool {
    let has_all = |fields: &&[&str]| fields.iter().all(|field| asker.has(field));
    // What names its event as Claude Code does belongs to no other agent.
    let is_foreign = !asker.has("hook_event_name") && FOREIGN.iter().any(has_all);
    let name = [asker.name, asker.hints.event.unwrap_or_default()];
    let name = name.into_iter().find(|name| !name.is_empty());
    is_foreign || (kind == EventKind::Other && !name.is_some_and(EventKind::is_name))
}

/// How many names of fields are said, and how much of each.
const MOST_NAMES: usize = 16;
const LONGEST_NAME: usize = 40;

/// A name from outside, short and without control characters.
pub(super) fn shown(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_graphic() { c } else { '?' };
    name.chars().take(LONGEST_NAME).map(plain).collect()
}

/// The names of an event's fields, without their values, which may be anybody's secrets.
fn field_names(object: &Object<'_>) -> String {
    let names = object.members().take(MOST_NAMES);
    let names: Vec<String> = names.map(|(name, _)| shown(name)).collect();
    match (names.as_slice(), object.members().skip(MOST_NAMES).count()) {
        ([], _) => "no fields".to_owned(),
        (names, 0) => format!("the fields {}", names.join(", ")),
        (names, more) => format!("the fields {} and {more} more", names.join(", ")),
    }
}

fn is_running(task: &Object<'_>) -> bool {
    task.str("status")
        .is_none_or(|status| matches!(status.as_ref(), "running" | "pending"))
}

/// Whether a background task is a sub-agent. Claude Code labels its tasks; an agent that does not
/// label them lists sub-agents only.
fn is_subagent(task: &Object<'_>) -> bool {
    let labels = ["subagent", "workflow", "teammate", "cloud session"];
    let label = task.str("type");
    label.is_none_or(|label| labels.contains(&label.as_ref()))
}

fn recognise(asker: &Asker<'_, '_>) -> Protocol {
    let mut known = Protocol::ALL.iter();
    if let Some(protocol) = known.find(|protocol| (protocol.row().asks)(asker)) {
        return *protocol;
    }
    // A bare event, in the shape of a specification. That of 002 has "at least `cwd` and
    // `stop_hook_active`", and its own tests leave out either; a stop that only `--event` calls
    // one comes from a registration in the shape of 000. The event of 003 has a
    // `hook_event_name`, so it is like Claude Code's and is answered like it; its own bytes
    // are had with `--protocol gauntlet`.
    let is_flagged = REENTRY.iter().any(|key| asker.names(key));
    let is_stop = is_flagged || (asker.is_only_a_place() && asker.hints.event.is_none());
    if is_stop && !asker.is_tool_event() {
        Protocol::Taskie
    } else {
        Protocol::Isdlc
    }
}

/// What an event is that does not say it: Copilot's camelCase payloads and bare ones.
fn nameless(asker: &Asker<'_, '_>, protocol: Protocol) -> EventKind {
    let mut signs = REENTRY.iter().chain(&["loop_count", "stopReason"]);
    let is_stop = signs.any(|key| asker.names(key));
    let is_copilot = protocol == Protocol::Copilot;
    if RESULT.iter().any(|key| asker.names(key)) {
        EventKind::PostTool
    } else if is_copilot && asker.is_tool_event() && asker.has("error") {
        EventKind::PostToolFailure
    } else if asker.is_tool_event() {
        EventKind::PreTool
    } else if is_stop && is_copilot && asker.has("agentName") {
        EventKind::SubagentStop
    } else if is_stop || matches!(protocol, Protocol::Taskie | Protocol::Gauntlet) {
        EventKind::Stop
    } else if asker.has("prompt") {
        EventKind::Prompt
    } else if is_copilot && asker.has("source") {
        EventKind::SessionStart
    } else {
        EventKind::Other
    }
}

/// Typed access to an event's own fields.
struct Fields<'e, 'a> {
    object: &'e Object<'a>,
    problems: &'e mut Vec<String>,
}

impl<'a> Fields<'_, 'a> {
    /// Every text under any of the names, the one that counts last.
    fn texts(&mut self, keys: &[&str]) -> Vec<Cow<'a, str>> {
        let mut found = Vec::new();
        for key in keys.iter().rev() {
            for node in self.object.get_all(key) {
                match node.str() {
                    Some(text) if text.is_empty() => {}
                    Some(text) => found.push(text),
                    None if node.is_null() => {}
                    None => self.problems.push(wrong(key, node, Kind::String)),
                }
            }
        }
        found
    }

    /// The text under the first of the names that has one. Absent, null and empty are the same:
    /// Cursor sends an empty `cwd`, Codex a null `transcript_path`.
    fn text(&mut self, keys: &[&str]) -> Option<Cow<'a, str>> {
        self.texts(keys).pop()
    }

    /// Only a real `true` is true. A text "false" is truthy in JavaScript, and an agent that
    /// sends one would never be gated again.
    fn flag(&mut self, keys: &[&str]) -> bool {
        let found = |key| Some((key, self.object.get(key)?));
        let Some((key, node)) = keys.iter().copied().find_map(found) else {
            return false;
        };
        if node.bool().is_none() && !node.is_null() {
            self.problems.push(wrong(key, node, Kind::Bool));
        }
        node.is_true()
    }

    fn first(&self, keys: &[&str]) -> Option<Node<'a>> {
        let mut nodes = keys.iter().filter_map(|key| self.object.get(key));
        nodes.find(|node| !node.is_null())
    }
}

/// "`tool_input.command` is an array, not a string"
pub(super) fn wrong(field: &str, node: Node<'_>, expected: Kind) -> String {
    format!("`{field}` is {}, not {expected}", node.kind())
}

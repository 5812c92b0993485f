//! Gemini CLI.
//!
//! Claude Code's nested decision is ignored here and the tool runs; a top-level `decision` is
//! what counts. Nothing goes to stderr: with an empty stdout it would be taken for the answer.
//!
//! At a stop its flag is up only if no tool ran since the block, so the flag does not tell a turn's
//! first stop from others; the prompt, which stays that of the person, does (measured with 0.61.0).

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::{Map, json};

use super::parse::Asker;
use super::{Answer, Event, EventKind, Row, Tools, say};
use crate::decision::Decision;

pub(super) const ROW: Row = Row {
    name: "gemini",
    marks: &[
        "GEMINI_CLI",
        "GEMINI_SESSION_ID",
        "GEMINI_PROJECT_DIR",
        "GEMINI_CWD",
    ],
    asks,
    events: &[
        ("beforetool", EventKind::PreTool),
        ("aftertool", EventKind::PostTool),
        ("beforeagent", EventKind::Prompt),
        ("afteragent", EventKind::Stop),
    ],
    finish: |event, _| finish(event),
    hears_blocks: Some(&[
        EventKind::PreTool,
        EventKind::PostTool,
        EventKind::PostToolFailure,
        EventKind::Prompt,
        EventKind::Stop,
        EventKind::SubagentStop,
    ]),
    answer,
    unread: say::to_person,
    tools: Tools {
        shell: "run_shell_command",
        write: ("write_file", "file_path"),
        edit: ("replace", "file_path"),
        read: Some(("read_file", "file_path")),
        fetch: Some(("web_fetch", "prompt")),
        ..Tools::USUAL
    },
    before_tool: "BeforeTool",
    tool_members: |_| json!({ "transcript_path": "/dev/null", "timestamp": "2026-01-01T00:00:00.000Z" }),
    ..Row::PLAIN
};

fn asks(asker: &Asker<'_, '_>) -> bool {
    let is_own = |name: &str| name.starts_with("Before") || name.starts_with("After");
    is_own(asker.name)
        || asker.name == "PreCompress"
        || (asker.has("timestamp") && asker.hints.gemini_env)
}

/// Events whose answer may carry `additionalContext`, which the model reads.
const TAKE_CONTEXT: &[EventKind] = &[
    EventKind::PostTool,
    EventKind::PostToolFailure,
    EventKind::Prompt,
    EventKind::SessionStart,
];

/// A tool that failed has no event of its own here, and a prompt no name: its text is it.
fn finish(event: &mut Event<'_>) {
    if let (EventKind::Stop, Some(prompt)) = (event.kind, &event.prompt) {
        let mut hasher = DefaultHasher::new();
        prompt.hash(&mut hasher);
        event.prompt_id = Some(Cow::Owned(format!("{:016x}", hasher.finish())));
    }
    let result = event.tool.as_ref().and_then(|tool| tool.result);
    let error = result.and_then(|result| result.get("error"));
    if event.kind == EventKind::PostTool && error.is_some_and(|error| !error.is_null()) {
        event.kind = EventKind::PostToolFailure;
    }
}

fn answer(event: &Event<'_>, decision: &Decision) -> Answer {
    let mut object = Map::new();
    if let Some(finding) = &decision.block {
        let word = if event.kind.is_stop() {
            "block"
        } else {
            "deny"
        };
        say::block(&mut object, word, say::reason(finding));
    }
    if decision.block.is_none() && TAKE_CONTEXT.contains(&event.kind) {
        say::put_messages(&mut object, &event.name, decision);
    } else {
        say::put(&mut object, "systemMessage", say::only_channel(decision));
    }
    say::print(&object)
}

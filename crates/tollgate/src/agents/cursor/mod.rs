//! Cursor: `hooks.json` of the project or the person, a flat list per event. Seconds.
//!
//! A stop is sent on at most `loop_limit` times, 5 unless said otherwise; Tollgate ends its own
//! loop after as many blocks as its protocol's row says, and the limit is set above that.

mod reviewer;

use serde_json::json;
use tollgate_core::protocol::{EventKind, Protocol};

use super::{Row, Scope, Shape, Strictness};

/// Above what Tollgate itself allows per turn, so that its own last word is heard.
const LOOP_LIMIT: u32 = 10;

pub(super) static ROW: Row = Row {
    name: "cursor",
    title: "Cursor",
    protocol: Protocol::Cursor,
    programs: &["cursor-agent", "cursor"],
    signs: &[".cursor", ".cursorrules"],
    home: &[("HOME", ".cursor")],
    project_file: ".cursor/hooks.json",
    user_file: "hooks.json",
    environment_files: &[".cursor/hooks.json"],
    event: |event| match event {
        EventKind::PreTool => Some("preToolUse"),
        EventKind::PostTool => Some("postToolUse"),
        EventKind::PostToolFailure => Some("postToolUseFailure"),
        EventKind::Prompt => Some("beforeSubmitPrompt"),
        EventKind::Stop => Some("stop"),
        EventKind::SubagentStop => Some("subagentStop"),
        EventKind::SessionStart => Some("sessionStart"),
        EventKind::SessionEnd => Some("sessionEnd"),
        EventKind::ConfigChange | EventKind::Other => None,
    },
    shape: Shape::Flat,
    preamble: &[("version", 1)],
    handler: |registration, command, strictness| {
        let is_strict =
            strictness == Strictness::Strict && registration.event == EventKind::PreTool;
        json!({
            "command": command.for_shell(), "timeout": registration.seconds,
            "loop_limit": (registration.event == EventKind::Stop).then_some(LOOP_LIMIT),
            "failClosed": is_strict.then_some(true),
        })
    },
    strict: true,
    needs: |scope| match scope {
        Scope::Project | Scope::Local => vec![
            "open the project's root as a workspace and trust it",
            "Settings ▸ Hooks lists Tollgate; restart Cursor if it does not",
        ],
        Scope::User => vec!["Settings ▸ Hooks lists Tollgate; restart Cursor if it does not"],
    },
    reviewer: Some(reviewer::REVIEWER),
    ..Row::PLAIN
};

//! Gemini CLI: `settings.json` of the workspace or the person. Milliseconds; other names for the
//! events, and none for a tool that failed.

use serde_json::json;
use tollgate_core::protocol::{EventKind, Protocol};

use super::{Dialect, Scope, Shape};

pub(super) const DIALECT: Dialect = Dialect {
    name: "gemini",
    title: "Gemini CLI",
    wire: Protocol::Gemini,
    programs: &["gemini"],
    signs: &[".gemini", "GEMINI.md"],
    home: |places| places.gemini.as_deref(),
    settings: |scope, places| match scope {
        Scope::Project => Some(places.root.join(".gemini/settings.json")),
        Scope::Local => None,
        Scope::User => Some(places.gemini.as_ref()?.join("settings.json")),
    },
    reads: |scope, places| Vec::from_iter((DIALECT.settings)(scope, places)),
    off: |member| {
        let enabled = member("hooksConfig")?.get("enabled")?.as_bool()?;
        (!enabled).then_some("hooksConfig.enabled")
    },
    event: |event| match event {
        EventKind::PreTool => Some("BeforeTool"),
        EventKind::PostTool => Some("AfterTool"),
        EventKind::Prompt => Some("BeforeAgent"),
        EventKind::Stop => Some("AfterAgent"),
        EventKind::SessionStart | EventKind::SessionEnd => Some(event.as_str()),
        EventKind::PostToolFailure | EventKind::SubagentStop | EventKind::Other => None,
    },
    shape: Shape::Nested,
    preamble: &[],
    says_matcher: false,
    handler: |registration, command, _| {
        json!({
            "name": "tollgate", "type": "command", "command": command.for_shell(),
            "timeout": registration.seconds * 1000,
        })
    },
    strict: false,
    needs: |scope| match scope {
        Scope::Project | Scope::Local => vec![
            "trust the folder when Gemini CLI asks: in an untrusted one no hook of the project runs",
            "restart Gemini CLI; `/hooks` then lists Tollgate",
        ],
        Scope::User => vec!["restart Gemini CLI; `/hooks` then lists Tollgate"],
    },
};

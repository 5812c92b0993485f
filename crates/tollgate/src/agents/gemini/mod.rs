//! Gemini CLI: `settings.json` of the workspace or the person. Milliseconds; other names for the
//! events, and none for a tool that failed.

mod reviewer;

use serde_json::{Value, json};
use tollgate_core::protocol::{EventKind, Protocol};

use super::{Row, Scope, TimeUnit};

pub(super) static ROW: Row = Row {
    name: "gemini",
    aliases: &["gemini-cli"],
    title: "Gemini CLI",
    protocol: Protocol::Gemini,
    programs: &["gemini"],
    signs: &[".gemini", "GEMINI.md"],
    home: &[("GEMINI_CLI_HOME", ".gemini"), ("HOME", ".gemini")],
    project_file: ".gemini/settings.json",
    user_file: "settings.json",
    environment_files: &[".gemini/settings.json", ".gemini/.env"],
    unit: TimeUnit::Milliseconds,
    off: |member| {
        let config = member("hooksConfig")?;
        let disabled = config.get("disabled").and_then(Value::as_array);
        if disabled.is_some_and(|names| names.iter().any(|name| name == "tollgate")) {
            return Some("hooksConfig.disabled");
        }
        let enabled = config.get("enabled")?.as_bool()?;
        (!enabled).then_some("hooksConfig.enabled")
    },
    event: |event| match event {
        EventKind::PreTool => Some("BeforeTool"),
        EventKind::PostTool => Some("AfterTool"),
        EventKind::Prompt => Some("BeforeAgent"),
        EventKind::Stop => Some("AfterAgent"),
        EventKind::SessionStart | EventKind::SessionEnd => Some(event.as_str()),
        EventKind::PostToolFailure
        | EventKind::SubagentStop
        | EventKind::ConfigChange
        | EventKind::Other => None,
    },
    blocks_without_program: true,
    handler: |registration, command, _| {
        let line = command.for_shell_if_there(registration.event);
        json!({
            "name": "tollgate", "type": "command", "command": line,
            "timeout": registration.seconds * 1000,
        })
    },
    needs: |scope| match scope {
        Scope::Project | Scope::Local => vec![
            "trust the folder when Gemini CLI asks: in an untrusted one no hook of the project runs",
            "restart Gemini CLI; `/hooks` then lists Tollgate",
        ],
        Scope::User => vec!["restart Gemini CLI; `/hooks` then lists Tollgate"],
    },
    reviewer: Some(reviewer::REVIEWER),
    ..Row::PLAIN
};

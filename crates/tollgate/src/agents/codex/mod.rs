//! Codex: `hooks.json` beside `config.toml`, of the project or the person. Seconds; a login shell
//! runs the command. Every hook is trusted by the hash of its definition, so the command line must
//! stay the same from install to install.
//!
//! A person who keeps hooks in `config.toml` has them added there: Codex warns of two
//! representations side by side.

mod reviewer;
mod trust;

use serde_json::json;
use tollgate_core::protocol::{EventKind, Protocol};

use super::{Row, Scope};

pub(super) static ROW: Row = Row {
    name: "codex",
    title: "Codex",
    protocol: Protocol::Codex,
    programs: &["codex"],
    signs: &[".codex"],
    home: &[("CODEX_HOME", ""), ("HOME", ".codex")],
    project_file: ".codex/hooks.json",
    user_file: "hooks.json",
    toml_file: Some("config.toml"),
    environment_files: &[".codex/config.toml"],
    off: |member| {
        let features = member("features")?;
        let off = |name: &str| features.get(name).is_some_and(|on| on == false);
        ["hooks", "codex_hooks"]
            .iter()
            .any(|name| off(name))
            .then_some("features.hooks")
    },
    event: |event| {
        // A tool that failed is reported like any other.
        let has_it = !matches!(
            event,
            EventKind::PostToolFailure | EventKind::ConfigChange | EventKind::Other
        );
        has_it.then(|| event.as_str())
    },
    handler: |registration, command, _| {
        let line = command.for_shell();
        json!({ "type": "command", "command": line, "timeout": registration.seconds })
    },
    untrusted: trust::lack,
    needs: |scope| match scope {
        Scope::Project | Scope::Local => vec![
            "trust the project when Codex asks, then type `/hooks` and trust Tollgate's hooks there; \
             until then Codex skips them silently",
            "after an upgrade that changes the registration, trust them again",
        ],
        Scope::User => vec![
            "type `/hooks` and trust Tollgate's hooks there; until then Codex skips them without a \
             word",
            "after an upgrade that changes the registration, trust them again",
        ],
    },
    reviewer: Some(reviewer::REVIEWER),
    ..Row::PLAIN
};

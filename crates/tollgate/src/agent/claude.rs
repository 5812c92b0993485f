//! Claude Code: three settings files whose hook lists add up, and plugins. Seconds; a program
//! with arguments, without a shell between.
//!
//! Copilot CLI and Cursor also run what is registered in the project's two files. Copilot CLI
//! 1.0.102 was seen to give `command` to a shell and to leave `args` out, and it takes any exit
//! code but 0 for a no. So `tollgate` alone is `tollgate hook`, and whatever would not survive
//! that (an option that must not be lost, a path that a shell takes apart) is one line for a shell.

use serde_json::json;
use tollgate_core::protocol::{EventKind, Protocol};

use super::command::quoted;
use super::{Dialect, Scope, Shape, Strictness};

pub(super) const DIALECT: Dialect = Dialect {
    name: "claude-code",
    title: "Claude Code",
    wire: Protocol::Claude,
    programs: &["claude"],
    signs: &[".claude", "CLAUDE.md"],
    home: |places| places.claude.as_deref(),
    settings: |scope, places| match scope {
        Scope::Project => Some(places.root.join(".claude/settings.json")),
        Scope::Local => Some(places.root.join(".claude/settings.local.json")),
        Scope::User => Some(places.claude.as_ref()?.join("settings.json")),
    },
    reads: |scope, places| Vec::from_iter((DIALECT.settings)(scope, places)),
    off: |member| (member("disableAllHooks")? == true).then_some("disableAllHooks"),
    event: |event| Some(event.as_str()),
    shape: Shape::Nested,
    preamble: &[],
    says_matcher: true,
    handler: |registration, command, strictness| {
        let is_plain = command.args == ["hook"] && quoted(&command.program) == command.program;
        let (line, args) = if is_plain {
            (command.program.clone(), Some(&command.args))
        } else {
            (command.for_shell(), None)
        };
        // At a stop it is ignored; after a tool there is nothing left to hold up.
        let is_strict =
            strictness == Strictness::Strict && registration.event == EventKind::PreTool;
        json!({
            "type": "command", "command": line, "args": args, "timeout": registration.seconds,
            "onFailure": is_strict.then_some("block"),
        })
    },
    strict: true,
    needs: |scope| match scope {
        Scope::Project | Scope::Local => vec![
            "start it in the project's root: settings are read from the directory it starts in",
            "if it asks whether you trust this folder, say yes; without that no hook runs",
            "`/hooks` shows what is registered; running sessions pick it up by themselves",
        ],
        Scope::User => {
            vec!["`/hooks` shows what is registered; running sessions pick it up by themselves"]
        }
    },
};

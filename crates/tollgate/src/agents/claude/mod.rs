//! Claude Code: three settings files whose hook lists add up, and plugins. Seconds; a program
//! with arguments, without a shell between.
//!
//! Copilot CLI also runs what is registered in the project's two files, and Cursor does if the person
//! switched that on there, so its row has no `also_runs`. Copilot CLI
//! 1.0.102 was seen to give `command` to a shell and to leave `args` out, and it takes any exit
//! code but 0 for a no. So `tollgate` alone is `tollgate hook`, and whatever would not survive
//! that (an option that must not be lost, a path that a shell takes apart) is one line for a shell.
//!
//! Copilot CLI also takes a program that is not there for a no. It prefers the member `bash` to `command`
//! (Claude Code ignores it; both measured), so that has the line that goes on without the program.

pub(crate) mod mods;
mod reviewer;

pub(crate) use reviewer::envelope;

use serde_json::{Value, json};
use tollgate_core::protocol::{EventKind, Protocol};

use super::command::quoted;
use super::{Members, Row, Scope, Strictness};

pub(super) static ROW: Row = Row {
    name: "claude-code",
    aliases: &["claude"],
    title: "Claude Code",
    protocol: Protocol::Claude,
    programs: &["claude"],
    signs: &[".claude", "CLAUDE.md"],
    home: &[("CLAUDE_CONFIG_DIR", ""), ("HOME", ".claude")],
    project_file: ".claude/settings.json",
    local_file: Some(".claude/settings.local.json"),
    user_file: "settings.json",
    environment_files: &[".claude/settings.json", ".claude/settings.local.json"],
    // Copilot and Cursor run what is in Claude Code's files, so those must not name a protocol.
    says_protocol: false,
    reads_start_only: true,
    sets_variables: true,
    starts_program: true,
    taskie_plugins,
    off: |member| (member("disableAllHooks")? == true).then_some("disableAllHooks"),
    event: |event| Some(event.as_str()),
    says_matcher: true,
    handler: |registration, command, strictness| {
        let is_plain = command.args == ["hook"] && quoted(&command.program) == command.program;
        let checked = command.for_shell_if_there(registration.event);
        let (line, args, bash) = if is_plain {
            (command.program.clone(), Some(&command.args), Some(checked))
        } else {
            (checked, None, None)
        };
        // At a stop it is ignored; after a tool there is nothing left to hold up.
        let is_strict =
            strictness == Strictness::Strict && registration.event == EventKind::PreTool;
        json!({
            "type": "command", "command": line, "args": args, "timeout": registration.seconds,
            "bash": bash,
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
    reviewer: Some(reviewer::REVIEWER),
    ..Row::PLAIN
};

/// The plugin is called by its own name, whatever the marketplace.
fn taskie_plugins(member: &Members<'_>) -> Vec<String> {
    let Some(Value::Object(plugins)) = member("enabledPlugins") else {
        return vec![];
    };
    let enabled = plugins.iter().filter(|(name, enabled)| {
        name.split('@').next() == Some("taskie") && **enabled == Value::Bool(true)
    });
    enabled.map(|(name, _)| name.clone()).collect()
}

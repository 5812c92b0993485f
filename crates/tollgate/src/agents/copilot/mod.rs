//! Copilot CLI: any JSON file in a directory of hooks, so Tollgate has one of its own there;
//! settings for what concerns one person in one project. Seconds.
//!
//! It also runs the hooks in the project's two files of Claude Code. Events are registered by
//! Claude Code's names, because then they name themselves.

mod reviewer;

use std::path::PathBuf;

use serde_json::json;
use tollgate_core::protocol::Protocol;

use super::{Row, Scope, Shape, claude};

pub(super) static ROW: Row = Row {
    name: "copilot",
    aliases: &["copilot-cli"],
    title: "Copilot CLI",
    protocol: Protocol::Copilot,
    programs: &["copilot"],
    signs: &[
        ".github/hooks",
        ".github/copilot",
        ".github/copilot-instructions.md",
    ],
    home: &[("COPILOT_HOME", ""), ("HOME", ".copilot")],
    project_file: ".github/hooks/tollgate.json",
    local_file: Some(".github/copilot/settings.local.json"),
    user_file: "hooks/tollgate.json",
    reads: Some(|scope, places| {
        let (directory, settings) = match scope {
            Scope::Project => (
                Some(places.root.join(".github/hooks")),
                Some(places.root.join(".github/copilot/settings.json")),
            ),
            Scope::Local => (None, ROW.settings(scope, places)),
            Scope::User => (places.home_of(&ROW).map(|home| home.join("hooks")), None),
        };
        let entries = directory.and_then(|directory| directory.read_dir().ok());
        let mut files: Vec<PathBuf> = entries
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|kind| kind == "json"))
            .collect();
        files.sort();
        files.extend(settings);
        files
    }),
    environment_files: &[
        ".github/copilot/settings.json",
        ".github/copilot/settings.local.json",
    ],
    also_runs: Some(&claude::ROW),
    off: |member| (member("disableAllHooks")? == true).then_some("disableAllHooks"),
    shape: Shape::Flat,
    preamble: &[("version", 1)],
    blocks_without_program: true,
    handler: |registration, command, _| {
        let line = command.for_shell_if_there(registration.event);
        json!({ "type": "command", "bash": line, "timeoutSec": registration.seconds })
    },
    needs: |scope| match scope {
        Scope::Project | Scope::Local => vec![
            "trust the folder when Copilot CLI asks; with `-p` an untrusted one runs no hooks",
            "restart Copilot CLI",
        ],
        Scope::User => vec!["restart Copilot CLI"],
    },
    reviewer: Some(reviewer::REVIEWER),
    ..Row::PLAIN
};

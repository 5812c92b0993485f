//! Copilot CLI: any JSON file in a directory of hooks, so Tollgate has one of its own there;
//! settings for what concerns one person in one project. Seconds.
//!
//! It also runs the hooks in the project's two files of Claude Code. Events are registered by
//! Claude Code's names, because then they name themselves.

use std::path::PathBuf;

use serde_json::json;
use tollgate_core::protocol::{EventKind, Protocol};

use super::{Dialect, Scope, Shape};

pub(super) const DIALECT: Dialect = Dialect {
    name: "copilot",
    title: "Copilot CLI",
    wire: Protocol::Copilot,
    programs: &["copilot"],
    signs: &[
        ".github/hooks",
        ".github/copilot",
        ".github/copilot-instructions.md",
    ],
    home: |places| places.copilot.as_deref(),
    settings: |scope, places| match scope {
        Scope::Project => Some(places.root.join(".github/hooks/tollgate.json")),
        Scope::Local => Some(places.root.join(".github/copilot/settings.local.json")),
        Scope::User => Some(places.copilot.as_ref()?.join("hooks/tollgate.json")),
    },
    reads: |scope, places| {
        let (directory, settings) = match scope {
            Scope::Project => (
                Some(places.root.join(".github/hooks")),
                Some(places.root.join(".github/copilot/settings.json")),
            ),
            Scope::Local => (None, (DIALECT.settings)(scope, places)),
            Scope::User => (places.copilot.as_ref().map(|home| home.join("hooks")), None),
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
    },
    off: |member| (member("disableAllHooks")? == true).then_some("disableAllHooks"),
    event: |event| (event != EventKind::Other).then(|| event.as_str()),
    shape: Shape::Flat,
    preamble: &[("version", 1)],
    says_matcher: false,
    handler: |registration, command, _| {
        let line = command.for_shell();
        json!({ "type": "command", "bash": line, "timeoutSec": registration.seconds })
    },
    strict: false,
    needs: |scope| match scope {
        Scope::Project | Scope::Local => vec![
            "trust the folder when Copilot CLI asks; with `-p` an untrusted one runs no hooks",
            "restart Copilot CLI",
        ],
        Scope::User => vec!["restart Copilot CLI"],
    },
};

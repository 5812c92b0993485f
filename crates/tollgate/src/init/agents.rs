//! Which coding agents are used here: by what they leave in a project, and by what is installed.

use std::ffi::OsStr;
use std::path::Path;

use crate::review::cli::find;

/// An agent that is used here, or could be.
#[derive(Debug)]
pub(crate) struct Agent {
    /// As Tollgate's commands name it.
    pub(crate) name: &'static str,
    /// As people do.
    pub(crate) title: &'static str,
    /// What in the project told; none if only its program was found.
    pub(crate) trace: Option<&'static str>,
}

/// Name, title, what it leaves in a project, its program.
type Row = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const AGENTS: &[Row] = &[
    (
        "claude",
        "Claude Code",
        &[".claude", "CLAUDE.md", ".mcp.json"],
        &["claude"],
    ),
    ("codex", "Codex", &[".codex", "AGENTS.md"], &["codex"]),
    (
        "gemini",
        "Gemini CLI",
        &[".gemini", "GEMINI.md"],
        &["gemini"],
    ),
    (
        "copilot",
        "Copilot CLI",
        &[".github/copilot-instructions.md", ".github/hooks"],
        &["copilot"],
    ),
    (
        "cursor",
        "Cursor",
        &[".cursor", ".cursorrules"],
        &["cursor-agent", "cursor"],
    ),
];

pub(super) fn survey(root: &Path, search: &OsStr) -> Vec<Agent> {
    AGENTS
        .iter()
        .filter_map(|(name, title, traces, programs)| {
            let trace = traces
                .iter()
                .copied()
                .find(|trace| root.join(trace).exists());
            let installed = programs
                .iter()
                .any(|program| find(program, search).is_some());
            (trace.is_some() || installed).then_some(Agent { name, title, trace })
        })
        .collect()
}

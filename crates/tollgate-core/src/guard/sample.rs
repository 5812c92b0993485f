//! An event that a guard must react to, and the project that it happens in.

/// The sample of one guard.
#[derive(Debug)]
pub struct Sample {
    /// What the guard must do about it.
    pub must: Must,
    /// The project it is shown in.
    pub files: &'static [(&'static str, &'static str)],
    /// The event, in the specification's bare shape.
    pub event: &'static str,
}

/// How a guard reacts to its sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Must {
    /// It blocks.
    Block,
    /// It warns.
    Warn,
    /// It records something, or tells the agent something.
    Act,
}

/// The moment in which samples happen: the times in their states are seen from here.
pub const NOW: &str = "2026-01-01T00:10:00Z";

pub(super) const STATE: &str = ".isdlc/state.json";
pub(super) const MANIFEST: (&str, &str) = (
    ".isdlc/config/skills-manifest.json",
    r#"{"ownership":{"software-developer":{"phase":"06-implementation"},
        "upgrade-engineer":{"phase":"15-upgrade"},"sdlc-orchestrator":{"phase":"all"},
        "discover-orchestrator":{"phase":"setup"}}}"#,
);
pub(super) const REQUIREMENTS: (&str, &str) = (
    ".isdlc/config/iteration-requirements.json",
    r#"{"phase_requirements":{"06-implementation":{"timeout_minutes":5,
        "test_iteration":{"enabled":true},
        "constitutional_validation":{"enabled":true,"articles":["I"]}}}}"#,
);
pub(super) const DELEGATION: &str =
    r#"{"tool_name":"Task","tool_input":{"subagent_type":"software-developer","prompt":"x"}}"#;
pub(super) const ADVANCE: &str = r#"{"tool_name":"Task","tool_input":{"subagent_type":"sdlc-orchestrator","prompt":"advance to the next phase"}}"#;

//! An event that a guard must react to, and the project that it happens in.

/// The sample of one guard.
#[derive(Debug)]
pub struct Sample {
    /// What the guard must do about it.
    pub must: Must,
    /// The state of the project it is shown in.
    pub state: &'static str,
    /// What else is in that project.
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

impl Sample {
    /// Every file of the project it is shown in, with its text.
    pub fn project(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        std::iter::once((STATE, self.state)).chain(self.files.iter().copied())
    }

    pub(super) const BLOCKED: Self = Self {
        must: Must::Block,
        state: "{}",
        files: &[],
        event: "",
    };
    pub(super) const WARNED: Self = Self {
        must: Must::Warn,
        ..Self::BLOCKED
    };
    pub(super) const RECORDED: Self = Self {
        must: Must::Act,
        ..Self::BLOCKED
    };
}

/// The moment in which samples happen: the times in their states are seen from here.
pub const NOW: &str = "2026-01-01T00:10:00Z";

const STATE: &str = ".isdlc/state.json";
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

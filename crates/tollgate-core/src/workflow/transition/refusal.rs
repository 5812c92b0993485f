//! Why a step is not made: what, and what to do next.

use std::fmt;

use crate::nearest::nearest;

/// What kind of no it is; it decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The step makes no sense here.
    Misplaced,
    /// The step makes sense, and a gate, a review or an escalation says no.
    Closed,
}

/// A step that is not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What kind of no.
    pub kind: Kind,
    /// What is in the way.
    pub what: String,
    /// What to do next.
    pub next: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl Refusal {
    pub(crate) fn misplaced(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            kind: Kind::Misplaced,
            what: what.into(),
            next: next.into(),
        }
    }

    pub(crate) fn closed(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            kind: Kind::Closed,
            what: what.into(),
            next: next.into(),
        }
    }

    pub(crate) fn no_workflow() -> Self {
        Self::misplaced(
            "no workflow is running",
            "`tollgate workflow start NAME \"what it is about\"` starts one; `tollgate workflow definitions` lists them",
        )
    }

    pub(crate) fn no_reason() -> Self {
        Self::misplaced("the reason is empty", "give a reason: `--reason \"…\"`")
    }

    pub(crate) fn finished() -> Self {
        Self::misplaced(
            "every phase is completed",
            "`tollgate workflow finalize` archives the workflow",
        )
    }

    pub(crate) fn contradiction(what: &str) -> Self {
        Self::misplaced(
            format!("the state contradicts itself: {what}"),
            "`tollgate workflow audit` explains it, `tollgate workflow audit --repair` repairs it",
        )
    }

    /// A workflow has no phase of this name.
    pub(crate) fn unknown_phase(name: &str, workflow: &str, phases: &[&str]) -> Self {
        let next = match nearest(name, phases.iter().copied()) {
            Some(meant) => format!("did you mean {meant}?"),
            None => format!("its phases are {}", phases.join(", ")),
        };
        Self::misplaced(format!("{workflow} has no phase '{name}'"), next)
    }

    /// Another process was quicker.
    pub fn raced(what: &str) -> Self {
        Self::misplaced(what, "`tollgate workflow status` shows the phase")
    }

    pub(crate) fn unfinished_review(phase: &str) -> Self {
        Self::closed(
            format!("phase '{phase}' waits for its review"),
            "`tollgate phase review --continue` approves it, `--review` pauses for reading, `tollgate phase redo --guidance …` repeats it",
        )
    }
}

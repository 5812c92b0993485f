//! Notes that guards write when they correct something in the state or configuration.

use super::{Code, Decision, EventContext, Finding};
use crate::project::ConfigFile;
use crate::workflow::phases;

/// The code under which a guard notes it.
pub(super) const fn code(id: &'static str) -> Code {
    Code::warns(
        id,
        "the guard corrected an inconsistent state before it decided (note)",
        "nothing; it is in the log",
    )
}

/// Nothing to object to; a phase under an old name is noted.
pub(super) fn renamed(guard: &str, code: &'static str, phase: &str) -> Decision {
    let now = phases::canonical(phase);
    if now == phase {
        return Decision::allow();
    }
    let what = format!("Phase key '{phase}' normalized to '{now}'.");
    Decision::allow().noting(note(guard, code, phase, &what))
}

/// The phase has no requirements. That is worth a note if others have requirements.
pub(super) fn no_requirements(
    context: &EventContext<'_>,
    guard: &str,
    code: &'static str,
    phase: &str,
    what: &str,
) -> Decision {
    let config = context.config(ConfigFile::Requirements);
    if config.is_none_or(|config| !config.has("phase_requirements")) {
        return Decision::allow();
    }
    renamed(guard, code, phase).noting(note(guard, code, phase, what))
}

pub(super) fn note(guard: &str, code: &'static str, phase: &str, what: &str) -> Finding {
    Finding::new(code, format!("[SELF-HEAL] {guard}: {what}"), what).phase(phase)
}

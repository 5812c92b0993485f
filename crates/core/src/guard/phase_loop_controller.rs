//! phase-loop-controller: no delegation before the phase is marked as in progress.

use super::{Class, Guard};
use crate::protocol::EventKind;
use crate::scene::Scene;
use crate::verdict::{Finding, Verdict};
use crate::workflow::delegation::Delegation;
use crate::workflow::phases;

pub(super) const GUARD: Guard = Guard {
    name: "phase-loop-controller",
    about: "blocks a delegation whose phase is not marked as in progress",
    on: &[(EventKind::PreTool, Class::Delegate)],
    codes: &[("PLC-001", "the phase is neither in progress nor completed")],
    check: |scene| check(scene).into(),
};

fn check(scene: &Scene<'_>) -> Verdict {
    let Delegation::Phase(target) = scene.delegation() else {
        return Verdict::Allow;
    };
    let (Some(state), Some(current)) = (scene.state(), scene.current_phase()) else {
        return Verdict::Allow;
    };
    let within = phases::same(&target.phase, &current);
    // A sub-agent that hands work to helpers of its own phase is inside the phase already,
    // whatever the state file says. From the top level the status must have been written.
    if within && scene.event.agent_id.is_some() {
        return Verdict::Allow;
    }
    // Across phases both must be under way; phase-sequence-guard speaks first there.
    let subject = [target.phase.as_str(), &current];
    let subjects = if within {
        subject.get(1..)
    } else {
        subject.get(..)
    }
    .unwrap_or_default();
    let open = subjects
        .iter()
        .map(|phase| state.phase_status(phase))
        .find(|status| !matches!(status.as_deref(), Some("in_progress" | "completed")));
    let Some(status) = open else {
        return Verdict::Allow;
    };

    let phase = &target.phase;
    let agent = target.agent.as_deref().unwrap_or(phase);
    let status = status.as_deref().unwrap_or("not set");
    let text = format!(
        "PHASE DELEGATION WITHOUT PROGRESS TRACKING: You are delegating to phase agent \
         '{agent}' for phase '{phase}', but the phase task has not been marked as \
         in_progress.\n\n\
         Before delegating, you MUST:\n\
         1. Call TaskCreate to create a task for this phase (if not already created)\n\
         2. Call TaskUpdate to set the task status to in_progress\n\n\
         This ensures the user can see phase progress via spinners. The phase status in \
         state.json must be \"in_progress\" before delegation can proceed.\n\n\
         Current phase status: {status}"
    );
    let reason = format!("Phase status is '{status}', expected 'in_progress'");
    Verdict::Block(
        Finding::new("PLC-001", text, reason)
            .phase(phase)
            .agent(agent),
    )
}

//! phase-loop-controller: no delegation before the phase is marked as in progress.

use super::fields::PHASE;
use super::sample::{DELEGATION, MANIFEST};
use super::{Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample, in_order};
use crate::next::Next;
use crate::workflow::delegation::Delegation;
use crate::workflow::phases;

pub(super) const GUARD: Guard = Guard {
    name: "phase-loop-controller",
    about: "blocks a delegation whose phase is not marked as in progress",
    is_general: false,
    on: &[(EventKind::PreTool, Class::Delegate)],
    codes: &[
        Code::blocks(
            "PLC-001",
            "the phase is neither in progress nor completed",
            "mark the phase as in progress (`tollgate phase begin`) before delegating",
        )
        .passes_with(&[
            "phases.{}.status = \"in_progress\"",
            "phases.{current}.status = \"in_progress\"",
        ]),
        Code::warns(
            "PLC-100",
            "a sub-agent continued inside its own phase (log only)",
            "nothing; it is in the log",
        ),
    ],
    reads: &[PHASE, "phases.{}.status", "active_workflow.phase_status.{}"],
    sample: Some(Sample {
        state: r#"{"active_workflow":{"current_phase":"06-implementation"}}"#,
        files: &[MANIFEST],
        event: DELEGATION,
        ..Sample::BLOCKED
    }),
    check,
};

/// What the specification writes into its log about it.
const SAME_PHASE: &str = "targetPhase matches currentPhase — intra-phase sub-agent call";

fn check(context: &EventContext<'_>) -> Option<Decision> {
    let Delegation::Phase(target) = context.delegation() else {
        return None;
    };
    let (state, current) = (context.state()?, context.current_phase()?);
    let within = phases::same(&target.phase, &current);
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
    let status = open?;

    let phase = &target.phase;
    // A sub-agent that hands work to helpers of its own phase is inside the phase already,
    // whatever the state file says. From the top level the status must have been written.
    if within && context.event.agent_id.is_some() {
        let agent = target.agent.as_deref().unwrap_or("unknown");
        let note = Finding::new("PLC-100", "", SAME_PHASE).phase(&current);
        return Some(Decision::allow().noting(note.agent(agent)));
    }
    let agent = target.agent.as_deref().unwrap_or(phase);
    let status = status.as_deref().unwrap_or("not set");
    let own = format!(
        "Phase '{phase}' has not begun (its status is {status}), so '{agent}' cannot work in it yet."
    );
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
    let next = if within {
        Next::retry(in_order::begin(context, phase))
    } else {
        in_order::to_turn(context, target, &current)
    };
    let finding = Finding::new("PLC-001", context.words(text, own), reason).next(next);
    Some(Decision::block(finding.phase(phase).agent(agent)))
}

//! phase-sequence-guard: a delegation goes to the phase the workflow is in, and to no other.

use super::fields::PHASE;
use super::sample::{DELEGATION, MANIFEST};
use super::{Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample, in_order};
use crate::workflow::delegation::Delegation;
use crate::workflow::phases;

pub(super) const GUARD: Guard = Guard {
    name: "phase-sequence-guard",
    about: "blocks a delegation to a phase that is not the current one",
    is_general: false,
    on: &[(EventKind::PreTool, Class::Delegate)],
    codes: &[
        Code::blocks(
            "PSG-001",
            "the delegation's phase is not the current one",
            "finish the current phase first, or delegate to its agent",
        )
        .passes_with(&[
            "active_workflow.current_phase = {target}",
            "current_phase = {target}",
        ]),
        Code::warns(
            "PSG-002",
            "the prompt has an unknown `Phase key:` (warning)",
            "name a phase of the workflow in the `Phase key:` line",
        ),
    ],
    reads: &[PHASE],
    sample: Some(Sample {
        state: r#"{"active_workflow":{"current_phase":"01-requirements"}}"#,
        files: &[MANIFEST],
        event: DELEGATION,
        ..Sample::BLOCKED
    }),
    check,
};

fn check(context: &EventContext<'_>) -> Option<Decision> {
    if *context.delegation() == Delegation::None {
        return None;
    }
    let current = context.current_phase()?;
    let target = match context.delegation() {
        Delegation::None => return None,
        Delegation::Phase(target) => target,
        Delegation::UnknownPhase(key) => {
            let text = format!(
                "[phase-sequence-guard] WARNING: Unknown phase key in a delegation.\n  \
                 Phase key: {key}\n  Current phase: {current}\n  \
                 No workflow knows this phase, so the delegation was not checked."
            );
            let reason = format!("Unknown phase key '{key}'");
            return Some(Decision::warn([
                Finding::new("PSG-002", text, reason).phase(&current)
            ]));
        }
    };
    if phases::same(&target.phase, &current) {
        return None;
    }
    let agent = target.agent.as_deref().unwrap_or("unknown");
    let phase = &target.phase;
    let gate = phases::gate_number(&current);
    let text = format!(
        "OUT-OF-ORDER PHASE DELEGATION: Attempting to delegate to phase \
         '{phase}' (agent: {agent}), but the current workflow phase is '{current}'.\n\n\
         Phases must execute in the order defined by the workflow. You cannot skip ahead or go \
         back to a previous phase without advancing through the gate.\n\n\
         To proceed correctly:\n\
         - Complete the current phase '{current}' and pass GATE-{gate}\n\
         - Then the orchestrator will advance to the next phase automatically\n\n\
         Current phase: {current}\nTarget phase:  {phase}"
    );
    let own = format!(
        "This delegates to '{agent}' in phase '{phase}', and the workflow is in phase '{current}'. \
         Phases run in the order of the workflow."
    );
    let reason = format!("Target phase '{phase}' does not match current '{current}'");
    let finding = Finding::new("PSG-001", context.words(text, own), reason);
    let finding = finding.next(in_order::to_turn(context, target, &current));
    Some(Decision::block(finding.phase(&current).agent(agent)))
}

//! plan-surfacer: from implementation on, no sub-agent works without a task plan.

use super::{Class, Guard};
use crate::protocol::EventKind;
use crate::scene::Scene;
use crate::verdict::{Finding, Verdict};
use crate::workflow::phases;

pub(super) const GUARD: Guard = Guard {
    name: "plan-surfacer",
    about: "blocks sub-agents from the implementation phase on while there is no tasks.md",
    on: &[(EventKind::PreTool, Class::Delegate)],
    codes: &[("PS-001", "the phase needs a task plan and there is none")],
    check: |scene| check(scene).into(),
};

fn check(scene: &Scene<'_>) -> Verdict {
    let Some(current) = scene.current_phase() else {
        return Verdict::Allow;
    };
    if phases::EARLY.contains(&phases::canonical(&current)) {
        return Verdict::Allow;
    }
    let plan = scene.document("tasks.md");
    if plan.exists() {
        return Verdict::Allow;
    }
    let path = plan.display();
    let text = format!(
        "TASK PLAN NOT GENERATED: The current phase '{current}' requires a task plan \
         (docs/isdlc/tasks.md) to exist before proceeding. No plan was found.\n\n\
         The task plan provides user visibility into the project roadmap and phase breakdown. \
         Without it, the user cannot see what work is planned.\n\n\
         To fix this:\n\
         1. Run the generate-plan skill (ORCH-012) to create the task plan\n\
         2. Or manually create docs/isdlc/tasks.md with the phase breakdown\n\n\
         Expected path: {path}"
    );
    let reason = format!("No tasks.md found at {path}");
    Verdict::Block(Finding::new("PS-001", text, reason).phase(&current))
}

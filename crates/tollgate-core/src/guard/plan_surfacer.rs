//! plan-surfacer: from implementation on, no sub-agent works without a task plan.

use std::path::Path;

use super::fields::PHASE;
use super::sample::DELEGATION;
use super::{Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample};
use crate::next::{Next, Step};
use crate::workflow::{phases, plan_format};

pub(super) const GUARD: Guard = Guard {
    name: "plan-surfacer",
    about: "blocks sub-agents from the implementation phase on while there is no tasks.md",
    is_general: false,
    on: &[(EventKind::PreTool, Class::Delegate)],
    codes: &[
        Code::blocks(
            "PS-001",
            "the phase needs a task plan and there is none",
            "write the task plan where the message says",
        ),
        Code::warns(
            "PS-002",
            "the task plan has a wrong format (warning)",
            "correct the plan, or leave out the format line",
        ),
    ],
    reads: &[PHASE],
    sample: Some(Sample {
        state: r#"{"active_workflow":{"current_phase":"06-implementation"}}"#,
        event: DELEGATION,
        ..Sample::BLOCKED
    }),
    check,
};

fn check(context: &EventContext<'_>) -> Option<Decision> {
    let current = context.current_phase()?;
    if phases::EARLY.contains(&phases::canonical(&current)) {
        return None;
    }
    // A phase of Tollgate's own workflows says itself what it needs.
    if !context.layout().is_isdlc() && !phases::is_numbered(&current) {
        return None;
    }
    let plan = context.document("tasks.md");
    if plan.exists() {
        return Some(form(context, &plan, &current));
    }
    let path = plan.display();
    let layout = context.layout();
    let shown = layout.shown(&plan).display();
    let text = format!(
        "TASK PLAN NOT GENERATED: The current phase '{current}' requires a task plan \
         ({shown}) to exist before proceeding. No plan was found.\n\n\
         The task plan provides user visibility into the project roadmap and phase breakdown. \
         Without it, the user cannot see what work is planned.\n\n\
         To fix this:\n\
         1. Run the generate-plan skill (ORCH-012) to create the task plan\n\
         2. Or manually create {shown} with the phase breakdown\n\n\
         Expected path: {path}"
    );
    let own = format!(
        "Phase '{current}' needs a task plan, and there is no {shown}.\n\n\
         The plan lists the phases and their tasks, so that the person sees what is to come.\n\n\
         Expected path: {path}"
    );
    let what = "the task plan with the tasks of each phase";
    let path = layout.shown(&plan).display().to_string();
    let next = Next::retry([Step::Write { what, path }]);
    let reason = format!("No tasks.md found at {}", plan.display());
    let finding = Finding::new("PS-001", context.words(text, own), reason).next(next);
    Some(Decision::block(finding.phase(&current)))
}

/// The implementation works by the plan; what is wrong with its form is reported, and no more.
fn form(context: &EventContext<'_>, plan: &Path, phase: &str) -> Decision {
    if !phases::same(phase, "06-implementation") {
        return Decision::allow();
    }
    let text = context.file_text(plan).unwrap_or_default();
    let flaws = plan_format::flaws(&text);
    if flaws.is_empty() {
        return Decision::allow();
    }
    let text = format!(
        "[plan-surfacer] Format warnings:\n- {}\n  Path: {}",
        flaws.join("\n- "),
        plan.display()
    );
    Decision::warn([Finding::new("PS-002", text, flaws.join("; ")).phase(phase)])
}

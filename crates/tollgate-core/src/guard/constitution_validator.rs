//! constitution-validator: a phase is not called complete before its artifacts were checked
//! against the constitution.

use serde_json::json;

use super::fields::{PHASE, VALIDATION, VALIDATION_RECORD};
use super::sample::REQUIREMENTS;
use super::{
    Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample, advance, self_heal,
    validation,
};
use crate::guard::escalation::Escalation;
use crate::text;
use crate::workflow::evidence::{self, CONSTITUTION};
use crate::workflow::requirements::Requirements;
use tollgate_store::edit::Edit;
use tollgate_store::json::Object;
use tollgate_store::timestamp;

pub(super) const GUARD: Guard = Guard {
    name: NAME,
    about: "blocks calling a phase complete before its constitutional validation",
    is_general: false,
    on: &[(EventKind::PreTool, Class::Delegate)],
    codes: &[
        Code::blocks(
            "CV-001",
            "the constitutional validation of the phase is not done",
            "validate the work against the listed articles first",
        )
        .passes_with(VALIDATION),
        self_heal::code("CV-100"),
    ],
    reads: &[PHASE, VALIDATION_RECORD, "iteration_enforcement"],
    sample: Some(Sample {
        state: r#"{"active_workflow":{"current_phase":"06-implementation"}}"#,
        files: &[REQUIREMENTS],
        event: r#"{"tool_name":"Task","tool_input":{"subagent_type":"sdlc-orchestrator","prompt":"phase complete"}}"#,
        ..Sample::BLOCKED
    }),
    check,
};

const NAME: &str = "constitution-validator";

/// Prose that calls a phase complete.
const COMPLETION: &[&str] = &[
    "phase complete",
    "phase completed",
    "phase done",
    "phase finished",
    "phase is complete",
    "phase is done",
    "phase # complete",
    "phase # completed",
    "phase # is complete",
    "ready for gate",
    "ready for gate-#",
    "gate validation",
    "submit for review",
    "finalize artifacts",
    "declare complete",
    "mark as complete",
    "mark as completed",
    "implementation complete",
    "implementation completed",
    "implementation is complete",
    "testing complete",
    "testing completed",
    "testing is complete",
    "requirements complete",
    "requirements completed",
    "requirements are complete",
];

fn check(context: &EventContext<'_>) -> Option<Decision> {
    let (state, phase) = context.state().zip(context.gate_phase())?;
    let completes = || advance::request(context).is_some_and(|text| text::says(&text, COMPLETION));
    if !state.enforces_iterations() || !completes() {
        return None;
    }
    let Some(requirements) = context.requirements() else {
        let what = format!("No requirements for phase '{phase}'. Allowing completion.");
        return Some(self_heal::no_requirements(
            context, NAME, "CV-100", &phase, &what,
        ));
    };
    let required = requirements.enabled(CONSTITUTION)?;
    let decision = self_heal::renamed(NAME, "CV-100", &phase);
    let entry = state.phase(&phase);
    let checked = entry.and_then(|entry| entry.object(CONSTITUTION));
    let Some(status) = open_status(checked.as_ref()) else {
        return Some(decision);
    };
    let text = message(context, &phase, status, &required, checked.as_ref());
    let escalation = Escalation {
        kind: "constitution_blocked",
        hook: NAME,
        phase: &phase,
        detail: &text,
    };
    let mut edits: Vec<Edit> = escalation.raise(context).into_iter().collect();
    // A phase that has no entry gets none here: its status is for the workflow to say.
    if checked.is_none() && state.phase(&phase).is_some() {
        let path = ["phases", state.phase_key(&phase), CONSTITUTION];
        edits.push(Edit::set(&path, begun(context, &required)));
    }
    let reason = format!("Constitutional validation is {status}");
    let next = validation::next(context, "CV-001", &phase, &required.texts("articles"));
    let finding = Finding::new("CV-001", text, reason).next(next);
    let finding = finding.phase(&phase);
    Some(decision.editing(edits).blocking(finding))
}

/// How far the validation is; nothing once it is done.
fn open_status(checked: Option<&Object<'_>>) -> Option<&'static str> {
    let Some(checked) = checked else {
        return Some("not_started");
    };
    match checked.str("status").as_deref() {
        Some("escalated") if evidence::is_approved(checked) => None,
        Some("escalated") => Some("escalated_pending"),
        Some("iterating" | "pending") => Some("in_progress"),
        _ if !evidence::is_completed(checked) => Some("in_progress"),
        Some("compliant") => None,
        _ => Some("unknown"),
    }
}

fn message(
    context: &EventContext<'_>,
    phase: &str,
    status: &str,
    required: &Requirements<'_>,
    checked: Option<&Object<'_>>,
) -> String {
    let number = |key: &str| checked.and_then(|checked| checked.get(key)?.u64());
    let used = number("iterations_used").unwrap_or(0);
    let most = number("max_iterations").unwrap_or_else(|| most_iterations(required));
    let left = most.saturating_sub(used);
    let listed = required.texts("articles").join(", ");
    let own = format!(
        "Phase '{phase}' is not complete: its work was not checked against the project's \
         principles (status: {status}).\n\n\
         Principles: {listed}\nRun {used} of {most}, {left} left."
    );
    let articles = required.texts("articles").into_iter();
    let articles = articles.map(|article| format!("  - Article {article}"));
    let articles = articles.collect::<Vec<_>>().join("\n");
    let text = format!(
        "PHASE COMPLETION BLOCKED: Constitutional validation required.\n\n\
         Phase:  {phase}\nStatus: {status}\n\n\
         Before the phase can be called complete:\n\
         1. Read the project's constitution\n\
         2. Hold every artifact of this phase against the articles below\n\
         3. Fix what violates them\n\
         4. Record the iteration in phases['{phase}'].constitutional_validation\n\
         5. Repeat until the status is 'compliant', or escalate to the person\n\n\
         Articles to validate:\n{articles}\n\n\
         Iteration {used}/{most} — you have {left} attempts remaining."
    );
    context.words(text, own)
}

/// The entry of a validation that has just been asked for.
fn begun(context: &EventContext<'_>, required: &Requirements<'_>) -> serde_json::Value {
    json!({
        "required": true,
        "completed": false,
        "status": "pending",
        "iterations_used": 0,
        "max_iterations": most_iterations(required),
        "articles_required": required.texts("articles"),
        "articles_checked": [],
        "violations_found": [],
        "history": [],
        "started_at": timestamp::iso(context.now()),
    })
}

fn most_iterations(required: &Requirements<'_>) -> u64 {
    required.u64("max_iterations").unwrap_or(5)
}

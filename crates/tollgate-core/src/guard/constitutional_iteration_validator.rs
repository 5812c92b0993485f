//! constitutional-iteration-validator: a validation that says it is complete has been done.

use super::fields::{PHASE, VALIDATION, VALIDATION_RECORD};
use super::{
    Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample, advance, validation,
};
use crate::workflow::evidence::CONSTITUTION;
use tollgate_store::json::{Node, Object};

pub(super) const GUARD: Guard = Guard {
    name: "constitutional-iteration-validator",
    about: "blocks a gate check whose constitutional validation is not finished or not credible",
    is_general: false,
    on: &[(EventKind::PreTool, Class::Skill)],
    codes: &[Code::blocks(
        "CIV-001",
        "the record of the constitutional validation is incomplete",
        "finish the validation and record its iterations, status and articles",
    )
    .passes_with(VALIDATION)],
    reads: &[PHASE, VALIDATION_RECORD, "iteration_enforcement"],
    sample: Some(Sample {
        state: r#"{"active_workflow":{"current_phase":"06-implementation"},
            "phases":{"06-implementation":{"constitutional_validation":{"completed":true}}}}"#,
        event: r#"{"tool_name":"Skill","tool_input":{"skill":"isdlc","args":"gate-check"}}"#,
        ..Sample::BLOCKED
    }),
    check,
};

fn check(context: &EventContext<'_>) -> Option<Decision> {
    let (state, phase) = context.state().zip(context.current_phase())?;
    if !state.enforces_iterations() || !advance::is_attempt(context) {
        return None;
    }
    let checked = state
        .phase(&phase)
        .and_then(|phase| phase.object(CONSTITUTION));
    // A validation that was never begun is the gate's concern, which knows whether it must be.
    let issues = checked.map(|checked| issues(&checked)).unwrap_or_default();
    if issues.is_empty() {
        return None;
    }
    let listed = issues.join("\n- ");
    let text = format!(
        "CONSTITUTIONAL VALIDATION INCOMPLETE: Phase '{phase}' cannot pass its gate yet.\n\n\
         - {listed}\n\n\
         Validate the phase's artifacts against the constitution, record the iteration in \
         phases['{phase}'].constitutional_validation, then advance again."
    );
    let own = format!(
        "The check of phase '{phase}' against the project's principles is not complete.\n\n\
         - {listed}"
    );
    let reason = issues.join("; ");
    let required = context.requirements();
    let required = required.map(|required| required.section(CONSTITUTION));
    let articles = required.map(|required| required.texts("articles"));
    let next = validation::next(context, "CIV-001", &phase, &articles.unwrap_or_default());
    let finding = Finding::new("CIV-001", context.words(text, own), reason).next(next);
    Some(Decision::block(finding.phase(&phase)))
}

fn issues(checked: &Object<'_>) -> Vec<String> {
    let mut issues = Vec::new();
    if !checked.get("completed").is_some_and(Node::is_true) {
        issues.push("completed is not true".to_owned());
    }
    if checked
        .get("iterations_used")
        .and_then(Node::u64)
        .is_none_or(|used| used < 1)
    {
        issues.push("iterations_used must be at least 1".to_owned());
    }
    let status = checked.str("status").unwrap_or_default();
    if !matches!(status.as_ref(), "compliant" | "escalated") {
        issues.push(format!(
            "status is '{status}', expected 'compliant' or 'escalated'"
        ));
    }
    let articles = checked.get("articles_checked").and_then(Node::array);
    if articles.is_none_or(|articles| articles.is_empty()) {
        issues.push("articles_checked is empty".to_owned());
    }
    issues
}

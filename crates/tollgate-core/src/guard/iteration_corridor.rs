//! iteration-corridor: while tests fail or the constitution is being checked, the agent stays in the phase.
//!
//! Work inside the phase stays allowed, running tests and repairing code above all; only leaving
//! the phase is blocked.

use super::fields::{PHASE, TEST_RECORD, TESTS, VALIDATION, VALIDATION_RECORD};
use super::sample::{ADVANCE, REQUIREMENTS};
use super::{
    Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample, ToolCall, advance,
    self_heal, validation,
};
use crate::guard::escalation::Escalation;
use crate::next::{Next, Step};
use crate::text;
use crate::workflow::evidence::{self, CONSTITUTION, Corridor};
use crate::workflow::requirements::Requirements;
use tollgate_store::json::{Node, Object};

pub(super) const GUARD: Guard = Guard {
    name: NAME,
    about: "blocks going on to another phase while tests fail or the constitutional validation is not finished",
    is_general: false,
    on: &[
        (EventKind::PreTool, Class::Delegate),
        (EventKind::PreTool, Class::Skill),
    ],
    codes: &[
        Code::blocks("IC-001", "the phase's tests fail", "make the tests pass").passes_with(TESTS),
        Code::blocks(
            "IC-002",
            "the constitutional validation is not finished",
            "finish the constitutional validation",
        )
        .passes_with(VALIDATION),
        self_heal::code("IC-100"),
    ],
    reads: &[
        PHASE,
        TEST_RECORD,
        VALIDATION_RECORD,
        "iteration_enforcement",
    ],
    sample: Some(Sample {
        state: r#"{"active_workflow":{"current_phase":"06-implementation"},
                "phases":{"06-implementation":{"iteration_requirements":{"test_iteration":{
                "completed":false,"last_test_result":"failed"}}}}}"#,
        files: &[REQUIREMENTS],
        event: ADVANCE,
        ..Sample::BLOCKED
    }),
    check,
};

const NAME: &str = "iteration-corridor";

/// What moves on besides [`advance::ADVANCE`].
const LEAVE: &[&str] = &[
    "delegate",
    "delegating",
    "handoff",
    "hand-off",
    "hand off",
    "phase complete",
    "phase completed",
    "declare complete",
];

fn check(context: &EventContext<'_>) -> Option<Decision> {
    let (state, phase) = context.state().zip(context.gate_phase())?;
    if !state.enforces_iterations() || !leaves(context) {
        return None;
    }
    let Some(requirements) = context.requirements() else {
        let what = format!("No requirements for phase '{phase}'. Allowing action.");
        return Some(self_heal::no_requirements(
            context, NAME, "IC-100", &phase, &what,
        ));
    };
    let data = state.phase(&phase).unwrap_or_default();
    let decision = self_heal::renamed(NAME, "IC-100", &phase);
    let (code, why, reason, next) = match evidence::corridor(requirements, &data) {
        None => return Some(decision),
        Some(Corridor::Tests) => {
            let why = failing_tests(context, requirements, &data);
            let next = Next::retry([Step::Tests(evidence::test_command(&data))]);
            ("IC-001", why, "Tests are failing", next)
        }
        Some(Corridor::Constitution) => {
            let why = open_constitution(context, requirements, &data);
            let required = requirements.section(CONSTITUTION);
            let articles = required.texts("articles");
            let next = validation::next(context, "IC-002", &phase, &articles);
            let reason = "Constitutional validation in progress";
            ("IC-002", why, reason, next)
        }
    };
    let text = format!("{why}\nBlocked action: {}", advance::describe(context));
    let escalation = Escalation {
        kind: "corridor_blocked",
        hook: NAME,
        phase: &phase,
        detail: &text,
    };
    let decision = decision.editing(escalation.raise(context));
    let finding = Finding::new(code, text, reason).next(next);
    Some(decision.blocking(finding.phase(&phase)))
}

/// Whether the call would leave the corridor.
fn leaves(context: &EventContext<'_>) -> bool {
    match context.tool().map(|tool| &tool.call) {
        Some(ToolCall::Delegate { .. }) => advance::request(context)
            .is_some_and(|text| text::says(&text, advance::ADVANCE) || text::says(&text, LEAVE)),
        _ => advance::is_attempt(context),
    }
}

/// What is said in the corridor of failing tests.
fn failing_tests(
    context: &EventContext<'_>,
    requirements: &Requirements<'_>,
    phase: &Object<'_>,
) -> String {
    let tests = evidence::test_iteration(phase).unwrap_or_default();
    let (used, most) = evidence::test_runs(requirements, &tests);
    let runs = tests.get("history").and_then(Node::array);
    let error = runs.and_then(|runs| runs.last()?.get("error")?.str());
    let command = tests.str("last_test_command");
    let first = context.words(
        format!(
            "ITERATION CORRIDOR: Tests are failing (iteration {used}/{most}). Fix the code and \
             re-run tests before doing anything else."
        ),
        format!(
            "Tests fail (run {used} of {most}). Fix the code and run them again before you go on."
        ),
    );
    format!(
        "{first}\n\nLast error: {}\nLast test command: {}",
        error.as_deref().unwrap_or("not recorded"),
        command.as_deref().unwrap_or("not recorded"),
    )
}

/// What is said in the corridor of an unfinished constitutional validation.
fn open_constitution(
    context: &EventContext<'_>,
    requirements: &Requirements<'_>,
    phase: &Object<'_>,
) -> String {
    let status = match phase.object(CONSTITUTION) {
        Some(checked) => checked.str("status").unwrap_or("in_progress".into()),
        None => "not_started".into(),
    };
    let required = requirements.section(CONSTITUTION);
    let articles = required.texts("articles").join(", ");
    let first = context.words(
        format!(
            "ITERATION CORRIDOR: Constitutional validation in progress for Articles [{articles}]. \
             Validate and fix artifacts before proceeding."
        ),
        format!(
            "The work is being checked against the project's principles [{articles}]. Finish that \
             before you go on."
        ),
    );
    format!("{first}\n\nStatus: {status}")
}

//! test-adequacy-blocker: no upgrade while the tests could not detect a regression.

use super::fields::PHASE;
use super::sample::MANIFEST;
use super::{Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample, advance};
use crate::next::Next;
use crate::text;
use crate::workflow::delegation::Delegation;
use crate::workflow::phases;
use tollgate_store::json::Node;

pub(super) const GUARD: Guard = Guard {
    name: "test-adequacy-blocker",
    about: "blocks an upgrade while the project has too few unit tests to detect a regression",
    is_general: false,
    on: &[(EventKind::PreTool, Class::Delegate)],
    codes: &[Code::blocks(
        "TAB-001",
        "the project has too few tests for an upgrade",
        "write tests first, then run the discovery again",
    )
    .passes_with(&[
        "discovery_context.coverage_summary.total_tests = 1",
        "discovery_context.coverage_summary.unit_test_pct = 50",
    ])],
    reads: &[PHASE, "discovery_context.coverage_summary"],
    sample: Some(Sample {
        state: r#"{"active_workflow":{"current_phase":"15-upgrade-plan"},
                "discovery_context":{"coverage_summary":{"total_tests":0}}}"#,
        files: &[MANIFEST],
        event: r#"{"tool_name":"Task","tool_input":{"subagent_type":"upgrade-engineer","prompt":"x"}}"#,
        ..Sample::BLOCKED
    }),
    check,
};

/// The phases it watches. The quality loop has the number that they once had.
const FAMILY: &str = "15-upgrade";

/// How much of the tests must be unit tests, in percent.
const LEAST_UNIT_TESTS: f64 = 50.0;

fn check(context: &EventContext<'_>) -> Option<Decision> {
    let (state, phase) = context.state().zip(context.current_phase())?;
    if !phases::canonical(&phase).starts_with(FAMILY) || !is_upgrade(context) {
        return None;
    }
    let summary = state.get("discovery_context")?.get("coverage_summary");
    let summary = summary.filter(|summary| summary.truthy())?;
    let number = |key: &str| summary.get(key).and_then(Node::f64);
    let total = number("total_tests").unwrap_or(0.0);
    let unit = number("unit_test_pct");
    let why = if total <= 0.0 {
        "The project has no tests.".to_owned()
    } else if let Some(unit) = unit.filter(|unit| *unit < LEAST_UNIT_TESTS) {
        format!(
            "Only {unit}% of the project's tests are unit tests, {LEAST_UNIT_TESTS}% are required."
        )
    } else {
        return None;
    };
    let text = format!(
        "TEST ADEQUACY REQUIRED: An upgrade needs tests that would notice a break. {why}\n\n\
         To fix this:\n\
         1. Generate the missing tests first: /isdlc test generate\n\
         2. Run /discover again, so that the coverage in discovery_context is up to date\n\
         3. Then go on with the upgrade\n\n\
         Current phase: {phase}"
    );
    let own = format!(
        "An upgrade needs tests that detect a regression. {why}\n\n\
         Write the missing unit tests first. What counts is discovery_context.coverage_summary \
         in {} (total_tests, unit_test_pct), as the tests were last counted.\n\n\
         Current phase: {phase}",
        context.shown_state_file()
    );
    let finding = Finding::new("TAB-001", context.words(text, own), why);
    let finding = finding.next(Next::allow("TAB-001")).phase(&phase);
    Some(Decision::block(finding))
}

/// Whether the call delegates upgrade work.
fn is_upgrade(context: &EventContext<'_>) -> bool {
    if let Delegation::Phase(target) = context.delegation() {
        let agent = target.agent.as_deref();
        let by_agent = agent.is_some_and(|agent| agent.contains("upgrade"));
        return by_agent || phases::canonical(&target.phase).starts_with(FAMILY);
    }
    advance::request(context).is_some_and(|text| {
        text::says(&text, &["upgrade-engineer", "upgrade engineer"])
            || (text::says(&text, &["upgrade"]) && text::says(&text, &["phase 14"]))
    })
}

//! The five requirements of a phase.

use super::artifacts;
use crate::json::{Node, Object};
use crate::scene::Scene;
use crate::state::timestamp;
use crate::workflow::requirements::Requirements;
use crate::workflow::{agents, phases};

/// One requirement: its name in the configuration and what is missing.
pub(super) type Failure = (&'static str, String);

/// All that the phase still owes.
pub(super) fn failures(
    scene: &Scene<'_>,
    required: &Requirements<'_>,
    phase: &Object<'_>,
    key: &str,
) -> Vec<Failure> {
    let iterations = phase.object("iteration_requirements").unwrap_or_default();
    let outcome = |name,
                   required: Option<Requirements<'_>>,
                   check: &dyn Fn(&Requirements<'_>) -> Option<String>| {
        Some((name, check(&required?)?))
    };
    [
        outcome(
            "test_iteration",
            required.enabled("test_iteration"),
            &|required| tests(required, iterations.object("test_iteration")),
        ),
        outcome(
            "constitutional_validation",
            required.enabled("constitutional_validation"),
            &|_| constitution(phase.object("constitutional_validation")),
        ),
        outcome(
            "interactive_elicitation",
            required.enabled("interactive_elicitation"),
            &|required| elicitation(required, iterations.object("interactive_elicitation")),
        ),
        outcome(
            "agent_delegation_validation",
            required.enabled("agent_delegation_validation"),
            &|_| delegation(scene, key),
        ),
        outcome(
            "artifact_validation",
            required.enabled("artifact_validation"),
            &|required| artifacts::missing(scene, required, key),
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn tests(required: &Requirements<'_>, tests: Option<Object<'_>>) -> Option<String> {
    let Some(tests) = tests else {
        return Some("Test iteration not started. Run the tests of this phase.".into());
    };
    let used = count(&tests, "current_iteration");
    if !tests.truthy("completed") {
        if tests.is("last_test_result", "failed") {
            let most = tests.get("max_iterations").and_then(Node::u64);
            let most = most
                .or_else(|| required.u64("max_iterations"))
                .unwrap_or(10);
            return Some(format!(
                "Test iteration incomplete. {used}/{most} iterations used. Last result: FAILED. \
                 Fix the code and run the tests again."
            ));
        }
        return Some("Test iteration not completed. Run the tests until they pass.".into());
    }
    if tests.is("status", "escalated") {
        return (!tests.truthy("escalation_approved"))
            .then(|| "Test iteration escalated but not approved. Human approval required.".into());
    }
    // Completed by word alone is no evidence.
    (used == 0).then(|| {
        "Test iteration is marked completed but no test run is recorded. Run the tests.".into()
    })
}

fn constitution(checked: Option<Object<'_>>) -> Option<String> {
    let Some(checked) = checked else {
        return Some(
            "Constitutional validation not started. Validate the artifacts against the \
             constitution."
                .into(),
        );
    };
    if !checked.truthy("completed") {
        let used = count(&checked, "iterations_used");
        return Some(format!(
            "Constitutional validation incomplete. {used} iterations used. Finish the validation."
        ));
    }
    let status = checked.str("status").unwrap_or_default();
    if status == "escalated" {
        return (!checked.truthy("escalation_approved")).then(|| {
            "Constitutional validation escalated but not approved. Human decision required.".into()
        });
    }
    if status != "compliant" {
        let status = if status.is_empty() {
            "not set"
        } else {
            &status
        };
        return Some(format!(
            "Constitutional validation status: {status}. Must be 'compliant'."
        ));
    }
    (count(&checked, "iterations_used") == 0).then(|| {
        "Constitutional validation is marked completed but no iteration is recorded. Validate \
         the artifacts against the constitution."
            .into()
    })
}

fn elicitation(required: &Requirements<'_>, asked: Option<Object<'_>>) -> Option<String> {
    let Some(asked) = asked.filter(|asked| asked.truthy("completed")) else {
        return Some(
            "Interactive elicitation incomplete. Present the menu to the person and finish with \
             a selection."
                .into(),
        );
    };
    let wanted = required.texts("required_final_selection");
    let chosen = asked
        .str("final_selection")
        .unwrap_or_default()
        .to_lowercase();
    if !wanted.is_empty() && !wanted.iter().any(|word| word.to_lowercase() == chosen) {
        return Some(format!(
            "Interactive elicitation ended with an invalid selection '{chosen}'. Must be one of: \
             {}.",
            wanted.join(", ")
        ));
    }
    let least = required.u64("min_menu_interactions").unwrap_or(1).max(1);
    let met = count(&asked, "menu_interactions");
    (met < least).then(|| {
        format!("Interactive elicitation had {met} menu interactions. At least {least} required.")
    })
}

/// The agent of the phase has worked: its use is on record, or it is asked for right now. That
/// the phase is in progress proves nothing, because it always is.
fn delegation(scene: &Scene<'_>, key: &str) -> Option<String> {
    let mut owners = scene.manifest().phase_agents();
    let (expected, _) = owners.find(|(_, phase)| phases::same(phase, key))?;
    let state = scene.state()?;
    let begun = scene
        .workflow()
        .and_then(|workflow| timestamp::parse(&workflow.str("started_at")?));
    let log = state
        .get("skill_usage_log")
        .and_then(Node::array)
        .unwrap_or_default();
    let used = log.iter().filter_map(|entry| entry.object()).any(|entry| {
        let agent = entry
            .str("agent")
            .is_some_and(|agent| agents::normalize(&agent) == expected);
        let here = entry
            .str("agent_phase")
            .is_some_and(|phase| phases::same(&phase, key));
        // The log outlives workflows; the work for an earlier one is not the work for this one.
        let at = entry.str("timestamp").and_then(|at| timestamp::parse(&at));
        let earlier = at.zip(begun).is_some_and(|(at, begun)| at < begun);
        agent && here && !earlier
    });
    let asked = state
        .get("pending_delegation")
        .and_then(|marker| marker.get("required_agent")?.str())
        .is_some_and(|agent| agents::normalize(&agent).contains(expected));
    (!used && !asked).then(|| {
        format!("Agent '{expected}' has not worked in this phase. Delegate the phase to it.")
    })
}

fn count(object: &Object<'_>, key: &str) -> u64 {
    object.get(key).and_then(Node::u64).unwrap_or(0)
}

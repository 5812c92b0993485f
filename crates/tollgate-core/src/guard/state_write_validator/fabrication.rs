//! V1–V3: a phase that says "completed" about something that was never begun.

use super::warning;
use crate::context::EventContext;
use crate::decision::Finding;
use crate::workflow::audit::CLAIMS;
use tollgate_store::json::{Node, Object};

/// The codes of the rules, how the specification words them, and Tollgate's own words.
const RULES: [(&str, &str, &str); 3] = [
    (
        "SWV-001",
        "A completed constitutional validation must have at least 1 iteration",
        "a completed check against the principles has at least one run",
    ),
    (
        "SWV-002",
        "A completed elicitation must have at least 1 menu interaction",
        "completed questions to the person have at least one answered menu",
    ),
    (
        "SWV-003",
        "A completed test iteration must have at least 1 test run",
        "completed tests have at least one run",
    ),
];

/// The fabricated claims in a state, phase by phase.
pub(super) fn find(context: &EventContext<'_>, state: &Object<'_>, path: &str) -> Vec<Finding> {
    let phases = state.object("phases").unwrap_or_default();
    let mut findings = Vec::new();
    for (phase, data) in phases.members() {
        for ((code, law, own_law), (way, field)) in RULES.iter().zip(CLAIMS) {
            if let Some(count) = unfounded(data, way, field) {
                let name = way.last().unwrap_or(&"");
                let text = format!(
                    "[state-write-validator] WARNING: Suspicious state.json write detected.\n  \
                     Phase: {phase}\n  \
                     Issue: {name}.completed is true but {field} is {count}\n  \
                     Rule: {law}\n  \
                     Path: {path}"
                );
                let own = format!(
                    "[state-write-validator] WARNING: {path} claims what was not seen in phase \
                     '{phase}': {own_law}, and its {field} is {count}."
                );
                let text = context.words(text, own);
                findings.push(warning(code, text, Some(phase)));
            }
        }
    }
    findings
}

/// What the count says, if the claim stands without it. Only a number counts: `"3"` is a text
/// a person typed.
fn unfounded(phase: Node<'_>, way: &[&str], count: &str) -> Option<String> {
    let claim = way.iter().try_fold(phase, |node, key| node.get(key))?;
    if !claim.get("completed")?.is_true() {
        return None;
    }
    match claim.get(count) {
        None => Some("undefined".to_owned()),
        Some(count) if count.f64().is_some_and(|n| n >= 1.0) => None,
        Some(count) => Some(count.text().to_owned()),
    }
}

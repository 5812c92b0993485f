//! V1–V3: a phase that says "completed" about something that was never begun.

use super::warning;
use crate::decision::Finding;
use tollgate_store::json::{Node, Object};

/// Where the claim is, what must be counted for it, and how the specification words it.
struct Rule {
    code: &'static str,
    path: &'static [&'static str],
    count: &'static str,
    law: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        code: "SWV-001",
        path: &["constitutional_validation"],
        count: "iterations_used",
        law: "A completed constitutional validation must have at least 1 iteration",
    },
    Rule {
        code: "SWV-002",
        path: &["iteration_requirements", "interactive_elicitation"],
        count: "menu_interactions",
        law: "A completed elicitation must have at least 1 menu interaction",
    },
    Rule {
        code: "SWV-003",
        path: &["iteration_requirements", "test_iteration"],
        count: "current_iteration",
        law: "A completed test iteration must have at least 1 test run",
    },
];

/// The fabricated claims in a state, phase by phase.
pub(super) fn find(state: &Object<'_>, path: &str) -> Vec<Finding> {
    let phases = state.object("phases").unwrap_or_default();
    let mut findings = Vec::new();
    for (phase, data) in phases.iter() {
        for rule in RULES {
            if let Some(count) = rule.broken_in(data) {
                let Rule { code, law, .. } = rule;
                let (name, field) = (rule.path.last().unwrap_or(&""), rule.count);
                let text = format!(
                    "[state-write-validator] WARNING: Suspicious state.json write detected.\n  \
                     Phase: {phase}\n  \
                     Issue: {name}.completed is true but {field} is {count}\n  \
                     Rule: {law}\n  \
                     Path: {path}"
                );
                findings.push(warning(code, text, Some(phase)));
            }
        }
    }
    findings
}

impl Rule {
    /// What the count says, if the claim stands without it. Only a number counts: `"3"` is a
    /// text somebody typed.
    fn broken_in(&self, phase: Node<'_>) -> Option<String> {
        let claim = self
            .path
            .iter()
            .try_fold(phase, |node, key| node.get(key))?;
        if !claim.get("completed")?.is_true() {
            return None;
        }
        match claim.get(self.count) {
            None => Some("undefined".to_owned()),
            Some(count) if count.f64().is_some_and(|n| n >= 1.0) => None,
            Some(count) => Some(count.text().to_owned()),
        }
    }
}

//! V9: the same fact stands in several fields of a state file; they should agree.

use super::warning;
use crate::decision::Finding;
use crate::workflow::phases;
use tollgate_store::json::{Node, Object};

pub(super) fn find(state: &Object<'_>) -> Vec<Finding> {
    let Some(workflow) = state.object("active_workflow") else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    let mut warn = |rule: &str, text: String, phase: Option<&str>| {
        let text = format!("[state-write-validator] V9-{rule} WARNING: {text}");
        findings.push(warning("SWV-009", text, phase));
    };

    let filed = state.object("phases").unwrap_or_default();
    let short = workflow.object("phase_status").unwrap_or_default();
    for (phase, data) in filed.members() {
        let long = data.get("status").and_then(Node::str);
        if let (Some(long), Some(short)) = (long, short.str(phase))
            && long != short
        {
            let text = format!(
                "phases['{phase}'].status is '{long}' but \
                     active_workflow.phase_status['{phase}'] is '{short}'."
            );
            warn("A", text, Some(phase));
        }
    }

    let current = workflow.str("current_phase");
    if let (Some(top), Some(current)) = (state.str("current_phase"), current.as_deref())
        && top != current
    {
        let text =
            format!("current_phase is '{top}' but active_workflow.current_phase is '{current}'.");
        warn("B", text, Some(current));
    }

    let index = workflow.get("current_phase_index").and_then(Node::u64);
    let index = index.and_then(|index| usize::try_from(index).ok());
    let listed = workflow.texts("phases");
    if let (Some(index), Some(current)) = (index, current.as_deref())
        && let Some(expected) = phases::out_of_step(&listed, index, current)
    {
        let text = format!(
            "active_workflow.phases[{index}] is '{expected}' but current_phase is '{current}'."
        );
        warn("C", text, Some(current));
    }
    findings
}

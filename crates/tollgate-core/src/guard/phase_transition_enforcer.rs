//! phase-transition-enforcer: a running workflow advances by itself; the agent does not ask whether it may.

use super::fields::PHASE;
use super::{Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample};
use crate::text;

pub(super) const GUARD: Guard = Guard {
    name: "phase-transition-enforcer",
    about: "warns when an agent asks for permission instead of going on",
    is_general: true,
    on: &[(EventKind::PostTool, Class::Delegate)],
    codes: &[Code::warns(
        "PTE-001",
        "the agent asked whether it may proceed",
        "go on to the next phase without asking",
    )],
    reads: &[PHASE],
    sample: Some(Sample {
        state: r#"{"active_workflow":{"current_phase":"01-requirements"}}"#,
        event: r#"{"tool_name":"Task","tool_input":{"subagent_type":"x"},"tool_result":"Would you like to proceed?"}"#,
        ..Sample::WARNED
    }),
    check,
};

const QUESTIONS: &[&str] = &[
    "would you like to proceed",
    "ready to advance",
    "should i continue",
    "shall we proceed",
    "do you want me to move forward",
    "want me to go ahead",
];

fn check(context: &EventContext<'_>) -> Option<Decision> {
    let tool = context.tool()?;
    let said = tool.result_text();
    let asked = QUESTIONS
        .iter()
        .find_map(|words| text::phrase(&said, words))?;
    context.workflow()?;
    let text = format!(
        "TRANSITION WARNING: Agent asked for permission to proceed. While a workflow runs, a \
         phase that passes its gate is followed by the next one at once; only a menu or an \
         escalation waits for the person. Pattern detected: '{asked}'"
    );
    let own = format!(
        "The agent asked whether it may go on ('{asked}'). In a running workflow the next phase \
         begins without a question, unless a person must decide."
    );
    let reason = format!("Agent asked for permission to proceed: '{asked}'");
    let finding = Finding::new("PTE-001", context.words(text, own), reason);
    Some(Decision::warn([finding.in_phase(context.current_phase())]))
}

//! walkthrough-tracker: a finished discovery should have walked through the constitution.

use super::{Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample, ToolCall};
use crate::workflow::agents;

pub(super) const GUARD: Guard = Guard {
    name: "walkthrough-tracker",
    about: "warns when a discovery ends without the constitution walkthrough",
    is_general: false,
    on: &[(EventKind::PostTool, Class::Delegate)],
    codes: &[Code::warns(
        "WT-001",
        "the discovery's walkthrough is not recorded as completed",
        "walk through the constitution with the person",
    )
    .passes_with(&["discovery_context.walkthrough_completed = true"])],
    reads: &["discovery_context.walkthrough_completed"],
    sample: Some(Sample {
        state: r#"{"discovery_context":{"completed_at":"x"}}"#,
        event: r#"{"tool_name":"Task","tool_input":{"subagent_type":"discover-orchestrator"},"tool_result":"done"}"#,
        ..Sample::WARNED
    }),
    check,
};

const TEXT: &str = "\
[walkthrough-tracker] WARNING: Discovery completed without constitution walkthrough.
  The /discover command completed, but the constitution walkthrough step was not
  recorded as completed (discovery_context.walkthrough_completed is not true).
  The walkthrough ensures the user reviews and approves the project constitution
  before starting SDLC work. Consider running the walkthrough manually.";

const OWN: &str = "\
[walkthrough-tracker] WARNING: The discovery ended, and the person did not go through the project's
  principles (discovery_context.walkthrough_completed is not true). Show them to the person.";

fn check(context: &EventContext<'_>) -> Option<Decision> {
    let tool = context.tool()?;
    let ToolCall::Delegate { agent, .. } = &tool.call else {
        return None;
    };
    if agents::normalize(agent) != "discover-orchestrator" || !tool.has_finished() {
        return None;
    }
    let found = context
        .state()
        .and_then(|state| state.get("discovery_context"));
    let found = found.filter(|found| found.truthy())?;
    if found
        .get("walkthrough_completed")
        .is_some_and(tollgate_store::json::Node::is_true)
    {
        return None;
    }
    let text = context.words(TEXT.to_owned(), OWN.to_owned());
    let reason = "Discovery completed without constitution walkthrough";
    Some(Decision::warn([
        Finding::new("WT-001", text, reason).agent("discover-orchestrator")
    ]))
}

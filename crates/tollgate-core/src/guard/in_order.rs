//! How a delegation gets into the order of the workflow: the steps that begin a phase, and whose
//! turn it is.

use super::EventContext;
use crate::next::{Next, Step};
use crate::workflow::definitions::is_key;
use crate::workflow::delegation::Target;
use crate::workflow::phases;
use crate::workflow::state::Workflow;
use tollgate_store::json::Node;

/// The way from a delegation to another phase than the current one: the next phase begins if the
/// current one is over, otherwise the current one's agent works.
pub(super) fn to_turn(context: &EventContext<'_>, target: &Target, current: &str) -> Next {
    let state = context.state();
    let status = state.and_then(|state| state.phase_status(current));
    if status.as_deref() != Some("completed") {
        return handed_on(context, current, status.as_deref());
    }
    let listed = context.workflow().map(Workflow::phases).unwrap_or_default();
    let mut behind = listed
        .iter()
        .skip_while(|phase| !phases::same(phase, current));
    let next = behind.find(|phase| !phases::same(phase, current));
    let review = context
        .workflow()
        .and_then(|one| one.get("supervised_review"));
    match next {
        _ if review.is_some_and(Node::truthy) => Next::person("tollgate phase review --continue"),
        None => Next::run_instead("tollgate workflow finalize"),
        Some(next) if phases::same(next, &target.phase) => Next::retry(begin(context, next)),
        Some(next) => handed_on(context, next, None),
    }
}

/// The steps that begin a phase.
pub(super) fn begin(context: &EventContext<'_>, phase: &str) -> Vec<Step> {
    // The key may come from the project's files, and the agent may run this.
    let key = if is_key(phase) { phase } else { "" };
    let command = format!("tollgate phase begin {key}");
    let waiting = context
        .state()
        .and_then(|state| state.get("pending_escalations"));
    let waiting = waiting.and_then(Node::array).unwrap_or_default();
    if waiting.is_empty() {
        return vec![Step::Run(command.trim_end().to_owned())];
    }
    vec![
        Step::Ask("whether the phase may run in spite of the escalations that wait"),
        Step::Run(format!("{} --retry", command.trim_end())),
    ]
}

/// The agent that works in a phase, as far as the project knows one.
pub(super) fn agent_of(context: &EventContext<'_>, phase: &str) -> Option<String> {
    let mut owners = context.manifest().phase_agents();
    let owner = owners.find(|(_, owned)| phases::same(owned, phase));
    let owner = owner.map(|(agent, _)| agent);
    owner.or_else(|| phases::agent(phase)).map(str::to_owned)
}

/// The phase's agent works in place of the one that was asked.
fn handed_on(context: &EventContext<'_>, phase: &str, status: Option<&str>) -> Next {
    let mut steps = Vec::new();
    if status != Some("in_progress") {
        steps.extend(begin(context, phase));
    }
    steps.push(match agent_of(context, phase) {
        Some(agent) => Step::Delegate(agent),
        None => Step::Run("tollgate phase brief".to_owned()),
    });
    Next::instead(steps)
}

//! delegation-gate: an agent that loads a workflow command delegates it to its orchestrator before
//! it stops.
//!
//! It blocks once per turn and allows in doubt: a marker that is old, unreadable or of
//! another session must not hold an agent forever.

use jiff::{SignedDuration, Timestamp};

use super::{
    Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample, advance, self_heal,
};
use crate::next::{Next, Step};
use crate::workflow::agents;
use crate::workflow::state::State;
use tollgate_store::edit::Edit;
use tollgate_store::json::{Node, Object};
use tollgate_store::timestamp;

pub(super) const GUARD: Guard = Guard {
    name: NAME,
    about: "blocks a stop after a workflow command that was not delegated to its orchestrator",
    is_general: false,
    on: &[(EventKind::Stop, Class::Other)],
    codes: &[
        Code::blocks(
            "DG-001",
            "the command's orchestrator was not asked",
            "delegate to the orchestrator that the message names",
        ),
        Code::warns(
            "DG-100",
            "a marker was cleared (note)",
            "nothing; it is in the log",
        ),
    ],
    reads: &["pending_delegation", "active_workflow.current_phase_index"],
    sample: Some(Sample {
        state: r#"{"pending_delegation":{"skill":"isdlc","args":"feature x",
            "required_agent":"sdlc-orchestrator","invoked_at":"2026-01-01T00:09:00.000Z"}}"#,
        event: r#"{"hook_event_name":"Stop","stop_hook_active":false}"#,
        ..Sample::BLOCKED
    }),
    check,
};

const NAME: &str = "delegation-gate";

/// After this time a marker is left over from another session.
const FRESH: SignedDuration = SignedDuration::from_mins(30);

fn check(context: &EventContext<'_>) -> Option<Decision> {
    let event = context.event;
    let is_plan = event.permission_mode.as_deref() == Some("plan");
    if event.stop_hook_active || event.working_subagents > 0 || is_plan {
        return None;
    }
    let state = context.state()?;
    let marker = state.get("pending_delegation").and_then(Node::object)?;
    let invoked = marker.str("invoked_at");
    let invoked = invoked.and_then(|at| timestamp::parse(&at));
    let fresh = |at: &Timestamp| context.now().duration_since(*at).abs() <= FRESH;
    let Some(invoked) = invoked.filter(fresh) else {
        let what = "Stale pending delegation cleared (older than 30 minutes or without a time).";
        return Some(clear(state, &marker).noting(self_heal::note(NAME, "DG-100", "", what)));
    };
    let args = marker.str("args").unwrap_or_default();
    if advance::is_inline(&args) {
        return Some(clear(state, &marker));
    }
    let agent = marker.str("required_agent").unwrap_or_default();
    let workflow = context.workflow();
    let advanced = workflow.and_then(crate::workflow::state::Workflow::phase_index);
    if was_asked(state, &agent, invoked) || advanced.is_some_and(|index| index > 0) {
        return Some(clear(state, &marker));
    }
    // One marker serves a whole project: beside a running workflow it may be another session's.
    if workflow.is_some() || agent.is_empty() {
        return None;
    }
    if let Some(phase) = state.current_phase()
        && state.phase_status(&phase).as_deref() == Some("in_progress")
    {
        let what = format!("Phase '{phase}' is in progress. Pending delegation cleared.");
        return Some(clear(state, &marker).noting(self_heal::note(NAME, "DG-100", &phase, &what)));
    }
    let skill = marker.str("skill").unwrap_or("isdlc".into());
    let skill = skill.trim_start_matches('/');
    let text = format!(
        "You loaded /{skill} but did not delegate to \"{agent}\" for initialization. Call the \
         Task tool with subagent_type \"{agent}\" now and give it the command's arguments. If \
         the command needs no orchestrator, tell the person why and stop again."
    );
    let own = format!(
        "You loaded `/{skill}` and did not delegate it to '{agent}'. Give it the \
         command's arguments. If that is not needed, tell the person why and stop again."
    );
    let reason = format!("/{skill} was not delegated to '{agent}'");
    let next = Next::retry([Step::Delegate(agent.clone().into_owned())]);
    let finding = Finding::new("DG-001", context.words(text, own), reason);
    Some(Decision::block(finding.agent(&agent).next(next)))
}

/// Whether the log has the agent since the command was loaded.
fn was_asked(state: &State<'_>, agent: &str, since: Timestamp) -> bool {
    let agent = agents::normalize(agent);
    let log = state.get("skill_usage_log").and_then(Node::array);
    let log = log.unwrap_or_default();
    !agent.is_empty()
        && log.iter().filter_map(|entry| entry.object()).any(|entry| {
            let at = entry.str("timestamp").and_then(|at| timestamp::parse(&at));
            let named = entry.str("agent").unwrap_or_default().replace(' ', "-");
            at.is_some_and(|at| at >= since) && agents::normalize(&named).contains(&agent)
        })
}

/// Takes this marker away, and no newer one.
fn clear(state: &State<'_>, marker: &Object<'_>) -> Decision {
    let mut edits = Vec::new();
    if let Some(at) = marker.str("invoked_at") {
        let path = ["pending_delegation", "invoked_at"];
        edits.push(Edit::require(&path, at.into_owned()));
    }
    edits.push(Edit::set(&["pending_delegation"], serde_json::Value::Null));
    if state.get("_delegation_gate_error_count").is_some() {
        edits.push(Edit::remove(&["_delegation_gate_error_count"]));
    }
    Decision::allow().editing(edits)
}

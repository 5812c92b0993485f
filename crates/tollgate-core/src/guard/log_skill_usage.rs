//! log-skill-usage: records which agent got work in which phase.
//!
//! The gate of a phase asks this log whether the phase's agent ever worked, so an entry must not
//! get lost among delegations that end at the same time: it is appended to the log as it is
//! then, not put in place of the log as it was seen.

use serde_json::json;

use super::sample::MANIFEST;
use super::{Class, Code, Decision, EventContext, EventKind, Finding, Guard, Sample, ToolCall};
use crate::workflow::{agents, phases};
use tollgate_store::edit::Edit;
use tollgate_store::json::{Kind, Node, Object};
use tollgate_store::timestamp;

pub(super) const GUARD: Guard = Guard {
    name: "log-skill-usage",
    about: "records which agent got work in which phase",
    is_general: true,
    on: &[(EventKind::PostTool, Class::Delegate)],
    codes: &[Code::warns(
        "LSU-001",
        "`skill_usage_log` was not a list and was replaced by a new one (noted)",
        "nothing; a new log was started",
    )],
    reads: &[],
    sample: Some(Sample {
        files: &[MANIFEST],
        event: r#"{"tool_name":"Task","tool_input":{"subagent_type":"software-developer"},"tool_result":"done"}"#,
        ..Sample::RECORDED
    }),
    check,
};

const LOG: &str = "skill_usage_log";

/// How many entries stay. The end of a workflow prunes to 50; until then a gate may look for its
/// agent, and no workflow seen hands out work this often.
const KEPT: usize = 500;

fn check(context: &EventContext<'_>) -> Option<Decision> {
    let Some(ToolCall::Delegate {
        agent, description, ..
    }) = context.tool().map(|tool| &tool.call)
    else {
        return None;
    };
    let agent = agents::normalize(agent);
    let state = context.state().filter(|_| !agent.is_empty())?;
    let enforcement = state.get("skill_enforcement").and_then(Node::object);
    let setting = |key: &str| enforcement.as_ref().and_then(|fields| fields.get(key));
    if setting("enabled").and_then(Node::bool) == Some(false) {
        return None;
    }
    let mode = setting("mode").and_then(Node::str);
    let mode = mode.filter(|mode| !mode.is_empty());
    let mode = mode.unwrap_or("strict".into());
    let current = state.current_phase();
    let current = current.unwrap_or("01-requirements".into());
    let owned = context.manifest().filed_under(&agent);
    let (status, reason) = match owned.as_deref() {
        None => ("executed", "allowed"),
        Some("all") => ("executed", "authorized-orchestrator"),
        Some(phase) if phases::same(phase, &current) => ("executed", "authorized-phase-match"),
        Some(_) => match mode.as_ref() {
            "warn" => ("warned", "cross-phase-usage"),
            "audit" => ("audited", "cross-phase-usage"),
            _ => ("observed", "cross-phase-usage"),
        },
    };
    let description = if description.is_empty() {
        "N/A"
    } else {
        description
    };
    let entry = json!({
        "timestamp": timestamp::iso(context.now()),
        "agent": agent,
        "agent_phase": owned.unwrap_or_default(),
        "current_phase": current,
        "description": description,
        "status": status,
        "reason": reason,
        "enforcement_mode": mode,
        "external_skills_registered": external_skills(context),
    });
    let allowed = Decision::allow();
    Some(match state.get(LOG).map(Node::kind) {
        None | Some(Kind::Null | Kind::Array) => {
            allowed.editing([Edit::push_capped(&[LOG], entry, KEPT)])
        }
        // An entry that finds no list to join must not take the event's other changes down.
        Some(kind) => {
            let text = format!("[SELF-HEAL] log-skill-usage: {LOG} was {kind}; began a new list");
            let note = Finding::new("LSU-001", text, format!("{LOG} was {kind}")).agent(&agent);
            let anew = Edit::set(&[LOG], json!([entry]));
            allowed.editing([anew]).noting(note)
        }
    })
}

/// How many skills the person registered besides the framework's. The installer writes an
/// object, the manager a list.
fn external_skills(context: &EventContext<'_>) -> usize {
    let file = context.document("external-skills-manifest.json");
    let text = context.file_text(&file).unwrap_or_default();
    let Some(skills) = Object::parse(&text).ok().and_then(|all| all.get("skills")) else {
        return 0;
    };
    match skills.kind() {
        Kind::Array => skills.array().map_or(0, |list| list.len()),
        Kind::Object => skills.object().map_or(0, |named| named.members().count()),
        Kind::Null | Kind::Bool | Kind::Number | Kind::String => 0,
    }
}

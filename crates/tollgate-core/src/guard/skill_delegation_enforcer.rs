//! skill-delegation-enforcer: a command that an orchestrator must carry out has to be delegated to
//! it once it is loaded.
//!
//! `pending_delegation` records that; delegation-gate checks it at the end of the turn.

use serde_json::json;

use super::{Class, Code, Decision, EventContext, EventKind, Guard, Sample, ToolCall, advance};
use tollgate_store::edit::Edit;
use tollgate_store::timestamp;

pub(super) const GUARD: Guard = Guard {
    name: "skill-delegation-enforcer",
    about: "adds a note that a loaded command must be delegated to its orchestrator",
    is_general: false,
    on: &[(EventKind::PostTool, Class::Skill)],
    codes: &[Code::warns(
        "SDE-001",
        "a command was loaded that must be delegated to its orchestrator (guidance)",
        "delegate the command to the named orchestrator before the turn ends",
    )],
    reads: &[],
    sample: Some(Sample {
        event: r#"{"tool_name":"Skill","tool_input":{"skill":"isdlc","args":"feature x"},"tool_result":"loaded"}"#,
        ..Sample::RECORDED
    }),
    check,
};

/// Commands, and who must carry them out.
const OWED: &[(&str, &str)] = &[
    ("isdlc", "sdlc-orchestrator"),
    ("discover", "discover-orchestrator"),
];

fn check(context: &EventContext<'_>) -> Option<Decision> {
    let ToolCall::Skill { name, args, .. } = &context.tool()?.call else {
        return None;
    };
    let skill = advance::skill(name);
    let (skill, agent) = OWED.iter().find(|(known, _)| *known == skill)?;
    if advance::is_inline(args) || context.state().is_none() {
        return None;
    }
    let owed = json!({
        "skill": skill,
        "required_agent": agent,
        "invoked_at": timestamp::iso(context.now()),
        "args": args,
    });
    Some(Decision::allow()
        .editing([Edit::set(&["pending_delegation"], owed)])
        .telling(format!(
            "MANDATORY: You have loaded the /{skill} command. You MUST hand it to the \"{agent}\" \
             agent with the Task tool before you end this turn. Do not carry it out yourself, and \
             do not answer with text alone. For commands that run phase by phase, begin by \
             delegating to \"{agent}\" for initialization."
        )))
}

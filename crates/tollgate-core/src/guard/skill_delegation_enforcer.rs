//! skill-delegation-enforcer: a command that an orchestrator must carry out is owed to it from
//! the moment it is loaded.
//!
//! The debt is `pending_delegation`; delegation-gate collects it at the end of the turn.

use serde_json::json;

use super::sample::STATE;
use super::{Class, Guard, Must, Sample};
use crate::context::EventContext;
use crate::decision::{Code, Decision};
use crate::protocol::{EventKind, ToolCall};
use tollgate_store::edit::Edit;
use tollgate_store::timestamp;

pub(super) const GUARD: Guard = Guard {
    name: "skill-delegation-enforcer",
    about: "notes that a loaded command must be delegated to its orchestrator",
    on: &[(EventKind::PostTool, Class::Skill)],
    codes: &[Code::warns(
        "SDE-001",
        "a command was loaded that its orchestrator must carry out (told)",
        "hand the command to the named orchestrator before the turn ends",
    )],
    reads: &[],
    sample: Some(Sample {
        must: Must::Act,
        files: &[(STATE, "{}")],
        event: r#"{"tool_name":"Skill","tool_input":{"skill":"isdlc","args":"feature x"},"tool_result":"loaded"}"#,
    }),
    check: |context| check(context).unwrap_or_default(),
};

/// Commands, and who must carry them out.
const OWED: &[(&str, &str)] = &[
    ("isdlc", "sdlc-orchestrator"),
    ("discover", "discover-orchestrator"),
];

/// Verbs that the agent carries out itself.
const INLINE: &[&str] = &["add", "analyze"];

fn check(context: &EventContext<'_>) -> Option<Decision> {
    let ToolCall::Skill { name, args, .. } = &context.tool()?.call else {
        return None;
    };
    let skill = name.trim().to_lowercase();
    let skill = skill.trim_start_matches('/');
    // A plugin's commands carry its name in front: `isdlc:discover`.
    let skill = skill.rsplit(':').next().unwrap_or(skill);
    let (skill, agent) = OWED.iter().find(|(known, _)| *known == skill)?;
    if verb(args).is_some_and(|verb| INLINE.contains(&verb.as_str())) || context.state().is_none() {
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

/// The first word that is no flag.
fn verb(args: &str) -> Option<String> {
    let word = args
        .split_whitespace()
        .find(|word| !word.starts_with('-'))?;
    let word = word.trim_start_matches(['"', '\'']);
    let end = word
        .find(|c: char| !crate::text::in_word(c))
        .unwrap_or(word.len());
    word.get(..end).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// F7: the verb of `/isdlc` is its first word that is no flag; the original searched the whole
    /// text.
    #[test]
    fn f7_the_verb_is_the_first_word_that_is_no_flag() {
        for (args, expected) in [
            ("feature \"x\"", Some("feature")),
            ("--light -v Analyze \"the gate\"", Some("analyze")),
            ("analyze", Some("analyze")),
            ("", None),
            ("--verbose", None),
        ] {
            assert_eq!(verb(args).as_deref(), expected, "{args}");
        }
    }
}

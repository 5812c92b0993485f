//! Does a tool call ask to pass the gate of the phase?
//!
//! A skill says it with its verb, the first word that is no flag: a description that mentions a
//! gate is no request, and `--status` behind `advance` takes nothing back. A sub-agent is asked
//! in prose, so words count there, unless the call hands a phase to its agent or prepares a
//! project.

use crate::context::EventContext;
use crate::protocol::ToolCall;
use crate::text;
use crate::workflow::{agents, delegation, delegation::Delegation};

/// Prose that asks for the next phase.
pub(super) const ADVANCE: &[&str] = &[
    "advance",
    "advances",
    "advancing",
    "gate",
    "gate-#",
    "gate-check",
    "gate_check",
    "gate-validation",
    "gate_validation",
    "next phase",
    "proceed",
    "proceeding",
    "move to phase",
    "move to the next phase",
    "progress to",
];

/// What a skill is to do to the gate.
const VERBS: &[&str] = &[
    "advance",
    "gate",
    "gate-#",
    "gate-check",
    "gate_check",
    "gatecheck",
    "gate-validation",
    "gate_validation",
    "gatevalidation",
    "phase-transition",
    "phase_transition",
    "phasetransition",
];

/// Agents of the host that only read: whatever they are asked, they advance nothing.
const READERS: &[&str] = &["explore", "plan"];

pub(super) fn is_attempt(context: &EventContext<'_>) -> bool {
    let call = context.tool().map(|tool| &tool.call);
    if let Some(ToolCall::Skill { name, args, prompt }) = call {
        return skill_asks(name, args, prompt);
    }
    let is_orchestrator = matches!(call, Some(ToolCall::Delegate { agent, .. })
        if agents::normalize(agent).contains("orchestrator"));
    is_orchestrator && request(context).is_some_and(|text| text::says(&text, ADVANCE))
}

/// What a sub-agent is asked, in lower case, if that is neither the work of a phase nor the
/// setup of a project.
pub(super) fn request(context: &EventContext<'_>) -> Option<String> {
    let Some(ToolCall::Delegate {
        agent,
        prompt,
        description,
    }) = context.tool().map(|tool| &tool.call)
    else {
        return None;
    };
    if READERS.contains(&agents::normalize(agent).as_str())
        || matches!(context.delegation(), Delegation::Phase(_))
    {
        return None;
    }
    let (prompt, description) = (delegation::head(prompt), delegation::head(description));
    let text = format!("{prompt}\n{description}").to_lowercase();
    (!delegation::leads_with_setup(&text)).then_some(text)
}

/// Whether a skill is the workflow's own and its verb is about the gate.
fn skill_asks(name: &str, args: &str, prompt: &str) -> bool {
    let name = skill(name);
    let asks = |text: &str| {
        verb(text).is_some_and(|verb| {
            let whole =
                |pattern: &&str| text::places(&verb, pattern).any(|(a, b)| a.len() + b.len() == 0);
            VERBS.iter().any(whole)
        })
    };
    match name.as_str() {
        "isdlc" | "sdlc" if args.trim().is_empty() => asks(prompt),
        "isdlc" | "sdlc" => asks(args),
        // A call that names no skill is all text.
        "" => text::says(&delegation::head(prompt).to_lowercase(), VERBS),
        _ => false,
    }
}

/// The name of a skill in lower case. A plugin's skills carry its name in front: `isdlc:discover`.
pub(super) fn skill(name: &str) -> String {
    let name = name.trim().trim_start_matches('/');
    name.rsplit(':').next().unwrap_or(name).to_lowercase()
}

/// The first word of a skill's arguments that is no flag, in lower case and without quotes.
fn verb(args: &str) -> Option<String> {
    let word = args
        .split_whitespace()
        .find(|word| !word.starts_with('-'))?;
    let word = word.trim_start_matches(|c: char| !text::is_word(c));
    let end = word.find(|c: char| !text::is_word(c));
    let word = word.get(..end.unwrap_or(word.len()))?;
    (!word.is_empty()).then(|| word.to_lowercase())
}

/// Whether the agent carries out a command with these arguments itself.
pub(super) fn is_inline(args: &str) -> bool {
    verb(args).is_some_and(|verb| matches!(verb.as_str(), "add" | "analyze"))
}

/// The call in a few words, for the agent to recognise it.
pub(super) fn describe(context: &EventContext<'_>) -> String {
    let text = match context.tool().map(|tool| &tool.call) {
        Some(ToolCall::Delegate {
            agent,
            prompt,
            description,
        }) => {
            let text = if description.trim().is_empty() {
                prompt
            } else {
                description
            };
            format!("Task for '{}': {}", agent.trim(), text.trim())
        }
        Some(ToolCall::Skill { name, args, .. }) => format!("Skill /{name} {args}"),
        _ => String::new(),
    };
    let line = text.lines().next().unwrap_or_default();
    line.chars()
        .take(120)
        .collect::<String>()
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// F7: the verb of `/isdlc` is its first word that is no flag; the original searched the whole
    /// text.
    #[test]
    fn f7_the_first_word_that_is_no_flag_is_the_verb() {
        for (args, expected) in [
            ("advance", Some("advance")),
            ("advance --status", Some("advance")),
            ("--verbose -x ADVANCE now", Some("advance")),
            ("analyze \"the gate\"", Some("analyze")),
            ("\"advance\"", Some("advance")),
            ("--light -v Analyze: \"the gate\"", Some("analyze")),
            ("analyze(x)", Some("analyze")),
            ("--only-flags", None),
            ("", None),
        ] {
            assert_eq!(verb(args).as_deref(), expected, "{args}");
        }
    }

    #[test]
    fn a_skill_asks_by_its_verb() {
        for (name, args, prompt, expected) in [
            ("isdlc", "advance", "", true),
            ("/isdlc", "gate-check", "", true),
            ("iSDLC", "gate-06", "", true),
            ("sdlc", "phase_transition", "", true),
            ("isdlc", "", "advance", true),
            ("isdlc", "analyze gate-blocker", "", false),
            ("isdlc", "add \"advance gate\"", "", false),
            ("isdlc", "status", "", false),
            ("isdlc", "gateway", "", false),
            ("commit", "advance", "advance", false),
            ("", "", "run the gate-check", true),
        ] {
            assert_eq!(skill_asks(name, args, prompt), expected, "{name} {args}");
        }
    }
}

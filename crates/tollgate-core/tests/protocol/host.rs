//! What each agent does with a hook's answer: the decision matrix of `agent-protocols.md` 3.11 as
//! code, and the matrix itself as the test of that code.

use serde_json::Value;
use tollgate_core::protocol::Protocol;

/// What comes of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// the tool runs
    Runs,
    /// the tool runs, and then the session ends
    RunsThenHalts,
    /// the tool does not run, and the model learns why
    Blocked(String),
    /// the tool does not run, and nobody learns why
    BlockedReasonLost,
    /// the tool does not run, and the session ends
    BlockedThenHalts,
    /// the hook decides in the person's place
    Overrides,
    /// the turn goes on with this as its next prompt
    Continues(String),
    /// the turn ends
    Ends,
}

/// When an agent asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    PreTool,
    Stop,
}

pub(super) const AGENTS: [Protocol; 5] = [
    Protocol::Claude,
    Protocol::Codex,
    Protocol::Gemini,
    Protocol::Copilot,
    Protocol::Cursor,
];

/// A hook's answer, as an agent sees it.
#[derive(Clone, Copy)]
pub(super) struct Heard<'a> {
    pub(super) exit: u8,
    pub(super) stdout: &'a str,
    pub(super) stderr: &'a str,
}

pub(super) fn host_effect(agent: Protocol, moment: Moment, heard: Heard<'_>) -> Effect {
    match (agent, moment) {
        (Protocol::Claude, Moment::PreTool) => claude_tool(heard),
        (Protocol::Claude, Moment::Stop) => claude_stop(heard),
        (Protocol::Codex, Moment::PreTool) => codex_tool(heard),
        (Protocol::Codex, Moment::Stop) => codex_stop(heard),
        (Protocol::Gemini, _) => gemini(moment, heard),
        (Protocol::Copilot, Moment::PreTool) => copilot_tool(heard),
        (Protocol::Copilot, Moment::Stop) => copilot_stop(heard),
        (Protocol::Cursor, Moment::PreTool) => cursor_tool(heard),
        (Protocol::Cursor, Moment::Stop) => cursor_stop(heard),
        (Protocol::Isdlc | Protocol::Taskie | Protocol::Gauntlet, _) => unreachable!("no agent"),
    }
}

fn object(text: &str) -> Option<Value> {
    serde_json::from_str(text.trim())
        .ok()
        .filter(Value::is_object)
}

fn text(value: &Value, key: &str) -> Option<String> {
    value[key].as_str().map(str::to_owned)
}

fn some(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn only(value: &Value, known: &[&str]) -> bool {
    value
        .as_object()
        .is_none_or(|object| object.keys().all(|key| known.contains(&key.as_str())))
}

/// 1.4 and 1.5: an answer that does not validate is none at all.
fn claude_object(heard: Heard<'_>) -> Option<Value> {
    let value = object(heard.stdout)?;
    let nested = &value["hookSpecificOutput"];
    let named = nested.is_null() || nested["hookEventName"].is_string();
    let decision = value["decision"].as_str();
    let legal = matches!(decision, None | Some("approve" | "block"));
    (named && legal).then_some(value)
}

fn claude_tool(heard: Heard<'_>) -> Effect {
    let value = claude_object(heard).unwrap_or_default();
    let nested = &value["hookSpecificOutput"];
    let denied = nested["permissionDecision"] == "deny" || value["decision"] == "block";
    let reason = text(nested, "permissionDecisionReason").or_else(|| text(&value, "reason"));
    if nested["permissionDecision"] == "allow" || value["decision"] == "approve" {
        return Effect::Overrides;
    }
    match (heard.exit == 2 || denied, value["continue"] == false) {
        (true, true) => Effect::BlockedThenHalts,
        (true, false) => Effect::Blocked(
            reason
                .or_else(|| some(heard.stderr))
                .unwrap_or_else(|| "No stderr output".to_owned()),
        ),
        (false, true) => Effect::RunsThenHalts,
        (false, false) => Effect::Runs,
    }
}

fn claude_stop(heard: Heard<'_>) -> Effect {
    let value = claude_object(heard).unwrap_or_default();
    let context = text(&value["hookSpecificOutput"], "additionalContext");
    if heard.exit == 2 {
        Effect::Continues(some(heard.stderr).unwrap_or_default())
    } else if value["continue"] == false {
        Effect::Ends
    } else if value["decision"] == "block" {
        Effect::Continues(text(&value, "reason").unwrap_or_else(|| "Blocked by hook".to_owned()))
    } else {
        context.map_or(Effect::Ends, Effect::Continues)
    }
}

const CODEX_KEYS: [&str; 6] = [
    "continue",
    "stopReason",
    "suppressOutput",
    "systemMessage",
    "decision",
    "reason",
];

/// 3.1: one unknown key, a missing name or an empty reason, and the tool runs.
fn codex_tool(heard: Heard<'_>) -> Effect {
    if heard.exit == 2 {
        return some(heard.stderr).map_or(Effect::Runs, Effect::Blocked);
    }
    let Some(value) = object(heard.stdout).filter(|_| heard.exit == 0) else {
        return Effect::Runs;
    };
    let nested = &value["hookSpecificOutput"];
    let known = [&CODEX_KEYS[..], &["hookSpecificOutput"]].concat();
    let inner = [
        "hookEventName",
        "permissionDecision",
        "permissionDecisionReason",
        "updatedInput",
        "additionalContext",
    ];
    let valid = only(&value, &known)
        && only(nested, &inner)
        && (nested.is_null() || nested["hookEventName"] == "PreToolUse")
        && value["continue"] != false;
    let reason = if nested["permissionDecision"] == "deny" {
        text(nested, "permissionDecisionReason")
    } else if value["decision"] == "block" {
        text(&value, "reason")
    } else {
        None
    };
    match reason.filter(|reason| valid && !reason.trim().is_empty()) {
        Some(reason) => Effect::Blocked(reason),
        None => Effect::Runs,
    }
}

fn codex_stop(heard: Heard<'_>) -> Effect {
    if heard.exit == 2 {
        return some(heard.stderr).map_or(Effect::Ends, Effect::Continues);
    }
    object(heard.stdout)
        .filter(|value| heard.exit == 0 && only(value, &CODEX_KEYS))
        .filter(|value| value["decision"] == "block" && value["continue"] != false)
        .and_then(|value| text(&value, "reason"))
        .filter(|reason| !reason.trim().is_empty())
        .map_or(Effect::Ends, Effect::Continues)
}

/// 3.2: what was said is stdout, else stderr; JSON if it is JSON.
fn gemini(moment: Moment, heard: Heard<'_>) -> Effect {
    let (blocked, passed): (fn(String) -> Effect, _) = match moment {
        Moment::PreTool => (Effect::Blocked, Effect::Runs),
        Moment::Stop => (Effect::Continues, Effect::Ends),
    };
    let Some(said) = some(heard.stdout).or_else(|| some(heard.stderr)) else {
        return passed;
    };
    match object(&said) {
        Some(value) if value["continue"] == false => match moment {
            Moment::PreTool => Effect::BlockedThenHalts,
            Moment::Stop => Effect::Ends,
        },
        Some(value) if value["decision"] == "deny" || value["decision"] == "block" => {
            blocked(text(&value, "reason").unwrap_or_default())
        }
        Some(value) if value["decision"] == "allow" => Effect::Overrides,
        Some(_) => passed,
        None if heard.exit >= 2 => blocked(said),
        None => passed,
    }
}

/// 3.4: any exit but 0 denies, and then only the exit code is told.
fn copilot_tool(heard: Heard<'_>) -> Effect {
    if heard.exit != 0 {
        return Effect::BlockedReasonLost;
    }
    let value = object(heard.stdout).unwrap_or_default();
    let decision = [&value, &value["hookSpecificOutput"]]
        .into_iter()
        .find(|value| value["permissionDecision"].is_string());
    match decision {
        Some(value) if value["permissionDecision"] == "deny" => {
            text(value, "permissionDecisionReason")
                .map_or(Effect::BlockedReasonLost, Effect::Blocked)
        }
        Some(_) => Effect::Overrides,
        None => Effect::Runs,
    }
}

fn copilot_stop(heard: Heard<'_>) -> Effect {
    object(heard.stdout)
        .filter(|value| heard.exit == 0 && value["decision"] == "block")
        .and_then(|value| text(&value, "reason"))
        .map_or(Effect::Ends, Effect::Continues)
}

/// 3.3: the last object counts, and text that is none blocks "for safety".
fn cursor_tool(heard: Heard<'_>) -> Effect {
    match heard.exit {
        2 => {
            return some(heard.stdout)
                .or_else(|| some(heard.stderr))
                .map_or(Effect::BlockedReasonLost, Effect::Blocked);
        }
        0 => {}
        _ => return Effect::Runs,
    }
    let Some(said) = some(heard.stdout) else {
        return Effect::Runs;
    };
    let last = said
        .match_indices('{')
        .find_map(|(at, _)| object(said.get(at..)?));
    let Some(value) = last else {
        return Effect::BlockedReasonLost;
    };
    match value["permission"].as_str() {
        // `user_message` is the person's; the model does not see it.
        Some("deny") => {
            text(&value, "agent_message").map_or(Effect::BlockedReasonLost, Effect::Blocked)
        }
        Some(_) => Effect::Overrides,
        None => Effect::Runs,
    }
}

fn cursor_stop(heard: Heard<'_>) -> Effect {
    let value = object(heard.stdout)
        .filter(|_| heard.exit == 0)
        .unwrap_or_default();
    let claude_like = text(&value, "reason").filter(|_| value["decision"] == "block");
    text(&value, "followup_message")
        .or(claude_like)
        .map_or(Effect::Ends, Effect::Continues)
}

/// A row of 3.11: what the hook answers, and what comes of it with each agent.
struct Row {
    moment: Moment,
    answers: (u8, &'static str, &'static str),
    effects: [Effect; 5],
}

fn rows() -> Vec<Row> {
    use Effect::{
        BlockedReasonLost as Lost, BlockedThenHalts, Continues, Ends, Runs, RunsThenHalts,
    };
    let why = || Effect::Blocked("why".to_owned());
    let on = || Continues("why".to_owned());
    let nested = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"why"}}"#;
    let extra = r#"{"extra":1,"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"why"}}"#;
    let unnamed =
        r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"why"}}"#;
    let block = r#"{"decision":"block","reason":"why"}"#;
    let tool = |answers, effects| Row {
        moment: Moment::PreTool,
        answers,
        effects,
    };
    let stop = |answers, effects| Row {
        moment: Moment::Stop,
        answers,
        effects,
    };
    vec![
        tool((2, "", "why"), [why(), why(), why(), Lost, why()]),
        tool(
            (2, "", ""),
            [
                Effect::Blocked("No stderr output".to_owned()),
                Runs,
                Runs,
                Lost,
                Lost,
            ],
        ),
        tool((1, "", "why"), [Runs, Runs, Runs, Lost, Runs]),
        tool((127, "", "why"), [Runs, Runs, why(), Lost, Runs]),
        tool((0, nested, ""), [why(), why(), Runs, why(), Runs]),
        tool((0, extra, ""), [why(), Runs, Runs, why(), Runs]),
        tool((0, unnamed, ""), [Runs, Runs, Runs, why(), Runs]),
        tool((0, block, ""), [why(), why(), why(), Runs, Runs]),
        tool(
            (0, r#"{"continue":false,"stopReason":"why"}"#, ""),
            [RunsThenHalts, Runs, BlockedThenHalts, Runs, Runs],
        ),
        tool(
            (
                0,
                "checking\n{\"permission\":\"deny\",\"agent_message\":\"why\",\"decision\":\"block\",\"reason\":\"why\"}",
                "",
            ),
            [Runs, Runs, Runs, Runs, why()],
        ),
        tool((0, "all is well", ""), [Runs, Runs, Runs, Runs, Lost]),
        stop((2, "", "why"), [on(), on(), on(), Ends, Ends]),
        stop((0, block, ""), [on(), on(), on(), on(), on()]),
    ]
}

#[test]
fn the_models_reproduce_the_measured_matrix() {
    for (number, row) in rows().into_iter().enumerate() {
        let (exit, stdout, stderr) = row.answers;
        let heard = Heard {
            exit,
            stdout,
            stderr,
        };
        for (agent, effect) in AGENTS.into_iter().zip(row.effects) {
            assert_eq!(
                host_effect(agent, row.moment, heard),
                effect,
                "row {number} with {agent}: exit {exit}, {stdout:?}"
            );
        }
    }
}

/// The claim under the matrix: one answer stops a turn everywhere, and none blocks a tool
/// everywhere with its reason told.
#[test]
fn no_single_answer_blocks_a_tool_everywhere() {
    let told = |row: &Row| {
        row.effects
            .iter()
            .filter(|effect| matches!(effect, Effect::Blocked(_)))
            .count()
    };
    assert!(
        rows()
            .iter()
            .filter(|row| row.moment == Moment::PreTool)
            .all(|row| told(row) < AGENTS.len())
    );
}

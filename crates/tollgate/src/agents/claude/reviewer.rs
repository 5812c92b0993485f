//! Claude Code: `claude -p`, held to a schema.
//!
//! It says `subtype: "success"` also for API errors, and exits with 0 also when the schema was
//! never satisfied, so neither is taken for an answer.

use serde_json::Value;

use crate::agents::reviewer::{
    Channel, Heard, Invocation, Kind, NoAnswer, Printed, Question, ReviewerRow, Spoken, Usage,
    spoken,
};

pub(super) const REVIEWER: ReviewerRow = ReviewerRow {
    name: "claude",
    programs: &["claude"],
    prepare,
    hear,
    limits: &["limit reached", "hit your limit"],
    login_file: ".credentials.json",
    login_variables: &[
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
    ],
};

/// Hooks off (also in the settings of the user, which alone are read: the project's could name
/// another endpoint or a helper program), no servers, only reading, no questions.
const FLAGS: [&str; 17] = [
    "-p",
    "--output-format",
    "json",
    "--settings",
    r#"{"disableAllHooks":true}"#,
    "--setting-sources",
    "user",
    "--strict-mcp-config",
    "--tools",
    "Read,Grep,Glob",
    "--allowedTools",
    "Read,Grep,Glob",
    "--permission-mode",
    "dontAsk",
    "--max-turns",
    "40",
    "--no-session-persistence",
];

fn prepare(question: &Question<'_>, invocation: &mut Invocation) {
    let program = &mut invocation.program;
    program.args(FLAGS).args(["--json-schema", question.schema]);
    if let Some(model) = question.model {
        program.args(["--model", model]);
    }
    invocation.input = Some(question.prompt.to_owned());
}

/// The object that an answer comes in. For a person who has set Claude Code to be verbose it is
/// the last word of a list with all that was said before.
pub(crate) fn envelope(stdout: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(stdout.trim()).ok()?;
    let Value::Array(said) = value else {
        return Some(value);
    };
    let is_result = |value: &Value| value.get("type").is_some_and(|kind| kind == "result");
    let mut results = said.into_iter().filter(is_result);
    results.next().filter(|_| results.next().is_none())
}

fn hear(printed: &Printed) -> Heard {
    let Some(Value::Object(envelope)) = envelope(&printed.stdout) else {
        return Heard::plainly(printed);
    };
    if envelope.get("type").and_then(Value::as_str) != Some("result") {
        // A custom wrapper that prints the bare answer.
        return Heard::plainly(printed);
    }
    let number = |value: Option<&Value>| value.and_then(Value::as_u64);
    let tokens = envelope.get("usage");
    let token = |name: &str| number(tokens.and_then(|tokens| tokens.get(name)));
    let input = [
        "input_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
    ];
    let usage = Usage {
        cost_usd: envelope.get("total_cost_usd").and_then(Value::as_f64),
        input_tokens: token("input_tokens").map(|_| {
            input
                .into_iter()
                .filter_map(token)
                .fold(0, u64::saturating_add)
        }),
        output_tokens: token("output_tokens"),
    };
    Heard {
        answer: answer(&envelope),
        usage,
    }
}

fn answer(envelope: &serde_json::Map<String, Value>) -> Result<Spoken, NoAnswer> {
    let text = |key: &str| envelope.get(key).and_then(Value::as_str);
    let result = text("result");
    let is_fine =
        envelope.get("is_error") == Some(&Value::Bool(false)) && text("subtype") == Some("success");
    if !is_fine {
        let errors = envelope.get("errors").and_then(Value::as_array);
        let first = errors
            .and_then(|errors| errors.first())
            .and_then(Value::as_str);
        let subtype = text("subtype").unwrap_or("an error without a name");
        let said = result.filter(|said| !said.is_empty()).or(first);
        return Err(Kind::Failed.because(said.unwrap_or(subtype)));
    }
    match (envelope.get("structured_output"), result) {
        (Some(Value::Null) | None, None | Some("")) => {
            let reason = text("terminal_reason").unwrap_or_default();
            Err(Kind::Silent.because(reason))
        }
        (Some(Value::Null) | None, Some(result)) => spoken(result, Channel::Missed),
        (Some(output), _) => spoken(&output.to_string(), Channel::Schema),
    }
}

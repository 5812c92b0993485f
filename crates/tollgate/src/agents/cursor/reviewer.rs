//! Cursor: `cursor-agent -p` with JSON around free text. On failure it prints no JSON at all.

use serde_json::Value;

use crate::agents::reviewer::{
    Channel, Heard, Invocation, Kind, Printed, Question, ReviewerRow, Usage, spoken,
};

pub(super) const REVIEWER: ReviewerRow = ReviewerRow {
    name: "cursor",
    // `agent` is what the installer also calls it, but it is anybody's name.
    programs: &["cursor-agent", "agent"],
    prepare,
    hear,
    limits: &["hit your usage", "upgrade your plan"],
    login_file: "cli-config.json",
    login_variables: &["CURSOR_API_KEY"],
};

/// Without `--force` it proposes changes but makes none. Without `--trust` it does not start.
fn prepare(question: &Question<'_>, invocation: &mut Invocation) {
    let program = &mut invocation.program;
    program.args(["--output-format", "json", "--trust"]);
    if let Some(model) = question.model {
        program.args(["--model", model]);
    }
    program.arg("-p");
    // The question is not the flag's value, so behind `--` it cannot be taken for a flag.
    invocation.say("--", question.prompt);
}

fn hear(printed: &Printed) -> Heard {
    let Ok(Value::Object(envelope)) = serde_json::from_str(&printed.stdout) else {
        return Heard::plainly(printed);
    };
    let text = |key: &str| envelope.get(key).and_then(Value::as_str);
    if text("type") != Some("result") {
        return Heard::plainly(printed);
    }
    let result = text("result").unwrap_or_default();
    let is_fine =
        envelope.get("is_error") == Some(&Value::Bool(false)) && text("subtype") == Some("success");
    let token = |names: [&str; 2]| {
        let usage = envelope.get("usage")?;
        names.into_iter().find_map(|name| usage.get(name)?.as_u64())
    };
    Heard {
        answer: if is_fine {
            spoken(result, Channel::Prose)
        } else {
            Err(Kind::Failed.because(result))
        },
        usage: Usage {
            cost_usd: None,
            input_tokens: token(["inputTokens", "input_tokens"]),
            output_tokens: token(["outputTokens", "output_tokens"]),
        },
    }
}

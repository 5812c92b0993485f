//! Gemini: `gemini -p` with JSON around free text.
//!
//! Its hooks cannot be switched off from outside: there is no flag, and settings that are named by
//! a variable must belong to root in every directory above them (tried with 0.61.0). So hooks do
//! run inside it; Tollgate's own approve at once because of the marks in the environment.

use serde_json::Value;

use crate::agents::reviewer::{
    Channel, Heard, Invocation, Kind, Printed, Question, ReviewerRow, Usage, spoken,
};

pub(super) const REVIEWER: ReviewerRow = ReviewerRow {
    name: "gemini",
    programs: &["gemini"],
    prepare,
    hear,
    limits: &["resource_exhausted", "exhausted your capacity"],
    login_file: "oauth_creds.json",
    login_variables: &[
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "GOOGLE_APPLICATION_CREDENTIALS",
    ],
};

/// What goes behind the question: the flag is what keeps it from opening its screen.
const LAST_WORD: &str = "Answer as the beginning of this text says: one JSON object.";

/// Exit codes that mean something in particular.
const CODES: [(i32, &str); 3] = [
    (42, "it did not accept the question"),
    (53, "it used up its turns"),
    (
        55,
        "it does not trust this folder: start `gemini` here once and trust it, or set GEMINI_CLI_TRUST_WORKSPACE=true",
    ),
];

/// The folder's trust is left to the person: `--skip-trust` would load the project's own settings
/// and `.env`, which can name another endpoint.
fn prepare(question: &Question<'_>, invocation: &mut Invocation) {
    let program = &mut invocation.program;
    program.args(["--output-format", "json", "--approval-mode", "plan"]);
    if let Some(model) = question.model {
        program.args(["--model", model]);
    }
    program.args(["-p", LAST_WORD]);
    invocation.input = Some(question.prompt.to_owned());
}

fn hear(printed: &Printed) -> Heard {
    let code = CODES.iter().find(|(code, _)| Some(*code) == printed.code);
    let Ok(Value::Object(envelope)) = serde_json::from_str(&printed.stdout) else {
        return match code {
            Some((_, why)) => Heard::nothing(Kind::Failed.because(why)),
            None => Heard::plainly(printed),
        };
    };
    if !envelope.contains_key("response") && !envelope.contains_key("error") {
        return Heard::plainly(printed);
    }
    let models = envelope.get("stats").and_then(|stats| stats.get("models"));
    let sum = |name: &str| {
        let models = models.and_then(Value::as_object)?.values();
        let tokens = models.filter_map(|model| model.get("tokens")?.get(name)?.as_u64());
        Some(tokens.fold(0, u64::saturating_add))
    };
    let error = envelope.get("error").filter(|error| !error.is_null());
    let answer = match (
        error,
        code,
        envelope.get("response").and_then(Value::as_str),
    ) {
        (Some(error), _, _) => {
            let message = error.get("message").and_then(Value::as_str);
            Err(Kind::Failed.because(message.unwrap_or("an error without a message")))
        }
        (None, Some((_, why)), _) => Err(Kind::Failed.because(why)),
        (None, None, response) => spoken(response.unwrap_or_default(), Channel::Prose),
    };
    Heard {
        answer,
        usage: Usage {
            cost_usd: None,
            input_tokens: sum("prompt"),
            output_tokens: sum("candidates"),
        },
    }
}

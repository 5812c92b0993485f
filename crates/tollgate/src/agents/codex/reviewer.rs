//! Codex: `codex exec --json`, held to a schema.
//!
//! Standard output is a stream of events, one JSON object a line. The answer is the last message
//! of a turn that was completed; a turn that failed, or that never ended, has none.

use serde_json::Value;

use crate::agents::reviewer::{
    Channel, Heard, Invocation, Kind, NoAnswer, Printed, Question, ReviewerRow, Spoken, Usage,
    spoken,
};

pub(super) const REVIEWER: ReviewerRow = ReviewerRow {
    name: "codex",
    programs: &["codex"],
    prepare,
    hear,
    limits: &["insufficient_quota", "too many requests"],
    login_file: "auth.json",
    login_variables: &["OPENAI_API_KEY", "CODEX_API_KEY"],
};

fn prepare(question: &Question<'_>, invocation: &mut Invocation) {
    let schema = invocation.file(question.schema);
    let program = &mut invocation.program;
    // `--ignore-user-config` would not stop `hooks.json`; this does. Approvals are never asked
    // for without a person; the sandbox only lets it read.
    program
        .args(["exec", "--json", "--sandbox", "read-only"])
        .args(["--disable", "hooks", "--ephemeral", "--skip-git-repo-check"])
        .arg("--cd")
        .arg(question.root)
        .arg("--output-schema")
        .arg(schema);
    if let Some(model) = question.model {
        program.args(["--model", model]);
    }
    // A question that is one word could be taken for a subcommand, so it is never an argument.
    program.arg("-");
    invocation.input = Some(question.prompt.to_owned());
}

fn hear(printed: &Printed) -> Heard {
    let mut turn = Turn::default();
    for line in printed.stdout.lines() {
        if let Ok(event) = serde_json::from_str::<Value>(line) {
            turn.take(&event);
        }
    }
    if turn.events == 0 {
        // A custom wrapper that prints the bare answer.
        return Heard::plainly(printed);
    }
    Heard {
        usage: turn.usage,
        answer: turn.answer(),
    }
}

/// What the events add up to.
#[derive(Default)]
struct Turn {
    events: usize,
    message: Option<String>,
    /// The last one that was fatal. Warnings come as items of the type `error`.
    error: Option<String>,
    is_complete: bool,
    usage: Usage,
}

impl Turn {
    fn take(&mut self, event: &Value) {
        let text = |value: &Value, path: &str| value.pointer(path)?.as_str().map(str::to_owned);
        let Some(kind) = event.get("type").and_then(Value::as_str) else {
            return;
        };
        self.events += 1;
        match kind {
            "turn.started" => {
                self.is_complete = false;
                self.message = None;
            }
            "item.completed" if text(event, "/item/type").as_deref() == Some("agent_message") => {
                self.message = text(event, "/item/text");
            }
            "turn.completed" => {
                self.is_complete = true;
                let token = |name: &str| event.pointer(&format!("/usage/{name}"))?.as_u64();
                self.usage.input_tokens = token("input_tokens");
                self.usage.output_tokens = token("output_tokens");
            }
            "turn.failed" => {
                self.is_complete = false;
                self.error = text(event, "/error/message").or(self.error.take());
            }
            "error" => self.error = text(event, "/message").or(self.error.take()),
            _ => {}
        }
    }

    fn answer(self) -> Result<Spoken, NoAnswer> {
        if !self.is_complete {
            let why = self.error.as_deref();
            return Err(Kind::Failed.because(why.unwrap_or("its turn did not end")));
        }
        spoken(&self.message.unwrap_or_default(), Channel::Schema)
    }
}

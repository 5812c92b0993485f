//! What a tool returned, as text.

use std::borrow::Cow;

use super::tool::join;
use super::{Event, EventKind, Protocol, Tool};
use crate::text;
use tollgate_store::json::{Kind, Node, Object};

/// How a shell command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// with this exit status
    Code(u64),
    /// a person or a deadline ended it
    Interrupted,
    /// it goes on in the background
    Running,
    /// the agent does not tell
    Unknown,
}

impl Exit {
    fn is_over(self) -> bool {
        matches!(self, Self::Code(_) | Self::Interrupted)
    }
}

/// What a shell command printed, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output<'a> {
    /// Both streams as one text.
    pub text: Cow<'a, str>,
    /// How it ended.
    pub exit: Exit,
}

impl<'a> Event<'a> {
    /// What came of the event's shell command.
    ///
    /// Claude Code tells of a command that fails in its own event, whose text begins with
    /// `Exit code N`; an answer in the ordinary one means success. Codex says nothing, Copilot
    /// and Gemini in words at the end of the text, Cursor in JSON inside the text.
    pub fn output(&self) -> Output<'a> {
        let Some(result) = self.tool.as_ref().and_then(|tool| tool.result) else {
            let (text, exit) = (Cow::Borrowed(""), Exit::Unknown);
            return Output { text, exit };
        };
        let mut output = Output {
            text: text_of(result),
            exit: result.object().map_or(Exit::Unknown, |o| stated_exit(&o)),
        };
        // Started is not ended: what it printed so far is not all.
        if self.tool.as_ref().is_some_and(|tool| tool.background) && !output.exit.is_over() {
            output.exit = Exit::Running;
        }
        if output.exit != Exit::Unknown {
            return output;
        }
        if result.kind() == Kind::String
            && let Some(inside) = unpacked(&output.text)
        {
            return inside;
        }
        output.exit = match (self.kind, self.protocol) {
            (EventKind::PostToolFailure, _) => {
                first_words(&output.text).map_or(Exit::Interrupted, Exit::Code)
            }
            (EventKind::PostTool, Protocol::Claude) => Exit::Code(0),
            _ => first_words(&output.text)
                .or_else(|| last_words(&output.text))
                .map_or(Exit::Unknown, Exit::Code),
        };
        output
    }
}

/// The exit that the members of a result state.
fn stated_exit(result: &Object<'_>) -> Exit {
    let says = |key: &str| result.get(key).is_some_and(Node::truthy);
    if says("backgroundTaskId") || says("background_task_id") {
        return Exit::Running;
    }
    if says("interrupted") {
        return Exit::Interrupted;
    }
    let mut codes = ["exitCode", "exit_code", "code"].iter();
    let code = codes.find_map(|key| status(result.get(key)?));
    // A failure without a number is a failure.
    let is_error = says("is_error") || says("isError");
    let failed = is_error || result.get("success").and_then(Node::bool) == Some(false);
    let code = code.or(failed.then_some(1));
    code.map_or(Exit::Unknown, Exit::Code)
}

/// An exit status, in quotes too. Node and Python tell of a signal with a number below 0.
fn status(node: Node<'_>) -> Option<u64> {
    let text = node.str().unwrap_or(Cow::Borrowed(node.text()));
    let number: i64 = text.trim().parse().ok()?;
    Some(u64::try_from(number).unwrap_or(1))
}

/// `{"output":"…","exitCode":1}`, as Cursor packs it into a string.
fn unpacked(text: &str) -> Option<Output<'static>> {
    let object = Object::parse(text.trim().strip_prefix('{').map(|_| text.trim())?).ok()?;
    let said = ["output", "stdout", "stderr"].iter();
    let said = said.filter_map(|key| Some(Cow::Owned(object.str(key)?.into_owned())));
    let (text, exit) = (join(said.collect())?, stated_exit(&object));
    Some(Output { text, exit })
}

/// `Exit code 101`, alone on the first line.
fn first_words(text: &str) -> Option<u64> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let rest = text::after_phrase(line, "exit code")?;
    let (code, rest) = text::leading_number(rest.trim_start_matches([':', ' ']))?;
    rest.is_empty().then_some(code)
}

/// `… completed with exit code 3`, `Exit Code: 1`, `exited with code 1`: near the end only, for
/// what a test prints may talk of exit codes too.
fn last_words(text: &str) -> Option<u64> {
    const WORDS: [&str; 4] = [
        "exit code",
        "exited with code",
        "exited with",
        "exit status",
    ];
    let lines = text.lines().rev().filter(|line| !line.trim().is_empty());
    lines.take(3).find_map(|line| {
        WORDS.iter().find_map(|words| {
            let (_, rest) = text::phrases(line, words).next()?;
            text::leading_number(rest.trim_start_matches([':', ' '])).map(|(code, _)| code)
        })
    })
}

impl<'a> Tool<'a> {
    /// What the call returned, as the text that the model reads. Empty before the fact.
    pub fn result_text(&self) -> Cow<'a, str> {
        self.result.map_or(Cow::Borrowed(""), text_of)
    }

    /// Whether the call has come to its end with something to show. A sub-agent that was
    /// launched in the background answers at once and finishes later.
    pub fn has_finished(&self) -> bool {
        self.result.is_some_and(|result| {
            let status = result.get("status").and_then(Node::str);
            result.truthy() && status.is_none_or(|status| status != "async_launched")
        })
    }
}

/// Each agent wraps a result in its own way; what is in no known wrapping is its JSON text.
fn text_of(result: Node<'_>) -> Cow<'_, str> {
    match result.kind() {
        Kind::Null => Cow::Borrowed(""),
        Kind::String => result.str().unwrap_or_default(),
        Kind::Bool | Kind::Number => Cow::Borrowed(result.text()),
        Kind::Array => parts(result).unwrap_or(Cow::Borrowed(result.text())),
        Kind::Object => wrapped(result).unwrap_or(Cow::Borrowed(result.text())),
    }
}

fn wrapped(result: Node<'_>) -> Option<Cow<'_, str>> {
    let object = result.object()?;
    let streams = ["stdout", "stderr"].iter();
    let streams: Vec<_> = streams.filter_map(|key| object.str(key)).collect();
    if !streams.is_empty() {
        let said = streams.into_iter().filter(|text| !text.is_empty());
        return Some(join(said.collect()).unwrap_or_default());
    }
    ["textResultForLlm", "text_result_for_llm", "text"]
        .iter()
        .find_map(|key| object.str(key))
        .or_else(|| object.get("llmContent").and_then(spoken))
        // A text `content` is not a wrapping: it is the file that Claude Code's Write wrote.
        .or_else(|| object.get("content").and_then(parts))
}

/// Gemini's `llmContent`: a text, a part, or parts.
fn spoken(node: Node<'_>) -> Option<Cow<'_, str>> {
    node.str()
        .or_else(|| node.get("text")?.str())
        .or_else(|| parts(node))
}

/// The texts of `[{"type":"text","text":…}]`.
fn parts(node: Node<'_>) -> Option<Cow<'_, str>> {
    let parts = node.array()?.into_iter();
    let texts = parts.filter_map(|part| part.str().or_else(|| part.get("text")?.str()));
    join(texts.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// D3: a tool's result is `tool_response` in today's agents; the original read only
    /// `tool_result`.
    #[test]
    fn d3_how_a_command_ended_is_read_from_every_agents_words() {
        let claude = r#""hook_event_name":"PostToolUse","session_id":"s","#;
        let failed = r#""hook_event_name":"PostToolUseFailure","session_id":"s","#;
        for (event, exit, text) in [
            (
                format!(
                    r#"{claude}"tool_response":{{"stdout":"ok","stderr":"","interrupted":false}}"#
                ),
                Exit::Code(0),
                "ok",
            ),
            (
                format!(r#"{claude}"tool_response":{{"stdout":"","interrupted":true}}"#),
                Exit::Interrupted,
                "",
            ),
            (
                format!(r#"{claude}"tool_response":{{"stdout":"","backgroundTaskId":"b1"}}"#),
                Exit::Running,
                "",
            ),
            (
                format!(r#"{failed}"error":"Exit code 101\nboom""#),
                Exit::Code(101),
                "Exit code 101\nboom",
            ),
            (
                format!(r#"{failed}"error":"Command timed out after 2m""#),
                Exit::Interrupted,
                "Command timed out after 2m",
            ),
            (
                r#""tool_result":{"exitCode":1,"stdout":"x"}"#.to_owned(),
                Exit::Code(1),
                "x",
            ),
            (
                r#""tool_result":"plain""#.to_owned(),
                Exit::Unknown,
                "plain",
            ),
            (
                r#""tool_result":"a\nProcess exited with code 2""#.to_owned(),
                Exit::Code(2),
                "a\nProcess exited with code 2",
            ),
            (
                r#""tool_result":"a\n<command completed with exit code 3>""#.to_owned(),
                Exit::Code(3),
                "a\n<command completed with exit code 3>",
            ),
            (
                r#""tool_output":"{\"output\":\"a\",\"exitCode\":4}""#.to_owned(),
                Exit::Code(4),
                "a",
            ),
            (
                r#""tool_result":"exit code 9 is expected here\n1\n2\n3\n4""#.to_owned(),
                Exit::Unknown,
                "exit code 9 is expected here\n1\n2\n3\n4",
            ),
        ] {
            let event = format!(r#"{{{event},"tool_name":"Bash","tool_input":{{"command":"x"}}}}"#);
            let parsed =
                crate::protocol::parse(&event, &crate::protocol::Hints::default()).unwrap();
            let text = Cow::Borrowed(text);
            assert_eq!(parsed.output(), Output { text, exit }, "{event}");
        }
    }

    #[test]
    fn every_wrapping_comes_off() {
        for (result, text) in [
            (r#""ok\n""#, "ok\n"),
            ("null", ""),
            ("7", "7"),
            (r#"{"stdout":"out","stderr":""}"#, "out"),
            (r#"{"stdout":"out","stderr":"err"}"#, "out\nerr"),
            (r#"{"stdout":"","stderr":""}"#, ""),
            (
                r#"{"content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}"#,
                "a\nb",
            ),
            (r#"[{"type":"text","text":"a"}]"#, "a"),
            (r#"{"text":"a"}"#, "a"),
            (r#"{"llmContent":"a","returnDisplay":"b"}"#, "a"),
            (r#"{"llmContent":[{"text":"a"}]}"#, "a"),
            (r#"{"llmContent":{"text":"a"}}"#, "a"),
            (r#"{"resultType":"success","textResultForLlm":"a"}"#, "a"),
            (
                r#"{"result_type":"success","text_result_for_llm":"a"}"#,
                "a",
            ),
            (
                r#"{"filePath":"x","content":"the file"}"#,
                r#"{"filePath":"x","content":"the file"}"#,
            ),
            (r#"{"menu":[1]}"#, r#"{"menu":[1]}"#),
            ("[1,2]", "[1,2]"),
        ] {
            assert_eq!(text_of(Node::parse(result).unwrap()), text, "{result}");
        }
    }
}

//! What a tool returned, as text.

use std::borrow::Cow;

use super::Tool;
use super::tool::join;
use crate::json::{Kind, Node};

impl<'a> Tool<'a> {
    /// What the call returned, as the text that the model reads. Empty before the fact.
    pub fn result_text(&self) -> Cow<'a, str> {
        self.result.map_or(Cow::Borrowed(""), text_of)
    }

    /// Whether the call has come to its end with something to show. A sub-agent that was
    /// launched in the background answers at once and finishes later.
    pub fn has_finished(&self) -> bool {
        let launched = |result: Node<'_>| {
            result
                .get("status")
                .and_then(Node::str)
                .is_some_and(|s| s == "async_launched")
        };
        self.result
            .is_some_and(|result| result.truthy() && !launched(result))
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
    let streams: Vec<_> = ["stdout", "stderr"]
        .iter()
        .filter_map(|key| object.str(key))
        .collect();
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
    let texts = node
        .array()?
        .into_iter()
        .filter_map(|part| part.str().or_else(|| part.get("text")?.str()))
        .collect();
    join(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

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

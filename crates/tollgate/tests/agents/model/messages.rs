//! Anthropic's Messages API: Claude Code and Copilot CLI.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::http::Reply;
use super::{Input, Turn};

pub(super) fn has_tools(request: &Value) -> bool {
    request["tools"]
        .as_array()
        .is_some_and(|tools| !tools.is_empty())
}

pub(super) fn answer(request: &Value, turn: &Turn) -> Reply {
    let blocks = blocks(request, turn);
    let calls = blocks.iter().any(|(block, _)| block["type"] == "tool_use");
    let reason = if calls { "tool_use" } else { "end_turn" };
    let message = json!({
        "id": unique("msg"), "type": "message", "role": "assistant", "model": request["model"],
        "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": { "input_tokens": 11, "output_tokens": 7 },
    });
    if request["stream"] != true {
        let mut message = message;
        message["content"] = blocks.into_iter().map(|(block, _)| block).collect();
        message["stop_reason"] = reason.into();
        return Reply::Json(message);
    }
    let mut events = vec![json!({ "type": "message_start", "message": message })];
    for (index, (mut block, delta)) in blocks.into_iter().enumerate() {
        // Streamed, a block begins empty and its delta fills it.
        if block["type"] == "tool_use" {
            block["input"] = json!({});
        } else {
            block["text"] = json!("");
        }
        events
            .push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        events.push(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    let delta = json!({ "stop_reason": reason });
    let usage = json!({ "output_tokens": 7 });
    events.push(json!({ "type": "message_delta", "delta": delta, "usage": usage }));
    events.push(json!({ "type": "message_stop" }));
    Reply::Events(events)
}

/// Whole blocks, each with the delta that streams it.
fn blocks(request: &Value, turn: &Turn) -> Vec<(Value, Value)> {
    match turn {
        Turn::Say(text) => vec![said(text)],
        Turn::Object(object) => {
            // Claude Code wants an object as the call of a tool that it made for it.
            let mut tools = request["tools"].as_array().into_iter().flatten();
            let own = tools.find_map(|tool| {
                let name = tool["name"].as_str()?;
                name.contains("tructured").then_some(name)
            });
            match own {
                Some(name) => vec![called(name, object)],
                None => vec![said(&object.to_string())],
            }
        }
        Turn::Call(calls) => {
            let calls = calls.iter().map(|call| match &call.input {
                Input::Object(input) => called(call.name, input),
                Input::Text(text) => called(call.name, &json!({ "input": text })),
            });
            calls.collect()
        }
    }
}

fn said(text: &str) -> (Value, Value) {
    (
        json!({ "type": "text", "text": text }),
        json!({ "type": "text_delta", "text": text }),
    )
}

fn called(name: &str, input: &Value) -> (Value, Value) {
    (
        json!({ "type": "tool_use", "id": unique("toolu"), "name": name, "input": input }),
        json!({ "type": "input_json_delta", "partial_json": input.to_string() }),
    )
}

/// An id that no other message or call has: Claude Code takes two messages with one id for one.
fn unique(kind: &str) -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("{kind}_{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

//! The Responses API, which Codex speaks.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::http::Reply;
use super::{Call, Input, Turn};

pub(super) fn answer(turn: &Turn) -> Reply {
    let items = match turn {
        Turn::Say(text) => vec![said(text)],
        Turn::Object(object) => vec![said(&object.to_string())],
        Turn::Call(calls) => calls.iter().map(called).collect(),
    };
    let usage = json!({
        "input_tokens": 9, "input_tokens_details": null, "output_tokens": 3,
        "output_tokens_details": null, "total_tokens": 12,
    });
    let mut events = vec![json!({ "type": "response.created", "response": { "id": "r" } })];
    let items = items.into_iter();
    events.extend(items.map(|item| json!({ "type": "response.output_item.done", "item": item })));
    let response = json!({ "id": "r", "usage": usage });
    events.push(json!({ "type": "response.completed", "response": response }));
    Reply::Events(events)
}

fn said(text: &str) -> Value {
    let content = json!([{ "type": "output_text", "text": text }]);
    json!({ "type": "message", "role": "assistant", "id": "i", "content": content })
}

fn called(call: &Call) -> Value {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let id = format!("call_{}", NEXT.fetch_add(1, Ordering::Relaxed));
    match &call.input {
        Input::Object(input) => json!({
            "type": "function_call", "id": id, "call_id": id, "name": call.name,
            "arguments": input.to_string(),
        }),
        Input::Text(text) => json!({
            "type": "custom_tool_call", "id": id, "call_id": id, "name": call.name, "input": text,
        }),
    }
}

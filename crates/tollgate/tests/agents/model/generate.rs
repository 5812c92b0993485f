//! Google's Gemini API.

use serde_json::{Value, json};

use super::http::Reply;
use super::{Call, Input, Turn};

pub(super) fn has_tools(request: &Value) -> bool {
    let mut tools = request["tools"].as_array().into_iter().flatten();
    tools.any(|tool| tool.get("functionDeclarations").is_some())
}

pub(super) fn answer(path: &str, turn: &Turn) -> Reply {
    let parts = match turn {
        Turn::Say(text) => vec![json!({ "text": text })],
        Turn::Object(object) => vec![json!({ "text": object.to_string() })],
        Turn::Call(calls) => calls.iter().map(called).collect(),
    };
    let content = json!({ "role": "model", "parts": parts });
    let whole = json!({
        "candidates": [{ "content": content, "finishReason": "STOP" }],
        "usageMetadata": { "promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 7 },
    });
    if path.contains("streamGenerateContent") {
        Reply::Events(vec![whole])
    } else {
        Reply::Json(whole)
    }
}

fn called(call: &Call) -> Value {
    let args = match &call.input {
        Input::Object(input) => input.clone(),
        Input::Text(text) => json!({ "input": text }),
    };
    json!({ "functionCall": { "name": call.name, "args": args } })
}

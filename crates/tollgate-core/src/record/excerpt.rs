//! What is kept of an event and of the state it met, so that a decision can be explained later.
//!
//! Only of events that were blocked or warned about. An event can carry 12 MB and a secret in any
//! of its texts: long texts are cut before they are decoded, and all are redacted. The state is
//! kept as its own file ([`tollgate_store::blobs`]), once per version, however many events meet it.

use serde_json::Value;

use tollgate_store::journal::clean;
use tollgate_store::json::{Kind, Node, Object};

/// What a text that was cut ends with.
pub const CUT: &str = "…[cut]";

/// How much of a text is kept, how many members of one value, and how deep.
const LONGEST: usize = 3 << 10;
const MOST: usize = 64;
const DEEPEST: usize = 8;

/// An event without its secrets and not without end; nothing if it is no object.
pub fn event(text: &str) -> Option<Value> {
    Some(members(&Object::parse(text).ok()?, 1))
}

fn members(object: &Object<'_>, depth: usize) -> Value {
    let members = object.members().take(MOST);
    let kept = members.map(|(key, node)| (clean(key).into_owned(), shrunk(node, depth)));
    Value::Object(kept.collect())
}

fn shrunk(node: Node<'_>, depth: usize) -> Value {
    match node.kind() {
        Kind::String => Value::String(text(node)),
        Kind::Object | Kind::Array if depth > DEEPEST => Value::String(CUT.to_owned()),
        Kind::Object => members(&node.object().unwrap_or_default(), depth + 1),
        Kind::Array => {
            let items = node.array().unwrap_or_default();
            let kept = items.into_iter().take(MOST);
            Value::Array(kept.map(|node| shrunk(node, depth + 1)).collect())
        }
        Kind::Number | Kind::Bool | Kind::Null => {
            serde_json::from_str(node.text()).unwrap_or_default()
        }
    }
}

fn text(node: Node<'_>) -> String {
    let raw = node.text();
    if raw.len() <= LONGEST {
        return clean(&node.str().unwrap_or_default()).into_owned();
    }
    // Twelve megabytes are not decoded to keep three kilobytes of them. A cut may go through an
    // escape, which is never longer than a pair of surrogates.
    let decoded = (0..12).find_map(|less| {
        let start = raw.get(..LONGEST - less)?;
        serde_json::from_str::<String>(&format!("{start}\"")).ok()
    });
    format!("{}{CUT}", clean(&decoded.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_kept_without_its_secrets_and_its_bulk() {
        let long = "ü\\n\\ud83d\\ude00".repeat(9000);
        let text = format!(
            r#"{{"tool_input":{{"command":"curl https://me:hunter2@host","content":"{long}"}},"n":1.50}}"#
        );
        let kept = event(&text).unwrap();
        assert_eq!(
            kept["tool_input"]["command"],
            "curl https://me:[redacted]@host"
        );
        let content = kept["tool_input"]["content"].as_str().unwrap();
        assert!(
            content.len() < 4200 && content.ends_with(CUT),
            "{}",
            content.len()
        );
        assert_eq!(kept["n"].to_string(), "1.50");
        assert_eq!(event("[]"), None);
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(50), "]".repeat(50));
        assert!(event(&deep).unwrap().to_string().contains(CUT));
    }
}

//! What is kept of an event and of the state it met, so that a decision can be explained later.
//!
//! Only of events that were blocked or warned about. An event can carry 12 MB and a secret in any
//! of its texts: long texts are cut before they are decoded, and all are redacted. The state is
//! kept as a file of its own, once per version, however many events meet it.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::journal::clean;
use super::record::digest;
use crate::fs::{self, Durability};
use crate::json::{Kind, Node, Object};

/// What a text that was cut ends with.
pub const CUT: &str = "…[cut]";

/// How much of a text is kept, how many members of one value, and how deep.
const LONGEST: usize = 3 << 10;
const MOST: usize = 64;
const DEEPEST: usize = 8;

/// How many states are kept.
const STATES: usize = 32;

/// An event without its secrets and not without end; nothing if it is no object.
pub fn event(text: &str) -> Option<Value> {
    let object = Object::parse(text).ok()?;
    let members = object.iter().take(MOST);
    let kept = members.map(|(key, node)| (clean(key).into_owned(), shrunk(node, 1)));
    Some(Value::Object(kept.collect()))
}

fn shrunk(node: Node<'_>, depth: usize) -> Value {
    match node.kind() {
        Kind::String => Value::String(text(node)),
        Kind::Object | Kind::Array if depth > DEEPEST => Value::String(CUT.to_owned()),
        Kind::Object => {
            let object = node.object().unwrap_or_default();
            let members = object.iter().take(MOST);
            let kept =
                members.map(|(key, node)| (clean(key).into_owned(), shrunk(node, depth + 1)));
            Value::Object(kept.collect::<Map<_, _>>())
        }
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

/// Keeps a state's text, unless it is kept already, and says under which name.
pub fn keep_state(local: &Path, text: &str) -> io::Result<String> {
    let name = format!("{:016x}", digest(text.as_bytes()));
    let path = state_path(local, &name);
    if path.symlink_metadata().is_ok() {
        return Ok(name);
    }
    let directory = local.join(DIRECTORY);
    fs::private_directory(&directory)?;
    drop_oldest(&directory)?;
    fs::replace(&path, text.as_bytes(), Durability::Lazy).map_err(io::Error::other)?;
    Ok(name)
}

/// The text of a kept state; nothing if it is gone or not what it was.
pub fn kept_state(local: &Path, name: &str) -> Option<String> {
    if name.len() != 16 || !name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let kept = fs::read_own(&state_path(local, name), super::store::STATE_CAP).ok()??;
    let same = format!("{:016x}", digest(&kept.bytes)) == name;
    same.then(|| String::from_utf8(kept.bytes).ok()).flatten()
}

const DIRECTORY: &str = "states";

fn state_path(local: &Path, name: &str) -> PathBuf {
    local.join(DIRECTORY).join(format!("{name}.json"))
}

fn drop_oldest(directory: &Path) -> io::Result<()> {
    let mut kept: Vec<_> = std::fs::read_dir(directory)?
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let is_state = entry.path().extension().is_some_and(|kind| kind == "json");
            is_state.then(|| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))?
        })
        .collect();
    if kept.len() >= STATES {
        kept.sort();
        for (_, path) in kept.iter().take(kept.len() + 1 - STATES) {
            fs::remove(path)?;
        }
    }
    Ok(())
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

    #[test]
    fn states_are_kept_once_and_not_without_end() {
        let dir = tempfile::tempdir().unwrap();
        let name = keep_state(dir.path(), "{}").unwrap();
        assert_eq!(keep_state(dir.path(), "{}").unwrap(), name);
        assert_eq!(kept_state(dir.path(), &name).as_deref(), Some("{}"));
        assert_eq!(kept_state(dir.path(), "../../x"), None);
        for n in 0..50 {
            keep_state(dir.path(), &format!("{{\"n\":{n}}}")).unwrap();
        }
        let files = dir.path().join("states").read_dir().unwrap();
        let states = files.filter(|file| {
            let path = file.as_ref().unwrap().path();
            path.extension().is_some_and(|kind| kind == "json")
        });
        assert_eq!(states.count(), STATES);
        #[expect(clippy::disallowed_methods, reason = "the test spoils it")]
        std::fs::write(state_path(dir.path(), &name), "{\"other\":1}").unwrap();
        assert_eq!(kept_state(dir.path(), &name), None);
    }
}

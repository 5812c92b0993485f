//! Which hooks Codex trusts: it skips the others silently. It remembers them in the person's
//! `config.toml`, each by its place in the file and the hash of its definition.

use std::path::Path;

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use tollgate_store::fs;

use crate::agents::places::Places;
use crate::agents::read::{MAX, Registered, classify};
use crate::agents::settings_file::{self, Entry, SettingsFile};
use crate::agents::{Agent, Scope, Shape};
use crate::hash::hex;

/// What Codex takes for a hook that says nothing about its time, in seconds.
const USUAL: u64 = 600;

/// Why Codex does not run the registered hooks, if it does not.
pub(super) fn lack(codex: Agent, places: &Places, registered: &[&Registered]) -> Option<String> {
    let config = places.home_of(codex)?.join("config.toml");
    let config = read(&config);
    let top = |key: &str| config.as_ref().and_then(|config| config.top(key));
    let state = top("hooks").and_then(|hooks| hooks.get("state").cloned());
    let state = state.unwrap_or_default();
    let mut files: Vec<(&Path, Scope)> = Vec::new();
    for one in registered.iter().filter(|one| one.agent == codex) {
        if !files.contains(&(one.file.as_path(), one.scope)) {
            files.push((&one.file, one.scope));
        }
    }
    let projects = top("projects").unwrap_or_default();
    let root = places.root.to_string_lossy().into_owned();
    let trusts_project = projects
        .get(&root)
        .is_some_and(|one| one["trust_level"] == "trusted");
    let is_projects = files.iter().any(|(_, scope)| *scope != Scope::User);
    if is_projects && !trusts_project {
        return Some(
            "not trusted by Codex: it does not trust this project; start it here and say yes"
                .to_owned(),
        );
    }
    let mut untrusted: Vec<String> = Vec::new();
    for (file, _) in files {
        let Some(hooks) = read(file).and_then(|file| file.top("hooks")) else {
            continue;
        };
        for (event, groups) in hooks.as_object().into_iter().flatten() {
            let untrusted_here = !ours(groups).all(|(place, group, handler)| {
                let key = format!("{}:{}:{place}", file.display(), snake(event));
                is_trusted(state.get(&key), &definition(event, group, handler))
            });
            if untrusted_here {
                untrusted.push(event.clone());
            }
        }
    }
    let untrusted = untrusted.join(", ");
    let say = || format!("not trusted by Codex: {untrusted}; type `/hooks` there and trust them");
    (!untrusted.is_empty()).then(say)
}

fn read(path: &Path) -> Option<Box<dyn SettingsFile>> {
    let contents = fs::read_regular(path, MAX).ok()??;
    settings_file::parse(path, &contents.bytes, Shape::Nested).ok()
}

/// The hooks of Tollgate among the groups of an event, with their places.
fn ours(groups: &Value) -> impl Iterator<Item = (String, &Value, &Map<String, Value>)> {
    let groups = groups.as_array().into_iter().flatten().enumerate();
    let all = groups.flat_map(|(at, group)| {
        let handlers = group["hooks"].as_array().into_iter().flatten().enumerate();
        handlers.map(move |(n, handler)| (format!("{at}:{n}"), group, handler))
    });
    all.filter_map(|(place, group, handler)| {
        let handler = handler.as_object()?;
        let entry = Entry {
            event: String::new(),
            matcher: None,
            handler: handler.clone(),
            effective: true,
        };
        classify(&entry)?;
        Some((place, group, handler))
    })
}

fn is_trusted(remembered: Option<&Value>, definition: &str) -> bool {
    let hash = format!("sha256:{}", hex(&Sha256::digest(definition.as_bytes())));
    remembered.is_some_and(|one| one["trusted_hash"] == hash.as_str() && one["enabled"] != false)
}

/// A hook as Codex hashes it: one line of JSON with its keys in order, and what is usual filled in.
fn definition(event: &str, group: &Value, handler: &Map<String, Value>) -> String {
    let seconds = handler
        .get("timeout")
        .and_then(Value::as_u64)
        .unwrap_or(USUAL);
    let seconds = if event == "SessionEnd" {
        seconds.clamp(1, 3)
    } else {
        seconds
    };
    let mut members = Map::new();
    for key in [
        "additionalContextLimit",
        "async",
        "command",
        "commandWindows",
        "statusMessage",
        "timeout",
        "type",
    ] {
        let value = match key {
            "async" => Some(handler.get(key).cloned().unwrap_or(Value::Bool(false))),
            "timeout" => Some(json!(seconds)),
            other => handler.get(other).cloned(),
        };
        members.extend(value.map(|value| (key.to_owned(), value)));
    }
    let mut whole = Map::new();
    whole.insert("event_name".to_owned(), json!(snake(event)));
    whole.insert("hooks".to_owned(), json!([members]));
    if let Some(matcher) = group.get("matcher") {
        whole.insert("matcher".to_owned(), matcher.clone());
    }
    Value::Object(whole).to_string()
}

/// `pre_tool_use` of `PreToolUse`.
fn snake(event: &str) -> String {
    let mut name = String::new();
    for letter in event.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_is_hashed_with_sorted_keys_and_what_is_usual() {
        let handler = json!({ "type": "command", "command": "tollgate hook", "timeout": 10 });
        assert_eq!(
            definition(
                "PreToolUse",
                &json!({ "matcher": "Bash" }),
                handler.as_object().unwrap()
            ),
            r#"{"event_name":"pre_tool_use","hooks":[{"async":false,"command":"tollgate hook","timeout":10,"type":"command"}],"matcher":"Bash"}"#
        );
        assert_eq!(
            definition(
                "SessionEnd",
                &json!({}),
                json!({ "type": "command" }).as_object().unwrap()
            ),
            r#"{"event_name":"session_end","hooks":[{"async":false,"timeout":3,"type":"command"}]}"#
        );
    }
}

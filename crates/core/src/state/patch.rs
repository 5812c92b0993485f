//! What a change of the state did, field by field, so that it can be read and taken back.
//!
//! A patch is JSON, because it lives in a line of the journal: per field its path, what was there
//! and what is there now; of a list that grew, what was added and what fell off its front. A value
//! that is too long, or that must not be written to a log, is marked as cut: it is known that it
//! changed, and the change cannot be taken back.

use serde_json::{Map, Value, json};

use super::document::Document;
use super::edit::{Edit, Op};
use super::redact::redact;
use crate::json::{Node, Object};

/// How long a value may be, in one event's line and in a command's.
const LONGEST: usize = 1 << 10;
const LONGEST_OF_COMMAND: usize = 16 << 10;

/// What edits do to a state with this text.
pub fn of_edits(edits: &[Edit], state: &str) -> Option<Value> {
    let state = Object::parse(state).ok()?;
    let steps = edits.iter().filter_map(|edit| step(edit, &state));
    let steps: Vec<Value> = steps.collect();
    (!steps.is_empty()).then_some(Value::Array(steps))
}

fn step(edit: &Edit, state: &Object<'_>) -> Option<Value> {
    let (first, rest) = edit.path.split_first()?;
    let mut found = state.get(first);
    for key in rest {
        found = found.and_then(|node| node.get(key));
    }
    let mut step = Map::new();
    step.insert("path".to_owned(), json!(edit.path));
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            step.insert(name.to_owned(), value);
        }
    };
    match &edit.op {
        Op::Set(value) => {
            put("before", found.map(kept));
            put("after", Some(short(value.clone(), LONGEST)));
        }
        Op::Remove => put("before", Some(kept(found?))),
        Op::Add(amount) => {
            let before = found.and_then(|node| node.text().parse::<i64>().ok());
            put("before", found.map(kept));
            put(
                "after",
                Some(before.unwrap_or(0).saturating_add(*amount).into()),
            );
        }
        Op::Push { value, keep } => {
            let items = found.and_then(Node::array).unwrap_or_default();
            let most = keep.unwrap_or(usize::MAX);
            let drop = (items.len() + 1).saturating_sub(most);
            put("pushed", Some(short(value.clone(), LONGEST)));
            if found.is_none_or(Node::is_null) {
                put("made", Some(true.into()));
            }
            if drop > 0 {
                put(
                    "dropped",
                    Some(items.into_iter().take(drop).map(kept).collect()),
                );
            }
        }
        Op::Require(_) => return None,
    }
    Some(Value::Object(step))
}

fn kept(node: Node<'_>) -> Value {
    if node.text().len() > LONGEST {
        return cut();
    }
    let value = serde_json::from_str(node.text()).unwrap_or_else(|_| cut());
    short(value, LONGEST)
}

fn cut() -> Value {
    json!({ "$cut": true })
}

/// A value as it may stand in the journal.
fn short(value: Value, longest: usize) -> Value {
    let text = value.to_string();
    if text.len() > longest || redact(&text) != text {
        return cut();
    }
    value
}

/// What turned one document into another.
pub fn between(before: &Document, after: &Document) -> Value {
    let mut steps = Vec::new();
    let members = |document: &Document| document.members().cloned().unwrap_or_default();
    let (before, after) = (members(before), members(after));
    differ(&mut Vec::new(), &before, &after, &mut steps);
    Value::Array(steps)
}

fn differ(
    path: &mut Vec<String>,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    steps: &mut Vec<Value>,
) {
    let gone = before.iter().filter(|(key, _)| !after.contains_key(*key));
    let gone: Vec<(&String, &Value)> = gone.collect();
    for (key, old) in gone {
        path.push(key.clone());
        steps.push(json!({ "path": path, "before": short(old.clone(), LONGEST_OF_COMMAND) }));
        path.pop();
    }
    for (key, new) in after {
        path.push(key.clone());
        match (before.get(key), new) {
            (Some(old), new) if old == new => {}
            (Some(Value::Object(old)), Value::Object(new)) => differ(path, old, new, steps),
            (old, new) => {
                let mut step =
                    json!({ "path": path, "after": short(new.clone(), LONGEST_OF_COMMAND) });
                if let (Some(old), Some(step)) = (old, step.as_object_mut()) {
                    step.insert("before".to_owned(), short(old.clone(), LONGEST_OF_COMMAND));
                }
                steps.push(step);
            }
        }
        path.pop();
    }
}

/// Takes a patch back. Nothing is changed if something of it is not known.
pub fn take_back(patch: &Value, document: &mut Document) -> Result<(), String> {
    let mut changed = document.clone();
    for step in patch.as_array().into_iter().flatten().rev() {
        let path: Vec<String> =
            serde_json::from_value(step.get("path").cloned().unwrap_or_default())
                .map_err(|_| "a step of the change has no path".to_owned())?;
        let place = path.join(".");
        let known = |name: &str| match step.get(name) {
            Some(value) if *value == cut() => Err(format!("what {place} said before is not kept")),
            found => Ok(found.cloned()),
        };
        if step.get("pushed").is_some() {
            let mut items = changed.array(&path).unwrap_or_default().to_vec();
            items
                .pop()
                .ok_or_else(|| format!("{place} is no list any more"))?;
            let dropped = known("dropped")?.unwrap_or_else(|| json!([]));
            let mut list = dropped.as_array().cloned().unwrap_or_default();
            if list.contains(&cut()) {
                return Err(format!("what fell off {place} is not kept"));
            }
            list.append(&mut items);
            if step.get("made").is_some() {
                drop(changed.remove(&path));
            } else {
                changed
                    .set(&path, list)
                    .map_err(|fault| fault.to_string())?;
            }
            continue;
        }
        match known("before")? {
            Some(before) => changed
                .set(&path, before)
                .map_err(|fault| fault.to_string())?,
            None => drop(changed.remove(&path)),
        }
    }
    *document = changed;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::edit;
    use super::*;

    #[test]
    fn what_edits_did_is_taken_back() {
        let text = r#"{"n":1,"list":[1,2,3],"o":{"a":"x"},"gone":true}"#;
        let edits = [
            Edit::add(&["n"], 2),
            Edit::push_capped(&["list"], 4, 3),
            Edit::push(&["fresh"], 1),
            Edit::set(&["o", "a"], "y"),
            Edit::set(&["o", "b"], 1),
            Edit::remove(&["gone"]),
        ];
        let before = Document::parse(text.as_bytes()).unwrap();
        let mut after = before.clone();
        edit::apply(&edits, &mut after).unwrap();
        for patch in [of_edits(&edits, text).unwrap(), between(&before, &after)] {
            let mut back = after.clone();
            take_back(&patch, &mut back).unwrap();
            let same = |document: &Document| document.members().cloned().unwrap();
            let sorted = |document: &Document| {
                let mut members: Vec<_> = same(document).into_iter().collect();
                members.sort_by(|one, other| one.0.cmp(&other.0));
                members
            };
            assert_eq!(sorted(&back), sorted(&before), "{patch}");
        }
    }

    #[test]
    fn what_is_long_or_secret_is_cut_and_cannot_be_taken_back() {
        let long = "x".repeat(2000);
        let text = format!(r#"{{"long":"{long}","url":"https://me:hunter2@host"}}"#);
        let edits = [Edit::set(&["long"], 1), Edit::set(&["url"], 2)];
        let patch = of_edits(&edits, &text).unwrap();
        assert!(!patch.to_string().contains("hunter2") && patch.to_string().len() < 500);
        let mut document = Document::parse(b"{\"long\":1,\"url\":2}").unwrap();
        let why = take_back(&patch, &mut document).unwrap_err();
        assert!(why.contains("url"), "{why}");
        assert!(!document.is_changed());
    }
}

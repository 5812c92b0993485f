//! What a change of the state did, field by field, so that it can be read and taken back.
//!
//! A patch is JSON, because it lives in a line of the journal: per field its path, what was there
//! and what is there now; of a list that grew, what was added and what fell off its front. A value
//! that is too long for a line, or that must not stand in a log, is kept as a file of its own
//! ([`Blobs::values`]) and named in the line. Where even that fails it is marked as cut: it is known
//! that it changed, and the change cannot be taken back.

use serde_json::{Map, Value, json};

use super::blobs::Blobs;
use super::document::Document;
use super::edit::{Edit, Op};
use super::redact::redact;
use crate::json::{Node, Object};

/// How long a value in a line may be, and all of them together.
const LONGEST: usize = 4 << 10;
const LONGEST_OF_ALL: usize = 128 << 10;

/// What edits did to a state that had this text.
pub fn of_edits(edits: &[Edit], state: &[u8], values: &Blobs) -> Option<Value> {
    let patch = if repeated(edits) {
        let before = Document::parse(state).ok()?;
        let mut after = before.clone();
        super::edit::apply(edits, &mut after).ok()?;
        between(&before, &after, values)
    } else {
        let root = Object::parse(std::str::from_utf8(state).ok()?).ok()?;
        let steps = edits.iter().filter_map(|edit| step(edit, &root, values));
        in_bounds(steps.collect(), values)
    };
    (patch != json!([])).then_some(patch)
}

/// Whether one edit changes what another has put there. Then neither can be told from the state
/// before both.
fn repeated(edits: &[Edit]) -> bool {
    let changes: Vec<&Edit> = edits
        .iter()
        .filter(|edit| !matches!(edit.op, Op::Require(_)))
        .collect();
    changes.iter().enumerate().any(|(at, one)| {
        let others = changes.iter().skip(at + 1);
        others.into_iter().any(|other| {
            let common = one.path.len().min(other.path.len());
            one.path.get(..common) == other.path.get(..common)
        })
    })
}

fn step(edit: &Edit, state: &Object<'_>, values: &Blobs) -> Option<Value> {
    let (first, rest) = edit.path.split_first()?;
    let mut found = state.get(first);
    // How many keys there are up to the first that leads nowhere, or to `null`.
    let mut made = 1;
    for key in rest {
        if found.is_none_or(Node::is_null) {
            break;
        }
        made += 1;
        found = found.and_then(|node| child(node, key));
    }
    let whole = made == edit.path.len();
    let leaf = found.filter(|_| whole);
    let mut step = Map::new();
    step.insert("path".to_owned(), json!(edit.path));
    let mut put = |name: &str, value: Value| drop(step.insert(name.to_owned(), value));
    match &edit.op {
        Op::Set(value) => put("after", short(value.clone(), values)),
        Op::Remove => drop(leaf?),
        Op::Add(amount) => {
            let before = leaf.and_then(|node| node.text().parse::<i64>().ok());
            put("after", before.unwrap_or(0).saturating_add(*amount).into());
        }
        Op::Push { value, keep } => {
            put("pushed", short(value.clone(), values));
            let dropped: Vec<Value> = leaf
                .zip(*keep)
                .map(|(list, keep)| dropped(list, keep, values))
                .unwrap_or_default();
            if !dropped.is_empty() {
                put("dropped", dropped.into());
            }
        }
        Op::Require(_) => return None,
    }
    match found {
        // A list that was there is taken back item by item.
        Some(list) if whole && !list.is_null() && matches!(edit.op, Op::Push { .. }) => {}
        found => {
            if let Some(found) = found {
                put("before", kept(found, values));
            }
            if !whole || found.is_none_or(Node::is_null) {
                put("made", made.into());
            }
        }
    }
    Some(Value::Object(step))
}

/// What falls off a list of which `most` are kept when one more is put in.
fn dropped(list: Node<'_>, most: usize, values: &Blobs) -> Vec<Value> {
    let items = list.array().unwrap_or_default();
    let drop = (items.len() + 1).saturating_sub(most);
    let dropped = items.into_iter().take(drop);
    dropped.map(|node| kept(node, values)).collect()
}

/// What a key leads to: a member, or an item of a list by its number.
fn child<'a>(node: Node<'a>, key: &str) -> Option<Node<'a>> {
    match node.array() {
        Some(items) => items.get(key.parse::<usize>().ok()?).copied(),
        None => node.get(key),
    }
}

fn kept(node: Node<'_>, values: &Blobs) -> Value {
    if node.text().len() > LONGEST {
        return aside(node.text(), values);
    }
    let value = serde_json::from_str(node.text()).unwrap_or_else(|_| cut());
    short(value, values)
}

fn cut() -> Value {
    json!({ "$cut": true })
}

/// A value's text as a file of its own.
fn aside(text: &str, values: &Blobs) -> Value {
    match values.keep(text) {
        Ok(name) => json!({ "$kept": name, "bytes": text.len() }),
        Err(_) => cut(),
    }
}

/// A value as it may stand in the journal. One that looks like a mark of ours is none.
fn short(value: Value, values: &Blobs) -> Value {
    let text = value.to_string();
    let marked = value.get("$cut").is_some() || value.get("$kept").is_some();
    if marked || text.len() > LONGEST || redact(&text) != text {
        return aside(&text, values);
    }
    value
}

/// A value of a patch, or a patch, as it was; nothing if it is not kept, or no longer.
pub fn whole(value: &Value, values: &Blobs) -> Option<Value> {
    if value.get("$cut").is_some() {
        return None;
    }
    match value.get("$kept") {
        Some(name) => serde_json::from_str(&values.text(name.as_str()?)?).ok(),
        None => Some(value.clone()),
    }
}

/// What turned one document into another. Of the version, which every write counts up by one,
/// only another step is told.
pub fn between(before: &Document, after: &Document, values: &Blobs) -> Value {
    let mut steps = Vec::new();
    if let (Some(before), Some(after)) = (before.members(), after.members()) {
        differ(&mut Vec::new(), before, after, values, &mut steps);
    }
    let counted = |document: &Document| document.u64(&["state_version"]);
    if counted(after).is_some_and(|n| n == counted(before).unwrap_or(0).saturating_add(1)) {
        steps.retain(|step| step.get("path") != Some(&json!(["state_version"])));
    }
    in_bounds(steps, values)
}

/// The steps as they may stand in a line. Most have a few.
fn in_bounds(steps: Vec<Value>, values: &Blobs) -> Value {
    let many = steps.len() > LONGEST_OF_ALL / (4 * LONGEST);
    let patch = Value::Array(steps);
    if many {
        let text = patch.to_string();
        if text.len() > LONGEST_OF_ALL {
            return aside(&text, values);
        }
    }
    patch
}

fn differ(
    path: &mut Vec<String>,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    values: &Blobs,
    steps: &mut Vec<Value>,
) {
    for (key, old) in before.iter().filter(|(key, _)| !after.contains_key(*key)) {
        path.push(key.clone());
        steps.push(json!({ "path": path, "before": short(old.clone(), values) }));
        path.pop();
    }
    for (key, new) in after {
        path.push(key.clone());
        match (before.get(key), new) {
            (Some(old), new) if old == new => {}
            (Some(Value::Object(old)), Value::Object(new)) => {
                differ(path, old, new, values, steps);
            }
            (Some(Value::Array(old)), Value::Array(new))
                if !old.is_empty() && new.len() == old.len() + 1 && new.starts_with(old) =>
            {
                let item = new.last().cloned().unwrap_or_default();
                steps.push(json!({ "path": path, "pushed": short(item, values) }));
            }
            (old, new) => {
                let mut step = json!({ "path": path, "after": short(new.clone(), values) });
                if let (Some(old), Some(step)) = (old, step.as_object_mut()) {
                    step.insert("before".to_owned(), short(old.clone(), values));
                }
                steps.push(step);
            }
        }
        path.pop();
    }
}

/// Takes a patch back. Nothing is changed if something of it is not known.
pub fn take_back(patch: &Value, document: &mut Document, values: &Blobs) -> Result<(), String> {
    let mut changed = document.clone();
    let patch = whole(patch, values).ok_or("what was changed is not kept")?;
    for step in patch.as_array().into_iter().flatten().rev() {
        let mut path: Vec<String> =
            serde_json::from_value(step.get("path").cloned().unwrap_or_default())
                .map_err(|_| "a step of the change has no path".to_owned())?;
        let place = path.join(".");
        // What was made on the way goes with it. Older lines only say that something was made.
        let made = step.get("made").and_then(Value::as_u64);
        if let Some(made) = made.and_then(|made| usize::try_from(made).ok()) {
            path.truncate(made);
        }
        if step.get("pushed").is_some() && step.get("made").is_none() {
            let mut items = changed.array(&path).unwrap_or_default().to_vec();
            items
                .pop()
                .ok_or_else(|| format!("{place} is no list any more"))?;
            let dropped = step.get("dropped").and_then(Value::as_array);
            let dropped = dropped
                .into_iter()
                .flatten()
                .map(|item| whole(item, values));
            let list: Option<Vec<Value>> = dropped.chain(items.into_iter().map(Some)).collect();
            let list = list.ok_or_else(|| format!("what fell off {place} is not kept"))?;
            changed
                .set(&path, list)
                .map_err(|fault| fault.to_string())?;
            continue;
        }
        match step.get("before") {
            Some(before) => {
                let before = whole(before, values)
                    .ok_or_else(|| format!("what {place} said before is not kept"))?;
                changed
                    .set(&path, before)
                    .map_err(|fault| fault.to_string())?;
            }
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
    use proptest::prelude::*;

    #[track_caller]
    fn comes_back(text: &str, edits: &[Edit]) {
        let dir = tempfile::tempdir().unwrap();
        let values = Blobs::values(dir.path());
        let before = Document::parse(text.as_bytes()).unwrap();
        let mut after = before.clone();
        if edit::apply(edits, &mut after).is_err() {
            return;
        }
        let of_edits = of_edits(edits, text.as_bytes(), &values).unwrap_or_else(|| json!([]));
        for patch in [of_edits, between(&before, &after, &values)] {
            let mut back = after.clone();
            take_back(&patch, &mut back, &values).unwrap();
            assert_eq!(back.members(), before.members(), "{edits:?} {patch}");
        }
    }

    #[test]
    fn what_edits_did_is_taken_back() {
        let text = r#"{"n":1,"list":[1,2,3],"o":{"a":"x"},"gone":true,"none":null}"#;
        let edits = [
            Edit::add(&["n"], 2),
            Edit::push_capped(&["list"], 4, 3),
            Edit::push(&["fresh"], 1),
            Edit::set(&["o", "a"], "y"),
            Edit::set(&["o", "b", "c"], 1),
            Edit::remove(&["gone"]),
            Edit::push(&["none", "of", "it"], 1),
        ];
        comes_back(text, &edits);
        let listed = r#"{"l":[{"a":1},{"a":2}]}"#;
        comes_back(
            listed,
            &[
                Edit::set(&["l", "1", "a"], 3),
                Edit::set(&["l", "1", "b"], 4),
            ],
        );
        // Two changes of one place.
        for edits in [
            [
                Edit::push_capped(&["list"], 4, 3),
                Edit::push_capped(&["list"], 5, 3),
            ],
            [Edit::set(&["new"], json!([])), Edit::push(&["new"], 1)],
            [Edit::set(&["o"], json!({})), Edit::set(&["o", "z"], 1)],
        ] {
            comes_back(text, &edits);
        }
    }

    #[test]
    fn what_is_long_or_secret_is_not_in_the_line_and_is_taken_back_all_the_same() {
        let long = "x".repeat(200_000);
        let text =
            format!(r#"{{"long":"{long}","url":"https://me:hunter2@host","odd":{{"$cut":true}}}}"#);
        let edits = [
            Edit::set(&["long"], 1),
            Edit::set(&["url"], 2),
            Edit::set(&["odd"], 3),
        ];
        comes_back(&text, &edits);
        let dir = tempfile::tempdir().unwrap();
        let values = Blobs::values(dir.path());
        let patch = of_edits(&edits, text.as_bytes(), &values).unwrap();
        assert!(!patch.to_string().contains("hunter2") && patch.to_string().len() < 700);
        // Once the file is gone it is not known, and nothing is made up.
        let name = patch[1]["before"]["$kept"].as_str().unwrap();
        std::fs::remove_file(values.path(name)).unwrap();
        let mut document = Document::parse(b"{\"long\":1,\"url\":2,\"odd\":3}").unwrap();
        let why = take_back(&patch, &mut document, &values).unwrap_err();
        assert!(why.contains("url"), "{why}");
        assert!(!document.is_changed());
    }

    #[test]
    fn a_change_of_a_thousand_fields_is_one_line_of_the_journal() {
        let dir = tempfile::tempdir().unwrap();
        let values = Blobs::values(dir.path());
        let state = |text: &str| {
            let text = text.repeat(1000);
            let fields: Map<String, Value> = (0..1000)
                .map(|n| (format!("f{n}"), text.as_str().into()))
                .collect();
            Document::parse(Value::Object(fields).to_string().as_bytes()).unwrap()
        };
        let (before, mut after) = (state("a"), state("b"));
        let patch = between(&before, &after, &values);
        assert!(patch.to_string().len() < 200, "{}", patch.to_string().len());
        take_back(&patch, &mut after, &values).unwrap();
        assert_eq!(after.members(), before.members());
    }

    fn edit() -> impl Strategy<Value = Edit> {
        let path = prop::collection::vec(prop::sample::select(vec!["a", "b", "c"]), 1..4);
        (path, 0..5u8, 0..4i64).prop_map(|(path, op, n)| match op {
            0 => Edit::set(&path, n),
            1 => Edit::remove(&path),
            2 => Edit::add(&path, n),
            3 => Edit::push(&path, n),
            _ => Edit::push_capped(&path, n, 2),
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn whatever_edits_do_is_taken_back(first in prop::collection::vec(edit(), 0..9), then in prop::collection::vec(edit(), 1..5)) {
            let mut state = Document::parse(br#"{"a":{"b":[1,2]},"c":null}"#).unwrap();
            for edit in first {
                let _in_the_way = edit::apply(&[edit], &mut state);
            }
            comes_back(&state.to_text(), &then);
        }
    }
}

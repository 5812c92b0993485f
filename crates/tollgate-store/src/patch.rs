//! What a change of the state did, field by field, so that it can be read and taken back.
//!
//! A patch is JSON, because it lives in a line of the journal: per field its path, what was there
//! and what is there now; of a list that grew, what was added and what fell off its front. A value
//! that is too long for a line, or that must not stand in a log, is kept as its own file
//! ([`Blobs::values`]) and named in the line. Where even that fails it is marked as cut: it is known
//! that it changed, and the change cannot be taken back.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::blobs::Blobs;
use crate::document::{Document, STAND_IN};
use crate::redact::redact;
use crate::version::VERSION;

/// How long a value in a line may be, and all of them together.
const LONGEST: usize = 4 << 10;
const LONGEST_OF_ALL: usize = 128 << 10;

/// What was changed at one place. Steps are taken back in reverse order, so each says what it met.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Step {
    path: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<Value>,
    /// What was added to the list there, and what fell off its front.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pushed: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) dropped: Vec<Value>,
    /// What was there, if anything was. A list that grew is taken back item by item.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Value>,
    /// How many keys there are up to the first that led nowhere, or to `null`. `before` is about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    made: Option<usize>,
}

impl Step {
    pub(crate) fn new(path: &[String]) -> Self {
        Self {
            path: path.to_vec(),
            ..Self::default()
        }
    }

    /// A change that is about to be made to a document.
    pub(crate) fn at(path: &[String], document: &Document) -> Self {
        let up_to = |keys: usize| document.get(path.get(..keys).unwrap_or_default());
        let made = (1..=path.len()).find(|keys| up_to(*keys).is_none_or(Value::is_null));
        Self {
            before: up_to(made.unwrap_or(path.len())).cloned(),
            made,
            ..Self::new(path)
        }
    }

    /// Whether anything is different after it.
    pub(crate) fn is_change(&self) -> bool {
        let made_its_way = self.made.is_some_and(|made| made < self.path.len());
        made_its_way || self.pushed.is_some() || self.before != self.after
    }

    /// As it may stand in the journal.
    fn shortened(&self, values: &Blobs) -> Self {
        let short = |value: &Value| short(value, values);
        Self {
            path: self.path.clone(),
            after: self.after.as_ref().map(short),
            pushed: self.pushed.as_ref().map(short),
            dropped: self.dropped.iter().map(short).collect(),
            before: self.before.as_ref().map(short),
            made: self.made,
        }
    }
}

/// The steps as a line of the journal has them.
pub fn of(steps: &[Step], values: &Blobs) -> Value {
    let shortened: Vec<Step> = steps.iter().map(|step| step.shortened(values)).collect();
    let patch = json!(shortened);
    let text = patch.to_string();
    if text.len() > LONGEST_OF_ALL {
        return aside(&text, values);
    }
    patch
}

fn cut() -> Value {
    json!({ "$cut": true })
}

/// A value's text as its own file.
fn aside(text: &str, values: &Blobs) -> Value {
    match values.keep(text) {
        Ok(name) => json!({ "$kept": name, "bytes": text.len() }),
        Err(_) => cut(),
    }
}

/// A value as it may stand in the journal. One that looks like a mark of ours is none; one that no
/// JSON text of ours can hold is not kept.
fn short(value: &Value, values: &Blobs) -> Value {
    let text = value.to_string();
    if text.contains(STAND_IN) {
        return cut();
    }
    let marked = value.get("$cut").is_some() || value.get("$kept").is_some();
    if marked || text.len() > LONGEST || redact(&text) != text {
        return aside(&text, values);
    }
    value.clone()
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
/// only another step is reported.
pub(crate) fn between(before: &Document, after: &Document) -> Vec<Step> {
    let mut steps = Vec::new();
    if let (Some(before), Some(after)) = (before.members(), after.members()) {
        differ(&mut Vec::new(), before, after, &mut steps);
    }
    let counted = |document: &Document| document.u64(&[VERSION]);
    if counted(after).is_some_and(|n| n == counted(before).unwrap_or(0).saturating_add(1)) {
        steps.retain(|step| step.path != [VERSION]);
    }
    steps
}

fn differ(
    path: &mut Vec<String>,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    steps: &mut Vec<Step>,
) {
    for (key, old) in before.iter().filter(|(key, _)| !after.contains_key(*key)) {
        path.push(key.clone());
        steps.push(Step {
            before: Some(old.clone()),
            ..Step::new(path)
        });
        path.pop();
    }
    for (key, new) in after {
        path.push(key.clone());
        match (before.get(key), new) {
            (Some(old), new) if old == new => {}
            (Some(Value::Object(old)), Value::Object(new)) => differ(path, old, new, steps),
            (Some(Value::Array(old)), Value::Array(new))
                if !old.is_empty() && new.len() == old.len() + 1 && new.starts_with(old) =>
            {
                steps.push(Step {
                    pushed: new.last().cloned(),
                    ..Step::new(path)
                });
            }
            (old, new) => steps.push(Step {
                after: Some(new.clone()),
                before: old.cloned(),
                ..Step::new(path)
            }),
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
                .ok_or_else(|| format!("{place} is not a list any more"))?;
            let dropped = step.get("dropped").and_then(Value::as_array);
            let dropped = dropped
                .into_iter()
                .flatten()
                .map(|item| whole(item, values));
            let list: Option<Vec<Value>> = dropped.chain(items.into_iter().map(Some)).collect();
            let list = list.ok_or_else(|| format!("the removed end of {place} is not kept"))?;
            changed
                .set(&path, list)
                .map_err(|fault| fault.to_string())?;
            continue;
        }
        match step.get("before") {
            Some(before) => {
                let before = whole(before, values)
                    .ok_or_else(|| format!("the earlier value of {place} is not kept"))?;
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
    use super::*;
    use crate::edit::{self, Edit};
    use proptest::prelude::*;

    #[track_caller]
    fn comes_back(text: &str, edits: &[Edit]) {
        let dir = tempfile::tempdir().unwrap();
        let values = Blobs::values(dir.path());
        let before = Document::parse(text.as_bytes()).unwrap();
        let mut after = before.clone();
        let Ok(steps) = edit::apply(edits, &mut after) else {
            return;
        };
        for steps in [steps, between(&before, &after)] {
            let patch = of(&steps, &values);
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
        let mut document = Document::parse(text.as_bytes()).unwrap();
        let patch = of(&edit::apply(&edits, &mut document).unwrap(), &values);
        assert!(!patch.to_string().contains("hunter2") && patch.to_string().len() < 700);
        // Once the file is gone it is not known, and nothing is invented.
        let name = patch[1]["before"]["$kept"].as_str().unwrap();
        std::fs::remove_file(values.path(name)).unwrap();
        let mut document = Document::parse(b"{\"long\":1,\"url\":2,\"odd\":3}").unwrap();
        let why = take_back(&patch, &mut document, &values).unwrap_err();
        assert!(why.contains("url"), "{why}");
        assert!(!document.is_changed());
    }

    #[test]
    fn what_edits_left_as_it_was_is_no_step() {
        let mut document = Document::parse(br#"{"a":{"b":1},"n":null}"#).unwrap();
        let edits = [
            Edit::set(&["a", "b"], 1),
            Edit::set(&["n"], Value::Null),
            Edit::add(&["a", "b"], 0),
            Edit::remove(&["none"]),
            Edit::require(&["n"], Value::Null),
        ];
        assert_eq!(edit::apply(&edits, &mut document).unwrap(), []);
        let made = edit::apply(&[Edit::set(&["n", "o"], Value::Null)], &mut document);
        assert_eq!(made.unwrap().len(), 1);
    }

    #[test]
    fn half_a_character_is_not_kept_as_another_text() {
        let dir = tempfile::tempdir().unwrap();
        let values = Blobs::values(dir.path());
        let text = b"{\n  \"log\": [\n    \"\\ud83d\",\n    1\n  ],\n  \"a\": \"\\ud83d\"\n}";
        let set = [Edit::set(&["a"], 1)];
        let push = [Edit::push_capped(&["log"], 2, 2)];
        for (edits, names) in [(set, &["a"]), (push, &["b"])] {
            let mut document = Document::parse_only(text, names).unwrap();
            let steps = edit::apply(&edits, &mut document).unwrap();
            let patch = of(&steps, &values);
            assert!(patch.to_string().contains("$cut"), "{patch}");
            take_back(&patch, &mut document, &values).unwrap_err();
        }
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
        let patch = of(&between(&before, &after), &values);
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

use proptest::prelude::*;
use serde_json::json;

use super::super::document::Document;
use super::super::edit;
use super::*;

/// What the long way makes of it; `None` if it refuses.
fn long(text: &str, edits: &[Edit]) -> Option<String> {
    let mut document = Document::parse(text.as_bytes()).ok()?;
    edit::apply(edits, &mut document).ok()?;
    Some(if document.is_changed() {
        document.to_text()
    } else {
        text.to_owned()
    })
}

/// What is made in the text; `None` if it declines.
fn apply(text: &str, edits: &[Edit]) -> Option<String> {
    let mut spliced = Spliced::cut(text, None)?;
    spliced.apply(edits)?;
    let mut other = Spliced::cut(text, None).unwrap();
    other.apply(edits).unwrap();
    let is_changed = other.is_changed();
    let in_pieces = other.changed().map(|pieces| pieces.joined().into_owned());
    assert_eq!(in_pieces.is_some(), is_changed);
    spliced.settle().unwrap();
    // What it believes to be its members are the members of what it made.
    let now = Object::parse(&spliced.text).unwrap();
    for member in &spliced.members {
        let mut found = now.get_all(&member.key).map(Node::text);
        assert!(found.any(|found| Some(found) == spliced.text.get(member.place.clone())));
    }
    assert_eq!(now.iter().count(), spliced.members.len());
    let in_one = spliced.changed().map(|pieces| pieces.joined().into_owned());
    assert_eq!(in_pieces, in_one);
    Some(in_one.unwrap_or_else(|| text.to_owned()))
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-c\"\\\\\n\t{}\\[\\],: é]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((keys(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn keys() -> impl Strategy<Value = String> {
    prop_oneof!["[a-d]", Just("0".to_owned()), Just("q\"\n".to_owned())]
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let op = prop_oneof![
        values().prop_map(Op::Set),
        Just(Op::Remove),
        (values(), prop::option::of(0_usize..4)).prop_map(|(value, keep)| Op::Push { value, keep }),
        (-3_i64..4).prop_map(Op::Add),
        values().prop_map(Op::Require),
    ];
    let edit = (prop::collection::vec(keys(), 1..4), op).prop_map(|(path, op)| Edit { path, op });
    prop::collection::vec(edit, 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5_000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_made_in_the_text_is_what_the_long_way_makes(
        members in prop::collection::vec((keys(), values()), 0..6),
        edits in edits(),
        newline in any::<bool>(),
    ) {
        let document = Value::Object(members.into_iter().collect());
        let mut text = serde_json::to_string_pretty(&document).unwrap();
        if newline {
            text.push('\n');
        }
        if let Some(quick) = apply(&text, &edits) {
            prop_assert_eq!(Some(quick), long(&text, &edits));
        }
    }
}

#[test]
fn the_edits_that_hooks_make_are_made_in_the_text() {
    let text = serde_json::to_string_pretty(&json!({
        "state_version": 3,
        "log": [{"a": 1}, {"a": 2}],
        "none": [],
        "phases": {"06": {"status": "in_progress", "note": null}},
    }))
    .unwrap();
    for edit in [
        Edit::set(&["state_version"], 4),
        Edit::set(&["state_version"], 3),
        Edit::push(&["log"], json!({"a": 3})),
        Edit::push_capped(&["log"], json!({"a": 3}), 2),
        Edit::push_capped(&["log"], json!({"a": 3}), 1),
        Edit::push_capped(&["log"], json!({"a": 3}), 20),
        Edit::push(&["none"], 1),
        Edit::push_capped(&["new"], json!([]), 20),
        Edit::set(&["phases", "06", "iterations"], json!({"n": [1, {}]})),
        Edit::set(&["phases", "06", "note", "deep"], true),
        Edit::add(&["phases", "06", "n"], 1),
        Edit::add(&["state_version"], 1),
        Edit::require(&["phases", "06", "status"], "in_progress"),
        Edit::remove(&["phases", "07"]),
    ] {
        let quick = apply(&text, std::slice::from_ref(&edit));
        assert!(quick.is_some(), "declined: {edit:?}");
        assert_eq!(quick, long(&text, &[edit]));
    }
}

#[test]
fn the_unusual_goes_the_long_way() {
    let edit = [Edit::set(&["a", "b"], 1)];
    for text in [
        "{\"a\":{\"b\":0}}",
        "{\n  \"a\": {\"b\": 0}, \"a\": {}\n}",
        "{\n  \"a\": {\"c\": 0}\n}",
        "{\n  \"a\": 7\n}",
        "{\n  \"a\": [\n    1\n  ]\n}",
        "{\n  \"a\": {\n    \"b\": 0\n  }",
        "[]",
        "",
    ] {
        assert_eq!(apply(text, &edit), None, "{text}");
    }
}

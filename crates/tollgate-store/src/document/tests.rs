//! What a document keeps and how it is changed.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn document(text: &str) -> Document {
    Document::parse(text.as_bytes()).unwrap()
}

#[test]
fn what_javascript_wrote_comes_back_byte_for_byte() {
    let text = "{\n  \"z\": 1.0,\n  \"a\": [],\n  \"m\": {},\n  \"big\": 123456789012345678901234567890,\n  \
                \"e\": 1e+21,\n  \"neg\": -0,\n  \"list\": [\n    1,\n    {\n      \"k\": null\n    }\n  ],\n  \
                \"text\": \"tab\\t quote\\\" \\u0001 \u{2028}\u{7f} ü 😀\",\n  \"__proto__\": true\n}";
    assert_eq!(document(text).to_text(), text);
    let with_newline = format!("{text}\n");
    assert_eq!(document(&with_newline).to_text(), with_newline);
}

#[test]
fn half_a_character_survives_as_javascript_writes_it() {
    let text =
        "{\n  \"cut\": \"a\\ud83d\",\n  \"low\": \"\\udc00\\\\ud800\",\n  \"pair\": \"😀\"\n}";
    let mut document = document(text);
    assert_eq!(document.to_text(), text);
    document.set(&["n"], 1).unwrap();
    assert!(document.to_text().contains("\"a\\ud83d\""));
    let paired = Document::parse(br#"{"a":"\ud83d\ude00\ud83d"}"#).unwrap();
    assert_eq!(paired.to_text(), "{\n  \"a\": \"😀\\ud83d\"\n}");
}

#[test]
fn the_last_of_two_equal_keys_counts() {
    assert_eq!(
        document(r#"{"a":1,"b":2,"a":3}"#).to_text(),
        "{\n  \"a\": 3,\n  \"b\": 2\n}"
    );
}

#[test]
fn what_is_not_read_stays_as_it_stands() {
    let text = "{\n  \"n\": 1,\n  \"log\": [ 1.0,2 ],\n  \"cut\": \"a\\ud83d\"\n}\n";
    let mut document = Document::parse_only(text.as_bytes(), &["n"]).unwrap();
    document.set(&["n"], 2).unwrap();
    assert_eq!(document.to_text(), text.replace("\"n\": 1", "\"n\": 2"));
    // Printed otherwise, or with a key twice, all of it is read.
    for text in [
        "{\"n\":1,\"a\":[1]}",
        "{\n  \"a\": [0],\n  \"n\": 1,\n  \"a\": [1]\n}",
    ] {
        let document = Document::parse_only(text.as_bytes(), &["n"]).unwrap();
        assert_eq!(document.array(&["a"]).unwrap(), [1]);
    }
    Document::parse_only(b"{\n  \"n\": 1,", &["n"]).unwrap_err();
    let text = "{\n  \"s\": \"x\",\n  \"none\": null\n}";
    let mut document = Document::parse_only(text.as_bytes(), &[]).unwrap();
    let refusal = document.push(&["s"], 1, None).unwrap_err();
    assert_eq!(refusal.to_string(), "`s` is a string, not an array");
    assert!(!document.is_changed());
    document.push(&["none"], 1, None).unwrap();
    assert!(document.to_text().ends_with("\"none\": [\n    1\n  ]\n}"));
}

#[test]
fn half_a_character_in_a_key_that_is_not_read_stays() {
    let text = "{\n  \"\\ud83d\": 1,\n  \"n\": 1\n}\n";
    let mut document = Document::parse_only(text.as_bytes(), &["n"]).unwrap();
    document.set(&["n"], 2).unwrap();
    assert_eq!(document.to_text(), text.replace("\"n\": 1", "\"n\": 2"));
}

#[test]
fn a_flaw_says_where_it_is() {
    for (text, line, column) in [
        ("", 1, 0),
        ("   \n", 2, 0),
        ("{\n  \"a\": 1,\n  \"b\"", 3, 5),
        ("[1]", 1, 1),
        ("null", 1, 1),
        ("{} x", 1, 4),
    ] {
        let flaw = Document::parse(text.as_bytes()).unwrap_err();
        assert_eq!((flaw.line, flaw.column), (line, column), "{text:?}: {flaw}");
    }
    let flaw = Document::parse(b"{\n \"a\": \"\xff\"}").unwrap_err();
    assert_eq!((flaw.line, flaw.column), (2, 8));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    Document::parse(format!("{{\"a\":{deep}}}").as_bytes()).unwrap_err();
}

#[test]
fn changes_keep_the_order_of_the_rest() {
    let mut document = document(r#"{"a":1,"b":{"x":1,"y":2,"z":3},"c":[1,2,3],"d":null}"#);
    document.set(&["b", "y"], "new").unwrap();
    document.set(&["b", "new", "deep"], true).unwrap();
    document.set(&["c", "1"], json!({"k": 0})).unwrap();
    document.set(&["d", "made"], 1).unwrap();
    document.remove(&["a"]).unwrap();
    document.remove(&["b", "x"]).unwrap();
    document.remove(&["c", "0"]).unwrap();
    let compact: Value = serde_json::from_str(&document.to_text()).unwrap();
    assert_eq!(
        compact.to_string(),
        r#"{"b":{"y":"new","z":3,"new":{"deep":true}},"c":[{"k":0},3],"d":{"made":1}}"#
    );
    assert!(document.is_changed());
}

#[test]
fn what_changes_nothing_is_no_change() {
    let mut document = document(r#"{"a":{"b":[1]}}"#);
    document.set(&["a"], json!({"b": [1]})).unwrap();
    assert_eq!(document.remove(&["a", "x"]), None);
    document.set(&["a", "b", "0", "c"], 1).unwrap_err();
    document.set(&["a", "b", "7"], 1).unwrap_err();
    document.set(&["a", "new", "x"], 1).unwrap();
    assert!(document.is_changed());
}

#[test]
fn nothing_is_made_on_the_way_to_a_refusal() {
    let mut document = document(r#"{"a":"text"}"#);
    let refusal = document.set(&["a", "b", "c"], 1).unwrap_err();
    assert_eq!(refusal.to_string(), "`a` is a string, not an object");
    document.push(&["a"], 1, None).unwrap_err();
    document.add(&["a"], 1).unwrap_err();
    assert!(!document.is_changed());
}

#[test]
fn lists_grow_to_a_limit_and_numbers_count() {
    let mut document = Document::default();
    for n in 0..5 {
        document.push(&["log", "items"], n, Some(3)).unwrap();
        document.add(&["count"], 2).unwrap();
    }
    assert_eq!(document.array(&["log", "items"]).unwrap(), [2, 3, 4]);
    assert_eq!(document.u64(&["count"]), Some(10));
}

#[test]
fn a_count_is_what_javascript_takes_for_one() {
    for (text, expected) in [
        ("412", Some(412)),
        ("412.0", Some(412)),
        ("4e2", Some(400)),
        ("-1", None),
        ("1.5", None),
        ("\"7\"", None),
        ("1e300", None),
    ] {
        assert_eq!(
            document(&format!("{{\"n\":{text}}}")).u64(&["n"]),
            expected,
            "{text}"
        );
    }
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..8).prop_map(Value::Array),
            proptest::collection::vec((any::<String>(), inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn objects() -> impl Strategy<Value = Value> {
    proptest::collection::vec((any::<String>(), values()), 0..8)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
}

proptest! {
    #[test]
    fn any_document_round_trips(root in objects()) {
        let compact = root.to_string();
        let text = document(&compact).to_text();
        // Order included: two texts, not two maps, are compared.
        prop_assert_eq!(&document(&text).root.to_string(), &compact);
        prop_assert_eq!(document(&text).to_text(), text);
    }

    #[test]
    fn setting_one_key_leaves_all_others_as_they_were(root in objects(), value in values()) {
        let mut changed = document(&root.to_string());
        changed.set(&["state_version"], value.clone()).unwrap();
        let mut expected = root;
        expected.as_object_mut().unwrap().insert("state_version".into(), value);
        prop_assert_eq!(changed.root.to_string(), expected.to_string());
        changed.remove(&["state_version"]);
        expected.as_object_mut().unwrap().shift_remove("state_version");
        prop_assert_eq!(changed.root.to_string(), expected.to_string());
    }

    #[test]
    fn a_change_of_members_that_were_read_alone_gives_the_same_text(root in objects(), value in values()) {
        let text = document(&root.to_string()).to_text();
        let names = root.as_object().unwrap().keys();
        for name in names.map(String::as_str).chain(["new"]) {
            let mut whole = document(&text);
            let mut part = Document::parse_only(text.as_bytes(), &[name]).unwrap();
            prop_assert_eq!(part.to_text(), text.as_str());
            prop_assert_eq!(part.get(&[name]), whole.get(&[name]));
            whole.set(&[name], value.clone()).unwrap();
            part.set(&[name], value.clone()).unwrap();
            prop_assert_eq!(part.to_text(), whole.to_text());
            prop_assert_eq!(part.is_changed(), whole.is_changed());
        }
    }

    #[test]
    fn a_list_that_was_not_read_grows_as_one_that_was(
        items in proptest::collection::vec(values(), 0..6), value in values(), keep in proptest::option::of(0..8_usize),
    ) {
        let text = document(&json!({"n": 1, "log": items}).to_string()).to_text();
        let mut whole = document(&text);
        let mut part = Document::parse_only(text.as_bytes(), &["n"]).unwrap();
        for document in [&mut whole, &mut part] {
            document.push(&["log"], value.clone(), keep).unwrap();
            document.push(&["log"], 2, keep).unwrap();
        }
        prop_assert_eq!(part.to_text(), whole.to_text());
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let _either = Document::parse(&bytes);
    }

    #[test]
    fn halves_of_characters_round_trip(units in proptest::collection::vec(any::<u16>(), 0..12)) {
        use std::fmt::Write as _;
        let mut text = String::from("{\"a\":\"");
        for unit in &units {
            write!(text, "\\u{unit:04x}").unwrap();
        }
        text.push_str("\"}");
        let read: Document = document(&text);
        let again = document(&read.to_text());
        prop_assert_eq!(again.to_text(), read.to_text());
        let node = Object::parse(&text).unwrap();
        let written = read.to_text();
        let other = Object::parse(&written).unwrap();
        prop_assert_eq!(node.str("a"), other.str("a"));
    }
}

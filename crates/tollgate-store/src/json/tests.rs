use proptest::prelude::*;

use super::*;

#[test]
fn members_keep_order_and_duplicates() {
    let object = Object::parse(r#"{"b":1,"a":"x","b":[2]}"#).unwrap();
    assert_eq!(
        object.members().map(|(k, _)| k).collect::<Vec<_>>(),
        ["b", "a", "b"]
    );
    assert_eq!(object.get("b").unwrap().text(), "[2]");
    assert_eq!(object.get_all("b").count(), 2);
}

#[test]
fn wrong_types_are_none_and_hide_nothing() {
    let object = Object::parse(r#"{"n":7,"s":"x","o":{"k":true}}"#).unwrap();
    assert_eq!(object.str("n"), None);
    assert!(object.object("s").is_none());
    assert!(object.object("o").unwrap().get("k").unwrap().is_true());
}

#[test]
fn a_count_may_be_spelled_as_any_number() {
    for (text, count) in [
        ("2", Some(2)),
        ("2.0", Some(2)),
        ("2e0", Some(2)),
        ("2.5", None),
        ("-2", None),
        ("\"2\"", None),
    ] {
        assert_eq!(Node::parse(text).unwrap().u64(), count, "{text}");
    }
}

#[test]
fn strings_are_decoded_on_demand() {
    let object = Object::parse(r#"{"a":"one\ntwo","b":"\ud800x","c":"plain"}"#).unwrap();
    assert_eq!(object.str("a").unwrap(), "one\ntwo");
    assert!(object.str("b").unwrap().ends_with('x'));
    assert!(matches!(object.str("c"), Some(Cow::Borrowed("plain"))));
}

#[test]
fn an_unpaired_surrogate_in_a_key_hides_nothing() {
    let object = Object::parse(r#"{"\ud800":1,"plain":"x"}"#).unwrap();
    assert!(matches!(object.str("plain"), Some(Cow::Borrowed("x"))));
}

#[test]
fn a_hundred_thousand_brackets_neither_overflow_nor_fail() {
    let deep = format!(
        r#"{{"a":{}{},"b":"x"}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let object = Object::parse(&deep).unwrap();
    assert_eq!(object.str("b").unwrap(), "x");
    assert_eq!(object.get("a").unwrap().array().unwrap().len(), 1);
}

#[test]
fn lines_hide_no_member_and_invent_none() {
    for (text, names) in [
        (
            "{\n  \"x\": {\n    \"y\": 1 },\n  \"a\": {\n    \"b\": 2\n  }\n}",
            ["x", "a"].as_slice(),
        ),
        (
            "{\n  \"x\": [\n    1 ], \"a\": {}, \"z\": [\n  ]\n}",
            &["x", "a", "z"],
        ),
        (
            "{\n  \"x\": {\n  \"y\": {\n  },\n  \"a\": {\n  }\n  }\n}",
            &["x"],
        ),
    ] {
        let object = Object::parse(text).unwrap();
        let found: Vec<&str> = object.members().map(|(name, _)| name).collect();
        assert_eq!(found, names, "{text}");
    }
}

#[test]
fn flaws_say_where() {
    for (text, line, column, what) in [
        ("", 1, 1, "expected an object"),
        ("[1]", 1, 1, "expected an object"),
        ("{\n  \"a\": }", 2, 8, "expected a value"),
        ("{\"a\":1", 1, 7, "expected `,` or `}`"),
        ("{\"a\":[1}", 1, 8, "a bracket closes another one"),
        ("{\"a\":\"x", 1, 8, "the text ends inside a string"),
        ("{} {}", 1, 4, "the text goes on behind its end"),
        ("{\"a\":tru}", 1, 6, "expected a value"),
        ("{\"a\":1,}", 1, 8, "expected a key"),
        (
            "{\"a\":\"x\ny\"}",
            2,
            3,
            "a control character stands inside a string",
        ),
    ] {
        let found = Object::parse(text).unwrap_err();
        let what = what.into();
        assert_eq!(found, Malformed { line, column, what }, "{text}");
    }
}

#[test]
fn a_flaw_inside_a_member_is_placed_in_the_whole_text() {
    let text = "{\n  \"a\": 1,\n  \"b\": {x}\n}";
    let found = Object::parse_member(text, "b").unwrap_err();
    assert_eq!(
        (found.line, found.column, &*found.what),
        (3, 9, "expected a key")
    );
    assert!(Object::parse_member(text, "a").unwrap().is_empty());
    let twice = "{\n  \"a\": {x},\n  \"b\": {x}\n}";
    assert_eq!(Object::parse_member(twice, "b").unwrap_err(), found);
}

#[test]
fn truthiness_is_that_of_the_originals() {
    for (text, expected) in [
        ("null", false),
        ("0", false),
        ("0.0", false),
        ("\"\"", false),
        ("false", false),
        ("1", true),
        ("\"x\"", true),
        ("[]", true),
        ("{}", true),
    ] {
        assert_eq!(Node::parse(text).unwrap().truthy(), expected, "{text}");
    }
}

fn documents() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f32>().prop_map(|n| serde_json::json!(n)),
        any::<String>().prop_map(Into::into),
    ];
    let nested = leaf.prop_recursive(4, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|map| map.into_iter().collect()),
        ]
    });
    prop::collection::btree_map(any::<String>(), nested, 0..6)
        .prop_map(|map| map.into_iter().collect())
}

proptest! {
    #[test]
    fn it_reads_what_serde_json_reads(document in documents(), pretty in any::<bool>()) {
        let text = if pretty { format!("{document:#}") } else { document.to_string() };
        let object = Object::parse(&text).unwrap();
        let expected = document.as_object().unwrap();
        prop_assert_eq!(object.members().count(), expected.len());
        for (key, value) in expected {
            let node = object.get(key).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Value>(node.text()).unwrap(), value);
            let text = node.str();
            prop_assert_eq!(text.as_deref(), value.as_str());
            prop_assert_eq!(node.array().map(|a| a.len()), value.as_array().map(Vec::len));
        }
    }

    #[test]
    fn one_member_alone_is_what_it_is_among_all(document in documents(), pretty in any::<bool>(), twice in any::<bool>()) {
        let mut text = if pretty { format!("{document:#}") } else { document.to_string() };
        let keys: Vec<&String> = document.as_object().unwrap().keys().collect();
        if twice && let Some(key) = keys.first() {
            // The last one counts.
            text = format!("{},{}:{{\"new\":[{{}}]}}}}", text.trim_end_matches([' ', '\n', '}']), serde_json::json!(key));
        }
        let Ok(whole) = Object::parse(&text) else { return Ok(()); };
        for key in keys {
            let alone = Object::parse_member(&text, key).unwrap();
            let among = whole.object(key).unwrap_or_default();
            prop_assert_eq!(format!("{alone:?}"), format!("{among:?}"));
        }
        prop_assert!(Object::parse_member(&text, "not there").unwrap().is_empty());
    }

    #[test]
    fn printed_in_lines_or_not_a_large_text_has_the_same_members(
        document in documents(), indent in 0..4_usize, close in "[]}{\n ,\"]{0,6}",
    ) {
        // Longer than a block, and printed with every indentation.
        let mut document = document;
        document["filler"] = "x".repeat(5000).into();
        document["nested"] = serde_json::json!([[1], {"a": [2], "b": {}}, [], close]);
        let mut text = format!("{document:#}");
        text = text.replace("\n  ", &format!("\n{}", " ".repeat(indent)));
        let object = Object::parse(&text).unwrap();
        prop_assert_eq!(object.members().count(), document.as_object().unwrap().len());
        for (key, value) in document.as_object().unwrap() {
            let node = object.get(key).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Value>(node.text()).unwrap(), value);
        }
    }

    #[test]
    fn a_text_that_was_cut_off_is_malformed(document in documents(), part in 0.0..1.0_f64) {
        let text = document.to_string();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in a short text")]
        let end = (text.len() as f64 * part) as usize;
        if let Some(cut) = text.get(..end) {
            prop_assert!(Object::parse(cut).is_err());
        }
    }

    #[test]
    fn no_text_is_too_strange(text in any::<String>()) {
        drop(Object::parse(&text));
        drop(Node::parse(&text).map(|node| (node.str(), node.array(), node.object())));
    }
}

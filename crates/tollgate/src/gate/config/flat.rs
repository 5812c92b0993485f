//! The short way through files that are nothing but `key: value` lines, as most checks are.
//!
//! A YAML reader takes fifty thousand instructions for such a file of two lines; there may be
//! hundreds of them before every run. What is read here is what no reader of YAML could read
//! otherwise; at the first line that leaves any doubt this gives up, and the YAML library reads
//! the whole text. A property test holds the two against each other.

use super::node::{Key, Node, Value};

/// Nobody writes more lines than this without nesting them.
const LINES: usize = 64;

/// Words that one or another version of YAML takes for something else than text, in lower case.
const WORDS: [&str; 16] = [
    "true", "false", "null", "nil", "none", "yes", "no", "on", "off", "y", "n", "t", "f", "inf",
    "infinity", "nan",
];

/// Reads a text of `key: value` lines. None: it is for the YAML library to say what it is.
pub(super) fn read(text: &str) -> Option<Node> {
    let is_plain = |byte: u8| byte == b'\n' || (b' '..=b'~').contains(&byte);
    if !text.bytes().all(is_plain) {
        return None;
    }
    let mut members: Vec<(Key, Node)> = Vec::new();
    for (line, text) in (1_u64..).zip(text.split('\n')) {
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let (name, rest) = text.split_once(':')?;
        let value = value(rest.strip_prefix(' ')?)?;
        let known = members.iter().any(|(key, _)| key.name == name);
        if known || !is_key(name) || members.len() == LINES {
            return None;
        }
        let key = Key {
            line,
            name: name.to_owned(),
        };
        members.push((key, Node { line, value }));
    }
    let line = members.first()?.0.line;
    Some(Node {
        line,
        value: Value::Map(members),
    })
}

fn is_key(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|c| c.is_ascii_lowercase() || c == b'_')
        && !WORDS.contains(&name)
}

/// A value of one line that can only mean one thing.
fn value(text: &str) -> Option<Value> {
    let between = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    if let Some(inner) = between('"') {
        let is_bare = !inner.contains(['"', '\\']);
        return is_bare.then(|| Value::Text(inner.to_owned()));
    }
    if let Some(inner) = between('\'') {
        let is_bare = !inner.contains('\'');
        return is_bare.then(|| Value::Text(inner.to_owned()));
    }
    match text {
        "true" => return Some(Value::Bool(true)),
        "false" => return Some(Value::Bool(false)),
        _ => {}
    }
    if let [b'1'..=b'9', digits @ ..] = text.as_bytes() {
        let is_number = digits.len() < 9 && digits.iter().all(u8::is_ascii_digit);
        return is_number.then(|| text.parse().ok().map(Value::Whole))?;
    }
    let is_text = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && !text.ends_with(' ')
        && !text.contains([':', '#'])
        && !WORDS.iter().any(|word| word.eq_ignore_ascii_case(text));
    is_text.then(|| Value::Text(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What the YAML library makes of a text, lines and all.
    fn by_library(text: &str) -> String {
        match Node::parse_any(text) {
            Ok(node) => format!("{node:?}"),
            Err(broken) => format!("{broken:?}"),
        }
    }

    #[test]
    fn a_check_goes_the_short_way() {
        for text in [
            "command: \"true\"\nparallel: true\n",
            "# why\ncommand: cargo test --workspace 2>&1 | tail -n 40\n\ntimeout: 600\n",
            "command: 'echo \"$A\" & wait'\nworking_directory: crates/core\nrun_in_ci: false",
        ] {
            let node = read(text).unwrap();
            assert_eq!(format!("{node:?}"), by_library(text));
        }
    }

    #[test]
    fn what_may_mean_something_else_goes_the_long_way() {
        for text in [
            "",
            "# nothing\n",
            "command: a\ncommand: b\n",
            "command: a\n  b\n",
            "command: |\n  a\n",
            "command:\n",
            "command: \n",
            "command: a # why\n",
            "command: a: b\n",
            "command: \"a\\n\"\n",
            "command: 'it''s'\n",
            "command: \"a\" b\n",
            "command: [a]\n",
            "command: {a: b}\n",
            "command: &a b\n",
            "command: *a\n",
            "command: !t a\n",
            "command: yes\n",
            "command: NULL\n",
            "command: ~\n",
            "command: 0x10\n",
            "command: 010\n",
            "command: 1.5\n",
            "command: 1_000\n",
            "command: -1\n",
            "command: ä\n",
            "command: a\r\n",
            "command:\ta\n",
            " command: a\n",
            "- a\n",
            "---\ncommand: a\n",
            "command: a\n...\n",
            "true: a\n",
            "<<: a\n",
            "command:a\n",
        ] {
            assert!(read(text).is_none(), "{text:?}");
        }
    }

    /// Lines of the kind that is read here, and of the kind that looks like it.
    fn line() -> impl Strategy<Value = String> {
        let word = prop_oneof![
            Just("true"),
            Just("false"),
            Just("True"),
            Just("yes"),
            Just("NO"),
            Just("on"),
            Just("null"),
            Just("Null"),
            Just("~"),
            Just("inf"),
            Just("NaN"),
            Just(".inf"),
            Just("0"),
            Just("007"),
            Just("0x1f"),
            Just("0o7"),
            Just("1e3"),
            Just("12"),
            Just("999999999"),
            Just("1234567890"),
            Just("1_0"),
            Just("1:30"),
            Just("2001-01-01"),
            Just("y"),
            Just("N"),
            Just("e3"),
            Just("\"\""),
            Just("''"),
            Just("${HOME}"),
            Just("a ${HOME} b"),
            Just("a - b"),
            Just("a ? b"),
            Just("a, [b] {c}"),
            Just("a &b *c !d"),
            Just("a | b > c"),
            Just("a 'b' \"c\""),
            Just("\"a' #b: c\""),
            Just("'a\" #b: \\c'"),
            Just("\"a\"\"b\""),
            Just("'a' 'b'"),
            Just("\"a"),
            Just("a\""),
            Just("|"),
            Just(">-"),
        ]
        .prop_map(str::to_owned);
        let value = prop_oneof![
            word,
            "[a-zA-Z0-9 _./=$&|<>()*+,;@%^~!?'\"\\\\{}#:`\\[\\]-]{0,16}",
            "\"[ -~]{0,12}\"",
            "'[ -~]{0,12}'",
            "[0-9]{1,12}",
        ];
        let key = prop_oneof![
            "[a-z_]{1,9}",
            Just("command".to_owned()),
            Just("timeout".to_owned()),
            Just("true".to_owned()),
            Just("on".to_owned()),
        ];
        prop_oneof![
            8 => (key, value).prop_map(|(key, value)| format!("{key}: {value}")),
            1 => "#[ -~]{0,8}",
            1 => Just(String::new()),
            1 => "[ -~]{0,8}",
            1 => "(---|\\.\\.\\.|%YAML 1\\.2)",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2048))]

        #[test]
        fn the_short_way_leads_where_the_long_one_does(
            lines in prop::collection::vec(line(), 1..6),
            end in "\n?",
        ) {
            let text = lines.join("\n") + &end;
            if let Some(node) = read(&text) {
                prop_assert_eq!(format!("{node:?}"), by_library(&text), "{:?}", text);
            }
        }

        #[test]
        fn one_line_at_a_time(line in line()) {
            if let Some(node) = read(&line) {
                prop_assert_eq!(format!("{node:?}"), by_library(&line), "{:?}", line);
            }
        }
    }
}

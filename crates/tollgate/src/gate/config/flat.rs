//! The short way through files that are nothing but keys, lists and values of one line, as most
//! checks and configurations are.
//!
//! A YAML reader takes fifty thousand instructions for such a file of two lines; there may be
//! hundreds of them before every run. What is read here is what no reader of YAML could read
//! otherwise; at the first line that leaves any doubt this gives up, and the YAML library reads
//! the whole text. A property test holds the two against each other.

use super::node::{Key, Node, Value};

/// Nobody writes more members of one map, or lines of one file, by hand.
const MEMBERS: usize = 64;
const LINES: usize = 512;

/// Nor nests them deeper.
const DEPTH: usize = 8;

/// Words that one or another version of YAML takes for something else than text, in lower case.
const WORDS: [&str; 16] = [
    "true", "false", "null", "nil", "none", "yes", "no", "on", "off", "y", "n", "t", "f", "inf",
    "infinity", "nan",
];

/// A line that says something.
#[derive(Clone, Copy)]
struct Line<'t> {
    number: u64,
    /// How far it is indented.
    column: usize,
    text: &'t str,
}

/// The lines that are not read yet.
struct Lines<'t> {
    rest: Vec<Line<'t>>,
}

/// Reads a text of plain keys, lists and values. None: it is for the YAML library to say what it is.
pub(super) fn read(text: &str) -> Option<Node> {
    let is_plain = |byte: u8| byte == b'\n' || (b' '..=b'~').contains(&byte);
    if !text.bytes().all(is_plain) {
        return None;
    }
    let lines = (1_u64..).zip(text.split('\n'));
    let mut rest: Vec<_> = lines
        .map(|(number, line)| {
            let text = line.trim_start_matches(' ');
            Line {
                number,
                column: line.len() - text.len(),
                text,
            }
        })
        .filter(|line| !line.text.is_empty() && !line.text.starts_with('#'))
        .collect();
    if rest.len() > LINES || rest.first()?.column > 0 {
        return None;
    }
    rest.reverse();
    let mut lines = Lines { rest };
    let node = lines.map(0, 0)?;
    lines.rest.is_empty().then_some(node)
}

impl<'t> Lines<'t> {
    fn next(&self) -> Option<Line<'t>> {
        self.rest.last().copied()
    }

    /// The members of a map whose keys stand in this column.
    fn map(&mut self, column: usize, depth: usize) -> Option<Node> {
        let mut members: Vec<(Key, Node)> = Vec::new();
        while let Some(line) = self.next().filter(|line| line.column == column) {
            let (name, rest) = line.text.split_once(':')?;
            let known = members.iter().any(|(key, _)| key.name == name);
            if known || !is_key(name) || members.len() == MEMBERS {
                return None;
            }
            self.rest.pop();
            let node = match rest.strip_prefix(' ') {
                Some(rest) => Node {
                    line: line.number,
                    value: value(rest).or_else(|| list_of_one_line(rest, line.number))?,
                },
                None if rest.is_empty() => self.below(column, depth + 1)?,
                None => return None,
            };
            let key = Key {
                line: line.number,
                name: name.to_owned(),
            };
            members.push((key, node));
        }
        self.is_outside(column).then_some(())?;
        Some(Node {
            line: members.first()?.0.line,
            value: Value::Map(members),
        })
    }

    /// What stands below a key in this column: a map or a list further to the right, or a list right
    /// below it.
    fn below(&mut self, column: usize, depth: usize) -> Option<Node> {
        let line = self.next().filter(|_| depth < DEPTH)?;
        match line.text.starts_with("- ") {
            true if line.column >= column => self.list(line.column, depth),
            false if line.column > column => self.map(line.column, depth),
            true | false => None,
        }
    }

    /// The items of a list whose dashes stand in this column.
    fn list(&mut self, column: usize, depth: usize) -> Option<Node> {
        let mut items = Vec::new();
        let is_item = |line: &Line<'_>| line.column == column && line.text.starts_with("- ");
        let first = self.next()?.number;
        while let Some(line) = self.next().filter(is_item) {
            let text = line.text.strip_prefix("- ")?;
            items.push(if let Some(value) = value(text) {
                self.rest.pop();
                Node {
                    line: line.number,
                    value,
                }
            } else if text.split_once(':').is_some_and(|(name, _)| is_key(name)) {
                // Its first key stands behind the dash, the others right below it.
                let inner = Line {
                    column: column + 2,
                    text,
                    ..line
                };
                *self.rest.last_mut()? = inner;
                self.map(inner.column, depth + 1)?
            } else {
                return None;
            });
        }
        // In a list right below its key, what follows may stand in the same column.
        self.next()
            .is_none_or(|line| line.column <= column)
            .then_some(())?;
        Some(Node {
            line: first,
            value: Value::List(items),
        })
    }

    /// Whether what follows stands further to the left.
    fn is_outside(&self, column: usize) -> bool {
        self.next().is_none_or(|line| line.column < column)
    }
}

/// `[a, b]`, of words that can only mean one thing.
fn list_of_one_line(text: &str, line: u64) -> Option<Value> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let is_word = |word: &str| {
        word.bytes()
            .all(|c| c.is_ascii_alphanumeric() || b"_-./".contains(&c))
    };
    let items = inner.split(", ").map(|word| {
        let value = value(word).filter(|_| is_word(word))?;
        Some(Node { line, value })
    });
    items.collect::<Option<_>>().map(Value::List)
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
    let is_path = matches!(text, "." | "..") || text.starts_with("./") || text.starts_with("../");
    let is_text = (text.starts_with(|c: char| c.is_ascii_alphabetic()) || is_path)
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
    fn a_configuration_goes_the_short_way() {
        for text in [
            "base_branch: main\nentry_points:\n  - path: src\n    checks: [c0, c1]\n",
            "base_branch: origin/main\nlog_dir: ./logs\nentry_points:\n- path: .\n  checks:\n  - a\n  - b\n  reviews: [q]\n- path: b\n",
            "cli:\n  default_preference:\n    - claude\n    - codex\n\nstop_hook:\n   # soon\n   enabled: true\n",
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
            "command: [a, ]\n",
            "command: []\n",
            "command: [a,b]\n",
            "command: [a b, [c]]\n",
            "command: [yes]\n",
            "command: .5\n",
            "a:\n  b: c\n   d: e\n",
            "a:\n  b: c\n d: e\n",
            "a:\n  - b\n   - c\n",
            "a:\n  - b\n    c\n",
            "a:\n  - b: c\n   d: e\n",
            "a:\n  -  b: c\n",
            "a:\n  - - b\n",
            "a:\n  -\n    b: c\n",
            "a:\nb: c\n",
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

    /// What can be nested.
    #[derive(Clone, Debug)]
    enum Shape {
        Value(String),
        Map(Vec<(String, Self)>),
        List(Vec<Self>),
    }

    impl Shape {
        /// Its lines, further to the right by `column`; a list right below its key if `is_close`.
        fn print(&self, column: usize, is_close: bool, lines: &mut Vec<String>) {
            let margin = " ".repeat(column);
            match self {
                Self::Value(value) => lines.push(margin + value),
                Self::Map(members) => {
                    for (key, shape) in members {
                        let step = if is_close { 1 } else { 2 };
                        match shape {
                            Self::Value(value) => lines.push(format!("{margin}{key}: {value}")),
                            Self::Map(_) => {
                                lines.push(format!("{margin}{key}:"));
                                shape.print(column + step, is_close, lines);
                            }
                            Self::List(_) => {
                                lines.push(format!("{margin}{key}:"));
                                let column = if is_close { column } else { column + 2 };
                                shape.print(column, is_close, lines);
                            }
                        }
                    }
                }
                Self::List(items) => {
                    for item in items {
                        let mut inner = Vec::new();
                        item.print(column + 2, is_close, &mut inner);
                        if let Some(first) = inner.first_mut() {
                            first.replace_range(column..=column, "-");
                        }
                        lines.append(&mut inner);
                    }
                }
            }
        }
    }

    /// Maps and lists in each other, with a line or a blank now and then that does not fit.
    fn nested() -> impl Strategy<Value = String> {
        let value = prop_oneof![
            4 => "[a-z][a-z ./]{0,4}[a-z]",
            2 => Just("[a, b-1, ./c]".to_owned()),
            1 => "\\[[a-z., ]{0,6}\\]",
            1 => Just(".".to_owned()),
            1 => "[1-9][0-9]{0,3}",
            1 => "\"[a-z ]{0,4}\"",
            1 => "[ -~]{1,5}",
        ];
        let shape = value.prop_map(Shape::Value).prop_recursive(4, 16, 4, |inner| {
            prop_oneof![
                3 => prop::collection::vec(("[a-z]{1,3}", inner.clone()), 1..4).prop_map(Shape::Map),
                1 => prop::collection::vec(inner, 1..4).prop_map(Shape::List),
            ]
        });
        let stray = prop_oneof![
            6 => Just(None),
            1 => (0_usize..12, 0_usize..7, line()).prop_map(Some),
        ];
        let document = prop::collection::vec(("[a-z]{1,3}", shape), 1..4);
        (document, any::<bool>(), stray).prop_map(|(members, is_close, stray)| {
            let mut lines = Vec::new();
            Shape::Map(members).print(0, is_close, &mut lines);
            if let Some((at, column, line)) = stray {
                lines.insert(at.min(lines.len()), " ".repeat(column) + &line);
            }
            lines.join("\n")
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2048))]

        #[test]
        fn nesting_is_read_as_the_library_reads_it(text in nested()) {
            if let Some(node) = read(&text) {
                prop_assert_eq!(format!("{node:?}"), by_library(&text), "{:?}", text);
            }
        }

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

//! `[[rule]]`: what agents must not do, checked and compiled for events.
//!
//! The table of keys checked the shape of each rule. Here is what no table says: one verdict per rule,
//! ids that are there once, days that exist, and examples, which are run by the matcher that decides
//! events.

mod doubts;
mod examples;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use tollgate_core::rules::{AFTER, KINDS, STOP, UNKNOWN, compiled_pattern};

pub(crate) use doubts::doubts;
pub(super) use examples::failing;
pub(crate) use examples::{Call, Example, changed, failure};

use super::node::{Layer, Node, Place};

/// More rules are not expected, and each event would pay for them.
pub(crate) const MOST: usize = 2000;

const VERDICTS: [&str; 3] = ["deny", "ask", "warn"];

/// Conditions, in the order of the table.
const CONDITIONS: [&str; 4] = ["branch", "phase", "agent", "subagent"];

/// A rule that was read.
#[derive(Clone, Debug)]
pub(crate) struct RuleDefinition {
    pub(crate) id: String,
    /// `deny`, `ask` or `warn`.
    pub(crate) verdict: &'static str,
    pub(crate) place: Place,
    /// As the file has it.
    pub(crate) node: Node,
    /// Its line in the compiled file.
    pub(crate) line: String,
}

/// Something wrong: where, the key, what, and what to do about it.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub(crate) place: Place,
    pub(crate) key: String,
    pub(crate) what: String,
    pub(crate) fix: String,
}

impl RuleDefinition {
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.node.get(key)?.text()
    }

    pub(crate) fn mode(&self) -> &str {
        self.text("mode").unwrap_or("enforce")
    }

    /// The effects of its verdict, as the file has them.
    pub(crate) fn effects(&self) -> &[(super::node::Key, Node)] {
        let effects = self.node.get(self.verdict);
        effects.map(Node::members).unwrap_or_default()
    }

    /// What holds of it for events, without words: what a change of may weaken it.
    pub(crate) fn substance(&self) -> Value {
        let line = self.line.split_once(' ').map_or("", |(_, rule)| rule);
        let mut rule: Value = serde_json::from_str(line).unwrap_or_default();
        if let Some(rule) = rule.as_object_mut() {
            rule.retain(|key, _| !matches!(key.as_str(), "reason" | "instead"));
        }
        rule
    }
}

/// Reads the rules, of which the table was checked.
pub(super) fn read(root: &Node) -> (Vec<RuleDefinition>, Vec<Wrong>) {
    let mut wrong = Vec::new();
    let mut rules = Vec::new();
    let items = root.get("rule").map(Node::items).unwrap_or_default();
    if let Some(beyond) = items.get(MOST) {
        wrong.push(Wrong {
            place: beyond.place,
            key: "rule".to_owned(),
            what: format!("there are {} rules, more than {MOST}", items.len()),
            fix: "cover several files or commands with one rule".to_owned(),
        });
        return (rules, wrong);
    }
    let mut seen: BTreeSet<(Layer, String)> = BTreeSet::new();
    for (index, node) in items.iter().enumerate() {
        let mut reader = Reader {
            node,
            path: format!("rule[{index}]"),
            wrong: &mut wrong,
        };
        if let Some(rule) = reader.rule(&mut seen) {
            rules.push(rule);
        }
    }
    (rules, wrong)
}

struct Reader<'r> {
    node: &'r Node,
    path: String,
    wrong: &'r mut Vec<Wrong>,
}

impl Reader<'_> {
    fn complain(&mut self, place: Place, key: &str, what: impl Into<String>, fix: &str) {
        let key = if key.is_empty() {
            self.path.clone()
        } else {
            format!("{}.{key}", self.path)
        };
        self.wrong.push(Wrong {
            place,
            key,
            what: what.into(),
            fix: fix.to_owned(),
        });
    }

    fn rule(&mut self, seen: &mut BTreeSet<(Layer, String)>) -> Option<RuleDefinition> {
        let id = self.node.get("id")?;
        let (place, id) = (id.place, id.text()?.to_owned());
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if id.len() > 64 || !id.chars().all(is_plain) || !id.starts_with(char::is_alphanumeric) {
            let fix =
                "use at most 64 letters, digits, `_`, `-` and `.`, the first a letter or digit";
            self.complain(
                place,
                "id",
                format!("{id:?} is not a valid id of a rule"),
                fix,
            );
        }
        if !seen.insert((self.node.place.layer, id.to_lowercase())) {
            let what = format!("there is another rule {id:?}");
            self.complain(place, "id", what, "choose another id");
        }
        let verdict = self.verdict()?;
        self.until();
        self.needs_of_changed_with(verdict);
        self.examples();
        Some(RuleDefinition {
            line: self.line(&id, verdict),
            id,
            verdict,
            place: self.node.place,
            node: self.node.clone(),
        })
    }

    fn verdict(&mut self) -> Option<&'static str> {
        let given = |key: &&&str| self.node.get(key).is_some();
        let given: Vec<&'static str> = VERDICTS.iter().filter(given).copied().collect();
        match given.as_slice() {
            [one] => {
                let effects = self.node.get(one)?;
                if effects.is_map() && effects.members().is_empty() {
                    let keys: Vec<_> = KINDS.iter().map(|(key, _)| *key).collect();
                    let fix = format!("name at least one of {}", keys.join(", "));
                    self.complain(effects.place, one, "there is no effect in it", &fix);
                }
                self.empty_lists(one);
                Some(one)
            }
            [] => {
                let fix = "add `deny = { write = [\"path/**\"] }`, or `ask` or `warn`";
                self.complain(
                    self.node.place,
                    "",
                    "it has no `deny`, `ask` or `warn`",
                    fix,
                );
                None
            }
            more => {
                let what = format!("it has {}", more.join(" and "));
                self.complain(self.node.place, "", what, "write two rules");
                None
            }
        }
    }

    /// A list without anything in it covers nothing, which is a mistake.
    fn empty_lists(&mut self, verdict: &str) {
        let effects = self
            .node
            .get(verdict)
            .map(Node::members)
            .unwrap_or_default();
        for (key, value) in effects {
            let is_list = matches!(value.value, super::node::Value::List(_));
            let positive = |item: &&Node| item.text().is_none_or(|text| !text.starts_with('!'));
            if is_list && value.items().iter().find(positive).is_none() {
                let path = format!("{verdict}.{}", key.name);
                self.complain(
                    value.place,
                    &path,
                    "it covers nothing",
                    "name what it covers",
                );
            }
            for item in value.items() {
                if key.name == "run" && item.text().is_some_and(|text| text.trim().is_empty()) {
                    let path = format!("{verdict}.run");
                    self.complain(item.place, &path, "the command is empty", "name a program");
                }
            }
        }
    }

    fn until(&mut self) {
        let Some((node, text)) = self.node.get("until").and_then(|n| Some((n, n.text()?))) else {
            return;
        };
        if text.parse::<jiff::civil::Date>().is_err() || text.len() != 10 {
            let what = format!("{text:?} is not a date");
            self.complain(node.place, "until", what, "write it as \"2026-12-31\"");
        }
    }

    fn needs_of_changed_with(&mut self, verdict: &str) {
        let Some(with) = self.node.get("changed_with") else {
            return;
        };
        let effects = self
            .node
            .get(verdict)
            .map(Node::members)
            .unwrap_or_default();
        let is_change = |key: &str| matches!(key, "write" | "delete");
        if !effects.iter().all(|(key, _)| is_change(&key.name)) {
            let fix = "a rule with `changed_with` has `write` and `delete` only";
            self.complain(
                with.place,
                "changed_with",
                "only changes of files can be compared",
                fix,
            );
        }
        if self.node.get("after").is_some() {
            let fix = "remove `after`";
            self.complain(
                with.place,
                "changed_with",
                "a stop comes after everything",
                fix,
            );
        }
    }

    fn examples(&mut self) {
        for key in ["match", "not_match"] {
            let items = self.node.get(key).map(Node::items).unwrap_or_default();
            for (index, item) in items.iter().enumerate() {
                if let Err((what, fix)) = Example::read(item) {
                    self.complain(item.place, &format!("{key}[{index}]"), what, fix);
                }
            }
        }
    }

    /// The rule as events have it.
    fn line(&self, id: &str, verdict: &str) -> String {
        let mut rule = Map::new();
        rule.insert("id".to_owned(), id.into());
        rule.insert("verdict".to_owned(), verdict.into());
        for key in ["mode", "unknown", "until", "reason", "instead"] {
            if let Some(text) = self.node.get(key).and_then(Node::text) {
                rule.insert(key.to_owned(), text.into());
            }
        }
        if self.node.place.layer == Layer::User {
            rule.insert("own".to_owned(), true.into());
        }
        let mut letters = String::new();
        if let Some(effects) = self.node.get(verdict) {
            letters.push_str(&put_effects(effects, &mut rule));
        }
        for key in ["when", "unless"] {
            if let Some(condition) = self.node.get(key) {
                let asked = CONDITIONS.iter().filter_map(|asked| {
                    let values = condition.get(asked)?.texts();
                    Some(((*asked).to_owned(), json!(values)))
                });
                rule.insert(key.to_owned(), Value::Object(asked.collect()));
            }
        }
        if let Some(after) = self.node.get("after") {
            let mut effects = Map::new();
            let of_after = put_effects(after, &mut effects);
            rule.insert("after".to_owned(), effects.into());
            letters = format!("{letters}{AFTER}{of_after}");
        }
        if let Some(with) = self.node.get("changed_with") {
            let with: Vec<_> = with
                .texts()
                .iter()
                .map(|text| compiled_pattern(text))
                .collect();
            rule.insert("changed_with".to_owned(), json!(with));
            letters.push(STOP);
        }
        letters.push(UNKNOWN);
        format!("{letters} {}", Value::Object(rule))
    }
}

/// Adds a table of effects in their compiled form; the letters of those that it has.
fn put_effects(effects: &Node, into: &mut Map<String, Value>) -> String {
    let mut letters = String::new();
    for (key, letter) in KINDS {
        let Some(value) = effects.get(key) else {
            continue;
        };
        letters.push(*letter);
        let compiled = match *key {
            "write" | "delete" | "read" => {
                let texts = value.texts();
                texts.iter().map(|text| compiled_pattern(text)).collect()
            }
            "commit" | "push" if value.is_map() => json!([value.to_json()]),
            "commit" | "push" if value.bool().is_some() => json!([{}]),
            _ => value.to_json(),
        };
        into.insert((*key).to_owned(), compiled);
    }
    letters
}

/// The compiled text of these rules behind its first line.
pub(super) fn compiled(head: &Value, rules: &[RuleDefinition]) -> String {
    let mut text = format!("{head}\n");
    for rule in rules {
        text.push_str(&rule.line);
        text.push('\n');
    }
    text
}

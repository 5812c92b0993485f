//! Rules in the words of agents' own permissions, as far as these can say them.
//!
//! Such permissions match text, not effects: what is marked `full` here holds for the plain way of
//! doing it, and every other way is what the hook is for.

use serde_json::{Value, json};
use toml_edit::{Array, Value as Toml};

use crate::config::node::Node;
use crate::config::rules::RuleDefinition;

/// How much of a rule could be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Extent {
    None,
    Partial,
    Full,
}

/// An agent's own permissions.
#[derive(Debug)]
pub(crate) struct Native {
    pub(crate) agent: &'static str,
    /// Where they belong.
    pub(crate) file: &'static str,
    pub(crate) write: Write,
}

/// The file's text, and how much of each rule is in it.
type Write = fn(&[RuleDefinition]) -> (String, Vec<(String, Extent)>);

pub(crate) static NATIVE: &[Native] = &[
    Native {
        agent: "claude-code",
        file: ".claude/settings.json",
        write: claude,
    },
    Native {
        agent: "codex",
        file: "~/.codex/rules/tollgate.rules",
        write: codex,
    },
    Native {
        agent: "gemini",
        file: ".gemini/policies/tollgate.toml",
        write: gemini,
    },
];

/// What a rule says in general: nothing but its effects, so that no condition is lost.
struct Plain<'r> {
    rule: &'r RuleDefinition,
    /// Each effect with its value.
    parts: Vec<(&'r str, String)>,
    extent: Extent,
}

impl<'r> Plain<'r> {
    fn of(rule: &'r RuleDefinition, can_say: impl Fn(&str) -> bool) -> Self {
        let has = |key: &str| rule.node.get(key).is_some();
        let is_enforced = rule.mode() == "enforce" && rule.verdict != "warn";
        // Without its condition it would forbid more than the team wants.
        let is_conditional = ["when", "unless", "after", "changed_with", "until"]
            .into_iter()
            .any(has);
        let mut plain = Self {
            rule,
            parts: Vec::new(),
            extent: Extent::Full,
        };
        if !is_enforced || is_conditional {
            plain.extent = Extent::None;
            return plain;
        }
        for (key, node) in rule.effects() {
            plain.add(&key.name, node, &can_say);
        }
        if plain.parts.is_empty() {
            plain.extent = Extent::None;
        }
        plain
    }

    fn add(&mut self, key: &'r str, node: &Node, can_say: &impl Fn(&str) -> bool) {
        let values = match key {
            "push" | "commit" => git_commands(key, node),
            _ => node.texts(),
        };
        // What is taken out again cannot be said; to leave that away would forbid more.
        if values.iter().any(|value| value.starts_with('!')) || values.is_empty() || !can_say(key) {
            self.extent = Extent::Partial;
            return;
        }
        if matches!(key, "push" | "commit" | "delete") {
            self.extent = Extent::Partial;
        }
        self.parts
            .extend(values.into_iter().map(|value| (key, value)));
    }
}

/// The plain command lines of pushes and commits.
fn git_commands(key: &str, node: &Node) -> Vec<String> {
    if node.bool() == Some(true) {
        return vec![format!("git {key}")];
    }
    let own = std::slice::from_ref(node);
    let kinds = if node.is_map() { own } else { node.items() };
    let flag = |kind: &Node, name: &str| kind.get(name).and_then(Node::bool) == Some(true);
    let commands = kinds.iter().flat_map(|kind| {
        let words = [
            ("force", vec!["git push --force", "git push -f"]),
            ("delete", vec!["git push --delete", "git push -d"]),
            ("mirror", vec!["git push --mirror"]),
            ("tags", vec!["git push --tags"]),
        ];
        let named = words.into_iter().filter(|(name, _)| flag(kind, name));
        named
            .flat_map(|(_, words)| words)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    });
    commands.collect()
}

fn claude(rules: &[RuleDefinition]) -> (String, Vec<(String, Extent)>) {
    let mut lists = [("deny", Vec::new()), ("ask", Vec::new())];
    let mut extents = Vec::new();
    for rule in rules {
        let plain = Plain::of(rule, |_| true);
        for (key, value) in &plain.parts {
            let path = |value: &str| match value.strip_prefix('/') {
                // Theirs has two for the machine's root.
                Some(rest) => format!("//{rest}"),
                None => value.to_owned(),
            };
            let entry = match *key {
                "write" => format!("Edit({})", path(value)),
                "read" => format!("Read({})", path(value)),
                "delete" => format!("Bash(rm {value}:*)"),
                "fetch" if value == "*" => "WebFetch".to_owned(),
                "fetch" => format!("WebFetch(domain:{value})"),
                _ => format!("Bash({value}:*)"),
            };
            let list = lists
                .iter_mut()
                .find(|(verdict, _)| *verdict == plain.rule.verdict);
            if let Some((_, list)) = list {
                list.push(Value::from(entry));
            }
        }
        extents.push((rule.id.clone(), plain.extent));
    }
    let [(_, deny), (_, ask)] = lists;
    let text = format!(
        "{:#}\n",
        json!({ "permissions": { "deny": deny, "ask": ask } })
    );
    (text, extents)
}

fn is_command(key: &str) -> bool {
    matches!(key, "run" | "push" | "commit")
}

fn codex(rules: &[RuleDefinition]) -> (String, Vec<(String, Extent)>) {
    let mut text = String::new();
    let mut extents = Vec::new();
    for rule in rules {
        let plain = Plain::of(rule, is_command);
        let mut extent = plain.extent;
        for (_, command) in &plain.parts {
            if command.contains('*') {
                extent = extent.min(Extent::Partial);
                continue;
            }
            let words: Vec<_> = command.split_whitespace().collect();
            let decision = if rule.verdict == "deny" {
                "forbidden"
            } else {
                "prompt"
            };
            text = format!(
                "{text}prefix_rule(\n    pattern = {},\n    decision = \"{decision}\",\n    justification = {},\n)\n",
                json!(words),
                json!(rule.text("reason").unwrap_or(&rule.id)),
            );
        }
        extents.push((rule.id.clone(), extent));
    }
    (text, extents)
}

fn gemini(rules: &[RuleDefinition]) -> (String, Vec<(String, Extent)>) {
    let mut text = String::new();
    let mut extents = Vec::new();
    for rule in rules {
        let plain = Plain::of(rule, is_command);
        let mut extent = plain.extent;
        let commands: Array = plain
            .parts
            .iter()
            .map(|(_, command)| command.as_str())
            .filter(|command| !command.contains('*'))
            .collect();
        if commands.len() < plain.parts.len() {
            extent = extent.min(Extent::Partial);
        }
        if !commands.is_empty() {
            let decision = if rule.verdict == "deny" {
                "deny"
            } else {
                "ask_user"
            };
            text = format!(
                "{text}[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = {}\ndecision = \"{decision}\"\npriority = 500\n\n",
                Toml::Array(commands).to_string().trim()
            );
        }
        extents.push((rule.id.clone(), extent));
    }
    (text, extents)
}

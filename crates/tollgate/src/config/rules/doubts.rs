//! Rules that are valid but probably a mistake: rules that have expired, rules that another one
//! makes superfluous, and patterns that no file can ever fit.

use std::collections::BTreeMap;
use std::path::Path;

use super::{RuleDefinition, Wrong};
use crate::config::node::Node;

/// All of them, for people.
pub(crate) fn doubts(all: &[RuleDefinition], root: &Path, today: &str) -> Vec<Wrong> {
    let mut found = Vec::new();
    for rule in all {
        if let Some(until) = rule.text("until").filter(|until| *until < today) {
            let what = format!("rule {:?} expired on {until}", rule.id);
            found.push(about(
                rule,
                "until",
                &what,
                "remove it, or give it another day",
            ));
        }
        for (key, node) in rule.effects() {
            if matches!(key.name.as_str(), "write" | "delete" | "read") {
                found.extend(dead(rule, &key.name, node, root));
            }
        }
        if rule
            .node
            .get("match")
            .is_none_or(|list| list.items().is_empty())
        {
            let what = format!("rule {:?} has no example in `match`", rule.id);
            let fix = "add a command that it must match";
            found.push(about(rule, "match", &what, fix));
        }
    }
    found.extend(shadowed(all));
    found
}

fn about(rule: &RuleDefinition, key: &str, what: &str, fix: &str) -> Wrong {
    let node = rule.node.get(key);
    Wrong {
        place: node.map_or(rule.place, |node| node.place),
        key: format!("rule {}.{key}", rule.id),
        what: what.to_owned(),
        fix: fix.to_owned(),
    }
}

/// Patterns that cover nothing that could exist.
fn dead(rule: &RuleDefinition, key: &str, list: &Node, root: &Path) -> Vec<Wrong> {
    let mut found = Vec::new();
    let mut covered = false;
    for item in list.items() {
        let Some(text) = item.text() else {
            continue;
        };
        let (is_out, bare) = match text.strip_prefix('!') {
            Some(bare) => (true, bare),
            None => (false, text),
        };
        let wrong = if is_out && !covered {
            Some((
                "no pattern before it matches, so it excludes nothing",
                "move it behind",
            ))
        } else {
            never(bare, root)
        };
        covered |= !is_out;
        if let Some((what, fix)) = wrong {
            found.push(Wrong {
                place: item.place,
                key: format!("rule {}.{}.{key}", rule.id, rule.verdict),
                what: format!("{text:?}: {what}"),
                fix: fix.to_owned(),
            });
        }
    }
    found
}

fn never(pattern: &str, root: &Path) -> Option<(&'static str, &'static str)> {
    let named = |path: &str| -> String {
        let first = path.split('/').find(|part| !part.is_empty());
        first.unwrap_or_default().to_owned()
    };
    let is_plain = |name: &str| !name.contains(['*', '?', '[', '{']);
    if pattern.starts_with('/') {
        let first = named(pattern);
        let here = root.join(&first).exists();
        let there = Path::new("/").join(&first).exists();
        if is_plain(&first) && here && !there {
            return Some((
                "a pattern that begins with `/` is a path of the whole machine, and there is no such directory",
                "begin it with `./` for the project's root",
            ));
        }
    }
    if pattern.contains("//") {
        return Some(("no path has an empty part", "remove one `/`"));
    }
    let mut parts = pattern.split('/').rev().skip(1);
    let is_file = |part: &str| is_plain(part) && root.join(part).is_file();
    if pattern.matches('/').count() == 1 && parts.next().is_some_and(is_file) {
        return Some((
            "there is a file where it needs a directory",
            "name the file",
        ));
    }
    None
}

/// Rules that say nothing that another one does not say.
fn shadowed(all: &[RuleDefinition]) -> Vec<Wrong> {
    let mut seen: BTreeMap<String, &RuleDefinition> = BTreeMap::new();
    let mut found = Vec::new();
    for rule in all {
        let mut substance = rule.substance();
        if let Some(members) = substance.as_object_mut() {
            members.retain(|key, _| !matches!(key.as_str(), "id" | "verdict" | "mode" | "own"));
        }
        match seen.get(&substance.to_string()) {
            Some(first) => {
                let what = format!("rule {:?} is about the same as {:?}", rule.id, first.id);
                found.push(about(
                    rule,
                    "id",
                    &what,
                    "the stricter one counts; remove the other",
                ));
            }
            None => {
                seen.insert(substance.to_string(), rule);
            }
        }
    }
    found
}

//! Rules of other tools, as far as effects can say them: Claude Code's permissions, Codex's `.rules`
//! and hookify's files. What cannot be said is named with the reason, never guessed.

use std::collections::BTreeSet;

use serde_json::Value;
use toml_edit::{Array, Value as Toml};

use crate::config::rules::MOST;

/// A pattern that stands for more commands is not read.
const MOST_COMMANDS: usize = 64;

/// What could be taken over, and what could not, with the reason.
#[derive(Debug, Default)]
pub(crate) struct Imported {
    /// Each a `[[rule]]`.
    pub(crate) rules: Vec<String>,
    pub(crate) left_out: Vec<(String, String)>,
    ids: BTreeSet<String>,
}

/// A rule on its way.
struct Draft {
    verdict: &'static str,
    effect: &'static str,
    values: Vec<String>,
    reason: Option<String>,
}

/// Reads a file of another tool.
pub(crate) fn import(name: &str, text: &str) -> Result<Imported, String> {
    let mut imported = Imported::default();
    let trimmed = text.trim_start_matches('\u{feff}').trim_start();
    let end = name.rsplit('.').next().unwrap_or_default();
    if end == "md" || trimmed.starts_with("---") {
        imported.hookify(trimmed)?;
    } else if end == "rules" || trimmed.contains("prefix_rule(") {
        imported.codex(trimmed);
    } else if trimmed.starts_with('{') {
        let value: Value = serde_json::from_str(trimmed).map_err(|error| error.to_string())?;
        imported.claude(&value)?;
    } else {
        return Err("the format is not known".to_owned());
    }
    if imported.rules.len() > MOST {
        return Err(format!("it has more than {MOST} rules"));
    }
    Ok(imported)
}

impl Imported {
    fn add(&mut self, what: &str, draft: &Draft) {
        // More are refused together.
        if self.rules.len() > MOST {
            return;
        }
        let base = super::id_of(what);
        let mut id = base.clone();
        for number in 2.. {
            if self.ids.insert(id.clone()) {
                break;
            }
            id = format!("{base}-{number}");
        }
        let values: Array = draft.values.iter().map(String::as_str).collect();
        let values = Toml::Array(values).to_string();
        let mut rule = format!(
            "[[rule]]\nid = \"{id}\"\n{} = {{ {} = {} }}\n",
            draft.verdict,
            draft.effect,
            values.trim()
        );
        if let Some(reason) = &draft.reason {
            rule = format!(
                "{rule}reason = {}\n",
                Toml::from(reason.as_str()).to_string().trim()
            );
        }
        if draft.effect == "run"
            && let Some(command) = draft.values.first().filter(|text| !text.contains('*'))
        {
            let list: Array = [command.as_str()].into_iter().collect();
            rule = format!("{rule}match = {}\n", Toml::Array(list).to_string().trim());
        }
        self.rules.push(rule);
    }

    fn leave(&mut self, what: &str, why: &str) {
        self.left_out.push((what.to_owned(), why.to_owned()));
    }

    /// `permissions.deny` and `permissions.ask` of Claude Code.
    fn claude(&mut self, settings: &Value) -> Result<(), String> {
        let permissions = settings
            .get("permissions")
            .and_then(Value::as_object)
            .ok_or("it has no `permissions`")?;
        for (key, verdict) in [("deny", "deny"), ("ask", "ask")] {
            let list = permissions.get(key).and_then(Value::as_array);
            for entry in list.into_iter().flatten() {
                match entry.as_str() {
                    Some(text) => self.permission(text, verdict),
                    None => self.leave(&entry.to_string(), "it is not a text"),
                }
            }
        }
        if permissions.get("allow").is_some() {
            self.leave(
                "permissions.allow",
                "a rule never allows; the agent's own permissions do",
            );
        }
        Ok(())
    }

    fn permission(&mut self, text: &str, verdict: &'static str) {
        let (tool, inside) = text.split_once('(').unwrap_or((text, ""));
        let inside = inside.strip_suffix(')').unwrap_or(inside).trim();
        let draft = |effect, value: String| Draft {
            verdict,
            effect,
            values: vec![value],
            reason: None,
        };
        match tool.trim() {
            "Bash" if inside.is_empty() || inside == "*" => {
                self.add(text, &draft("run", "*".to_owned()));
            }
            "Bash" => {
                let command = inside.strip_suffix(":*").or(inside.strip_suffix(" *"));
                let command = command.unwrap_or(inside);
                if command.contains(['|', '&', ';', '>', '<']) {
                    self.leave(
                        text,
                        "it matches the text of several commands, not one command",
                    );
                } else {
                    self.add(
                        text,
                        &draft("run", command.trim_end_matches('*').trim().to_owned()),
                    );
                }
            }
            "Read" | "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => {
                let effect = if tool == "Read" { "read" } else { "write" };
                let path = match inside {
                    "" | "*" => "/**".to_owned(),
                    path if path.starts_with("//") => path.trim_start_matches('/').to_owned(),
                    path if path.starts_with("~/") || path.starts_with("./") => path.to_owned(),
                    // Theirs begins at the settings' directory.
                    path if path.starts_with('/') => format!(".{path}"),
                    path => path.to_owned(),
                };
                let path = if inside.starts_with("//") {
                    format!("/{path}")
                } else {
                    path
                };
                self.add(text, &draft(effect, path));
            }
            "WebFetch" => {
                let host = inside.strip_prefix("domain:").unwrap_or("*");
                self.add(text, &draft("fetch", host.to_owned()));
            }
            _ => self.leave(text, "it is about a tool, not about an effect"),
        }
    }

    /// `prefix_rule(pattern = ["git", "push"], decision = "forbidden")` of Codex.
    fn codex(&mut self, text: &str) {
        for part in text.split("prefix_rule(").skip(1) {
            let Some((inside, _)) = part.split_once("\n)").or_else(|| part.rsplit_once(')')) else {
                self.leave(part.lines().next().unwrap_or_default(), "it has no end");
                continue;
            };
            let what: String = inside.split_whitespace().collect::<Vec<_>>().join(" ");
            let value = |key: &str| {
                let (_, behind) = inside.split_once(key)?;
                let behind = behind.trim_start().strip_prefix('=')?;
                Some(behind.trim_start())
            };
            let verdict = match value("decision").and_then(first_text).as_deref() {
                Some("forbidden") => "deny",
                Some("prompt") => "ask",
                Some("allow") | None => {
                    self.leave(&what, "a rule never allows");
                    continue;
                }
                Some(_) => {
                    self.leave(&what, "its decision is not known");
                    continue;
                }
            };
            let Some(patterns) = value("pattern").and_then(words) else {
                self.leave(&what, "its pattern cannot be read");
                continue;
            };
            let draft = Draft {
                verdict,
                effect: "run",
                values: patterns,
                reason: value("justification").and_then(first_text),
            };
            let id = draft.values.first().cloned().unwrap_or_default();
            self.add(&id, &draft);
        }
        if text.contains("host_executable(") || text.contains("network_rule(") {
            self.leave(
                "host_executable, network_rule",
                "it is not a rule about commands",
            );
        }
    }

    /// A Markdown file with a head of YAML.
    fn hookify(&mut self, text: &str) -> Result<(), String> {
        let mut parts = text.splitn(3, "---");
        let head = parts
            .nth(1)
            .ok_or("it has no head between two lines of ---")?;
        let body = parts.next().unwrap_or_default().trim();
        let value = |key: &str| {
            let line = head
                .lines()
                .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
            line.map(|text| text.trim().trim_matches(['"', '\'']).to_owned())
        };
        let what = value("name").unwrap_or_else(|| "rule".to_owned());
        if value("enabled").as_deref() == Some("false") {
            self.leave(&what, "it is not enabled");
            return Ok(());
        }
        if head.contains("conditions:") {
            self.leave(&what, "its conditions are about text, not about an effect");
            return Ok(());
        }
        let verdict = match value("action").as_deref() {
            Some("block") => "deny",
            Some(_) | None => "warn",
        };
        let pattern = value("pattern").unwrap_or_default();
        let (effect, plain) = match value("event").as_deref() {
            Some("bash") => ("run", command_of(&pattern)),
            Some("file") => ("write", path_of(&pattern)),
            Some(_) | None => ("", None),
        };
        match plain {
            Some(plain) => {
                let reason = body.lines().find(|line| !line.trim().is_empty());
                let draft = Draft {
                    verdict,
                    effect,
                    values: vec![plain],
                    reason: reason.map(|line| line.trim_start_matches(['#', '*', ' ']).to_owned()),
                };
                self.add(&what, &draft);
            }
            None if effect.is_empty() => self.leave(&what, "its event has no effect"),
            None => self.leave(&what, "its pattern is a regular expression over text"),
        }
        Ok(())
    }
}

/// A regular expression that is no more than the words of a command.
fn command_of(pattern: &str) -> Option<String> {
    let plain = pattern
        .replace("\\s+", " ")
        .replace("\\s*", " ")
        .replace("\\b", "");
    let plain = plain.trim_start_matches('^').replace("\\.", ".");
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | '/' | ':');
    let plain = plain.trim();
    (!plain.is_empty() && plain.chars().all(is_plain)).then(|| plain.to_owned())
}

/// A regular expression that is no more than the end of a path.
fn path_of(pattern: &str) -> Option<String> {
    let plain = pattern
        .trim_start_matches('^')
        .trim_end_matches('$')
        .replace("\\.", ".");
    let plain = plain.replace(".*", "**").replace("\\/", "/");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '*');
    (!plain.is_empty() && plain.chars().all(is_plain))
        .then(|| plain.trim_start_matches('/').to_owned())
}

/// The first text in quotes.
fn first_text(text: &str) -> Option<String> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    text.split(quote).nth(1).map(str::to_owned)
}

/// `["git", ["push", "fetch"], "--force"]` as commands: one for each choice.
fn words(text: &str) -> Option<Vec<String>> {
    let mut commands = vec![String::new()];
    let mut choices: Option<Vec<String>> = None;
    let mut rest = text.strip_prefix('[')?.chars();
    let add = |commands: &[String], words: &[String]| -> Vec<String> {
        let one = |command: &String, word: &String| format!("{command} {word}").trim().to_owned();
        commands
            .iter()
            .flat_map(|command| words.iter().map(move |word| one(command, word)))
            .collect()
    };
    while let Some(c) = rest.next() {
        if commands.len() > MOST_COMMANDS {
            return None;
        }
        match c {
            '"' | '\'' => {
                let word: String = rest.by_ref().take_while(|other| *other != c).collect();
                match &mut choices {
                    Some(choices) => choices.push(word),
                    None => commands = add(&commands, &[word]),
                }
            }
            '[' => choices = Some(Vec::new()),
            ']' => match choices.take() {
                Some(words) => commands = add(&commands, &words),
                None => break,
            },
            _ => {}
        }
    }
    let commands: Vec<_> = commands
        .into_iter()
        .filter(|command| !command.is_empty())
        .collect();
    (!commands.is_empty()).then_some(commands)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_of_claude_code_become_rules() {
        let text = r#"{"permissions":{"allow":["Bash(ls:*)"],"deny":["Bash(rm -rf:*)","Read(./.env)","Read(~/.ssh/**)","Edit(/db/**)","WebFetch(domain:example.com)","mcp__x__y","Bash(a | b)"],"ask":["Bash(git push:*)"]}}"#;
        let Imported {
            rules, left_out, ..
        } = import("settings.json", text).unwrap();
        let all = rules.join("\n");
        for part in [
            r#"deny = { run = ["rm -rf"] }"#,
            r#"deny = { read = ["./.env"] }"#,
            r#"deny = { read = ["~/.ssh/**"] }"#,
            r#"deny = { write = ["./db/**"] }"#,
            r#"deny = { fetch = ["example.com"] }"#,
            r#"ask = { run = ["git push"] }"#,
        ] {
            assert!(all.contains(part), "{part}: {all}");
        }
        assert_eq!(left_out.len(), 3, "{left_out:?}");
    }

    #[test]
    fn rules_of_codex_become_rules() {
        let text = "prefix_rule(\n  pattern = [\"git\", [\"push\", \"fetch\"]],\n  decision = \"prompt\",\n  justification = \"ask\",\n)\nprefix_rule(pattern=[\"rm\"], decision=\"forbidden\")\nprefix_rule(pattern=[\"ls\"], decision=\"allow\")\n";
        let Imported {
            rules, left_out, ..
        } = import("default.rules", text).unwrap();
        let all = rules.join("\n");
        assert!(
            all.contains(r#"ask = { run = ["git push", "git fetch"] }"#),
            "{all}"
        );
        assert!(all.contains(r#"deny = { run = ["rm"] }"#), "{all}");
        assert_eq!(left_out.len(), 1, "{left_out:?}");
    }

    #[test]
    fn files_of_hookify_become_rules_where_they_are_plain() {
        let head = |event: &str, pattern: &str| {
            format!(
                "---\nname: x\nenabled: true\nevent: {event}\npattern: {pattern}\naction: block\n---\n\nDo not.\n"
            )
        };
        let one = import("x.local.md", &head("bash", r"rm\s+-rf")).unwrap();
        assert!(
            one.rules[0].contains(r#"deny = { run = ["rm -rf"] }"#),
            "{one:?}"
        );
        let one = import("x.local.md", &head("file", r"\.env$")).unwrap();
        assert!(
            one.rules[0].contains(r#"deny = { write = [".env"] }"#),
            "{one:?}"
        );
        let one = import("x.local.md", &head("bash", r"(a|b)+")).unwrap();
        assert!(one.rules.is_empty() && one.left_out.len() == 1, "{one:?}");
    }
}

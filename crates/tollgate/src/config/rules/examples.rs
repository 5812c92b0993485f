//! Examples in a rule: calls of tools that it must or must not match, run when the file is loaded.
//!
//! They do not depend on the machine: in their world the project has no links, and the branch, the
//! phase and the rest are as the example says or as the rule wants them.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tollgate_core::protocol::{self, Hints, Protocol};
use tollgate_core::rules::{
    Fact, Matched, Places, Question, Rule, Rules, describe, effects_in, unaccompanied,
};
use tollgate_shell::{Action, Certainty, Effect, Files, Head, RepositoryPaths, Target, World};

use super::{RuleDefinition, Wrong};
use crate::config::node::Node;

/// What an example does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Run(String),
    Write(String),
    Edit(String),
    Delete(String),
    Read(String),
    Fetch(String),
    /// The files that changed when the agent stops.
    Changed(Vec<String>),
}

/// One example.
#[derive(Clone, Debug)]
pub(crate) struct Example {
    pub(crate) call: Call,
    branch: Option<String>,
    phase: Option<String>,
    agent: Option<String>,
    subagent: Option<String>,
    /// Whether what `after` names came before.
    is_after: bool,
}

/// Where examples are played.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ground<'g> {
    pub(crate) root: &'g Path,
    pub(crate) home: Option<&'g Path>,
}

/// What came of an example.
#[derive(Debug)]
pub(crate) struct Tried {
    pub(crate) is_matched: bool,
    /// What the call would do, in words.
    pub(crate) effects: Vec<String>,
}

impl Example {
    /// Reads one, or says what is wrong with it.
    pub(crate) fn read(node: &Node) -> Result<Self, (&'static str, &'static str)> {
        if let Some(command) = node.text() {
            return Ok(Self::of(Call::Run(command.to_owned())));
        }
        let text = |key: &str| node.get(key).and_then(Node::text).map(str::to_owned);
        let calls = [
            text("run").map(Call::Run),
            text("write").map(Call::Write),
            text("edit").map(Call::Edit),
            text("delete").map(Call::Delete),
            text("read").map(Call::Read),
            text("fetch").map(Call::Fetch),
            node.get("changed").map(|list| Call::Changed(list.texts())),
        ];
        let mut calls = calls.into_iter().flatten();
        let fix = "write one of run, write, edit, delete, read, fetch and changed";
        let call = calls.next().ok_or(("the example does nothing", fix))?;
        if calls.next().is_some() {
            return Err(("the example does two things", "write two examples"));
        }
        Ok(Self {
            branch: text("branch"),
            phase: text("phase"),
            agent: text("agent"),
            subagent: text("subagent"),
            is_after: node.get("after").and_then(Node::bool).unwrap_or(true),
            ..Self::of(call)
        })
    }

    pub(crate) fn of(call: Call) -> Self {
        Self {
            call,
            branch: None,
            phase: None,
            agent: None,
            subagent: None,
            is_after: true,
        }
    }

    /// As the file has it.
    pub(crate) fn words(&self) -> String {
        match &self.call {
            Call::Run(command) => command.clone(),
            Call::Write(path) => format!("write {path}"),
            Call::Edit(path) => format!("edit {path}"),
            Call::Delete(path) => format!("delete {path}"),
            Call::Read(path) => format!("read {path}"),
            Call::Fetch(url) => format!("fetch {url}"),
            Call::Changed(files) => format!("changed {}", files.join(", ")),
        }
    }

    /// Whether it can be told by one event alone: nothing is said about its circumstances.
    pub(crate) fn is_plain(&self) -> bool {
        let said = [&self.branch, &self.phase, &self.agent, &self.subagent];
        said.iter().all(|said| said.is_none()) && self.is_after
    }

    /// The event by which an agent would do it; nothing where it has no such tool.
    pub(crate) fn event(&self, protocol: Protocol, root: &Path) -> Option<Value> {
        let (tool, input) = tool_of(&self.call, protocol)?;
        Some(match protocol {
            Protocol::Cursor => json!({
                "hook_event_name": "preToolUse", "conversation_id": "example",
                "generation_id": "example", "cursor_version": "1",
                "workspace_roots": [root], "tool_name": tool, "tool_input": input,
            }),
            Protocol::Gemini => json!({
                "hook_event_name": "BeforeTool", "session_id": "example", "cwd": root,
                "transcript_path": "", "timestamp": "2026-01-01T00:00:00Z",
                "tool_name": tool, "tool_input": input,
            }),
            Protocol::Codex
            | Protocol::Copilot
            | Protocol::Claude
            | Protocol::Isdlc
            | Protocol::Taskie
            | Protocol::Gauntlet => json!({
                "hook_event_name": "PreToolUse", "session_id": "example", "cwd": root,
                "permission_mode": "default", "tool_use_id": "example",
                "tool_name": tool, "tool_input": input,
            }),
        })
    }

    /// Plays it through an agent's tools.
    pub(crate) fn play(
        &self,
        rule: &RuleDefinition,
        ground: Ground<'_>,
        protocol: Protocol,
    ) -> Option<Tried> {
        let effects = self.effects(rule, ground, protocol)?;
        let places = Places {
            root: ground.root,
            real_root: ground.root,
            home: ground.home,
            folds: false,
            real: &|path: &Path| path.to_owned(),
        };
        let text = format!("{{}}\n{}\n", rule.line);
        let mut compiled = Rules::of(&text)?.all();
        let compiled = compiled.next()?;
        let is_met = match &self.call {
            Call::Changed(_) => unaccompanied(&compiled, &effects, &places).is_some(),
            Call::Run(_)
            | Call::Write(_)
            | Call::Edit(_)
            | Call::Delete(_)
            | Call::Read(_)
            | Call::Fetch(_) => self.meets(&compiled, &effects, &places),
        };
        Some(Tried {
            is_matched: is_met && compiled.holds(&|question| self.fact(question)),
            effects: effects.iter().map(describe).collect(),
        })
    }

    fn meets(&self, rule: &Rule<'_>, effects: &[Effect], places: &Places<'_>) -> bool {
        let hit = rule.hit(effects, places);
        let is_met = hit.is_some_and(|hit| match hit.matched {
            Matched::Yes => true,
            Matched::Unknown => rule.unknown().is_some(),
            Matched::No => false,
        });
        is_met && (self.is_after || !rule.is_conditional())
    }

    fn fact(&self, question: Question) -> Fact {
        let said = match question {
            Question::Branch => &self.branch,
            Question::Phase => &self.phase,
            Question::Agent => &self.agent,
            Question::Subagent => &self.subagent,
        };
        said.clone().map_or(Fact::AsWanted, Fact::Known)
    }

    fn effects(
        &self,
        rule: &RuleDefinition,
        ground: Ground<'_>,
        protocol: Protocol,
    ) -> Option<Vec<Effect>> {
        if let Call::Changed(files) = &self.call {
            return Some(files.iter().map(|file| changed(ground.root, file)).collect());
        }
        let event = self.event(protocol, ground.root)?.to_string();
        let hints = Hints {
            protocol: Some(protocol),
            ..Hints::default()
        };
        let event = protocol::parse(&event, &hints).ok()?;
        let branch = self.branch.clone().or_else(|| wanted_branch(rule));
        let files = Pretended {
            root: ground.root,
            branch: branch.unwrap_or_else(|| "main".to_owned()),
        };
        let world = World {
            dir: Some(ground.root),
            home: ground.home,
            files: &files,
        };
        Some(effects_in(&event, ground.root, &world))
    }
}

/// A file that is another one than it was.
pub(crate) fn changed(root: &Path, file: &str) -> Effect {
    let path = root.join(file);
    let target = Target::file(&path.to_string_lossy());
    let action = if path.symlink_metadata().is_ok() {
        Action::Write(target)
    } else {
        Action::Delete(target)
    };
    Effect {
        action,
        certainty: Certainty::Certain,
        source: file.to_owned(),
    }
}

/// A branch that the rule is about, for examples that name none.
fn wanted_branch(rule: &RuleDefinition) -> Option<String> {
    let branch_of = |node: &Node| {
        let of_one = |node: &Node| node.get("branch").map(Node::texts);
        of_one(node).or_else(|| node.items().iter().find_map(of_one))
    };
    let effects = rule.effects().iter();
    let mut named = effects.filter_map(|(_, node)| branch_of(node));
    let when = || rule.node.get("when").and_then(branch_of);
    let all = named.next().or_else(when)?;
    let first = all.into_iter().find(|name| !name.starts_with('!'))?;
    Some(first.replace('*', "x"))
}

/// The tool of an agent that does something, and its input.
fn tool_of(call: &Call, protocol: Protocol) -> Option<(&'static str, Value)> {
    let is_codex = protocol == Protocol::Codex;
    let patch = |kind: &str, path: &str| {
        let hunk = match kind {
            "Add" => "+x\n",
            "Update" => "@@\n-x\n+y\n",
            _ => "",
        };
        let text = format!("*** Begin Patch\n*** {kind} File: {path}\n{hunk}*** End Patch\n");
        ("apply_patch", json!({ "command": text }))
    };
    Some(match call {
        Call::Run(command) => {
            let tool = match protocol {
                Protocol::Gemini => "run_shell_command",
                Protocol::Copilot => "bash",
                Protocol::Cursor => "Shell",
                Protocol::Codex
                | Protocol::Claude
                | Protocol::Isdlc
                | Protocol::Taskie
                | Protocol::Gauntlet => "Bash",
            };
            (tool, json!({ "command": command }))
        }
        Call::Write(path) if is_codex => patch("Add", path),
        Call::Edit(path) if is_codex => patch("Update", path),
        Call::Delete(path) if is_codex => patch("Delete", path),
        Call::Write(path) => match protocol {
            Protocol::Gemini => ("write_file", json!({ "file_path": path, "content": "x" })),
            Protocol::Copilot => ("create", json!({ "path": path, "file_text": "x" })),
            _ => ("Write", json!({ "file_path": path, "content": "x" })),
        },
        Call::Edit(path) => {
            let input = json!({ "file_path": path, "old_string": "x", "new_string": "y" });
            match protocol {
                Protocol::Gemini => ("replace", input),
                Protocol::Copilot => ("edit", json!({ "path": path, "old_str": "x", "new_str": "y" })),
                _ => ("Edit", input),
            }
        }
        Call::Delete(path) => match protocol {
            Protocol::Cursor => ("Delete", json!({ "file_path": path })),
            // They have no tool for it but the shell.
            _ => return None,
        },
        Call::Read(path) => match protocol {
            Protocol::Codex => return None,
            Protocol::Gemini => ("read_file", json!({ "file_path": path })),
            Protocol::Copilot => ("view", json!({ "path": path })),
            _ => ("Read", json!({ "file_path": path })),
        },
        Call::Fetch(url) => match protocol {
            Protocol::Claude => ("WebFetch", json!({ "url": url, "prompt": "x" })),
            Protocol::Copilot => ("web_fetch", json!({ "url": url })),
            Protocol::Gemini => ("web_fetch", json!({ "prompt": format!("read {url}") })),
            _ => return None,
        },
        Call::Changed(_) => return None,
    })
}

/// A project without files, in a repository on a branch.
struct Pretended<'p> {
    root: &'p Path,
    branch: String,
}

impl Files for Pretended<'_> {
    fn repository(&self, dir: &Path) -> Option<RepositoryPaths> {
        dir.starts_with(self.root).then(|| {
            let git: PathBuf = self.root.join(".git");
            RepositoryPaths {
                work_tree: self.root.to_owned(),
                git_dir: git.clone(),
                common_dir: git,
            }
        })
    }

    fn head(&self, _: &RepositoryPaths) -> Head {
        Head::Branch(self.branch.clone())
    }
}

/// The agents whose tools an example can be played with, the first that has a tool first.
const PLAYERS: [Protocol; 2] = [Protocol::Claude, Protocol::Cursor];

/// The examples that do not come out as the rules say.
pub(crate) fn failing(all: &[RuleDefinition], ground: Ground<'_>) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    for (index, rule) in all.iter().enumerate() {
        for (key, wanted) in [("match", true), ("not_match", false)] {
            let items = rule.node.get(key).map(Node::items).unwrap_or_default();
            for (at, item) in items.iter().enumerate() {
                let Ok(example) = Example::read(item) else {
                    continue;
                };
                let mut players = PLAYERS.into_iter();
                let tried = players.find_map(|player| example.play(rule, ground, player));
                let Some(tried) = tried.filter(|tried| tried.is_matched != wanted) else {
                    continue;
                };
                wrong.push(Wrong {
                    place: item.place,
                    key: format!("rule[{index}].{key}[{at}]"),
                    what: failure(rule, &example, &tried),
                    fix: "`tollgate rules explain` shows the effects of a command".to_owned(),
                });
            }
        }
    }
    wrong
}

/// What is said of an example that fails, with the effects that were found.
pub(crate) fn failure(rule: &RuleDefinition, example: &Example, tried: &Tried) -> String {
    const SHOWN: usize = 4;
    let mut effects: Vec<_> = tried.effects.iter().take(SHOWN).cloned().collect();
    if tried.effects.len() > SHOWN {
        effects.push(format!("{} more", tried.effects.len() - SHOWN));
    }
    let found = if effects.is_empty() {
        "no effect was found".to_owned()
    } else {
        format!("found: {}", effects.join("; "))
    };
    let verb = if tried.is_matched {
        "matches, and should not"
    } else {
        "should match, and does not"
    };
    let id = &rule.id;
    let words: String = example.words().chars().take(120).collect();
    format!("rule {id:?} {verb}: `{words}` ({found})")
}

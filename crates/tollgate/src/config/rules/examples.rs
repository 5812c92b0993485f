//! Examples in a rule: calls of tools that it must or must not match, run when the file is loaded.
//!
//! They do not depend on the machine: in their world the project is `/home/you/project` and has no
//! links, and the branch, the phase and the rest are as the example says or as the rule wants them.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tollgate_core::protocol::{self, Hints, Protocol, Tools};
use tollgate_core::rules::{
    Fact, Matched, Places, Question, Rule, Rules, SeenPaths, describe, effects_in, unaccompanied,
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
    /// Whether an effect of `after` happened before.
    is_after: bool,
}

/// Where examples are played.
const ROOT: &str = "/home/you/project";
const HOME: &str = "/home/you";

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

    /// The event by which an agent would do it; nothing where it has no such tool.
    pub(crate) fn event(&self, protocol: Protocol, root: &Path) -> Option<Value> {
        let (tool, input) = tool_of(&self.call, protocol)?;
        Some(protocol.tool_event(tool, &input, root))
    }

    /// Plays it through an agent's tools.
    pub(crate) fn play(&self, rule: &RuleDefinition, protocol: Protocol) -> Option<Tried> {
        let effects = self.effects(rule, protocol)?;
        let places = Places {
            root: Path::new(ROOT),
            real_root: Path::new(ROOT),
            home: Some(Path::new(HOME)),
            folds: false,
            real: &|path: &Path| path.to_owned(),
            is_file: &|_: &Path| false,
            seen: SeenPaths::default(),
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

    fn effects(&self, rule: &RuleDefinition, protocol: Protocol) -> Option<Vec<Effect>> {
        let root = Path::new(ROOT);
        if let Call::Changed(files) = &self.call {
            let written = |file: &String| change(root, file, Action::Write);
            return Some(files.iter().map(written).collect());
        }
        let event = self.event(protocol, root)?.to_string();
        let hints = Hints {
            protocol: Some(protocol),
            ..Hints::default()
        };
        let event = protocol::parse(&event, &hints).ok()?;
        let branch = self.branch.clone().or_else(|| wanted_branch(rule));
        let files = Pretended {
            root,
            branch: branch.unwrap_or_else(|| "main".to_owned()),
        };
        let world = World {
            dir: Some(root),
            home: Some(Path::new(HOME)),
            files: &files,
        };
        Some(effects_in(&event, root, &world))
    }
}

/// A file that is another one than it was.
pub(crate) fn changed(root: &Path, file: &str) -> Effect {
    let is_there = root.join(file).symlink_metadata().is_ok();
    let action = if is_there {
        Action::Write
    } else {
        Action::Delete
    };
    change(root, file, action)
}

fn change(root: &Path, file: &str, action: fn(Target) -> Action) -> Effect {
    let target = Target::file(&root.join(file).to_string_lossy());
    Effect {
        action: action(target),
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
    let tools = protocol.row().tools;
    let (call, (tool, key), more) = match call {
        Call::Run(command) => (command, (tools.shell, "command"), json!({})),
        Call::Write(path) => (
            path,
            tools.write,
            json!({ "content": "x", "file_text": "x" }),
        ),
        Call::Edit(path) => (
            path,
            tools.edit,
            json!({ "old_string": "x", "new_string": "y", "old_str": "x", "new_str": "y" }),
        ),
        Call::Delete(path) => (path, tools.delete?, json!({})),
        Call::Read(path) => (path, tools.read?, json!({})),
        Call::Fetch(url) => (url, tools.fetch?, json!({})),
        Call::Changed(_) => return None,
    };
    if tool == Tools::PATCH {
        let hunk = match key {
            "Add" => "+x\n",
            "Update" => "@@\n-x\n+y\n",
            _ => "",
        };
        let text = format!("*** Begin Patch\n*** {key} File: {call}\n{hunk}*** End Patch\n");
        return Some((Tools::PATCH, json!({ "command": text })));
    }
    let mut input = more;
    if let Some(input) = input.as_object_mut() {
        input.insert(key.to_owned(), call.as_str().into());
    }
    Some((tool, input))
}

/// A project in a repository on a branch. Whatever is named is there, and nothing is in it.
struct Pretended<'p> {
    root: &'p Path,
    branch: String,
}

impl Files for Pretended<'_> {
    fn exists(&self, path: &Path) -> bool {
        path.starts_with(HOME)
    }

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
pub(crate) fn failing(all: &[RuleDefinition]) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    for (index, rule) in all.iter().enumerate() {
        for (key, wanted) in [("match", true), ("not_match", false)] {
            let items = rule.node.get(key).map(Node::items).unwrap_or_default();
            for (at, item) in items.iter().enumerate() {
                let Ok(example) = Example::read(item) else {
                    continue;
                };
                let mut players = PLAYERS.into_iter();
                let tried = players.find_map(|player| example.play(rule, player));
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

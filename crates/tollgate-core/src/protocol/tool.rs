//! What a tool call does, from its name and its input.
//!
//! Known names come first; an unknown name (an MCP server's, next year's) is judged by the
//! shape of its input, because a tool with a `subagent_type` delegates whatever it is called.
//!
//! A duplicate key must not hide anything: a parser takes the last `tool_input`, and the one
//! before it may hold the commit. So all inputs and all their commands and paths count.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::parse::{INPUT, wrong};
use super::{EventKind, PatchChange, Replacement, Tool, ToolCall, patch, verb};
use crate::text::shell_word;
use tollgate_store::json::{Kind, Node, Object};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Shell,
    /// Types into a shell that runs already.
    Keys,
    /// Commits, as the tool of an MCP server for git.
    Commit,
    File,
    Editor,
    Patch,
    Delete,
    Notebook,
    Delegate,
    Skill,
    Passive,
}

/// Names of the five agents' tools and of those that resemble them, in lower case.
const NAMES: &[(&str, Family)] = &[
    // Claude Code, Codex, Copilot
    ("bash", Family::Shell),
    ("powershell", Family::Shell),
    // Cursor
    ("shell", Family::Shell),
    ("run_terminal_cmd", Family::Shell),
    // Gemini
    ("run_shell_command", Family::Shell),
    // Codex's others
    ("exec_command", Family::Shell),
    ("local_shell", Family::Shell),
    ("write_stdin", Family::Keys),
    // Copilot's others
    ("write_bash", Family::Keys),
    ("write_powershell", Family::Keys),
    // Factory, Kiro, VS Code
    ("execute", Family::Shell),
    ("execute_bash", Family::Shell),
    ("run_in_terminal", Family::Shell),
    ("write", Family::File),
    ("edit", Family::File),
    ("multiedit", Family::File),
    ("write_file", Family::File),
    ("replace", Family::File),
    ("create", Family::File),
    ("edit_file", Family::File),
    ("delete", Family::Delete),
    ("delete_file", Family::Delete),
    ("fs_write", Family::Editor),
    ("str_replace_editor", Family::Editor),
    ("apply_patch", Family::Patch),
    ("applypatch", Family::Patch),
    ("notebookedit", Family::Notebook),
    ("task", Family::Delegate),
    ("agent", Family::Delegate),
    ("spawn_agent", Family::Delegate),
    ("delegate_to_agent", Family::Delegate),
    ("skill", Family::Skill),
    ("slashcommand", Family::Skill),
    ("activate_skill", Family::Skill),
    // Others that only read have no content in their input, so its shape says so. Cursor's event
    // before a read has the file's content in it, and a notebook's path is that of an edit.
    ("read", Family::Passive),
    ("notebookread", Family::Passive),
];

/// Tools of MCP servers that commit, behind the name of their server: `mcp__git__git_commit`.
const COMMITS: &[&str] = &["git_commit", "git_add_or_commit"];
/// Where they do.
const REPOSITORY: &[&str] = &[
    "repo_path",
    "repoPath",
    "repository_path",
    "directory",
    "path",
    "cwd",
];

const COMMAND: &[&str] = &["command", "cmd", "command_line"];
const KEYS: &[&str] = &["input", "chars"];
const PATH: &[&str] = &[
    "file_path",
    "filePath",
    "path",
    "notebook_path",
    "notebookPath",
    "target_file",
    "relative_path",
];
const CONTENT: &[&str] = &["content", "contents", "file_text", "fileText"];
const OLD: &[&str] = &["old_string", "old_str", "oldString", "oldStr", "oldText"];
const NEW: &[&str] = &["new_string", "new_str", "newString", "newStr", "newText"];
const ALL: &[&str] = &["replace_all", "replaceAll"];
const PATCH: &[&str] = &["command", "input", "patch"];
const SUBAGENT: &[&str] = &["subagent_type", "agent_type", "agentType", "agent_name"];
const PROMPTS: &[&str] = &["prompt", "message"];

/// The tool call of an event, whose names for it are given, the one that counts last.
pub(super) fn read<'a>(
    problems: &mut Vec<String>,
    object: &Object<'a>,
    event: EventKind,
    names: Vec<Cow<'a, str>>,
) -> Option<Tool<'a>> {
    let input = Input::of(object, problems);
    let mut named: Vec<_> = names
        .into_iter()
        .map(|name| (input.family(&name), name))
        .collect();
    // Of two names, the last that does something.
    let acting = named
        .iter()
        .rposition(|(family, _)| *family != Family::Passive)
        .or(named.len().checked_sub(1));
    let (family, name) = if let Some(index) = acting {
        named.swap_remove(index)
    } else {
        if event == EventKind::PreTool {
            input.problems.push("`tool_name` is missing".to_owned());
        }
        if input.objects.is_empty() {
            return None;
        }
        (input.shape(), Cow::Borrowed(""))
    };
    Some(input.tool(name, family, event))
}

/// A call of which the event itself is the input, as with Cursor's `beforeShellExecution`.
pub(super) fn read_flat<'a>(
    problems: &mut Vec<String>,
    object: &Object<'a>,
    event: EventKind,
    name: &'static str,
) -> Tool<'a> {
    let input = Input::new(vec![object.clone()], "", problems);
    let family = input.family(name);
    input.tool(Cow::Borrowed(name), family, event)
}

/// All inputs of one call, as one.
struct Input<'p, 'a> {
    objects: Vec<Object<'a>>,
    /// What messages call it, with its dot.
    label: &'static str,
    /// An input that is a text, and its name: a freeform patch or a command.
    loose: Option<(&'static str, Cow<'a, str>)>,
    is_null: bool,
    problems: &'p mut Vec<String>,
}

impl<'p, 'a> Input<'p, 'a> {
    fn new(objects: Vec<Object<'a>>, label: &'static str, problems: &'p mut Vec<String>) -> Self {
        Self {
            objects,
            label,
            loose: None,
            is_null: false,
            problems,
        }
    }

    fn tool(mut self, name: Cow<'a, str>, family: Family, event: EventKind) -> Tool<'a> {
        let mut more_files = Vec::new();
        let mut tool = Tool {
            name,
            id: None,
            background: self.is_in_background(),
            call: self.call(family, event, &mut more_files),
            result: None,
            more_files,
            inputs: self.objects,
        };
        if matches!(tool.call, ToolCall::Other) {
            tool.more_files = verb::changed(&tool);
        }
        tool
    }

    fn of(event: &Object<'a>, problems: &'p mut Vec<String>) -> Self {
        let mut input = Self::new(Vec::new(), "tool_input.", problems);
        for key in INPUT {
            let mut seen = 0;
            for node in event.get_all(key) {
                seen += 1;
                match node.kind() {
                    Kind::Object => input.objects.extend(node.object()),
                    Kind::Null => input.is_null = true,
                    Kind::String => input.add_text(key, node.str().unwrap_or_default()),
                    Kind::Bool | Kind::Number | Kind::Array => {
                        input.problems.push(wrong(key, node, Kind::Object));
                    }
                }
            }
            if seen > 1 {
                let problem = format!("`{key}` is there {seen} times");
                input.problems.push(problem);
            }
        }
        input
    }

    fn add_text(&mut self, key: &'static str, text: Cow<'a, str>) {
        let is = |mark: char| text.trim_start().starts_with(mark);
        if is('"')
            && let Some(inner) = Node::parse(&text).ok().and_then(Node::str)
        {
            self.loose = Some((key, Cow::Owned(inner.into_owned())));
        } else if is('{') {
            // Copilot's `toolArgs` can be JSON within JSON. What it decodes to must live as long
            // as the event that borrows from it; one process answers one event, so it lives for
            // ever.
            let text: &'static str = String::leak(text.into_owned());
            match Object::parse(text) {
                Ok(object) => self.objects.push(object),
                Err(error) => self
                    .problems
                    .push(format!("`{key}` is a string that is not JSON: {error}")),
            }
        } else {
            self.loose = Some((key, text));
        }
    }

    /// The text that is the whole input, for a tool that takes one.
    fn take_loose(&mut self) -> Option<Cow<'a, str>> {
        self.loose.take().map(|(_, text)| text)
    }

    fn family(&self, name: &str) -> Family {
        NAMES
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map_or_else(|| self.unknown_family(name), |(_, family)| *family)
    }

    fn unknown_family(&self, name: &str) -> Family {
        let name = name.to_ascii_lowercase();
        let of_server = name.rsplit("__").next().unwrap_or_default();
        let mut actions = self.all(&["action"]).filter_map(|(_, node)| node.str());
        if COMMITS.contains(&of_server) && actions.all(|action| action == "commit") {
            Family::Commit
        } else {
            self.shape()
        }
    }

    /// What kind an input is, when the name says nothing.
    fn shape(&self) -> Family {
        if self.has_text(&["subagent_type", "agent_type", "agentType"]) {
            Family::Delegate
        } else if self.is_patch() {
            Family::Patch
        } else if self.has(&["notebook_path", "notebookPath"]) {
            Family::Notebook
        } else if self.has(PATH) && (self.has(CONTENT) || self.has(OLD) || self.has(&["edits"])) {
            Family::Editor
        } else if self.has(COMMAND) {
            Family::Shell
        } else {
            Family::Passive
        }
    }

    fn is_in_background(&self) -> bool {
        let mut asked = self.all(&["run_in_background", "is_background", "isBackground"]);
        asked.any(|(_, node)| node.is_true())
    }

    fn is_patch(&self) -> bool {
        let begins = |text: &str| text.trim_start().starts_with("*** Begin Patch");
        let loose = self.loose.as_ref().map(|(_, text)| begins(text));
        let mut texts = self.all(PATCH).filter_map(|(_, node)| node.str());
        loose.unwrap_or_default() || texts.any(|text| begins(&text))
    }

    fn call(
        &mut self,
        family: Family,
        event: EventKind,
        more_files: &mut Vec<Cow<'a, str>>,
    ) -> ToolCall<'a> {
        // After the fact an input may be left out; before it, a call without one is odd.
        let needed = event == EventKind::PreTool;
        // Still a command, but of an unknown tool.
        if let Some((key, _)) = &self.loose
            && family != Family::Patch
        {
            let problem = format!("`{key}` is {}, not {}", Kind::String, Kind::Object);
            self.problems.push(problem);
        }
        match family {
            Family::Shell => ToolCall::Shell {
                command: self.command(COMMAND, needed),
            },
            Family::Keys => ToolCall::Shell {
                command: self.command(KEYS, false),
            },
            Family::Commit => {
                let directory = self.texts(REPOSITORY).pop();
                let directory =
                    directory.map(|directory| format!("-C {} ", shell_word(&directory)));
                let command = format!("git {}commit", directory.unwrap_or_default());
                ToolCall::Shell {
                    command: Cow::Owned(command),
                }
            }
            Family::Patch => {
                // A list is a command line with the patch in it.
                let lists = self.all(PATCH).filter_map(|(_, node)| node.array());
                let words: Vec<_> = lists.flatten().filter_map(Node::str).collect();
                let texts = self.texts(PATCH).into_iter().chain(words);
                let texts = texts.chain(self.take_loose());
                let text = join(texts.collect()).unwrap_or_else(|| self.missing("command", needed));
                ToolCall::Patch { text }
            }
            Family::Delete => ToolCall::Delete {
                path: self.path(more_files, needed),
            },
            Family::Notebook => ToolCall::Notebook {
                path: self.path(more_files, needed),
                source: self.texts(&["new_source"]).pop(),
            },
            Family::Delegate => ToolCall::Delegate {
                agent: self.agent(),
                prompt: join(self.texts(PROMPTS)).unwrap_or_default(),
                description: join(self.texts(&["description"])).unwrap_or_default(),
            },
            Family::Skill => self.skill(),
            Family::Editor => match self.texts(&["command"]).pop().as_deref() {
                Some("view") => ToolCall::Other,
                // The rest of the file is not in the call.
                Some("insert" | "append" | "undo_edit") => ToolCall::Write {
                    path: self.path(more_files, needed),
                    content: None,
                },
                Some(_) | None => self.file(more_files, needed),
            },
            Family::File => self.file(more_files, needed),
            Family::Passive => ToolCall::Other,
        }
    }

    /// One command or, from duplicate keys, all of them as the lines of one.
    fn command(&mut self, keys: &[&str], needed: bool) -> Cow<'a, str> {
        let mut commands: Vec<_> = self.take_loose().into_iter().collect();
        for (key, node) in self.all(keys).collect::<Vec<_>>() {
            if let Some(text) = node.str() {
                commands.push(text);
                continue;
            }
            self.wrong(key, node, Kind::String);
            // A host that takes a list would run it, so it is judged like any other command.
            if let Some(words) = node.array() {
                let words = words.iter().filter_map(|word| word.str());
                let words: Vec<String> = words.map(|word| shell_word(&word)).collect();
                commands.push(Cow::Owned(words.join(" ")));
            }
        }
        if commands.len() > 1 {
            self.note("command", "is there twice");
        }
        join(commands).unwrap_or_else(|| self.missing("command", needed))
    }

    /// One agent or, from duplicate keys, all of them, a line each.
    fn agent(&mut self) -> Cow<'a, str> {
        // Fields of different names are no duplicates of each other: the first that says
        // something counts.
        let Some(key) = SUBAGENT.iter().find(|key| self.has_text(&[key])) else {
            return self.texts(SUBAGENT).pop().unwrap_or_default();
        };
        let mut agents = self.texts(&[key]);
        agents.dedup();
        if agents.len() > 1 {
            self.note(key, "is there twice");
        }
        join(agents).unwrap_or_default()
    }

    fn file(&mut self, more_files: &mut Vec<Cow<'a, str>>, needed: bool) -> ToolCall<'a> {
        let path = self.path(more_files, needed);
        let mut edits = Vec::new();
        for (_, node) in self.all(&["edits"]).collect::<Vec<_>>() {
            let Some(items) = node.array() else {
                self.wrong("edits", node, Kind::Array);
                continue;
            };
            for item in items.iter().filter_map(|item| item.object()) {
                let mut inner = Input::new(vec![item], "tool_input.edits[].", self.problems);
                more_files.extend(inner.paths());
                edits.extend(inner.replacement());
            }
        }
        edits.extend(self.replacement());
        more_files.retain(|file| *file != path);
        let is_edit = !edits.is_empty() || self.has(OLD) || self.has(&["edits"]);
        if is_edit {
            ToolCall::Edit { path, edits }
        } else {
            ToolCall::Write {
                path,
                content: self.all(CONTENT).last().map(|(_, node)| node),
            }
        }
    }

    fn replacement(&mut self) -> Option<Replacement<'a>> {
        let old = self.texts(OLD).pop();
        let new = self.texts(NEW).pop();
        if old.is_none() && new.is_none() {
            return None;
        }
        Some(Replacement {
            old: old.unwrap_or_default(),
            new: new.unwrap_or_default(),
            all: self.all(ALL).any(|(_, node)| node.is_true()),
        })
    }

    fn skill(&mut self) -> ToolCall<'a> {
        let mut names = self.texts(&["command", "name", "skill"]);
        let mut name = names.pop().unwrap_or_default();
        let mut args = join(self.texts(&["arguments", "args"])).unwrap_or_default();
        // `SlashCommand` has both in one text: "/plan:next 3".
        if let Some((head, tail)) = name.split_once(char::is_whitespace) {
            if args.is_empty() {
                args = Cow::Owned(tail.trim().to_owned());
            }
            name = Cow::Owned(head.to_owned());
        }
        if let Some(bare) = name.strip_prefix('/') {
            name = Cow::Owned(bare.to_owned());
        }
        ToolCall::Skill {
            name,
            args,
            prompt: join(self.texts(&["prompt"])).unwrap_or_default(),
        }
    }

    fn path(&mut self, more_files: &mut Vec<Cow<'a, str>>, needed: bool) -> Cow<'a, str> {
        let mut paths = self.paths();
        let Some(path) = paths.pop() else {
            return self.missing("file_path", needed);
        };
        paths.retain(|other| *other != path);
        more_files.extend(paths);
        path
    }

    /// Every path the input names, the one that counts last.
    fn paths(&mut self) -> Vec<Cow<'a, str>> {
        let mut paths = self.texts(PATH);
        paths.retain(|path| !path.is_empty());
        paths
    }

    /// Every text under any of the names; those of the first name, and of these the last, last.
    fn texts(&mut self, keys: &[&str]) -> Vec<Cow<'a, str>> {
        let mut texts = Vec::new();
        for (key, node) in self.all(keys).collect::<Vec<_>>() {
            match node.str() {
                Some(text) => texts.push(text),
                None if node.is_null() => {}
                None => self.wrong(key, node, Kind::String),
            }
        }
        texts
    }

    /// Every value under any of the names, in the same order.
    fn all<'k>(&self, keys: &'k [&'k str]) -> impl Iterator<Item = (&'k str, Node<'a>)> {
        keys.iter().rev().flat_map(move |key| {
            self.objects
                .iter()
                .flat_map(move |object| object.get_all(key).map(move |node| (*key, node)))
        })
    }

    fn has(&self, keys: &[&str]) -> bool {
        self.all(keys).any(|(_, node)| !node.is_null())
    }

    fn has_text(&self, keys: &[&str]) -> bool {
        self.all(keys)
            .any(|(_, node)| node.kind() == Kind::String && node.truthy())
    }

    fn wrong(&mut self, key: &str, node: Node<'_>, expected: Kind) {
        let field = format!("{}{key}", self.label);
        self.problems.push(wrong(&field, node, expected));
    }

    fn note(&mut self, key: &str, what: &str) {
        self.problems.push(format!("`{}{key}` {what}", self.label));
    }

    fn missing(&mut self, key: &str, needed: bool) -> Cow<'a, str> {
        // A wrong type has been reported already.
        let said = !self.problems.is_empty();
        if self.is_null && self.objects.is_empty() {
            self.problems
                .push("`tool_input` is null, not an object".to_owned());
        } else if needed && !said {
            self.note(key, "is missing");
        }
        Cow::Borrowed("")
    }
}

pub(super) fn join(mut texts: Vec<Cow<'_, str>>) -> Option<Cow<'_, str>> {
    texts.dedup();
    if texts.len() > 1 {
        Some(Cow::Owned(texts.join("\n")))
    } else {
        texts.pop()
    }
}

impl<'a> Tool<'a> {
    /// Every text that the input has under one of these names, or in a list there.
    pub fn input_texts(&self, names: &[&str]) -> Vec<Cow<'a, str>> {
        let mut texts = Vec::new();
        for name in names {
            let nodes = self.inputs.iter().flat_map(|input| input.get_all(name));
            for node in nodes.collect::<Vec<_>>() {
                texts.extend(node.str());
                texts.extend(node.texts().into_iter().flatten().map(Cow::Owned));
                // `files: [{path, content}]`
                let each = node.array().unwrap_or_default().into_iter();
                let each = each.filter_map(Node::object);
                texts.extend(each.filter_map(|one| names.iter().find_map(|name| one.str(name))));
            }
        }
        texts.retain(|text| !text.is_empty());
        texts
    }

    /// The input with another shell command, as the agent takes it back.
    pub(super) fn input_with(&self, command: &str) -> Option<Value> {
        let [input] = self.inputs.as_slice() else {
            return None;
        };
        let mut members: Map<String, Value> = input
            .members()
            .filter_map(|(name, node)| {
                Some((name.to_owned(), serde_json::from_str(node.text()).ok()?))
            })
            .collect();
        let member = members.get_mut("command")?;
        *member = command.into();
        Some(Value::Object(members))
    }

    /// What a patch does with each file that it names, in order.
    pub fn patch_changes(&self) -> Vec<PatchChange<'_>> {
        match &self.call {
            ToolCall::Patch { text } => patch::changes(text),
            ToolCall::Shell { .. }
            | ToolCall::Write { .. }
            | ToolCall::Edit { .. }
            | ToolCall::Delete { .. }
            | ToolCall::Notebook { .. }
            | ToolCall::Delegate { .. }
            | ToolCall::Skill { .. }
            | ToolCall::Other => Vec::new(),
        }
    }

    /// The files the call writes, as the agent wrote their names (they may be relative).
    ///
    /// What a shell command writes is not among them: that takes a shell's parser.
    pub fn files(&self) -> Vec<Cow<'a, str>> {
        let mut files = match &self.call {
            ToolCall::Write { path, .. }
            | ToolCall::Edit { path, .. }
            | ToolCall::Delete { path }
            | ToolCall::Notebook { path, .. } => vec![path.clone()],
            ToolCall::Patch { text } => patch::files(text),
            ToolCall::Shell { .. }
            | ToolCall::Delegate { .. }
            | ToolCall::Skill { .. }
            | ToolCall::Other => Vec::new(),
        };
        files.retain(|file| !file.is_empty());
        files.extend(self.more_files.iter().cloned());
        files
    }
}

//! What a call of any tool of any agent would do, but for shell commands, which
//! [`tollgate_shell::effects`] reads.
//!
//! Tools that Tollgate knows say it by what they are; of others, those of MCP servers among them,
//! the words of their names say what is done with the paths that their inputs name.

use std::borrow::Cow;
use std::path::PathBuf;

use crate::protocol::{PatchChange, Tool, ToolCall};
use tollgate_shell::{Action, Certainty, Effect, Extent, Target, host_of};

/// Names of inputs that are paths: what is read, changed or removed, or where something comes from.
const PATHS: &[&str] = &[
    "path",
    "file_path",
    "filePath",
    "file",
    "filename",
    "paths",
    "files",
    "notebook_path",
    "target_file",
    "absolute_path",
    "relative_path",
    "uri",
    "source",
    "source_path",
    "src",
    "from",
    "old_path",
    "directory",
    "dir",
    "dir_path",
];
/// Where something goes.
const DESTINATIONS: &[&str] = &[
    "destination",
    "destination_path",
    "dest",
    "dst",
    "to",
    "new_path",
];
/// Which files a search is about.
const FILTERS: &[&str] = &["glob", "include"];
/// Names of inputs that are, or hold, addresses.
const ADDRESSES: &[&str] = &["url", "urls", "uri", "prompt"];

/// What the words of a tool's name say it does, the first that fits.
const VERBS: &[(Verb, &str)] = &[
    (Verb::Deletes, "delete remove rm unlink rmdir erase trash"),
    (Verb::Moves, "move rename mv"),
    (Verb::Copies, "copy cp duplicate"),
    (
        Verb::Writes,
        "write edit create append insert update save put replace modify mkdir make patch touch",
    ),
    (Verb::Searches, "grep glob search find ripgrep"),
    (Verb::Lists, "ls list tree stat info exists"),
    (
        Verb::Reads,
        "read view get cat open show load head tail download upload",
    ),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    Deletes,
    Moves,
    Copies,
    Writes,
    Searches,
    /// Names only.
    Lists,
    Reads,
}

/// The effects of a call that is no shell command. `absolute` makes the paths that the agent wrote
/// absolute.
pub(crate) fn tool_effects(tool: &Tool<'_>, absolute: &dyn Fn(&str) -> PathBuf) -> Vec<Effect> {
    let mut found = Found {
        tool,
        absolute,
        effects: Vec::new(),
    };
    match &tool.call {
        ToolCall::Write { .. } | ToolCall::Edit { .. } | ToolCall::Notebook { .. } => {
            for path in tool.files() {
                found.add(Action::Write, &path, Certainty::Certain);
            }
        }
        ToolCall::Delete { .. } => {
            for path in tool.files() {
                found.add(Action::Delete, &path, Certainty::Certain);
            }
        }
        ToolCall::Patch { .. } => {
            for change in tool.patch_changes() {
                match change {
                    PatchChange::Writes(path) => found.add(Action::Write, path, Certainty::Certain),
                    PatchChange::Deletes(path) => {
                        found.add(Action::Delete, path, Certainty::Certain);
                    }
                }
            }
        }
        ToolCall::Other => found.by_name(),
        ToolCall::Shell { .. } | ToolCall::Delegate { .. } | ToolCall::Skill { .. } => {}
    }
    found.effects
}

struct Found<'t> {
    tool: &'t Tool<'t>,
    absolute: &'t dyn Fn(&str) -> PathBuf,
    effects: Vec<Effect>,
}

impl Found<'_> {
    fn push(&mut self, action: Action, certainty: Certainty, about: &str) {
        self.effects.push(Effect {
            action,
            certainty,
            source: format!("{} {about}", self.tool.name),
        });
    }

    fn add(&mut self, action: fn(Target) -> Action, path: &str, certainty: Certainty) {
        self.reach(action, path, Extent::Path, certainty);
    }

    fn reach(
        &mut self,
        action: fn(Target) -> Action,
        path: &str,
        extent: Extent,
        certainty: Certainty,
    ) {
        let path = path.strip_prefix("file://").unwrap_or(path);
        let full = (self.absolute)(path);
        let full = full.to_string_lossy();
        let target = match extent {
            Extent::Path => Target::file(&full),
            Extent::Tree | Extent::Within => Target::tree(&full),
        };
        self.push(action(target), certainty, path);
    }

    fn by_name(&mut self) {
        let words = words(&self.tool.name);
        let fits = |names: &&(Verb, &str)| {
            let mut names = names.1.split_ascii_whitespace();
            names.any(|name| words.iter().any(|word| word == name))
        };
        let verb = VERBS.iter().find(fits).map(|(verb, _)| *verb);
        let goes_out = ["web", "fetch", "http", "browser", "navigate", "crawl"];
        let fetches = words
            .iter()
            .any(|word| goes_out.iter().any(|sign| word.starts_with(sign)));
        self.addresses(fetches);
        if fetches {
            return;
        }
        let sources = self.tool.input_texts(PATHS);
        let destinations = self.tool.input_texts(DESTINATIONS);
        let is_file = |path: &&Cow<'_, str>| !path.contains("://") || path.starts_with("file://");
        for path in sources.iter().filter(is_file) {
            match verb {
                Some(Verb::Deletes | Verb::Moves) => {
                    self.reach(Action::Delete, path, Extent::Tree, Certainty::Certain);
                }
                Some(Verb::Copies) => {
                    self.reach(Action::Read, path, Extent::Tree, Certainty::Certain);
                }
                Some(Verb::Writes) => self.add(Action::Write, path, Certainty::Certain),
                Some(Verb::Searches) => {
                    self.reach(Action::Read, path, Extent::Tree, Certainty::Possible);
                }
                Some(Verb::Lists) => {}
                Some(Verb::Reads) => self.add(Action::Read, path, Certainty::Certain),
                None => {
                    self.add(Action::Read, path, Certainty::Unknown);
                    self.add(Action::Write, path, Certainty::Unknown);
                }
            }
        }
        for path in &destinations {
            match verb {
                Some(Verb::Moves | Verb::Copies | Verb::Writes) => {
                    self.reach(Action::Write, path, Extent::Tree, Certainty::Certain);
                }
                Some(Verb::Deletes | Verb::Searches | Verb::Lists | Verb::Reads) | None => {}
            }
        }
        // What a search is narrowed to is read by name: `.env`, `**/.env*`.
        for filter in self.tool.input_texts(FILTERS) {
            let name = filter.trim_start_matches("**/").trim_end_matches('*');
            if verb == Some(Verb::Searches) && !name.is_empty() && !name.contains(['*', '{', '[']) {
                let top = sources.first().map_or(".", |top| top);
                let path = format!("{top}/{name}");
                self.add(Action::Read, &path, Certainty::Possible);
            }
        }
        // Without a path the search starts where the agent is.
        if verb == Some(Verb::Searches)
            && sources.is_empty()
            && !words.iter().any(|word| word == "web")
        {
            self.reach(Action::Read, ".", Extent::Tree, Certainty::Possible);
        }
    }

    fn addresses(&mut self, fetches: bool) {
        let mut known = false;
        for text in self.tool.input_texts(ADDRESSES) {
            let links = text.split_whitespace().filter(|word| word.contains("://"));
            for link in links.take(16) {
                let link = link.trim_matches(['"', '\'', '(', ')', '<', '>', ',']);
                if link.starts_with("http") || fetches {
                    let host = host_of(link).map(str::to_owned);
                    known |= host.is_some();
                    self.push(Action::Fetch { host }, Certainty::Certain, link);
                }
            }
        }
        if fetches && !known {
            self.push(Action::Fetch { host: None }, Certainty::Possible, "");
        }
    }
}

/// The words of a tool's name without its server: `mcp__files__moveFile` has `move` and `file`.
fn words(name: &str) -> Vec<String> {
    let own = name.rsplit("__").next().unwrap_or(name);
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in own.chars() {
        let begins = !letter.is_alphanumeric() || letter.is_uppercase() && before.is_lowercase();
        if begins {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Hints, parse};

    /// What a call does, in `/p`: one line each.
    fn done(name: &str, input: &str) -> Vec<String> {
        let event = format!(
            r#"{{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"{name}","tool_input":{input}}}"#
        );
        let event = parse(&event, &Hints::default()).unwrap();
        let tool = event.tool.as_ref().unwrap();
        let absolute = |path: &str| PathBuf::from("/p").join(path);
        let effects = tool_effects(tool, &absolute);
        let shown = effects.iter().map(|effect| {
            let what = match &effect.action {
                Action::Write(target) => format!("write {target}"),
                Action::Delete(target) => format!("delete {target}"),
                Action::Read(target) => format!("read {target}"),
                Action::Fetch { host } => format!("fetch {}", host.as_deref().unwrap_or("?")),
                other @ (Action::Run { .. }
                | Action::Commit { .. }
                | Action::Push { .. }
                | Action::Opaque) => format!("{other:?}"),
            };
            format!("{:?} {what}", effect.certainty)
        });
        shown.collect()
    }

    #[test]
    fn the_tools_of_agents_have_effects() {
        for (name, input, expected) in [
            (
                "Write",
                r#"{"file_path":"a","content":""}"#,
                &["Certain write /p/a"][..],
            ),
            (
                "Edit",
                r#"{"file_path":"/x/a","old_string":"a","new_string":"b"}"#,
                &["Certain write /x/a"],
            ),
            (
                "NotebookEdit",
                r#"{"notebook_path":"n.ipynb"}"#,
                &["Certain write /p/n.ipynb"],
            ),
            (
                "apply_patch",
                r#"{"command":"*** Begin Patch\n*** Add File: a\n+x\n*** Delete File: b\n*** Update File: c\n*** Move to: d\n*** End Patch"}"#,
                &[
                    "Certain write /p/a",
                    "Certain delete /p/b",
                    "Certain delete /p/c",
                    "Certain write /p/d",
                ],
            ),
            ("Read", r#"{"file_path":".env"}"#, &["Certain read /p/.env"]),
            (
                "read_file",
                r#"{"absolute_path":"/x/a"}"#,
                &["Certain read /x/a"],
            ),
            (
                "Grep",
                r#"{"pattern":"x","path":"src"}"#,
                &["Possible read /p/src/"],
            ),
            (
                "Grep",
                r#"{"pattern":"x","path":"/x","glob":"**/.env*"}"#,
                &["Possible read /x/", "Possible read /x/.env"],
            ),
            ("Glob", r#"{"pattern":"**"}"#, &["Possible read /p/./"]),
            (
                "WebFetch",
                r#"{"url":"https://a.org/x"}"#,
                &["Certain fetch a.org"],
            ),
            (
                "web_fetch",
                r#"{"prompt":"read https://a.org/x please"}"#,
                &["Certain fetch a.org"],
            ),
            ("WebSearch", r#"{"query":"x"}"#, &["Possible fetch ?"]),
            (
                "mcp__fs__read_file",
                r#"{"path":"a"}"#,
                &["Certain read /p/a"],
            ),
            (
                "mcp__fs__write_file",
                r#"{"path":"a","content":"x"}"#,
                &["Certain write /p/a"],
            ),
            (
                "mcp__fs__move_file",
                r#"{"source":"a","destination":"b"}"#,
                &["Certain delete /p/a/", "Certain write /p/b/"],
            ),
            (
                "mcp__fs__deleteFiles",
                r#"{"paths":["a","b"]}"#,
                &["Certain delete /p/a/", "Certain delete /p/b/"],
            ),
            (
                "mcp__x__frobnicate",
                r#"{"path":"a"}"#,
                &["Unknown read /p/a", "Unknown write /p/a"],
            ),
            (
                "mcp__fs__write_files",
                r#"{"files":[{"path":"a","content":"x"},{"path":"b"}]}"#,
                &["Certain write /p/a", "Certain write /p/b"],
            ),
            (
                "mcp__serena__replace_symbol_body",
                r#"{"relative_path":"a","body":"x"}"#,
                &["Certain write /p/a"],
            ),
            (
                "ReadMcpResource",
                r#"{"server":"fs","uri":"file:///x/a"}"#,
                &["Certain read /x/a"],
            ),
            (
                "mcp__s3__upload",
                r#"{"file_path":"a"}"#,
                &["Certain read /p/a"],
            ),
            (
                "NotebookRead",
                r#"{"notebook_path":"a"}"#,
                &["Certain read /p/a"],
            ),
            ("mcp__fs__list_directory", r#"{"path":"a"}"#, &[]),
            ("TodoWrite", r#"{"todos":[]}"#, &[]),
            (
                "Task",
                r#"{"subagent_type":"x","prompt":"see https://a.org"}"#,
                &[],
            ),
        ] {
            let expected: Vec<String> = expected
                .iter()
                .map(|line| line.replace("/./", "/"))
                .collect();
            let found: Vec<String> = done(name, input)
                .iter()
                .map(|line| line.replace("/./", "/"))
                .collect();
            assert_eq!(found, expected, "{name} {input}");
        }
    }
}

//! What a call of any tool of any agent would do, but for shell commands, which
//! [`tollgate_shell::effects`] reads.
//!
//! Tools that Tollgate knows say it by what they are; of others, those of MCP servers among them,
//! the words of their names ([`Verb`]) say what is done with the paths that their inputs name.

use std::path::PathBuf;

use crate::protocol::{PatchChange, Tool, ToolCall, Verb};
use tollgate_shell::{Action, Certainty, Effect, Extent, Target, host_of};

/// Which files a search is about.
const FILTERS: &[&str] = &["glob", "include"];
/// Names of inputs that are addresses.
const ADDRESSES: &[&str] = &["url", "urls", "uri"];
/// The same of a tool that fetches: a prompt says what, as with Gemini CLI.
const ADDRESSES_IN_TEXT: &[&str] = &["url", "urls", "uri", "prompt"];

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
        let full = (self.absolute)(path);
        let full = full.to_string_lossy();
        let target = match extent {
            Extent::Path => Target::file(&full),
            Extent::Tree | Extent::Within => Target::tree(&full),
        };
        self.push(action(target), certainty, path);
    }

    fn by_name(&mut self) {
        let verb = Verb::of(self.tool);
        self.addresses(verb == Some(Verb::Fetches));
        let paths = Verb::paths(verb, self.tool);
        for path in &paths.objects {
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
                Some(Verb::Lists | Verb::Fetches) => {}
                Some(Verb::Reads) => self.add(Action::Read, path, Certainty::Certain),
                None => {
                    self.add(Action::Read, path, Certainty::Unknown);
                    self.add(Action::Write, path, Certainty::Unknown);
                }
            }
        }
        for path in &paths.sources {
            self.reach(Action::Read, path, Extent::Tree, Certainty::Certain);
        }
        for path in &paths.destinations {
            self.reach(Action::Write, path, Extent::Tree, Certainty::Certain);
        }
        if verb != Some(Verb::Searches) {
            return;
        }
        // What a search is narrowed to is read by name: `.env`, `**/.env*`.
        for filter in self.tool.input_texts(FILTERS) {
            let name = filter.trim_start_matches("**/").trim_end_matches('*');
            if !name.is_empty() && !name.contains(['*', '{', '[']) {
                let top = paths.objects.first().map_or(".", |top| top);
                let path = format!("{top}/{name}");
                self.add(Action::Read, &path, Certainty::Possible);
            }
        }
        // Without a path the search starts where the agent is.
        if paths.objects.is_empty() {
            self.reach(Action::Read, ".", Extent::Tree, Certainty::Possible);
        }
    }

    fn addresses(&mut self, fetches: bool) {
        let mut known = false;
        let names = if fetches {
            ADDRESSES_IN_TEXT
        } else {
            ADDRESSES
        };
        for text in self.tool.input_texts(names) {
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
            (
                "mcp__fs__copy_file",
                r#"{"source":"a","destination":"b"}"#,
                &["Certain read /p/a/", "Certain write /p/b/"],
            ),
            (
                "str_replace_editor",
                r#"{"command":"view","path":"a"}"#,
                &["Certain read /p/a"],
            ),
            ("mcp__fs__list_directory", r#"{"path":"a"}"#, &[]),
            (
                "mcp__board__move_card",
                r#"{"from":"Doing","to":"Done"}"#,
                &[],
            ),
            ("mcp__mail__create_draft", r#"{"to":"a@b.org"}"#, &[]),
            ("TodoWrite", r#"{"todos":[]}"#, &[]),
            (
                "CronCreate",
                r#"{"prompt":"summarise https://example.com/issue/1"}"#,
                &[],
            ),
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

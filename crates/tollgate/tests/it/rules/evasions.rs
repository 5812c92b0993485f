//! Ways around a rule, and what only looks like one.

use serde_json::{Value, json};

use super::{command, ruled};
use crate::events::{Event as _, tool};
use crate::project::TestProject;

/// The rule that must block it, or `-`, and a command; between them lines of `%%`.
const COMMANDS: &str = include_str!("evasions.txt");

const RULES: &str = r#"
[[rule]]
id = "migrations"
deny = { write = ["db/migrations/**"], delete = ["db/migrations/**"] }

[[rule]]
id = "secrets"
deny = { read = [".env", ".env.*"] }

[[rule]]
id = "deploys"
deny = { run = ["terraform destroy", "dropdb"] }

[[rule]]
id = "pushes"
deny = { push = [{ branch = ["main"] }, { force = true }, { mirror = true }, { delete = true }] }
"#;

fn project() -> TestProject {
    let project = ruled(RULES);
    for name in ["db/migrations/001.sql", ".env", "src/a.rs", "README.md"] {
        project.file(name, "1\n");
    }
    project.git(&["switch", "-q", "-c", "work"]);
    project
}

/// Whether the rule of this name blocks the call, or none does if it is `-`.
fn is_right(project: &TestProject, event: &Value, rule: &str) -> Result<(), String> {
    let run = project.hook(event);
    let is_so = match rule {
        "-" => run.stdout.is_empty(),
        rule => run.stdout.contains(&format!("RULE:{rule}: ")),
    };
    if is_so {
        Ok(())
    } else {
        Err(format!("{rule}: {event}: {}", run.stdout))
    }
}

#[test]
fn commands_are_judged_by_what_they_do() {
    let project = project();
    let cases = COMMANDS
        .split("\n%%\n")
        .map(|case| case.trim_end_matches('\n'));
    let cases: Vec<_> = cases.filter_map(|case| case.split_once(' ')).collect();
    assert!(cases.len() > 250, "{}", cases.len());
    let wrong = cases
        .iter()
        .filter_map(|(rule, text)| is_right(&project, &command(text), rule).err());
    let wrong: Vec<_> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn tools_are_judged_by_the_files_that_their_inputs_name() {
    let project = project();
    let one = "db/migrations/001.sql";
    let patch = |text: &str| format!("*** Begin Patch\n{text}\n@@\n-1\n+2\n*** End Patch");
    let absolute = project.path(".env");
    let uri = format!("file://{}", absolute.display());
    let cases = [
        (
            "migrations",
            "Write",
            json!({ "file_path": "db/x/../migrations//1.sql", "content": "" }),
        ),
        (
            "migrations",
            "WRITE",
            json!({ "file_path": one, "content": "" }),
        ),
        (
            "migrations",
            "MultiEdit",
            json!({ "file_path": one, "edits": [] }),
        ),
        (
            "migrations",
            "NotebookEdit",
            json!({ "notebook_path": "db/migrations/a.ipynb" }),
        ),
        (
            "migrations",
            "mcp__fs__write_file",
            json!({ "path": one, "content": "" }),
        ),
        (
            "migrations",
            "mcp__fs__write_files",
            json!({ "files": [{ "path": one }] }),
        ),
        (
            "migrations",
            "mcp__fs__move_file",
            json!({ "source": one, "destination": "x" }),
        ),
        (
            "migrations",
            "mcp__fs__move_file",
            json!({ "source": "x", "destination": one }),
        ),
        (
            "migrations",
            "mcp__fs__write_file",
            json!({ "uri": format!("file://{}", project.path(one).display()), "content": "" }),
        ),
        (
            "migrations",
            "mcp__serena__replace_symbol_body",
            json!({ "relative_path": one, "body": "" }),
        ),
        (
            "migrations",
            "mcp__shell__execute_command",
            json!({ "command": format!("rm {one}") }),
        ),
        (
            "migrations",
            "apply_patch",
            json!({ "input": patch(&format!("*** Update File: {one}")) }),
        ),
        (
            "migrations",
            "apply_patch",
            json!({ "input": patch(&format!("*** Update File: src/a.rs\n*** Move to: {one}")) }),
        ),
        (
            "migrations",
            "shell",
            json!({ "command": ["bash", "-lc", format!("rm {one}")] }),
        ),
        ("secrets", "Read", json!({ "file_path": "src/../.env" })),
        (
            "secrets",
            "NotebookRead",
            json!({ "notebook_path": absolute }),
        ),
        (
            "secrets",
            "Grep",
            json!({ "pattern": "x", "path": absolute }),
        ),
        (
            "secrets",
            "Grep",
            json!({ "pattern": "x", "glob": "**/.env*" }),
        ),
        (
            "secrets",
            "mcp__fs__read_multiple_files",
            json!({ "paths": ["src/a.rs", ".env"] }),
        ),
        (
            "secrets",
            "ReadMcpResource",
            json!({ "server": "fs", "uri": uri }),
        ),
        ("secrets", "mcp__up__upload", json!({ "file_path": ".env" })),
        (
            "-",
            "Write",
            json!({ "file_path": "a.md", "content": format!("rm {one}; cat .env") }),
        ),
        (
            "-",
            "Edit",
            json!({ "file_path": "src/a.rs", "old_string": one, "new_string": ".env" }),
        ),
        ("-", "Grep", json!({ "pattern": one })),
        ("-", "Grep", json!({ "pattern": "x", "glob": "*.rs" })),
        ("-", "Read", json!({ "file_path": one })),
        (
            "-",
            "WebFetch",
            json!({ "url": "https://example.com/.env", "prompt": one }),
        ),
        (
            "-",
            "mcp__notes__add",
            json!({ "text": format!("cat .env; rm {one}") }),
        ),
        (
            "-",
            "TodoWrite",
            json!({ "todos": [{ "content": format!("rm {one}") }] }),
        ),
        (
            "-",
            "Task",
            json!({ "subagent_type": "x", "prompt": "terraform destroy" }),
        ),
    ];
    for (rule, name, input) in cases {
        let event = tool(name, &input).in_session("s");
        is_right(&project, &event, rule).unwrap();
    }
}

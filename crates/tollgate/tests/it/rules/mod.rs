//! Rules: what a team says that agents must not do, by effect.

#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod benign;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod decisions;
#[cfg(test)]
mod evasions;
#[cfg(test)]
mod examples;
#[cfg(test)]
mod language;
#[cfg(test)]
mod packs;
#[cfg(test)]
mod page;

use serde_json::{Value, json};

use crate::events::{Event as _, bash, tool};
use crate::project::{Run, TestProject};

/// The rule of the documentation.
const MIGRATIONS: &str = r#"
[[rule]]
id = "migrations"
deny = { write = ["db/migrations/**"], delete = ["db/migrations/**"] }
reason = "Applied migrations are history."
instead = "Add a new migration with `make migration`."
match = ["sed -i s/a/b/ db/migrations/001.sql", { edit = "db/migrations/001.sql" }]
not_match = ["cat db/migrations/001.sql"]
"#;

/// A project with these rules, in a repository on main.
fn ruled(rules: &str) -> TestProject {
    let project = TestProject::empty().on_branch("main").with_toml(rules);
    project.file("db/schema.sql", "");
    project
}

/// A command as Claude Code tells of it.
fn command(text: &str) -> Value {
    bash(text)
        .in_session("s")
        .with("permission_mode", "default")
}

fn edit(path: &str) -> Value {
    let input = json!({ "file_path": path, "old_string": "a", "new_string": "b" });
    tool("Edit", &input).in_session("s")
}

/// What the answer is: `deny`, `ask`, or nothing.
fn answer(run: &Run) -> Option<String> {
    if run.stdout.is_empty() {
        return None;
    }
    let decision = run.json()["hookSpecificOutput"]["permissionDecision"].clone();
    decision.as_str().map(str::to_owned)
}

/// The verdicts and codes in the journal.
fn journalled(project: &TestProject) -> Vec<(String, String)> {
    let text = |line: &Value, key: &str| line[key].as_str().unwrap_or_default().to_owned();
    let lines = project.journal();
    let lines = lines.iter().filter(|line| line["guard"] == "rules");
    lines
        .map(|line| (text(line, "verdict"), text(line, "code")))
        .collect()
}

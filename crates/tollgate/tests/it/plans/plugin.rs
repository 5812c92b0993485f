//! The plugin's texts name only what exists.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::fixture::{FIELDS, Fixture};

const ACTIONS: [&str; 17] = [
    "new-plan",
    "continue-plan",
    "plan-review",
    "post-plan-review",
    "create-tasks",
    "add-task",
    "tasks-review",
    "post-tasks-review",
    "next-task",
    "next-task-tdd",
    "continue-task",
    "code-review",
    "post-code-review",
    "all-code-review",
    "post-all-code-review",
    "complete-task",
    "complete-task-tdd",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin")
}

fn names(directory: &str) -> BTreeSet<String> {
    let entries = root().join(directory).read_dir().unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// Every text of the plugin with its name, and the documentation's.
fn texts() -> Vec<(String, String)> {
    let mut paths = vec![
        root().join("ground-rules.md"),
        root().join("../docs/plans.md"),
    ];
    for directory in ["actions", "commands", "codex"] {
        paths.extend(
            names(directory)
                .iter()
                .map(|name| root().join(directory).join(name)),
        );
    }
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|_| panic!("{path:?}"));
        (path.display().to_string(), text)
    };
    paths.into_iter().map(read).collect()
}

/// What stands between backquotes, line ends taken for blanks.
fn quoted(text: &str) -> Vec<String> {
    let mut fenced = false;
    let prose: Vec<&str> = text
        .lines()
        .filter(|line| {
            fenced ^= line.trim_start().starts_with("```");
            !fenced && !line.trim_start().starts_with("```")
        })
        .collect();
    let prose = prose.join(" ");
    let parts = prose.split('`').skip(1).step_by(2);
    parts
        .map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn every_action_has_its_command_and_its_text() {
    let files: BTreeSet<String> = ACTIONS.iter().map(|name| format!("{name}.md")).collect();
    assert_eq!(names("actions"), files);
    assert_eq!(names("commands"), files);
    for name in ACTIONS {
        let command = std::fs::read_to_string(root().join(format!("commands/{name}.md"))).unwrap();
        assert!(command.starts_with("---\ndescription: "), "{name}");
        assert!(
            command.contains(&format!("${{CLAUDE_PLUGIN_ROOT}}/actions/{name}.md`")),
            "{name}"
        );
        assert!(command.contains("$ARGUMENTS"), "{name}");
    }
    assert_eq!(names("codex").len(), 2);
}

#[test]
fn every_command_that_is_named_exists_with_its_arguments() {
    let fixture = Fixture::bare();
    let mut seen = BTreeSet::new();
    for (name, text) in texts() {
        for quote in quoted(&text) {
            let Some(command) = quote.strip_prefix("tollgate ") else {
                continue;
            };
            // What a person fills in becomes something that parses.
            let command = command
                .replace("begin ACTION", "begin complete-task")
                .replace("done ACTION", "done complete-task")
                .replace("how ACTION", "how complete-task")
                .replace("{action}", "complete-task")
                .replace(" N", " 3")
                .replace(['{', '}'], "");
            let mut args: Vec<&str> = command.split(' ').collect();
            let (main, rest) = args.split_first_mut().unwrap();
            if *main == "hook" {
                continue;
            }
            seen.insert(command.clone());
            let mut all = vec![*main];
            all.extend(rest.iter().copied());
            // Clap says 2 and "error: unrecognized" for what does not parse; a project without a
            // plan is another 2.
            let run = crate::project::run(fixture.project.command(&all), b"");
            let usage =
                run.stderr.contains("Usage:") || run.stderr.contains("For more information");
            assert!(!usage, "{name} names `tollgate {command}`: {}", run.stderr);
        }
    }
    assert!(seen.len() > 20, "{seen:?}");
}

#[test]
fn every_file_that_is_named_exists_or_is_a_plans() {
    for (name, text) in texts() {
        for quote in quoted(&text) {
            let path = quote.trim_start_matches('@');
            if let Some(inside) = path.strip_prefix("${CLAUDE_PLUGIN_ROOT}/") {
                let known = inside == "actions/{action}.md" || root().join(inside).is_file();
                assert!(known, "{name} names {quote}");
            } else if let Some(stem) = path
                .strip_suffix(".md")
                .filter(|stem| !stem.contains([' ', '/']))
            {
                // Held to the plan's own rules, with something in the blanks.
                let file = format!(
                    "{}.md",
                    stem.replace("{id}", "1")
                        .replace("{n}", "1")
                        .replace("{k}", "1")
                );
                let fixture = Fixture::new();
                fixture.file(&file, "x");
                let run = fixture.plan(&["validate"]);
                assert!(
                    !run.stdout.contains("Invalid filename"),
                    "{name} names {quote}"
                );
            }
        }
    }
}

#[test]
fn every_state_value_that_is_named_exists() {
    let rules = std::fs::read_to_string(root().join("ground-rules.md")).unwrap();
    for field in FIELDS {
        assert!(rules.contains(&format!("`{field}`")), "{field}");
    }
    let known: BTreeSet<&str> = FIELDS
        .into_iter()
        .chain(ACTIONS)
        .chain([
            "complete",
            "stop",
            "finish",
            "ask",
            "pending",
            "done",
            "cancelled",
            "postponed",
            "awaiting-review",
            "review-changes-requested",
            "completed",
            "opus",
            "sonnet",
        ])
        .collect();
    for (name, text) in texts() {
        for quote in quoted(&text) {
            let word = quote
                .chars()
                .all(|c| c.is_ascii_lowercase() || c == '-' || c == '_');
            let like_ours =
                quote.contains("review") || quote.contains("task") || quote.contains("plan");
            assert!(
                !(word && like_ours) || known.contains(quote.as_str()),
                "{name} names `{quote}`"
            );
        }
    }
}

#[test]
fn the_hook_is_registered_in_seconds() {
    let text = std::fs::read_to_string(root().join("hooks/hooks.json")).unwrap();
    let hooks: Value = serde_json::from_str(&text).unwrap();
    let hook = &hooks["hooks"]["Stop"][0]["hooks"][0];
    assert_eq!(
        (hook["command"].as_str(), hook["timeout"].as_u64()),
        (
            Some("command -v tollgate >/dev/null || exit 0; exec tollgate hook --require-trust"),
            Some(900)
        )
    );
    let text = std::fs::read_to_string(root().join(".claude-plugin/plugin.json")).unwrap();
    let manifest: Value = serde_json::from_str(&text).unwrap();
    // The block texts say /taskie:continue-plan.
    assert_eq!(manifest["name"], "taskie");
}

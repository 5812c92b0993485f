//! Tools of MCP servers, which are known only by their names, change files like any other tool.

use serde_json::{Value, json};

use crate::events::{Event as _, Protocol, tool};
use crate::project::TestProject;

fn project() -> TestProject {
    let project = TestProject::new();
    project.file(".isdlc/state.json", r#"{"state_version":1}"#);
    project.file(".tollgate/local/evidence/x", "");
    project.file("src/a.rs", "");
    project
}

fn blocked(project: &TestProject, name: &str, input: &Value) -> Option<String> {
    let run = project.hook(&tool(name, input).from(Protocol::ClaudeCode));
    assert_eq!(run.code, 0, "{run:?}");
    if run.stdout.is_empty() {
        return None;
    }
    let answer = run.json();
    let output = &answer["hookSpecificOutput"];
    assert_eq!(output["permissionDecision"], "deny", "{name} {answer:#}");
    Some(project.codes().pop().unwrap_or_default())
}

#[test]
fn they_leave_the_records_alone() {
    let kept = ".tollgate/local/evidence/x";
    for (name, input, code) in [
        (
            "mcp__fs__write_file",
            json!({ "path": kept, "content": "x" }),
            "SFG-003",
        ),
        (
            "mcp__serena__create_text_file",
            json!({ "relative_path": kept, "content": "x" }),
            "SFG-003",
        ),
        (
            "mcp__serena__replace_symbol_body",
            json!({ "relative_path": kept, "body": "x" }),
            "SFG-003",
        ),
        (
            "mcp__fs__move_file",
            json!({ "source": "a", "destination": kept }),
            "SFG-003",
        ),
        (
            "mcp__fs__copy_file",
            json!({ "source": "a", "destination": kept }),
            "SFG-003",
        ),
        ("mcp__fs__delete_file", json!({ "path": kept }), "SFG-003"),
        (
            "mcp__fs__delete_directory",
            json!({ "path": ".tollgate" }),
            "SFG-003",
        ),
        (
            "mcp__fs__moveFile",
            json!({ "from": ".tollgate/local", "to": "/tmp/x" }),
            "SFG-003",
        ),
        (
            "mcp__fs__delete_file",
            json!({ "uri": "file://.isdlc/state.json" }),
            "SFG-001",
        ),
        (
            "mcp__fs__delete_files",
            json!({ "paths": ["a", ".isdlc"] }),
            "SFG-001",
        ),
    ] {
        let found = blocked(&project(), name, &input);
        assert_eq!(found.as_deref(), Some(code), "{name} {input}");
    }
}

#[test]
fn what_they_read_or_write_elsewhere_is_fine() {
    let kept = ".tollgate/local/evidence/x";
    for (name, input) in [
        ("mcp__fs__read_file", json!({ "path": kept })),
        (
            "mcp__fs__copy_file",
            json!({ "source": kept, "destination": "b" }),
        ),
        (
            "mcp__fs__copy_file",
            json!({ "source": "src/a.rs", "destination": "." }),
        ),
        (
            "mcp__fs__list_directory",
            json!({ "path": ".tollgate/local" }),
        ),
        (
            "str_replace_editor",
            json!({ "command": "view", "path": kept }),
        ),
        ("mcp__fs__delete_file", json!({ "path": "src/a.rs" })),
        (
            "mcp__board__move_card",
            json!({ "from": "Doing", "to": "Done" }),
        ),
    ] {
        assert_eq!(blocked(&project(), name, &input), None, "{name} {input}");
    }
}

#[test]
fn the_order_of_the_phases_binds_them() {
    let project = TestProject::empty().with_repository();
    project.file("tollgate.toml", "[gates.test]\nrun = \"true\"\n");
    project.file("src/a.rs", "");
    project.commit("first");
    project.must(&["workflow", "start", "feature", "x"]);
    project.must(&["phase", "begin"]);
    for (name, input) in [
        (
            "mcp__fs__move_file",
            json!({ "source": "src/a.rs", "destination": "docs/a.rs" }),
        ),
        (
            "mcp__serena__replace_symbol_body",
            json!({ "relative_path": "src/a.rs", "body": "x" }),
        ),
    ] {
        let found = blocked(&project, name, &input);
        assert_eq!(found.as_deref(), Some("PW-001"), "{name} {input}");
    }
    let input = json!({ "path": "docs/a.md", "content": "x" });
    assert_eq!(blocked(&project, "mcp__fs__write_file", &input), None);
}

//! Facts 1.20.

use serde_json::{Value, json};

use crate::project::TestProject;

const NAME: &str = "explore-readonly-enforcer";
const BLOCKED: &str =
    "CHAT/EXPLORE READ-ONLY: File writes are not permitted during Chat/Explore mode.";

fn exploring(value: &Value) -> TestProject {
    TestProject::new().state(&json!({ "chat_explore_active": value }))
}

fn write(tool: &str, path: &str) -> Value {
    let key = if tool == "NotebookEdit" {
        "notebook_path"
    } else {
        "file_path"
    };
    json!({ "tool_name": tool, "tool_input": { key: path, "content": "x", "old_string": "a", "new_string": "b" } })
}

#[test]
fn files_do_not_change_while_exploring() {
    let project = exploring(&json!(true));
    for tool in ["Write", "Edit", "NotebookEdit"] {
        let reason = project
            .guard(NAME, &write(tool, "src/main.rs"))
            .blocks(BLOCKED);
        assert!(reason.ends_with("Blocked file: src/main.rs"), "{reason}");
    }
    assert_eq!(project.codes(), ["ERE-001"; 3]);
    let absolute = project.path("docs/a.md");
    project
        .guard(NAME, &write("Write", absolute.to_str().unwrap()))
        .blocks(BLOCKED);
    let patch = json!({ "tool_name": "apply_patch", "tool_input": { "input": "*** Begin Patch\n*** Add File: src/new.rs\n+x\n*** End Patch" } });
    project.guard(NAME, &patch).blocks(BLOCKED);
}

#[test]
fn otherwise_they_do() {
    for value in [json!(false), json!(null), json!(0), json!("")] {
        exploring(&value)
            .guard(NAME, &write("Write", "src/main.rs"))
            .says_nothing();
    }
    TestProject::new()
        .guard(NAME, &write("Write", "src/main.rs"))
        .says_nothing();
    let read = json!({ "tool_name": "Read", "tool_input": { "file_path": "src/main.rs" } });
    exploring(&json!(true)).guard(NAME, &read).says_nothing();
}

#[test]
fn temporary_files_and_the_state_are_free() {
    let project = exploring(&json!(true));
    for path in [
        "/tmp/notes.md",
        "/var/tmp/notes.md",
        "/var/folders/x/notes.md",
        "tmp/notes.md",
        "/srv/temp/x",
        ".isdlc/state.json",
        ".isdlc/./state.json",
    ] {
        project.guard(NAME, &write("Write", path)).says_nothing();
    }
}

/// R33: a path is resolved before it is compared: `//` and `..` change nothing.
#[test]
fn r33_a_detour_does_not_make_a_file_temporary() {
    // The project of this test lies in a temporary directory itself.
    let project = exploring(&json!(true));
    let root = project.root().display();
    for path in [
        format!("{root}/tmp/../src/main.rs"),
        format!("{root}/src/main.rs"),
        format!("{root}//a.rs"),
        "tmpfile.rs".into(),
        "/etc/motd".into(),
    ] {
        project.guard(NAME, &write("Write", &path)).blocks(BLOCKED);
    }
    std::fs::create_dir(project.path("src")).unwrap();
    std::os::unix::fs::symlink(project.path("src"), project.path("tmp")).unwrap();
    project
        .guard(NAME, &write("Write", "tmp/main.rs"))
        .blocks(BLOCKED);
}

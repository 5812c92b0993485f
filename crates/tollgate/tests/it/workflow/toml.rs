//! Workflows in `tollgate.toml`: what a phase writes, and what it needs to be completed.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::events::{Event as _, bash, task, write};
use crate::project::{TestProject, put};

const TOML: &str = r#"
[gates]
base = "main"
[gates.test]
run = "test -f ok"

[workflow.change]
label = "Small change"
branch = false
phases = [
    { name = "plan", writes = ["docs/**", "/*.md"] },
    { name = "implement", needs = ["gates", "docs/plan.md"] },
]
"#;

/// A project whose workflow `change` was started.
fn started(toml: &str) -> TestProject {
    let project = TestProject::empty().with_repository();
    project.file("tollgate.toml", toml);
    project.file("src/lib.rs", "");
    project.commit("first");
    project.must(&["workflow", "start", "change", "a change"]);
    project.must(&["phase", "begin"]);
    project
}

#[test]
fn a_phase_changes_only_what_it_writes() {
    let project = started(TOML);
    std::fs::create_dir_all(project.path("docs")).unwrap();
    std::os::unix::fs::symlink("../src", project.path("docs/link")).unwrap();
    project
        .hook(&write("docs/link/lib.rs", "x"))
        .blocks("Phase 'plan' may not change src/lib.rs");
    let blocked = [
        write(project.path("src/lib.rs"), "x"),
        write("src/new.rs", "x"),
        write("src/README.md", "x"),
        bash("echo x > src/lib.rs"),
        bash("sed -i s/a/b/ src/lib.rs"),
        bash("cd src && rm *"),
        bash("cp docs/a.md src/a.md"),
        bash("git rm src/lib.rs"),
        bash("python3 -c \"open('src/lib.rs','w').write('x')\""),
        bash("python3 - <<'P'\nfrom pathlib import Path\nPath('src/lib.rs').write_text('x')\nP"),
        bash("node -e \"require('fs').writeFileSync('src/lib.rs','')\""),
    ];
    for event in blocked {
        let reason = project
            .hook(&event)
            .blocks("Phase 'plan' may not change src");
        assert!(reason.contains("it writes only docs/**, /*.md"), "{reason}");
    }
    let allowed = [
        write(project.path("docs/deep/a.md"), "x"),
        write("README.md", "x"),
        write("/tmp/elsewhere.rs", "x"),
        write(".tollgate/plans/a/plan.md", "x"),
        bash("cat src/lib.rs > /dev/null"),
        bash("grep -r fn src > docs/functions.md"),
        bash("make"),
    ];
    for event in allowed {
        project.hook(&event).allows();
    }
    assert_eq!(project.codes(), ["PW-001"; 12]);
    project
        .must(&["explain"])
        .says("block  phase-writes  PW-001");
}

/// The tools of each agent that change a file: writes, edits, patches, and its shell.
const TOOLS: [(&str, &str, &str, &[&str]); 5] = [
    (
        "claude",
        "PreToolUse",
        "Bash",
        &["Write", "Edit", "NotebookEdit"],
    ),
    ("codex", "PreToolUse", "Bash", &["apply_patch"]),
    (
        "gemini",
        "BeforeTool",
        "run_shell_command",
        &["write_file", "replace"],
    ),
    ("copilot", "PreToolUse", "bash", &["create", "edit"]),
    ("cursor", "preToolUse", "Shell", &["Write"]),
];

/// An event of an agent's tool that changes a file.
fn change(project: &TestProject, event: &str, tool: &str, path: &str) -> Value {
    let patch = format!("*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch\n");
    let input = match tool {
        "apply_patch" => json!({ "command": patch }),
        "NotebookEdit" => json!({ "notebook_path": path, "new_source": "x" }),
        "Edit" | "replace" => json!({ "file_path": path, "old_string": "a", "new_string": "b" }),
        "create" => json!({ "path": path, "file_text": "x" }),
        "edit" => json!({ "path": path, "old_str": "a", "new_str": "b" }),
        "Write" | "write_file" => json!({ "file_path": path, "content": "x" }),
        _ => json!({ "command": format!("cp docs/a.md {path}") }),
    };
    json!({ "hook_event_name": event, "session_id": "s", "conversation_id": "c", "cursor_version": "1",
        "workspace_roots": [project.root()], "cwd": project.root(), "tool_name": tool, "tool_input": input })
}

/// Whatever the agent, and in a workflow that nobody configured.
#[test]
fn the_phases_of_a_built_in_workflow_bind_every_agent() {
    let project = TestProject::empty().with_repository();
    project.file("tollgate.toml", "[gates]\nbase = \"main\"\n");
    project.file("src/lib.rs", "a\n");
    project.file("docs/a.md", "a\n");
    project.commit("first");
    project
        .must(&["workflow", "start", "feature", "Gift cards", "--no-branch"])
        .says("requirements → design → implementation → review");
    let ask = |(agent, event, shell, tools): (&str, &str, &str, &[&str]), path: &str| {
        let mut answers = Vec::new();
        for tool in tools.iter().chain([&shell]) {
            let sent = change(&project, event, tool, path).to_string();
            let run = project.run(&["hook", "--protocol", agent], sent.as_bytes());
            answers.push((format!("{agent} {tool} {path}"), run));
        }
        answers
    };
    for row in TOOLS {
        for (what, run) in ask(row, "src/lib.rs") {
            let said = format!("{}{}", run.stdout, run.stderr);
            assert!(
                said.contains("may not change src/lib.rs"),
                "{what}: {run:?}"
            );
            assert!(said.contains("tollgate phase complete"), "{what}: {run:?}");
        }
        for (what, run) in ask(row, "docs/b.md") {
            let said = format!("{}{}", run.stdout, run.stderr);
            assert!(!said.contains("may not change"), "{what}: {run:?}");
        }
    }
    // A sub-agent of any name may work in a phase.
    for agent in [
        "software-developer",
        "general-purpose",
        "requirements-analyst",
    ] {
        let event = task(agent, "Work on the design and the implementation").in_session("s");
        project.hook(&event).allows();
    }
    let out_of_order = task("general-purpose", "Phase key: implementation\n").in_session("s");
    assert!(
        project
            .hook(&out_of_order)
            .denies()
            .contains("requirements")
    );
    // In the third phase everything may be written.
    for document in ["requirements.md", "design.md"] {
        let path = format!("docs/requirements/REQ-0001-gift-cards/{document}");
        project.file(&path, "# Written\n");
        project.must(&["phase", "complete", "--summary", "written"]);
        project
            .must(&["phase", "begin"])
            .says("next: tollgate phase brief");
    }
    for (what, run) in TOOLS.into_iter().flat_map(|row| ask(row, "src/lib.rs")) {
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(!said.contains("may not change"), "{what}: {run:?}");
    }
    insta::assert_snapshot!(project.must(&["phase", "brief"]).stdout);
}

#[test]
fn the_next_phase_has_its_own_rule() {
    let project = started(TOML);
    project.must(&["phase", "complete", "--summary", "planned"]);
    project.must(&["phase", "begin"]);
    project.hook(&write("src/lib.rs", "x")).allows();
}

#[test]
fn a_phase_is_completed_when_it_has_what_it_needs() {
    let project = started(TOML);
    project.must(&["phase", "complete", "--summary", "planned"]);
    project.must(&["phase", "begin"]);
    let complete = ["phase", "complete", "--summary", "implemented"];
    let refused = project.tollgate(&complete).exits(1);
    refused
        .says("phase 'implement' is not done")
        .says("gates are not verified")
        .says("docs/plan.md does not exist");
    project.file("docs/plan.md", "# Plan\n");
    project.file("ok", "");
    project.tollgate(&complete).exits(1).says("tollgate run");
    project.must(&["run"]);
    project.must(&complete);
}

#[test]
fn while_the_file_is_broken_the_last_good_rule_holds() {
    let project = started(TOML);
    project.file("ok", "");
    project.must(&["run"]);
    project.file("tollgate.toml", "[workflow.change\n");
    let reason = project
        .hook(&write("src/lib.rs", "x"))
        .blocks("Phase 'plan'");
    assert!(reason.contains("docs/**"), "{reason}");
}

/// The one compiled file of the person who works on this project.
fn compiled(project: &TestProject) -> PathBuf {
    let directory = project.home().join(".local/state/tollgate/compiled");
    let names = std::fs::read_dir(directory).unwrap();
    let files = names.map(|name| name.unwrap().path());
    let mut files = files.filter(|file| file.extension().is_some_and(|end| end == "json"));
    let file = files.next().unwrap();
    assert!(files.next().is_none());
    file
}

#[test]
fn an_event_after_an_edit_sees_the_new_definition() {
    let project = started(TOML);
    let source = write("src/lib.rs", "x");
    project.hook(&source).blocks("Phase 'plan'");
    let file = compiled(&project);
    let mode = file.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o600);
    // Of the same length: no stamp of the file need tell them apart.
    project.file("tollgate.toml", TOML.replace("docs/**", "src*/*"));
    project.hook(&source).allows();
    project.file("tollgate.local.toml", TOML);
    project.hook(&source).blocks("Phase 'plan'");
    std::fs::remove_file(project.path("tollgate.local.toml")).unwrap();
    project.file("tollgate.toml", "[gates]\nbase = \"main\"\n");
    project.hook(&source).allows();
    project.hook(&source).allows();
    assert_eq!(compiled(&project), file);
}

#[test]
fn a_compiled_file_is_used_and_one_that_does_not_fit_is_replaced() {
    let project = started(TOML);
    let source = write("src/lib.rs", "x");
    project.hook(&source).blocks("Phase 'plan'");
    let file = compiled(&project);
    let good = std::fs::read_to_string(&file).unwrap();
    // That it is read shows in what it says.
    let other = good.replace("docs/**", "src/**");
    put(&file, &other);
    project.hook(&source).allows();
    let (sources, _) = good.split_once(',').unwrap();
    let foreign = other.replace(sources, r#"{"sources":"0123456789abcdef""#);
    let torn = other.strip_suffix("}}").unwrap();
    let large = format!("{}{}", other, " ".repeat(5 << 20));
    for text in [&foreign, torn, &large, "", "[]", "\0\0\0\0"] {
        put(&file, text);
        project.hook(&source).blocks("Phase 'plan'");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), good);
    }
    // A link is none of ours.
    let elsewhere = put(&project.outside().join("elsewhere.json"), &other);
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(elsewhere, &file).unwrap();
    project.hook(&source).blocks("Phase 'plan'");
}

#[test]
fn what_cannot_be_kept_is_compiled_at_each_event() {
    let project = started(TOML);
    let state = project.home().join(".local/state/tollgate");
    // A file in its place can be written by nobody, not even by root.
    put(&state.join("compiled"), "");
    for _ in 0..2 {
        project
            .hook(&write("src/lib.rs", "x"))
            .blocks("Phase 'plan'");
        project.hook(&write("docs/plan.md", "x")).allows();
    }
    assert_eq!(project.codes(), ["PW-001"; 2]);
}

/// A project's settings for its agent can set the environment.
#[test]
fn what_a_repository_brings_as_compiled_is_not_believed() {
    let project = started(TOML);
    let source = write("src/lib.rs", "x");
    project.hook(&source).blocks("Phase 'plan'");
    let file = compiled(&project);
    let text = std::fs::read_to_string(&file).unwrap();
    let name = file.file_name().unwrap().to_str().unwrap();
    let inside = format!("state/tollgate/compiled/{name}");
    project.file(&inside, text.replace("docs/**", "src/**"));
    let place = project.path("state").to_str().unwrap().to_owned();
    let project = project.env("XDG_STATE_HOME", &place);
    project.hook(&source).blocks("Phase 'plan'");
}

#[test]
fn workflows_with_two_homes_are_an_error_that_names_both() {
    let project = started(TOML);
    let own = r#"{"workflows":{"other":{"phases":["01-requirements"]}}}"#;
    project.file(".tollgate/workflow/config/workflows.json", own);
    // An agent cannot lift a rule by making the other one.
    let without = r#"{"workflows":{"change":{"phases":["plan","implement"]}}}"#;
    project.file(".tollgate/workflow/config/workflows.json", without);
    project
        .hook(&write("src/lib.rs", "x"))
        .blocks("Phase 'plan'");
    project
        .tollgate(&["workflow", "status"])
        .exits(2)
        .says("workflow/config/workflows.json")
        .says("tollgate.toml");
}

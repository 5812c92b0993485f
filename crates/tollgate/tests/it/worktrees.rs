//! Linked work trees are under the configuration and the workflow of their repository; a nested
//! `tollgate.toml` belongs to its directory.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::events::{Event as _, named, task};
use crate::project::{Run, TestProject, git, put, run, running};

const CONFIG: &str = "[gates]\nbase = \"main\"\n\n[gates.here]\nrun = \"test -f only-here\"\n";

/// A project, and where a linked work tree of it is.
struct Linked {
    project: TestProject,
    tree: PathBuf,
}

impl Linked {
    /// With a commit of what `prepare` made, and what it makes later uncommitted.
    fn of(committed: &[(&str, &str)], later: &[(&str, &str)]) -> Self {
        let project = TestProject::empty().with_repository();
        for (path, text) in committed {
            project.file(path, text);
        }
        project.commit("work");
        for (path, text) in later {
            project.file(path, text);
        }
        let tree = project.home().join("tree");
        let place = tree.display().to_string();
        git(
            project.root(),
            &["worktree", "add", "-q", &place, "-b", "other"],
        );
        put(&tree.join("only-here"), "");
        Self { project, tree }
    }

    fn tollgate(&self, args: &[&str], stdin: &str) -> Run {
        within(&self.project, &self.tree, args, stdin)
    }
}

fn within(project: &TestProject, directory: &Path, args: &[&str], stdin: &str) -> Run {
    let mut command = project.command(args);
    command.current_dir(directory);
    run(command, stdin.as_bytes())
}

fn names(list: &Value) -> Vec<&str> {
    let checks = list["checks"].as_array().into_iter().flatten();
    checks.filter_map(|check| check["name"].as_str()).collect()
}

#[test]
fn a_linked_work_tree_without_a_configuration_is_under_that_of_the_main_one() {
    let linked = Linked::of(&[("a", "a")], &[("tollgate.toml", CONFIG)]);
    let list = linked.tollgate(&["list", "--json"], "").json();
    assert_eq!(names(&list), ["here"]);
    // Twice: what the first run leaves there is no configuration.
    for _ in 0..2 {
        let ran = linked.tollgate(&["run"], "");
        assert_eq!(ran.code, 0, "the gates run in the linked one: {ran:?}");
        put(&linked.tree.join("a"), "b");
    }
    assert_eq!(linked.project.tollgate(&["run"]).code, 1, "not here");
    let status = linked.tollgate(&["status"], "");
    assert!(
        status
            .stdout
            .contains("config     · of the main work tree: /"),
        "{status:?}"
    );
    let json = linked.tollgate(&["status", "--json"], "").json();
    assert_eq!(json["ruled_by"].as_array().unwrap().len(), 1, "{json}");
}

#[test]
fn a_linked_work_tree_with_a_configuration_is_under_its_own() {
    let linked = Linked::of(&[("tollgate.toml", CONFIG)], &[]);
    let changed = CONFIG.replace("here]", "mine]");
    put(&linked.tree.join("tollgate.toml"), changed);
    let list = linked.tollgate(&["list", "--json"], "").json();
    assert_eq!(names(&list), ["mine"]);
    let list = linked.project.must(&["list", "--json"]).json();
    assert_eq!(names(&list), ["here"]);
    let json = linked.tollgate(&["status", "--json"], "").json();
    assert_eq!(json["ruled_by"], json!([]));
}

#[test]
fn a_linked_work_tree_is_under_the_workflow_of_the_main_one() {
    let state = running("03-architecture", "in_progress").to_string();
    for later in [&[("tollgate.toml", CONFIG)] as &[_], &[]] {
        let committed: &[_] = if later.is_empty() {
            &[("tollgate.toml", CONFIG)]
        } else {
            &[("a", "a")]
        };
        let linked = Linked::of(committed, later);
        let file = linked.project.file(".tollgate/workflow/state.json", &state);
        let event = task("software-developer", "Phase key: 06-implementation").to_string();
        for _ in 0..2 {
            linked
                .tollgate(&["hook"], &event)
                .blocks("This delegates to");
            let here = linked.project.run(&["hook"], event.as_bytes());
            here.blocks("This delegates to");
        }
        assert_eq!(
            std::fs::read_to_string(&file).unwrap(),
            state,
            "nothing was undone"
        );
        assert!(!linked.tree.join(".tollgate/workflow").exists());
        let status = linked.tollgate(&["status"], "");
        assert!(
            status.stdout.contains("workflow of the main work tree: /"),
            "{status:?}"
        );
        // A state of its own goes first.
        put(&linked.tree.join(".tollgate/workflow/state.json"), "{}");
        linked.tollgate(&["hook"], &event).says_nothing();
    }
}

/// Whichever work tree a change of the state is found in.
#[test]
fn the_history_of_a_state_is_in_one_journal() {
    let mut state = running("03-architecture", "in_progress");
    state["state_version"] = json!(1);
    let linked = Linked::of(&[("tollgate.toml", CONFIG)], &[]);
    let home = ".tollgate/workflow/state.json";
    linked.project.file(home, state.to_string());
    let event = |name: &str| named(name).in_session("s").in_directory(&linked.tree);
    let hook = |event: Value| linked.tollgate(&["hook"], &event.to_string());
    hook(event("SessionStart").with("source", "startup"));
    state["state_version"] = json!(2);
    state["notes"] = json!("mine");
    linked.project.file(home, state.to_string());
    let tool = json!({ "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_response": { "stdout": "" } });
    hook(event("PostToolUse").with_all(&tool));
    assert_eq!(linked.project.codes(), ["SW-002"]);
    assert!(!linked.tree.join(".tollgate/local/journal.jsonl").exists());
    for seen in [
        linked.tollgate(&["state", "log"], ""),
        linked.project.must(&["state", "log"]),
    ] {
        assert!(seen.stdout.contains("notes"), "{seen:?}");
    }
}

#[test]
fn the_state_of_the_main_work_tree_is_guarded_from_a_linked_one() {
    let state = running("03-architecture", "in_progress").to_string();
    let linked = Linked::of(&[("tollgate.toml", CONFIG)], &[]);
    let file = linked.project.file(".tollgate/workflow/state.json", &state);
    let local = linked.project.path(".tollgate/local");
    for path in [file, local] {
        let event = crate::events::bash(&format!("rm -rf {}", path.display())).to_string();
        linked.tollgate(&["hook"], &event).blocks("");
    }
}

/// Whoever unpacks an archive with such a file is not under somebody's configuration by that.
#[test]
fn a_git_file_that_the_repository_does_not_know_leads_nowhere() {
    let linked = Linked::of(&[("a", "a")], &[("tollgate.toml", CONFIG)]);
    let other = linked.project.home().join("unpacked");
    let pointer = std::fs::read_to_string(linked.tree.join(".git")).unwrap();
    put(&other.join(".git"), pointer);
    let list = within(&linked.project, &other, &["list", "--json"], "");
    assert_eq!(list.code, 2, "{list:?}");
    assert!(list.stderr.contains("not found at"), "{list:?}");
}

#[test]
fn a_nested_configuration_belongs_to_its_directory() {
    let project = TestProject::empty().with_repository();
    project.file("tollgate.toml", CONFIG);
    let nested = CONFIG.replace("here]", "nested]");
    project.file("apps/web/tollgate.toml", nested);
    project.file("apps/web/src/a", "");
    project.commit("work");
    for (directory, expected) in [
        ("apps/web/src", "nested"),
        ("apps/web", "nested"),
        ("apps", "here"),
        (".", "here"),
    ] {
        let list = within(&project, &project.path(directory), &["list", "--json"], "");
        assert_eq!(names(&list.json()), [expected], "{directory}");
    }
    let status = within(
        &project,
        &project.path("apps/web/src"),
        &["status", "--json"],
        "",
    );
    let said = status.json()["ruled_by"].to_string();
    assert!(said.contains("the nearest tollgate.toml, not /"), "{said}");
    let status = project.must(&["status", "--json"]).json();
    assert_eq!(status["ruled_by"], json!([]));
}

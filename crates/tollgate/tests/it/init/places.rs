//! Repositories in every condition, and what is there already.

use serde_json::json;

use super::Repository;
use crate::project::{TestProject, git};

#[test]
fn outside_of_a_repository_it_says_what_to_do() {
    let project = TestProject::empty();
    let run = project.run(&["init", "--yes"], b"");
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("not in a git repository"), "{run:?}");
    assert!(run.stderr.contains("run `git init`"), "{run:?}");
    assert_eq!(project.root().read_dir().unwrap().count(), 0);
}

#[test]
fn a_repository_without_a_commit_and_without_a_file_works() {
    let repository = Repository::empty();
    repository.init(&[]);
    assert_eq!(repository.tollgate(&["validate"]).code, 0);
    let run = repository.tollgate(&["run"]);
    assert_eq!(run.code, 0, "{run:?}");
    // And goes on working when there are commits.
    repository.commit("work");
    repository.git(&["switch", "-q", "-c", "work"]);
    repository.file("a.txt", "a");
    let run = repository.tollgate(&["run"]);
    assert_eq!(run.code, 0, "{run:?}");
}

/// P37: `init` assumed `origin/main`, left its logs to git, wrote invalid YAML and needed a
/// terminal.
#[test]
fn p37_the_base_is_the_branch_that_there_is() {
    let base = |repository: &Repository| repository.proposal()["base_branch"].clone();
    let repository = Repository::with(&[]);
    assert_eq!(base(&repository), "main");
    repository.git(&["switch", "-q", "-c", "work"]);
    assert_eq!(base(&repository), "main");
    repository
        .project
        .git(&["branch", "-q", "-m", "main", "master"]);
    assert_eq!(base(&repository), "master");
    repository.git(&["branch", "-q", "-D", "master"]);
    assert_eq!(base(&repository), "work", "nothing else is there");
    let clone = Repository::empty();
    clone.git(&[
        "remote",
        "add",
        "origin",
        repository.root().to_str().unwrap(),
    ]);
    repository.git(&["switch", "-q", "-c", "main"]);
    clone.git(&["fetch", "-q", "origin"]);
    assert_eq!(base(&clone), "origin/main");
    clone.git(&["remote", "set-head", "origin", "work"]);
    assert_eq!(base(&clone), "origin/work", "the remote's own word");
}

#[test]
fn a_subdirectory_belongs_to_the_repository_around_it() {
    let repository = Repository::with(&[("src/deep/a.txt", "a"), ("go.mod", "module x\n")]);
    let inside = repository.path("src/deep");
    let run = repository.run_in(&inside, &["init", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(repository.path("tollgate.toml").is_file());
    assert!(!inside.join("tollgate.toml").exists());
    assert!(!inside.join(".tollgate").exists());
}

#[test]
fn a_home_above_the_repository_is_another_projects() {
    let outer = TestProject::empty();
    outer.file(".tollgate/config.yml", "entry_points: []\n");
    let inner = outer.path("inner");
    std::fs::create_dir(&inner).unwrap();
    git(&inner, &["init", "-q", "-b", "main"]);
    let mut command = outer.command(&["init", "--yes"]);
    command.current_dir(&inner);
    let run = crate::project::run(command, b"");
    assert_eq!(run.code, 0, "{run:?}");
    assert!(inner.join("tollgate.toml").is_file());
    assert_eq!(outer.read(".tollgate/config.yml"), "entry_points: []\n");
}

#[test]
fn existing_homes_are_used_as_they_are() {
    let repository = Repository::with(&[
        ("go.mod", "module x\n"),
        (".isdlc/state.json", "{}"),
        (".gauntlet/config.yml", "entry_points:\n  - path: src\n"),
        (".taskie/plans/a/plan.md", "# A\n"),
    ]);
    let before = repository.files();
    let run = repository.init(&["--workflow", "--plans"]);
    for line in [
        "gates      .gauntlet/config.yml is used as it is",
        "workflow   .isdlc is used as it is",
        "plans      .taskie is used as it is",
        "Everything is set up; nothing was written",
    ] {
        assert!(run.stdout.contains(line), "{line}: {run:?}");
    }
    assert_eq!(repository.files(), before);
    assert_eq!(repository.tollgate(&["validate"]).code, 0);
}

#[test]
fn what_is_missing_beside_an_existing_home_is_added() {
    let repository = Repository::with(&[("go.mod", "module x\n"), (".isdlc/state.json", "{}")]);
    let run = repository.tool("go").init(&["--workflow"]);
    assert!(
        run.stdout.contains("workflow   .isdlc is used as it is"),
        "{run:?}"
    );
    let config = repository.read("tollgate.toml");
    assert!(!config.contains("[workflow"), "{config}");
    assert!(
        config.contains("\".isdlc/**\"]"),
        "a change of the state is no work: {config}"
    );
    assert_eq!(repository.tollgate(&["run"]).code, 0);
}

#[test]
fn agents_and_reviewers_are_found() {
    let repository = Repository::with(&[("CLAUDE.md", ""), (".gemini/settings.json", "{}")]);
    repository.tool("codex");
    let proposal = repository.proposal();
    assert_eq!(
        proposal["agents"],
        json!(["claude-code", "codex", "gemini"])
    );
    assert_eq!(proposal["reviewers"], json!(["codex"]));
    let text = proposal["files"][0]["text"].as_str().unwrap();
    assert!(text.contains("reviewers = [\"codex\"]"), "{text}");
    assert!(text.contains("[gates.review]"), "{text}");
}

#[test]
fn a_review_is_proposed_where_somebody_can_make_it_and_works() {
    let repository = Repository::with(&[("a.txt", "a\n")]);
    let answer = json!({
        "type": "result", "subtype": "success", "is_error": false, "session_id": "s",
        "structured_output": { "status": "pass", "message": null, "violations": [] },
    });
    let script = format!("#!/bin/sh\ncat > /dev/null\ncat <<'END'\n{answer}\nEND\n");
    repository.program("claude", &script);
    repository.init(&["--plans"]);
    assert_eq!(repository.tollgate(&["validate"]).code, 0);
    repository.file("a.txt", "b\n");
    let run = repository.tollgate(&["run"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("pass  review by claude@1"), "{run:?}");
    let config = repository.read("tollgate.toml");
    assert!(
        config.contains("[plans]\nreviewer = \"claude\"\n"),
        "{config}"
    );
}

#[test]
fn the_proposed_workflow_can_be_started() {
    let repository = Repository::with(&[("a.txt", "a")]);
    repository.init(&["--workflow"]);
    repository.commit("work");
    let run = repository.tollgate(&["workflow", "start", "change", "Greet people"]);
    assert_eq!(run.code, 0, "{run:?}");
    for part in ["change/REQ-0001-greet-people", "plan → implement → review"] {
        assert!(run.stdout.contains(part), "{part}: {run:?}");
    }
}

#[test]
fn the_files_of_version_0_1_are_named_with_the_way_to_migrate() {
    let repository = Repository::with(&[
        ("go.mod", "module x\n"),
        (".tollgate/config.yml", "entry_points:\n  - path: \".\"\n"),
        (".tollgate/plans.json", "{}"),
    ]);
    let before = repository.files();
    let run = repository.init(&[]);
    for part in [
        "gates      .tollgate/config.yml is used as it is",
        "plans      .tollgate/plans.json is used as it is",
        "`tollgate init --migrate`",
    ] {
        assert!(run.stdout.contains(part), "{part}: {run:?}");
    }
    assert_eq!(repository.files(), before);
}

#[test]
fn the_next_command_is_said_until_the_agents_know_of_it() {
    let repository = Repository::with(&[("CLAUDE.md", "")]);
    let run = repository.init(&[]);
    assert!(
        run.stdout
            .contains("tollgate install  # register Tollgate with Claude Code"),
        "{run:?}"
    );
    assert!(!repository.path(".claude").exists(), "not by itself");
    let installed = repository.tollgate(&["install", "--yes"]);
    assert_eq!(installed.code, 0, "{installed:?}");
    let run = repository.init(&[]);
    assert!(!run.stdout.contains("tollgate install"), "{run:?}");
    // There is no gate to run.
    let next = "tollgate config set gates.test.run \"make test\"  # add a gate";
    assert!(run.stdout.contains(next), "{run:?}");
    assert!(!run.stdout.contains("tollgate run"), "{run:?}");
    assert!(!run.stdout.contains("Everything is set up"), "{run:?}");
}

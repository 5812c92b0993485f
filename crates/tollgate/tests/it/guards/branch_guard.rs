//! branch-guard: what counts as a commit on a closed branch, beside the corpora of command lines.

use serde_json::json;

use crate::events::{bash, tool};
use crate::project::{TestProject, with_branch};

const NAME: &str = "branch-guard";
const BLOCKED: &str = "COMMIT TO MAIN BLOCKED";
const COMMIT: &str = "git commit -m x";

fn project() -> TestProject {
    let project = TestProject::bare().state(&with_branch("active"));
    let project = project.on_branch("main");
    project.git(&["branch", "feature/x"]);
    project
}

#[test]
fn a_tool_of_an_mcp_server_that_commits_is_a_commit() {
    let project = project();
    let root = project.root().to_str().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let outside = outside.path().to_str().unwrap();
    for name in ["mcp__git__git_commit", "git_commit", "mcp__Git__git_commit"] {
        let commit = |input| project.guard(NAME, &tool(name, &input));
        commit(json!({ "repo_path": root, "message": "x" })).blocks(BLOCKED);
        commit(json!({ "message": "x" })).blocks(BLOCKED);
        commit(json!({ "repo_path": outside, "message": "x" })).allows();
    }
    let both = |action: &str| {
        let input = json!({ "directory": root, "action": action });
        project.guard(NAME, &tool("mcp__gitkraken__git_add_or_commit", &input))
    };
    both("commit").blocks(BLOCKED);
    both("add").allows();
    let status = tool("mcp__git__git_status", &json!({ "repo_path": root }));
    project.guard(NAME, &status).allows();
    project.git(&["switch", "-q", "feature/x"]);
    let commit = tool("mcp__git__git_commit", &json!({ "repo_path": root }));
    project.guard(NAME, &commit).allows();
}

#[test]
fn a_branch_that_is_a_name_of_main_is_main() {
    let project = project();
    project.git(&["symbolic-ref", "refs/heads/two", "refs/heads/main"]);
    project.git(&["symbolic-ref", "refs/heads/one", "refs/heads/two"]);
    project.git(&["symbolic-ref", "refs/heads/work", "refs/heads/feature/x"]);
    let guard = |command: &str| project.guard(NAME, &bash(command));
    guard("git switch work && git commit -m x").allows();
    project.git(&["switch", "-q", "feature/x"]);
    guard("git switch one && git commit -m x").blocks(BLOCKED);
    guard(COMMIT).allows();
    project.git(&["symbolic-ref", "HEAD", "refs/heads/one"]);
    guard(COMMIT).blocks(BLOCKED);
    project.git(&["symbolic-ref", "HEAD", "refs/heads/work"]);
    guard(COMMIT).allows();
}

#[test]
fn a_head_that_is_a_symbolic_link_is_followed() {
    let project = project();
    let head = project.path(".git/HEAD");
    for (branch, is_blocked) in [("main", true), ("feature/x", false)] {
        std::fs::remove_file(&head).unwrap();
        std::os::unix::fs::symlink(format!("refs/heads/{branch}"), &head).unwrap();
        let found = project.guard(NAME, &bash(COMMIT));
        if is_blocked {
            found.blocks(BLOCKED);
        } else {
            found.allows();
        }
    }
}

#[test]
fn the_branch_that_the_work_was_begun_from_is_closed_like_main() {
    let mut state = with_branch("active");
    state["active_workflow"]["git_branch"]["created_from"] = json!("develop");
    let project = TestProject::bare().state(&state).on_branch("develop");
    for branch in ["feature/x", "topic"] {
        project.git(&["branch", branch]);
    }
    let reason = project.guard(NAME, &bash(COMMIT)).blocks(BLOCKED);
    assert!(reason.contains("commit to 'develop'"), "{reason}");
    for branch in ["feature/x", "topic"] {
        let command = format!("git switch {branch} && {COMMIT}");
        project.guard(NAME, &bash(&command)).allows();
    }
    // A branch that is said to be made from itself is the workflow's own.
    let mut state = with_branch("active");
    state["active_workflow"]["git_branch"]["created_from"] = json!("feature/x");
    let project = TestProject::bare().state(&state).on_branch("feature/x");
    project.guard(NAME, &bash(COMMIT)).allows();
}

#[test]
fn what_an_alias_stands_for_may_be_asked() {
    let project = project();
    project.git(&["config", "alias.ci", "!git commit -m x; :"]);
    project.guard(NAME, &bash("git ci --help")).allows();
    project.guard(NAME, &bash("git ci")).blocks(BLOCKED);
}

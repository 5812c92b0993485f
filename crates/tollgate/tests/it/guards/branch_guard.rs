//! branch-guard: what counts as a commit on a closed branch, beside the corpora of command lines.

use serde_json::json;

use crate::events::{bash, tool};
use crate::project::{TestProject, put, with_branch};

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

/// A project whose workflow's branch has two commits and was left for main.
fn worked() -> TestProject {
    let mut state = with_branch("active");
    state["active_workflow"]["git_branch"]["created_from"] = json!("main");
    let project = TestProject::bare().state(&state).on_branch("feature/x");
    for name in ["a", "b"] {
        project.file(name, name);
        project.git(&["add", name]);
        project.git(&["commit", "-q", "-m", name]);
    }
    project.git(&["switch", "-q", "main"]);
    project
}

/// Somebody else's commit on main, as a pull brings it.
fn others_work(project: &TestProject) {
    project.file("other", "other");
    project.git(&["add", "other"]);
    project.git(&["commit", "-q", "-m", "other"]);
}

/// A server's ways to merge a pull request. What it does elsewhere arrives with a pull; here it is
/// done by commands that do not name the branch.
fn merge_like_a_server(project: &TestProject, how: &str) {
    let tip = project.git(&["rev-parse", "feature/x"]);
    match how {
        "merge" => {
            project.git(&[
                "merge",
                "-q",
                "--no-ff",
                "-m",
                "Merge pull request #1",
                &tip,
            ]);
        }
        "squash" => {
            project.git(&["merge", "-q", "--squash", &tip]);
            project.git(&["commit", "-q", "-m", "All of it (#1)"]);
        }
        "rebase" => {
            project.git(&["cherry-pick", &format!("main..{tip}")]);
        }
        other => panic!("{other}"),
    }
}

#[test]
fn a_branch_merged_by_a_pull_request_and_deleted_opens_main_with_a_warning() {
    for how in ["merge", "squash", "rebase"] {
        for moved_on in [false, true] {
            let project = worked();
            if moved_on {
                others_work(&project);
            }
            merge_like_a_server(&project, how);
            project.guard(NAME, &bash(COMMIT)).blocks(BLOCKED);
            project.git(&["branch", "-q", "-D", "feature/x"]);
            let said = project
                .guard(NAME, &bash(COMMIT))
                .warns("[branch-guard] WARNING: a workflow still runs");
            assert!(said.contains("'feature/x' was merged"), "{how}: {said}");
            assert!(said.contains("`tollgate workflow finalize`"), "{said}");
            assert_eq!(project.codes(), ["BG-001", "BG-003"]);
            // Later work on main takes nothing of it back.
            project.file("later", "later");
            project.git(&["add", "later"]);
            project.git(&["commit", "-q", "-m", "later"]);
            project.hook(&bash(COMMIT)).warns("[branch-guard] WARNING");
        }
    }
}

#[test]
fn a_branch_that_is_gone_and_not_merged_keeps_main_closed_and_says_how_a_person_ends_it() {
    let ends = "a person ends it in a terminal: `tollgate workflow finalize`, or `tollgate \
                workflow cancel";
    let closed = |project: &TestProject| {
        let reason = project.guard(NAME, &bash(COMMIT)).blocks(BLOCKED);
        assert!(reason.contains(ends), "{reason}");
    };
    let deleted = |project: &TestProject| project.git(&["branch", "-q", "-D", "feature/x"]);
    // Thrown away.
    let project = worked();
    deleted(&project);
    closed(&project);
    // Only a part of it was taken over.
    let project = worked();
    project.git(&["cherry-pick", "feature/x~1"]);
    deleted(&project);
    closed(&project);
    // Merged, and then worked on.
    let project = worked();
    project.git(&["merge", "-q", "--no-ff", "--no-edit", "feature/x"]);
    project.git(&["switch", "-q", "feature/x"]);
    project.file("late", "late");
    project.git(&["add", "late"]);
    project.git(&["commit", "-q", "-m", "late"]);
    project.git(&["switch", "-q", "main"]);
    deleted(&project);
    closed(&project);
    // Deleted as it was made.
    let project = TestProject::bare()
        .state(&with_branch("active"))
        .on_branch("feature/x");
    project.git(&["switch", "-q", "main"]);
    deleted(&project);
    closed(&project);
    // Never there.
    let project = TestProject::bare()
        .state(&with_branch("active"))
        .on_branch("main");
    closed(&project);
}

#[test]
fn a_branch_merged_in_a_linked_worktree_is_seen_there() {
    let project = worked();
    project.git(&["worktree", "add", "-q", "../there", "feature/x"]);
    let there = project.path("../there");
    put(&there.join("c"), "c");
    crate::project::git(&there, &["add", "c"]);
    crate::project::git(&there, &["commit", "-q", "-m", "c"]);
    crate::project::git(&there, &["switch", "-q", "--detach"]);
    merge_like_a_server(&project, "squash");
    project.git(&["branch", "-q", "-D", "feature/x"]);
    project.guard(NAME, &bash(COMMIT)).warns("[branch-guard]");
}

/// 000 §6.2: any other status than `active` does not block, in a state that came so.
#[test]
fn a_status_other_than_active_allows_with_a_warning() {
    for status in ["merged", "abandoned", "kept", "open", "none"] {
        let project = TestProject::bare()
            .state(&with_branch(status))
            .on_branch("main");
        let said = project.guard(NAME, &bash(COMMIT)).warns("[branch-guard]");
        assert!(
            said.contains(&format!("is '{status}', not 'active'")),
            "{said}"
        );
        project.git(&["switch", "-q", "-c", "feature/x"]);
        project.guard(NAME, &bash(COMMIT)).says_nothing();
    }
    for status in ["active", "Active", " ACTIVE "] {
        let project = TestProject::bare()
            .state(&with_branch(status))
            .on_branch("main");
        project.guard(NAME, &bash(COMMIT)).blocks(BLOCKED);
    }
}

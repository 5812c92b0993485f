//! §13.2, 14 cases, in real repositories.

use serde_json::json;

use crate::events::{bash, task};
use crate::project::{TestProject, git, with_branch};

const NAME: &str = "branch-guard";
const MESSAGE: &str = "COMMIT TO MAIN BLOCKED: You are attempting to commit to 'main' while an active workflow has a feature branch 'feature/x'.";

fn on(branch: &str) -> TestProject {
    TestProject::new()
        .state(&with_branch("active"))
        .on_branch(branch)
}

/// Case 1: a commit on main while the workflow has its own branch is blocked.
#[test]
fn t01_blocks_a_commit_on_main() {
    let project = on("main");
    let reason = project
        .guard(NAME, &bash("git commit -m 'x'"))
        .blocks(MESSAGE);
    assert!(reason.contains("1. Switch to the feature branch: git checkout feature/x"));
    assert!(
        reason.contains("Current branch:  main\nExpected branch: feature/x"),
        "{reason}"
    );
    assert_eq!(project.codes(), ["BG-001"]);
}

/// Case 2: a commit on master is blocked, too.
#[test]
fn t02_blocks_a_commit_on_master() {
    let project = on("main");
    project.git(&["branch", "-m", "main", "master"]);
    project
        .guard(NAME, &bash("git commit -m x"))
        .blocks("COMMIT TO MAIN BLOCKED: You are attempting to commit to 'master'");
}

/// Case 3: commits in chains and `--amend` are blocked, too.
#[test]
fn t03_blocks_chained_and_amended_commits() {
    for command in [
        "git add . && git commit -m \"msg\"",
        "git commit --amend --no-edit",
    ] {
        on("main").guard(NAME, &bash(command)).blocks(MESSAGE);
    }
}

#[test]
fn a_commit_behind_a_text_that_ends_in_a_backslash_is_seen() {
    let project = on("main");
    for script in ["$a\\", "1i\\", "c\\", "$a\\\\\\", "a\\\nx\\"] {
        let command = format!("sed -i '{script}' README.md; git commit -am x");
        project.guard(NAME, &bash(&command)).blocks(MESSAGE);
    }
}

/// Case 4: a commit on the workflow's branch is allowed.
#[test]
fn t04_allows_on_the_feature_branch() {
    on("feature/x")
        .guard(NAME, &bash("git commit -m x"))
        .says_nothing();
}

/// Case 5: other git commands are allowed.
#[test]
fn t05_allows_other_git_commands() {
    let project = on("main");
    for command in [
        "git push",
        "git status",
        "git log",
        "git commit-tree HEAD^{tree} -m x",
        "ls",
    ] {
        project.guard(NAME, &bash(command)).says_nothing();
    }
}

/// Case 6: tools other than Bash are allowed.
#[test]
fn t06_allows_other_tools() {
    on("main")
        .guard(NAME, &task("software-developer", "git commit"))
        .says_nothing();
}

/// Case 7: without a workflow everything is allowed.
#[test]
fn t07_allows_without_a_workflow() {
    let project = TestProject::new()
        .state(&json!({ "active_workflow": null }))
        .on_branch("main");
    project.guard(NAME, &bash("git commit -m x")).says_nothing();
}

/// Case 8: a workflow without a branch is allowed to commit anywhere.
#[test]
fn t08_allows_a_workflow_without_a_branch() {
    let project = TestProject::new()
        .state(&json!({ "active_workflow": {} }))
        .on_branch("main");
    project.guard(NAME, &bash("git commit -m x")).says_nothing();
}

/// Case 9: after the branch is merged or abandoned commits on main are allowed.
#[test]
fn t09_allows_when_the_branch_is_merged_or_abandoned() {
    for status in ["merged", "abandoned"] {
        let project = TestProject::new()
            .state(&with_branch(status))
            .on_branch("main");
        project
            .guard(NAME, &bash("git commit -m x"))
            .warns("[branch-guard] WARNING: a workflow still runs");
    }
}

/// Case 10: where there is no repository everything is allowed.
#[test]
fn t10_allows_where_there_is_no_repository() {
    let project = TestProject::new().state(&with_branch("active"));
    project.guard(NAME, &bash("git commit -m x")).says_nothing();
}

/// Case 11: on a detached HEAD everything is allowed.
#[test]
fn t11_allows_a_detached_head() {
    let project = on("main");
    project.git(&["checkout", "-q", "--detach"]);
    project.guard(NAME, &bash("git commit -m x")).says_nothing();
}

/// Case 12: empty input is allowed.
#[test]
fn t12_allows_on_empty_input() {
    on("main").run(&["hook", "--guard", NAME], b"").allows();
}

/// Case 13: input that is no JSON is allowed.
#[test]
fn t13_allows_on_input_that_is_no_json() {
    on("main")
        .run(&["hook", "--guard", NAME], b"git commit")
        .allows();
}

/// Case 14: without a state everything is allowed.
#[test]
fn t14_allows_without_a_state() {
    TestProject::new()
        .on_branch("main")
        .guard(NAME, &bash("git commit -m x"))
        .says_nothing();
}

#[test]
fn a_branch_without_a_name_is_called_feature_branch() {
    let state = json!({ "active_workflow": { "git_branch": { "status": "active" } } });
    let project = TestProject::new().state(&state).on_branch("main");
    project.guard(NAME, &bash("git commit")).blocks(
        "COMMIT TO MAIN BLOCKED: You are attempting to commit to 'main' while an active workflow has a feature branch 'feature branch'.",
    );
}

#[test]
fn the_branch_is_read_in_subdirectories_worktrees_and_unborn_repositories() {
    let project = on("main");
    std::fs::create_dir_all(project.path("src/deep")).unwrap();
    let mut event = bash("git commit -m x");
    event["cwd"] = json!(project.path("src/deep"));
    project.guard(NAME, &event).blocks(MESSAGE);

    let worktree = project.path("wt");
    project.git(&["worktree", "add", "-q", "wt", "-b", "other"]);
    event["cwd"] = json!(worktree);
    project.guard(NAME, &event).says_nothing();
    git(&worktree, &["checkout", "-q", "-b", "third"]);
    project.guard(NAME, &event).says_nothing();

    let unborn = TestProject::new().state(&with_branch("active"));
    unborn.git(&["init", "-q", "-b", "main"]);
    unborn.guard(NAME, &bash("git commit -m x")).blocks(MESSAGE);

    let packed = on("main");
    packed.git(&["pack-refs", "--all"]);
    packed.guard(NAME, &bash("git commit -m x")).blocks(MESSAGE);
}

/// R4: commits on the workflow's own branch before the last phase are refused only where a project
/// asks for it.
#[test]
fn r4_every_phase_commits_on_the_workflow_branch_unless_the_project_says_otherwise() {
    let mut state = with_branch("active");
    state["active_workflow"]["phases"] = json!(["06-implementation", "08-code-review"]);
    state["active_workflow"]["current_phase"] = json!("06-implementation");
    for config in [
        None,
        Some(json!({ "workflows": {} })),
        Some(json!({ "commit_in_last_phase_only": false, "workflows": {} })),
    ] {
        let project = TestProject::new().state(&state).on_branch("feature/x");
        if let Some(config) = config {
            project.file(".isdlc/config/workflows.json", config.to_string());
        }
        project.hook(&bash("git commit -m x")).says_nothing();
        project.guard(NAME, &bash("git commit -m x")).says_nothing();
        assert_eq!(project.codes(), Vec::<String>::new());
    }
}

/// R4: commits on the workflow's own branch before the last phase are refused only where a project
/// asks for it.
#[test]
fn r4_intermediate_phases_do_not_commit_on_the_workflow_branch_if_the_project_says_so() {
    let project = TestProject::committing_late("06-implementation", "feature/x");
    let reason = project.guard(NAME, &bash("git commit -m x")).blocks(
        "COMMIT BLOCKED (Phase: 06-implementation): Commits are not allowed on the workflow branch during intermediate phases.",
    );
    assert!(reason.contains("git stash"), "{reason}");
    assert_eq!(project.codes(), ["BG-002"]);

    for branch in ["feature/x", "elsewhere"] {
        TestProject::committing_late("08-code-review", branch)
            .guard(NAME, &bash("git commit -m x"))
            .says_nothing();
    }
}

/// E5: a command in the name of the branch was executed.
#[test]
fn e5_a_branch_name_is_never_run() {
    for name in [
        "x; touch PWN",
        "$(touch PWN)",
        "--upload-pack=touch PWN",
        "../../x",
    ] {
        let state =
            json!({ "active_workflow": { "git_branch": { "name": name, "status": "active" } } });
        let project = TestProject::new().state(&state).on_branch("main");
        project
            .guard(NAME, &bash("git commit -m x"))
            .blocks("COMMIT TO MAIN BLOCKED");
        assert!(!project.path("PWN").exists());
    }
}

/// E7: an unknown branch switched the guard off, and an unknown status did without a word.
#[test]
fn e7_an_unknown_branch_keeps_guarding_and_an_unknown_status_is_said() {
    let project = on("main");
    let reason = project
        .guard(NAME, &bash("git commit -m x"))
        .blocks(MESSAGE);
    assert!(reason.contains("feature/x' does not exist"), "{reason}");

    let project = TestProject::new()
        .state(&with_branch("Active"))
        .on_branch("main");
    project
        .guard(NAME, &bash("git commit -m x"))
        .blocks(MESSAGE);
    let project = TestProject::new()
        .state(&with_branch("open"))
        .on_branch("main");
    let said = project
        .guard(NAME, &bash("git commit -m x"))
        .warns("[branch-guard] WARNING");
    assert!(said.contains("'open'"), "{said}");
}

/// BUG-0015: commits on main stayed blocked after the branch was merged and deleted.
#[test]
fn bug_0015_a_merged_and_deleted_branch_no_longer_guards_main() {
    let project = on("feature/x");
    project.file("a", "a");
    project.git(&["add", "a"]);
    project.git(&["commit", "-q", "-m", "a"]);
    project.git(&["checkout", "-q", "main"]);
    project.git(&["merge", "-q", "--no-ff", "--no-edit", "feature/x"]);
    project.git(&["branch", "-q", "-d", "feature/x"]);
    project
        .guard(NAME, &bash("git commit -m x"))
        .warns("[branch-guard] WARNING: a workflow still runs");
}

#[test]
fn a_command_that_starts_outside_the_project_is_followed_into_it() {
    let project = on("main");
    let outside = tempfile::tempdir().unwrap();
    let other = outside.path().join("other");
    std::fs::create_dir(&other).unwrap();
    git(&other, &["init", "-q", "-b", "main"]);
    let root = project.root().display();
    for start in [outside.path(), &other] {
        for command in [
            format!("git -C {root} commit -m x"),
            format!("cd {root} && git commit -m x"),
            format!("(cd {root}; git commit -m x)"),
            format!("git --git-dir={root}/.git --work-tree={root} commit -m x"),
            format!("GIT_DIR={root}/.git git commit -m x"),
        ] {
            let mut event = bash(&command);
            event["cwd"] = json!(start);
            project.guard(NAME, &event).blocks(MESSAGE);
        }
        for command in [
            "git commit -m x",
            "git init -q new && cd new && git commit -m x",
        ] {
            let mut event = bash(command);
            event["cwd"] = json!(start);
            project.guard(NAME, &event).says_nothing();
        }
    }
}

#[test]
fn another_repository_is_not_ours_to_guard() {
    let project = on("main");
    let other = TestProject::empty().on_branch("main");
    let command = format!("git -C {} commit -m x", other.root().display());
    project.guard(NAME, &bash(&command)).says_nothing();
    let command = format!("cd {} && git commit -m x", other.root().display());
    project.guard(NAME, &bash(&command)).says_nothing();
}

#[test]
fn the_branch_counts_at_the_moment_of_the_commit() {
    let project = on("main");
    project.git(&["branch", "topic"]);
    for allowed in [
        "git checkout -b new && git commit -m x",
        "git switch topic && git commit -m x",
        "git checkout topic; git commit -m x",
    ] {
        project.guard(NAME, &bash(allowed)).says_nothing();
    }
    project
        .guard(NAME, &bash("git checkout nowhere; git commit -m x"))
        .blocks(MESSAGE);
    project.git(&["checkout", "-q", "topic"]);
    project
        .guard(NAME, &bash("git checkout main && git commit -m x"))
        .blocks(MESSAGE);
}

/// E5: a command in the name of the branch was executed.
#[test]
fn e5_a_branch_name_is_no_command_for_the_agent_either() {
    let branch = json!({ "name": "x; touch 'it'", "status": "active" });
    let state = json!({ "active_workflow": { "git_branch": branch } });
    let project = TestProject::new().state(&state).on_branch("main");
    let told = project.guard(NAME, &bash("git commit -m x"));
    let told = told.blocks("COMMIT TO MAIN BLOCKED");
    let command = r"git checkout 'x; touch '\''it'\'''";
    assert!(told.contains(command), "{told}");
}

//! Defects of the original that are told nowhere else by their name; facts §5.1, §5.2 and §6.
//! Which test keeps which defect away is in [`table`].

mod commands;
mod table;

use serde_json::{Value, json};

use crate::events::{self, Event as _, bash, task};
use crate::project::{Run, TestProject, running, with_branch};
use crate::workflow::bench::write_documents;

/// A new project in a repository, with a home of its own.
fn new_project() -> TestProject {
    let project = TestProject::empty().on_branch("main");
    std::fs::create_dir(project.path(".tollgate")).unwrap();
    project
}

fn command(project: &TestProject, args: &[&str]) -> Run {
    project.run(args, b"")
}

#[track_caller]
fn works(project: &TestProject, args: &[&str]) {
    let run = command(project, args);
    assert_eq!(run.code, 0, "{args:?} {run:?}");
}

fn state(project: &TestProject) -> Value {
    serde_json::from_str(&project.read(".tollgate/workflow/state.json")).unwrap()
}

/// F4: `git commit` was searched for as letters: text was blocked, `git -C d commit` was not.
#[test]
fn f4_commits_are_recognised_by_what_runs_not_by_letters() {
    let project = TestProject::new()
        .state(&with_branch("active"))
        .on_branch("main");
    for blocked in [
        "git -C . commit -m x",
        "git -c a.b=c commit -m x",
        "git \\\n commit",
    ] {
        project.hook(&bash(blocked)).blocks("COMMIT TO MAIN");
    }
    for allowed in [
        "echo \"git commit\"",
        "grep 'git commit' README.md",
        "git commit --dry-run",
        "git commit-tree HEAD^{tree} -m x",
        "git commit-graph write",
    ] {
        project.hook(&bash(allowed)).says_nothing();
    }
}

/// BUG-0009: an agent's old copy of the state turned the workflow back.
#[test]
fn bug_0009_an_agent_that_holds_an_old_copy_does_not_turn_back_the_workflow() {
    let project = TestProject::new()
        .state(&json!({ "state_version": 9, "active_workflow": { "current_phase_index": 4 } }));
    let stale = json!({ "state_version": 7, "active_workflow": { "current_phase_index": 2 } });
    let event = events::write(project.path(".isdlc/state.json"), &stale.to_string());
    project.hook(&event).blocks("Version mismatch");
}

/// BUG-0010: a finished workflow left tasks that looked alive.
#[test]
fn bug_0010_a_finished_workflow_leaves_nothing_behind_that_looks_alive() {
    let project = new_project();
    works(
        &project,
        &["workflow", "start", "fix", "Basket loses items"],
    );
    for _ in 0..3 {
        works(&project, &["phase", "begin"]);
        write_documents(&project);
        works(&project, &["phase", "complete", "--summary", "done"]);
    }
    works(&project, &["workflow", "finalize"]);
    let state = state(&project);
    assert_eq!(state["active_workflow"], Value::Null);
    assert_eq!(state["current_phase"], Value::Null);
    assert_eq!(state["active_agent"], Value::Null);
    assert_eq!(state["phases"], json!({}));
    assert_eq!(state["workflow_history"][0]["status"], "completed");
}

/// BUG-0012: commits were possible in the middle of a workflow, before its review.
#[test]
fn bug_0012_nobody_commits_in_the_middle_of_a_workflow() {
    let project = TestProject::committing_late("06-implementation", "feature/x");
    project
        .hook(&bash("git commit -m x"))
        .blocks("COMMIT BLOCKED (Phase: 06-implementation)");
}

/// BUG-0013: helpers of the current phase were blocked.
#[test]
fn bug_0013_helpers_of_the_current_phase_are_let_through() {
    let project = TestProject::new().state(&running("02-tracing", "in_progress"));
    // Their phase is that of the agent who asks them, even before its status was written.
    let unwritten = TestProject::new().state(&running("02-tracing", "pending"));
    for helper in [
        "symptom-analyzer",
        "execution-path-tracer",
        "root-cause-identifier",
    ] {
        let mut event = task(helper, "trace it");
        project.hook(&event).says_nothing();
        event["agent_id"] = json!("a1");
        project.hook(&event).says_nothing();
        unwritten.hook(&event).says_nothing();
    }
}

/// BUG-0014: the first phases wrote to main, because the branch was made after them.
#[test]
fn bug_0014_the_branch_is_there_before_the_first_phase_writes() {
    let project = new_project();
    works(
        &project,
        &["workflow", "start", "feature", "Pay by invoice"],
    );
    assert_eq!(
        project.git(&["branch", "--show-current"]),
        "feature/REQ-0001-pay-by-invoice"
    );
    assert_eq!(
        state(&project)["active_workflow"]["git_branch"]["status"],
        "active"
    );
}

/// A project in its first phase whose tests are recorded like this.
fn tested(record: &Value) -> TestProject {
    let project = new_project();
    project.file(
        ".tollgate/workflow/config/iteration-requirements.json",
        r#"{"phase_requirements":{"diagnosis":{"test_iteration":{"enabled":true}}}}"#,
    );
    works(
        &project,
        &["workflow", "start", "fix", "More tests", "--no-branch"],
    );
    let mut state = state(&project);
    state["phases"]["diagnosis"]["iteration_requirements"] = json!({ "test_iteration": record });
    project.file(".tollgate/workflow/state.json", state.to_string());
    project
}

/// BUG-0022: a review passed with a broken build.
#[test]
fn bug_0022_a_phase_does_not_pass_with_a_broken_build() {
    let project = tested(
        &json!({ "completed": false, "last_test_result": "failed", "current_iteration": 2 }),
    );
    let run = command(&project, &["phase", "complete", "--summary", "looks fine"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!((run.stdout + &run.stderr).contains("FAILED"));
}

/// BUG-0051: phases were left out of a workflow by a silent default.
#[test]
fn bug_0051_nothing_is_left_out_of_a_workflow_unasked() {
    let project = new_project();
    works(&project, &["workflow", "start", "feature", "Sized"]);
    let to_analysis = |last: &[&str]| {
        for _ in 0..2 {
            write_documents(&project);
            works(&project, &["phase", "complete", "--summary", "done"]);
            works(&project, &["phase", "begin"]);
        }
        write_documents(&project);
        works(&project, last);
    };
    let before = state(&project)["active_workflow"]["phases"].clone();
    to_analysis(&["phase", "complete", "--summary", "done"]);
    assert_eq!(state(&project)["active_workflow"]["phases"], before);
}

/// BUG-0057: gates believed what the agent said of itself.
#[test]
fn bug_0057_saying_completed_is_no_evidence() {
    let project = tested(&json!({ "completed": true }));
    let run = command(&project, &["phase", "complete", "--summary", "trust me"]);
    assert_eq!(run.code, 1, "{run:?}");
    let project =
        tested(&json!({ "completed": true, "current_iteration": 1, "last_test_result": "passed" }));
    write_documents(&project);
    works(
        &project,
        &["phase", "complete", "--summary", "three tests pass"],
    );
}

/// A Write of the whole state by a real agent.
fn write(project: &TestProject, content: &Value) -> Run {
    let path = project.path(".isdlc/state.json");
    project.hook(&events::write(path, &content.to_string()).in_session("s"))
}

/// BUG-0002, BUG-0003: workflows were numbered from a model's memory.
#[test]
fn bug_0002_bug_0003_the_next_workflow_has_the_next_number() {
    let project = new_project();
    for number in ["REQ-0001", "REQ-0002"] {
        works(&project, &["workflow", "start", "feature", "Numbered"]);
        let folder = state(&project)["active_workflow"]["artifact_folder"].to_string();
        assert!(folder.contains(number), "{folder}");
        project.gives_up(&["workflow", "cancel", "--reason", "another way"]);
        assert_eq!(state(&project)["active_workflow"], Value::Null);
        works(&project, &["workflow", "audit"]);
    }
}

/// BUG-0011: a sub-agent overwrote the phase index and the statuses.
#[test]
fn bug_0011_a_subagent_does_not_overwrite_index_or_status() {
    let disk = json!({ "state_version": 9, "active_workflow": {
        "current_phase_index": 4, "phase_status": { "05-test-strategy": "completed" } } });
    for (pointer, back) in [
        ("/active_workflow/current_phase_index", json!(3)),
        (
            "/active_workflow/phase_status/05-test-strategy",
            json!("in_progress"),
        ),
    ] {
        let project = TestProject::new().state(&disk);
        let mut stale = disk.clone();
        *stale.pointer_mut(pointer).unwrap() = back;
        assert!(
            write(&project, &stale).denies().contains("regression"),
            "{pointer}"
        );
        write(&project, &disk).allows();
    }
}

/// BUG-0028, GH-64: a blocked commit was executed in part.
#[test]
fn bug_0028_gh_64_a_blocked_commit_is_not_executed_in_part() {
    let project = TestProject::new()
        .state(&with_branch("active"))
        .on_branch("main");
    let whole = "touch made && git add -A && git commit -m x; echo done";
    let event = bash(whole).in_session("s").in_directory(project.root());
    // The one answer denies the call as a whole; nothing in it asks to run a rest.
    let run = project.hook(&event);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny");
    assert_eq!(answer["hookSpecificOutput"].get("updatedInput"), None);
}

/// BUG-0029: a command of several lines escaped the patterns.
#[test]
fn bug_0029_a_command_of_several_lines_is_read_as_a_whole() {
    let project = TestProject::new()
        .state(&with_branch("active"))
        .on_branch("main");
    for command in [
        "cd src\nls\ngit commit -m x",
        "if true; then\n  git commit -m x\nfi",
        "for f in a b; do\n  echo $f\ndone\ngit \\\n  commit -F - <<'EOT'\nmessage\nEOT",
    ] {
        project.hook(&bash(command)).blocks("COMMIT TO MAIN");
    }
    project
        .hook(&bash("cat <<'EOT'\ngit commit -m x\nEOT"))
        .says_nothing();
}

/// GH-39: the state carried finished workflows and their phases along.
#[test]
fn gh_39_a_finished_workflow_is_archived_and_its_phases_are_not_carried_over() {
    let project = new_project();
    for finished in 1..=3 {
        works(&project, &["workflow", "start", "feature", "Archived"]);
        project.gives_up(&["workflow", "cancel", "--reason", "enough"]);
        let state = state(&project);
        assert_eq!(state["phases"], json!({}), "{state:#}");
        let archive = project.read(".tollgate/workflow/state-archive.json");
        assert_eq!(archive.matches("\"enough\"").count(), finished, "{archive}");
    }
}

/// INV-0055, GH-55: the two records of a phase diverged unseen, and a redo was refused.
#[test]
fn inv_0055_gh_55_both_records_of_a_phase_are_guarded_and_a_redo_is_let_through() {
    let disk = json!({
        "state_version": 9,
        "active_workflow": { "current_phase": "06-implementation", "current_phase_index": 1,
            "phase_status": { "06-implementation": "completed" },
            "supervised_review": { "status": "gate_presented", "phase": "06-implementation", "redo_count": 0 } },
        "phases": { "06-implementation": { "status": "completed" } },
    });
    let mut back = disk.clone();
    back["phases"]["06-implementation"]["status"] = json!("pending");
    let project = TestProject::new().state(&disk);
    assert!(
        write(&project, &back)
            .denies()
            .starts_with("Phase status regression: phases['06-implementation'].status")
    );
    let mut redo = disk.clone();
    redo["phases"]["06-implementation"]["status"] = json!("in_progress");
    redo["active_workflow"]["phase_status"]["06-implementation"] = json!("in_progress");
    redo["active_workflow"]["supervised_review"] =
        json!({ "status": "redo_pending", "phase": "06-implementation", "redo_count": 1 });
    write(&project, &redo).allows();
    // The reviewer must have been asked: an agent does not grant itself a redo.
    let mut unasked = disk;
    unasked["active_workflow"]["supervised_review"] = Value::Null;
    let project = TestProject::new().state(&unasked);
    write(&project, &redo).denies();
}

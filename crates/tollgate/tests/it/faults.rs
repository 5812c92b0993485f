//! Rows of the fault study that are told nowhere else: what broke the originals.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::events::{Event as _, bash, task, write};
use crate::project::{TestProject, git, run, running, with_branch};

/// E3: a stale write of the state was accepted, because it was judged after it had happened.
#[test]
fn e3_a_stale_write_of_a_real_agent_is_denied_before_it_lands() {
    let disk = json!({ "state_version": 41, "active_workflow": { "current_phase_index": 5 } });
    let incoming = json!({ "state_version": 3, "active_workflow": { "current_phase_index": 1 } });
    let project = TestProject::new().state(&disk);
    let event = write(project.path(".isdlc/state.json"), &incoming.to_string()).in_session("s");
    assert!(
        project
            .hook(&event)
            .denies()
            .starts_with("Version mismatch")
    );
}

/// E4: agents forged evidence, versions and rollbacks in the state, or wrote it under another path.
#[test]
fn e4_a_workflow_that_is_thrown_away_is_denied() {
    let disk = json!({ "state_version": 41, "active_workflow": { "current_phase_index": 5 } });
    let project = TestProject::new().state(&disk);
    let content = json!({ "state_version": 1_000_000_000, "active_workflow": null }).to_string();
    let event = write(".isdlc/./state.json", &content)
        .in_session("s")
        .in_directory(project.root());
    assert!(
        project
            .hook(&event)
            .denies()
            .starts_with("Workflow removed")
    );
}

/// E18: a token in a blocked command was written to a log that everybody may read.
#[test]
fn e18_a_token_in_a_command_reaches_no_log() {
    let mut state = with_branch("active");
    let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    state["active_workflow"]["git_branch"]["name"] = json!(format!("x {secret}"));
    let project = TestProject::new().state(&state).on_branch("main");
    project
        .hook(&bash("git commit -m x"))
        .blocks("COMMIT TO MAIN");
    for log in [".tollgate/local/journal.jsonl", ".isdlc/hook-activity.log"] {
        assert!(project.read(log).contains("Commit to 'main' blocked"));
        assert!(!project.read(log).contains(secret));
        let mode = std::fs::metadata(project.path(log))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{log}");
    }
}

#[test]
fn the_activity_log_has_the_specifications_shape() {
    let project = TestProject::new().state(&running("03-architecture", "in_progress"));
    project
        .hook(&task("software-developer", "x"))
        .blocks("OUT-OF-ORDER");
    let log = project.read(".isdlc/hook-activity.log");
    let line: serde_json::Value = serde_json::from_str(log.trim_end()).unwrap();
    let keys: Vec<_> = line.as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["ts", "hook", "event", "phase", "agent", "reason"]);
    assert_eq!(line["hook"], "phase-sequence-guard");
    assert_eq!(line["event"], "block");
    assert_eq!(line["phase"], "03-architecture");
    assert_eq!(line["agent"], "software-developer");
    assert_eq!(
        line["reason"],
        "Target phase '06-implementation' does not match current '03-architecture'"
    );
}

#[test]
fn the_journal_says_who_what_and_why() {
    let project = TestProject::new().state(&running("03-architecture", "in_progress"));
    let event = task("software-developer", "x")
        .with("tool_name", "Agent")
        .in_session("s-1")
        .in_directory(project.root());
    project.hook(&event).denies();
    let lines = project.journal();
    assert_eq!(lines.len(), 1);
    let line = &lines[0];
    assert_eq!(line["verdict"], "block");
    assert_eq!(line["session"], "s-1");
    assert_eq!(line["event"], "PreToolUse");
    assert_eq!(line["tool"], "Agent");
    assert_eq!(line["guard"], "phase-sequence-guard");
    assert_eq!(line["code"], "PSG-001");
    assert_eq!(line["wire"], "claude");
    assert_eq!(project.read(".tollgate/local/.gitignore").trim(), "*");
}

#[test]
fn a_journal_that_cannot_be_written_is_told_and_does_not_unblock() {
    let project = TestProject::new().state(&running("03-architecture", "in_progress"));
    project.file(".tollgate/local", "a file where a directory should be");
    let event = task("software-developer", "x")
        .with("tool_name", "Agent")
        .in_session("s")
        .in_directory(project.root());
    let run = project.hook(&event);
    let answer: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(
        answer["systemMessage"]
            .as_str()
            .unwrap()
            .contains("journal"),
        "{run:?}"
    );
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny");
}

/// D7: an agent in a subdirectory was in no project, and approved.
#[test]
fn d7_the_project_is_found_from_below_and_from_the_events_directory() {
    let project = TestProject::new().state(&running("03-architecture", "in_progress"));
    std::fs::create_dir_all(project.path("src/deep")).unwrap();
    let event = task("software-developer", "x");
    // No CLAUDE_PROJECT_DIR, started below the root.
    let mut command = project.command(&["hook"]);
    command.current_dir(project.path("src/deep"));
    run(command, event.to_string().as_bytes()).blocks("OUT-OF-ORDER");
    // Started elsewhere; the event says where it happens.
    let mut with_cwd = event.clone();
    with_cwd["cwd"] = json!(project.path("src"));
    let mut command = project.command(&["hook"]);
    command.current_dir("/");
    run(command, with_cwd.to_string().as_bytes()).blocks("OUT-OF-ORDER");
    // The session started in a subdirectory.
    let mut command = project.command(&["hook"]);
    command
        .current_dir("/")
        .env("CLAUDE_PROJECT_DIR", project.path("src/deep"));
    run(command, event.to_string().as_bytes()).blocks("OUT-OF-ORDER");
}

#[test]
fn a_session_that_started_above_or_beside_the_project_is_guarded_in_it() {
    let project = TestProject::empty();
    project.file(
        ".isdlc/state.json",
        running("03-architecture", "in_progress").to_string(),
    );
    let above = project.root().parent().unwrap();
    let beside = above.join("beside");
    std::fs::create_dir(&beside).unwrap();
    std::fs::create_dir(project.path("src")).unwrap();
    let mut event = task("software-developer", "Phase key: 06-implementation");
    event["cwd"] = json!(project.path("src"));
    for started in [above.to_owned(), beside, above.join("gone")] {
        let mut command = project.command(&["hook"]);
        command.current_dir("/").env("CLAUDE_PROJECT_DIR", started);
        run(command, event.to_string().as_bytes()).blocks("OUT-OF-ORDER");
    }
}

#[test]
fn a_worktree_with_its_own_home_goes_before_the_directory_the_session_started_in() {
    let project = TestProject::new()
        .state(&running("03-architecture", "in_progress"))
        .on_branch("main");
    let outside = tempfile::tempdir().unwrap();
    let worktree = outside.path().join("wt");
    git(
        project.root(),
        &[
            "worktree",
            "add",
            "-q",
            worktree.to_str().unwrap(),
            "-b",
            "other",
        ],
    );
    let mut event = task("software-developer", "x");
    event["cwd"] = json!(worktree);
    // A worktree without a home: the project's own state still guards.
    project.hook(&event).blocks("OUT-OF-ORDER");
    std::fs::create_dir(worktree.join(".isdlc")).unwrap();
    project.hook(&event).says_nothing();
}

#[test]
fn a_new_project_has_its_home_in_dot_tollgate() {
    let project = TestProject::empty();
    let state = running("03-architecture", "in_progress").to_string();
    project.file(".tollgate/workflow/state.json", &state);
    // No manifest: the built-in agents.
    project
        .hook(&task("software-developer", "x"))
        .blocks("This delegates to 'software-developer' in phase '06-implementation'");
    project
        .hook(&task("solution-architect", "x"))
        .says_nothing();
    assert!(!project.path(".isdlc").exists());
    assert_eq!(project.codes(), ["PSG-001"]);
}

#[test]
fn a_heredoc_storm_is_read_in_a_moment() {
    let project = TestProject::new()
        .state(&with_branch("active"))
        .on_branch("main");
    let storm = "cat <<A\n".repeat(30_000);
    let event = bash(&format!("{storm}git commit")).to_string();
    project.hook_within(2, event.as_bytes()).allows();
}

#[test]
fn reftable_repositories_are_asked_through_git() {
    let project = TestProject::new().state(&with_branch("active"));
    let made = std::process::Command::new("git")
        .args(["init", "-q", "-b", "main", "--ref-format=reftable"])
        .current_dir(project.root())
        .output()
        .unwrap();
    if !made.status.success() {
        eprintln!("skipped: this git knows no reftable");
        return;
    }
    project
        .hook(&bash("git commit -m x"))
        .blocks("COMMIT TO MAIN");
}

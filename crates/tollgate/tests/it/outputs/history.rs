//! What was decided: `log`, `explain`, `guards`, `report`, `state`.

use super::assert_shows;
use crate::events::{Event as _, bash, task};
use crate::project::{TestProject, running_on_branch};

/// An agent was blocked twice: for a commit on main, and for the agent of another phase.
fn blocked() -> TestProject {
    let state = running_on_branch("06-implementation");
    let project = TestProject::new().state(&state).on_branch("main");
    for event in [bash("git commit -m done"), task("qa-engineer", "review it")] {
        let event = event.in_session("s1").in_directory(project.root());
        project.hook(&event).denies();
    }
    project
}

#[test]
fn a_session_with_blocks() {
    assert_shows!(
        blocked(),
        &[
            "log",
            "log --code BG-001",
            "log --verify",
            "explain --last",
            "explain 1",
            "report"
        ]
    );
}

#[test]
fn nothing_was_decided() {
    assert_shows!(
        TestProject::bare(),
        &[
            "log",
            "log --verify",
            "explain --last",
            "explain 7",
            "top --once"
        ]
    );
}

#[test]
fn a_journal_that_was_altered() {
    let project = blocked();
    let journal = project.text(".tollgate/local/journal.jsonl");
    project.file(
        ".tollgate/local/journal.jsonl",
        journal.replacen("\"block\"", "\"allow\"", 1),
    );
    assert_shows!(project, &["log --verify"]);
}

#[test]
fn the_guards() {
    let project = TestProject::empty();
    assert_shows!(project, &["guards", "guards no-such-guard"]);
    let all = project.tollgate(&["guards", "--all"]);
    all.says("Only in `.isdlc/` projects").says("gate-blocker");
    let of_original = TestProject::new().tollgate(&["guards"]);
    of_original.says("gate-blocker").does_not_say("--all");
}

#[test]
fn outside_of_any_project() {
    assert_shows!(
        TestProject::empty(),
        &[
            "status",
            "log",
            "explain --last",
            "report",
            "state log",
            "doctor"
        ]
    );
}

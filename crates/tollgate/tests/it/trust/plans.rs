//! The reviewer of plans runs without asking for permissions, so it needs trust too.

use super::Clone;

/// A project with a plan whose code review is due, and a reviewer that leaves a trace.
fn plan() -> (Clone, String) {
    let project = Clone::empty().project;
    let clone = Clone {
        project: project.with_plan("p", "| 1 | pending | high | one |\n"),
    };
    clone.file(
        ".taskie/plans/p/state.json",
        r#"{"max_reviews":8,"current_task":"1","phase":"next-task","phase_iteration":0,"next_phase":"code-review","review_model":"opus","consecutive_clean":0,"tdd":false}"#,
    );
    let ran = clone.path("ran");
    let script = format!("#!/bin/sh\ntouch '{}'\nexit 1\n", ran.display());
    let claude = clone.program("claude", &script);
    let path = format!("{}:/usr/bin:/bin", claude.parent().unwrap().display());
    clone.committed();
    (clone, path)
}

#[test]
fn a_plan_is_not_reviewed_until_a_person_trusts_its_reviewer() {
    let (clone, path) = plan();
    let stop = || {
        let mut command = clone.command(&["hook", "--require-trust"]);
        command.env("PATH", &path);
        clone.stop_with(command)
    };
    clone.is_not_run(&stop(), "1 command is not trusted yet");
    clone.trust();
    let answer = stop();
    assert!(clone.ran(), "{answer}");
    std::fs::remove_file(clone.path("ran")).unwrap();
    // Another reviewer is another command.
    clone
        .project
        .file(".tollgate/plans.json", r#"{"reviewer":"codex"}"#);
    assert_eq!(clone.tollgate(&["trust", "--show"]).code, 1);
}

#[test]
fn a_plans_rules_hold_without_trust() {
    let (clone, _) = plan();
    clone.file(".taskie/plans/p/tasks.md", "no table\n");
    let state = clone.read(".taskie/plans/p/state.json");
    let state = state.replace("code-review", "complete-task");
    clone.file(".taskie/plans/p/state.json", &state);
    let answer = clone.stop();
    assert_eq!(answer["decision"], "block", "{answer}");
    assert!(!clone.ran());
}

/// A project whose gates could not be read counted as one without gates, and so its stop was let go
/// without a word.
#[test]
fn broken_gates_of_an_untrusted_project_are_not_passed_over() {
    for (file, text) in [
        (".tollgate/config.yml", "entry_points: ["),
        ("tollgate.toml", "[gates.t]\nrun = 3\n"),
    ] {
        let (clone, _) = plan();
        let state = clone.read(".taskie/plans/p/state.json");
        let state = state.replace("code-review", "complete-task");
        clone.file(".taskie/plans/p/state.json", &state);
        clone.file(file, text);
        clone.is_not_run(&clone.stop(), "1 command is not trusted yet");
    }
}

//! Facts 1.28.

use serde_json::{Value, json};

use super::ran;
use crate::events::{Event as _, bash};
use crate::project::{TestProject, running};

const NAME: &str = "review-reminder";

fn team(enabled: bool, size: u64) -> TestProject {
    let mut state = running("08-code-review", "in_progress");
    state["code_review"] = json!({ "enabled": enabled, "team_size": size });
    TestProject::new().state(&state).on_branch("feature/x")
}

#[test]
fn a_team_without_review_is_reminded_at_a_commit() {
    let project = team(false, 2);
    for command in [
        "git commit -m x",
        "git -C . commit -m x",
        "git add . && git commit -am x",
    ] {
        let run = project.guard(NAME, &ran(command, json!("ok")));
        let answer: Value = serde_json::from_str(&run.stdout).unwrap();
        let warning = answer["warning"].as_str().unwrap();
        assert!(
            warning.starts_with("Manual code review is currently bypassed."),
            "{warning}"
        );
    }
    assert_eq!(project.codes(), ["RR-001", "RR-001", "RR-001"]);
}

#[test]
fn one_person_a_review_and_other_commands_need_no_reminder() {
    let commit = ran("git commit -m x", json!("ok"));
    team(true, 2).guard(NAME, &commit).says_nothing();
    team(false, 1).guard(NAME, &commit).says_nothing();
    for command in ["git status", "echo 'git commit'", "git log --grep commit"] {
        team(false, 2)
            .guard(NAME, &ran(command, json!("ok")))
            .says_nothing();
    }
}

#[test]
fn outside_of_a_workflow_a_team_is_reminded_too() {
    let commit = ran("git commit -m x", json!("ok"));
    let idle = |size: u64| {
        let state = json!({ "active_workflow": null, "code_review": { "team_size": size } });
        TestProject::new().state(&state).on_branch("main")
    };
    for run in [
        idle(2).guard(NAME, &commit),
        idle(2).hook(&commit.clone().with("hook_event_name", "PostToolUse")),
    ] {
        assert!(
            run.stdout
                .contains("Manual code review is currently bypassed."),
            "{run:?}"
        );
    }
    idle(1).guard(NAME, &commit).says_nothing();
}

#[test]
fn a_real_agent_is_told_in_its_own_way() {
    let run = team(false, 3).hook(&bash("git commit -m x").in_session("s").printed(""));
    let answer = run.json();
    let told = answer["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .unwrap();
    assert!(
        told.starts_with("Manual code review is currently bypassed."),
        "{told}"
    );
}

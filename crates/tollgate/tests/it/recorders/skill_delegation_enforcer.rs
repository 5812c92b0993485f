//! Facts 1.33.

use serde_json::{Value, json};

use super::state;
use crate::project::TestProject;

const NAME: &str = "skill-delegation-enforcer";

fn loaded(skill: &str, args: &str) -> Value {
    json!({ "tool_name": "Skill", "tool_input": { "skill": skill, "args": args }, "tool_result": "loaded" })
}

fn project() -> TestProject {
    TestProject::new().state(&json!({ "pending_delegation": null }))
}

#[test]
fn a_command_is_owed_to_its_orchestrator() {
    for (skill, name, agent) in [
        ("isdlc", "isdlc", "sdlc-orchestrator"),
        ("/ISDLC", "isdlc", "sdlc-orchestrator"),
        ("discover", "discover", "discover-orchestrator"),
        ("isdlc:discover", "discover", "discover-orchestrator"),
    ] {
        let project = project();
        let run = project.guard(NAME, &loaded(skill, "feature \"x\""));
        assert!(
            run.stdout
                .starts_with(&format!("MANDATORY: You have loaded the /{name} command.")),
            "{run:?}"
        );
        assert!(run.stdout.contains(&format!(
            "begin by delegating to \"{agent}\" for initialization"
        )));
        assert_eq!(run.stdout.lines().count(), 1);
        let owed = state(&project)["pending_delegation"].clone();
        assert_eq!(owed["skill"], name);
        assert_eq!(owed["required_agent"], agent);
        assert_eq!(owed["args"], "feature \"x\"");
        assert!(owed["invoked_at"].as_str().unwrap().ends_with('Z'));
    }
}

/// BUG-0021: after `/isdlc analyze` no stop was ever let go.
#[test]
fn bug_0021_inline_verbs_and_other_skills_owe_nothing() {
    for (skill, args) in [
        ("isdlc", "analyze \"the gate\""),
        ("isdlc", "--light add \"x\""),
        ("isdlc", "Analyze"),
        ("pdf", "feature"),
    ] {
        let project = project();
        project.guard(NAME, &loaded(skill, args)).says_nothing();
        assert_eq!(state(&project)["pending_delegation"], Value::Null);
    }
    TestProject::new()
        .guard(NAME, &loaded("isdlc", "feature"))
        .says_nothing();
}

#[test]
fn a_command_without_words_is_owed_too() {
    let project = project();
    let run = project.guard(NAME, &loaded("isdlc", ""));
    assert!(run.stdout.starts_with("MANDATORY:"));
    assert_eq!(
        state(&project)["pending_delegation"]["required_agent"],
        "sdlc-orchestrator"
    );
}

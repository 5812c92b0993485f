//! The history of the state: who changed what, how it was, and the way back.

use serde_json::{Value, json};

use crate::context::{Project, running};

/// A recorded event, then a command: two changes that Tollgate made.
fn changed() -> Project {
    let mut state = running("06-implementation", "in_progress");
    state["state_version"] = json!(7);
    let project = Project::new().state(&state);
    project.hook(&json!({
        "hook_event_name": "PostToolUse", "session_id": "s1", "tool_use_id": "t1", "tool_name": "Task",
        "tool_input": { "subagent_type": "software-developer", "prompt": "x" }, "tool_response": "done",
    }));
    project
}

fn state(project: &Project) -> Value {
    serde_json::from_str(&project.read(".isdlc/state.json")).unwrap()
}

#[test]
fn a_change_is_in_the_journal_with_before_after_and_cause() {
    let project = changed();
    assert_eq!(state(&project)["state_version"], 8);
    let line = project
        .journal()
        .into_iter()
        .find(|line| line["verdict"] == "record")
        .unwrap();
    assert_eq!(
        (&line["version"], &line["session"], &line["tool"]),
        (&json!(8), &json!("s1"), &json!("Task"))
    );
    let run = project.run(&["state", "log"], b"");
    assert!(
        run.stdout.contains("v8") && run.stdout.contains("skill_usage_log gets"),
        "{run:?}"
    );
    let run = project.run(&["state", "blame", "skill_usage_log"], b"");
    assert!(
        run.code == 0 && run.stdout.contains("PostToolUse") && run.stdout.contains("s1"),
        "{run:?}"
    );
    assert_eq!(
        project
            .run(&["state", "blame", "nobody.touched.it"], b"")
            .code,
        1
    );
}

#[test]
fn an_earlier_version_is_shown_and_a_change_taken_back_as_a_new_one() {
    let project = changed();
    let run = project.run(&["state", "at", "7"], b"");
    let then: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
    assert_eq!(then["state_version"], 7);
    assert!(then.get("skill_usage_log").is_none(), "{then}");
    assert_eq!(
        project.run(&["state", "at", "6"], b"").code,
        1,
        "nobody knows"
    );
    assert_eq!(project.run(&["state", "at", "9"], b"").code, 2);
    let run = project.run(&["state", "undo"], b"");
    assert_eq!(run.code, 0, "{run:?}");
    let now = state(&project);
    assert_eq!(now["state_version"], 9);
    assert!(now.get("skill_usage_log").is_none(), "{now}");
    // Taking that back brings it again.
    assert_eq!(project.run(&["state", "undo"], b"").code, 0);
    assert_eq!(
        state(&project)["skill_usage_log"].as_array().unwrap().len(),
        1
    );
    let run = project.run(&["log", "--verify"], b"");
    assert_eq!(run.code, 0, "{run:?}");
}

#[test]
fn what_tollgate_did_not_change_is_not_taken_back() {
    let project = changed();
    let mut foreign = state(&project);
    foreign["state_version"] = json!(12);
    project.file(".isdlc/state.json", &foreign.to_string());
    let run = project.run(&["state", "undo"], b"");
    assert!(
        run.code == 1 && run.stderr.contains("not made by Tollgate"),
        "{run:?}"
    );
    assert_eq!(state(&project)["state_version"], 12);
}

//! Events of agents that nobody taught Tollgate: never silent, and blocked where a person wants that.

use serde_json::{Value, json};

use crate::events::{Event as _, bash, named, stop, task};
use crate::project::{Run, TestProject, running};

/// Events that no dialect has, each with a name of a field that is said.
fn unknown() -> Vec<(Value, &'static str)> {
    vec![
        (json!({}), "no fields"),
        (json!({ "foo": 1 }), "foo"),
        // Windsurf, Cline, Antigravity, Grok
        (
            json!({ "agent_action_name": "pre_run_command", "trajectory_id": "t",
                "tool_info": { "command_line": "git commit" } }),
            "agent_action_name",
        ),
        (
            json!({ "hookName": "PreToolUse", "taskId": "t", "clineVersion": "3",
                "preToolUse": { "toolName": "execute_command" } }),
            "clineVersion",
        ),
        (
            json!({ "conversationId": "c", "toolCall": { "name": "run_command" } }),
            "toolCall",
        ),
        (
            json!({ "hookEventName": "pre_tool_use", "workspaceRoot": "/w", "sessionId": "s",
                "toolName": "run_terminal_cmd", "toolInput": { "command": "git commit" } }),
            "workspaceRoot",
        ),
        // One of tomorrow's
        (
            named("FrobnicateStart").with("session_id", "s"),
            "session_id",
        ),
        (json!({ "session_id": "s", "what": "now" }), "what"),
    ]
}

fn known(project: &TestProject) -> Vec<Value> {
    vec![
        bash("ls"),
        bash("ls").in_session("s"),
        task("x", "y").in_session("s"),
        named("Notification").in_session("s"),
        named("PreCompact").in_session("s"),
        named("BeforeModel").with("session_id", "s"),
        named("SessionEnd").in_session("s"),
        stop().in_session("s"),
        json!({ "cwd": project.root() }),
        json!({ "stop_hook_active": false }),
        json!({ "sessionId": "s", "timestamp": 1, "cwd": project.root(), "toolName": "bash",
            "toolArgs": "{\"command\":\"ls\"}" }),
        json!({ "hook_event_name": "beforeShellExecution", "conversation_id": "c",
            "cursor_version": "1", "command": "ls" }),
    ]
}

fn faults(project: &TestProject) -> Vec<Value> {
    let lines = project.journal().into_iter();
    lines.filter(|line| line["verdict"] == "fault").collect()
}

#[test]
fn an_unknown_event_is_journalled_and_said_with_its_fields() {
    for (event, field) in unknown() {
        let project = TestProject::new().state(&running("06-implementation", "in_progress"));
        let run = project.hook(&event);
        assert_eq!(run.code, 0, "{run:?}");
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(said.contains("unknown kind"), "{event}: {run:?}");
        assert!(said.contains(field), "{event}: {run:?}");
        let faults = faults(&project);
        assert_eq!(faults.len(), 1, "{event}");
        assert_eq!(faults[0]["code"], "event-unknown", "{event}");
        assert!(faults[0]["reason"].as_str().unwrap().contains(field));
        // However often it comes.
        let run = project.hook(&event);
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(said.contains("unknown kind"), "{event}: {run:?}");
    }
}

#[test]
fn a_known_event_is_not_called_unknown() {
    let project = TestProject::new();
    for event in known(&project) {
        for args in [&["hook"][..], &["hook", "--strict"]] {
            let run = project.run(args, event.to_string().as_bytes());
            assert_eq!(run.code, 0, "{event}: {run:?}");
            // Specification 002 says it in so many words.
            let allows = ["", "{\"suppressOutput\": true}\n"];
            assert!(allows.contains(&run.stdout.as_str()), "{event}: {run:?}");
        }
    }
    assert!(faults(&project).is_empty(), "{:?}", faults(&project));
}

/// The values may be anybody's secrets, and the names anybody's jokes.
#[test]
fn of_an_unknown_event_only_names_are_said_and_few_of_them() {
    let mut event = json!({ "token": "ghp_secret", "a\u{1b}[31mb": 1 });
    for n in 0..1000 {
        event[format!("field-{n}-{}", "x".repeat(200))] = json!(n);
    }
    let project = TestProject::new();
    let run = project.hook(&event);
    let said = format!(
        "{}{}",
        run.stderr,
        project.read(".tollgate/local/journal.jsonl")
    );
    assert!(
        said.contains("token") && said.contains("and 986 more"),
        "{said}"
    );
    assert!(
        !said.contains("ghp_secret") && !said.contains('\u{1b}'),
        "{said}"
    );
    assert!(!said.contains("\\u001b"), "{said}");
    assert!(run.stderr.len() < 2000, "{}", run.stderr.len());
}

/// Where the asker is known, the person reads it.
#[test]
fn an_unknown_event_of_a_known_agent_reaches_the_person() {
    let project = TestProject::new();
    let event = named("FrobnicateStart").with("session_id", "s");
    let run = project.hook(&event);
    let said = run.json()["systemMessage"].as_str().unwrap().to_owned();
    assert!(said.contains("unknown kind (FrobnicateStart)"), "{said}");
    let run = project.run(&["hook", "--protocol", "claude"], b"{\"foo\":1}");
    assert!(
        run.json()["systemMessage"]
            .as_str()
            .unwrap()
            .contains("foo")
    );
}

#[test]
fn a_strict_registration_blocks_what_nobody_can_read() {
    #[track_caller]
    fn blocked(run: &Run, what: &str) {
        assert_eq!(run.code, 2, "{run:?}");
        assert_eq!(run.stdout, "", "{run:?}");
        assert!(run.stderr.contains(what), "{run:?}");
    }
    let project = TestProject::new();
    for (event, field) in unknown() {
        let run = project.run(&["hook", "--strict"], event.to_string().as_bytes());
        blocked(&run, field);
    }
    for text in ["", "git commit", "[]", "{\"tool_name\":"] {
        blocked(
            &project.run(&["hook", "--strict"], text.as_bytes()),
            "Tollgate",
        );
        // Without it, bad input stops nobody.
        assert_eq!(project.run(&["hook"], text.as_bytes()).code, 0);
    }
    // Nor is it known whether an event without a directory belongs to a project.
    let nowhere = TestProject::empty();
    let run = nowhere.run(&["hook", "--strict"], b"{\"foo\":1}");
    blocked(&run, "foo");
    nowhere
        .run(&["hook", "--strict"], bash("ls").to_string().as_bytes())
        .says_nothing();
}

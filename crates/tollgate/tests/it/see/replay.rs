//! `tollgate replay`: planted violations are found, all of them and no others.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::events::{Event as _, bash};
use crate::project::{TestProject, with_branch};

/// A project in which commits to main and changes of the state are blocked.
fn project() -> TestProject {
    TestProject::new()
        .state(&with_branch("active"))
        .on_branch("main")
}

/// A call and its result as Claude Code records them.
fn recorded(id: usize, agent: Option<&str>, tool: &str, input: &Value, failed: bool) -> String {
    let common = json!({
        "sessionId": "s1", "timestamp": "2026-02-08T20:00:00.000Z", "uuid": format!("u{id}"),
        "isSidechain": agent.is_some(), "version": "2.1.325", "gitBranch": "main",
    });
    let line = |kind: &str, part: Value| {
        let mut line = common.clone();
        line["type"] = json!(kind);
        if let Some(agent) = agent {
            line["agentId"] = json!(agent);
        }
        line["message"] =
            json!({ "role": kind, "content": [{ "type": "text", "text": "so" }, part] });
        line.to_string()
    };
    let id = format!("toolu_{id}");
    let call = line(
        "assistant",
        json!({ "type": "tool_use", "id": id, "name": tool, "input": input }),
    );
    let result = line(
        "user",
        json!({ "type": "tool_result", "tool_use_id": id, "content": "ok", "is_error": failed }),
    );
    format!("{call}\n{result}\n")
}

fn replay(project: &TestProject, transcript: &str, args: &[&str]) -> Value {
    let file = project.file("t/session.jsonl", transcript);
    let run = project.run(
        &[&["replay", file.to_str().unwrap(), "--json"], args].concat(),
        b"",
    );
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

#[derive(Clone, Debug)]
enum Step {
    Commit(bool),
    State(bool),
    Fine(u8, bool),
    Noise,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        any::<bool>().prop_map(Step::Commit),
        any::<bool>().prop_map(Step::State),
        (any::<u8>(), any::<bool>()).prop_map(|(which, sub)| Step::Fine(which, sub)),
        Just(Step::Noise),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn planted_violations_are_found_and_no_others(steps in prop::collection::vec(step(), 1..60)) {
        let project = project();
        let mut transcript = String::from("{\"type\":\"summary\",\"summary\":\"about \\\"tool_use\\\"\"}\n");
        let mut planted = Vec::new();
        for (id, step) in steps.iter().enumerate() {
            let agent = |sub: bool| sub.then_some("a1");
            match step {
                Step::Commit(sub) => {
                    planted.push((format!("toolu_{id}"), "BG-001"));
                    transcript += &recorded(id, agent(*sub), "Bash", &json!({ "command": "cd . && git commit -m x" }), false);
                }
                Step::State(sub) => {
                    planted.push((format!("toolu_{id}"), "SFG-001"));
                    transcript += &recorded(id, agent(*sub), "Bash", &json!({ "command": "rm .isdlc/state.json" }), true);
                }
                Step::Fine(which, sub) => {
                    let input = match which % 3 {
                        0 => json!({ "command": "echo \"git commit\" && git status" }),
                        1 => json!({ "command": "cat .isdlc/state.json" }),
                        _ => json!({ "command": "ls" }),
                    };
                    transcript += &recorded(id, agent(*sub), "Bash", &input, *sub);
                }
                Step::Noise => transcript += "{\"type\":\"assistant\",\"message\":{\"content\":\"\\\"tool_use\\\" as text\"}}\n",
            }
        }
        let told = replay(&project, &transcript, &[]);
        let found: Vec<(String, String)> = told["findings"].as_array().unwrap().iter()
            .map(|found| (found["call"].as_str().unwrap().to_owned(), found["code"].as_str().unwrap().to_owned()))
            .collect();
        let planted: Vec<(String, String)> = planted.into_iter().map(|(id, code)| (id, code.to_owned())).collect();
        prop_assert_eq!(found, planted);
        prop_assert_eq!(project.journal().len(), 0, "nothing is touched");
    }
}

#[test]
fn what_no_hook_saw_is_said_per_tool_and_agent() {
    let project = project();
    let event = bash("git commit -m x").in_session("s1").call("toolu_1");
    project.hook(&event).denies();
    let commit = json!({ "command": "git commit -m x" });
    let transcript = recorded(1, None, "Bash", &commit, false)
        + &recorded(2, Some("a\u{1b}[31m"), "Bash", &commit, false)
        + &recorded(3, None, "Read", &json!({ "file_path": "x" }), false)
        + "{\"type\":\"assistant\",\"tool_use\"";
    let told = replay(&project, &transcript, &[]);
    let seen: Vec<_> = told["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| found["seen"].as_bool().unwrap())
        .collect();
    assert_eq!(seen, [true, false], "{told}");
    assert_eq!(told["counts"].as_array().unwrap().len(), 3, "{told}");
    let run = project.run(&["replay", "t/session.jsonl", "--exit-code"], b"");
    assert_eq!(run.code, 1, "{run:?}");
    assert_eq!(run.stdout.matches("no hook saw it").count(), 1, "{run:?}");
    assert!(!run.stdout.contains('\u{1b}'), "{run:?}");
    let run = project.run(&["replay", "--journal", "--json"], b"");
    let told: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(told["findings"][0]["code"], "BG-001", "{told}");
    assert_eq!(told["unreadable"], 0, "{told}");
    assert_eq!(project.run(&["replay", "nowhere.jsonl"], b"").code, 2);
    assert_eq!(project.run(&["replay"], b"").code, 2);
}

#[test]
fn events_are_simulated_from_flags_and_templates() {
    let project = project();
    let blocked = |args: &[&str]| {
        let run = project.run(&[&["simulate", "--json"], args].concat(), b"");
        assert_eq!(run.code, 0, "{run:?}");
        let told: Value = serde_json::from_str(&run.stdout).unwrap();
        told["blocked"].as_bool().unwrap()
    };
    assert!(blocked(&["--tool", "Bash", "--command", "git commit -m x"]));
    assert!(!blocked(&["--command", "git status"]));
    assert!(blocked(&["--template", "commit"]));
    assert!(!blocked(&["--template", "test"]));
    assert!(!blocked(&["--path", "src/a.rs", "--content", "x"]));
    assert!(!blocked(&["--agent", "nobody", "--prompt", "x"]));
    assert!(!blocked(&["--template", "stop"]));
    for args in [
        &["simulate"][..],
        &["simulate", "--template", "nothing"],
        &["simulate", "x.json", "--command", "ls"],
    ] {
        assert_eq!(project.run(args, b"").code, 2, "{args:?}");
    }
    assert_eq!(project.journal().len(), 0, "nothing is touched");
}

#[test]
fn lines_that_are_no_json_are_counted_whatever_they_name() {
    let project = project();
    let good = recorded(1, None, "Bash", &json!({ "command": "ls" }), false);
    let summary = "{\"type\":\"summary\"}\n";
    let told = replay(
        &project,
        &format!("{summary}\n{good}garbage\n{{\"type\":\"user\",\"cut\n"),
        &[],
    );
    assert_eq!(told["unreadable"], 2, "{told}");
    assert_eq!(told["counts"][0]["calls"], 1, "{told}");

    project.file("t/notes.md", "# Notes\n\nNo transcript at all.\n");
    let run = project.run(&["replay", "t/notes.md"], b"");
    assert_eq!(run.code, 2, "{run:?}");
    assert!(
        run.stderr
            .contains("t/notes.md: none of its lines is a JSON object"),
        "{run:?}"
    );
    project.file("t/empty.jsonl", "");
    assert_eq!(project.run(&["replay", "t/empty.jsonl"], b"").code, 0);
}

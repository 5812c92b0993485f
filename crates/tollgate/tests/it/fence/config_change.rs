//! `ConfigChange`: what a tool call of the session took out is refused, anything else is accepted and
//! named. What other agents do without it is beside it.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::machine::{Agent, Machine};
use crate::project::put;

const SETTINGS: &str = ".claude/settings.json";

impl Machine {
    /// The agent tells that its settings changed; its record of the session has these calls.
    fn settings_changed(&self, calls: &[Value]) -> Value {
        let transcript = self.project.outside().join("transcript.jsonl");
        let lines = calls.iter().map(|call| format!("{call}\n"));
        put(&transcript, lines.collect::<Vec<_>>().concat());
        let answer = self.send(
            "ConfigChange",
            &json!({
                "source": "project_settings", "file_path": self.project.path(SETTINGS),
                "transcript_path": transcript,
            }),
        );
        serde_json::from_str(&answer.stdout).unwrap_or(Value::Null)
    }
}

fn at(seconds: i64) -> String {
    let moment = Timestamp::now() + SignedDuration::from_secs(seconds);
    moment.to_string()
}

/// A call of the shell tool that began and ended so many seconds from now.
fn shell(id: &str, command: &str, begun: i64, ended: Option<i64>) -> Vec<Value> {
    let call = json!({
        "type": "assistant", "timestamp": at(begun),
        "message": { "content": [
            { "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } },
        ] },
    });
    let result = ended.map(|ended| {
        json!({
            "type": "user", "timestamp": at(ended),
            "message": { "content": [{ "type": "tool_result", "tool_use_id": id }] },
        })
    });
    std::iter::once(call).chain(result).collect()
}

fn claude() -> Machine {
    Machine::new(Agent::Claude)
}

#[test]
fn it_is_registered_where_the_agent_has_it() {
    let registered = |agent| {
        let machine = Machine::without_session(agent);
        let files = [SETTINGS, ".codex/hooks.json", ".gemini/settings.json"];
        let texts = files
            .map(|file| std::fs::read_to_string(machine.project.path(file)).unwrap_or_default());
        texts.concat().contains("ConfigChange")
    };
    assert!(registered(Agent::Claude));
    assert!(!registered(Agent::Codex));
    assert!(!registered(Agent::Gemini));
}

#[test]
fn a_removal_by_a_tool_call_of_the_session_is_refused() {
    // It still runs, or just ended.
    for ended in [None, Some(0)] {
        let machine = claude();
        put(&machine.project.path(SETTINGS), "{}");
        let answer = machine.settings_changed(&shell("c", "python3 work.py", -5, ended));
        assert_eq!(answer["decision"], "block", "{answer:#}");
        let reason = answer["reason"].as_str().unwrap();
        assert!(reason.contains("python3 work.py"), "{reason}");
        assert!(
            reason.contains("keeps the settings that it had"),
            "{reason}"
        );
        assert!(machine.warned().contains(&"SW-009".to_owned()));
        // The file is the person's to restore; every session hears of it.
        assert_eq!(machine.project.read(SETTINGS), "{}");
        assert!(machine.warned().contains(&"SW-007".to_owned()));
    }
}

#[test]
fn what_the_calls_result_names_is_its_work_however_late_it_is_told() {
    let machine = claude();
    put(&machine.project.path(SETTINGS), "{}");
    let mut calls = shell("c", "make", -500, Some(-400));
    calls[1]["toolUseResult"] =
        json!({ "bashEditDiff": { "changedFiles": [machine.project.path(SETTINGS)] } });
    assert_eq!(machine.settings_changed(&calls)["decision"], "block");
}

#[test]
fn any_other_removal_is_accepted_and_named() {
    for calls in [
        Vec::new(),
        // It ended long before.
        shell("c", "python3 work.py", -60, Some(-30)),
        vec![json!("half a line")],
    ] {
        let machine = claude();
        put(&machine.project.path(SETTINGS), "{}");
        let answer = machine.settings_changed(&calls);
        assert!(answer["decision"].is_null(), "{answer:#}");
        let said = answer["systemMessage"].as_str().unwrap();
        assert!(
            said.contains("Tollgate's registration") && said.contains("is gone"),
            "{said}"
        );
    }
}

#[test]
fn a_change_that_keeps_the_registrations_is_nobodys_business() {
    let machine = claude();
    let text = machine.project.read(SETTINGS);
    let mut settings: Value = serde_json::from_str(&text).unwrap();
    settings["model"] = json!("opus");
    put(&machine.project.path(SETTINGS), settings.to_string());
    let answer = machine.settings_changed(&shell("c", "python3 work.py", -5, None));
    assert!(answer.is_null(), "{answer:#}");
}

#[test]
fn an_uninstall_in_another_terminal_is_accepted_while_a_command_runs() {
    let machine = claude();
    machine.project.uninstall(&[]);
    let answer = machine.settings_changed(&shell("c", "cargo test", -60, None));
    assert!(answer["decision"].is_null(), "{answer:#}");
    let said = answer["systemMessage"].as_str().unwrap();
    assert!(said.contains("Tollgate's registration"), "{said}");
}

#[test]
fn what_a_person_agreed_to_in_the_chat_is_accepted() {
    let machine = claude();
    let asked = machine.send(
        "PreToolUse",
        &json!({
            "tool_name": "Bash", "tool_use_id": "c",
            "tool_input": { "command": "rm .claude/settings.json" },
        }),
    );
    let asked: Value = serde_json::from_str(&asked.stdout).unwrap();
    let command = asked["hookSpecificOutput"]["updatedInput"]["command"].clone();
    std::fs::remove_file(machine.project.path(SETTINGS)).unwrap();
    let calls = shell("c", "rm .claude/settings.json", -1, None);
    // Before and after the event that follows the call.
    assert!(machine.settings_changed(&calls)["decision"].is_null());
    machine.send(
        "PostToolUse",
        &json!({ "tool_name": "Bash", "tool_use_id": "c", "tool_input": { "command": command } }),
    );
    put(&machine.project.path(SETTINGS), "{}");
    assert!(machine.settings_changed(&calls)["decision"].is_null());
}

/// Agents without the event hear of it after the command, and not only when they rest.
#[test]
fn the_event_after_the_command_names_what_is_gone() {
    let files = [
        (Agent::Claude, SETTINGS),
        (Agent::Codex, ".codex/hooks.json"),
        (Agent::Gemini, ".gemini/settings.json"),
        (Agent::Copilot, ".github/hooks/tollgate.json"),
        (Agent::Cursor, ".cursor/hooks.json"),
    ];
    for (agent, file) in files {
        let machine = Machine::new(agent);
        assert!(machine.project.exists(file), "{agent}: {file}");
        machine.shell(None, "python3 work.py", &format!("rm {file}"));
        assert!(
            machine.warned().contains(&"SW-007".to_owned()),
            "{agent}: {:?}",
            machine.warned()
        );
        // Once.
        let count = machine.warned().len();
        machine.shell(None, "ls", "ls");
        assert_eq!(machine.warned().len(), count);
    }
}

/// A mark counts for the run that made it, as long as that goes on.
#[test]
fn a_mark_with_another_word_is_not_confirmed_even_below_a_run() {
    let machine = claude();
    let event = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "permission_mode": "default",
        "cwd": machine.project.root(), "tool_name": "Bash", "tool_use_id": "c",
        "tool_input": { "command": "git checkout -q main && git commit --allow-empty -m x" },
    });
    machine.project.file("event.json", event.to_string());
    machine.project.file(
        "Makefile",
        "test:\n\
         \t@tollgate hook < event.json > ../as-it-is\n\
         \t@TOLLGATE_DEPTH=1.1-abc tollgate hook < event.json > ../made-up\n\
         \t@echo $$TOLLGATE_DEPTH > ../mark\n",
    );
    machine.project.must(&["run", "--all"]);
    let read = |name: &str| std::fs::read_to_string(machine.project.outside().join(name)).unwrap();
    assert!(read("mark").starts_with("1."), "{}", read("mark"));
    assert_eq!(read("as-it-is"), "");
    assert!(read("made-up").contains("\"deny\""), "{}", read("made-up"));
}

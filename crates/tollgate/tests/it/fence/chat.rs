//! What a person agrees to in the chat: the hook asks, the command that runs after a yes is taken for
//! the person's, and nothing else is.

use serde_json::{Value, json};

use super::machine::{Agent, Machine, STATE};
use crate::project::{Run, run};

const CANCEL: &str = "tollgate workflow cancel --reason enough";
const SKIP: &str = "tollgate phase skip --reason enough";

impl Machine {
    /// The event before a shell command, in a permission mode.
    fn asks(&self, command: &str, mode: &str) -> Value {
        let answer = self.send(
            "PreToolUse",
            &json!({
                "tool_name": "Bash", "tool_use_id": "asked", "permission_mode": mode,
                "tool_input": { "command": command, "description": "d", "timeout": 5000 },
            }),
        );
        let answer: Value = serde_json::from_str(&answer.stdout).unwrap();
        answer["hookSpecificOutput"].clone()
    }

    /// What the agent's shell makes of a command.
    fn shell_runs(&self, command: &str) -> Run {
        let mut shell = self.project.command_of("bash".as_ref(), &["-c", command]);
        shell.env("CLAUDECODE", "1");
        run(shell, b"")
    }

    fn is_running(&self) -> bool {
        !self
            .project
            .read(STATE)
            .contains("\"active_workflow\": null")
    }

    fn agreed(&self) -> Vec<String> {
        let lines = self.project.journal();
        let agreed = lines.iter().filter_map(|line| line["reason"].as_str());
        let agreed = agreed.filter(|reason| reason.contains("a person agreed"));
        agreed.map(str::to_owned).collect()
    }
}

fn claude() -> Machine {
    Machine::new(Agent::Claude)
}

#[test]
fn a_yes_in_the_chat_is_the_persons() {
    let machine = claude();
    let asked = machine.asks(CANCEL, "default");
    assert_eq!(asked["permissionDecision"], "ask", "{asked:#}");
    let reason = asked["permissionDecisionReason"].as_str().unwrap();
    assert!(
        reason.contains("`tollgate workflow cancel` gives up the running workflow"),
        "{reason}"
    );
    // The person who is asked needs no other way to say yes.
    assert!(!reason.contains("Next:"), "{reason}");
    // What the agent gave besides is as it was.
    let input = &asked["updatedInput"];
    assert_eq!(
        (&input["description"], &input["timeout"]),
        (&json!("d"), &json!(5000))
    );
    let command = input["command"].as_str().unwrap();
    assert!(command.ends_with(CANCEL), "{command}");
    let ran = machine.shell_runs(command);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!machine.is_running());
    assert_eq!(
        machine.agreed(),
        ["asked in the chat, a person agreed: `tollgate workflow cancel`"]
    );
    // It counts once.
    machine
        .project
        .must(&["workflow", "start", "feature", "again"]);
    let again = machine.shell_runs(command);
    assert!(again.stderr.contains("is for a person"), "{again:?}");
    assert!(machine.is_running());
}

#[test]
fn a_no_leaves_nothing_that_a_later_command_could_use() {
    let machine = claude();
    let asked = machine.asks(CANCEL, "default");
    assert_eq!(asked["permissionDecision"], "ask");
    let word = asked["updatedInput"]["command"].as_str().unwrap();
    let (word, _) = word.split_once(';').unwrap();
    for command in [
        CANCEL.to_owned(),
        format!("TOLLGATE_ASKED=1 {CANCEL}"),
        // What was agreed to is this command, and no other.
        format!("{word}; {SKIP}"),
    ] {
        let ran = machine.shell_runs(&command);
        assert!(ran.stderr.contains("is for a person"), "{command}: {ran:?}");
    }
    assert!(machine.is_running());
    assert!(machine.agreed().is_empty());
}

#[test]
fn all_that_a_line_gives_up_is_asked_about_at_once() {
    let machine = claude();
    let asked = machine.asks(&format!("{SKIP} && {CANCEL}"), "acceptEdits");
    let reason = asked["permissionDecisionReason"].as_str().unwrap();
    assert!(
        reason.contains("`tollgate phase skip` gives up"),
        "{reason}"
    );
    assert!(
        reason.contains("`tollgate workflow cancel` gives up"),
        "{reason}"
    );
    let ran = machine.shell_runs(asked["updatedInput"]["command"].as_str().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(machine.agreed().len(), 2);
}

#[test]
fn nobody_is_asked_where_the_agent_would_not_wait_for_the_answer() {
    let machine = claude();
    for mode in ["bypassPermissions", "dontAsk", "some new mode"] {
        let answer = machine.asks(CANCEL, mode);
        assert_eq!(answer["permissionDecision"], "deny", "{mode}: {answer:#}");
        assert!(answer["updatedInput"].is_null(), "{answer:#}");
        let reason = answer["permissionDecisionReason"].as_str().unwrap();
        assert!(reason.contains(CANCEL), "{reason}");
    }
}

#[test]
fn a_guard_that_blocks_goes_before_the_question() {
    let machine = claude();
    let answer = machine.asks(&format!("{CANCEL}; rm {STATE}"), "default");
    assert_eq!(answer["permissionDecision"], "deny", "{answer:#}");
}

#[test]
fn settings_are_given_up_in_the_chat_too() {
    let machine = claude();
    let asked = machine.asks("rm .claude/settings.json", "default");
    assert_eq!(asked["permissionDecision"], "ask", "{asked:#}");
    let reason = asked["permissionDecisionReason"].as_str().unwrap();
    assert!(
        reason.contains("removes Tollgate from .claude/settings.json"),
        "{reason}"
    );
    let command = asked["updatedInput"]["command"].clone();
    machine.send(
        "PostToolUse",
        &json!({
            "tool_name": "Bash", "tool_use_id": "asked", "tool_input": { "command": command },
            "tool_response": { "stdout": "", "stderr": "", "interrupted": false },
        }),
    );
    assert_eq!(machine.agreed().len(), 1, "{:?}", machine.agreed());
    // A file tool has no command that a word could be put into; its call is known by its id.
    let write = json!({
        "tool_name": "Write", "tool_use_id": "write",
        "tool_input": { "file_path": machine.project.path(".claude/settings.json"), "content": "{}" },
    });
    let answer: Value = serde_json::from_str(&machine.send("PreToolUse", &write).stdout).unwrap();
    assert_eq!(
        answer["hookSpecificOutput"]["permissionDecision"], "ask",
        "{answer:#}"
    );
    assert!(answer["hookSpecificOutput"]["updatedInput"].is_null());
    machine.send("PostToolUse", &write);
    assert_eq!(machine.agreed().len(), 2, "{:?}", machine.agreed());
    // So is one about another agent's settings, wherever they are.
    let args = ["install", "--agent", "copilot", "--scope", "user", "--yes"];
    machine.project.must(&args);
    let hooks = machine.project.home().join(".copilot/hooks/tollgate.json");
    let write = json!({
        "tool_name": "Write", "tool_use_id": "copilot",
        "tool_input": { "file_path": hooks, "content": "{}" },
    });
    let answer: Value = serde_json::from_str(&machine.send("PreToolUse", &write).stdout).unwrap();
    assert_eq!(
        answer["hookSpecificOutput"]["permissionDecision"], "ask",
        "{answer:#}"
    );
    machine.send("PostToolUse", &write);
    assert_eq!(machine.agreed().len(), 3, "{:?}", machine.agreed());
}

#[test]
fn a_person_at_a_terminal_retypes_a_word() {
    let machine = claude();
    for args in [
        &["phase", "skip", "--reason", "x"][..],
        &["workflow", "cancel", "--reason", "x"],
    ] {
        let before = machine.project.read(STATE);
        let mut terminal = machine.project.terminal(args);
        let (screen, code) = terminal.shows(" to confirm: ").types("yes").ends();
        assert_ne!(code, 0, "{screen}");
        assert!(
            screen.contains("gives up") && screen.contains("the word does not match"),
            "{screen}"
        );
        assert_eq!(machine.project.read(STATE), before);
        // Without a terminal nobody is there to retype it.
        let ran = machine.project.tollgate(args);
        assert!(
            ran.stderr.contains("is for a person at a terminal"),
            "{ran:?}"
        );
        assert_eq!(machine.project.read(STATE), before);
        machine.project.gives_up(args);
        assert_ne!(machine.project.read(STATE), before);
    }
}

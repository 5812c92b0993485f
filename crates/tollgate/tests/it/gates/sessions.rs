//! Sessions of real agents: the loop guard, gates that a session changes, work that it hides, and
//! `tollgate hook` itself.

use serde_json::{Value, json};

use super::{BAD, FIXABLE, Gates, OK, answers};
use crate::events::{self, Event as _};
use crate::project::{Run, run};

/// A Stop event of Claude Code through `tollgate hook`.
fn hook(gates: &Gates, more: &Value) -> Run {
    let event = events::stop()
        .in_session("s")
        .at_prompt("p")
        .in_directory(gates.root())
        .with("transcript_path", "/t.jsonl")
        .with("permission_mode", "default")
        .with("last_assistant_message", "Done.")
        .with("background_tasks", json!([]))
        .with_all(more);
    let mut command = gates.command(&["hook"]);
    command.env("CLAUDE_PROJECT_DIR", gates.root());
    run(command, event.to_string().as_bytes())
}

#[test]
fn hook_gates_a_stop_of_claude_code() {
    let gates = Gates::new(&[BAD]);
    let run = hook(&gates, &json!({})).exits(0);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answer["decision"], "block", "{answer}");
    assert!(
        answer["reason"]
            .as_str()
            .unwrap()
            .starts_with("GAUNTLET FAILED")
    );
    let journal = gates.journal();
    let blocks = journal.iter().filter(|line| line["verdict"] == "block");
    let codes: Vec<_> = blocks.map(|line| line["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["GATE-FAILED"], "{journal:?}");
}

#[test]
fn hook_says_nothing_when_the_gates_pass() {
    hook(&Gates::new(&[OK]), &json!({})).says_nothing();
}

#[test]
fn hook_does_not_gate_plans_working_subagents_and_their_stops() {
    let gates = Gates::new(&[BAD]);
    for event in [
        json!({ "permission_mode": "plan" }),
        json!({ "background_tasks": [{ "id": "t", "status": "running" }] }),
    ] {
        let run = hook(&gates, &event).exits(0);
        let answer: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(answer["decision"], json!(null), "{answer}");
        let told = answer["systemMessage"].as_str().unwrap();
        assert!(told.contains("NOT verified"), "{told}");
    }
    let event = json!({ "hook_event_name": "SubagentStop", "agent_id": "a" });
    hook(&gates, &event).says_nothing();
    assert!(!gates.exists("gauntlet_logs"));
}

#[test]
fn hook_lets_a_stop_through_that_cannot_be_decided_and_tells_the_person() {
    let gates = Gates::with_config(&[BAD], "base_branch_: x");
    gates.git(&["branch", "-q", "-D", "main"]);
    let run = hook(&gates, &json!({})).exits(0);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answer["decision"], json!(null), "{answer}");
    let told = answer["systemMessage"].as_str().unwrap();
    assert!(told.contains("\"main\" does not exist"), "{told}");
    assert!(told.contains("did you mean `base_branch`?"), "{told}");
}

#[test]
fn a_stop_that_follows_a_block_without_any_change_is_let_through() {
    let gates = Gates::new(&[BAD]);
    answers(&gates.stop_in("s", "p", false), "block", "failed");
    let answer = gates.stop_in("s", "p", true);
    answers(&answer, "approve", "stop_hook_active");
    assert!(answer["message"].as_str().unwrap().contains("NOT verified"));
    assert_eq!(gates.logs("bad").len(), 1, "nothing ran");
}

#[test]
fn a_stop_after_somebody_else_s_block_is_gated() {
    let gates = Gates::new(&[FIXABLE]);
    answers(&gates.stop_in("s", "p", true), "block", "failed");
    // From then on it is ours.
    answers(
        &gates.stop_in("s", "p", true),
        "approve",
        "stop_hook_active",
    );
    // Another plugin blocks a stop that the gates let go, and the agent then breaks something.
    let gates = Gates::new(&[FIXABLE]);
    gates.file("src/fixed", "");
    answers(&gates.stop_in("s", "p", false), "approve", "passed");
    std::fs::remove_file(gates.path("src/fixed")).unwrap();
    answers(&gates.stop_in("s", "p", true), "block", "failed");
}

/// In the specification's own shape there is no session, and the flag means what it says there.
#[test]
fn without_a_session_the_flag_lets_a_stop_go() {
    let gates = Gates::new(&[BAD]);
    let event = events::stop().flagged();
    let (answer, _) = gates.stop_raw(event.to_string().as_bytes());
    answers(&answer, "approve", "stop_hook_active");
}

#[test]
fn loop_guard_strict_restores_the_letter() {
    let gates = Gates::with_config(&[FIXABLE], "stop_hook: { loop_guard: strict }");
    answers(&gates.stop_in("s", "p", false), "block", "failed");
    gates.file("src/other", "1");
    answers(
        &gates.stop_in("s", "p", true),
        "approve",
        "stop_hook_active",
    );
}

#[test]
fn a_changed_tree_is_progress_whatever_the_output_says() {
    let gates = Gates::with_config(
        &[BAD],
        "max_retries: 20\nstop_hook: { run_interval_minutes: 0 }",
    );
    for number in 0..7 {
        gates.file("src/n", number.to_string());
        answers(&gates.stop_in("s", "p", number > 0), "block", "failed");
    }
    gates.file("src/n", "8");
    let answer = gates.stop_in("s", "p", true);
    answers(&answer, "approve", "retry_limit_exceeded");
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains("Released, NOT verified"), "{message}");
    assert!(
        message.contains("This turn was blocked 7 times"),
        "{message}"
    );
    // The person's next prompt is a new turn.
    gates.file("src/n", "9");
    answers(&gates.stop_in("s", "p2", false), "block", "failed");
}

#[test]
fn a_turn_is_blocked_once_less_than_the_agent_accepts() {
    let gates = Gates::with_config(
        &[("changing", "command: \"cat n; false\"")],
        "max_retries: 20\nstop_hook: { run_interval_minutes: 0 }",
    );
    for (number, word) in ["a", "b", "c", "d", "e", "f", "g"].iter().enumerate() {
        gates.file("src/n", word);
        answers(&gates.stop_in("s", "p", number > 0), "block", "failed");
    }
    gates.file("src/n", "i");
    answers(
        &gates.stop_in("s", "p", true),
        "approve",
        "retry_limit_exceeded",
    );
}

#[test]
fn stopping_again_on_a_verified_tree_runs_nothing() {
    let gates = Gates::new(&[("counts", "command: echo x >> ../.count")]);
    gates.file(".gitignore", ".count\n");
    answers(&gates.stop(), "approve", "passed");
    let answer = gates.stop();
    answers(&answer, "approve", "passed");
    assert!(
        answer["message"]
            .as_str()
            .unwrap()
            .contains("nothing changed since")
    );
    assert_eq!(gates.read(".count"), "x\n");
    // Committing it does not change the tree.
    gates.commit("work");
    answers(&gates.stop(), "approve", "passed");
    assert_eq!(gates.read(".count"), "x\n");
}

/// D8: an agent weakened the gates, switched the hook off or broke its configuration, and was
/// approved.
#[test]
fn d8_gates_that_a_session_weakens_are_named() {
    let gates = Gates::new(&[BAD, OK]);
    answers(&gates.stop_in("s", "p", false), "block", "failed");
    gates.check("bad", "command: \"true\"");
    let answer = gates.stop_in("s", "p", true);
    answers(&answer, "approve", "passed_with_warnings");
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains("check bad: command changed"), "{message}");
    // Also when the pass is a remembered one, and in the interval.
    let answer = gates.stop_in("s", "p2", false);
    answers(&answer, "approve", "passed_with_warnings");
    // Another session does not accept them either, nor does anything else that speaks of them.
    let answer = gates.stop_in("t", "p", false);
    answers(&answer, "approve", "passed_with_warnings");
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains("check bad: command changed"), "{message}");
    gates
        .tollgate(&["run"])
        .exits(0)
        .says("check bad: command changed");
    gates
        .tollgate(&["status"])
        .says("check bad: command changed")
        .does_not_say("✔ check:src:bad");
    gates.tollgate(&["status", "--exit-code"]).exits(1);
}

/// D8: an agent weakened the gates, switched the hook off or broke its configuration, and was
/// approved.
#[test]
fn d8_a_hook_that_a_session_switches_off_breaks_or_removes_is_named() {
    let gates = Gates::new(&[BAD]);
    gates.stop_in("s", "p", false);
    let config = gates.read(".gauntlet/config.yml");
    let off = config.replace("run_interval_minutes: 0", "enabled: false");
    gates.file(".gauntlet/config.yml", &off);
    let answer = gates.stop_in("s", "p", false);
    answers(&answer, "approve", "stop_hook_disabled");
    let message = answer["message"].as_str().unwrap();
    assert!(
        message.contains("stop_hook.enabled: true became false"),
        "{message}"
    );
    gates.file(".gauntlet/config.yml", "entry_points: [");
    let answer = gates.stop_in("s", "p", false);
    answers(&answer, "approve", "error");
    assert!(
        answer["message"]
            .as_str()
            .unwrap()
            .contains("worked when this session began")
    );
    std::fs::remove_file(gates.path(".gauntlet/config.yml")).unwrap();
    let answer = gates.stop_in("s", "p", false);
    answers(&answer, "approve", "no_config");
    assert!(
        answer["message"]
            .as_str()
            .unwrap()
            .contains("worked when this session began")
    );
}

/// D8: an agent weakened the gates, switched the hook off or broke its configuration, and was
/// approved.
#[test]
fn d8_how_a_stop_is_gated_is_not_changed_unseen() {
    for (key, told) in [
        (
            "loop_guard: strict",
            "stop_hook.loop_guard: \"progress\" became \"strict\"",
        ),
        (
            "deadline_seconds: 60",
            "stop_hook.deadline_seconds: null became 60",
        ),
        (
            "enabled: true }\nlog_dir: src/deep\ndebug_log: { enabled: false",
            "log_dir: \"gauntlet_logs\" became \"src/deep\"",
        ),
    ] {
        let gates = Gates::new(&[BAD]);
        answers(&gates.stop_in("s", "p", false), "block", "failed");
        let config = gates.read(".gauntlet/config.yml");
        let weaker = config.replace("minutes: 0", &format!("minutes: 0, {key}"));
        gates.file(".gauntlet/config.yml", &weaker);
        let answer = gates.stop_in("s", "p", true);
        let message = answer["message"].as_str().unwrap();
        assert!(message.contains(told), "{message}");
    }
}

/// D8: an agent weakened the gates, switched the hook off or broke its configuration, and was
/// approved.
#[test]
fn d8_each_of_two_entry_points_of_one_path_counts() {
    let config = |first: &str| {
        format!(
            "base_branch: main\nstop_hook: {{ run_interval_minutes: 0 }}\nentry_points:\n  - {{ path: src, checks: [{first}] }}\n  - {{ path: src, checks: [ok] }}\n"
        )
    };
    let gates = Gates::raw(&[OK, BAD], &config("ok"));
    answers(&gates.stop_in("s", "p", false), "approve", "passed");
    // A pass of other gates is none of these.
    gates.file(".gauntlet/config.yml", config("bad"));
    let answer = gates.stop_in("s", "p2", false);
    answers(&answer, "block", "failed");
    let message = answer["message"].as_str().unwrap();
    assert!(
        message.contains("entry point src: checks changed"),
        "{message}"
    );
}

/// D8: an agent weakened the gates, switched the hook off or broke its configuration, and was
/// approved.
#[test]
fn d8_what_a_session_changes_before_its_first_stop_is_seen_from_its_start() {
    let gates = Gates::new(&[BAD]);
    let start = json!({ "hook_event_name": "SessionStart", "source": "startup" });
    hook(&gates, &start).says_nothing();
    gates.check("bad", "command: \"true\"");
    let answer = gates.stop_in("s", "p", false);
    answers(&answer, "approve", "passed_with_warnings");
}

#[test]
fn an_agent_cannot_accept_its_own_change() {
    let gates = Gates::new(&[BAD]);
    gates
        .tollgate(&["validate", "--accept"])
        .exits(2)
        .says("for a person at a terminal");
}

/// E15: work was stashed, or the base moved, and nothing was left to check.
#[test]
fn e15_work_that_goes_out_of_sight_is_named() {
    let gates = Gates::new(&[OK]);
    let start = json!({ "hook_event_name": "SessionStart", "source": "startup" });
    hook(&gates, &start).says_nothing();
    gates.git(&["stash", "push", "-q", "--include-untracked", "--", "src"]);
    let answer = gates.stop_in("s", "p", false);
    answers(&answer, "approve", "passed");
    assert!(
        answer["message"].as_str().unwrap().contains("git stash"),
        "{answer}"
    );

    let gates = Gates::new(&[BAD]);
    hook(&gates, &start).says_nothing();
    gates.commit("work");
    gates.git(&["branch", "-q", "-f", "main", "work"]);
    let answer = gates.stop_in("s", "p", false);
    answers(&answer, "approve", "no_changes");
    assert!(
        answer["message"]
            .as_str()
            .unwrap()
            .contains("main was moved onto the work"),
        "{answer}"
    );
}

/// E15: work was stashed, or the base moved, and nothing was left to check.
#[test]
fn e15_moving_the_base_does_not_undo_a_failure() {
    let gates = Gates::new(&[BAD]);
    answers(&gates.stop_in("s", "p", false), "block", "failed");
    gates.commit("work");
    gates.git(&["branch", "-q", "-f", "main", "work"]);
    // The turn changed no file that the gates check, so it is not held for them; but it is said.
    let answer = gates.stop_in("s", "p2", false);
    answers(&answer, "approve", "no_changes");
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains("check:src:bad: failed"), "{message}");
    gates.file("src/c.txt", "c");
    answers(&gates.stop_in("s", "p3", false), "block", "failed");
}

/// The agent of this session tells of something.
fn says(gates: &Gates, session: &str, event: Value) -> Value {
    let event = event
        .in_session(session)
        .in_directory(gates.root())
        .with("transcript_path", "/t.jsonl")
        .with("permission_mode", "default");
    let run = gates.hook(&event);
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap_or_default()
}

fn begins(gates: &Gates, session: &str) {
    says(
        gates,
        session,
        events::named("SessionStart").with("source", "startup"),
    );
    says(
        gates,
        session,
        events::named("UserPromptSubmit").with("prompt", "do it"),
    );
}

fn writes(gates: &Gates, session: &str, name: &str, text: &str) {
    let path = gates.file(name, text);
    says(
        gates,
        session,
        events::write(&path, text).call(name).done("ok"),
    );
}

/// A session that had ended was "editing" for half an hour: what this one then broke by a command was
/// blamed on it, the stop waited for half a minute and was let go.
#[test]
fn what_another_session_wrote_before_the_turn_is_not_its_work_in_it() {
    let gates = Gates::new(&[("clean", "command: \"! grep bad *\"")]);
    begins(&gates, "b");
    writes(&gates, "b", "src/b.txt", "good\n");
    says(&gates, "b", events::stop());
    says(
        &gates,
        "b",
        events::named("SessionEnd").with("reason", "other"),
    );
    begins(&gates, "a");
    gates.file("src/b.txt", "bad\n");
    says(
        &gates,
        "a",
        events::bash("sed -i s/good/bad/ src/b.txt").done("ok"),
    );
    let answer = says(&gates, "a", events::stop());
    assert_eq!(answer["decision"], "block", "{answer:#}");
    let reason = answer["reason"].as_str().unwrap();
    assert!(!reason.contains("Another session"), "{reason}");
}

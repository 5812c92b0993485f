//! `tollgate stop-hook`, the original's registration, is as good as `tollgate hook`: what it
//! decides is written down, a person can lift it, and it does not stand in the way of a question.

use serde_json::json;

use super::{BAD, FIXABLE, Gates, OK, answers};
use crate::terminal::Terminal;

/// Verdict, guard and code of what the journal has about stops.
fn decisions(gates: &Gates) -> Vec<String> {
    let entries = gates.journal();
    let stops = entries.iter().filter(|entry| entry["verdict"] != "gate");
    stops
        .map(|entry| {
            let word = |key: &str| entry[key].as_str().unwrap_or("-").to_owned();
            format!("{} {} {}", word("verdict"), word("guard"), word("code"))
        })
        .collect()
}

#[test]
fn blocks_and_releases_are_in_the_journal() {
    let gates = Gates::new(&[FIXABLE]);
    answers(&gates.stop_in("s", "p", false), "block", "failed");
    answers(
        &gates.stop_in("s", "p", true),
        "approve",
        "stop_hook_active",
    );
    let expected = ["block gates GATE-FAILED", "warn gates GATE-NOTICE"];
    assert_eq!(decisions(&gates), expected);
    gates
        .tollgate(&["explain", "--last"])
        .exits(0)
        .says("GATE-NOTICE");
    gates.file("src/fixed", "");
    answers(&gates.stop_in("s", "p", true), "approve", "passed");
    assert_eq!(decisions(&gates), expected, "a pass is no news");
}

#[test]
fn what_could_not_be_decided_is_in_the_journal() {
    let gates = Gates::new(&[OK]);
    gates.file(".gauntlet/config.yml", "entry_points: [\n");
    answers(&gates.stop(), "approve", "error");
    let (answer, _) = gates.stop_raw(b"no event");
    answers(&answer, "approve", "invalid_input");
    assert_eq!(
        decisions(&gates),
        ["fault - gates-not-run", "fault - event-malformed"]
    );
}

#[test]
fn a_person_lets_a_stop_through() {
    let gates = Gates::new(&[BAD]);
    let arguments = [
        "allow",
        "GATE-FAILED",
        "--once",
        "--reason",
        "agreed with Ada",
    ];
    let (screen, code) = Terminal::start(&gates.command(&arguments)).retypes().ends();
    assert_eq!(code, 0, "{screen}");
    let answer = gates.stop_in("s", "p", false);
    answers(&answer, "approve", "retry_limit_exceeded");
    let message = answer["message"].as_str().unwrap();
    for words in [
        "NOT verified",
        "allowed GATE-FAILED once",
        "agreed with Ada",
    ] {
        assert!(message.contains(words), "{message}");
    }
    answers(&gates.stop_in("t", "p", false), "block", "failed");
}

#[test]
fn a_stop_that_waits_for_somebody_is_not_gated() {
    let gates = Gates::new(&[BAD]);
    for field in [
        json!({ "permission_mode": "plan" }),
        json!({ "background_tasks": [{ "id": "1" }] }),
    ] {
        let mut event = json!({ "hook_event_name": "Stop", "session_id": "s" });
        let fields = field.as_object().unwrap().clone();
        event.as_object_mut().unwrap().extend(fields);
        let (answer, _) = gates.stop_raw(event.to_string().as_bytes());
        answers(&answer, "approve", "stop_hook_disabled");
        let message = answer["message"].as_str().unwrap();
        assert!(message.contains("is not gated"), "{message}");
    }
    assert!(!gates.exists("gauntlet_logs/console.1.log"));
    answers(&gates.stop(), "block", "failed");
}

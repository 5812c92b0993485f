//! `[plans]` of `tollgate.toml`: what each key does.

use serde_json::json;

use super::fixture::{Fixture, Session, answers};

fn with(plans: &str) -> Fixture {
    let fixture = Fixture::at(&json!({}));
    let text = format!("[plans]\n{plans}\n");
    fixture.project.file("tollgate.toml", text);
    fixture
}

/// The reviewer that is named is the one that a person is asked about.
pub(crate) fn reviewer() {
    let shown = |plans| with(plans).project.tollgate(&["trust", "--show"]);
    shown("reviewer = \"codex\"").says("codex, which only reads");
    shown("").says("claude, without asking");
}

/// A review that takes longer is ended.
pub(crate) fn timeout() {
    let fixture = with("timeout = \"300ms\"");
    fixture.reviewer("before", "sleep 60");
    let begun = std::time::Instant::now();
    let told = fixture.stop().approves();
    assert!(begun.elapsed().as_secs() < 30, "{told}");
    assert!(told.contains("0.3"), "{told}");
}

/// `strict` lets the stop go that follows a block.
pub(crate) fn loop_guard() {
    for (guard, blocks) in [("strict", 1), ("progress", 2)] {
        let fixture = with(&format!("loop_guard = \"{guard}\""));
        let mut session = Session::new(&fixture);
        let reason = session.stop().blocks();
        answers(&fixture, &reason);
        session.stop();
        assert_eq!(session.blocks, blocks, "{guard}");
    }
}

#[test]
fn plans_json_wins_and_both_are_named() {
    let fixture = with("reviewer = \"codex\"");
    fixture.config(&json!({ "reviewer": "gemini" }));
    let run = fixture.project.tollgate(&["trust", "--show"]);
    run.says("gemini").does_not_say("codex");
    fixture.verdicts(&["PASS"]);
    let told = fixture.stop().0;
    let said = format!("{}{}", told.stdout, told.stderr);
    assert!(
        said.contains(".tollgate/plans.json") && said.contains("[plans] of tollgate.toml"),
        "{said}"
    );
}

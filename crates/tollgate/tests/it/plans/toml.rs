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

/// For a gate, "0s" means no limit; a stop has to be answered.
#[test]
fn a_review_needs_time_and_has_no_more_than_a_stop() {
    let none = with("timeout = \"0s\"");
    none.project
        .tollgate(&["validate"])
        .exits(1)
        .says("plans.timeout: a review needs time");
    let long = with("timeout = \"2h\"");
    long.project.must(&["validate"]);
    long.plan(&["review", "--dry-run"]).says("at most  865 s");
}

/// The home decides the words: there is no plugin of Taskie's where there is no `.taskie/`.
#[test]
fn a_plan_in_tollgates_own_home_goes_on_by_tollgates_commands() {
    let fixture = Fixture::at(&json!({}));
    let taskie = fixture.project.path(".taskie");
    for file in std::fs::read_dir(taskie.join("plans/test-plan")).unwrap() {
        let file = file.unwrap();
        let name = file.file_name().into_string().unwrap();
        let text = std::fs::read(file.path()).unwrap();
        let own = format!(".tollgate/plans/test-plan/{name}");
        fixture.project.file(&own, text);
    }
    std::fs::remove_dir_all(taskie).unwrap();
    fixture.project.file("tollgate.toml", "");
    fixture.project.must(&["plan", "set", "max_reviews", "0"]);
    let told = Session::new(&fixture).stop().approves();
    assert!(
        told.contains("Auto-advanced to complete-task. `tollgate plan next` says how to go on."),
        "{told}"
    );
    fixture.project.must(&["plan", "set", "max_reviews", "8"]);
    let state = ".tollgate/plans/test-plan/state.json";
    let text = fixture.project.text(state);
    let mut due: serde_json::Value = serde_json::from_str(&text).unwrap();
    due["next_phase"] = json!("code-review");
    due["consecutive_clean"] = json!(1);
    fixture.project.file(state, due.to_string());
    fixture.verdicts(&["PASS"]);
    let told = Session::new(&fixture).stop().approves();
    assert!(
        told.contains("Next is complete-task. `tollgate plan next` says how to go on."),
        "{told}"
    );
}

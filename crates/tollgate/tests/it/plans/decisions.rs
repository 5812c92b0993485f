//! The design's decisions 19 and 20, where they go beyond the specification's own tests.

use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::fixture::{Fixture, Session, obeys};
use crate::events::{Event as _, stop};
use crate::project::run;

/// What each logged stop came to.
fn stops(fixture: &Fixture) -> Vec<(String, Vec<Value>)> {
    let log = fixture.log();
    let stops = log.iter().filter(|line| line["what"] == "stop");
    stops
        .map(|line| {
            let codes = line["codes"].as_array().unwrap().clone();
            (line["answer"].as_str().unwrap().to_owned(), codes)
        })
        .collect()
}

/// The specification lets a failed review fall through to validation, which could block; decided
/// is that a review that was not made is not the agent's fault.
#[test]
fn decision_20_a_review_that_was_not_made_never_blocks() {
    for (when, script) in [
        ("last", "exit 1"),
        ("last", "kill -9 $$"),
        ("after", "rm \"$file\""),
        ("before", "sleep 5"),
        ("missing", ""),
    ] {
        let fixture = Fixture::at(&json!({ "consecutive_clean": 1 }));
        fixture.config(&json!({ "timeout_seconds": 2 }));
        fixture.verdicts(&["PASS"]).reviewer(when, script);
        if when == "missing" {
            std::fs::remove_file(fixture.project.programs().join("claude")).unwrap();
        }
        fixture.file("nested/extra.md", "x");
        let before = fixture.read("state.json");
        let mut session = Session::new(&fixture);
        let told = session.stop().approves();
        assert!(told.contains("Warning: "), "{script}: {told}");
        // What else is wrong is said all the same.
        assert!(told.contains("nested directories"), "{script}: {told}");
        assert_eq!(fixture.read("state.json"), before, "{script}");
        assert_eq!(
            stops(&fixture),
            [(
                "allowed".to_owned(),
                vec![json!("PLAN-NO-REVIEW"), json!("PLAN-RULES")]
            )],
            "{script}"
        );
    }
}

/// Whatever became of the review, what is wrong with the plan's files is said.
#[test]
fn decision_21_findings_about_the_files_are_always_said() {
    // No reviewer, and reviews switched off.
    for fields in [json!({}), json!({ "max_reviews": 0 })] {
        let fixture = Fixture::at(&fields);
        std::fs::remove_file(fixture.project.programs().join("claude")).unwrap();
        fixture.file("nested/extra.md", "x");
        let told = fixture.stop().approves();
        assert!(told.contains("nested directories"), "{fields}: {told}");
        std::fs::remove_dir_all(fixture.path("nested")).unwrap();
        fixture.state(&fields);
        let told = fixture.stop().approves();
        assert!(!told.contains("nested directories"), "{fields}: {told}");
    }
}

/// A reviewer that is not held to the schema and only quotes a verdict gave none, which counts as
/// FAIL.
#[test]
fn decision_22_a_quoted_verdict_is_none() {
    let pass = r#"{\"verdict\":\"PASS\"}"#;
    for (said, verdict) in [
        (pass.to_owned(), "PASS"),
        (format!("Done.\\n```json\\n{pass}\\n```"), "PASS"),
        (
            format!("I cannot open plan.md. The answer has this shape:\\n```json\\n{pass}\\n```"),
            "no verdict (counts as FAIL)",
        ),
        (
            format!("The plan fails at step 2.\\n{pass}"),
            "no verdict (counts as FAIL)",
        ),
        (format!("{pass}\\n{pass}"), "no verdict (counts as FAIL)"),
    ] {
        let fixture = Fixture::at(&json!({ "next_phase": "plan-review" }));
        let answer = format!(
            r#"{{"type":"result","subtype":"success","is_error":false,"result":"{said}"}}"#
        );
        fixture.project.file("control/answer", answer);
        fixture.reviewer("after", "cat \"$d/answer\"; exit 0");
        fixture.stop().blocks();
        let status = fixture.plan(&["status", "--json"]).json();
        assert_eq!(status["rounds"][0]["verdict"], verdict, "{said}");
        let clean = u64::from(verdict == "PASS");
        assert_eq!(fixture.read_state()["consecutive_clean"], clean, "{said}");
    }
}

#[test]
fn decision_19_every_stop_is_logged() {
    let fixture = Fixture::at(&json!({}));
    let root = fixture.project.root();
    let bare = |flagged: bool| json!({ "cwd": root, "stop_hook_active": flagged });
    let plan_mode = stop()
        .in_session("s")
        .in_directory(root)
        .with("permission_mode", "plan");
    let flagged = stop().in_session("s").in_directory(root).flagged();
    fixture.hook(&bare(true)).approves();
    fixture.hook(&plan_mode).approves();
    fixture.hook(&flagged).approves();
    fixture.hook(&bare(false)).blocks();
    // Nothing to do: the answer is the agent's to write.
    fixture.hook(&bare(false)).approves();
    let answers: Vec<String> = stops(&fixture)
        .into_iter()
        .map(|(answer, _)| answer)
        .collect();
    assert_eq!(
        answers,
        [
            "let through by the letter",
            "not gated",
            "allowed",
            "blocked",
            "allowed"
        ]
    );
    let log = fixture.log();
    assert_eq!(log[1]["session"], "s");
    assert_eq!(log[2]["flagged"], true);
    // The state as it was, and once it was changed with the step that changed it.
    assert_eq!(log[2]["state"].as_str().unwrap(), log_text(&log[2]));
    assert_eq!(log[3]["what"], "step");
    assert!(
        log[3]["state"]
            .as_str()
            .unwrap()
            .contains("post-code-review")
    );
    assert_eq!(log[4]["state"], Value::Null);
    assert_eq!(
        log[5]["state"].as_str().unwrap(),
        fixture.read("state.json")
    );
    let status = fixture.plan(&["status"]);
    assert!(status.stdout.contains("stop     allowed, 2"), "{status:?}");
}

/// The state of a line is a JSON text of its own.
fn log_text(line: &Value) -> &str {
    let text = line["state"].as_str().unwrap();
    let state: Value = serde_json::from_str(text).unwrap();
    assert_eq!(state["next_phase"], "code-review");
    text
}

/// After the turn of a review that failed, stops were let go without a word while nobody answered it.
#[test]
fn a_review_that_nobody_answers_is_said_at_each_stop() {
    let fixture = Fixture::at(&json!({}));
    fixture.verdicts(&["FAIL"]);
    let mut session = Session::new(&fixture);
    session.stop().blocks();
    for _ in 0..2 {
        session.prompt();
        let told = session.stop().approves();
        let why = "Plan 'test-plan' is NOT verified: code-review was not answered.";
        assert!(told.contains(why), "{told}");
    }
    let codes = fixture.project.codes();
    let released = codes.iter().filter(|code| *code == "PLAN-RELEASED");
    assert_eq!(released.count(), 2, "{codes:?}");
}

#[test]
fn decision_19_a_log_does_not_grow_for_ever() {
    let fixture = Fixture::at(&json!({ "next_phase": null }));
    let log = ".tollgate/local/plans/test-plan/log.jsonl";
    fixture.stop().validates();
    let line = fixture.project.read(log);
    fixture
        .project
        .file(log, line.repeat((1 << 20) / line.len() + 1));
    fixture.stop().validates();
    assert_eq!(fixture.project.read(log), "");
    fixture.stop().validates();
    assert_eq!(fixture.log().len(), 1);
    assert!(
        fixture
            .project
            .path(".tollgate/local/plans/test-plan/log.1.jsonl")
            .is_file()
    );
}

#[test]
fn a_log_that_cannot_be_written_is_told_and_blocks_nothing() {
    let fixture = Fixture::at(&json!({ "next_phase": null }));
    std::fs::create_dir_all(
        fixture
            .project
            .path(".tollgate/local/plans/test-plan/log.jsonl"),
    )
    .unwrap();
    let told = fixture.stop().validates();
    assert!(
        told.contains("the log of plan 'test-plan' cannot be written"),
        "{told}"
    );
    let fixture = Fixture::at(&json!({}));
    fixture.verdicts(&["PASS"]);
    assert!(Session::new(&fixture).turn(obeys).contains("passed"));
}

/// Git writes the files of a checkout in the order of their names, an answer before its review.
#[test]
fn decision_19_an_answer_is_proof_after_a_checkout_too() {
    let waits = json!({
        "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1,
        "review_model": "sonnet",
    });
    let now = SystemTime::now();
    for (apart, next) in [(3, "stop"), (60_000, "post-code-review")] {
        let fixture = Fixture::at(&waits);
        let review = fixture.file("task-1-review-1.md", "# Review\n");
        let answer = fixture.file("task-1-post-review-1.md", "# Fixed\n");
        dated(&review, now);
        dated(&answer, now - Duration::from_millis(apart));
        assert_eq!(fixture.next(), next, "{apart} ms");
        let stop = fixture.stop();
        assert_eq!(stop.is_block(), next == "stop", "{stop:?}");
        assert_eq!(fixture.has("task-1-review-2.md"), next == "stop");
    }
    // Of a review that was made here the times are true.
    let fixture = Fixture::at(&json!({}));
    fixture.stop().blocks();
    let answer = fixture.file("task-1-post-review-1.md", "# Of a cycle before\n");
    let made = fixture.path("task-1-review-1.md");
    let made = made.metadata().unwrap().modified().unwrap();
    dated(&answer, made - Duration::from_millis(3));
    assert_eq!(fixture.next(), "post-code-review");
}

fn dated(path: &Path, time: SystemTime) {
    let file = std::fs::File::options().append(true).open(path).unwrap();
    file.set_modified(time).unwrap();
}

/// Obeyed, and said: at the stop, in the journal, and wherever the plan is shown.
#[test]
fn decision_21_leaving_the_review_loop_is_obeyed_and_shown() {
    let left = "review loop ended after plan-review 1";
    let waits = json!({ "phase": "new-plan", "next_phase": "plan-review", "current_task": null });
    let as_the_text_says = |fixture: &Fixture| {
        let mut state = fixture.read_state();
        state["next_phase"] = Value::Null;
        fixture.file("state.json", &state.to_string());
    };
    let by_command = |fixture: &Fixture| {
        let mut command = fixture.project.command(&["plan", "release"]);
        command
            .env("CLAUDECODE", "1")
            .env("CLAUDE_CODE_SESSION_ID", "session-1");
        run(command, b"").exits(0);
        let steps = fixture.project.journal();
        let step = steps.last().unwrap();
        assert_eq!(step["code"], "PLAN-STEP");
        let reason = step["reason"].as_str().unwrap();
        let said = "test-plan: left the review loop after plan-review";
        assert!(reason.starts_with(said), "{reason}");
        assert!(
            reason.ends_with("by an agent (CLAUDECODE is set)"),
            "{reason}"
        );
    };
    let ways: [&dyn Fn(&Fixture); 2] = [&as_the_text_says, &by_command];
    for leave in ways {
        let fixture = Fixture::at(&waits);
        let mut session = Session::new(&fixture);
        session.stop().blocks();
        leave(&fixture);
        let told = session.stop().approves();
        assert!(told.contains("Plan 'test-plan' is NOT verified"), "{told}");
        assert!(told.contains(left), "{told}");
        assert_eq!(fixture.project.codes().last().unwrap(), "PLAN-LEFT");
        fixture.project.must(&["status"]).says(left);
        fixture.plan(&["status"]).says(left);
    }
    // A loop that is at work, or ended well, is none that was left.
    for fields in [
        json!({ "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1 }),
        json!({ "phase": "code-review", "next_phase": null, "phase_iteration": 2, "consecutive_clean": 2 }),
        json!({ "phase": "code-review", "next_phase": null, "phase_iteration": null }),
        json!({ "phase": "complete-task", "next_phase": null }),
    ] {
        let fixture = Fixture::at(&fields);
        fixture.plan(&["status"]).does_not_say("review loop ended");
    }
}

#[test]
fn a_command_that_changes_the_plan_is_in_the_journal() {
    let fixture = Fixture::at(&json!({}));
    fixture.plan(&["set", "max_reviews", "0"]).exits(0);
    let journal = fixture.project.journal();
    assert_eq!(journal[0]["guard"], "plan");
    assert_eq!(journal[0]["code"], "PLAN-STEP");
    assert_eq!(journal[0]["reason"], "test-plan: max_reviews is 0");
}

//! Sessions with the real flag: true on every stop of a turn after the first block.

use serde_json::json;

use super::fixture::{Fixture, Session, TASKS, answers, obeys};
use crate::project::tasks;

#[test]
fn fail_fail_pass_pass_is_four_reviews_three_blocks_and_advances() {
    let fixture = Fixture::at(&json!({ "phase": "complete-task" }));
    fixture.verdicts(&["FAIL", "FAIL", "PASS", "PASS"]);
    let mut session = Session::new(&fixture);
    let told = session.turn(obeys);
    assert_eq!(
        (session.stops, session.blocks, fixture.calls().len()),
        (4, 3, 4)
    );
    assert!(told.contains("code-review passed"), "{told}");
    let state = fixture.read_state();
    assert_eq!(
        (&state["next_phase"], &state["phase_iteration"]),
        (&json!("complete-task"), &json!(4))
    );
}

#[test]
fn the_post_review_file_alone_is_proof() {
    let fixture = Fixture::at(&json!({ "phase": "complete-task" }));
    fixture.verdicts(&["FAIL", "PASS", "PASS"]);
    let mut session = Session::new(&fixture);
    session.turn(answers);
    assert_eq!((session.blocks, fixture.calls().len()), (2, 3));
    assert_eq!(fixture.read_state()["next_phase"], "complete-task");
    // And so is the command.
    let fixture = Fixture::at(&json!({ "phase": "complete-task" }));
    fixture.verdicts(&["FAIL", "PASS", "PASS"]);
    let mut session = Session::new(&fixture);
    session.turn(|fixture, reason| {
        answers(fixture, reason);
        assert_eq!(fixture.plan(&["done", "post-code-review"]).code, 0);
        assert_eq!(fixture.next(), "stop");
    });
    assert_eq!((session.blocks, fixture.calls().len()), (2, 3));
}

#[test]
fn always_fail_ends_at_the_limit_with_a_hard_stop() {
    for (limit, plan) in [(8, json!({})), (3, json!({ "max_reviews": 3 }))] {
        let fixture = Fixture::at(&plan);
        let mut session = Session::new(&fixture);
        let told = session.turn(obeys);
        assert_eq!(
            (session.blocks, fixture.calls().len()),
            (limit, limit as usize)
        );
        assert!(
            told.contains(&format!("Max review limit ({limit})")),
            "{told}"
        );
        let state = fixture.read_state();
        assert_eq!(
            (&state["next_phase"], &state["phase_iteration"]),
            (&json!("code-review"), &json!(limit))
        );
        assert_eq!(fixture.next(), "ask");
    }
}

#[test]
fn a_turn_has_at_most_eight_blocks_and_the_next_prompt_goes_on() {
    let fixture = Fixture::at(&json!({ "max_reviews": 10 }));
    let mut session = Session::new(&fixture);
    let told = session.turn(obeys);
    assert_eq!((session.blocks, fixture.calls().len()), (8, 8));
    assert!(told.contains("goes on with your next prompt"), "{told}");
    session.prompt();
    session.turn(obeys);
    assert_eq!(fixture.calls().len(), 10);
}

#[test]
fn an_agent_that_ignores_the_block_is_let_through_and_told_on() {
    let fixture = Fixture::at(&json!({}));
    let mut session = Session::new(&fixture);
    let told = session.turn(|_, _| ());
    assert_eq!(
        (session.stops, session.blocks, fixture.calls().len()),
        (2, 1, 1)
    );
    assert!(
        told.contains("NOT verified") && told.contains("code-review was not answered"),
        "{told}"
    );
    assert_eq!(fixture.next(), "post-code-review");
}

#[test]
fn an_agent_that_cannot_mend_is_released_at_its_third_stop_at_the_latest() {
    let fixture = Fixture::new();
    fixture.file("stray.md", "x");
    let mut session = Session::new(&fixture);
    let told = session.turn(|_, _| ());
    assert!(session.stops <= 3, "{}", session.stops);
    assert!(
        told.contains("NOT verified") && told.contains("Invalid filename: stray.md"),
        "{told}"
    );
    // One that mends one of two faults goes on being told about the other.
    let fixture = Fixture::new();
    fixture.file("stray.md", "x");
    fixture.file("astray.md", "x");
    let mut session = Session::new(&fixture);
    session.turn(|fixture, reason| {
        if reason.contains("stray.md") {
            let name = if fixture.has("stray.md") {
                "stray.md"
            } else {
                "astray.md"
            };
            fixture.remove(name);
        }
    });
    assert_eq!(session.blocks, 2);
}

#[test]
fn an_agent_that_flips_between_faults_does_not_loop() {
    let fixture = Fixture::new();
    fixture.file("a-stray.md", "x");
    let mut session = Session::new(&fixture);
    session.turn(|fixture, _| {
        let (from, to) = if fixture.has("a-stray.md") {
            ("a-stray.md", "b-stray.md")
        } else {
            ("b-stray.md", "a-stray.md")
        };
        fixture.remove(from);
        fixture.file(to, "x");
    });
    assert!(session.blocks <= 4, "{}", session.blocks);
}

#[test]
fn an_agent_that_resets_the_counter_gets_at_most_max_reviews() {
    let fixture = Fixture::at(&json!({ "max_reviews": 4 }));
    let mut session = Session::new(&fixture);
    session.turn(|fixture, reason| {
        obeys(fixture, reason);
        let mut state = fixture.read_state();
        state["phase_iteration"] = json!(0);
        fixture.file("state.json", &state.to_string());
    });
    assert!(session.blocks <= 4, "{}", session.blocks);
    assert!(fixture.calls().len() <= 4);
}

#[test]
fn an_old_answer_of_the_same_number_is_no_answer() {
    let fixture = Fixture::at(&json!({}));
    fixture.file("task-1-review-1.md", "old");
    fixture.file("task-1-post-review-1.md", "old");
    let mut session = Session::new(&fixture);
    let told = session.turn(|_, _| ());
    assert_eq!((session.blocks, fixture.calls().len()), (1, 1));
    assert!(told.contains("NOT verified"), "{told}");
}

#[test]
fn strict_restores_the_letter() {
    let fixture = Fixture::at(&json!({}));
    fixture.config(&json!({ "loop_guard": "strict" }));
    let mut session = Session::new(&fixture);
    let told = session.turn(obeys);
    assert_eq!((session.blocks, fixture.calls().len()), (1, 1));
    assert_eq!(told, "");
}

#[test]
fn a_flag_without_a_block_of_ours_is_let_through() {
    let fixture = Fixture::at(&json!({}));
    let stop = fixture.hook(&json!({
        "session_id": "s", "hook_event_name": "Stop", "cwd": fixture.project.root(),
        "stop_hook_active": true,
    }));
    assert_eq!(stop.0.stdout, "");
    assert!(fixture.calls().is_empty());
    // It leaves a trace: the original's log was blind here.
    assert_eq!(fixture.project.codes(), ["PLAN-STEP"]);
}

#[test]
fn working_subagents_and_plan_mode_are_not_gated() {
    let fixture = Fixture::at(&json!({}));
    for extra in [
        json!({ "background_tasks": [{}] }),
        json!({ "permission_mode": "plan" }),
    ] {
        let mut event = json!({
            "session_id": "s", "hook_event_name": "Stop", "cwd": fixture.project.root(),
            "stop_hook_active": false,
        });
        event
            .as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        assert_eq!(fixture.hook(&event).0.stdout, "");
    }
    assert!(fixture.calls().is_empty());
}

/// Performs what `plan next` names, as a prompt of the plugin says.
fn perform(fixture: &Fixture, action: &str) {
    match action {
        "new-plan" => drop(fixture.file("plan.md", "# Plan\n\n## Overview\nAll of it.\n")),
        "create-tasks" => {
            fixture.file("tasks.md", &tasks(TASKS));
            for task in 1..=3 {
                fixture.file(
                    &format!("task-{task}.md"),
                    "# Task\n\n**Status**: pending\n",
                );
            }
        }
        "complete-task" | "complete-task-tdd" => {}
        _ => panic!("{action}"),
    }
    let begun = fixture.plan(&["begin", action]);
    assert_eq!(begun.code, 0, "{begun:?}");
    if action.starts_with("complete-task") {
        let task = fixture.read_state()["current_task"]
            .as_str()
            .unwrap()
            .to_owned();
        assert_eq!(fixture.next(), "continue-task");
        fixture.file(
            &format!("task-{task}.md"),
            "# Task\n\n**Status**: completed\n",
        );
        let tasks = fixture.read("tasks.md");
        fixture.file(
            "tasks.md",
            &tasks.replace(&format!("| {task} | pending"), &format!("| {task} | done")),
        );
    }
    let done = fixture.plan(&["done", action]);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(fixture.next(), "stop");
}

#[test]
fn the_whole_route_from_new_plan_to_complete() {
    let fixture = Fixture::bare();
    fixture.verdicts(&["FAIL", "PASS", "PASS"]);
    assert_eq!(fixture.plan(&["new", "test-plan"]).code, 0);
    let mut session = Session::new(&fixture);
    let mut route = Vec::new();
    for _ in 0..20 {
        let next = fixture.next();
        route.push(next.clone());
        match next.as_str() {
            "complete" => break,
            "finish" => assert_eq!(fixture.plan(&["done", "continue-plan"]).code, 0),
            "stop" => {
                session.prompt();
                // Each cycle begins with a FAIL of its own.
                let calls = fixture.calls().len();
                let mut verdicts = vec!["FAIL"; calls + 1];
                verdicts.extend(["PASS", "PASS"]);
                fixture.verdicts(&verdicts);
                let told = session.turn(answers);
                assert!(told.contains("passed"), "{told}");
                assert_eq!(fixture.calls().len(), calls + 3);
            }
            action => perform(&fixture, action),
        }
    }
    assert_eq!(
        route,
        [
            "new-plan",
            "stop",
            "create-tasks",
            "stop",
            "complete-task",
            "stop",
            "complete-task",
            "stop",
            "complete-task",
            "stop",
            "stop",
            "finish",
            "complete"
        ]
    );
    let state = fixture.read_state();
    assert_eq!(
        (&state["phase"], &state["next_phase"]),
        (&json!("complete"), &json!(null))
    );
    // Six cycles of three reviews: the plan, the tasks, three tasks, all code.
    let status = fixture.plan(&["status", "--json"]);
    let status: serde_json::Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!(status["rounds"].as_array().unwrap().len(), 18);
    assert!((status["cost_usd"].as_f64().unwrap() - 18.0 * 0.0421).abs() < 1e-9);
    assert_eq!(status["rounds"][0]["model"], "opus");
    assert_eq!(status["rounds"][1]["model"], "sonnet");
    assert_eq!(
        fixture.stop().validates(),
        "Plan 'test-plan' structure validated successfully"
    );
}

#[test]
fn a_review_leaves_its_trace_in_the_journal() {
    let fixture = Fixture::at(&json!({}));
    Session::new(&fixture).stop().blocks();
    let journal = fixture.project.journal();
    let texts: Vec<_> = journal
        .iter()
        .filter_map(|line| line["reason"].as_str())
        .collect();
    let round = texts
        .iter()
        .find(|text| text.contains("code-review 1 of task 1 by opus: FAIL"));
    assert!(
        round.is_some_and(|round| round.contains("$0.0421")),
        "{texts:?}"
    );
    assert!(fixture.project.codes().contains(&"PLAN-REVIEW".to_owned()));
}

#[test]
fn the_gates_are_asked_once_the_reviews_have_passed() {
    let fixture = Fixture::at(&json!({ "phase": "complete-task" }));
    fixture.project.git(&["init", "-q", "-b", "main"]);
    fixture.project.file(
        ".gauntlet/config.yml",
        "base_branch: main\nentry_points:\n  - path: \".\"\n    checks:\n      - broken\n",
    );
    fixture
        .project
        .file(".gauntlet/checks/broken.yml", "command: \"false\"\n");
    fixture.verdicts(&["PASS"]);
    let mut session = Session::new(&fixture);
    let first = session.stop().blocks();
    assert!(first.contains("post-code-review"), "{first}");
    obeys(&fixture, &first);
    // Flagged, and the plan advances: now it is the gates' turn, in the same stop.
    let second = session.stop();
    let reason = second.blocks();
    assert!(reason.contains("broken"), "{reason}");
    assert!(
        second.answer()["systemMessage"]
            .as_str()
            .unwrap()
            .contains("code-review passed")
    );
    assert_eq!(fixture.read_state()["next_phase"], "complete-task");
}

#[test]
fn another_reviewer_by_configuration() {
    let fixture = Fixture::at(&json!({}));
    fixture.config(&json!({ "reviewer": "gemini" }));
    assert!(fixture.stop().validates().contains("gemini CLI not found"));
    let answer = json!({ "response": json!({ "verdict": "PASS", "review": "# Fine\nNothing to change.\n" }).to_string() });
    let script = format!("#!/bin/sh\ncat > /dev/null\ncat <<'END'\n{answer}\nEND\n");
    fixture.project.program("gemini", &script);
    let mut session = Session::new(&fixture);
    let told = session.turn(answers);
    assert!(told.contains("code-review passed"), "{told}");
    assert_eq!((session.blocks, fixture.calls().len()), (1, 0));
    assert_eq!(
        fixture.read("task-1-review-2.md"),
        "# Fine\nNothing to change.\n"
    );
    let status = fixture.plan(&["status"]).stdout;
    assert!(
        status.contains("code-review 1 of task 1 by gemini: PASS"),
        "{status}"
    );
}

/// The rules of a plan's files blocked before: that was no review.
#[test]
fn a_block_for_the_rules_is_not_counted_as_a_review() {
    let fixture = Fixture::at(&json!({ "max_reviews": 1, "next_phase": null }));
    fixture.file("stray.md", "x");
    let mut session = Session::new(&fixture);
    session.stop().blocks();
    fixture.remove("stray.md");
    fixture.state(&json!({ "max_reviews": 1 }));
    let reason = session.stop().blocks();
    assert!(reason.contains("task-1-review-1.md"), "{reason}");
    assert_eq!(fixture.calls().len(), 1);
}

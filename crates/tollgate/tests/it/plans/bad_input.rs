//! Bad input that the list of faults does not have.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use super::fixture::{FIELDS, Fixture, Stop};
use crate::events::{self, Event as _};
use crate::project::TOLLGATE;

#[test]
fn plan_names_with_spaces_quotes_and_review() {
    for name in [
        "my plan",
        "it's \"quoted\"",
        "peer-review",
        "review",
        "ümlaut $(x)",
    ] {
        let fixture = Fixture::bare();
        let file = |file: &str, text: &str| {
            fixture
                .project
                .file(&format!(".taskie/plans/{name}/{file}"), text);
        };
        file("plan.md", "# Plan\n");
        file("task-1.md", "# Task\n");
        // B8: a name with "review" used to switch this rule off.
        let reason = fixture.stop().blocks();
        assert_eq!(
            reason,
            format!("Plan '{name}': Task files exist but tasks.md is missing")
        );
        file("tasks.md", &crate::project::tasks(super::fixture::TASKS));
        file(
            "state.json",
            r#"{"phase":"complete-task","next_phase":"code-review","current_task":"1","phase_iteration":0,"review_model":"opus","max_reviews":8,"consecutive_clean":0,"tdd":false}"#,
        );
        let reason = fixture.stop().blocks();
        assert!(
            reason.contains(&format!(".taskie/plans/{name}/task-1-review-1.md")),
            "{reason}"
        );
        assert!(
            fixture
                .project
                .path(&format!(".taskie/plans/{name}/task-1-review-1.md"))
                .is_file()
        );
        assert_eq!(fixture.plan(&["next", "--plan", name]).code, 0);
    }
}

#[test]
fn states_that_are_no_state() {
    for (text, told) in [
        ("[]", "invalid JSON"),
        ("null", "invalid JSON"),
        ("\"x\"", "invalid JSON"),
        ("", "invalid JSON"),
        ("{\"a\":", "invalid JSON"),
        ("{}", "missing required fields"),
    ] {
        let fixture = Fixture::new();
        fixture.file("state.json", text);
        let said = fixture.stop().validates();
        assert!(said.contains(told), "{text}: {said}");
        assert_eq!(fixture.read("state.json"), text);
        assert_eq!(fixture.next(), "ask");
        assert_eq!(fixture.plan(&["status"]).code, 0);
        let begun = fixture.plan(&["begin", "create-tasks"]);
        assert_eq!(
            begun.code,
            if text == "{}" { 0 } else { 2 },
            "{text}: {begun:?}"
        );
    }
}

#[test]
fn fields_of_every_wrong_type() {
    for field in FIELDS {
        for value in [
            json!(1.5),
            json!("abc"),
            json!(-1),
            json!([]),
            json!({}),
            json!("$(id)"),
            json!(1e300),
            json!(false),
            json!("\u{0}"),
        ] {
            let fixture = Fixture::at(&json!({ field: value }));
            let stop = fixture.stop();
            assert_eq!(stop.0.code, 0, "{field} {value}: {stop:?}");
            stop.answer();
            let next = fixture.plan(&["next"]);
            assert_eq!(next.code, 0, "{field} {value}: {next:?}");
            assert!(fixture.calls().len() <= 1);
        }
    }
}

#[test]
fn tables_of_every_wrong_shape() {
    let rows: Vec<String> = (1..=5000)
        .map(|n| format!("| {n} | pending | x |"))
        .collect();
    let large = format!("| Id | Status | D |\n|---|---|---|\n{}\n", rows.join("\n"));
    for (table, blocks) in [
        ("| Id |\n|---|\n| 1 |\n| 2 |\n", true),
        ("| 1 | pending |\n| 2 | pending |\n", false),
        (large.as_str(), true),
        ("prose\n", false),
        ("| Id | Status |\n|---|---|\n| T1 | pending |\n", false),
    ] {
        let fixture =
            Fixture::at(&json!({ "next_phase": "tasks-review", "phase": "create-tasks" }));
        fixture.file("tasks.md", table);
        let begun = Instant::now();
        let stop = fixture.stop();
        assert!(begun.elapsed() < Duration::from_secs(5));
        assert_eq!(stop.is_block(), blocks, "{table:.40} {stop:?}");
        if !blocks {
            assert!(
                stop.approves().contains("lists no task by a number or"),
                "{stop:?}"
            );
        }
    }
}

#[test]
fn a_reviewer_that_lies_or_writes_elsewhere_is_no_review() {
    for (when, script, told) in [
        ("after", "rm \"$file\"", "did not write"),
        ("after", "mv \"$file\" elsewhere.md", "did not write"),
        (
            "after",
            "mv \"$file\" \"${file%/*}/task-2-review-1.md\"",
            "did not write",
        ),
        ("after", ": > \"$file\"", "did not write"),
        (
            "after",
            "rm \"$file\"; ln -s /etc/passwd \"$file\"",
            "did not write",
        ),
        ("after", "kill -9 $$", "Killed by signal 9"),
        ("after", "kill -SEGV $$", "Killed by signal 11"),
        (
            "after",
            "echo '{\"is_error\":true,\"result\":\"API Error: 400\"}'; exit 0",
            "API Error: 400",
        ),
    ] {
        let fixture = Fixture::at(&json!({ "consecutive_clean": 1 }));
        fixture.verdicts(&["PASS"]).reviewer(when, script);
        let before = fixture.read("state.json");
        let said = fixture.stop().approves();
        assert!(
            said.contains(told) && said.contains("was not made"),
            "{script}: {said}"
        );
        assert_eq!(fixture.read("state.json"), before, "{script}");
        assert!(fixture.has(".review-1.log"), "{script}");
    }
}

/// B7: an earlier task's review was taken for the one that was asked for.
#[test]
fn b7_a_stale_review_is_not_taken_for_a_new_one() {
    let fixture = Fixture::at(&json!({}));
    fixture.file("task-1-review-1.md", "# Old\n");
    fixture.reviewer("before", "exit 0");
    let said = fixture.stop().approves();
    assert!(said.contains("did not write task-1-review-1.md"), "{said}");
    assert_eq!(fixture.read("task-1-review-1.md"), "# Old\n");
}

#[test]
fn historic_names_of_the_review_are_recognised() {
    for name in ["code-review-1.md", "task-1-code-review-1.md"] {
        let fixture = Fixture::at(&json!({}));
        fixture.reviewer("after", &format!("mv \"$file\" \"${{file%/*}}/{name}\""));
        let reason = fixture.stop().blocks();
        assert!(reason.contains(&format!("/{name} by")), "{reason}");
        let post = name.replace("-review-", "-post-review-");
        assert!(
            reason.contains(&format!("then create .taskie/plans/test-plan/{post} ")),
            "{reason}"
        );
        fixture.file(&post, "x");
        assert_eq!(fixture.next(), "stop");
    }
}

#[test]
fn an_answer_without_a_verdict_counts_as_fail_and_is_named() {
    let fixture = Fixture::at(&json!({ "consecutive_clean": 1 }));
    fixture.reviewer("after", "echo all good, PASS; exit 0");
    fixture.stop().blocks();
    assert_eq!(fixture.read_state()["consecutive_clean"], 0);
    let reasons = fixture.project.journal();
    assert!(
        reasons.iter().any(|line| line["reason"]
            .as_str()
            .is_some_and(|r| r.contains("no verdict"))),
        "{reasons:?}"
    );
}

#[test]
fn what_stands_where_a_review_belongs_is_named_before_it_is_paid_for() {
    for (link, told) in [(true, "a symbolic link"), (false, "a directory")] {
        let fixture = Fixture::at(&json!({}));
        let outside = fixture.project.path("outside.md");
        let place = fixture.path("task-1-review-1.md");
        if link {
            std::os::unix::fs::symlink(&outside, &place).unwrap();
        } else {
            std::fs::create_dir(&place).unwrap();
        }
        let said = fixture.stop().approves();
        assert!(
            said.contains("task-1-review-1.md is in the way") && said.contains(told),
            "{said}"
        );
        assert!(fixture.calls().is_empty() && !outside.exists());
        assert_eq!(fixture.read_state()["phase_iteration"], 0);
    }
}

/// The first place that has a verdict decides; a text with more than one has none (faults d11).
#[test]
fn a_doubtful_verdict_is_no_pass() {
    for (printed, clean) in [
        (
            r#"{"structured_output":{"verdict":"MAYBE"},"result":{"verdict":"PASS"}}"#,
            0,
        ),
        (
            r#"{"structured_output":{"verdict":"FAIL"},"result":{"verdict":"PASS"}}"#,
            0,
        ),
        (
            r#"{"result":"{\"verdict\":\"FAIL\",\"verdict\":\"PASS\"}"}"#,
            0,
        ),
        (
            r#"{"result":"Not\n```json\n{\"verdict\":\"PASS\"}\n```\nbut\n```json\n{\"verdict\":\"FAIL\"}\n```"}"#,
            0,
        ),
        (
            r#"{"structured_output":null,"result":{"verdict":"PASS"}}"#,
            1,
        ),
        // A person who likes Claude Code verbose gets a list.
        (
            r#"[{"type":"system","cwd":"/p"},{"type":"result","is_error":false,"structured_output":{"verdict":"PASS"}}]"#,
            1,
        ),
        (
            r#"{"result":"Fine.\n```json\n{\"verdict\":\"PASS\"}\n```"}"#,
            1,
        ),
    ] {
        let fixture = Fixture::at(&json!({}));
        fixture.project.file("control/printed", printed);
        fixture.reviewer("after", "cat \"$d/printed\"; exit 0");
        fixture.stop().blocks();
        let state = fixture.read_state();
        assert_eq!(state["consecutive_clean"], clean, "{printed}");
    }
}

#[test]
fn a_state_that_moves_during_the_review_is_left_alone() {
    let fixture = Fixture::at(&json!({}));
    let moved = r#"{"phase":"next-task","next_phase":null,"phase_iteration":0,"current_task":"1"}"#;
    fixture.reviewer(
        "after",
        &format!("echo '{moved}' > \"${{file%/*}}/state.json\""),
    );
    let said = fixture.stop().approves();
    assert!(said.contains("was changed while"), "{said}");
    assert_eq!(fixture.read("state.json").trim(), moved);
}

#[test]
fn a_host_that_ends_the_hook_ends_the_reviewer() {
    let fixture = Fixture::at(&json!({}));
    fixture.reviewer("before", "kill -TERM $PPID; sleep 20");
    let begun = Instant::now();
    let said = fixture.stop().approves();
    assert!(begun.elapsed() < Duration::from_secs(8));
    assert!(said.contains("was not made"), "{said}");
    assert_eq!(fixture.read_state()["phase_iteration"], 0);
}

#[test]
fn settings_that_are_wrong_are_told() {
    let fixture = Fixture::at(&json!({ "next_phase": null }));
    fixture.config(
        &json!({ "timeout_seconds": "long", "loop_guard": 3, "reviewer": "me", "colour": 1 }),
    );
    let said = fixture.stop().validates();
    for key in ["timeout_seconds", "loop_guard", "reviewer", "colour"] {
        assert!(said.contains(key), "{key}: {said}");
    }
}

#[test]
fn ten_thousand_files_are_fine() {
    let fixture = Fixture::at(&json!({ "next_phase": null }));
    for n in 4..10_000 {
        std::fs::File::create(fixture.path(&format!("task-{n}.md"))).unwrap();
    }
    let begun = Instant::now();
    fixture.stop().validates();
    assert!(
        begun.elapsed() < Duration::from_secs(2),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn a_stop_with_nothing_to_do_starts_nothing_and_writes_one_line() {
    if !super::crash::can_trace() {
        return;
    }
    let fixture = Fixture::at(&json!({ "next_phase": null }));
    for n in 4..500 {
        std::fs::File::create(fixture.path(&format!("task-{n}.md"))).unwrap();
    }
    let event = events::stop()
        .in_session("s")
        .in_directory(fixture.project.root());
    // The first one makes the directory of the log.
    fixture.hook(&event).approves();
    let trace = fixture.project.path("control/trace");
    let mut command = fixture.project.command_of(Path::new("strace"), &[]);
    command
        .args(["-f", "-qq", "-o"])
        .arg(&trace)
        .args(["-e", "trace=process,write,rename,mkdir"])
        .args([TOLLGATE, "hook"]);
    let stop = Stop(crate::project::run(command, event.to_string().as_bytes()));
    assert_eq!(stop.0.stdout, "");
    let text = std::fs::read_to_string(&trace).unwrap();
    // A number, and the call; what it is given may be anything, such as a path with these words.
    let calls = text
        .lines()
        .filter_map(|line| line.split_once('(')?.0.split_whitespace().last());
    let calls: Vec<_> = calls.collect();
    assert!(calls.contains(&"execve"), "{text}");
    for refused in ["clone", "fork", "rename", "mkdir"] {
        let is_made = calls.iter().any(|call| call.contains(refused));
        assert!(!is_made, "{refused}: {text}");
    }
    assert_eq!(text.matches("write(").count(), 1, "{text}");
    assert_eq!(fixture.log().len(), 2);
    assert!(
        !fixture
            .project
            .path(".tollgate/local/journal.jsonl")
            .exists()
    );
}

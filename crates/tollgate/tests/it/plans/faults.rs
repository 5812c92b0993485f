//! Every row about this specification in the list of faults (2.3), as Tollgate meets it.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::fixture::{Fixture, Session, obeys};
use crate::project::{pipe, wait_until};

fn event(fixture: &Fixture) -> Vec<u8> {
    let event = json!({ "cwd": fixture.project.root(), "stop_hook_active": false });
    event.to_string().into_bytes()
}

/// Processes whose environment carries this fixture's path to the control directory.
pub(super) fn living(fixture: &Fixture) -> usize {
    let mark = fixture.project.root().to_str().unwrap().as_bytes().to_vec();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter(|entry| {
            let environ = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            environ.windows(mark.len()).any(|window| window == mark)
        })
        .count()
}

/// C1: a killed hook left the reviewer running.
#[test]
fn c1_a_killed_hook_leaves_no_reviewer() {
    let fixture = Fixture::at(&json!({}));
    fixture.reviewer("before", "sleep 30 & sleep 31; true");
    let mut command = fixture.project.command(&["hook"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut hook = command.spawn().unwrap();
    std::io::Write::write_all(&mut hook.stdin.take().unwrap(), &event(&fixture)).unwrap();
    wait_until("the reviewer runs", Duration::from_mins(1), || {
        !fixture.calls().is_empty()
    });
    hook.kill().unwrap();
    hook.wait().unwrap();
    wait_until("the reviewer is gone", Duration::from_secs(10), || {
        living(&fixture) == 0
    });
    // c1b: the next stop makes one review, not a second one beside the first.
    fixture.reviewer("before", "true");
    fixture.stop().blocks();
    assert_eq!(
        (
            fixture.calls().len(),
            fixture.read_state()["phase_iteration"].as_u64()
        ),
        (2, Some(1))
    );
}

/// C2: two stops at once paid for two reviews.
#[test]
fn c2_two_stops_at_once_make_one_review() {
    for _ in 0..3 {
        let fixture = Fixture::at(&json!({}));
        // The review goes on until the other stop has its answer.
        fixture.reviewer("before", "until test -e \"$d/go\"; do sleep 0.02; done");
        let start = || {
            let mut command = fixture.project.command(&["hook"]);
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut hook = command.spawn().unwrap();
            std::io::Write::write_all(&mut hook.stdin.take().unwrap(), &event(&fixture)).unwrap();
            hook
        };
        let mut stops = [start(), start()];
        wait_until("one is answered", Duration::from_mins(1), || {
            stops
                .iter_mut()
                .any(|stop| stop.try_wait().unwrap().is_some())
        });
        fixture.project.file("control/go", "");
        let answers = stops.map(|hook| hook.wait_with_output().unwrap().stdout);
        let answers = answers.map(|answer| serde_json::from_slice::<Value>(&answer).unwrap());
        let blocks = answers
            .iter()
            .filter(|answer| answer["decision"] == "block")
            .count();
        assert_eq!(blocks, 1, "{answers:?}");
        assert_eq!(fixture.calls().len(), 1);
        assert_eq!(fixture.read_state()["phase_iteration"], 1);
        let told = answers
            .iter()
            .find_map(|answer| answer["systemMessage"].as_str());
        assert!(
            told.is_some_and(|told| told.contains("running already")),
            "{answers:?}"
        );
    }
}

/// C3: temporary files of a crash violated the rules of the plan directory for ever.
#[test]
fn c3_leftovers_of_a_crash_break_no_rule() {
    let fixture = Fixture::at(&json!({}));
    for name in [
        "state.json.AbCdEf",
        ".state.json.XyZ123",
        ".tollgate-tmp-1-0",
        ".review-1.log",
    ] {
        fixture.file(name, "");
    }
    let mut session = Session::new(&fixture);
    fixture.verdicts(&["PASS"]);
    assert!(session.turn(obeys).contains("passed"));
}

/// C4: with `stop_hook_active` set, a due review did not happen.
#[test]
fn c4_the_flag_does_not_switch_reviews_off() {
    let fixture = Fixture::at(&json!({}));
    let mut session = Session::new(&fixture);
    let reason = session.stop().blocks();
    obeys(&fixture, &reason);
    // This stop is flagged.
    session.stop().blocks();
    assert_eq!(fixture.calls().len(), 2);
}

/// C5: a line on the reviewer's standard error broke its answer.
#[test]
fn c5_a_line_on_standard_error_is_kept_apart() {
    let fixture = Fixture::at(&json!({}));
    fixture
        .verdicts(&["PASS"])
        .reviewer("before", "echo warning: old version >&2");
    fixture.stop().blocks();
    assert_eq!(fixture.read_state()["consecutive_clean"], 1);
    assert!(!fixture.has(".review-1.log"));
}

/// C6: the reviewer's present shape of answer was read as FAIL for ever.
#[test]
fn c6_the_current_shape_of_the_answer_is_read() {
    let fixture = Fixture::at(&json!({ "consecutive_clean": 1 }));
    let printed =
        r#"{"type":"result","is_error":false,"result":"","structured_output":{"verdict":"PASS"}}"#;
    fixture.reviewer("after", &format!("echo '{printed}'; exit 0"));
    assert!(fixture.stop().approves().contains("passed"));
}

/// C7: a command in `phase_iteration` was executed.
#[test]
fn c7_nothing_in_the_state_is_executed() {
    let fixture = Fixture::at(&json!({
        "phase_iteration": "BASH_VERSINFO[$(touch pwned)0]", "consecutive_clean": "x[$(touch pwned)]",
        "review_model": "$(touch pwned)", "current_task": "`touch pwned`",
    }));
    fixture.stop().approves();
    fixture.state(&json!({ "phase_iteration": "BASH_VERSINFO[$(touch pwned)0]" }));
    fixture.stop().blocks();
    assert!(!fixture.project.path("pwned").exists());
}

/// C9: a task id such as `1/../..` led outside the plan.
#[test]
fn c9_no_task_leads_outside() {
    for task in ["1/../../../../../OUT", "..", "/etc/passwd", "1\n2", "a b"] {
        let fixture = Fixture::at(&json!({ "current_task": task }));
        let told = fixture.stop().validates();
        assert!(told.contains("names no current task"), "{told}");
        assert!(fixture.calls().is_empty());
        assert!(!fixture.project.path("OUT-review-1.md").exists());
    }
}

/// C10: `max_reviews: "many"` made every stop fail.
#[test]
fn c10_a_limit_of_many_is_the_default() {
    let fixture = Fixture::at(&json!({ "max_reviews": "many", "phase_iteration": 100 }));
    let told = fixture.stop().validates();
    assert!(
        told.contains("Max review limit (8)") && told.contains("\"many\""),
        "{told}"
    );
    assert!(fixture.calls().is_empty());
}

/// C11: a plan directory named `v1.2` kept the agent from stopping.
#[test]
fn c11_odd_names_of_plans_do_not_hold_an_agent() {
    // Difference to the list: the specification allows any name, so `v1.2` is simply a plan.
    let fixture = Fixture::bare();
    fixture.project.file(".taskie/plans/v1.2/plan.md", "x");
    assert!(fixture.stop().validates().contains("'v1.2'"));
    // What would spoil a message is skipped with one.
    let fixture = Fixture::bare();
    fixture.project.file(".taskie/plans/a\nb/plan.md", "x");
    let told = fixture.stop().approves();
    assert!(told.contains("is skipped"), "{told}");
}

/// C12: the state is a named pipe.
#[test]
fn c12_a_pipe_in_place_of_the_state_is_skipped() {
    let fixture = Fixture::new();
    pipe(&fixture.path("state.json"));
    let begun = Instant::now();
    let told = fixture.stop().validates();
    assert!(begun.elapsed() < Duration::from_secs(3));
    assert!(told.contains("named pipe"), "{told}");
}

/// C13: the state is a directory.
#[test]
fn c13_a_directory_in_place_of_the_state_is_skipped() {
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.path("state.json")).unwrap();
    assert!(fixture.stop().validates().contains("directory"));
}

/// C14: the state is a symbolic link.
#[test]
fn c14_a_link_in_place_of_the_state_is_refused_and_told() {
    let fixture = Fixture::at(&json!({}));
    std::fs::copy(
        fixture.path("state.json"),
        fixture.project.path("real.json"),
    )
    .unwrap();
    fixture.remove("state.json");
    std::os::unix::fs::symlink(
        fixture.project.path("real.json"),
        fixture.path("state.json"),
    )
    .unwrap();
    let told = fixture.stop().validates();
    assert!(told.contains("symbolic link"), "{told}");
    assert!(
        fixture
            .path("state.json")
            .symlink_metadata()
            .unwrap()
            .is_symlink()
    );
}

/// C15: garbage or deep nesting on standard input blocked the stop.
#[test]
fn c15_garbage_and_large_events_are_allowed() {
    let fixture = Fixture::at(&json!({}));
    for garbage in [
        &b"{"[..],
        b"[1]",
        b"\"x\"",
        b"",
        "[".repeat(100_000).as_bytes(),
    ] {
        let run = fixture
            .project
            .run(&["hook", "--protocol", "taskie"], garbage);
        assert_eq!(run.code, 0);
        assert!(!run.stdout.contains("block"), "{run:?}");
    }
    let large = json!({ "cwd": fixture.project.root(), "stop_hook_active": false, "x": "y".repeat(20 << 20) });
    fixture.hook(&large).blocks();
}

#[test]
fn a_full_disk_is_not_the_agents_fault() {
    let fixture = Fixture::at(&json!({}));
    // Nothing can be written where Tollgate keeps its own things.
    fixture.project.file(".tollgate/local", "in the way");
    let before = fixture.read("state.json");
    let told = fixture.stop().approves();
    assert!(told.contains("cannot begin"), "{told}");
    assert_eq!(fixture.read("state.json"), before);
    assert!(fixture.calls().is_empty());
}

//! Facts 1.29.

use serde_json::{Value, json};

use super::ran;
use crate::events::{Event as _, bash};
use crate::project::{TestProject, running};

const NAME: &str = "atdd-completeness-validator";

fn project(field: &str) -> TestProject {
    let mut state = running("06-implementation", "in_progress");
    match field {
        "options" => state["active_workflow"]["options"] = json!({ "atdd_mode": true }),
        "own" => state["active_workflow"]["atdd_mode"] = json!(true),
        _ => {}
    }
    TestProject::new().state(&state)
}

fn tap(lines: &str) -> Value {
    ran("node --test", json!(lines))
}

#[test]
fn each_violation_is_named() {
    for (output, what) in [
        (
            "not ok 1 - P0 login\nok 2 - P1 logout\n",
            "P1 tests run while 1 P0 tests fail",
        ),
        ("ok 1 - P0 login # SKIP\n", "1 P0 tests are skipped"),
        (
            "ok 1 - P0 a\nnot ok 2 - P1 b\nok 3 - P2 c\n",
            "P2 tests run while 1 P1 tests fail",
        ),
    ] {
        for field in ["options", "own"] {
            let project = project(field);
            let text = project
                .guard(NAME, &tap(output))
                .warns("ATDD PRIORITY VIOLATIONS (1):");
            assert!(text.contains(what), "{text}");
            assert_eq!(project.codes(), ["ACV-001"]);
        }
    }
    let both = "not ok 1 - P0 a\nok 2 - P0 b # SKIP\nnot ok 3 - P1 c\nok 4 - P2 d\n";
    project("own")
        .guard(NAME, &tap(both))
        .warns("ATDD PRIORITY VIOLATIONS (3):");
}

#[test]
fn lines_that_end_in_a_dash_and_a_word_are_read() {
    for (output, what) in [
        (
            "P0 login - fail\nP1 logout - pass\n",
            "P1 tests run while 1 P0 tests fail",
        ),
        ("[P0] login - skip\n", "1 P0 tests are skipped"),
        (
            "P0 a - pass\nP1 b - fail\nP2 c - pass\n",
            "P2 tests run while 1 P1 tests fail",
        ),
    ] {
        let text = project("own")
            .guard(NAME, &tap(output))
            .warns("ATDD PRIORITY VIOLATIONS (1):");
        assert!(text.contains(what), "{text}");
    }
    for output in [
        "P0 login - pass\nP1 logout - fail\n",
        "P0 must not skip\nP1 x - pass\n",
    ] {
        project("own").guard(NAME, &tap(output)).says_nothing();
    }
}

#[test]
fn the_right_order_other_commands_and_other_modes_are_fine() {
    project("own")
        .guard(NAME, &tap("ok 1 - P0 a\nok 2 - P1 b\nnot ok 3 - P2 c\n"))
        .says_nothing();
    let wrong = "not ok 1 - P0 login\nok 2 - P1 logout\n";
    project("own")
        .guard(NAME, &ran("cat log.txt", json!(wrong)))
        .says_nothing();
    project("").guard(NAME, &tap(wrong)).says_nothing();
}

#[test]
fn not_ok_is_no_ok_and_failures_arrive_in_an_event_of_their_own() {
    let event = bash("node --test").in_session("s");
    let event = event.failed("Exit code 1\nnot ok 1 - P0 login\nok 2 - P1 logout\n");
    let run = project("own").hook(&event);
    assert!(
        run.stdout.contains("ATDD PRIORITY VIOLATIONS (1):"),
        "{run:?}"
    );
}

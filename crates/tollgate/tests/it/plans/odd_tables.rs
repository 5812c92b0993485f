//! Tables of tasks as people and agents write them: which tasks are reviewed, and which are left.

use serde_json::json;

use super::fixture::Fixture;

/// A plan with this table and files for the tasks `1`, `2`, `1a` and `T-2`.
fn plan(next: &str, table: &str) -> Fixture {
    let fixture = Fixture::at(&json!({ "next_phase": next, "consecutive_clean": 1 }));
    for other in ["task-1a.md", "task-T-2.md"] {
        fixture.file(other, "# Task\n");
    }
    fixture.remove("task-3.md");
    fixture.file("tasks.md", table);
    fixture
}

/// The task files that a reviewer of all tasks is told to read.
fn reviewed(table: &str) -> String {
    let fixture = plan("tasks-review", table);
    fixture.verdicts(&["FAIL"]);
    fixture.stop().blocks();
    let call = fixture.calls().remove(0);
    let (_, rest) = call.split_once("the task files: ").unwrap();
    let (files, _) = rest.split_once(". Perform").unwrap();
    files.replace(".taskie/plans/test-plan/", "")
}

/// Where a plan goes when the second clean review of task 1 is in.
fn follows(table: &str) -> String {
    let fixture = plan("code-review", table);
    fixture.verdicts(&["PASS"]);
    fixture.stop().approves();
    fixture.read_state()["next_phase"]
        .as_str()
        .unwrap()
        .to_owned()
}

const HEADER: &str = "| Id | Status | Description |\n|---|---|---|\n";

#[test]
fn every_task_that_has_a_number_or_a_file_is_reviewed() {
    for (rows, files) in [
        (
            "| 1 | done | x |\n| 7 | pending | x |\n",
            "task-1.md task-7.md",
        ),
        (
            "| 1 | done | x |\n| 1a | pending | x |\n",
            "task-1.md task-1a.md",
        ),
        (
            "| T-2 | pending | x |\n| none | pending | x |\n",
            "task-T-2.md",
        ),
        (
            "| **1** | done | x |\n| `2` | pending | x |\n",
            "task-1.md task-2.md",
        ),
        (
            "| [1](task-1.md) | done | x |\n| [task-2](./task-2.md) | | |\n",
            "task-1.md task-2.md",
        ),
        (
            "| Task 1 | done | x |\n| #2 | pending | x |\n",
            "task-1.md task-2.md",
        ),
        ("| 1 |\n| ../../2 | pending |\n", "task-1.md"),
    ] {
        assert_eq!(reviewed(&format!("{HEADER}{rows}")), files, "{rows}");
    }
}

#[test]
fn a_table_is_read_by_its_header_where_it_has_one() {
    for table in [
        "| Status | Id |\n|---|---|\n| done | 1 |\n| pending | 2 |\n",
        "| # | Task | Status |\n|:-:|---|---|\n| 1 | x | done |\n| 2 | x | pending |\n",
        "| Id | Status |\n| 1 | done |\n| 2 | pending |\n",
        "| 1 | done | x |\n| 2 | pending | x |\n| x | done | x |\n",
        "\u{feff}| Id | Status |\r\n|---|---|\r\n| 1 | done |\r\n| 2 | pending |\r\n",
    ] {
        assert_eq!(reviewed(table), "task-1.md task-2.md", "{table}");
        assert_eq!(follows(table), "complete-task", "{table}");
        let done = table.replace("pending", "done");
        assert_eq!(follows(&done), "all-code-review", "{done}");
    }
}

#[test]
fn decision_21_a_status_is_known_in_its_decoration() {
    for (status, next) in [
        ("done", "all-code-review"),
        ("**Done**", "all-code-review"),
        ("✅ done", "all-code-review"),
        ("~~postponed~~", "all-code-review"),
        ("canceled", "all-code-review"),
        ("not done", "complete-task"),
        ("[ ]", "complete-task"),
        ("blocked", "complete-task"),
        ("", "complete-task"),
    ] {
        let rows = format!("| 1 | pending | x |\n| 2 | {status} | x |\n");
        assert_eq!(follows(&format!("{HEADER}{rows}")), next, "{status:?}");
    }
    // A pipe behind a backslash is no end of a cell.
    let rows = "| 1 | done | x |\n| 2 \\| 3 | done | x |\n";
    assert_eq!(follows(&format!("{HEADER}{rows}")), "all-code-review");
}

#[test]
fn a_byte_order_mark_is_a_note_and_no_error() {
    let fixture = Fixture::at(&json!({ "next_phase": null }));
    fixture.file("tasks.md", &format!("\u{feff}{HEADER}| 1 | done | x |\n"));
    let told = fixture.stop().validates();
    assert!(told.contains("byte order mark"), "{told}");
}

#[test]
fn a_task_that_is_over_is_not_begun_again_by_itself() {
    let over = json!({
        "phase": "code-review", "next_phase": "complete-task", "phase_iteration": 3,
        "consecutive_clean": 2,
    });
    let fixture = Fixture::at(&over);
    let before = fixture.read("state.json");
    let run = fixture.plan(&["begin", "complete-task"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(
        run.stderr.contains("task 1 is over") && run.stderr.contains("done"),
        "{run:?}"
    );
    assert_eq!(fixture.read("state.json"), before);
    let marked = fixture
        .read("tasks.md")
        .replace("| 1 | pending", "| 1 | done");
    fixture.file("tasks.md", &marked);
    assert_eq!(fixture.plan(&["begin", "complete-task"]).code, 0);
    assert_eq!(fixture.read_state()["current_task"], "2");

    let fixture = Fixture::at(&over);
    assert_eq!(
        fixture
            .plan(&["begin", "complete-task", "--task", "1"])
            .code,
        0
    );
    assert_eq!(fixture.read_state()["current_task"], "1");
}

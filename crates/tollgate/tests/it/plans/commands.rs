//! `tollgate plan …`: what each command says and writes.

use std::time::SystemTime;

use serde_json::{Value, json};

use super::fixture::{Fixture, Session, TASKS, obeys};
use crate::outputs::assert_shows;

#[test]
fn new_begins_a_plan_and_not_twice() {
    let fixture = Fixture::bare();
    let run = fixture.plan(&["new", "test-plan"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        run.stdout.contains(".taskie/plans/test-plan/plan.md"),
        "{run:?}"
    );
    let mode =
        std::os::unix::fs::MetadataExt::mode(&fixture.path("state.json").metadata().unwrap());
    assert_eq!(mode & 0o777, 0o644);
    let again = fixture.plan(&["new", "test-plan"]);
    assert_eq!(again.code, 2, "{again:?}");
    assert!(again.stderr.contains("exists already"), "{again:?}");
}

#[test]
fn new_in_a_bare_directory_makes_it_a_project() {
    let project = crate::project::TestProject::empty();
    let run = crate::project::run(project.command(&["plan", "new", "first"]), b"");
    assert_eq!(run.code, 0, "{run:?}");
    assert!(project.path(".tollgate/plans/first/state.json").is_file());
    // Of what Tollgate keeps for itself git sees nothing, from the first command on.
    project.git(&["init", "-q"]);
    let seen = project.git(&["status", "--short", "-uall"]);
    assert_eq!(seen, "?? .tollgate/plans/first/state.json");
    let run = crate::project::run(project.command(&["log"]), b"");
    assert!(run.stderr.starts_with("the journal is empty"), "{run:?}");
}

#[test]
fn new_takes_no_strange_names() {
    let fixture = Fixture::bare();
    for bad in ["..", "a b", "a'b", "../x", "", ".hidden", "a/b", "a\nb"] {
        let run = fixture.plan(&["new", bad]);
        assert_eq!(run.code, 2, "{bad:?}: {run:?}");
    }
    assert_eq!(fixture.plan(&["new", "peer-review"]).code, 0);
    assert_eq!(fixture.plan(&["new", "v1.2"]).code, 0);
}

#[test]
fn begin_names_the_first_open_task() {
    let fixture = Fixture::at(
        &json!({ "phase": "tasks-review", "next_phase": "complete-task", "current_task": null }),
    );
    let run = fixture.plan(&["begin", "complete-task"]);
    assert!(
        run.stdout.contains("task 1 begun") && run.stdout.contains("task-1.md"),
        "{run:?}"
    );
    let run = fixture.plan(&["begin", "complete-task-tdd", "--task", "3"]);
    assert!(run.stdout.contains("task 3 begun"), "{run:?}");
    assert_eq!(fixture.read_state()["tdd"], true);
}

#[test]
fn a_tasks_id_keeps_its_case() {
    let fixture = Fixture::at(
        &json!({ "phase": "tasks-review", "next_phase": "complete-task", "current_task": null }),
    );
    let table = |status: &str| {
        format!("| Id | Status |\n|---|---|\n| T1 | {status} |\n| T2 | Done |\n|| done |\n")
    };
    fixture.file("tasks.md", &table("pending"));
    fixture.file("task-T1.md", "# Task\n");
    let run = fixture.plan(&["begin", "complete-task"]);
    assert!(run.stdout.contains("task-T1.md"), "{run:?}");
    assert_eq!(fixture.plan(&["done", "complete-task"]).code, 0);
    assert_eq!(fixture.read_state()["current_task"], "T1");
    // The task that was reviewed is not one that remains.
    fixture.verdicts(&["PASS"]);
    fixture.stop().blocks();
    fixture.file("task-T1-post-review-1.md", "# Fixed\n");
    let told = fixture.stop().approves();
    assert!(told.contains("Next is all-code-review"), "{told}");
}

#[test]
fn without_any_task_no_code_is_reviewed() {
    for limit in ["8", "0"] {
        let fixture = Fixture::bare();
        assert_eq!(fixture.plan(&["new", "test-plan"]).code, 0);
        assert_eq!(fixture.plan(&["set", "max_reviews", limit]).code, 0);
        let before = fixture.read("state.json");
        let run = fixture.plan(&["begin", "complete-task"]);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.stderr.contains("begin create-tasks"), "{run:?}");
        assert_eq!(fixture.read("state.json"), before);
    }
}

#[test]
fn a_step_is_not_said_to_lead_to_a_review_that_will_not_run() {
    let done = "| Id | Status |\n|---|---|\n| 1 | done |\n";
    let off = Fixture::at(&json!({ "max_reviews": 0, "next_phase": null, "phase": "new-plan" }));
    let run = off.plan(&["done", "new-plan"]);
    assert!(run.stdout.contains("switched off"), "{run:?}");
    let why = off.plan(&["next"]).stdout;
    assert!(why.contains("goes on without plan-review"), "{why}");
    off.stop().approves();
    off.file("tasks.md", done);
    off.state(&json!({ "max_reviews": 0, "next_phase": "complete-task", "phase": "code-review" }));
    let run = off.plan(&["begin", "complete-task"]);
    assert!(run.stdout.contains("the plan is complete"), "{run:?}");
    assert_eq!(off.read_state()["phase"], "complete");
    let why = off.plan(&["next"]).stdout;
    assert!(!why.contains("reviewed"), "{why}");
    off.state(&json!({ "max_reviews": 0, "next_phase": "complete", "phase": "all-code-review" }));
    let why = off.plan(&["next"]).stdout;
    assert!(
        why.contains("switched off") && !why.contains("passed"),
        "{why}"
    );
    // The last review that is allowed was answered.
    let last = Fixture::at(
        &json!({ "max_reviews": 2, "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 2 }),
    );
    last.file("task-1-review-2.md", "# Review\n");
    last.file("task-1-post-review-2.md", "# Fixed\n");
    assert_eq!(last.next(), "ask");
    assert_eq!(last.plan(&["review", "--dry-run"]).code, 1);
    let run = last.plan(&["done", "post-code-review"]);
    assert!(run.stdout.contains("a person decides"), "{run:?}");
    assert!(last.calls().is_empty());
}

#[test]
fn a_task_that_is_needed_is_asked_for_with_the_command_that_takes_it() {
    let fixture = Fixture::at(&json!({ "phase": "new-plan", "next_phase": null }));
    let run = fixture.plan(&["done", "next-task"]);
    assert!(run.stderr.contains("none was begun or named"), "{run:?}");
    assert!(run.stderr.contains("plan done next-task --task"), "{run:?}");
    fixture.file("tasks.md", "| Id | Status |\n|---|---|\n| 1 | done |\n");
    let run = fixture.plan(&["begin", "next-task"]);
    assert!(run.stderr.contains("none is open"), "{run:?}");
    assert!(
        run.stderr.contains("plan begin next-task --task"),
        "{run:?}"
    );
}

/// Beside what is kept about plans lies what is kept about all of them.
#[test]
fn a_plan_may_be_called_like_what_lies_beside_it() {
    for name in ["pinned", "prompts"] {
        let fixture = Fixture::at(&json!({}));
        assert_eq!(fixture.plan(&["use", "test-plan"]).code, 0);
        let run = fixture.plan(&["new", name]);
        assert_eq!(run.code, 0, "{run:?}");
        let run = fixture.plan(&["use", name]);
        assert_eq!(run.code, 0, "{run:?}");
        fixture
            .project
            .file(&format!(".taskie/plans/{name}/plan.md"), "# Plan\n");
        assert_eq!(fixture.plan(&["done", "new-plan"]).code, 0);
        let reason = fixture.stop().blocks();
        assert!(
            reason.contains(&format!("plans/{name}/plan-review-1.md")),
            "{reason}"
        );
        assert_eq!(fixture.plan(&["use", "test-plan"]).code, 0);
    }
}

/// A cycle leaves its number in the state; a person may want one more review all the same.
#[test]
fn a_standalone_review_works_after_a_finished_cycle() {
    for (review, target, file) in [
        ("plan-review", "create-tasks", "plan"),
        ("tasks-review", "complete-task", "tasks"),
        ("code-review", "complete-task", "task-1"),
        ("all-code-review", "complete", "all-code"),
    ] {
        let fixture = Fixture::at(&json!({ "next_phase": review }));
        fixture.verdicts(&["PASS"]);
        Session::new(&fixture).turn(obeys);
        let state = fixture.read_state();
        assert_eq!(
            (&state["next_phase"], &state["phase_iteration"]),
            (&json!(target), &json!(2))
        );
        // Nobody answers a review that nobody made.
        let post = format!("post-{review}");
        assert_eq!(fixture.plan(&["done", &post]).code, 1);
        assert_eq!(fixture.read_state(), state);

        assert_eq!(fixture.plan(&["begin", review]).code, 0);
        fixture.file(&format!("{file}-review-3.md"), "# Review\n- One issue\n");
        let run = fixture.plan(&["done", review]);
        assert_eq!(run.code, 0, "{run:?}");
        let state = fixture.read_state();
        assert_eq!(
            (
                &state["phase"],
                &state["next_phase"],
                &state["phase_iteration"]
            ),
            (&json!(review), &Value::Null, &Value::Null)
        );
        fixture.stop().validates();
        fixture.file(&format!("{file}-post-review-3.md"), "# Fixed\n");
        let run = fixture.plan(&["done", &post]);
        assert_eq!(run.code, 0, "{run:?}");
        assert!(!run.stdout.contains("runs when you stop"), "{run:?}");
        assert_eq!(fixture.read_state()["phase"], post);
        fixture.stop().validates();
        // The loop made two, and none of its own accord after them.
        assert_eq!(fixture.calls().len(), 2);
        let run = fixture.plan(&["begin", "complete-task", "--task", "2"]);
        assert_eq!(run.code, 0, "{run:?}");
    }
    // In the loop, reviews are the hook's.
    let fixture = Fixture::at(&json!({}));
    fixture.stop().blocks();
    let before = fixture.read("state.json");
    let run = fixture.plan(&["done", "code-review"]);
    assert!(run.stdout.contains("state.json was not changed"), "{run:?}");
    assert_eq!(fixture.read("state.json"), before);
}

/// Every command that `plan next` names in backticks.
fn offered(fixture: &Fixture) -> Vec<Vec<String>> {
    let next = fixture.plan(&["next", "--json"]).json();
    assert_eq!(next["next"], "ask", "{next:#}");
    let how = next["how"].as_str().unwrap().to_owned();
    let commands = how.split('`').skip(1).step_by(2);
    let words = commands.map(|line| line.split(' ').skip(1).map(str::to_owned).collect());
    words.collect()
}

#[test]
fn without_a_state_next_offers_what_works() {
    let done = "| Id | Status |\n|---|---|\n| 1 | done |\n";
    for (tasks, phase, next) in [
        (None, "create-tasks", Value::Null),
        (Some(TASKS), "complete-task", Value::Null),
        (Some(done), "create-tasks", json!("all-code-review")),
    ] {
        let fixture = Fixture::new();
        match tasks {
            None => fixture.remove("tasks.md"),
            Some(TASKS) => {}
            Some(table) => drop(fixture.file("tasks.md", table)),
        }
        let commands = offered(&fixture);
        assert_eq!(commands.len(), 3, "{commands:?}");
        for command in commands {
            let command: Vec<&str> = command.iter().map(String::as_str).collect();
            let run = fixture.project.tollgate(&command);
            assert_eq!(run.code, 0, "{command:?}: {run:?}");
        }
        let state = fixture.read_state();
        assert_eq!(
            (&state["phase"], &state["next_phase"]),
            (&json!(phase), &next)
        );
    }
    // A state that was there before is brought back, and says itself how to go on.
    let fixture = Fixture::at(&json!({}));
    fixture.stop().blocks();
    fixture.remove("state.json");
    let refused = fixture.plan(&["begin", "complete-task"]);
    assert!(refused.stderr.contains("plan repair"), "{refused:?}");
    for command in offered(&fixture) {
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        assert_eq!(fixture.project.tollgate(&command).code, 0, "{command:?}");
    }
    assert_eq!(fixture.next(), "post-code-review");
    // At the limit of a cycle no action may begin, so none is offered.
    fixture.state(&json!({ "max_reviews": 1, "phase_iteration": 1, "phase": "post-code-review" }));
    assert_eq!(offered(&fixture).len(), 1);
}

#[test]
fn completed_and_complete_are_done() {
    for (status, next) in [
        ("completed", "all-code-review"),
        ("Complete ✅", "all-code-review"),
        ("incomplete", "complete-task"),
    ] {
        let fixture = Fixture::at(&json!({ "consecutive_clean": 1 }));
        fixture.file(
            "tasks.md",
            &format!("| Id | Status |\n|---|---|\n| 1 | pending |\n| 2 | {status} |\n"),
        );
        fixture.verdicts(&["PASS"]);
        let told = fixture.stop().approves();
        assert!(
            told.contains(&format!("Next is {next}")),
            "{status}: {told}"
        );
        assert_eq!(fixture.read_state()["next_phase"], next, "{status}");
    }
}

#[test]
fn validate_names_statuses_that_nobody_knows() {
    let fixture = Fixture::new();
    let run = fixture.plan(&["validate"]);
    assert!(!run.stdout.contains("warning"), "{run:?}");
    fixture.file(
        "tasks.md",
        "| Id | Status |\n|---|---|\n| 1 | completed |\n| 2 | In Progress |\n| 3 | blocked |\n| 4 | |\n",
    );
    fixture.file("task-4.md", "# Task\n");
    let run = fixture.plan(&["validate"]);
    assert_eq!(run.code, 0, "{run:?}");
    for task in [r#"task 3 is "blocked""#, r#"task 4 is """#] {
        assert!(run.stdout.contains(task), "{run:?}");
    }
    let warnings = fixture.plan(&["validate", "--json"]).json()["warnings"].clone();
    assert_eq!(warnings.as_array().unwrap().len(), 2, "{warnings}");
}

#[test]
fn a_refused_step_exits_with_1_and_says_what_is_right() {
    let fixture = Fixture::at(
        &json!({ "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 2 }),
    );
    let before = fixture.read("state.json");
    assert_shows!(
        fixture.project,
        &[
            "plan begin complete-task",
            "plan done post-code-review",
            "plan begin dance",
            "plan begin next-task --task ../x",
        ]
    );
    assert_eq!(fixture.read("state.json"), before);
}

#[test]
fn release_and_set() {
    let fixture = Fixture::at(&json!({}));
    assert_eq!(fixture.plan(&["set", "max_reviews", "2"]).code, 0);
    assert_eq!(fixture.read_state()["max_reviews"], 2);
    for bad in ["many", "1001", "-1"] {
        assert_eq!(fixture.plan(&["set", "max_reviews", bad]).code, 2);
    }
    assert_eq!(fixture.plan(&["release"]).code, 0);
    assert_eq!(fixture.read_state()["next_phase"], Value::Null);
    fixture.stop().validates();
    assert!(fixture.calls().is_empty());
}

#[test]
fn a_reviewer_that_follows_the_prompts_changes_nothing() {
    let fixture = Fixture::at(&json!({}));
    let script = format!(
        "'{}' plan release > '{}/said'",
        crate::project::TOLLGATE,
        fixture.project.path("control").display()
    );
    fixture.reviewer("before", &script);
    fixture.stop().blocks();
    assert!(
        fixture
            .project
            .read("control/said")
            .contains("where only the hook changes state.json")
    );
    assert_eq!(fixture.read_state()["next_phase"], "post-code-review");
}

#[test]
fn validate_tells_all_and_exits_accordingly() {
    let fixture = Fixture::new();
    assert_eq!(fixture.plan(&["validate"]).code, 0);
    fixture.file("stray.md", "x");
    fixture.file(
        "tasks.md",
        "| Id | Status |\r\n|---|---|\r\n| 1 | done |\r\n",
    );
    let run = fixture.plan(&["validate", "--json"]);
    assert_eq!(run.code, 1);
    let value: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        value,
        json!({ "plan": "test-plan", "valid": false, "errors": ["Invalid filename: stray.md"],
            "warnings": ["tasks.md has Windows line ends"] })
    );
}

#[test]
fn use_pins_a_plan() {
    let fixture = Fixture::new();
    fixture.project.file(".taskie/plans/other/plan.md", "x");
    assert_eq!(fixture.plan(&["use", "other"]).code, 0);
    assert!(fixture.stop().validates().contains("'other'"));
    assert_eq!(fixture.plan(&["use", "gone"]).code, 2);
    assert_eq!(fixture.plan(&["use", ".."]).code, 2);
    std::fs::remove_dir_all(fixture.project.path(".taskie/plans/other")).unwrap();
    let told = fixture.stop().validates();
    assert!(
        told.contains("'test-plan'") && told.contains("is gone"),
        "{told}"
    );
    assert_eq!(fixture.plan(&["use", "--newest"]).code, 0);
    assert!(!fixture.stop().validates().contains("is gone"));
}

#[test]
fn a_tie_goes_to_the_plan_with_work_open() {
    let fixture = Fixture::at(&json!({ "phase": "complete", "next_phase": null }));
    fixture
        .project
        .file(".taskie/plans/zoo/plan.md", "# Plan\n");
    fixture.project.file(".taskie/plans/zoo/state.json", r#"{"phase":"post-plan-review","next_phase":"create-tasks","phase_iteration":2,"review_model":"opus","max_reviews":8,"consecutive_clean":2,"tdd":false}"#);
    let now = SystemTime::now();
    for plan in ["test-plan", "zoo"] {
        fixture.modified(plan, now);
    }
    assert!(fixture.stop().validates().contains("'zoo'"));
    assert_eq!(fixture.next(), "create-tasks");
}

#[test]
fn review_dry_run_shows_what_would_run_and_runs_nothing() {
    let fixture = Fixture::at(&json!({ "phase_iteration": 1, "review_model": "sonnet" }));
    assert_shows!(fixture.project, &["plan review --dry-run"]);
    let run = fixture.plan(&["review", "--dry-run"]);
    assert!(run.stdout.contains("at most  840 s\n"), "{run:?}");
    fixture.config(&json!({ "reviewer": "codex" }));
    assert_shows!(fixture.project, &["plan review --dry-run"]);
    assert!(fixture.calls().is_empty());
    let fixture = Fixture::at(&json!({ "next_phase": null }));
    assert_shows!(fixture.project, &["plan review --dry-run", "plan review"]);
}

#[test]
fn status_shows_rounds_and_what_remains() {
    let fixture = Fixture::at(&json!({}));
    fixture.stop().blocks();
    assert_shows!(fixture.project, &["plan status"]);
}

#[test]
fn the_routes_of_the_specification() {
    let half = "# Task\n\n**Status**: pending\n";
    for (fields, task, expected) in [
        (
            json!({ "next_phase": "post-code-review", "phase": "code-review", "phase_iteration": 1 }),
            "",
            "post-code-review",
        ),
        (
            json!({ "next_phase": "post-plan-review", "phase": "plan-review", "phase_iteration": 1 }),
            "",
            "post-plan-review",
        ),
        (
            json!({ "next_phase": "post-tasks-review", "phase": "tasks-review", "phase_iteration": 1 }),
            "",
            "post-tasks-review",
        ),
        (
            json!({ "next_phase": "post-all-code-review", "phase": "all-code-review", "phase_iteration": 1 }),
            "",
            "post-all-code-review",
        ),
        (
            json!({ "next_phase": "code-review", "phase": "post-code-review", "phase_iteration": 1 }),
            half,
            "stop",
        ),
        (
            json!({ "next_phase": "code-review", "phase": "complete-task" }),
            "# Task",
            "stop",
        ),
        (
            json!({ "next_phase": "code-review", "phase": "complete-task" }),
            half,
            "continue-task",
        ),
        (
            json!({ "next_phase": "plan-review", "phase": "new-plan" }),
            "",
            "stop",
        ),
        (
            json!({ "next_phase": "tasks-review", "phase": "create-tasks" }),
            "",
            "stop",
        ),
        (
            json!({ "next_phase": "complete-task", "phase": "code-review" }),
            "",
            "complete-task",
        ),
        (
            json!({ "next_phase": "complete-task-tdd", "phase": "code-review" }),
            "",
            "complete-task-tdd",
        ),
        (
            json!({ "next_phase": "create-tasks", "phase": "plan-review" }),
            "",
            "create-tasks",
        ),
        (
            json!({ "next_phase": "complete", "phase": "all-code-review" }),
            "",
            "finish",
        ),
        (
            json!({ "next_phase": null, "phase": "continue-task" }),
            "",
            "continue-task",
        ),
        (
            json!({ "next_phase": null, "phase": "next-task" }),
            "",
            "continue-task",
        ),
        (
            json!({ "next_phase": null, "phase": "next-task-tdd" }),
            "",
            "continue-task",
        ),
        (
            json!({ "next_phase": null, "phase": "complete-task" }),
            "",
            "continue-task",
        ),
        (
            json!({ "next_phase": null, "phase": "complete-task-tdd" }),
            "",
            "continue-task",
        ),
        (
            json!({ "next_phase": null, "phase": "complete" }),
            "",
            "complete",
        ),
        (
            json!({ "next_phase": null, "phase": "code-review", "phase_iteration": 2 }),
            "",
            "ask",
        ),
        (
            json!({ "next_phase": null, "phase": "post-code-review", "phase_iteration": 2 }),
            "",
            "ask",
        ),
        (json!({ "next_phase": "ready" }), "", "ask"),
    ] {
        let fixture = Fixture::at(&fields);
        fixture.file("task-1.md", task);
        assert_eq!(fixture.next(), expected, "{fields}");
    }
    let fixture = Fixture::new();
    assert_eq!(fixture.next(), "ask");
    let fixture = Fixture::at(&json!({ "next_phase": "plan-review", "phase": "new-plan" }));
    fixture.file("plan.md", "# Half\n");
    assert_eq!(fixture.next(), "new-plan");
    fixture.file("plan.md", &"line\n".repeat(51));
    assert_eq!(fixture.next(), "stop");
    let fixture = Fixture::at(&json!({ "next_phase": "tasks-review", "phase": "create-tasks" }));
    fixture.file("tasks.md", "| Id | Status |\n|---|---|\n");
    assert_eq!(fixture.next(), "create-tasks");
}

#[test]
fn nothing_next_is_null_for_programs_and_not_a_word() {
    let fixture = Fixture::at(&json!({ "phase": "next-task", "next_phase": null }));
    let next = |args: &[&str]| -> Value {
        let run = fixture.plan(args);
        serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"))
    };
    assert_eq!(next(&["next", "--json"])["next_phase"], Value::Null);
    assert_eq!(
        next(&["status", "--json"])["state"]["next_phase"],
        Value::Null
    );
    fixture.state(&json!({ "phase": "next-task", "next_phase": "tea-break" }));
    assert_eq!(next(&["next", "--json"])["next_phase"], "tea-break");
    assert_eq!(
        next(&["status", "--json"])["state"]["next_phase"],
        "tea-break"
    );
}

#[test]
fn the_status_of_a_destroyed_state_names_the_repair() {
    let fixture = Fixture::at(&json!({ "phase": "next-task", "next_phase": null }));
    fixture.file("state.json", "broken");
    let run = fixture.plan(&["status"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("invalid JSON"), "{run:?}");
    assert!(run.stdout.contains("`tollgate plan repair`"), "{run:?}");
}

#[test]
fn how_prints_every_action_that_next_can_name() {
    let fixture = Fixture::at(&json!({ "phase": "plan-review", "next_phase": "create-tasks" }));
    let run = fixture.plan(&["next"]);
    assert!(
        run.stdout.contains("`tollgate plan how create-tasks`"),
        "{run:?}"
    );
    let run = fixture.plan(&["how", "create-tasks"]);
    assert_eq!(run.code, 0, "{run:?}");
    for words in ["# Create the tasks", "tollgate plan how ground-rules"] {
        assert!(run.stdout.contains(words), "{run:?}");
    }
    let plugin = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plugin");
    let actions = std::fs::read_dir(format!("{plugin}/actions")).unwrap();
    let mut names: Vec<String> = actions
        .map(|entry| entry.unwrap().path())
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(names.len(), 17);
    names.push("ground-rules".to_owned());
    for name in names {
        let run = fixture.plan(&["how", &name]);
        assert_eq!(run.code, 0, "{name}: {run:?}");
        assert!(run.stdout.contains("# "), "{name}: {run:?}");
        assert!(
            !run.stdout.contains("CLAUDE_PLUGIN_ROOT"),
            "{name}: {run:?}"
        );
    }
    let run = fixture.plan(&["how", "nothing"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("ground-rules"), "{run:?}");
}

/// No review is promised of a plan that is not there without a word.
#[test]
fn a_plan_that_was_not_written_is_named_when_it_is_done() {
    let project = crate::project::TestProject::empty().on_branch("main");
    project.must(&["plan", "new", "cards"]);
    let done = project.must(&["plan", "done", "new-plan"]);
    assert!(done.stderr.contains("there is no plan.md"), "{done:?}");
}

//! What stops people in the middle of ordinary work on plans: renamed files, other directories, two
//! plans at once, plans that are older than their state.

use std::path::Path;

use serde_json::{Value, json};

use super::fixture::{Fixture, PLAN, Session, TASKS};
use crate::events::{self, Event as _};
use crate::project::{TestProject, run};

/// The original's own prompts write this phase, which its documents do not have.
#[test]
fn the_phase_implementation_is_that_of_a_task_under_way() {
    for (next, expected) in [
        (Value::Null, "continue-task"),
        (json!("code-review"), "stop"),
    ] {
        let fixture = Fixture::at(&json!({ "phase": "implementation", "next_phase": next }));
        let validated = fixture.plan(&["validate"]);
        assert!(!validated.stdout.contains("no phase"), "{validated:?}");
        assert_eq!(fixture.next(), expected, "{next}");
    }
    let fixture = Fixture::at(&json!({ "phase": "next-task", "next_phase": "implementation" }));
    assert_eq!(fixture.next(), "continue-task");
    fixture.stop().validates();
    // It is no action, and other words are no phase.
    assert_eq!(fixture.plan(&["begin", "implementation"]).code, 2);
    fixture.state(&json!({ "phase": "implementing", "next_phase": null }));
    assert_eq!(fixture.next(), "ask");
}

#[test]
fn a_task_file_that_is_gone_is_named_before_its_review_is_paid_for() {
    let fixture = Fixture::at(&json!({}));
    fixture.remove("task-1.md");
    fixture.file("task-login.md", "# Task\n");
    let before = fixture.read("state.json");
    let next = fixture.plan(&["next", "--json"]).json();
    assert_eq!(next["next"], "ask", "{next}");
    let why = next["why"].as_str().unwrap();
    assert!(
        why.contains("task-1.md") && why.contains("task-login.md"),
        "{why}"
    );
    for _ in 0..2 {
        let told = fixture.stop().approves();
        assert!(
            told.contains("there is no task-1.md") && told.contains("task-login.md: renamed?"),
            "{told}"
        );
    }
    assert_eq!(
        (fixture.calls().len(), fixture.read("state.json")),
        (0, before)
    );
    assert_eq!(fixture.plan(&["review", "--dry-run"]).code, 1);
    // With its name back it is reviewed.
    fixture.remove("task-login.md");
    fixture.file("task-1.md", "# Task\n");
    assert_eq!(fixture.next(), "stop");
    fixture.stop().blocks();
    assert_eq!(fixture.calls().len(), 1);
}

/// Reviews of all tasks get every file that tasks.md lists, as the specification has it; who says that
/// the work is done hears before which of them are not there.
#[test]
fn task_files_that_are_gone_are_named_when_the_work_is_said_to_be_done() {
    let gone = "there is no task-2.md";
    let fixture = Fixture::at(&json!({ "phase": "create-tasks", "next_phase": null }));
    fixture.remove("task-2.md");
    let run = fixture.plan(&["done", "create-tasks"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains(gone), "{run:?}");
    fixture.plan(&["validate"]).says(gone);
    let fixture = Fixture::at(&json!({ "phase": "complete-task", "next_phase": null }));
    fixture.remove("task-2.md");
    // The other task's file is not what is reviewed.
    let run = fixture.plan(&["done", "complete-task", "--task", "1"]);
    assert!(!run.stderr.contains(gone), "{run:?}");
    let fixture = Fixture::at(&json!({ "phase": "create-tasks", "next_phase": null }));
    let run = fixture.plan(&["done", "create-tasks"]);
    assert_eq!(run.stderr, "");
    // A task that is over needs none.
    fixture.remove("task-3.md");
    fixture.file(
        "tasks.md",
        &crate::project::tasks("| 1 | done |\n| 3 | cancelled |\n"),
    );
    fixture.plan(&["validate"]).does_not_say("there is no");
}

/// The files that a text names open from where the agent works.
#[test]
fn paths_in_texts_open_from_the_agents_directory() {
    let below = |fixture: &Fixture| {
        let directory = fixture.project.path("src/deep");
        std::fs::create_dir_all(&directory).unwrap();
        directory
    };
    let fixture = Fixture::at(&json!({}));
    let from_root = fixture.stop().blocks();
    assert!(
        from_root.contains(" written to .taskie/plans/test-plan/task-1-review-1.md by "),
        "{from_root}"
    );
    let fixture = Fixture::at(&json!({}));
    let directory = below(&fixture);
    let event = events::stop().in_session("s").in_directory(&directory);
    let reason = fixture.hook(&event).blocks();
    let named = |text: &str, before: &str| {
        let (_, rest) = text.split_once(before).unwrap();
        rest.split_whitespace().next().unwrap().to_owned()
    };
    let review = named(&reason, " written to ");
    assert!(directory.join(&review).is_file(), "{reason}");
    let answer = named(&reason, "then create ");
    assert!(
        directory.join(&answer).parent().unwrap().is_dir(),
        "{reason}"
    );
    // The reviewer works in the root.
    assert!(fixture.calls()[0].contains(" .taskie/plans/test-plan/task-1.md"));
    // So do those that commands print.
    let command = |args: &[&str]| {
        let mut command = fixture.project.command(args);
        command.current_dir(&directory);
        run(command, b"")
    };
    let refused = command(&["plan", "done", "post-code-review"]);
    let wanted = named(&refused.stderr, "or why not, to ");
    assert!(
        Path::new(&wanted).starts_with(fixture.project.root()),
        "{refused:?}"
    );
    let next = command(&["plan", "next"]).stdout;
    let review = named(&next, "prints its steps) for ");
    assert!(
        directory.join(review.trim_end_matches(';')).is_file(),
        "{next}"
    );
    crate::project::put(&directory.join(&answer), "# Fixed\n");
    fixture.plan(&["release"]);
    let begun = command(&["plan", "begin", "complete-task"]).stdout;
    let task = named(&begun, "described in ");
    assert!(directory.join(&task).is_file(), "{begun}");
}

#[test]
fn a_plan_without_a_state_is_read_from_its_files() {
    let done = "| 1 | done | low | one |\n";
    for (plan, tasks, says, begin) in [
        (None, None, "plan.md is missing", "new-plan"),
        (Some("# Half\n"), None, "half-written", "new-plan"),
        (Some("## Overview\n"), None, "lists no task", "create-tasks"),
        (
            Some("## Overview\n"),
            Some(TASKS),
            "task 1 is the first that is open",
            "complete-task",
        ),
        (
            Some("## Overview\n"),
            Some(done),
            "all of its 1 tasks closed",
            "complete-task",
        ),
    ] {
        let fixture = Fixture::bare();
        fixture.file("notes.txt", "");
        let files = [
            ("plan.md", plan.map(str::to_owned)),
            ("tasks.md", tasks.map(crate::project::tasks)),
        ];
        for (name, text) in files {
            if let Some(text) = text {
                fixture.file(name, &text);
            }
        }
        let next = fixture.plan(&["next", "--json"]).json();
        let why = next["why"].as_str().unwrap();
        assert!(why.contains("no state.json") && why.contains(says), "{why}");
        let how = next["how"].as_str().unwrap();
        assert!(how.contains(&format!("plan begin {begin} ")), "{how}");
        for line in how.split('`').skip(1).step_by(2) {
            let words: Vec<&str> = line.split(' ').skip(1).collect();
            let run = fixture.project.tollgate(&words);
            assert_eq!(run.code, 0, "{line}: {run:?}");
        }
    }
}

#[test]
fn a_complete_plan_with_a_task_added_since_is_not_over() {
    let complete = json!({ "phase": "complete", "next_phase": null, "tdd": true });
    let fixture = Fixture::at(&complete);
    let all_done = TASKS.replace("pending", "done");
    fixture.file("tasks.md", &crate::project::tasks(&all_done));
    assert_eq!(fixture.next(), "complete");
    assert!(!fixture.plan(&["status"]).stdout.contains("task 4"));
    let added = format!("{all_done}| 4 | pending | low | four |\n");
    fixture.file("tasks.md", &crate::project::tasks(&added));
    fixture
        .plan(&["status"])
        .says("task 4 is open, which was added since");
    let next = fixture.plan(&["next", "--json"]).json();
    assert_eq!(next["next"], "complete");
    assert!(
        next["why"].as_str().unwrap().contains("task 4 open"),
        "{next}"
    );
    let how = next["how"].as_str().unwrap();
    assert!(how.contains("plan begin complete-task-tdd --plan"), "{how}");
    let run = fixture.plan(&["begin", "complete-task-tdd"]);
    assert!(run.stdout.contains("task 4 begun"), "{run:?}");
}

/// A session's write to a plan, as the agent reports it afterwards.
fn writes(fixture: &Fixture, session: &str, file: &str, text: &str) {
    let path = format!(".taskie/plans/{file}");
    fixture.project.file(&path, text);
    let event = events::write(fixture.project.path(&path), text)
        .in_session(session)
        .in_directory(fixture.project.root())
        .done("ok");
    fixture.project.hook(&event).allows();
}

/// With two plans and two sessions each answers for its own, whoever wrote last.
#[test]
fn two_sessions_with_two_plans_answer_for_their_own() {
    let fixture = Fixture::at(&json!({ "next_phase": null }));
    writes(&fixture, "one", "test-plan/plan.md", "# One\n");
    writes(&fixture, "two", "other/plan.md", "# Two\n");
    writes(&fixture, "two", "other/strange.md", "x");
    let stop = |session: &str| {
        let event = events::stop()
            .in_session(session)
            .in_directory(fixture.project.root());
        fixture.hook(&event)
    };
    assert!(stop("two").blocks().starts_with("Plan 'other':"));
    let answers = || {
        assert!(!stop("one").is_block());
        assert_eq!(fixture.log().last().unwrap()["session"], "one");
        fixture.log().len()
    };
    assert_eq!(answers(), 1);
    // Hours later, too: whose plan is whose does not change with time.
    fixture.age(PLAN, 9000);
    for entry in fixture
        .project
        .path(".tollgate/local/sessions")
        .read_dir()
        .unwrap()
    {
        let file = std::fs::File::options()
            .append(true)
            .open(entry.unwrap().path())
            .unwrap();
        let then = std::time::SystemTime::now() - std::time::Duration::from_secs(8000);
        file.set_modified(then).unwrap();
    }
    assert_eq!(answers(), 2);
    // A session of which nothing is known has the plan that changed last; so has a bare event.
    assert!(stop("three").blocks().starts_with("Plan 'other':"));
    assert!(fixture.stop().blocks().starts_with("Plan 'other':"));
    // A session that goes over to the other plan answers for that from then on.
    writes(&fixture, "one", "other/plan.md", "# Two, by one\n");
    assert!(stop("one").blocks().starts_with("Plan 'other':"));
}

/// Commands that an agent runs mean its session's plan, and make it that.
#[test]
fn commands_of_a_session_mean_its_own_plan() {
    let fixture = Fixture::bare();
    let plan = |session: &str, args: &[&str]| {
        let args: Vec<&str> = ["plan"].into_iter().chain(args.iter().copied()).collect();
        let mut command = fixture.project.command(&args);
        command.env("CLAUDE_CODE_SESSION_ID", session);
        run(command, b"")
    };
    for (session, id) in [("one", "first"), ("two", "second")] {
        assert_eq!(plan(session, &["new", id]).code, 0);
    }
    let next = |session: &str| plan(session, &["next", "--json"]).json()["plan"].clone();
    assert_eq!(
        (next("one"), next("two")),
        (json!("first"), json!("second"))
    );
    // What a person chose goes before.
    fixture.plan(&["use", "second"]);
    assert_eq!(next("one"), "second");
}

/// What `plan new` promises is not kept before somebody trusts the reviewer.
#[test]
fn a_new_plan_says_that_its_reviews_wait_for_trust() {
    let told = "no review runs before a person runs `tollgate trust`";
    for (scope, is_told) in [("user", true), ("project", false)] {
        let project = TestProject::with_tollgate_on_path().with_repository();
        project.install_for(scope);
        let new = project.must(&["plan", "new", "first"]);
        assert_eq!(new.stdout.contains(told), is_told, "{scope}: {new:?}");
        let trusted = project.trusted();
        let new = trusted.must(&["plan", "new", "second"]);
        assert!(!new.stdout.contains(told), "{scope}: {new:?}");
    }
}

/// Work that would leave a review unanswered does not begin; the way out is named.
#[test]
fn next_task_does_not_begin_while_a_review_waits() {
    let fixture = Fixture::at(&json!({}));
    Session::new(&fixture).stop().blocks();
    for action in ["next-task", "next-task-tdd"] {
        let run = fixture.plan(&["begin", action]);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.stderr.contains("post-code-review is next"), "{run:?}");
        assert!(
            run.stderr
                .contains("`tollgate plan release` leaves the loop"),
            "{run:?}"
        );
    }
    assert_eq!(fixture.plan(&["release"]).code, 0);
    assert_eq!(fixture.plan(&["begin", "next-task"]).code, 0);
}

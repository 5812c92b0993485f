//! A state that was destroyed: set aside, told, and made again as far as it is known.

use serde_json::json;

use super::fixture::Fixture;

/// The files that destroyed states are kept in.
fn aside(fixture: &Fixture) -> Vec<String> {
    let mut left = fixture.leftovers();
    left.retain(|name| name.starts_with("state.json.corrupt-"));
    left
}

#[test]
fn a_destroyed_state_is_set_aside_and_the_last_good_one_returns() {
    for garbage in ["", "{\"phase\":", "[]", "not json", "null"] {
        let fixture = Fixture::at(&json!({ "custom": 1.50, "next_phase": null }));
        fixture.stop().validates();
        assert_eq!(
            fixture.plan(&["done", "complete-task", "--task", "1"]).code,
            0
        );
        let good = fixture.read_state();
        assert_eq!(good["next_phase"], "code-review");
        fixture.file("state.json", garbage);
        // A review was due; at this stop there is none, because somebody should look.
        let told = fixture.stop().validates();
        assert!(
            told.contains("invalid JSON") && told.contains("the last good state"),
            "{told}"
        );
        assert!(fixture.calls().is_empty());
        assert_eq!(fixture.read_state(), good);
        let kept = aside(&fixture);
        assert_eq!(kept.len(), 1, "{kept:?}");
        assert_eq!(fixture.read(&kept[0]), garbage);
        assert!(told.contains(&kept[0]), "{told}");
        // The plan goes on where it was.
        fixture.stop().blocks();
        assert_eq!(fixture.calls().len(), 1);
    }
}

#[test]
fn a_state_that_was_never_good_is_left_alone() {
    let fixture = Fixture::new();
    fixture.file("state.json", "not json");
    let told = fixture.stop().validates();
    assert!(told.contains("tollgate plan repair"), "{told}");
    assert_eq!(fixture.read("state.json"), "not json");
    assert!(aside(&fixture).is_empty());
}

#[test]
fn repair_brings_the_last_good_state_back() {
    let fixture = Fixture::at(&json!({ "next_phase": null, "phase": "next-task" }));
    fixture.stop().validates();
    let good = fixture.read_state();
    // Destroyed, and gone.
    for round in 0..2 {
        if round == 0 {
            fixture.file("state.json", "oops");
            let begun = fixture.plan(&["begin", "create-tasks"]);
            assert!(begun.stderr.contains("plan repair"), "{begun:?}");
        } else {
            fixture.remove("state.json");
        }
        let run = fixture.plan(&["repair"]);
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.stdout.contains("the last good state"), "{run:?}");
        assert_eq!(fixture.read_state(), good);
        assert_eq!(aside(&fixture).len(), 1);
    }
    let run = fixture.plan(&["repair"]);
    assert!(run.stdout.contains("can be read"), "{run:?}");
}

#[test]
fn repair_without_a_good_state_makes_one_from_the_files() {
    for (has_tasks, phase) in [(true, "create-tasks"), (false, "new-plan")] {
        let fixture = Fixture::bare();
        fixture.file("plan.md", "# Plan\n");
        if has_tasks {
            fixture.file("tasks.md", &crate::project::tasks(super::fixture::TASKS));
        }
        fixture.file("state.json", "{");
        let run = fixture.plan(&["repair"]);
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.stdout.contains("made from the plan's files"), "{run:?}");
        let state = fixture.read_state();
        assert_eq!(state["phase"], phase);
        // The files do not say what was under way: a person does.
        assert_eq!(state["next_phase"], json!(null));
        assert_eq!(fixture.next(), "ask");
        fixture.stop().validates();
        assert!(fixture.calls().is_empty());
    }
}

#[test]
fn repair_does_not_touch_what_is_no_file() {
    let fixture = Fixture::new();
    fixture.project.file("real.json", "{");
    std::os::unix::fs::symlink(
        fixture.project.path("real.json"),
        fixture.path("state.json"),
    )
    .unwrap();
    let run = fixture.plan(&["repair"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("symbolic link"), "{run:?}");
    // So nobody is sent there.
    for args in [&["next"][..], &["status"]] {
        let said = fixture.plan(args).stdout;
        assert!(said.contains("state.json away, then"), "{args:?}: {said}");
    }
    assert_eq!(fixture.project.read("real.json"), "{");
}

//! The history of the state: who changed what, how it was, and the way back.

use serde_json::{Value, json};

use tollgate_store::lock::{self, Acquired};

use crate::events::{Event as _, named, task};
use crate::project::{TestProject, running};
use crate::workflow::bench::Bench;

/// A recorded event, then a command: two changes that Tollgate made.
fn changed() -> TestProject {
    let mut state = running("06-implementation", "in_progress");
    state["state_version"] = json!(7);
    let project = TestProject::new().state(&state);
    let event = task("software-developer", "x").in_session("s1").call("t1");
    project.hook(&event.done("done"));
    project
}

fn state(project: &TestProject) -> Value {
    serde_json::from_str(&project.read(".isdlc/state.json")).unwrap()
}

#[test]
fn a_change_is_in_the_journal_with_before_after_and_cause() {
    let project = changed();
    assert_eq!(state(&project)["state_version"], 8);
    let line = project
        .journal()
        .into_iter()
        .find(|line| line["verdict"] == "record")
        .unwrap();
    assert_eq!(
        (&line["version"], &line["session"], &line["tool"]),
        (&json!(8), &json!("s1"), &json!("Task"))
    );
    let run = project.run(&["state", "log"], b"");
    assert!(
        run.stdout.contains("v8") && run.stdout.contains("skill_usage_log gets"),
        "{run:?}"
    );
    let run = project.run(&["state", "blame", "skill_usage_log"], b"");
    assert!(
        run.code == 0 && run.stdout.contains("PostToolUse") && run.stdout.contains("s1"),
        "{run:?}"
    );
    assert_eq!(
        project
            .run(&["state", "blame", "nobody.touched.it"], b"")
            .code,
        1
    );
}

#[test]
fn an_earlier_version_is_shown_and_a_change_taken_back_as_a_new_one() {
    let project = changed();
    let run = project.run(&["state", "at", "7"], b"");
    let then: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
    assert_eq!(then["state_version"], 7);
    assert!(then.get("skill_usage_log").is_none(), "{then}");
    assert_eq!(
        project.run(&["state", "at", "6"], b"").code,
        1,
        "nobody knows"
    );
    assert_eq!(project.run(&["state", "at", "9"], b"").code, 2);
    let run = project.run(&["state", "undo"], b"");
    assert_eq!(run.code, 0, "{run:?}");
    let now = state(&project);
    assert_eq!(now["state_version"], 9);
    assert!(now.get("skill_usage_log").is_none(), "{now}");
    // Taking that back brings it again.
    assert_eq!(project.run(&["state", "undo"], b"").code, 0);
    assert_eq!(
        state(&project)["skill_usage_log"].as_array().unwrap().len(),
        1
    );
    let run = project.run(&["log", "--verify"], b"");
    assert_eq!(run.code, 0, "{run:?}");
}

#[test]
fn what_tollgate_did_not_change_is_not_taken_back() {
    let project = changed();
    let mut foreign = state(&project);
    foreign["state_version"] = json!(12);
    project.file(".isdlc/state.json", foreign.to_string());
    let run = project.run(&["state", "undo"], b"");
    assert!(
        run.code == 1 && run.stderr.contains("not made by Tollgate"),
        "{run:?}"
    );
    assert_eq!(state(&project)["state_version"], 12);
}

fn at(bench: &Bench, version: u64) -> Value {
    bench.json(&["state", "at", &version.to_string()])
}

/// Every version that the commands of a workflow make, with an event between them.
#[test]
fn every_version_of_a_workflow_is_shown_as_it_was() {
    let bench = Bench::with_phases(&["01-requirements", "05-test-strategy", "06-implementation"]);
    let mut versions = Vec::new();
    let mut look = |bench: &Bench| versions.push(bench.state());
    bench.ok(&["workflow", "start", "t", "Add a shop"]);
    look(&bench);
    for agent in [
        "requirements-analyst",
        "test-design-engineer",
        "software-developer",
    ] {
        if versions_need_begin(&bench) {
            bench.begin();
            look(&bench);
        }
        bench.hook(&delegated(agent, agent));
        look(&bench);
        bench.complete();
        look(&bench);
    }
    bench.ok(&["workflow", "finalize"]);
    look(&bench);
    assert!(versions.len() >= 8, "{}", versions.len());
    for then in &versions {
        let version = then["state_version"].as_u64().unwrap();
        assert_eq!(at(&bench, version), *then, "version {version}");
    }
    let log = bench.ok(&["state", "log", "-n", "0"]);
    for step in [
        "workflow start",
        "phase complete",
        "workflow finalize",
        "PostToolUse",
    ] {
        assert!(log.contains(step), "{step}: {log}");
    }
}

fn versions_need_begin(bench: &Bench) -> bool {
    bench.json(&["workflow", "status", "--json"])["next"] == "tollgate phase begin"
}

fn delegated(agent: &str, call: &str) -> Value {
    task(agent, "x")
        .in_session(&format!("session-of-{call}"))
        .call(call)
        .done("done")
}

#[test]
fn a_step_of_a_workflow_is_taken_back_and_made_again() {
    let bench = Bench::started(&["01-requirements", "06-implementation"]);
    let before = bench.state();
    bench.complete();
    bench.ok(&["state", "undo"]);
    let mut now = bench.state();
    now["state_version"] = before["state_version"].clone();
    assert_eq!(now, before);
    bench.clean();
    bench.complete();
    bench.clean();
    // What was taken back and brought again counts again.
    bench.ok(&["state", "undo"]);
    bench.ok(&["state", "undo"]);
    bench.clean();
    bench.edit(|state| state["phases"]["01-requirements"]["status"] = json!("in_progress"));
    assert!(!bench.audit().is_empty());
}

#[test]
fn a_repair_is_in_the_history_and_taken_back_only_by_force() {
    let bench = Bench::started(&["01-requirements", "06-implementation"]);
    bench.edit(|state| state["active_agent"] = json!("nobody"));
    let broken = bench.state();
    bench.ok(&["workflow", "audit", "--repair"]);
    let log = bench.ok(&["state", "log"]);
    assert!(
        log.contains("audit --repair") && log.contains("active_agent: \"nobody\" -> "),
        "{log}"
    );
    let version = broken["state_version"].as_u64().unwrap();
    assert_eq!(at(&bench, version), broken);
    let why = bench.refused(1, &["state", "undo"]);
    assert!(why.contains("AC-001d") && why.contains("--force"), "{why}");
    bench.ok(&["state", "undo", "--force"]);
    assert_eq!(bench.state()["active_agent"], "nobody");
    assert_eq!(bench.state()["state_version"], version + 2);
}

#[test]
fn a_change_that_waited_for_the_lock_has_its_own_line_with_its_own_cause() {
    let project = changed();
    let before = state(&project);
    let path = project.path(".tollgate/local/state/lock");
    let held = lock::acquire(&path, std::time::Duration::ZERO).unwrap();
    assert!(matches!(held, Acquired::Held(_)));
    project.hook(&delegated("software-developer", "late"));
    drop(held);
    assert_eq!(state(&project), before, "it waits");
    project.hook(&delegated("software-developer", "own"));
    assert_eq!(state(&project)["state_version"], 9);
    let lines: Vec<Value> = project
        .journal()
        .into_iter()
        .filter(|line| line["version"] == 9)
        .collect();
    let calls: Vec<&str> = lines
        .iter()
        .map(|line| line["call"].as_str().unwrap())
        .collect();
    assert_eq!(calls, ["late", "own"]);
    assert_eq!(lines[0]["session"], "session-of-late");
    assert!(
        lines[0]["reason"]
            .as_str()
            .unwrap()
            .starts_with("applied late"),
        "{}",
        lines[0]
    );
    let run = project.run(&["state", "at", "8"], b"");
    let then: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
    assert_eq!(then, before);
    // One that nobody comes after is made at the end of the turn.
    let held = lock::acquire(&path, std::time::Duration::ZERO).unwrap();
    project.hook(&delegated("software-developer", "last"));
    drop(held);
    project.hook(&named("SessionEnd").in_session("s").with("reason", "other"));
    let last = project.journal().pop().unwrap();
    assert_eq!(
        (&last["version"], &last["call"]),
        (&json!(10), &json!("last"))
    );
}

#[test]
fn a_value_too_long_or_too_secret_for_the_journal_is_taken_back_too() {
    let bench = Bench::started(&["01-requirements", "06-implementation"]);
    bench.edit(|state| {
        state["active_workflow"]["notes"] = json!("long ".repeat(60_000));
        state["active_workflow"]["remote"] = json!("https://me:hunter2@host");
    });
    let before = bench.state();
    bench.gives_up(&["workflow", "cancel", "--reason", "not wanted"]);
    let journal = bench.read(".tollgate/local/journal.jsonl");
    assert!(
        journal.len() < 20_000 && !journal.contains("hunter2"),
        "{}",
        journal.len()
    );
    let log = bench.ok(&["state", "log"]);
    assert!(log.contains("bytes, kept aside"), "{log}");
    let version = before["state_version"].as_u64().unwrap();
    assert_eq!(at(&bench, version), before);
    let values = bench.path(".tollgate/local/values");
    for file in values.read_dir().unwrap() {
        let file = file.unwrap();
        let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().unwrap().permissions());
        assert_eq!(mode & 0o077, 0, "{file:?}");
        std::fs::remove_file(file.path()).unwrap();
    }
    // Without it nothing is made up.
    let run = bench.tollgate(&["state", "at", &version.to_string()]);
    assert!(
        run.code == 1 && run.stderr.contains("is not kept"),
        "{run:?}"
    );
    let why = bench.refused(1, &["state", "undo", "--force"]);
    assert!(why.contains("is not kept"), "{why}");
}

#[test]
fn what_others_changed_is_in_the_history_whether_it_was_adopted_or_undone() {
    let bench = Bench::started(&["01-requirements", "06-implementation"]);
    let event = |name: &str| {
        json!({ "hook_event_name": name, "session_id": "s7", "prompt": "go on", "tool_use_id": "t1",
            "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_response": { "stdout": "" } })
    };
    bench.hook(&event("UserPromptSubmit"));
    let first = bench.state();
    let version = first["state_version"].as_u64().unwrap();
    bench.edit(|state| {
        state["state_version"] = json!(version + 1);
        state["theirs"] = json!({ "colour": "green" });
    });
    bench.hook(&event("PostToolUse"));
    let log = bench.ok(&["state", "log", "-n", "1"]);
    assert!(
        log.contains("s7") && log.contains("adopted") && log.contains("theirs: not set -> "),
        "{log}"
    );
    let second = bench.state();
    // Backwards is illegal: it was there, and it was undone.
    bench.edit(|state| state["state_version"] = json!(0));
    bench.hook(&event("PostToolUse"));
    assert_eq!(bench.state(), second);
    let log = bench.ok(&["state", "log", "-n", "1"]);
    assert!(
        log.contains(&format!("undone state_version: {} -> 0", version + 1)),
        "{log}"
    );
    // A change that no command of the agent's made is a person's.
    bench.edit(|state| {
        state["state_version"] = json!(version + 7);
        state["theirs"]["colour"] = json!("blue");
    });
    bench.hook(&event("SessionStart"));
    let blame = bench.ok(&["state", "blame", "theirs.colour"]);
    assert!(
        blame.contains("not by a command of the agent") && blame.contains("\"green\" -> \"blue\""),
        "{blame}"
    );
    assert_eq!(at(&bench, version + 1), second);
    assert_eq!(at(&bench, version), first);
    bench.clean();
    bench.ok(&["state", "undo"]);
    assert_eq!(bench.state()["theirs"]["colour"], "green");
    assert_eq!(bench.tollgate(&["log", "--verify"]).code, 0);
}

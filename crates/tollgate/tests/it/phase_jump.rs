//! A change of the state by anybody else leaves a workflow in its order: whatever tells where it
//! is stays there, and it moves by one phase at most.

use serde_json::{Value, json};

use crate::events::{Event as _, bash, named};
use crate::project::{Run, TestProject};

const STATE: &str = ".isdlc/state.json";

fn state() -> Value {
    json!({
        "state_version": 5,
        "current_phase": "06-implementation",
        "active_workflow": {
            "type": "feature",
            "current_phase": "06-implementation",
            "current_phase_index": 1,
            "phases": ["01-requirements", "06-implementation", "16-quality-loop", "08-code-review"],
            "phase_status": { "01-requirements": "completed", "06-implementation": "in_progress" },
            "git_branch": { "name": "feature/x", "status": "active" },
        },
        "phases": {
            "01-requirements": { "status": "completed" },
            "06-implementation": { "status": "in_progress" },
        },
    })
}

fn next(project: &TestProject) -> Run {
    let event = bash("ls")
        .in_session("s")
        .in_directory(project.root())
        .with("transcript_path", "/t");
    project.hook(&event.done(json!({ "stdout": "" })))
}

/// A project in `good`, of which Tollgate knows, and in which somebody changed the state.
fn changed(good: &Value, change: impl FnOnce(&mut Value)) -> (TestProject, Value) {
    let project = TestProject::new().state(good);
    let prompt = named("UserPromptSubmit")
        .in_session("s")
        .in_directory(project.root())
        .with("transcript_path", "/t")
        .with("prompt", "go on");
    project.hook(&prompt).says_nothing();
    let mut new = good.clone();
    change(&mut new);
    (project.state(&new), new)
}

#[track_caller]
fn is_undone(change: impl FnOnce(&mut Value), why: &str) {
    let (project, _) = changed(&state(), change);
    let run = next(&project);
    assert!(run.stdout.contains("STATE RESTORED"), "{why}: {run:?}");
    assert!(run.stdout.contains(why), "{why}: {run:?}");
    let now: Value = serde_json::from_str(&project.read(STATE)).unwrap();
    assert_eq!(now, state(), "{why}");
}

#[track_caller]
fn is_adopted(good: &Value, change: impl FnOnce(&mut Value)) {
    let (project, new) = changed(good, change);
    next(&project).says_nothing();
    let now: Value = serde_json::from_str(&project.read(STATE)).unwrap();
    assert_eq!(now, new);
}

/// R24: values of another type, or a workflow that is gone, are no way around V7 and V8.
/// P14: what says where a workflow is cannot be taken away.
#[test]
fn r24_p14_what_tells_where_a_workflow_is_cannot_be_taken_away() {
    let without = |pointer: &'static str, key: &'static str| {
        move |state: &mut Value| {
            let holder = state.pointer_mut(pointer).unwrap();
            holder.as_object_mut().unwrap().remove(key);
        }
    };
    let workflow = "/active_workflow";
    is_undone(
        |state| state["active_workflow"] = json!({}),
        "active_workflow.current_phase, which is '06-implementation', was removed",
    );
    is_undone(
        without(workflow, "current_phase"),
        "current_phase, which is",
    );
    is_undone(
        without(workflow, "current_phase_index"),
        "current_phase_index, which is 1, was removed",
    );
    is_undone(
        |state| state["active_workflow"]["current_phase_index"] = json!(null),
        "current_phase_index, which is 1, was removed",
    );
    is_undone(
        without(workflow, "phases"),
        "active_workflow.phases was removed",
    );
    is_undone(
        without(workflow, "phase_status"),
        "active_workflow.phase_status['01-requirements'], which is 'completed', was removed",
    );
    is_undone(
        |state| state["active_workflow"]["phase_status"]["01-requirements"] = json!(0),
        "phase_status['01-requirements'], which is 'completed', was removed",
    );
    is_undone(
        |state| state["active_workflow"]["phase_status"]["01-requirements"] = json!("done"),
        "went from 'completed' to 'done', which is not a status",
    );
    is_undone(
        |state| state["phases"] = json!({}),
        "phases['01-requirements'].status, which is 'completed', was removed",
    );
    is_undone(
        without("/phases", "06-implementation"),
        "phases['06-implementation'].status",
    );
    is_undone(
        without(workflow, "git_branch"),
        "active_workflow.git_branch.name, which is 'feature/x', was removed",
    );
}

#[test]
fn a_workflow_moves_one_completed_phase_at_a_time() {
    let to = |phase: &'static str| {
        move |state: &mut Value| state["active_workflow"]["current_phase"] = json!(phase)
    };
    is_undone(
        to("08-code-review"),
        "a workflow advances one phase at a time",
    );
    is_undone(
        to("01-requirements"),
        "a workflow advances one phase at a time",
    );
    is_undone(to("99-none"), "which is not a phase of the workflow");
    is_undone(
        to("16-quality-loop"),
        "but '06-implementation' is in_progress",
    );
}

#[test]
fn the_steps_of_the_specification_are_adopted() {
    let completed = |state: &mut Value| {
        let workflow = &mut state["active_workflow"];
        workflow["phase_status"]["06-implementation"] = json!("completed");
        workflow["current_phase_index"] = json!(2);
        state["phases"]["06-implementation"]["status"] = json!("completed");
    };
    // 3e, then 3c-prime.
    is_adopted(&state(), completed);
    let mut between = state();
    completed(&mut between);
    let begun = |state: &mut Value| {
        let workflow = &mut state["active_workflow"];
        workflow["current_phase"] = json!("16-quality-loop");
        workflow["phase_status"]["16-quality-loop"] = json!("in_progress");
        state["current_phase"] = json!("16-quality-loop");
        state["phases"]["16-quality-loop"] = json!({ "status": "in_progress" });
    };
    is_adopted(&between, begun);
    // Sizing leaves out what was not begun; the end puts the workflow into its history.
    is_adopted(&state(), |state| {
        state["active_workflow"]["phases"] =
            json!(["01-requirements", "06-implementation", "08-code-review"]);
    });
    is_adopted(&state(), |state| {
        state["active_workflow"] = json!(null);
        state["phases"] = json!({});
        state["workflow_history"] = json!([{ "type": "feature", "status": "cancelled" }]);
    });
    // A state that contradicts itself may be mended.
    let mut odd = state();
    odd["active_workflow"]["current_phase_index"] = json!(3);
    is_adopted(&odd, |state| {
        let workflow = &mut state["active_workflow"];
        workflow["current_phase"] = json!("08-code-review");
        workflow["phase_status"]["06-implementation"] = json!("completed");
        state["phases"]["06-implementation"]["status"] = json!("completed");
    });
}

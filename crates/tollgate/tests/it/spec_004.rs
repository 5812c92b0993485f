//! Specification 004 §3 and decisions D1, F9, R24: V7 and V8 before the write, V9 after it.

use serde_json::{Value, json};

use crate::events;
use crate::project::{Run, TestProject};

const NAME: &str = "state-write-validator";

fn workflow(version: u64, index: u64, status: &str) -> Value {
    json!({
        "state_version": version,
        "active_workflow": {
            "current_phase": "06-implementation",
            "current_phase_index": index,
            "phase_status": { "06-implementation": status },
        },
        "phases": { "06-implementation": { "status": status } },
    })
}

/// A bare Write of `incoming` over `disk`.
fn write(disk: &Value, incoming: &Value) -> Run {
    write_text(disk, &incoming.to_string())
}

fn write_text(disk: &Value, content: &str) -> Run {
    let project = TestProject::new().state(disk);
    let path = project.path(".isdlc/state.json");
    let event = events::write(path, content);
    let run = project.guard(NAME, &event);
    assert_eq!(
        serde_json::from_str::<Value>(&project.read(".isdlc/state.json")).unwrap(),
        *disk
    );
    run
}

/// V7: a write of the state must not be older than the state on disk.
#[test]
fn v7_blocks_a_stale_version() {
    let run = write(
        &workflow(41, 5, "in_progress"),
        &workflow(3, 5, "in_progress"),
    );
    let said = "[state-write-validator] V7 BLOCK: Version mismatch: expected state_version >= 41";
    assert!(run.stderr.starts_with(said), "{run:?}");
    let reason = run.blocks("Version mismatch");
    assert_eq!(
        reason,
        "Version mismatch: expected state_version >= 41, got 3. Re-read .isdlc/state.json before writing."
    );
}

/// V7: a write of the state must not be older than the state on disk.
#[test]
fn v7_blocks_an_unversioned_write() {
    let mut incoming = workflow(5, 5, "in_progress");
    incoming.as_object_mut().unwrap().remove("state_version");
    let reason =
        write(&workflow(5, 5, "in_progress"), &incoming).blocks("Unversioned write rejected");
    assert_eq!(
        reason,
        "Unversioned write rejected: disk state has state_version 5 but incoming write has no state_version. Include state_version in your write. Re-read .isdlc/state.json before writing."
    );
    incoming["state_version"] = json!(null);
    write(&workflow(5, 5, "in_progress"), &incoming).blocks("Unversioned write rejected");
}

/// V7: a write of the state must not be older than the state on disk.
#[test]
fn v7_names_the_file_of_this_project() {
    let unversioned = json!({ "active_workflow": null });
    for file in [
        ".tollgate/workflow/state.json",
        ".isdlc/projects/api/state.json",
    ] {
        let project = TestProject::empty();
        let path = project.file(file, workflow(41, 5, "in_progress").to_string());
        for incoming in [&workflow(3, 5, "in_progress"), &unversioned] {
            let event = events::write(&path, &incoming.to_string());
            let reason = project.guard(NAME, &event).blocks("");
            // The specification's words are for its own home.
            let said = match file.strip_prefix(".isdlc/") {
                Some(_) => format!("Re-read {file} before writing."),
                None => format!("What you write to {file} has "),
            };
            assert!(reason.contains(&said), "{reason}");
        }
    }
}

/// V7: a write of the state must not be older than the state on disk.
#[test]
fn v7_allows_the_same_and_a_newer_version_and_unversioned_states() {
    write(
        &workflow(5, 1, "in_progress"),
        &workflow(5, 1, "in_progress"),
    )
    .says_nothing();
    write(
        &workflow(5, 1, "in_progress"),
        &workflow(6, 1, "in_progress"),
    )
    .says_nothing();
    write(&json!({ "a": 1 }), &json!({ "a": 2 })).says_nothing();
    write(&json!({ "a": 1 }), &json!({ "state_version": 1 })).says_nothing();
}

/// V7: a write of the state must not be older than the state on disk.
#[test]
fn v7_knows_the_file_at_home() {
    let disk = workflow(5, 1, "in_progress");
    let project = TestProject::new().state(&disk).at_home_in_project();
    let stale = workflow(4, 1, "in_progress").to_string();
    for path in ["~/.isdlc/state.json", "~/x/../.isdlc/state.json"] {
        let event = events::write(path, &stale);
        project.guard(NAME, &event).blocks("Version mismatch");
    }
}

/// V7: a write of the state must not be older than the state on disk.
#[test]
fn v7_needs_an_object_and_a_file() {
    for content in ["null", "7", "\"x\"", "not json", ""] {
        write_text(&workflow(5, 1, "in_progress"), content).allows();
    }
    // For the specification a list is an object, one that has no version.
    write_text(&workflow(5, 1, "in_progress"), "[]").blocks("Unversioned write rejected: disk");
    write_text(&json!({ "a": 1 }), "[1]").says_nothing();
    let project = TestProject::new();
    let event = events::write(".isdlc/state.json", "{\"state_version\":1}");
    project.guard(NAME, &event).says_nothing();
}

/// V7: a write of the state must not be older than the state on disk.
#[test]
fn v7_compares_with_a_disk_version_in_quotes_and_lets_it_be_written_back() {
    let versioned = |version: Value| {
        let mut state = workflow(5, 1, "in_progress");
        state["state_version"] = version;
        state
    };
    let disk = versioned(json!("5"));
    for stale in [json!(4), json!("4"), json!("x"), json!(true)] {
        write(&disk, &versioned(stale)).blocks("Version mismatch: expected state_version >= \"5\"");
    }
    for fresh in [json!(5), json!("5"), json!("6")] {
        write(&disk, &versioned(fresh)).says_nothing();
    }
    write(&versioned(json!("x")), &versioned(json!(1))).says_nothing();
}

#[test]
fn requirements_that_are_broken_in_one_place_are_read_in_the_other() {
    // 2.5: a result that is null, for whatever reason, leads to the next path.
    let mut state = workflow(5, 1, "in_progress");
    state["active_workflow"]["type"] = json!("feature");
    let required = json!({ "phase_requirements": {
        "06-implementation": { "test_iteration": { "enabled": true } } } });
    let advance = events::task("sdlc-orchestrator", "advance to the next phase");
    let project = TestProject::new().state(&state);
    let first = ".claude/hooks/config/iteration-requirements.json";
    project.file(first, "{\"phase_requirements\":");
    let told = project.guard("gate-blocker", &advance).allows().stderr;
    assert!(
        told.contains(first) && told.contains("guards that need it are off"),
        "{told}"
    );
    let second = project.file(
        ".isdlc/config/iteration-requirements.json",
        required.to_string(),
    );
    let run = project.guard("gate-blocker", &advance);
    let instead = format!("{} is used instead", second.display());
    assert!(
        run.stderr.contains(first) && run.stderr.contains(&instead),
        "{run:?}"
    );
    run.blocks("GATE BLOCKED: Iteration requirements not satisfied");
}

/// R24: values of another type, or a workflow that is gone, are no way around V7 and V8.
#[test]
fn r24_a_version_in_quotes_is_no_version() {
    let mut incoming = workflow(5, 1, "in_progress");
    incoming["state_version"] = json!("999");
    write(&workflow(5, 1, "in_progress"), &incoming)
        .blocks("Version mismatch: expected state_version >= 5, got \"999\".");
}

/// V8: the phase index and a phase's status do not go back.
#[test]
fn v8_blocks_an_index_that_goes_back() {
    let run = write(
        &workflow(5, 5, "in_progress"),
        &workflow(5, 1, "in_progress"),
    );
    let said = "[state-write-validator] V8 BLOCK: Phase index regression: incoming";
    assert!(run.stderr.starts_with(said), "{run:?}");
    let reason = run.blocks("Phase index regression");
    assert_eq!(
        reason,
        "Phase index regression: incoming current_phase_index (1) < disk (5). Subagents must not regress phase orchestration fields. Re-read state.json."
    );
}

/// R24: values of another type, or a workflow that is gone, are no way around V7 and V8.
#[test]
fn r24_an_index_in_quotes_is_no_index() {
    let mut incoming = workflow(5, 5, "in_progress");
    incoming["active_workflow"]["current_phase_index"] = json!("1");
    write(&workflow(5, 5, "in_progress"), &incoming).blocks("Phase index regression");
}

/// V8: the phase index and a phase's status do not go back.
#[test]
fn v8_blocks_a_phase_status_that_goes_back() {
    let reason = write(&workflow(5, 5, "completed"), &workflow(5, 5, "in_progress"))
        .blocks("Phase status regression");
    assert_eq!(
        reason,
        "Phase status regression: phase '06-implementation' changed from 'completed' to 'in_progress'. Subagents must not regress phase_status. Re-read state.json."
    );
}

/// V8: the phase index and a phase's status do not go back.
#[test]
fn v8_blocks_a_regression_in_phases_too() {
    let mut incoming = workflow(5, 5, "completed");
    incoming["phases"]["06-implementation"]["status"] = json!("pending");
    write(&workflow(5, 5, "completed"), &incoming)
        .blocks("Phase status regression: phases['06-implementation'].status changed from 'completed' to 'pending'.");
}

/// V8: the phase index and a phase's status do not go back.
#[test]
fn v8_does_not_compare_unknown_words() {
    let mut incoming = workflow(5, 5, "completed");
    incoming["active_workflow"]["phase_status"]["06-implementation"] = json!("skipped");
    incoming["phases"]["06-implementation"]["status"] = json!("skipped");
    write(&workflow(5, 5, "completed"), &incoming).says_nothing();
}

/// R24: values of another type, or a workflow that is gone, are no way around V7 and V8.
#[test]
fn r24_a_workflow_cannot_just_vanish() {
    let disk = workflow(5, 5, "completed");
    write(
        &disk,
        &json!({ "state_version": 6, "active_workflow": null }),
    )
    .blocks("Workflow removed");
    write(&disk, &json!({ "state_version": 1_000_000_000 })).blocks("Workflow removed");
    let ended = json!({ "state_version": 6, "active_workflow": null, "workflow_history": [{ "status": "completed" }] });
    write(&disk, &ended).says_nothing();
}

/// F9: a phase is done again only if the marker of the redo is on disk; the original believed the
/// write.
#[test]
fn f9_a_redo_needs_its_marker_on_disk() {
    let again = |count: u64| {
        let mut incoming = workflow(5, 5, "in_progress");
        incoming["active_workflow"]["supervised_review"] =
            json!({ "status": "redo_pending", "redo_count": count });
        incoming
    };
    let plain = workflow(5, 5, "completed");
    write(&plain, &again(1)).blocks("Phase status regression");

    let mut presented = plain;
    presented["active_workflow"]["supervised_review"] =
        json!({ "status": "gate_presented", "redo_count": 0 });
    write(&presented, &again(1)).says_nothing();
    presented["active_workflow"]["supervised_review"] =
        json!({ "status": "redo_pending", "redo_count": 1 });
    write(&presented, &workflow(5, 5, "in_progress")).says_nothing();
    write(&presented, &workflow(5, 5, "pending")).blocks("Phase status regression");

    // A count that goes up by one is a redo as well, up to the third.
    presented["active_workflow"]["supervised_review"] =
        json!({ "status": "completed", "redo_count": 1 });
    write(&presented, &again(2)).says_nothing();
    write(&presented, &again(3)).blocks("Phase status regression");
    presented["active_workflow"]["supervised_review"]["redo_count"] = json!("1");
    write(&presented, &again(2)).blocks("Phase status regression");
    presented["active_workflow"]["supervised_review"] =
        json!({ "status": "completed", "redo_count": 3 });
    write(&presented, &again(4)).blocks("Phase status regression");
    presented["active_workflow"]["supervised_review"] =
        json!({ "status": "redo_pending", "redo_count": 1, "phase": "04-design" });
    write(&presented, &workflow(5, 5, "in_progress")).blocks("Phase status regression");
}

/// D1: a write of the state is judged before it happens; afterwards there is nothing to compare it
/// with.
#[test]
fn d1_an_edit_is_applied_in_memory_before_the_write() {
    let project = TestProject::new().state(&workflow(5, 5, "in_progress"));
    let edit = |old: &str, new: &str| {
        json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Edit",
            "tool_input": { "file_path": project.path(".isdlc/state.json"), "old_string": old, "new_string": new },
        })
    };
    let reason = project
        .hook(&edit(
            "\"current_phase_index\": 5",
            "\"current_phase_index\": 1",
        ))
        .denies();
    assert!(reason.starts_with("Phase index regression"), "{reason}");
    project
        .hook(&edit(
            "\"current_phase_index\": 5",
            "\"current_phase_index\": 6",
        ))
        .says_nothing();
    project.hook(&edit("not in the file", "x")).says_nothing();
    assert_eq!(project.codes(), ["SWV-008"]);
}

/// D1: a write of the state is judged before it happens; afterwards there is nothing to compare it
/// with.
#[test]
fn d1_a_patch_is_applied_in_memory_before_the_write() {
    let project = TestProject::new();
    project.file(
        ".isdlc/state.json",
        "{\n  \"state_version\": 7,\n  \"note\": \"a\"\n}\n",
    );
    let patch = |body: &str| {
        let text = format!(
            "*** Begin Patch\n*** Update File: .isdlc/state.json\n@@\n{body}*** End Patch\n"
        );
        let event = json!({ "tool_name": "apply_patch", "tool_input": { "command": text } });
        project.guard("state-write-validator", &event)
    };
    patch("-  \"state_version\": 7,\n+  \"state_version\": 6,\n")
        .blocks("Version mismatch: expected state_version >= 7, got 6.");
    patch("-  \"note\": \"a\"\n+  \"note\": \"b\"\n").says_nothing();
}

/// D1: a write of the state is judged before it happens; afterwards there is nothing to compare it
/// with.
#[test]
fn d1_an_edit_of_all_places_is_applied_to_all_of_them() {
    let project = TestProject::new().state(&json!({ "own": 5, "state_version": 5 }));
    let edit = |all: bool| {
        json!({ "tool_name": "Edit", "tool_input": {
            "file_path": project.path(".isdlc/state.json"),
            "old_string": "5", "new_string": "4", "replace_all": all,
        } })
    };
    project.guard(NAME, &edit(false)).says_nothing();
    project.guard(NAME, &edit(true)).blocks("Version mismatch");
}

/// D1: a write of the state is judged before it happens; afterwards there is nothing to compare it
/// with.
#[test]
fn d1_after_a_real_agents_write_nothing_is_blocked() {
    let disk = workflow(3, 1, "in_progress");
    let project = TestProject::new().state(&disk);
    let event = json!({
        "hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Write",
        "tool_input": { "file_path": project.path(".isdlc/state.json"), "content": disk.to_string() },
        "tool_response": { "type": "update" },
    });
    project.hook(&event).says_nothing();
}

/// V9: fields of the state that say the same thing must agree; if not, a warning.
#[test]
fn v9_warns_about_fields_that_contradict_each_other() {
    let state = json!({
        "state_version": 1,
        "current_phase": "01-requirements",
        "active_workflow": {
            "current_phase": "06-implementation",
            "current_phase_index": 0,
            "phases": ["05-test-strategy", "06-implementation"],
            "phase_status": { "06-implementation": "completed" },
        },
        "phases": { "06-implementation": { "status": "in_progress" } },
    });
    let text = write(&state, &state).warns("[state-write-validator] V9-A WARNING:");
    assert!(
        text.contains("V9-B WARNING:") && text.contains("V9-C WARNING:"),
        "{text}"
    );
}

/// F8: between two phases the index is one ahead; that is no contradiction.
#[test]
fn f8_one_index_ahead_is_the_way_from_phase_to_phase() {
    let mut state = workflow(1, 1, "completed");
    state["active_workflow"]["phases"] = json!(["06-implementation", "08-code-review"]);
    write(&state, &state).says_nothing();
}

/// R28: contradictions between fields were not reported where `phases` is missing.
#[test]
fn r28_contradictions_are_told_without_phases_too() {
    let state = json!({ "current_phase": "a", "active_workflow": { "current_phase": "b" } });
    write(&state, &state).warns("[state-write-validator] V9-B WARNING:");
}

/// R33: a path is resolved before it is compared: `//` and `..` change nothing.
/// E4: agents forged evidence, versions and rollbacks in the state, or wrote it under another path.
#[test]
fn r33_and_e4_every_spelling_of_the_path_is_the_state_file() {
    let project = TestProject::new().state(&workflow(41, 5, "in_progress"));
    std::os::unix::fs::symlink(project.path(".isdlc"), project.path("link")).unwrap();
    let incoming = workflow(3, 1, "in_progress").to_string();
    for path in [
        ".isdlc/state.json",
        ".isdlc/./state.json",
        ".isdlc//state.json",
        ".isdlc/projects/a/../../state.json",
        "link/state.json",
    ] {
        let event = events::write(path, &incoming);
        project.guard(NAME, &event).blocks("Version mismatch");
    }
}

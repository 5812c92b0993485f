//! The guards over a state that the commands wrote: TS-003, TS-006, TS-008, TS-009, TS-010;
//! AC-005, AC-006, AC-011, AC-012.

use serde_json::{Value, json};

use super::bench::{Bench, STATE};
use crate::events::{task, tool, write as written};

/// TS-003: a phase's agent asks its own helpers; one of another phase is blocked.
#[test]
fn ts_003_sub_agents_work_inside_their_phase_and_not_outside_it() {
    // AC-006a, AC-006d: helpers of the phase are allowed by both guards, AC-006c: which is logged.
    // AC-006b: other phases are blocked. AC-006e: the manifest says whose helper one is.
    let bench = Bench::started(&["02-tracing", "06-implementation"]);
    for agent in [
        "symptom-analyzer",
        "execution-path-tracer",
        "root-cause-identifier",
    ] {
        bench.hook(&task(agent, "look into it")).allows();
    }
    // The phase's own agent asks them while nobody has written down that the phase began.
    bench.edit(|state| state["phases"]["02-tracing"]["status"] = json!("pending"));
    let mut event = task("symptom-analyzer", "look into it");
    event["agent_id"] = json!("a1");
    bench.hook(&event).says_nothing();
    let log = bench.read(".isdlc/hook-activity.log");
    let line: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    assert_eq!(line["event"], "same-phase-bypass", "{log}");
    assert_eq!(line["hook"], "phase-loop-controller");
    assert_eq!(
        (&line["phase"], &line["agent"]),
        (&json!("02-tracing"), &json!("symptom-analyzer"))
    );
    bench
        .project
        .hook(&task("software-developer", "fix it"))
        .blocks("OUT-OF-ORDER PHASE DELEGATION");
}

/// TS-006: a stale `current_phase` at the top is not read where the workflow has its own.
#[test]
fn ts_006_a_stale_top_level_phase_fools_nobody() {
    // AC-004f, AC-005a, AC-005b, AC-005c: one function reads the phase, the workflow's first.
    let bench = Bench::started(&["03-architecture", "06-implementation"]);
    bench.edit(|state| state["current_phase"] = json!("01-requirements"));
    bench
        .project
        .hook(&task("solution-architect", "design"))
        .allows();
    bench
        .project
        .hook(&task("requirements-analyst", "ask"))
        .blocks("OUT-OF-ORDER PHASE DELEGATION");
    assert_eq!(
        bench.json(&["workflow", "status", "--json"])["current_phase"],
        "03-architecture"
    );
    bench.complete();
    assert_eq!(
        bench.state()["phases"]["03-architecture"]["status"],
        "completed"
    );
}

/// TS-008: `13-test-deploy`, an old key, means `12-test-deploy` everywhere.
#[test]
fn ts_008_an_old_key_is_its_phase() {
    // AC-005d, AC-009e: requirements are found under today's key, and no index goes wrong.
    let bench = Bench::with_phases(&["13-test-deploy", "06-implementation"]);
    bench.file(
        ".claude/hooks/config/iteration-requirements.json",
        r#"{"phase_requirements":{"12-test-deploy":{"test_iteration":{"enabled":true}}}}"#,
    );
    bench.ok(&["workflow", "start", "t", "Deploy"]);
    bench.begin();
    let said = bench.refused(1, &["phase", "complete", "--summary", "x"]);
    assert!(
        said.contains("test_iteration: Test iteration not started"),
        "{said}"
    );
    bench.edit(|state| {
        let mut entry = state["phases"]
            .as_object_mut()
            .unwrap()
            .remove("13-test-deploy")
            .unwrap();
        entry["iteration_requirements"] =
            json!({"test_iteration": {"completed": true, "current_iteration": 1}});
        state["phases"]["12-test-deploy"] = entry;
    });
    bench.ok(&["phase", "complete", "12-test-deploy", "--summary", "x"]);
    let state = bench.state();
    assert_eq!(state["phases"]["12-test-deploy"]["status"], "completed");
    assert!(state["phases"].get("13-test-deploy").is_none());
    assert_eq!(state["active_workflow"]["current_phase_index"], 1);
    bench.begin();
    bench.clean();
}

fn write(bench: &Bench, content: &Value) -> crate::project::Run {
    bench.hook(&written(bench.path(STATE), &content.to_string()))
}

/// TS-009: version 3 is not written over version 5.
#[test]
fn ts_009_a_stale_write_is_blocked() {
    // AC-011c: an older version is blocked. AC-011d: the same or a newer one is allowed.
    // AC-011e: so is one where neither has a version.
    let bench = Bench::started(&["01-requirements", "06-implementation"]);
    let stale = bench.state();
    bench.begin();
    let before = bench.text();
    let reason = write(&bench, &stale).blocks("Version mismatch");
    assert!(reason.contains("Re-read"), "{reason}");
    assert_eq!(bench.text(), before);
    write(&bench, &bench.state()).allows();
    let mut newer = bench.state();
    newer["state_version"] = json!(99);
    write(&bench, &newer).allows();
    bench.edit(|state| drop(state.as_object_mut().unwrap().remove("state_version")));
    write(&bench, &bench.state()).allows();
}

/// TS-010: a completed phase is not written back to pending.
#[test]
fn ts_010_a_status_does_not_go_back() {
    // AC-012a: no index goes back. AC-012b, AC-012e: no status does. AC-012c: edits are judged by
    // what they make of the file. AC-012d: what is missing on one side is not compared.
    let bench = Bench::started(&["01-requirements", "06-implementation"]);
    bench.complete();
    let before = bench.text();
    let mut back = bench.state();
    back["active_workflow"]["phase_status"]["01-requirements"] = json!("pending");
    write(&bench, &back).blocks("Phase status regression");
    let mut back = bench.state();
    back["active_workflow"]["current_phase_index"] = json!(0);
    write(&bench, &back).blocks("Phase index regression");
    let mut missing = bench.state();
    missing["active_workflow"]
        .as_object_mut()
        .unwrap()
        .remove("phase_status");
    write(&bench, &missing).allows();
    let edit = json!({ "file_path": bench.path(STATE),
        "old_string": "\"current_phase_index\": 1", "new_string": "\"current_phase_index\": 0" });
    bench
        .hook(&tool("Edit", &edit))
        .blocks("Phase index regression");
    assert_eq!(bench.text(), before);
}

/// V8: the phase index and a phase's status do not go back.
#[test]
fn v8_knows_a_redo_that_the_command_granted() {
    let bench = Bench::with_phases(&["01-requirements", "06-implementation"]);
    bench.ok(&["workflow", "start", "t", "x", "--supervised"]);
    bench.complete();
    bench.ok(&["phase", "redo", "--guidance", "better"]);
    write(&bench, &bench.state()).allows();
}

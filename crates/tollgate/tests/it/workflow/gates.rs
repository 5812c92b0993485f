//! Gates: TS-004, TS-005; AC-004, AC-013: the command keeps a gate closed, the guards keep an
//! agent from talking its way past it, and both look at the same evidence.

use serde_json::{Value, json};

use super::bench::Bench;
use crate::events::{bash, task};

fn bench(phase: &str, requirements: &Value) -> Bench {
    let bench = Bench::with_phases(&[phase, "08-code-review"]);
    bench.file(
        ".claude/hooks/config/iteration-requirements.json",
        json!({ "phase_requirements": { phase: requirements } }).to_string(),
    );
    bench.file("docs/isdlc/tasks.md", "# Tasks\n");
    bench.ok(&["workflow", "start", "t", "x"]);
    bench.begin();
    bench
}

/// TS-004: while tests fail the gate stays closed, and work on them goes on.
#[test]
fn ts_004_failing_tests_keep_the_gate_closed() {
    // AC-004a: failing tests close the gate. AC-013a: in the corridor nobody advances, AC-013c: but
    // tools may be used. AC-013f: the corridor is that of the current phase.
    let bench = bench(
        "06-implementation",
        &json!({ "test_iteration": { "enabled": true, "max_iterations": 5 } }),
    );
    bench.edit(|state| {
        state["phases"]["06-implementation"]["iteration_requirements"] = json!({ "test_iteration":
            { "completed": false, "current_iteration": 2, "max_iterations": 5, "last_test_result": "failed" } });
    });
    let said = bench.refused(1, &["phase", "complete", "--summary", "x"]);
    assert!(
        said.contains(
            "GATE BLOCKED: Iteration requirements not satisfied for phase '06-implementation'."
        ),
        "{said}"
    );
    assert!(
        said.contains(
            "test_iteration: Test iteration incomplete. 2/5 iterations used. Last result: FAILED."
        ),
        "{said}"
    );
    assert_eq!(
        bench.json(&["workflow", "status", "--json"])["corridor"],
        "TEST_CORRIDOR"
    );
    for event in [
        bash("cargo test"),
        json!({"tool_name":"Read","tool_input":{"file_path":"a.rs"}}),
        json!({"tool_name":"Write","tool_input":{"file_path":bench.path("a.rs"),"content":"x"}}),
        json!({"tool_name":"Edit","tool_input":{"file_path":bench.path("a.rs"),"old_string":"x","new_string":"y"}}),
        task("software-developer", "fix the tests"),
    ] {
        bench.hook(&event).allows();
    }
    let advance = task("sdlc-orchestrator", "advance to the next phase");
    bench
        .project
        .hook(&advance)
        .blocks("ITERATION CORRIDOR: Tests are failing (iteration 2/5)");
    bench
        .project
        .guard("gate-blocker", &advance)
        .blocks("GATE BLOCKED: Iteration requirements not satisfied");
    bench.edit(|state| {
        let tests =
            &mut state["phases"]["06-implementation"]["iteration_requirements"]["test_iteration"];
        tests["completed"] = json!(true);
        tests["last_test_result"] = json!("passed");
    });
    bench.guard("gate-blocker", &advance).allows();
    bench.complete();
}

/// TS-005: while the constitutional validation is open the gate stays closed.
#[test]
fn ts_005_an_open_constitutional_validation_keeps_the_gate_closed() {
    // AC-004b: an open validation closes the gate. AC-013b: it has its corridor, too.
    let bench = bench(
        "01-requirements",
        &json!({ "constitutional_validation": { "enabled": true, "articles": ["I"] } }),
    );
    bench.edit(|state| {
        state["phases"]["01-requirements"]["constitutional_validation"] =
            json!({ "completed": false, "status": "in_progress", "iterations_used": 1, "max_iterations": 5 });
    });
    let said = bench.refused(1, &["phase", "complete", "--summary", "x"]);
    assert!(
        said.contains("constitutional_validation: Constitutional validation incomplete."),
        "{said}"
    );
    assert_eq!(
        bench.json(&["workflow", "status", "--json"])["corridor"],
        "CONST_CORRIDOR"
    );
    let advance = task("sdlc-orchestrator", "advance to the next phase");
    bench
        .project
        .hook(&advance)
        .blocks("ITERATION CORRIDOR: Constitutional validation in progress");
    bench.hook(&bash("ls")).allows();
    bench.edit(|state| {
        state["phases"]["01-requirements"]["constitutional_validation"] =
            json!({ "completed": true, "status": "compliant", "iterations_used": 1 });
    });
    bench.complete();
}

/// AC-004c: an elicitation in which nobody was asked keeps the gate closed.
/// AC-004g: combinations that cannot be are noticed: completed, with no iteration.
#[test]
fn ac_004c_ac_004g_nobody_was_asked_and_fabrications_open_no_gate() {
    let bench = bench(
        "01-requirements",
        &json!({ "interactive_elicitation": { "enabled": true }, "constitutional_validation": { "enabled": true } }),
    );
    bench.edit(|state| {
        state["phases"]["01-requirements"]["constitutional_validation"] =
            json!({ "completed": true, "status": "compliant", "iterations_used": 0 });
        state["phases"]["01-requirements"]["iteration_requirements"] =
            json!({ "interactive_elicitation": { "completed": true, "menu_interactions": 0 } });
    });
    let said = bench.refused(1, &["phase", "complete", "--summary", "x"]);
    assert!(
        said.contains("had 0 menu interactions. At least 1 required.")
            && said.contains("marked completed but no iteration is recorded"),
        "{said}"
    );
    assert_eq!(bench.audit(), ["AC-004g", "AC-004g"]);
}

/// AC-004d: a delegation of the phase is no attempt to leave it.
/// AC-004e: setup commands are never blocked by a gate.
/// AC-013d: setup commands are allowed in a corridor.
/// AC-013e: a delegation of the phase is no attempt to leave the corridor.
#[test]
fn ac_004d_ac_004e_ac_013d_ac_013e_delegations_and_setup_are_no_advances() {
    let bench = bench(
        "01-requirements",
        &json!({ "interactive_elicitation": { "enabled": true } }),
    );
    bench
        .project
        .hook(&task(
            "requirements-analyst",
            "proceed to the gate of this phase",
        ))
        .allows();
    for word in [
        "discover",
        "constitution",
        "init",
        "setup",
        "configure",
        "status",
    ] {
        bench
            .project
            .hook(&task("sdlc-orchestrator", word))
            .allows();
    }
}

#[test]
fn artifacts_are_asked_for_where_they_are_required() {
    let bench = Bench::with_phases(&["01-requirements", "08-code-review"]);
    bench.file(
        ".claude/hooks/config/iteration-requirements.json",
        r#"{"phase_requirements":{"01-requirements":{"artifact_validation":{"enabled":true,"paths":["docs/requirements/{artifact_folder}/requirements-spec.md"]}}}}"#,
    );
    bench.ok(&["workflow", "start", "t", "Add a shop"]);
    let said = bench.refused(1, &["phase", "complete", "--summary", "x"]);
    assert!(
        said.contains("docs/requirements/REQ-0001-add-a-shop/requirements-spec.md"),
        "{said}"
    );
    bench.file(
        "docs/requirements/REQ-0001-add-a-shop/requirements-spec.md",
        "# R\n",
    );
    bench.complete();
}

/// AC-007d: documents of earlier phases may be missing; nobody assumes that they are there.
#[test]
fn ac_007d_a_document_by_any_of_its_names_is_not_missing() {
    let bench = Bench::with_phases(&["01-requirements", "06-implementation"]);
    bench.file(
        ".isdlc/config/artifact-paths.json",
        r#"{"phases":{"01-requirements":{"paths":["docs/requirements/{artifact_folder}/requirements-spec.md","docs/requirements/{artifact_folder}/requirements.md"]}}}"#,
    );
    bench.ok(&["workflow", "start", "t", "x"]);
    bench.complete();
    bench.begin();
    let run = bench.tollgate(&["phase", "brief"]);
    let missing = "requirements-spec.md (or docs/requirements/REQ-0001-x/requirements.md) of phase";
    assert!(run.stderr.contains(missing), "{run:?}");
    bench
        .project
        .file("docs/requirements/REQ-0001-x/requirements.md", "# R\n");
    let run = bench.tollgate(&["phase", "brief"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
    let there = "- 01-requirements: docs/requirements/REQ-0001-x/requirements.md";
    assert!(run.stdout.contains(there), "{run:?}");
    assert!(!run.stdout.contains("WARNING"), "{run:?}");
}

#[test]
fn a_permissive_workflow_tells_and_goes_on() {
    let bench = Bench::new();
    bench.file(
        ".claude/hooks/config/iteration-requirements.json",
        r#"{"phase_requirements":{"R1-behavior-extraction":{"test_iteration":{"enabled":true}}}}"#,
    );
    bench.ok(&["workflow", "start", "reverse-engineer", "x"]);
    let run = bench.tollgate(&["phase", "complete", "--summary", "x"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains("the workflow is permissive"), "{run:?}");
    // It went on, and passed no gate.
    let state = bench.state();
    let phase = &state["phases"]["R1-behavior-extraction"];
    assert_eq!(phase["status"], "completed");
    assert_eq!(phase["gate_passed"], json!(null));
    bench.clean();
}

#[test]
fn a_brief_lists_what_the_gate_will_ask_for_and_nothing_else() {
    let asked = [
        ("interactive_elicitation", r#"{"enabled":true}"#),
        ("test_iteration", r#"{"enabled":true}"#),
        (
            "constitutional_validation",
            r#"{"enabled":true,"articles":["I","IX"]}"#,
        ),
        ("agent_delegation_validation", r#"{"enabled":true}"#),
        (
            "artifact_validation",
            r#"{"enabled":true,"paths":["docs/x.md"]}"#,
        ),
    ];
    for (name, section) in asked {
        let bench = Bench::with_phases(&["06-implementation"]);
        bench.file(
            ".claude/hooks/config/iteration-requirements.json",
            format!(r#"{{"phase_requirements":{{"06-implementation":{{"{name}":{section}}}}}}}"#),
        );
        bench.ok(&["workflow", "start", "t", "Add a shop"]);
        let brief = bench.ok(&["phase", "brief"]);
        for (other, _) in asked {
            let listed = brief.contains(&format!("\n- {other}: "));
            assert_eq!(listed, other == name, "{other}: {brief}");
        }
    }
}

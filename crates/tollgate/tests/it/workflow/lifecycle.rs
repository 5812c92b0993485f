//! From start to archive: TS-011, TS-013; AC-007, AC-008, AC-009, AC-010; branches; a state of
//! the original.

use serde_json::{Value, json};

use super::bench::{Bench, STATE};
use crate::outputs::{filters, transcript};

fn run_all(bench: &Bench, phases: usize) {
    for _ in 0..phases {
        bench.begin();
        bench.write_documents();
        bench.complete();
    }
}

/// TS-011: the end archives the phases and their metrics, and clears the workflow.
#[test]
fn ts_011_the_end_archives_everything_in_one_step() {
    // AC-010a: at the end the index is the length. AC-010b, AC-010c: history gets the phases, their
    // snapshots and metrics. AC-010d: the workflow is cleared. AC-010e: nothing is left to complete.
    // AC-010f: pruning does no harm.
    let bench = Bench::new();
    bench.ok(&[
        "workflow",
        "start",
        "feature",
        "Add a shop",
        "--from",
        "01-requirements",
    ]);
    run_all(&bench, 8);
    assert_eq!(bench.state()["active_workflow"]["current_phase_index"], 8);
    bench.edit(|state| {
        state["workflow_history"] = (0..60).map(|n| json!({"id": n, "status":"completed","started_at":"t","completed_at":"t","phases":[],"phase_snapshots":[],"metrics":{}})).collect();
        state["history"] = (0..120).map(|n| json!({"action": "x".repeat(300), "n": n})).collect();
        state["own_field"] = json!({"kept": [1.0, "\u{1F600}"]});
    });
    bench.ok(&["workflow", "finalize"]);
    let state = bench.state();
    assert!(state["active_workflow"].is_null());
    let history = state["workflow_history"].as_array().unwrap();
    assert_eq!(history.len(), 50);
    let entry = history.last().unwrap();
    assert_eq!(entry["phase_snapshots"].as_array().unwrap().len(), 8);
    assert_eq!(entry["phases"].as_array().unwrap().len(), 8);
    assert_eq!(entry["metrics"]["phases_completed"], 8);
    assert_eq!(entry["metrics"]["gates_passed_first_try"], 8);
    assert!(entry["started_at"].is_string() && entry["completed_at"].is_string());
    assert_eq!(state["history"].as_array().unwrap().len(), 100);
    assert_eq!(
        (&state["phases"], &state["current_phase"]),
        (&json!({}), &Value::Null)
    );
    assert_eq!(state["own_field"], json!({"kept": [1.0, "\u{1F600}"]}));
    let archive: Value = serde_json::from_str(&bench.read(".isdlc/state-archive.json")).unwrap();
    let record = archive["records"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&record["source_id"], &record["outcome"]),
        (&json!("REQ-0001"), &json!("completed"))
    );
    bench.clean();
}

/// TS-013: a phase is given the documents of the one before; a missing one is a warning.
#[test]
fn ts_013_a_brief_hands_on_what_earlier_phases_left() {
    // AC-007a: the brief names the folder. AC-007b: documents are found in it. AC-007c: discovery is
    // handed to phases 02 and 03 only. AC-007d: what is missing is a warning.
    let bench = Bench::started(&[
        "01-requirements",
        "02-impact-analysis",
        "03-architecture",
        "06-implementation",
    ]);
    let brief = || transcript(&bench, &["phase brief"]);
    let mut seen = vec![("The first phase", brief())];
    bench.complete();
    bench.begin();
    seen.push(("A document of the phase before is missing", brief()));
    bench.file(
        "docs/requirements/REQ-0001-add-a-shop/requirements-spec.md",
        "# R\n",
    );
    let fresh = jiff::Timestamp::now();
    bench.edit(|state| {
        state["discovery_context"] = json!({"completed_at": fresh.to_string(), "x": 1});
    });
    seen.push(("It is there, and a discovery", brief()));
    bench.edit(|state| state["discovery_context"]["completed_at"] = json!("2020-01-01T00:00:00Z"));
    seen.push(("The discovery is old", brief()));
    for _ in 0..2 {
        bench.complete();
        bench.begin();
    }
    seen.push(("Phases after 03 get no discovery", brief()));
    let seen: Vec<_> = seen
        .iter()
        .map(|(case, shown)| format!("# {case}\n{shown}"))
        .collect();
    filters(&bench).bind(|| insta::assert_snapshot!(seen.join("\n")));
    let brief = bench.ok(&["phase", "brief"]);
    // The brief is a delegation that the guards recognise and allow.
    bench.file("docs/isdlc/tasks.md", "# Tasks\n");
    bench
        .project
        .hook(&crate::events::task("general-purpose", &brief))
        .allows();
}

/// AC-008d: a start removes the phases of earlier workflows.
/// AC-008f: a start works with an array of phases of any length.
/// AC-009a: phases that are skipped are not in the array.
/// AC-009c: only phases of this workflow have an entry.
#[test]
fn ac_008d_ac_008f_ac_009a_ac_009c_a_start_resets_phases_and_light_work_has_fewer() {
    let bench = Bench::new();
    bench.file(STATE, r#"{"phases":{"77-old":{"status":"completed"}},"counters":{"next_req_id":31,"own":1},"active_workflow":null,"workflow_history":[]}"#);
    bench.ok(&[
        "workflow",
        "start",
        "feature",
        "Small thing",
        "--light",
        "--no-branch",
    ]);
    let state = bench.state();
    let phases = state["active_workflow"]["phases"].as_array().unwrap();
    assert!(!phases.contains(&json!("03-architecture")) && !phases.contains(&json!("04-design")));
    let filed: Vec<&String> = state["phases"].as_object().unwrap().keys().collect();
    assert_eq!(filed.len(), phases.len());
    assert_eq!(state["counters"], json!({"next_req_id": 32, "own": 1}));
    assert_eq!(
        state["active_workflow"]["artifact_folder"],
        "REQ-0031-small-thing"
    );
    bench.clean();
}

/// AC-009b: the index is one into the array of this workflow.
/// AC-009d: after a phase is removed on the way, the remaining ones go on.
#[test]
fn ac_009b_ac_009d_phases_removed_on_the_way_leave_no_gap() {
    let bench = Bench::started(&[
        "02-impact-analysis",
        "03-architecture",
        "04-design",
        "06-implementation",
        "08-code-review",
    ]);
    bench.file(
        "docs/requirements/REQ-0001-add-a-shop/impact-analysis.md",
        "# I\n```json\n{\"files_directly_affected\": 3, \"risk_level\": \"low\"}\n```\n",
    );
    bench.ok(&["phase", "complete", "--summary", "small", "--size", "auto"]);
    let state = bench.state();
    assert_eq!(
        state["active_workflow"]["phases"],
        json!(["02-impact-analysis", "06-implementation", "08-code-review"])
    );
    assert_eq!(
        state["active_workflow"]["sizing"]["effective_intensity"],
        "light"
    );
    assert_eq!(state["active_workflow"]["current_phase_index"], 1);
    bench.clean();
    bench.gives_up(&["phase", "skip", "08-code-review", "--reason", "pair"]);
    bench.clean();
    bench.begin();
    bench.complete();
    assert_eq!(bench.state()["active_workflow"]["current_phase_index"], 2);
    bench.ok(&["workflow", "finalize"]);
}

/// BUG-0005: tasks.md was never ticked.
#[test]
fn bug_0005_tasks_are_ticked_and_other_lines_stay() {
    let bench = Bench::started(&["06-implementation", "08-code-review"]);
    bench.file("docs/isdlc/tasks.md", "## Phase 06: Implementation -- IN PROGRESS\n- [ ] T0001 x\n## Phase 08: Code Review -- PENDING\n- [ ] T0002 y\n");
    bench.complete();
    assert_eq!(
        bench.read("docs/isdlc/tasks.md"),
        "## Phase 06: Implementation -- COMPLETE\n- [X] T0001 x\n## Phase 08: Code Review -- PENDING\n- [ ] T0002 y\n"
    );
}

#[test]
fn a_branch_is_made_and_merged_in_a_real_repository() {
    let bench = Bench::fresh();
    bench.ok(&["workflow", "start", "fix", "Basket loses items"]);
    let branch = "bugfix/BUG-0001-basket-loses-items";
    assert_eq!(bench.git(&["branch", "--show-current"]), branch);
    assert_eq!(
        bench.state()["active_workflow"]["git_branch"]["created_from"],
        "main"
    );
    bench.file("fix.rs", "// fixed\n");
    bench.git(&["add", "fix.rs"]);
    bench.git(&["commit", "-q", "-m", "Fix"]);
    run_all(&bench, 3);
    bench.ok(&["workflow", "finalize", "--merge"]);
    assert_eq!(bench.git(&["branch", "--show-current"]), "main");
    assert_eq!(bench.git(&["branch", "--list", branch]), "");
    let head = bench.git(&["rev-parse", "HEAD"]);
    let entry = bench.state()["workflow_history"][0].clone();
    assert_eq!(entry["merged_commit"], head);
    assert_eq!(entry["git_branch"]["status"], "merged");
    assert_eq!(
        bench
            .project
            .git(&["rev-list", "--parents", "-n", "1", "HEAD"])
            .split(' ')
            .count(),
        3,
        "a merge commit"
    );
    bench.clean();
}

#[test]
fn a_branch_that_a_pull_request_merged_is_recorded_as_merged() {
    let bench = Bench::fresh();
    bench.ok(&["workflow", "start", "fix", "x"]);
    bench.file("fix.rs", "// fixed\n");
    bench.git(&["add", "fix.rs"]);
    bench.git(&["commit", "-q", "-m", "Fix"]);
    bench.git(&["switch", "-q", "main"]);
    bench.git(&["merge", "-q", "--squash", "bugfix/BUG-0001-x"]);
    bench.git(&["commit", "-q", "-m", "Fix (#1)"]);
    bench.git(&["branch", "-q", "-D", "bugfix/BUG-0001-x"]);
    run_all(&bench, 3);
    let said = bench.ok(&["workflow", "finalize"]);
    assert!(said.contains("bugfix/BUG-0001-x was merged"), "{said}");
    let entry = bench.state()["workflow_history"][0].clone();
    assert_eq!(entry["git_branch"]["status"], "merged");
    assert_eq!(entry["merged_commit"], bench.git(&["rev-parse", "main"]));
    // One that was thrown away is not.
    let bench = Bench::fresh();
    bench.ok(&["workflow", "start", "fix", "x"]);
    bench.git(&["switch", "-q", "main"]);
    bench.git(&["branch", "-q", "-D", "bugfix/BUG-0001-x"]);
    run_all(&bench, 3);
    bench.ok(&["workflow", "finalize"]);
    let entry = bench.state()["workflow_history"][0].clone();
    assert_eq!(entry["git_branch"]["status"], "kept");
}

#[test]
fn a_state_that_was_committed_halfway_is_not_to_be_stashed() {
    let bench = Bench::fresh();
    bench.ok(&["workflow", "start", "fix", "x"]);
    bench.git(&["add", "-A"]);
    bench.git(&["commit", "-q", "-m", "all of it"]);
    run_all(&bench, 3);
    let said = bench.refused(2, &["workflow", "finalize", "--merge"]);
    assert!(said.contains("could not switch to main"), "{said}");
    assert!(
        said.contains("commit them (`git commit -m \"…\" .tollgate/workflow/state.json`)"),
        "{said}"
    );
    bench.git(&["commit", "-qam", "the state"]);
    bench.ok(&["workflow", "finalize", "--merge"]);
    assert_eq!(bench.git(&["branch", "--show-current"]), "main");
}

#[test]
fn a_merge_that_conflicts_changes_nothing() {
    let bench = Bench::fresh();
    bench.ok(&["workflow", "start", "fix", "x"]);
    bench.file("README.md", "ours\n");
    bench.git(&["commit", "-qam", "ours"]);
    bench.git(&["switch", "-q", "main"]);
    bench.file("README.md", "theirs\n");
    bench.git(&["commit", "-qam", "theirs"]);
    bench.git(&["switch", "-q", "bugfix/BUG-0001-x"]);
    run_all(&bench, 3);
    let said = bench.refused(2, &["workflow", "finalize", "--merge"]);
    assert!(said.contains("could not be merged into main"), "{said}");
    assert_eq!(
        bench.git(&["branch", "--show-current"]),
        "bugfix/BUG-0001-x"
    );
    assert_eq!(
        bench
            .project
            .git(&["status", "--porcelain", "--untracked-files=no"]),
        ""
    );
    bench.ok(&["workflow", "finalize", "--keep-branch"]);
    assert_eq!(
        bench.state()["workflow_history"][0]["git_branch"]["status"],
        "kept"
    );
}

#[test]
fn a_cancelled_workflow_keeps_its_story_and_its_branch() {
    let bench = Bench::fresh();
    bench.ok(&[
        "workflow",
        "start",
        "feature",
        "Too much",
        "--from",
        "implementation",
    ]);
    bench.file("README.md", "half done\n");
    bench.gives_up(&["workflow", "cancel", "--reason", "not now"]);
    let state = bench.state();
    let entry = &state["workflow_history"][0];
    assert_eq!(entry["status"], "cancelled");
    assert_eq!(entry["cancellation_reason"], "not now");
    assert_eq!(entry["cancelled_at_phase"], "implementation");
    assert_eq!(entry["git_branch"]["status"], "abandoned");
    assert_eq!(
        bench.read("README.md"),
        "half done\n",
        "the tree is not touched"
    );
    bench.clean();
}

/// A running workflow as the original writes it, with everything that hooks and people add.
fn original() -> Value {
    json!({
        "framework_version": "0.1.0-alpha", "project": {"name": "p", "path": "."}, "state_version": 412,
        "current_phase": "06-implementation", "active_agent": "software-developer",
        "active_workflow": {"type": "feature", "description": "d", "started_at": "2026-02-08T10:00:00.000Z",
            "phases": ["01-requirements", "06-implementation", "08-code-review"], "current_phase": "06-implementation", "current_phase_index": 1,
            "phase_status": {"01-requirements": "completed", "06-implementation": "in_progress", "08-code-review": "pending"},
            "gate_mode": "strict", "artifact_prefix": "REQ", "artifact_folder": "REQ-0031-x", "counter_used": 31,
            "git_branch": {"name": "feature/REQ-0031-x", "created_from": "main", "created_at": "2026-02-08T10:00:00.000Z", "status": "active"},
            "sizing": {"effective_intensity": "standard"}, "flags": {"light": false}, "options": {}, "their_field": {"deep": [1, {"x": 2.50}]}},
        "phases": {
            "01-requirements": {"status": "completed", "started": "2026-02-08T10:00:00.000Z", "completed": null, "gate_passed": null, "artifacts": ["a.md"], "summary": "s"},
            "06-implementation": {"status": "in_progress", "started": "2026-02-08T11:00:00.000Z", "completed": null, "gate_passed": null, "artifacts": [],
                "timing": {"started_at": "2026-02-08T11:00:00.000Z", "retries": 0},
                "iteration_requirements": {"test_iteration": {"completed": true, "current_iteration": 2, "last_test_result": "passed", "history": [{"own": true}]}},
                "constitutional_validation": {"completed": true, "status": "compliant", "iterations_used": 1}},
            "08-code-review": {"status": "pending", "started": null, "completed": null, "gate_passed": null, "artifacts": []}},
        "pending_escalations": [], "pending_delegation": null, "skill_usage_log": [{"skill": "DEV-001"}],
        "supervised_mode": {"enabled": false}, "iteration_config": {"testing_max": 8}, "chat_explore_active": false,
        "discovery_context": {"completed_at": "2026-02-01T00:00:00Z", "coverage_summary": {"total_tests": 10}},
        "cloud_configuration": {"provider": "undecided"}, "complexity_assessment": {"level": "x"}, "workflow": {"legacy": true},
        "blast_radius_retries": 0, "workflow_history": [], "history": [{"timestamp": "t", "agent": "a", "action": "b"}],
        "big": 12_345_678_901_234_567_890_u64, "ratio": 1.0,
    })
}

#[test]
fn a_state_of_a_running_original_goes_through_to_its_end_with_every_unknown_field() {
    let bench = Bench::new();
    let before = original();
    bench
        .project
        .file(STATE, serde_json::to_string_pretty(&before).unwrap());
    assert!(
        bench
            .ok(&["workflow", "status"])
            .contains("06-implementation")
    );
    bench.ok(&["phase", "complete", "--summary", "implemented"]);
    assert_eq!(
        bench.state()["active_workflow"]["their_field"],
        before["active_workflow"]["their_field"]
    );
    assert_eq!(
        bench.state()["phases"]["06-implementation"]["iteration_requirements"],
        before["phases"]["06-implementation"]["iteration_requirements"]
    );
    bench.begin();
    bench.complete();
    bench.ok(&["workflow", "finalize"]);
    let after = bench.state();
    let known = [
        "state_version",
        "current_phase",
        "active_agent",
        "active_workflow",
        "phases",
        "pending_escalations",
        "workflow_history",
        "blockers",
    ];
    for (key, value) in before.as_object().unwrap() {
        if !known.contains(&key.as_str()) {
            assert_eq!(&after[key], value, "{key}");
        }
    }
    assert_eq!(after["state_version"], 416);
    let text = bench.text();
    assert!(text.contains("\"big\": 12345678901234567890") && text.contains("\"ratio\": 1.0"));
    let keys = |state: &Value| {
        state
            .as_object()
            .unwrap()
            .keys()
            .take(4)
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(&after), keys(&before), "the order of keys is kept");
}

#[test]
fn definitions_are_shown_and_checked() {
    let original = Bench::new().ok(&["workflow", "definitions"]);
    for name in [
        "feature",
        "fix",
        "upgrade",
        "test-run",
        "test-generate",
        "reverse-engineer",
    ] {
        assert!(original.contains(&format!("{name}  ")), "{original}");
    }
    let bench = Bench::fresh();
    insta::assert_snapshot!(bench.ok(&["workflow", "definitions"]));
    bench.file(
        ".tollgate/workflow/config/workflows.json",
        r#"{"workflows":{"mine":{"phases":["01-requirements","01-requirements"]}}}"#,
    );
    let run = bench.tollgate(&["workflow", "definitions"]);
    assert_eq!(run.code, 1);
    assert!(
        run.stdout
            .contains("workflows.mine.phases[1]: 01-requirements is there twice"),
        "{run:?}"
    );
    assert!(
        bench
            .refused(2, &["workflow", "start", "mine", "x"])
            .contains("is there twice")
    );
}

/// The rest of somebody's file is not Tollgate's: its line ends, and bytes that are no text.
#[test]
fn ticking_keeps_windows_line_ends_and_leaves_what_is_no_text() {
    let tasks = "docs/isdlc/tasks.md";
    let text = "## Phase 06: Implementation -- PENDING\r\n- [ ] T0001 x\r\n| 06 | PENDING |\r\n";
    let bench = Bench::started(&["06-implementation"]);
    bench.file(tasks, text);
    bench.complete();
    assert_eq!(
        bench.read(tasks),
        text.replace("-- PENDING", "-- COMPLETE")
            .replace("[ ]", "[X]")
    );
    let bench = Bench::started(&["06-implementation"]);
    let path = bench.file(tasks, "");
    let bytes = b"## Phase 06: Implementation -- PENDING\n- [ ] T0001 caf\xe9\n";
    crate::project::put(&path, bytes);
    let run = bench.tollgate(&["phase", "complete", "--summary", "x"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains("not UTF-8"), "{run:?}");
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

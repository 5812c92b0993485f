//! Boundaries between phases: TS-001, TS-002, TS-007; AC-001, AC-002, AC-003, AC-011.

use serde_json::{Value, json};

use super::bench::Bench;

const FEATURE: [&str; 8] = [
    "01-requirements",
    "02-impact-analysis",
    "03-architecture",
    "04-design",
    "05-test-strategy",
    "06-implementation",
    "16-quality-loop",
    "08-code-review",
];

/// The checklist after a phase began, step 3c-prime.
///
/// AC-001b, AC-001e: the four places that name the phase agree. AC-001c: the index is its place in
/// the array. AC-001d: the agent is that of the phase. AC-002a, AC-002f: all of it is one write.
#[track_caller]
fn begun(state: &Value, phase: &str, index: usize, agent: &str) {
    let workflow = &state["active_workflow"];
    assert_eq!(workflow["current_phase"], phase);
    assert_eq!(workflow["phase_status"][phase], "in_progress");
    assert_eq!(workflow["current_phase_index"], index);
    assert_eq!(state["phases"][phase]["status"], "in_progress");
    assert!(state["phases"][phase]["started"].is_string());
    assert!(state["phases"][phase]["timing"]["started_at"].is_string());
    assert_eq!(state["current_phase"], phase);
    assert_eq!(state["active_agent"], agent);
}

/// The checklist after a phase was completed, step 3e, and what must not have changed.
///
/// AC-001a: both records say so. AC-003a to AC-003d: the next phase has not begun anywhere.
/// AC-003e: the index is one further. AC-003f: so is the version. AC-003g: it says how long it took.
#[track_caller]
fn completed(before: &Value, after: &Value, phase: &str, next: Option<&str>) {
    let (was, is) = (&before["active_workflow"], &after["active_workflow"]);
    let entry = &after["phases"][phase];
    assert_eq!(is["phase_status"][phase], "completed");
    assert_eq!(entry["status"], "completed");
    assert_eq!(
        is["current_phase_index"].as_u64(),
        was["current_phase_index"].as_u64().map(|n| n + 1)
    );
    assert!(!entry["summary"].as_str().unwrap().is_empty());
    assert!(entry["timing"]["completed_at"].is_string());
    assert!(entry["timing"]["wall_clock_minutes"].as_u64().is_some());
    assert!(
        entry["completed"].is_string() && entry["gate_passed"].is_string(),
        "R14"
    );
    assert_eq!(
        after["state_version"].as_u64(),
        before["state_version"].as_u64().map(|n| n + 1)
    );
    assert!(is["budget_status"].is_string());
    assert_eq!(is["current_phase"], was["current_phase"]);
    assert_eq!(after["current_phase"], before["current_phase"]);
    assert_eq!(after["active_agent"], before["active_agent"]);
    if let Some(next) = next {
        assert_eq!(is["phase_status"][next], "pending");
        assert_eq!(after["phases"][next], before["phases"][next]);
    }
}

fn walk(bench: &Bench, phases: &[&str]) {
    for (n, phase) in phases.iter().enumerate() {
        let before = bench.state()["state_version"].as_u64().unwrap();
        bench.begin();
        let state = bench.state();
        assert_eq!(state["state_version"], before + 1, "one write per step");
        let agent = bench.json(&["workflow", "status", "--json"])["phases"][n]["agent"]
            .as_str()
            .unwrap()
            .to_owned();
        begun(&state, phase, n, &agent);
        bench.clean();
        bench.complete();
        completed(&state, &bench.state(), phase, phases.get(n + 1).copied());
        bench.clean();
    }
    assert_eq!(
        bench.state()["active_workflow"]["current_phase_index"],
        phases.len(),
        "AC-010a"
    );
}

/// TS-001: a feature workflow of eight phases, with every field checked at every boundary.
#[test]
fn ts_001_full_feature_workflow_of_eight_phases() {
    // AC-008a: a start takes the phases of the workflow. AC-008b: all but the first are pending.
    // AC-008c: the index is 0. AC-008e: both current phases are the first one.
    let bench = Bench::new();
    bench.ok(&[
        "workflow",
        "start",
        "feature",
        "Add a shop",
        "--from",
        "01-requirements",
    ]);
    let state = bench.state();
    let workflow = &state["active_workflow"];
    assert_eq!(workflow["phases"], json!(FEATURE));
    assert_eq!(workflow["current_phase"], "01-requirements");
    assert_eq!(workflow["current_phase_index"], 0);
    assert_eq!(state["current_phase"], "01-requirements");
    for (n, phase) in FEATURE.iter().enumerate() {
        let expected = if n == 0 { "in_progress" } else { "pending" };
        assert_eq!(workflow["phase_status"][phase], expected);
        assert_eq!(state["phases"][phase]["status"], expected, "AC-001e");
    }
    walk(&bench, &FEATURE);
    bench.ok(&["workflow", "finalize"]);
    assert!(bench.state()["active_workflow"].is_null());
    bench.clean();
}

/// TS-002: a bug fix has four phases, and its end is at index 4.
#[test]
fn ts_002_bug_fix_workflow_of_four_phases() {
    let phases = [
        "02-tracing",
        "06-implementation",
        "16-quality-loop",
        "08-code-review",
    ];
    let bench = Bench::started(&phases);
    walk(&bench, &phases);
    assert!(
        bench
            .refused(2, &["phase", "begin"])
            .contains("every phase is completed")
    );
    bench.ok(&["workflow", "finalize"]);
}

/// AC-002d: on a retry `started` keeps the first moment.
/// AC-002e: the first run sets `timing.started_at`, each further one adds to `timing.retries`.
#[test]
fn ac_002d_ac_002e_a_retry_keeps_the_start_and_counts() {
    let bench = Bench::started(&["01-requirements", "06-implementation"]);
    bench.begin();
    let first = bench.state()["phases"]["01-requirements"].clone();
    assert_eq!(first["timing"]["retries"], 0);
    bench.begin();
    bench.begin();
    let again = &bench.state()["phases"]["01-requirements"];
    assert_eq!(again["started"], first["started"]);
    assert_eq!(again["timing"]["started_at"], first["timing"]["started_at"]);
    assert_eq!(again["timing"]["retries"], 2);
}

/// AC-002e: the first phase, which `start` opens, counts a retry like any other.
#[test]
fn ac_002e_a_retry_of_the_first_phase_counts() {
    let bench = Bench::started(&["01-requirements", "06-implementation"]);
    bench.edit(|state| {
        state["pending_escalations"] = json!([{ "type": "gate_blocked", "hook": "gate-blocker", "phase": "01-requirements", "detail": "x" }]);
    });
    bench.ok(&["phase", "begin", "--retry"]);
    let retries = |phase: &str| bench.state()["phases"][phase]["timing"]["retries"].clone();
    assert_eq!(retries("01-requirements"), 1);
    bench.ok(&["phase", "begin", "--retry"]);
    assert_eq!(retries("01-requirements"), 2);
    // A phase that is begun for the first time has no retries, whatever held it up.
    bench.complete();
    bench.ok(&["phase", "begin", "--retry"]);
    assert_eq!(retries("06-implementation"), 0);
}

/// AC-011a: every write adds exactly one to `state_version`.
/// AC-011b: a step does not change the state it was given.
#[test]
fn ac_011a_ac_011b_every_step_adds_one_to_the_version_and_is_in_the_journal() {
    let bench = Bench::started(&["01-requirements", "06-implementation"]);
    for _ in 0..2 {
        bench.begin();
        bench.complete();
    }
    bench.ok(&["workflow", "finalize"]);
    let lines = bench.journal();
    let versions: Vec<u64> = lines
        .iter()
        .filter(|line| line["verdict"] == "change")
        .map(|line| line["version"].as_u64().unwrap())
        .collect();
    assert_eq!(versions, [1, 2, 3, 4, 5, 6]);
    let steps: Vec<&str> = lines
        .iter()
        .map(|line| line["event"].as_str().unwrap())
        .collect();
    assert_eq!(steps[0], "workflow start");
    assert_eq!(steps[5], "workflow finalize");
    assert_eq!(bench.state()["state_version"], 6);
}

/// AC-011f: nobody reads a state that is half written.
#[test]
fn ac_011f_eight_commands_at_once_make_one_step_each_or_none() {
    let bench = Bench::started(&["01-requirements", "06-implementation"]);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| bench.tollgate(&["phase", "begin"]));
        }
    });
    let state = bench.state();
    assert_eq!(state["state_version"], 9);
    assert_eq!(state["phases"]["01-requirements"]["timing"]["retries"], 7);
    bench.clean();
    let codes: Vec<i32> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    bench
                        .tollgate(&["phase", "complete", "--summary", "x"])
                        .code
                })
            })
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert_eq!(
        codes.iter().filter(|code| **code == 0).count(),
        1,
        "{codes:?}"
    );
    bench.clean();
}

/// TS-007: if the write that begins a phase fails, its delegation is blocked and can be retried.
#[test]
fn ts_007_a_failed_write_leaves_the_phase_pending_and_can_be_retried() {
    // AC-002b, AC-002c: the guards of the loop and of the sequence see what was written.
    let bench = Bench::started(&["01-requirements", "06-implementation"]);
    bench.file("docs/isdlc/tasks.md", "# Tasks\n");
    bench.begin();
    bench.complete();
    let lock = bench.path(".tollgate/local/state/lock");
    std::fs::remove_file(&lock).unwrap();
    std::fs::create_dir(&lock).unwrap();
    let said = bench.refused(2, &["phase", "begin"]);
    assert!(
        said.contains("nothing was changed") || said.contains("lock"),
        "{said}"
    );
    let event = crate::events::task("software-developer", "Phase key: 06-implementation");
    bench
        .project
        .hook(&event)
        .blocks("OUT-OF-ORDER PHASE DELEGATION");
    std::fs::remove_dir(&lock).unwrap();
    bench.begin();
    bench.hook(&event).allows();
    bench.clean();
}

#[test]
fn a_killed_command_leaves_the_old_state_or_the_new_one() {
    let bench = Bench::started(&["01-requirements", "06-implementation"]);
    bench.begin();
    let mut killed = 0;
    for n in 0..40_u64 {
        let before = bench.state();
        let mut child = bench
            .project
            .command(&["phase", "begin"])
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_micros(n * 150));
        child.kill().unwrap();
        killed += i32::from(!child.wait().unwrap().success());
        let after = bench.state();
        let retries = |state: &Value| {
            state["phases"]["01-requirements"]["timing"]["retries"]
                .as_u64()
                .unwrap()
        };
        let version = |state: &Value| state["state_version"].as_u64().unwrap();
        let step = version(&after) - version(&before);
        assert!(
            step <= 1 && retries(&after) - retries(&before) == step,
            "{before:#}\n{after:#}"
        );
        bench.clean();
    }
    assert!(killed > 0);
    bench.complete();
    bench.clean();
    let left = std::fs::read_dir(bench.path(".tollgate/local/state")).unwrap();
    let temporary = left.filter(|entry| {
        entry
            .as_ref()
            .unwrap()
            .file_name()
            .to_string_lossy()
            .starts_with(".tollgate-tmp-")
    });
    assert_eq!(temporary.count(), 0, "what the killed left was swept");
}

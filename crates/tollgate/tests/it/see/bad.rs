//! Events that guards must not let pass, one at least for every code of the registry.

use jiff::Timestamp;
use serde_json::{Value, json};
use tollgate_core::guard::{Must, SAMPLE_NOW};
use tollgate_core::selftest;

use crate::events::{self, Event as _, bash, task};
use crate::project::running;

/// A known-bad event and the project it is bad in.
#[derive(Clone, Debug)]
pub(super) struct Bad {
    pub(super) guard: &'static str,
    pub(super) files: Vec<(String, String)>,
    pub(super) event: Value,
}

pub(super) const STATE: &str = ".isdlc/state.json";

/// Texts of another moment, as if it were now.
fn today(text: &str) -> String {
    let then: Timestamp = SAMPLE_NOW.parse().unwrap();
    let shift = Timestamp::now().duration_since(then);
    let mut text = text.to_owned();
    for minute in 0..10 {
        for second in ["00", "30"] {
            let old = format!("2026-01-01T00:0{minute}:{second}.000Z");
            let moved = old
                .parse::<Timestamp>()
                .unwrap()
                .checked_add(shift)
                .unwrap();
            text = text.replace(&old, &moved.to_string());
        }
    }
    text
}

/// Every guard's known-bad event, and one for each code that these do not show.
pub(super) fn bad_events() -> Vec<Bad> {
    let own = selftest::samples()
        .filter(|(_, sample)| sample.must != Must::Act)
        .map(|(guard, sample)| Bad {
            guard: guard.name,
            files: sample
                .project()
                .map(|(path, text)| (path.to_owned(), today(text)))
                .collect(),
            event: serde_json::from_str(sample.event).unwrap(),
        });
    let mut all: Vec<Bad> = own.collect();
    let requirements = |asked: Value| {
        let text = json!({ "phase_requirements": { "06-implementation": asked } });
        (
            ".isdlc/config/iteration-requirements.json".to_owned(),
            text.to_string(),
        )
    };
    let manifest = (
        ".isdlc/config/skills-manifest.json".to_owned(),
        json!({ "ownership": {
            "software-developer": { "phase": "06-implementation" },
            "requirements-analyst": { "phase": "01-requirements" },
        } })
        .to_string(),
    );
    let advance = task("sdlc-orchestrator", "advance to the next phase");
    let mut add = |guard, state: Value, files: Vec<(String, String)>, event: Value| {
        let state = vec![(STATE.to_owned(), state.to_string())];
        all.push(Bad {
            guard,
            files: [state, files].concat(),
            event,
        });
    };
    let at = |workflow: Value| {
        let mut state = running("06-implementation", "in_progress");
        for (key, value) in workflow.as_object().unwrap() {
            state["active_workflow"][key] = value.clone();
        }
        state
    };
    let config = || {
        vec![requirements(
            json!({ "test_iteration": { "enabled": false } }),
        )]
    };
    add(
        "gate-blocker",
        at(
            json!({ "phases": ["01-requirements", "06-implementation", "08-code-review"], "current_phase_index": 0 }),
        ),
        config(),
        advance.clone(),
    );
    add(
        "gate-blocker",
        at(json!({ "supervised_review": { "status": "reviewing" } })),
        config(),
        advance.clone(),
    );
    add(
        "gate-blocker",
        at(json!({ "status": "completed" })),
        config(),
        advance.clone(),
    );
    let everything = requirements(json!({
        "test_iteration": { "enabled": true }, "constitutional_validation": { "enabled": true, "articles": ["I"] },
        "interactive_elicitation": { "enabled": true, "min_menu_interactions": 3, "required_final_selection": ["save", "continue"] },
        "agent_delegation_validation": { "enabled": true }, "artifact_validation": { "enabled": true, "paths": ["docs/design.md"] },
    }));
    add(
        "gate-blocker",
        at(json!({})),
        vec![everything, manifest.clone()],
        advance.clone(),
    );
    let mut passed = at(json!({}));
    passed["phases"]["06-implementation"]["iteration_requirements"] =
        json!({ "test_iteration": { "completed": true, "current_iteration": 1 } });
    passed["phases"]["06-implementation"]["constitutional_validation"] =
        json!({ "completed": false });
    add(
        "iteration-corridor",
        passed,
        vec![requirements(
            json!({ "test_iteration": { "enabled": true }, "constitutional_validation": { "enabled": true, "articles": ["I"] } }),
        )],
        advance,
    );
    add(
        "phase-sequence-guard",
        running("01-requirements", "in_progress"),
        vec![manifest.clone()],
        task("software-developer", "go"),
    );
    add(
        "phase-sequence-guard",
        running("06-implementation", "in_progress"),
        vec![manifest, ("docs/isdlc/tasks.md".to_owned(), "x".to_owned())],
        task("somebody", "Phase key: 77-nowhere"),
    );
    for plan in [
        "Format: v2.0\n",
        "Format: v2.0\n## Phase 06: Implementation\n- [ ] T0001 code\n",
        "Format: v2.0\n## Phase 06: Implementation\n- [ ] T0001 code | traces: FR-01\n  files: a\n  blocked_by: [T0001]\n## Dependency Graph\n",
    ] {
        let state = running("06-implementation", "in_progress");
        let plan = ("docs/isdlc/tasks.md".to_owned(), plan.to_owned());
        add(
            "plan-surfacer",
            state,
            vec![plan],
            task("software-developer", "go"),
        );
    }
    let mut early = at(json!({ "phases": ["06-implementation", "08-code-review"] }));
    early["active_workflow"]["git_branch"] = json!({ "name": "feature/x", "status": "active" });
    add(
        "branch-guard",
        early,
        vec![(
            ".isdlc/config/workflows.json".to_owned(),
            json!({ "commit_in_last_phase_only": true, "workflows": {} }).to_string(),
        )],
        bash("git switch -c feature/x && git commit -m x"),
    );
    let mut merged = at(json!({}));
    merged["active_workflow"]["git_branch"] = json!({ "name": "feature/x", "status": "merged" });
    add("branch-guard", merged, vec![], bash("git commit -m x"));
    let write = |content: &Value| events::write(STATE, &content.to_string());
    let mut back = at(json!({ "current_phase_index": 1 }));
    back["active_workflow"]["current_phase_index"] = json!(0);
    add(
        "state-write-validator",
        at(json!({ "current_phase_index": 1, "current_phase": "16-quality-loop" })),
        vec![],
        write(&back),
    );
    for (path, count) in [
        ("constitutional_validation", "iterations_used"),
        ("interactive_elicitation", "menu_interactions"),
        ("test_iteration", "current_iteration"),
    ] {
        let claim = json!({ "completed": true, count: 0 });
        let data = if path == "constitutional_validation" {
            json!({ path: claim })
        } else {
            json!({ "iteration_requirements": { path: claim } })
        };
        add(
            "state-write-validator",
            json!({}),
            vec![],
            write(&json!({ "phases": { "06-implementation": data } })),
        );
    }
    add(
        "state-write-validator",
        json!({}),
        vec![],
        write(
            &json!({ "current_phase": "01-x", "active_workflow": { "current_phase": "06-implementation" } }),
        ),
    );
    add(
        "state-file-guard",
        json!({}),
        vec![],
        bash("rm -rf .tollgate/local"),
    );
    let settings = json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "tollgate hook" }] }] } });
    let registered = || vec![(".claude/settings.json".to_owned(), settings.to_string())];
    let write = |input: Value| json!({ "tool_name": "Write", "tool_input": input });
    for event in [
        bash("rm .claude/settings.json"),
        write(json!({ "file_path": ".claude/settings.json", "content": "{}" })),
        write(
            json!({ "file_path": ".claude/settings.json", "old_string": "Stop", "new_string": "x" }),
        ),
    ] {
        add("state-file-guard", json!({}), registered(), event);
    }
    add(
        "discover-menu-guard",
        json!({}),
        vec![],
        json!({ "tool_name": "Task", "tool_input": { "subagent_type": "discover-orchestrator" }, "tool_result": "Pick one: [1] New project [2] Existing project [3] Chat/Explore [4] Scoped analysis of it all" }),
    );
    add(
        "discover-menu-guard",
        json!({}),
        vec![],
        json!({ "tool_name": "Task", "tool_input": { "subagent_type": "discover-orchestrator" }, "tool_result": "Choose: [1] New Project [2] Existing Project. Enter selection:" }),
    );
    let impact = (
        "docs/requirements/REQ-1/impact-analysis.md".to_owned(),
        "nothing in particular\n".to_owned(),
    );
    add(
        "blast-radius-validator",
        json!({ "active_workflow": { "type": "feature", "artifact_folder": "REQ-1", "current_phase": "06-implementation" } }),
        vec![impact],
        task("sdlc-orchestrator", "advance to the next phase"),
    );
    let failing = "test result: FAILED. 1 passed; 2 failed; 0 ignored";
    let ran = |result: &str| json!({ "tool_name": "Bash", "tool_input": { "command": "cargo test" }, "tool_result": result });
    let mut spent = at(json!({}));
    spent["phases"]["06-implementation"]["iteration_requirements"] =
        json!({ "test_iteration": { "current_iteration": 9, "max_iterations": 5, "history": [] } });
    add(
        "test-watcher",
        spent,
        vec![requirements(
            json!({ "test_iteration": { "enabled": true } }),
        )],
        ran(failing),
    );
    let tried = |record: Value| {
        let mut state = at(json!({ "options": { "atdd_mode": true } }));
        state["phases"]["06-implementation"]["iteration_requirements"] =
            json!({ "test_iteration": record });
        state
    };
    let tests = |asked: Value| vec![requirements(json!({ "test_iteration": asked }))];
    let history =
        json!([{ "result": "failed", "error": failing }, { "result": "failed", "error": failing }]);
    add(
        "test-watcher",
        tried(json!({ "current_iteration": 2, "identical_failure_count": 2, "history": history })),
        tests(json!({ "enabled": true })),
        bash("cargo test")
            .in_session("s")
            .call("toolu_1")
            .failed(&format!("Exit code 101\n{failing}"))
            .with("is_interrupt", false),
    );
    add(
        "test-watcher",
        tried(json!({ "current_iteration": 9, "max_iterations": 5, "history": [] })),
        tests(
            json!({ "enabled": true, "max_iterations": 5, "success_criteria": { "min_coverage_percent": 80 } }),
        ),
        ran("test result: ok. 3 passed; 0 failed; 0 ignored\nTOTAL 7 1 46%\n"),
    );
    add(
        "test-watcher",
        tried(json!({ "current_iteration": 1, "history": [] })),
        tests(json!({ "enabled": true })),
        ran("test result: ok. 2 passed; 0 failed; 1 ignored"),
    );
    add(
        "state-file-guard",
        json!({}),
        vec![],
        bash("echo '{}' > .isdlc/monorepo.json"),
    );
    let took = |minutes: u64| json!({ "metrics": { "total_duration_minutes": minutes }, "phase_snapshots": [] });
    let slow = json!({ "started_at": "2026-01-01T00:00:00Z", "phases": ["06-implementation"] });
    add(
        "workflow-completion-enforcer",
        json!({
            "active_workflow": null, "workflow_history": [took(10), took(10), slow],
            "phases": { "06-implementation": { "status": "completed" } },
        }),
        vec![],
        events::write(STATE, "{}").with("tool_result", "ok"),
    );
    for name in [
        "docs/traceability-matrix.csv",
        "docs/adr/ADR-001-x.md",
        "docs/test-strategy.md",
        "docs/user-stories.json",
    ] {
        add(
            "output-format-validator",
            json!({ "active_workflow": {} }),
            vec![(name.to_owned(), "x\n".to_owned())],
            events::write(name, "x").with("tool_result", "ok"),
        );
    }
    all
}

/// Codes that no event is stopped or warned with, and where they are shown instead.
pub(super) const NO_VERDICT: &[(&str, &str)] = &[
    ("PG-002", "no field of the state lets a made-up event pass"),
    ("SFG-005", "no field of the state lets a plugin in"),
    ("SFG-006", "no field of the state gives the program away"),
    ("SW-005", "a notice about what is gone"),
    ("SW-006", "a notice about what is gone"),
    ("SW-007", "a notice about settings"),
    ("SW-008", "a notice about plugins"),
    (
        "SW-009",
        "about a change of settings, which no field of the event undoes",
    ),
    ("IC-100", "a note in the activity log"),
    ("PLC-100", "a note in the activity log"),
    ("GB-100", "a note in the activity log"),
    ("CV-100", "a note in the activity log"),
    ("DG-100", "a note in the activity log"),
    ("LSU-001", "a note in the activity log"),
    ("MT-001", "a note in the activity log"),
    ("TW-005", "a note in the activity log"),
    ("WCE-001", "a note in the activity log"),
    (
        "SDE-001",
        "a word to the agent; what comes of not heeding it is DG-001",
    ),
    ("DL-001", "about the time it took, not the event"),
    ("DL-002", "about the time it took, not the event"),
    (
        "SW-001",
        "about the state, not the event: a test of its own",
    ),
    ("SW-002", "a line of the journal: the change was adopted"),
    ("SW-003", "a notice: the change was adopted"),
    (
        "SW-004",
        "about the state, not the event: a test of its own",
    ),
];

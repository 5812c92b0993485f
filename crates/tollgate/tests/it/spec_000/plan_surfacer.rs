//! §13.2, 10 cases.

use serde_json::json;

use crate::events::{bash, task};
use crate::project::{TestProject, running};

const NAME: &str = "plan-surfacer";

fn in_phase(phase: &str) -> TestProject {
    TestProject::new().state(&running(phase, "in_progress"))
}

/// Case 1: implementation without docs/isdlc/tasks.md is blocked.
#[test]
fn t01_blocks_implementation_without_a_plan() {
    let project = in_phase("06-implementation");
    let reason = project.guard(NAME, &task("software-developer", "build it")).blocks(
        "TASK PLAN NOT GENERATED: The current phase '06-implementation' requires a task plan (docs/isdlc/tasks.md) to exist before proceeding. No plan was found.",
    );
    let expected = project.path("docs/isdlc/tasks.md");
    assert!(
        reason.ends_with(&format!("Expected path: {}", expected.display())),
        "{reason}"
    );
    assert_eq!(project.codes(), ["PS-001"]);
}

#[test]
fn the_plan_is_named_where_this_project_keeps_it() {
    let state = running("06-implementation", "in_progress").to_string();
    let project = TestProject::empty();
    project.file(".tollgate/workflow/state.json", &state);
    let reason = project
        .guard(NAME, &task("software-developer", "build it"))
        .blocks("Phase '06-implementation' needs a task plan, and there is no .tollgate/workflow/tasks.md.");
    for word in ["isdlc", "ORCH-012"] {
        assert!(!reason.contains(word), "{reason}");
    }
    project.file(".tollgate/workflow/tasks.md", "");
    project
        .guard(NAME, &task("software-developer", "build it"))
        .says_nothing();

    let project = TestProject::new().env("ISDLC_PROJECT", "api");
    project.file(
        ".isdlc/monorepo.json",
        r#"{ "projects": { "api": { "path": "api" } } }"#,
    );
    project.file(".isdlc/projects/api/state.json", &state);
    let reason = project
        .guard(NAME, &task("software-developer", "build it"))
        .blocks("TASK PLAN NOT GENERATED");
    assert!(
        reason.contains("manually create docs/isdlc/projects/api/tasks.md with"),
        "{reason}"
    );
}

/// Case 2: later phases without the plan are blocked, too.
#[test]
fn t02_blocks_later_phases_without_a_plan() {
    for phase in ["07-testing", "08-code-review", "16-quality-loop", "07-qa"] {
        in_phase(phase)
            .guard(NAME, &task("Explore", "any task"))
            .blocks("TASK PLAN NOT GENERATED");
    }
}

/// Case 3: the plan exists: allowed.
#[test]
fn t03_allows_when_the_plan_exists() {
    let project = in_phase("06-implementation");
    project.file("docs/isdlc/tasks.md", "");
    project
        .guard(NAME, &task("software-developer", "build it"))
        .says_nothing();
}

/// One round per task, each over all tasks that are left, took minutes for this plan.
#[test]
fn a_plan_of_very_many_tasks_is_read_at_once() {
    use std::fmt::Write as _;
    let project = in_phase("06-implementation");
    let mut plan = "Format: v2.0\n## Dependency Graph\n## Phase 06: Implementation\n".to_owned();
    for number in 0..9_000 {
        let next = number + 1;
        let _written = write!(
            plan,
            "- [ ] T{number:04} x | traces: F\n  files: a\n  blocked_by: [T{next:04}]\n"
        );
    }
    project.file("docs/isdlc/tasks.md", &plan);
    project
        .guard(NAME, &task("software-developer", "build it"))
        .says_nothing();
}

/// Case 4: phases before implementation need no plan.
#[test]
fn t04_allows_early_phases() {
    for phase in [
        "00-quick-scan",
        "01-requirements",
        "02-impact-analysis",
        "02-tracing",
        "03-architecture",
        "04-design",
        "05-test-strategy",
    ] {
        in_phase(phase)
            .guard(NAME, &task("software-developer", "build it"))
            .says_nothing();
    }
}

/// Case 5: tools other than Task are allowed.
#[test]
fn t05_allows_other_tools() {
    in_phase("06-implementation")
        .guard(NAME, &bash("ls"))
        .says_nothing();
}

/// Case 6: without a workflow everything is allowed.
#[test]
fn t06_allows_without_a_workflow() {
    let project = TestProject::new().state(&json!({ "current_phase": "06-implementation" }));
    project
        .guard(NAME, &task("software-developer", "build it"))
        .says_nothing();
}

/// Case 7: a monorepo's project has its own plan.
#[test]
fn t07_finds_the_plan_of_a_monorepo_project() {
    let project = TestProject::new();
    project.file(
        ".isdlc/monorepo.json",
        r#"{"default_project":"api","projects":{"api":{"path":"apps/api"}}}"#,
    );
    let state = running("06-implementation", "in_progress").to_string();
    project.file(".isdlc/projects/api/state.json", &state);
    let reason = project
        .guard(NAME, &task("x", "y"))
        .blocks("TASK PLAN NOT GENERATED");
    assert!(
        reason.contains("docs/isdlc/projects/api/tasks.md"),
        "{reason}"
    );
    project.file("docs/isdlc/projects/api/tasks.md", "");
    project.guard(NAME, &task("x", "y")).says_nothing();
}

/// Case 8: empty input is allowed.
#[test]
fn t08_allows_on_empty_input() {
    in_phase("06-implementation")
        .run(&["hook", "--guard", NAME], b"")
        .allows();
}

/// Case 9: input that is no JSON is allowed.
#[test]
fn t09_allows_on_input_that_is_no_json() {
    in_phase("06-implementation")
        .run(&["hook", "--guard", NAME], b"{")
        .allows();
}

/// Case 10: without a state everything is allowed.
#[test]
fn t10_allows_without_a_state() {
    TestProject::new()
        .guard(NAME, &task("software-developer", "build it"))
        .says_nothing();
}

#[test]
fn the_older_place_of_the_plan_counts() {
    let project = in_phase("06-implementation");
    project.file(".isdlc/tasks.md", "");
    project
        .guard(NAME, &task("software-developer", "build it"))
        .says_nothing();
}

#[test]
fn rule_4_the_form_of_the_plan_is_told_in_the_implementation() {
    let bad = "Format: v2.0\n## Phase 06: Implementation\n- [ ] T0001 a\n  blocked_by: [T0002]\n- [ ] T0002 b\n  blocked_by: [T0001]\n## Dependency Graph\n";
    let project = in_phase("06-implementation");
    project.file("docs/isdlc/tasks.md", bad);
    let told = project
        .guard(NAME, &task("software-developer", "build it"))
        .warns("[plan-surfacer] Format warnings:\n- ");
    for flaw in ["`  files:`", "`| traces:`", "a cycle: T0001, T0002"] {
        assert!(told.contains(flaw), "{told}");
    }
    assert_eq!(project.codes(), ["PS-002"]);
    project.file("docs/isdlc/tasks.md", "Format: v2.0\n## Phase 06: Work\n");
    project
        .guard(NAME, &task("software-developer", "build it"))
        .warns("[plan-surfacer] Format warnings:\n- there is no heading");
    let good =
        "Format: v2.0\n## Phase 06: Implementation\n- [ ] T0001 a | traces: FR-1\n  files: a.rs\n";
    for plan in [good, "Format: v1.0\n", ""] {
        project.file("docs/isdlc/tasks.md", plan);
        project
            .guard(NAME, &task("software-developer", "build it"))
            .says_nothing();
    }
    // Later phases do not work by it.
    let later = in_phase("08-code-review");
    later.file("docs/isdlc/tasks.md", bad);
    later.guard(NAME, &task("qa-engineer", "x")).says_nothing();
}

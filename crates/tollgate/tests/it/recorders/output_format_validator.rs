//! Facts 1.30.

use serde_json::{Value, json};

use crate::project::{TestProject, running};

const NAME: &str = "output-format-validator";

fn project() -> TestProject {
    TestProject::new().state(&running("01-requirements", "in_progress"))
}

fn wrote(project: &TestProject, tool: &str, file: &str, text: &str) -> Value {
    let path = project.file(file, text);
    json!({ "tool_name": tool, "tool_input": { "file_path": path, "content": text }, "tool_result": "ok" })
}

const GOOD: &[(&str, &str)] = &[
    (
        "docs/user-stories.json",
        r#"{"stories":[{"id":1,"title":"t","acceptance_criteria":[]}]}"#,
    ),
    (
        "docs/traceability-matrix.csv",
        "Req ID,Requirement,Test Case,Status\n",
    ),
    (
        "docs/traceability-matrix.csv",
        "FR,US,AC,Hook File,Test File,Hook Type\n",
    ),
    (
        "docs/test-strategy.md",
        "# Scope\n# Approach\n# Exit criteria\n",
    ),
    (
        "docs/adr-001-cache.md",
        "## Status\n## Context\n## Decision\n## Consequences\n",
    ),
    ("docs/adr-002.md", "Status, context, decision, rationale"),
    ("docs/other.md", "anything"),
    ("docs/quadr-1.md", "no record"),
];

#[test]
fn complete_artifacts_are_fine() {
    for (file, text) in GOOD {
        let project = project();
        project
            .guard(NAME, &wrote(&project, "Write", file, text))
            .says_nothing();
    }
}

#[test]
fn what_is_missing_is_named() {
    for (file, text, missing) in [
        (
            "docs/user-stories.json",
            r#"{"stories":[{"id":1}]}"#,
            "acceptance_criteria",
        ),
        (
            "docs/traceability-matrix.csv",
            "FR,US,AC,Hook File,Hook Type\n",
            "missing column: test",
        ),
        (
            "docs/traceability-matrix.csv",
            "FR,US,Hook File,Test File\n",
            "missing column: id",
        ),
        (
            "docs/user-stories.json",
            r#"{"stories":[]}"#,
            "stories is empty",
        ),
        (
            "docs/user-stories.json",
            r#"{"x":[]}"#,
            "missing list: stories",
        ),
        ("docs/user-stories.json", "nope", "not a JSON object"),
        (
            "docs/traceability-matrix.csv",
            "a,b\n",
            "missing column: requirement",
        ),
        (
            "docs/test-strategy.md",
            "# Scope",
            "missing section: approach",
        ),
        ("docs/adr-7.md", "status", "missing section: consequences"),
    ] {
        let project = project();
        let event = wrote(&project, "Write", file, text);
        let path = project.path(file);
        let said = project
            .guard(NAME, &event)
            .warns(&format!("ARTIFACT FORMAT WARNING: {}", path.display()));
        assert!(said.contains(missing), "{said}");
        assert_eq!(project.codes(), ["OFV-001"]);
    }
}

#[test]
fn edits_and_writes_outside_a_workflow_are_not_looked_at() {
    let project = project();
    let mut event = wrote(&project, "Edit", "docs/adr-7.md", "x");
    event["tool_input"] =
        json!({ "file_path": project.path("docs/adr-7.md"), "old_string": "y", "new_string": "x" });
    project.guard(NAME, &event).says_nothing();
    let idle = TestProject::new().state(&json!({ "active_workflow": null }));
    let event = wrote(&idle, "Write", "docs/adr-7.md", "x");
    idle.guard(NAME, &event).says_nothing();
}

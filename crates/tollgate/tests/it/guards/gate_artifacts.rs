//! Facts 1.13 step 8 e: the documents that a phase leaves behind.

use serde_json::{Value, json};

use super::with_requirements;
use crate::events::task;
use crate::project::{TestProject, running};

const SPEC: &str = "docs/requirements/{artifact_folder}/requirements-spec.md";

fn project(folder: &Value, paths: &Value) -> TestProject {
    let mut state = running("01-requirements", "in_progress");
    state["active_workflow"]["artifact_folder"] = folder.clone();
    let required = json!({ "artifact_validation": { "enabled": true, "paths": paths } });
    with_requirements(
        &state,
        &json!({ "phase_requirements": { "01-requirements": required } }),
    )
}

fn ask(project: &TestProject) -> Option<String> {
    let run = project.guard("gate-blocker", &task("sdlc-orchestrator", "advance"));
    (!run.stdout.is_empty()).then(|| run.blocks("GATE BLOCKED: Iteration requirements"))
}

#[test]
fn a_document_must_be_there() {
    let project = project(&json!("REQ-0031-x"), &json!([SPEC]));
    let why = ask(&project).unwrap();
    assert!(why.contains("- artifact_validation: Required artifacts missing: docs/requirements/REQ-0031-x/requirements-spec.md. "), "{why}");
    project.file("docs/requirements/REQ-0031-x/requirements-spec.md", "");
    assert_eq!(ask(&project), None);
}

/// BUG-0017/0.9: only the first name of a missing document was named.
#[test]
fn bug_0017_0_9_every_name_of_a_document_is_told_and_any_is_enough() {
    let paths = json!([
        "docs/a/one.md",
        "docs/a/two.md",
        "docs/a/three.md",
        "docs/b/four.md"
    ]);
    let project = project(&json!(null), &paths);
    let why = ask(&project).unwrap();
    assert!(
        why.contains("docs/a/one.md (or docs/a/two.md, docs/a/three.md); docs/b/four.md."),
        "{why}"
    );
    project.file("docs/a/two.md", "");
    assert!(!ask(&project).unwrap().contains("one.md"));
    project.file("docs/b/four.md", "");
    assert_eq!(ask(&project), None);
}

#[test]
fn without_a_folder_its_documents_cannot_be_asked_for() {
    assert_eq!(ask(&project(&json!(null), &json!([SPEC]))), None);
    assert_eq!(ask(&project(&json!(""), &json!([SPEC]))), None);
}

/// BUG-0020, GH-4: agents and the gate disagreed about where documents are.
/// BUG-0010, GH-16: agents and the gate disagreed about the names of documents.
#[test]
fn bug_0020_gh_4_bug_0010_gh_16_artifact_paths_go_before_the_inline_ones() {
    let project = project(&json!("REQ-1"), &json!(["docs/old/place.md"]));
    let paths = r#"{"phases":{"01-requirements":{"paths":["docs/requirements/{artifact_folder}/requirements-spec.md"]}}}"#;
    project.file(".claude/hooks/config/artifact-paths.json", paths);
    let why = ask(&project).unwrap();
    assert!(
        why.contains("REQ-1/requirements-spec.md") && !why.contains("place.md"),
        "{why}"
    );
    project.file("docs/requirements/REQ-1/requirements-spec.md", "");
    assert_eq!(ask(&project), None);
}

/// BUG-0020, GH-4: agents and the gate disagreed about where documents are.
#[test]
fn bug_0020_gh_4_an_override_can_switch_the_check_off() {
    let mut state = running("01-requirements", "in_progress");
    state["active_workflow"]["type"] = json!("fix");
    let config = json!({
        "phase_requirements": { "01-requirements": { "artifact_validation": { "enabled": true, "paths": ["docs/x.md"] } } },
        "workflow_overrides": { "fix": { "01-requirements": { "artifact_validation": { "enabled": false } } } },
    });
    assert_eq!(ask(&with_requirements(&state, &config)), None);
}

#[test]
fn a_folder_that_leads_out_of_the_project_holds_no_document() {
    let project = project(
        &json!("../../../../../../etc"),
        &json!(["docs/requirements/{artifact_folder}/passwd"]),
    );
    assert!(ask(&project).is_some());
}

/// R31: documents of a monorepo's project are where that project keeps them.
#[test]
fn r31_a_monorepos_documents_are_found_where_its_projects_keep_them() {
    for (location, place) in [
        ("root", "docs/api/requirements/R/s.md"),
        ("project", "apps/api/docs/requirements/R/s.md"),
    ] {
        let project = project(
            &json!("R"),
            &json!(["docs/requirements/{artifact_folder}/s.md"]),
        );
        project.file(
            ".isdlc/projects/api/state.json",
            project.read(".isdlc/state.json"),
        );
        let registry = json!({ "default_project": "api", "docs_location": location, "projects": { "api": { "path": "apps/api" } } });
        project.file(".isdlc/monorepo.json", registry.to_string());
        project.file("docs/requirements/R/s.md", "another project's");
        assert!(ask(&project).is_some(), "{location}");
        project.file(place, "");
        assert_eq!(ask(&project), None, "{location}");
    }
}

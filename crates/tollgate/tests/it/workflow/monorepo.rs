//! TS-012: two projects of one repository, and neither notices the other.

use serde_json::json;

use crate::events::task;
use crate::project::{TestProject, run};

/// TS-012: projects of a monorepo do not see or touch the state of another.
#[test]
fn ts_012_projects_of_a_monorepo_have_their_own_state_and_documents() {
    // AC-007e: documents belong to their project. AC-010d: the end of one workflow clears only it.
    let project = TestProject::new().on_branch("main");
    project.file(
        ".isdlc/monorepo.json",
        r#"{"docs_location":"project","projects":{"api-service":{"path":"apps/api"},"web-frontend":{"path":"apps/web"}}}"#,
    );
    for directory in ["apps/api", "apps/web"] {
        std::fs::create_dir_all(project.path(directory)).unwrap();
    }
    let at = |directory: &str, args: &[&str]| {
        let mut command = project.command(args);
        command.current_dir(project.path(directory));
        let run = run(command, b"");
        assert_eq!(run.code, 0, "{args:?}: {run:?}");
        run
    };
    at(
        "apps/api",
        &[
            "workflow",
            "start",
            "feature",
            "Orders",
            "--from",
            "03-architecture",
            "--no-branch",
        ],
    );
    assert!(
        project
            .path(".isdlc/projects/api-service/state.json")
            .is_file()
    );
    assert!(
        !project
            .path(".isdlc/projects/web-frontend/state.json")
            .exists()
    );
    assert!(!project.path(".isdlc/state.json").exists());
    assert!(
        project
            .path("apps/api/docs/requirements/REQ-0001-orders")
            .is_dir(),
        "scoped"
    );
    assert!(
        at("apps/web", &["workflow", "status"])
            .stdout
            .contains("No workflow is running")
    );
    // One project's enforcement does not reach the other.
    let event = |directory: &str| {
        let mut event = task("software-developer", "build it");
        event["cwd"] = json!(project.path(directory));
        project.hook(&event)
    };
    event("apps/api").blocks("OUT-OF-ORDER PHASE DELEGATION");
    at(
        "apps/web",
        &[
            "workflow",
            "start",
            "fix",
            "Blank page",
            "--from",
            "06-implementation",
            "--no-branch",
        ],
    );
    project.file("docs/isdlc/projects/web-frontend/tasks.md", "# Tasks\n");
    event("apps/web").allows();
    event("apps/api").blocks("OUT-OF-ORDER PHASE DELEGATION");
    let api = project.read(".isdlc/projects/api-service/state.json");
    at("apps/web", &["phase", "complete", "--summary", "x"]);
    assert_eq!(project.read(".isdlc/projects/api-service/state.json"), api);
    at("apps/api", &["workflow", "audit"]);
    at("apps/web", &["workflow", "audit"]);
    let brief = at("apps/api", &["phase", "brief"]).stdout;
    assert!(
        brief.contains("apps/api/docs/architecture/REQ-0001-orders/architecture-overview.md"),
        "{brief}"
    );
}

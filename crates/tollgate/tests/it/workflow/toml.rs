//! Workflows in `tollgate.toml`: what a phase writes, and what it needs to be completed.

use crate::events::{bash, write};
use crate::project::TestProject;

const TOML: &str = r#"
[gates]
base = "main"
[gates.test]
run = "test -f ok"

[workflow.change]
label = "Small change"
branch = false
phases = [
    { name = "plan", writes = ["docs/**", "/*.md"] },
    { name = "implement", needs = ["gates", "docs/plan.md"] },
]
"#;

/// A project whose workflow `change` was started.
fn started(toml: &str) -> TestProject {
    let project = TestProject::empty().with_repository();
    project.file("tollgate.toml", toml);
    project.file("src/lib.rs", "");
    project.commit("first");
    project.must(&["workflow", "start", "change", "a change"]);
    project.must(&["phase", "begin"]);
    project
}

#[test]
fn a_phase_changes_only_what_it_writes() {
    let project = started(TOML);
    std::fs::create_dir_all(project.path("docs")).unwrap();
    std::os::unix::fs::symlink("../src", project.path("docs/link")).unwrap();
    project
        .hook(&write("docs/link/lib.rs", "x"))
        .blocks("Phase 'plan' may not change src/lib.rs");
    let blocked = [
        write(project.path("src/lib.rs"), "x"),
        write("src/new.rs", "x"),
        write("src/README.md", "x"),
        bash("echo x > src/lib.rs"),
        bash("sed -i s/a/b/ src/lib.rs"),
        bash("cd src && rm *"),
        bash("cp docs/a.md src/a.md"),
        bash("git rm src/lib.rs"),
    ];
    for event in blocked {
        let reason = project
            .hook(&event)
            .blocks("Phase 'plan' may not change src");
        assert!(reason.contains("it writes only docs/**, /*.md"), "{reason}");
    }
    let allowed = [
        write(project.path("docs/deep/a.md"), "x"),
        write("README.md", "x"),
        write("/tmp/elsewhere.rs", "x"),
        write(".tollgate/plans/a/plan.md", "x"),
        bash("cat src/lib.rs > /dev/null"),
        bash("grep -r fn src > docs/functions.md"),
        bash("make"),
    ];
    for event in allowed {
        project.hook(&event).allows();
    }
    assert_eq!(project.codes(), ["PW-001"; 9]);
    project
        .must(&["explain"])
        .says("block  phase-writes  PW-001");
}

#[test]
fn the_next_phase_has_its_own_rule() {
    let project = started(TOML);
    project.must(&["phase", "complete", "--summary", "planned"]);
    project.must(&["phase", "begin"]);
    project.hook(&write("src/lib.rs", "x")).allows();
}

#[test]
fn a_phase_is_completed_when_it_has_what_it_needs() {
    let project = started(TOML);
    project.must(&["phase", "complete", "--summary", "planned"]);
    project.must(&["phase", "begin"]);
    let complete = ["phase", "complete", "--summary", "implemented"];
    let refused = project.tollgate(&complete).exits(1);
    refused
        .says("phase 'implement' is not done")
        .says("gates are not verified")
        .says("docs/plan.md does not exist");
    project.file("docs/plan.md", "# Plan\n");
    project.file("ok", "");
    project.tollgate(&complete).exits(1).says("tollgate run");
    project.must(&["run"]);
    project.must(&complete);
}

#[test]
fn while_the_file_is_broken_the_last_good_rule_holds() {
    let project = started(TOML);
    project.file("ok", "");
    project.must(&["run"]);
    project.file("tollgate.toml", "[workflow.change\n");
    let reason = project
        .hook(&write("src/lib.rs", "x"))
        .blocks("Phase 'plan'");
    assert!(reason.contains("docs/**"), "{reason}");
}

#[test]
fn workflows_with_two_homes_are_an_error_that_names_both() {
    let project = started(TOML);
    let own = r#"{"workflows":{"other":{"phases":["01-requirements"]}}}"#;
    project.file(".tollgate/workflow/config/workflows.json", own);
    // An agent cannot lift a rule by making the other one.
    let without = r#"{"workflows":{"change":{"phases":["plan","implement"]}}}"#;
    project.file(".tollgate/workflow/config/workflows.json", without);
    project
        .hook(&write("src/lib.rs", "x"))
        .blocks("Phase 'plan'");
    project
        .tollgate(&["workflow", "status"])
        .exits(2)
        .says("workflow/config/workflows.json")
        .says("tollgate.toml");
}

//! 000 §2.3 and 004 NFR-004: `SKILL_VALIDATOR_DEBUG=true` tells on standard error what the guards do,
//! and changes nothing else.

use serde_json::json;

use super::{ADVANCE, in_phase, skill};
use crate::events::{bash, task};
use crate::project::{Run, TestProject, running};

fn debugging(value: &str) -> TestProject {
    let tests = json!({ "test_iteration": { "enabled": true } });
    let project = in_phase(
        "06-implementation",
        &tests,
        &json!({ "status": "in_progress" }),
    );
    project.env("SKILL_VALIDATOR_DEBUG", value)
}

#[track_caller]
fn has_line(run: &Run, line: &str) {
    let line = format!("[skill-validator] {line}");
    assert!(run.stderr.lines().any(|one| one == line), "{line}: {run:?}");
}

/// NFR-004: what the cache of the configuration does can be observed.
#[test]
fn nfr_004_configuration_is_told_when_it_is_read_and_when_it_is_known() {
    let run = debugging("true").guard("gate-blocker", &task("sdlc-orchestrator", ADVANCE));
    has_line(
        &run,
        "Config cache MISS: iteration-requirements (first load)",
    );
    has_line(&run, "Config cache HIT: iteration-requirements");
    has_line(&run, "Config cache MISS: skills-manifest (first load)");
    has_line(&run, "gate-blocker: block GB-001");
    let missing = TestProject::bare()
        .state(&running("06-implementation", "in_progress"))
        .env("SKILL_VALIDATOR_DEBUG", "true");
    let run = missing.hook(&task("sdlc-orchestrator", ADVANCE));
    has_line(
        &run,
        "Config cache ERROR: iteration-requirements -- not found or not readable",
    );
}

#[test]
fn an_event_that_nothing_is_checked_for_says_why() {
    let project = TestProject::new().env("SKILL_VALIDATOR_DEBUG", "true");
    let event = bash("git commit -m x");
    let run = project.hook(&event).allows();
    has_line(&run, "No state.json, allowing (fail-open)");
    has_line(&run, "branch-guard: allow");
    let project = project.state(&json!({ "active_workflow": null }));
    has_line(&project.hook(&event), "No active workflow, allowing");
}

#[test]
fn nothing_else_changes_and_other_values_mean_no() {
    for event in [
        skill("isdlc", "advance"),
        task("sdlc-orchestrator", ADVANCE),
        bash("npm test"),
    ] {
        let asked = |value| debugging(value).guard("gate-blocker", &event);
        let quiet = asked("");
        assert!(!quiet.stderr.contains("[skill-validator]"), "{quiet:?}");
        let loud = asked("true");
        assert_eq!((&loud.stdout, loud.code), (&quiet.stdout, quiet.code));
        assert!(loud.stderr.ends_with(&quiet.stderr), "{loud:?}");
        for value in ["1", "TRUE", "false"] {
            assert_eq!(asked(value).stderr, quiet.stderr, "{value}");
        }
    }
}

//! What is said when a step is not made: people's commands without a person, options without their values,
//! steps that make no sense here, rules and packs that do not exist.

use super::assert_shows;
use crate::project::TestProject;

const TOML: &str = "\
[gates.test]\nrun = \"exit 1\"\n[workflow.change]\nphases = [\"plan\", \"build\"]\nbranch = false\n\
[[rule]]\nid = \"no-rm\"\ndeny = { run = [\"rm\"] }\nmatch = [\"rm x\"]\n";

fn project() -> TestProject {
    let project = TestProject::with_tollgate_on_path().with_only(&["git", "sh"]);
    let project = project.with_repository().with_toml(TOML);
    project.commit("first");
    project
}

#[test]
fn what_only_a_person_may_do() {
    let project = project();
    project.must(&["workflow", "start", "change", "x"]);
    assert_shows!(
        project,
        &[
            "allow BG-001 --once --reason x",
            "allow RULE:no-rm --once --reason x",
            "trust",
            "untrust",
            "config set gates.base main",
            "validate --accept",
            "phase skip --reason x",
            "workflow cancel --reason x",
            "uninstall --yes",
            "uninstall --purge --yes",
            "run --skip test --reason x",
        ]
    );
}

#[test]
fn what_cannot_be_allowed() {
    assert_shows!(
        project(),
        &[
            "allow",
            "allow BG-001",
            "allow BG-001 --once",
            "allow BG-001 --for soon --reason x",
            "allow BG-001 --for 48h --reason x",
            "allow BG-999 --once --reason x",
            "allow SWV-007 --once --reason x",
            "allow IV-001 --once --reason x",
            "allow RULE:no-mv --once --reason x",
            "allow --revoke BG-001",
            "allow --list",
        ]
    );
}

#[test]
fn a_skip_needs_a_gate_and_a_reason() {
    assert_shows!(
        project(),
        &[
            "run --skip test",
            "run --skip tset --reason x",
            "run --gate tset"
        ]
    );
}

#[test]
fn phases_out_of_their_order() {
    assert_shows!(
        project(),
        &[
            "phase begin",
            "workflow finalize",
            "workflow start chnage x",
            "workflow start change x",
            "workflow start change y",
            "phase begin build",
            "phase begin biuld",
            "phase complete --summary x",
            "phase redo --guidance x",
            "phase review",
            "phase review --continue",
            "phase begin",
            "phase complete plan --summary x",
            "workflow finalize",
            "workflow status",
        ]
    );
}

#[test]
fn rules_that_do_not_exist_and_packs_that_do() {
    assert_shows!(
        project(),
        &[
            "rules list",
            "rules test",
            "rules explain rm",
            "rules explain ls",
            "rules add",
            "rules add git-saftey",
            "rules import none.json",
            "rules import tollgate.toml",
            "rules try --since soon",
        ]
    );
}

#[test]
fn plans_that_are_not_there_and_steps_that_are_not_due() {
    assert_shows!(
        project(),
        &[
            "plan next",
            "plan new Gift/Cards",
            "plan new cards",
            "plan new cards",
            "plan use card",
            "plan done complete-task",
            "plan begin complete-task",
            "plan set max_reviews x",
            "plan release",
            "plan review --dry-run",
            "plan validate",
            "plan next",
        ]
    );
}

#[test]
fn what_is_looked_up_in_vain() {
    assert_shows!(
        project(),
        &[
            "explain BG-999",
            "explain 7",
            "guards branch-gaurd",
            "state at 3",
            "state undo",
            "simulate",
            "replay none.jsonl",
            "log --since yesterday-ish",
            "schema tolgate",
            "config set gates.bse x",
            "export otlp --endpoint localhost:4318",
            "try-review none.diff --prompt none.md --reviewer claud",
        ]
    );
}

//! What `run` and `status` say in a project of Tollgate's own, one status of a gate after the other.

use std::fmt::Write as _;

use super::{filters, transcript};
use crate::project::TestProject;

/// A gate whose result is no matter of its inputs: a program outside of the project decides it.
const GATE: &str = "[gates]\nbase = \"main\"\nmax_retries = 9\n[gates.test]\nrun = \"probe\"\n";

#[test]
fn every_status_of_a_gate_has_its_words() {
    let project = TestProject::empty().with_only(&["git", "sh", "sleep"]);
    let project = project.with_repository().with_toml(GATE).with_change();
    let probe = |script: &str| {
        project.program("probe", &format!("#!/bin/sh\n{script}\n"));
    };
    let toml = |more: &str| {
        project.file("tollgate.toml", more);
    };
    let edit = |text: &str| {
        project.file("src/b.txt", text);
    };
    let mut all = String::new();
    let mut tell = |what: &str, commands: &[&str]| {
        writeln!(all, "== {what}\n{}", transcript(&project, commands)).unwrap();
    };
    tell("never ran", &["status -q"]);
    probe("echo 'src/b.txt:1: expected 5, found 4'; exit 1");
    tell("failed", &["run", "status -q"]);
    edit("5\n");
    tell("failed, and its inputs changed", &["status -q"]);
    probe("exit 0");
    tell("verified", &["run", "status -q"]);
    edit("6\n");
    tell("stale", &["status -q"]);
    tell("skipped", &["run --skip test --reason slow"]);
    probe("exit 1");
    tell("failed once", &["run"]);
    probe("exit 0");
    tell("flaky", &["run", "status -q"]);
    edit("7\n");
    tell("verified again", &["run"]);
    toml(&GATE.replace("probe", "probe || true"));
    tell("weakened", &["run", "status -q"]);
    toml(&GATE.replace("probe", "no-such-program"));
    tell("its program is missing", &["run"]);
    toml(&GATE.replace("probe\"", "sleep 600\"\ntimeout = \"1s\""));
    tell("out of time", &["run"]);
    toml(
        "[gates]\nbase = \"main\"\n[gates.quality]\nprompt = \"Look.\"\nreviewers = [\"claude\"]\n",
    );
    tell("inconclusive: nobody reviews", &["run", "status -q"]);
    toml("[gates]\nbase = \"main\"\n");
    tell("no gates", &["run", "status -q"]);
    filters(&project).bind(|| insta::assert_snapshot!(all));
}

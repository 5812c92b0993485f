//! Which commands of Tollgate are a person's, and which hand it an event.

use crate::events::bash;
use crate::project::TestProject;

const NAME: &str = "person-guard";

fn project() -> TestProject {
    let project = TestProject::new();
    project.file(".isdlc/state.json", "{}");
    project
}

#[test]
fn an_event_is_handed_over_whatever_options_are_before_the_subcommand() {
    for command in [
        "tollgate hook < e.json",
        "tollgate -C . hook < e.json",
        "tollgate -qC . hook < e.json",
        "tollgate -C \"$(pwd)\" hook < e.json",
        "tollgate $OPTIONS hook < e.json",
        "tollgate -q hook < e.json",
        "tollgate --color never hook < e.json",
        "tollgate --color=never hook < e.json",
        "cat e.json | tollgate -q stop-hook",
        // `hook` ignores options that it does not know.
        "tollgate hook --dry-run < e.json",
        "tollgate < e.json",
        "cat e.json | tollgate",
    ] {
        let project = project();
        project
            .guard(NAME, &bash(command))
            .blocks("Only the agent's program may run `tollgate hook`");
        assert_eq!(project.codes(), ["PG-002"], "{command}");
    }
}

#[test]
fn what_reads_no_event_is_allowed() {
    for command in [
        "tollgate > out.txt",
        "tollgate 2>/dev/null",
        "tollgate --version < /dev/null",
        "tollgate -C hook status",
        "tollgate hook --help",
        "tollgate explain hook",
        "cat e.json | tollgate simulate -",
    ] {
        project().guard(NAME, &bash(command)).allows();
    }
}

#[test]
fn only_the_subcommand_makes_a_command_a_persons() {
    for command in [
        "tollgate phase complete --summary allow",
        "tollgate phase complete --summary skip",
        "tollgate phase complete --summary trust",
        "tollgate workflow start feature uninstall",
        "tollgate workflow start fix \"trust\"",
        "tollgate explain allow",
        "tollgate log --grep uninstall",
        "tollgate run trust",
        "tollgate -C trust status",
        "tollgate config get set",
        "tollgate validate",
        "tollgate allow --list",
    ] {
        project().guard(NAME, &bash(command)).allows();
    }
    for (command, name) in [
        ("tollgate phase skip --reason x", "phase skip"),
        ("tollgate phase -q skip --reason x", "phase skip"),
        (
            "tollgate -C . workflow cancel --reason x",
            "workflow cancel",
        ),
        ("tollgate -q allow BG-001 --once", "allow"),
        ("tollgate $OPTIONS uninstall", "uninstall"),
        ("tollgate validate --json --accept", "validate --accept"),
        ("tollgate config -C . set a b", "config set"),
    ] {
        let project = project();
        let reason = format!("Only a person may run `tollgate {name}`");
        project.guard(NAME, &bash(command)).blocks(&reason);
        assert_eq!(project.codes(), ["PG-001"], "{command}");
    }
}

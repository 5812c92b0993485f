//! Clocks that lie: the state's timestamps, the machine's zone, and the clock itself.

use std::path::PathBuf;

use serde_json::json;

use crate::report::{Effort, Report};
use crate::workspace::Workspace;

/// Moments that a state may name.
const MOMENTS: &[&str] = &[
    "1970-01-01T00:00:00.000Z",
    "1969-12-31T23:59:59.999Z",
    "2016-12-31T23:59:60.000Z",
    "2038-01-19T03:14:08.000Z",
    "2106-02-07T06:28:16Z",
    "9999-12-31T23:59:59.999Z",
    "+275760-09-13T00:00:00.000Z",
    "2026-03-29T02:30:00+01:00",
    "2026-02-08T20:00:00+14:00",
    "2026-02-30T00:00:00Z",
    "tomorrow",
    "",
    "0",
    "-1",
];

/// Zones, real and not.
const ZONES: &[&str] = &[
    "UTC",
    "Pacific/Kiritimati",
    "America/St_Johns",
    "nowhere/else",
    ":../../etc/passwd",
    "",
];

/// A library that moves `CLOCK_REALTIME`, for programs that are linked dynamically.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *t) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int r = real(id, t);
    const char *by = getenv("CLOCK_BY");
    if (id == CLOCK_REALTIME && by) t->tv_sec += atoll(by);
    return r;
}
"#;

pub(crate) fn run(_effort: &Effort, report: &mut Report) {
    timestamps(report);
    zones(report);
    moved(report);
}

fn commands(workspace: &Workspace, report: &mut Report, what: &str) {
    let agent = workspace.event(
        "PreToolUse",
        &json!({"tool_name": "Agent", "tool_input": {"subagent_type": "software-developer", "prompt": "Go."}}),
    );
    for event in [
        agent,
        workspace.delegated(what),
        workspace.event("Stop", &json!({"stop_hook_active": false})),
    ] {
        let run = workspace.hook(&event);
        let answer = run.is_an_answer();
        report.check(answer.is_ok(), || format!("{what}: {answer:?}"));
    }
    for args in [
        &["workflow", "status"][..],
        &["workflow", "audit"],
        &["phase", "begin"],
    ] {
        let run = workspace.tollgate(args);
        report.check(
            matches!(run.code, Some(0..=2)) && !run.stderr.contains("panicked"),
            || format!("{what}: {args:?}: {run:?}"),
        );
    }
}

fn timestamps(report: &mut Report) {
    for moment in MOMENTS {
        let workspace = Workspace::new();
        let mut state = workspace.state().unwrap();
        let phase = state["active_workflow"]["current_phase"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        state["active_workflow"]["started_at"] = (*moment).into();
        state["phases"][&phase]["started"] = (*moment).into();
        state["phases"][&phase]["timing"] = json!({"started_at": moment});
        workspace.file(".isdlc/state.json", state.to_string());
        report.count("moments", 1);
        commands(&workspace, report, moment);
    }
}

fn zones(report: &mut Report) {
    let workspace = Workspace::new();
    for zone in ZONES {
        let mut command = workspace.command(&["hook"]);
        command.env("TZ", zone);
        let run = crate::workspace::run(command, workspace.delegated(zone).to_string().as_bytes());
        report.count("zones", 1);
        let answer = run.is_an_answer();
        report.check(answer.is_ok(), || format!("TZ={zone}: {answer:?}"));
        let mut command = workspace.command(&["workflow", "status"]);
        command.env("TZ", zone);
        let run = crate::workspace::run(command, b"");
        report.check(run.code == Some(0), || format!("TZ={zone}: {run:?}"));
    }
}

/// The machine's clock itself, back and forth.
fn moved(report: &mut Report) {
    let workspace = Workspace::new();
    let Some(shim) = shim(&workspace) else {
        report.note("SKIPPED a moved clock: no C compiler".to_owned());
        return;
    };
    let hour = 3_600_i64;
    let mut last = workspace.state().unwrap()["state_version"].as_u64();
    for by in [
        0,
        -hour,
        hour,
        -20 * 365 * 24 * hour,
        10 * 365 * 24 * hour,
        20 * 365 * 24 * hour,
        -hour,
    ] {
        for args in [
            &["hook"][..],
            &["phase", "begin"],
            &["workflow", "status"],
            &["run"],
        ] {
            // The build that is linked dynamically: a static one asks the kernel by itself.
            let mut command = workspace.foreign(env!("CARGO_BIN_EXE_tollgate"));
            command
                .args(args)
                .env("LD_PRELOAD", &shim)
                .env("CLOCK_BY", by.to_string());
            let run = crate::workspace::run(
                command,
                workspace.delegated(&by.to_string()).to_string().as_bytes(),
            );
            report.count("commands on a moved clock", 1);
            report.check(
                matches!(run.code, Some(0..=2)) && !run.stderr.contains("panicked"),
                || format!("{by} s: {args:?}: {run:?}"),
            );
        }
        let now = workspace
            .state()
            .ok()
            .and_then(|state| state["state_version"].as_u64());
        report.check(now >= last, || {
            format!("{by} s: version {now:?} after {last:?}")
        });
        last = now;
    }
}

/// The library, where there is a compiler.
pub(crate) fn shim(workspace: &Workspace) -> Option<PathBuf> {
    let (source, library) = (
        workspace.outside().join("clock.c"),
        workspace.outside().join("clock.so"),
    );
    std::fs::write(&source, SHIM).unwrap();
    let mut compile = workspace.foreign("cc");
    compile
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&library)
        .arg(&source)
        .arg("-ldl");
    compile.output().ok()?.status.success().then_some(library)
}

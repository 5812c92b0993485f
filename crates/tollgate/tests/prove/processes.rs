//! No orphan, whatever a check does and however Tollgate ends.

use std::io::Write as _;
use std::process::Child;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::json;

use crate::report::{Effort, Report};
use crate::within;
use crate::workspace::{Workspace, start};

/// Kinds of children. Each writes its processes' numbers to `pids` first.
const KINDS: &[(&str, &str)] = &[
    ("exits", "echo $$ >>pids; exit 0"),
    ("fails", "echo $$ >>pids; exit 1"),
    ("dies", "echo $$ >>pids; kill -SEGV $$"),
    ("hangs", "echo $$ >>pids; exec sleep 600"),
    (
        "ignores TERM",
        "trap '' TERM INT HUP; echo $$ >>pids; while :; do sleep 600; done",
    ),
    ("forks", "sleep 600 & echo $! >>pids; echo $$ >>pids; wait"),
    ("forks and exits", "sleep 600 & echo $! >>pids; exit 0"),
    (
        "forks twice",
        "(sleep 600 & echo $! >>pids) & wait; exec sleep 600",
    ),
    (
        "leaves its session",
        "setsid sh -c 'echo $$ >>pids; exec sleep 600' & echo $$ >>pids; exec sleep 600",
    ),
    (
        "leaves its session and exits",
        "setsid sh -c 'echo $$ >>pids; exec sleep 600' & sleep 0.2; exit 0",
    ),
    (
        "holds its output",
        "sh -c 'echo $$ >>pids; exec sleep 600' & exit 0",
    ),
    (
        "closes everything",
        "exec 0<&- 1>&- 2>&-; echo $$ >>pids; exec sleep 600",
    ),
];

/// How the run ends.
#[derive(Clone, Copy, Debug)]
enum End {
    /// The check takes longer than it may.
    Timeout,
    /// Tollgate gets a signal.
    Signal(Signal),
    /// The agent waited for its hook long enough, and kills it.
    Host(Signal),
    /// The agent is killed while its hook runs: nobody reads what it says.
    Gone,
}

const ENDS: &[End] = &[
    End::Timeout,
    End::Host(Signal::TERM),
    End::Host(Signal::KILL),
    End::Gone,
    End::Signal(Signal::KILL),
    End::Signal(Signal::INT),
    End::Signal(Signal::TERM),
    End::Signal(Signal::HUP),
];

pub(crate) fn run(effort: &Effort, report: &mut Report) {
    for (at, (kind, script)) in KINDS.iter().enumerate() {
        for (end_at, end) in ENDS.iter().enumerate() {
            // The short form goes through each kind and each end, not through all pairs.
            if !effort.is_long() && (at + end_at) % ENDS.len() != 0 {
                continue;
            }
            one(kind, script, *end, report);
        }
    }
}

fn one(kind: &str, script: &str, end: End, report: &mut Report) {
    let workspace = Workspace::bare();
    workspace.file("check.sh", script);
    let timeout = if matches!(end, End::Timeout) {
        "timeout: 1\n"
    } else {
        "timeout: 300\n"
    };
    workspace.file(
        ".gauntlet/checks/c.yml",
        format!("command: sh check.sh\n{timeout}").as_bytes(),
    );
    workspace.file(
        ".gauntlet/config.yml",
        b"base_branch: main\nentry_points:\n  - path: .\n    checks: [c]\n",
    );
    let mut child = match end {
        End::Timeout | End::Signal(_) => start(workspace.command(&["run"])),
        End::Host(_) | End::Gone => stopping(&workspace),
    };
    let begun = within(Duration::from_secs(30), || !pids(&workspace).is_empty());
    report.count("runs", 1);
    report.check(begun, || format!("{kind}: the check did not start"));
    let signal = match end {
        End::Timeout => None,
        End::Signal(signal) | End::Host(signal) => Some(signal),
        End::Gone => {
            drop((child.stdout.take(), child.stderr.take()));
            None
        }
    };
    if let Some(signal) = signal {
        let _ended = kill_process(Pid::from_child(&child), signal);
    }
    let output = child.wait_with_output().unwrap();
    let code = output.status.code();
    report.check(
        !matches!(end, End::Timeout) || matches!(code, Some(0 | 1)),
        || {
            format!(
                "{kind}, {end:?}: {code:?} {}",
                String::from_utf8_lossy(&output.stderr)
            )
        },
    );
    let survivors = || -> Vec<i32> {
        pids(&workspace)
            .into_iter()
            .filter(|pid| lives(*pid))
            .collect()
    };
    let gone = within(Duration::from_secs(15), || survivors().is_empty());
    report.count("processes followed", pids(&workspace).len() as u64);
    report.check(gone, || {
        format!("{kind}, {end:?}: still there: {:?}", survivors())
    });
    for pid in survivors() {
        // Not to leave behind what the program left behind.
        if let Some(pid) = Pid::from_raw(pid) {
            let _gone = kill_process(pid, Signal::KILL);
        }
    }
}

/// An agent's stop, at which the gates run.
fn stopping(workspace: &Workspace) -> Child {
    let mut child = start(workspace.command(&["hook"]));
    let event = workspace.event("Stop", &json!({"stop_hook_active": false}));
    let text = event.to_string();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(text.as_bytes()).unwrap();
    child
}

fn pids(workspace: &Workspace) -> Vec<i32> {
    let text = std::fs::read_to_string(workspace.path("pids")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

fn lives(pid: i32) -> bool {
    let Some(pid) = Pid::from_raw(pid) else {
        return false;
    };
    // A zombie is dead; somebody above us has not looked yet.
    let stat =
        std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    let is_zombie = stat
        .rsplit(')')
        .next()
        .is_some_and(|rest| rest.trim_start().starts_with('Z'));
    test_kill_process(pid).is_ok() && !is_zombie
}

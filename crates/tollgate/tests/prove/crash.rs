//! `kill -9` at random moments of every command that writes something.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::report::{Chance, Effort, Report};
use crate::workspace::{Workspace, run as run_command, start};

/// Everything that writes: the state, the plans', the gates' ledger and logs, agents' settings,
/// the project's own files. The hook comes oftener, as it does.
const COMMANDS: &[&[&str]] = &[
    &["hook"],
    &["hook"],
    &["hook"],
    &["phase", "begin"],
    &["phase", "complete", "--summary", "done"],
    &["phase", "skip"],
    &["phase", "redo"],
    &["phase", "review", "--continue"],
    &["workflow", "cancel", "--reason", "no longer wanted"],
    &["workflow", "start", "feature", "again", "--no-branch"],
    &["workflow", "start", "feature", "again", "--no-branch"],
    &["workflow", "finalize"],
    &["workflow", "audit", "--repair"],
    &["state", "undo", "--force"],
    &["plan", "new", "a-plan"],
    &["plan", "begin", "new-plan"],
    &["plan", "done", "new-plan"],
    &["plan", "set", "max_reviews", "4"],
    &["plan", "use", "a-plan"],
    &["plan", "release"],
    &["plan", "repair"],
    &["run"],
    &["clean"],
    &["doctor", "--fix"],
    &["install", "--yes", "--agent", "claude-code,codex"],
    &["init", "--yes"],
];

/// Grounds are left after so many rounds, so that a journal of a thousand commands does not make
/// every one after it slow.
const ROUNDS: u64 = 250;

pub(crate) fn run(effort: &Effort, report: &mut Report) {
    let mut chance = Chance::new(effort.seed);
    let mut usual: BTreeMap<&[&str], Duration> = BTreeMap::new();
    let (mut round, mut killed) = (0_u64, 0);
    let mut workspace = Workspace::whole();
    while killed < effort.kills(60) {
        round += 1;
        if round.is_multiple_of(ROUNDS) {
            verify(&workspace, report);
            workspace = Workspace::whole();
        }
        let args = *chance.of(COMMANDS);
        let before = version(&workspace);
        let began = Instant::now();
        let mut child = start(workspace.agreed(args));
        let event = workspace.delegated(&format!("kill-{round}")).to_string();
        let _gone = child.stdin.take().unwrap().write_all(event.as_bytes());
        // The first of a kind is not killed: it shows how long the kind takes.
        if let Some(usual) = usual.get(args) {
            let limit = u64::try_from(usual.as_micros()).unwrap_or(1) * 6 / 5;
            let moment = Duration::from_micros(chance.below(limit.max(1)));
            while began.elapsed() < moment {
                std::hint::spin_loop();
            }
            let _ended = kill_process(Pid::from_child(&child), Signal::KILL);
        }
        let output = child.wait_with_output().unwrap();
        if output.status.code().is_none() {
            killed += 1;
            report.count("kills", 1);
        } else {
            // A machine that is busy now may be idle later.
            usual.insert(args, began.elapsed().min(Duration::from_secs(1)));
            report.count("ended before", 1);
        }
        let after = version(&workspace);
        report.check(after.is_ok(), || format!("after {args:?}: {after:?}"));
        report.check(after >= before, || {
            format!("{args:?}: version {after:?} after {before:?}")
        });
        whole(&workspace, args, report);
        // The next one works, and leaves no rubbish.
        let run = workspace.hook(&workspace.delegated(&format!("next-{round}")));
        let answer = run.is_an_answer();
        report.check(answer.is_ok() && run.stderr.is_empty(), || {
            format!("after {args:?}: {answer:?} {}", run.stderr)
        });
        if round.is_multiple_of(8) {
            let status = workspace.tollgate(&["status"]);
            report.check(matches!(status.code, Some(0 | 1)), || {
                format!("after {args:?}: {status:?}")
            });
        }
        if round.is_multiple_of(20) {
            swept(&workspace, args, report);
        }
    }
    verify(&workspace, report);
    report.count("kinds of commands", usual.len() as u64);
}

/// Commands sweep up what killed ones left beside the state; hooks only what hooks leave.
fn swept(workspace: &Workspace, args: &[&str], report: &mut Report) {
    let _if_any = run_command(
        workspace.agreed(&["workflow", "cancel", "--reason", "next"]),
        b"",
    );
    let began = workspace.tollgate(&["workflow", "start", "feature", "next", "--no-branch"]);
    report.check(began.code == Some(0), || {
        format!("after {args:?}: {began:?}")
    });
    let beside = workspace.path(".isdlc/state.json");
    let left = workspace.temporaries().into_iter();
    let left: Vec<_> = left
        .filter(|path| path.parent() == beside.parent())
        .collect();
    report.check(left.is_empty(), || {
        format!("after {args:?} and two others: {left:?}")
    });
}

fn version(workspace: &Workspace) -> Result<u64, String> {
    Ok(workspace.state()?["state_version"].as_u64().unwrap_or(0))
}

/// Everything else that is JSON is whole, too.
fn whole(workspace: &Workspace, args: &[&str], report: &mut Report) {
    let plans = workspace.path(".taskie/plans");
    let plans = std::fs::read_dir(plans).into_iter().flatten().flatten();
    let states = plans.map(|plan| plan.path().join("state.json"));
    let settings = [
        ".claude/settings.json",
        ".codex/hooks.json",
        ".tollgate/plans.json",
    ];
    for path in states.chain(settings.iter().map(|name| workspace.path(name))) {
        if let Ok(bytes) = std::fs::read(&path) {
            let read = serde_json::from_slice::<Value>(&bytes);
            report.check(read.is_ok(), || {
                format!("after {args:?}: {}: {read:?}", path.display())
            });
        }
    }
}

/// No line of the journal is missing or altered, whoever was killed while writing.
fn verify(workspace: &Workspace, report: &mut Report) {
    let run = workspace.tollgate(&["log", "--verify"]);
    report.count("journals verified", 1);
    report.check(run.code == Some(0), || format!("the journal: {run:?}"));
}

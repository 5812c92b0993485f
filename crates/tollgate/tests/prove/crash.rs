//! `kill -9` at random moments of every command that writes state, and disks that say no.

use std::io::Write as _;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::ground::{Ground, start};
use crate::report::{Chance, Effort, Report};

const COMMANDS: &[&[&str]] = &[
    &["hook"],
    &["hook"],
    &["phase", "begin"],
    &["phase", "complete", "--summary", "done"],
    &["phase", "skip"],
    &["phase", "redo"],
    &["workflow", "cancel", "--reason", "no longer wanted"],
    &["workflow", "start", "feature", "again", "--no-branch"],
    &["workflow", "audit", "--fix"],
    &["plan", "new", "a-plan"],
    &["plan", "done", "new-plan"],
];

pub(crate) fn run(effort: &Effort, report: &mut Report) {
    kills(effort, report);
    full_disk(report);
    read_only(report);
}

fn kills(effort: &Effort, report: &mut Report) {
    let ground = Ground::new();
    let mut chance = Chance::new(effort.seed);
    // How long a command takes here, so that kills fall inside it.
    let started = Instant::now();
    let _warm = ground.hook(&ground.delegated("warm"));
    let usual = u64::try_from(started.elapsed().as_micros())
        .unwrap_or(10_000)
        .clamp(1_000, 200_000);
    let mut round = 0;
    while effort.goes_on(round, 60) {
        round += 1;
        let before = ground
            .state()
            .ok()
            .and_then(|state| state["state_version"].as_u64());
        let args = *chance.of(COMMANDS);
        let mut child = start(ground.command(args));
        let event = ground.delegated(&format!("kill-{round}")).to_string();
        let _gone = child.stdin.take().unwrap().write_all(event.as_bytes());
        let (begun, moment) = (
            Instant::now(),
            Duration::from_micros(chance.below(usual * 3 / 2)),
        );
        while begun.elapsed() < moment {
            std::hint::spin_loop();
        }
        let _ended = kill_process(Pid::from_child(&child), Signal::KILL);
        let output = child.wait_with_output().unwrap();
        report.count("kills", u64::from(output.status.code().is_none()));
        report.count("ended before", u64::from(output.status.code().is_some()));
        let after = ground.state();
        report.check(after.is_ok(), || format!("after {args:?}: {after:?}"));
        let after = after.ok().and_then(|state| state["state_version"].as_u64());
        report.check(after >= before, || {
            format!("{args:?}: version {after:?} after {before:?}")
        });
        // The next one works, and leaves no rubbish.
        let run = ground.hook(&ground.delegated(&format!("next-{round}")));
        let answer = run.is_an_answer();
        report.check(answer.is_ok() && run.stderr.is_empty(), || {
            format!("after {args:?}: {answer:?} {}", run.stderr)
        });
        let status = ground.tollgate(&["workflow", "status"]);
        report.check(matches!(status.code, Some(0 | 1)), || {
            format!("after {args:?}: {status:?}")
        });
        let left = ground.temporaries();
        let stale = left
            .iter()
            .filter(|path| path.parent() == ground.path(".isdlc/state.json").parent());
        let stale: Vec<_> = stale.collect();
        report.check(stale.is_empty(), || {
            format!("after {args:?} and another: {stale:?}")
        });
    }
}

/// Every write point with so many blocks of a file allowed, and none.
fn full_disk(report: &mut Report) {
    for blocks in [0, 1, 2, 4, 16] {
        for args in [
            &["hook"][..],
            &["phase", "begin"],
            &["workflow", "cancel", "--reason", "x"],
            &["plan", "new", "b"],
        ] {
            let ground = Ground::new();
            ground.write("pad", b"");
            let before = std::fs::read(ground.path(".isdlc/state.json")).unwrap();
            let mut command = ground.foreign("sh");
            // Blocks are 512 bytes for dash and 1024 for others; both are small.
            command.args([
                "-c",
                "trap '' XFSZ; ulimit -f \"$0\"; exec \"$@\"",
                &blocks.to_string(),
            ]);
            command.arg(crate::ground::program()).args(args);
            let run = crate::ground::run(command, ground.delegated("full").to_string().as_bytes());
            report.count("full disks", 1);
            report.check(matches!(run.code, Some(0..=2)), || {
                format!("{args:?} with {blocks} blocks: {run:?}")
            });
            let after = std::fs::read(ground.path(".isdlc/state.json")).unwrap();
            report.check(
                after == before || serde_json::from_slice::<serde_json::Value>(&after).is_ok(),
                || format!("{args:?} with {blocks} blocks left {} bytes", after.len()),
            );
            let next = ground.tollgate(&["workflow", "status"]);
            report.check(matches!(next.code, Some(0 | 1)), || {
                format!("after {args:?}: {next:?}")
            });
            let left = ground.temporaries();
            let swept = left.is_empty() || {
                let _next = ground.hook(&ground.delegated("space again"));
                ground.temporaries().is_empty()
            };
            report.check(swept, || {
                format!("{args:?} with {blocks} blocks left {left:?}")
            });
        }
    }
}

/// A file system that cannot be written, where this machine lets us have one.
fn read_only(report: &mut Report) {
    let ground = Ground::new();
    let before = std::fs::read(ground.path(".isdlc/state.json")).unwrap();
    for args in [
        "hook",
        "phase begin",
        "workflow cancel --reason x",
        "plan new c",
    ] {
        let mut command = ground.foreign("unshare");
        let script = format!(
            "mount --bind . . 2>/dev/null && mount -o remount,bind,ro . 2>/dev/null || exit 77\ncd \"$PWD\" && exec \"$0\" {args}"
        );
        command
            .args(["-m", "sh", "-c", &script])
            .arg(crate::ground::program());
        let run = crate::ground::run(command, ground.delegated("ro").to_string().as_bytes());
        if run.code == Some(77) || run.stderr.contains("unshare") {
            report.note("SKIPPED read-only mounts: not permitted here".to_owned());
            return;
        }
        report.count("read-only runs", 1);
        report.check(matches!(run.code, Some(0..=2)), || {
            format!("{args}: {run:?}")
        });
        report.check(!run.stderr.contains("panicked"), || run.stderr.clone());
        report.check(args == "hook" || !run.stderr.is_empty(), || {
            format!("{args} said nothing: {run:?}")
        });
    }
    let after = std::fs::read(ground.path(".isdlc/state.json")).unwrap();
    report.check(after == before, || "a read-only state changed".to_owned());
}

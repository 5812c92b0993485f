//! Every file operation of a command, one after the other: killed there, or told no.
//!
//! `strace` counts what a command does and then does it harm at the n-th call of a kind, before it
//! is made; so a kill at one call is a kill after the call before it. Errors come once and for
//! good. State is the old or the new one, nothing panics or hangs, a command that failed says so,
//! and the next one works.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::report::{Effort, Report};
use crate::workspace::{Run, Workspace, program, run as run_command};

/// What touches files. Not `mmap` and what else a runtime needs to begin at all.
const CALLS: &str = "open,openat,read,pread64,readv,write,writev,pwrite64,pwritev,fsync,fdatasync,\
    rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,link,linkat,symlink,flock,fcntl,\
    stat,lstat,fstat,newfstatat,statx,access,faccessat,faccessat2,getdents64,ftruncate,fchmod,\
    fchmodat,lseek,readlink,readlinkat,copy_file_range,sendfile,close";

const COMMANDS: &[&[&str]] = &[
    &["hook"],
    &["phase", "begin"],
    &["phase", "complete", "--summary", "done"],
    &["workflow", "cancel", "--reason", "no longer wanted"],
    &["plan", "new", "b-plan"],
    &["plan", "begin", "new-plan"],
    &["state", "undo"],
    &["install", "--yes", "--agent", "claude-code"],
];

/// Signals interrupt again and again, but not for ever: every second call.
const ERRORS: &[(&str, &str)] = &[
    ("EIO", ""),
    ("EIO", "+"),
    ("ENOSPC", ""),
    ("ENOSPC", "+"),
    ("EROFS", "+"),
    ("EACCES", ""),
    ("EACCES", "+"),
    ("EMFILE", "+"),
    ("EINTR", ""),
    ("EINTR", "+2"),
];

/// Longer than anything takes here, even when the machine does much else.
const PATIENCE: &str = "40";

/// One harm to one command.
struct Harm {
    args: &'static [&'static str],
    call: String,
    time: u64,
    /// None: killed.
    error: Option<(&'static str, &'static str)>,
}

pub(crate) fn run(effort: &Effort, report: &mut Report) {
    let Some(harms) = harms(effort) else {
        report.note("SKIPPED file operations one by one: no strace".to_owned());
        return;
    };
    // Each has a project of its own, so they need not wait for each other.
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let workers = (0..workers).map(|_| {
            scope.spawn(|| {
                let mut report = Report::default();
                while let Some(harm) = harms.get(next.fetch_add(1, Ordering::Relaxed)) {
                    harm.done(&mut report);
                }
                report
            })
        });
        for worker in workers.collect::<Vec<_>>() {
            report.add(worker.join().unwrap());
        }
    });
}

/// All that there are, or those of the short form; nothing without `strace`.
fn harms(effort: &Effort) -> Option<Vec<Harm>> {
    let mut turn = effort.seed;
    // The short form takes every so many.
    let mut chosen = |every: u64| {
        turn += 1;
        effort.is_long() || turn.is_multiple_of(every)
    };
    let mut harms = Vec::new();
    for args in COMMANDS {
        for (call, times) in count(args)? {
            for time in 1..=times {
                let mut harm = |error| {
                    let call = call.clone();
                    harms.push(Harm {
                        args,
                        call,
                        time,
                        error,
                    });
                };
                if chosen(29) {
                    harm(None);
                }
                for error in ERRORS {
                    // Nobody is told that closing failed, nor has anything to do about it.
                    if call != "close" && chosen(499) {
                        harm(Some(*error));
                    }
                }
            }
        }
    }
    Some(harms)
}

impl Harm {
    fn done(&self, report: &mut Report) {
        let (args, call, time) = (self.args, &self.call, self.time);
        match self.error {
            None => killed(args, call, time, report),
            Some((error, again)) => {
                refused(
                    args,
                    &format!("{call}:error={error}:when={time}{again}"),
                    report,
                );
            }
        }
    }
}

/// How often a command makes each call.
fn count(args: &[&str]) -> Option<BTreeMap<String, u64>> {
    Command::new("strace").arg("-V").output().ok()?;
    let workspace = Workspace::whole();
    let log = workspace.outside().join("calls");
    // Names that another machine does not have are no reason to stop.
    let trace = format!("trace=?{}", CALLS.replace(',', ",?"));
    let mut command = workspace.foreign("strace");
    command.args(["-f", "-qq", "-e", "signal=none", "-o"]);
    command.arg(&log).args(["-e", &trace]);
    command.arg(program()).args(args).envs(workspace.yes(args));
    let run = traced(command, &workspace);
    if !matches!(run.code, Some(0 | 1)) {
        return None;
    }
    let mut counts = BTreeMap::new();
    for line in std::fs::read_to_string(log).ok()?.lines() {
        let call = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
        if let Some((name, _)) = call.split_once('(') {
            *counts.entry(name.to_owned()).or_insert(0) += 1;
        }
    }
    Some(counts)
}

fn traced(command: Command, workspace: &Workspace) -> Run {
    run_command(command, workspace.delegated("t").to_string().as_bytes())
}

fn harmed(workspace: &Workspace, args: &[&str], harm: &str) -> Run {
    let mut command = workspace.foreign("timeout");
    command.args([
        "-s",
        "KILL",
        PATIENCE,
        "strace",
        "-f",
        "-qq",
        "-o",
        "/dev/null",
    ]);
    command.args(["-e", "signal=none", "-e", &format!("inject={harm}")]);
    command.arg(program()).args(args).envs(workspace.yes(args));
    traced(command, workspace)
}

fn killed(args: &[&str], call: &str, time: u64, report: &mut Report) {
    let workspace = Workspace::whole();
    let before = workspace.state().unwrap();
    let _dead = harmed(&workspace, args, &format!("{call}:signal=KILL:when={time}"));
    report.count("kills at a call", 1);
    old_or_new(
        &workspace,
        &before,
        &format!("{args:?} killed at {call} {time}"),
        report,
    );
}

fn refused(args: &[&str], harm: &str, report: &mut Report) {
    let workspace = Workspace::whole();
    let before = workspace.state().unwrap();
    let run = harmed(&workspace, args, harm);
    let what = format!("{args:?} with {harm}");
    // A program that is linked dynamically may not even begin.
    if run.code == Some(127) && run.stderr.contains("error while loading") {
        report.count("errors in the loader", 1);
        return;
    }
    report.count("errors at a call", 1);
    let ended = if args == ["hook"] {
        run.is_an_answer()
    } else if matches!(run.code, Some(0..=2)) {
        Ok(())
    } else {
        Err(format!("ended with {:?}", run.code))
    };
    report.check(ended.is_ok(), || format!("{what}: {ended:?} {run:?}"));
    report.check(!run.stderr.contains("panicked"), || {
        format!("{what}: {run:?}")
    });
    // What could not be said because writing fails is excused.
    let silent = run.stderr.is_empty() && run.stdout.is_empty();
    report.check(
        run.code == Some(0) || !silent || harm.starts_with("write"),
        || format!("{what} failed and said nothing: {run:?}"),
    );
    old_or_new(&workspace, &before, &what, report);
}

fn old_or_new(workspace: &Workspace, before: &serde_json::Value, what: &str, report: &mut Report) {
    let number = |state: &serde_json::Value| state["state_version"].as_u64().unwrap_or(0);
    let after = workspace.state();
    report.check(
        after.as_ref().is_ok_and(|after| {
            after == before || (number(before) + 1..=number(before) + 2).contains(&number(after))
        }),
        || format!("{what}: {after:?} after {before}"),
    );
    let next = workspace.hook(&workspace.delegated("next"));
    report.check(
        next.is_an_answer().is_ok() && next.stderr.is_empty(),
        || format!("{what}: the next: {next:?}"),
    );
    let status = workspace.tollgate(&["status"]);
    report.check(matches!(status.code, Some(0 | 1)), || {
        format!("{what}: {status:?}")
    });
    // What lies where only the same command writes, it sweeps when it comes again, or doctor does.
    let repaired = workspace.tollgate(&["doctor", "--fix"]);
    report.check(matches!(repaired.code, Some(0 | 1)), || {
        format!("{what}: {repaired:?}")
    });
    let left = workspace.temporaries();
    report.check(left.is_empty(), || format!("{what}: {left:?} is left"));
}

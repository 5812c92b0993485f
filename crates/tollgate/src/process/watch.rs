//! The watchdog: a small second Tollgate that only waits for the first one to die.
//!
//! It reads a pipe whose other end nobody but Tollgate has. The numbers of the groups come
//! through it; its end without a farewell means that Tollgate was killed. Then all groups are
//! killed, and all processes that carry the run's mark in their environment, until there are
//! none. One watchdog serves a whole run, because one per child would double the cost of a check.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, BufRead as _, Write as _};
use std::process::{ChildStdin, Command, ExitCode, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use super::{RUN_MARK, offspring};

/// How `main` knows that it is to watch.
pub(crate) const WATCH: &str = "__watch";

/// The end of the pipe that Tollgate holds.
#[derive(Debug)]
pub(super) struct Watchdog {
    pipe: Mutex<Option<ChildStdin>>,
    process: Mutex<std::process::Child>,
}

impl Watchdog {
    /// Starts the watchdog in a group of its own, so that a signal to ours does not end it.
    pub(super) fn start(mark: &str) -> io::Result<Self> {
        let mut command = Command::new(own_program()?);
        command
            .args([WATCH, mark])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/");
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut process = command.spawn()?;
        Ok(Self {
            pipe: Mutex::new(process.stdin.take()),
            process: Mutex::new(process),
        })
    }

    pub(super) fn started(&self, group: Pid) {
        self.say(&format!("+{}\n", group.as_raw_nonzero()));
    }

    pub(super) fn ended(&self, group: Pid) {
        self.say(&format!("-{}\n", group.as_raw_nonzero()));
    }

    /// Says farewell.
    pub(super) fn stop(&self) {
        self.say(".\n");
        self.pipe
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Ok(mut process) = self.process.lock() {
            let _status = process.wait();
        }
    }

    /// A watchdog that somebody killed is no reason to end the run.
    fn say(&self, line: &str) {
        let mut pipe = self.pipe.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipe) = pipe.as_mut() {
            let _gone = pipe.write_all(line.as_bytes());
        }
    }
}

/// This program, also when it was replaced on disk since it started.
fn own_program() -> io::Result<std::path::PathBuf> {
    if cfg!(target_os = "linux") {
        Ok("/proc/self/exe".into())
    } else {
        std::env::current_exe()
    }
}

/// The watchdog's whole life.
pub(crate) fn watch(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    let Some(mark) = args.next().and_then(|mark| mark.into_string().ok()) else {
        return ExitCode::from(2);
    };
    let mut groups = BTreeSet::new();
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let number = |text: &str| text.parse::<i32>().ok();
        if line == "." {
            return ExitCode::SUCCESS;
        } else if let Some(group) = line.strip_prefix('+').and_then(number) {
            groups.insert(group);
        } else if let Some(group) = line.strip_prefix('-').and_then(number) {
            groups.remove(&group);
        }
    }
    end_all(&groups, &format!("{RUN_MARK}={mark}"));
    ExitCode::SUCCESS
}

/// Kills until a whole second look finds nobody: a process may fork while it is being looked at.
fn end_all(groups: &BTreeSet<i32>, mark: &str) {
    for group in groups.iter().copied().filter_map(Pid::from_raw) {
        let _gone = rustix::process::kill_process_group(group, Signal::KILL);
    }
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(10) {
        let marked = carriers(mark);
        if marked.is_empty() {
            return;
        }
        for pid in marked {
            let _gone = rustix::process::kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// All processes with the mark. A zombie has no environment any more, so it is not among them.
fn carriers(mark: &str) -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return vec![];
    };
    let numbers = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers
        .filter_map(Pid::from_raw)
        .filter(|pid| offspring::carries(*pid, mark))
        .collect()
}

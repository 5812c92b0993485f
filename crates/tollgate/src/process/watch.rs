//! The watchdog: a small second Tollgate that only waits for the first one to die.
//!
//! It reads a pipe whose other end only Tollgate has. The numbers of the groups come
//! through it; that it is closed means that Tollgate was killed (one that ends by itself ends its
//! watchdog first). Then all groups are
//! killed, and all processes that carry the run's mark in their environment, until there are
//! none. One watchdog serves a whole run, because one per child would double the cost of a check.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::process::{ChildStdin, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal};

use super::{CHILD_MARK, RUN_MARK, offspring};
pub(crate) use crate::ancestors::WATCH;

/// The end of the pipe that Tollgate holds.
#[derive(Debug)]
pub(crate) struct Watchdog {
    pipe: Option<ChildStdin>,
    process: std::process::Child,
}

impl Watchdog {
    /// Starts the watchdog in its own group, so that a signal to ours does not end it.
    pub(super) fn start(mark: &str) -> io::Result<Self> {
        let mut command = super::command(own_program()?);
        command
            .args([WATCH, mark])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Of a run inside a run: whoever ends what the outer one left behind must not end the
            // watchdog of the inner one before it has done the same.
            .env_remove(RUN_MARK)
            .env_remove(CHILD_MARK)
            .current_dir("/");
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut process = command.spawn()?;
        let pipe = process.stdin.take();
        if let Some(pipe) = &pipe {
            // A watchdog that is stopped must not stop the run.
            let _best_effort = rustix::io::ioctl_fionbio(pipe, true);
        }
        Ok(Self { pipe, process })
    }

    pub(super) fn pid(&self) -> Pid {
        Pid::from_child(&self.process)
    }

    pub(super) fn started(&self, group: Pid) {
        self.tell('+', group);
    }

    pub(super) fn ended(&self, group: Pid) {
        self.tell('-', group);
    }

    /// Nothing is left to be watched, so it need not wake up for that.
    pub(super) fn end(&mut self) {
        let _gone = self.process.kill();
    }

    /// A watchdog that was killed is no reason to end the run.
    fn tell(&self, what: char, group: Pid) {
        if let Some(pipe) = &self.pipe {
            let line = format!("{what}{}\n", group.as_raw_nonzero());
            let _gone = rustix::io::write(pipe, line.as_bytes());
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.end();
        let _status = self.process.wait();
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
    let mut rest = Vec::new();
    while !is_dead(Duration::from_secs(1)) {
        // Now and then, so that the pipe does not fill up.
        read_groups(&mut groups, &mut rest);
    }
    read_groups(&mut groups, &mut rest);
    end_all(&groups, &format!("{RUN_MARK}={mark}"));
    ExitCode::SUCCESS
}

/// Whether the other end of the pipe was closed within this time. What is written to it does not
/// wake us: two hundred checks would be four hundred times.
fn is_dead(limit: Duration) -> bool {
    let stdin = rustix::stdio::stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::empty())];
    let timeout = Timespec::try_from(limit).ok();
    poll(&mut fds, timeout.as_ref()).is_ok_and(|ready| ready > 0)
}

/// Takes in what was written: `+4711` a group began, `-4711` it ended.
fn read_groups(groups: &mut BTreeSet<i32>, rest: &mut Vec<u8>) {
    let stdin = rustix::stdio::stdin();
    let _best_effort = rustix::io::ioctl_fionbio(stdin, true);
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = rustix::io::read(stdin, &mut buffer) {
        rest.extend(buffer.iter().take(read));
    }
    let end = rest
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let lines: Vec<u8> = rest.drain(..end).collect();
    for line in String::from_utf8_lossy(&lines).lines() {
        let number = |text: &str| text.parse::<i32>().ok();
        if let Some(group) = line.strip_prefix('+').and_then(number) {
            groups.insert(group);
        } else if let Some(group) = line.strip_prefix('-').and_then(number) {
            groups.remove(&group);
        }
    }
}

/// Kills until a whole second look finds nothing: a process may fork while it is being looked at.
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

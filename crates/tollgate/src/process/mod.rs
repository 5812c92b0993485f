//! Running children: checks, reviewers, and other commands that a project names.
//!
//! Every child leads its own process group, reads nothing or a given text, and writes
//! straight to a file, so that no pipe can fill up, be held open by a grandchild or lose the
//! order of its lines. It ends by itself, at its deadline, or when the run is cancelled: TERM to
//! the group, a grace, KILL to the group. The group is dealt with while its leader is still a
//! zombie, because until then the number cannot belong to another process.
//!
//! No child survives Tollgate. While it runs it is the subreaper of all that its children leave
//! behind, also of what left its group with `setsid`; when it is killed, a [watchdog](watch())
//! finds the same processes by the mark in their environment.
//!
//! This deliberately does not use `PDEATHSIG`: that is bound to the thread that forked, and does not
//! reach grandchildren.
//!
//! Threads, not async: [`Children::run`] blocks until one child has ended. A caller with many children
//! uses one thread, which starts them, waits for all and checks each ([`Ongoing`]).

pub(crate) mod alarm;
mod log;
mod offspring;
mod ongoing;
pub(crate) mod secrets;
mod signals;
mod watch;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;

use log::Spool;
pub(crate) use ongoing::{Ongoing, pause};
pub(crate) use signals::survive_file_limit;
pub(crate) use watch::{WATCH, Watchdog, watch};

use crate::trust::Consent;

/// How long a group may take to obey TERM.
pub(crate) const GRACE: Duration = Duration::from_secs(2);

/// How much output of one child is kept unless said otherwise.
pub(crate) const OUTPUT_CAP: u64 = 4 << 20;

/// How often the size of a child's log is checked, and whether the run was cancelled.
const TICK: Duration = Duration::from_millis(50);

/// Tells the children of one run from all other processes. Read by the watchdog.
const RUN_MARK: &str = "TOLLGATE_RUN";

/// Tells what one child left behind from what the others did.
const CHILD_MARK: &str = "TOLLGATE_CHILD";

/// Marks a child as started by Tollgate: hooks inside it approve at once, as long as we run above
/// them. Ours besides ([`tollgate_core::env::DEPTH`]) has the mark of the run, which the watchdog
/// confirms.
const NESTED: [(&str, &str); 2] = [
    ("TASKIE_HOOK_SKIP", "true"),
    ("GAUNTLET_STOP_HOOK_ACTIVE", "1"),
];

/// An agent inside a child is not to take itself for a session of the agent around us.
const NOT_HANDED_ON: &str = "CLAUDECODE";

/// All children of one run. Dropping it leaves none of them running.
#[derive(Debug)]
pub(crate) struct Children {
    mark: String,
    started: AtomicU64,
    cancelled: Arc<AtomicBool>,
    cut_off: Option<Instant>,
    listener: Listener,
    /// Dropped before the watchdog: whoever is still there is watched until they are gone.
    offspring: offspring::Offspring,
    watchdog: Watchdog,
}

/// Receives the events of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Listener {
    /// Nobody in particular: the run goes on without one.
    Anybody,
    /// Whoever reads standard output. Without them there is no use in going on.
    Reader,
}

/// One child to run.
#[derive(Debug)]
pub(crate) struct Child {
    /// What it is, made by [`command`].
    pub(crate) program: Command,
    /// What it reads; nothing, without it.
    pub(crate) input: Option<String>,
    /// Where it writes.
    pub(crate) output: Output,
    /// How long it may take.
    pub(crate) timeout: Option<Duration>,
}

/// Where a child writes. What goes beyond `cap` keeps its head and its tail.
#[derive(Debug)]
pub(crate) enum Output {
    /// Both streams into one file, in the order they were written.
    Together {
        /// Opened for reading and appending.
        file: Arc<File>,
        /// How much is in it already, which stays.
        from: u64,
        /// Bytes to keep.
        cap: u64,
    },
    /// A file for each stream.
    Apart {
        /// Standard output.
        stdout: File,
        /// Standard error.
        stderr: File,
        /// Bytes to keep of each.
        cap: u64,
    },
}

/// How a child ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// What its main process did.
    pub(crate) end: End,
    /// From start to end.
    pub(crate) took: Duration,
    /// How many processes it left behind that had to be killed.
    pub(crate) leaked: usize,
    /// Bytes of output that were kept.
    pub(crate) kept: u64,
}

/// What the main process of a child did.
#[derive(Debug)]
pub(crate) enum End {
    /// It returned this code.
    Exited(i32),
    /// It died of a signal that Tollgate did not send.
    Signalled(i32),
    /// It took longer than this and was ended.
    TimedOut(Duration),
    /// The run was cancelled, or ran out of its own time, and the child with it.
    Cancelled,
    /// It never started.
    NotStarted(io::Error),
}

impl Children {
    /// Prepares for children: this process becomes the parent of what they leave behind. With
    /// `cut_off`, no child runs beyond that moment. What runs is the project's choice, so somebody
    /// must have consented to it.
    pub(crate) fn open(_consent: &Consent, cut_off: Option<Instant>) -> io::Result<Self> {
        let mark = new_mark();
        let watchdog = Watchdog::start(&mark)?;
        let offspring = offspring::Offspring::adopt();
        // The children of another thread become the main thread's when that thread ends.
        offspring.started(watchdog.pid());
        Ok(Self {
            offspring,
            watchdog,
            mark,
            started: AtomicU64::new(0),
            cancelled: Arc::default(),
            cut_off,
            listener: Listener::Anybody,
        })
    }

    /// Ends all running children soon, and starts no more.
    #[cfg(test)]
    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the run is over: cancelled, beyond its own time, or of no use to anybody.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
            || self.cut_off.is_some_and(|moment| Instant::now() >= moment)
            || (self.listener == Listener::Reader && is_unread())
    }

    /// Cancels the run when standard output is closed: the agent that waits for this
    /// hook was killed, and what it waited for would go on without it.
    pub(crate) fn cancel_when_unread(mut self) -> Self {
        self.listener = Listener::Reader;
        self
    }

    /// Cancels the run at Ctrl-C, TERM or HUP; at the second of them the process ends at once.
    pub(crate) fn cancel_on_signals(&self) -> io::Result<()> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let flag = &self.cancelled;
            signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(flag))?;
            signal_hook::flag::register(signal, Arc::clone(flag))?;
        }
        Ok(())
    }

    /// Leaves none of the children running. The watchdog is ending, which takes a while; what is returned
    /// waits for that when it is dropped.
    pub(crate) fn close(mut self) -> Watchdog {
        drop(self.offspring);
        self.watchdog.end();
        self.watchdog
    }

    /// Runs one child to its end.
    pub(crate) fn run(&self, child: Child) -> Ended {
        let mut child = match self.begin(child) {
            Ok(ongoing) => [(ongoing, ())],
            Err(ended) => return ended,
        };
        loop {
            let _nobody_else = pause(&mut child, &[]);
            let [(ongoing, ())] = &mut child;
            if let Some(ended) = self.look(ongoing) {
                return ended;
            }
        }
    }

    /// Starts a child, unless it ends before that: it cannot be started, or the run is over.
    pub(crate) fn begin(&self, child: Child) -> Result<Ongoing, Ended> {
        let begun = Instant::now();
        let end = match self.start(child, begun) {
            Ok(Some(ongoing)) => return Ok(ongoing),
            Ok(None) => End::Cancelled,
            Err(error) => End::NotStarted(error),
        };
        Err(Ended {
            end,
            took: begun.elapsed(),
            leaked: 0,
            kept: 0,
        })
    }

    /// Starts a child; none when the run is over.
    fn start(&self, child: Child, begun: Instant) -> io::Result<Option<Ongoing>> {
        let Child {
            mut program,
            input,
            output,
            timeout,
        } = child;
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let input = input.as_deref().map(written).transpose()?;
        let spools = output.spools()?;
        let (Some(stdout), Some(stderr)) = (spools.first(), spools.last()) else {
            return Err(io::Error::other("a child that writes nowhere"));
        };
        program
            .envs(NESTED)
            .env(tollgate_core::env::DEPTH, format!("1.{}", self.mark))
            .env_remove(NOT_HANDED_ON)
            .env(RUN_MARK, &self.mark)
            .env(CHILD_MARK, format!("{}.{number}", self.mark))
            .stdin(input.map_or_else(Stdio::null, Stdio::from))
            .stdout(stdout.to_write()?)
            .stderr(stderr.to_write()?)
            .process_group(0);
        if self.is_cancelled() {
            return Ok(None);
        }
        self.offspring.starting();
        let process = program.spawn()?;
        let pid = Pid::from_child(&process);
        self.watchdog.started(pid);
        self.offspring.started(pid);
        Ok(Some(Ongoing::new(process, number, begun, timeout, spools)))
    }
}

/// A command whose child starts with default signals, whatever Tollgate was started with. All
/// children are started from one of these.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    signals::reset_in(&mut command);
    command
}

/// Whether there is a process with this number, also one of another program.
pub(crate) fn is_alive(id: u32) -> bool {
    let pid = i32::try_from(id).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

/// A text as standard input: a file without a name. A pipe would need a writer.
fn written(text: &str) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file)
}

impl Output {
    /// Standard output's file first, standard error's last.
    fn spools(self) -> io::Result<Vec<Spool>> {
        Ok(match self {
            Self::Together { file, from, cap } => vec![Spool::new(file, from, cap)],
            Self::Apart {
                stdout,
                stderr,
                cap,
            } => {
                let spool = |file: File| {
                    let from = file.metadata()?.len();
                    io::Result::Ok(Spool::new(file.into(), from, cap))
                };
                vec![spool(stdout)?, spool(stderr)?]
            }
        })
    }
}

impl Ended {
    /// The end in a few words, as logs and summaries show it.
    pub(crate) fn describe(&self) -> String {
        match &self.end {
            End::Exited(126) => "Exited with code 126 (found, but cannot be executed)".to_owned(),
            End::Exited(127) => {
                "Exited with code 127 (command not found; is it in PATH?)".to_owned()
            }
            End::Exited(code) => format!("Exited with code {code}"),
            End::Signalled(signal) => format!("Killed by signal {}", signal_name(*signal)),
            End::TimedOut(limit) => format!("Timed out after {}s", limit.as_secs_f64()),
            End::Cancelled => "Cancelled before it ended".to_owned(),
            End::NotStarted(error) => format!("Could not be started: {error}"),
        }
    }
}

/// The number, and the name where people know it.
fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        6 => "SIGABRT",
        9 => "SIGKILL, perhaps out of memory",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        25 => "SIGXFSZ",
        _ => return signal.to_string(),
    };
    format!("{signal} ({name})")
}

/// Whether the other end of standard output is closed.
fn is_unread() -> bool {
    let stdout = rustix::stdio::stdout();
    let mut fds = [PollFd::new(&stdout, PollFlags::empty())];
    let closed = PollFlags::ERR | PollFlags::HUP;
    poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
        && fds.iter().any(|fd| fd.revents().intersects(closed))
}

/// No two runs have the same.
fn new_mark() -> String {
    let nanoseconds = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos());
    format!("{}-{nanoseconds:x}", std::process::id())
}

#[cfg(test)]
mod tests;

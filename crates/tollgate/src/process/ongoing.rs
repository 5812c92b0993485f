//! A child from its start to its end, polled without blocking.
//!
//! No thread is needed to wait for a child: a caller with several waits for all of them at once
//! ([`pause`]) and then looks at each ([`Children::look`]), which never blocks.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::BorrowedFd;
use rustix::process::{Pid, Signal};

use super::log::Spool;
use super::offspring::Leavings;
use super::{CHILD_MARK, Children, End, Ended, GRACE, TICK};

/// How often one looks at what a child left behind.
const SOON: Duration = Duration::from_millis(2);

/// A child that was started and not yet reaped.
#[derive(Debug)]
pub(crate) struct Ongoing {
    process: std::process::Child,
    pid: Pid,
    number: u64,
    begun: Instant,
    timeout: Option<Duration>,
    spools: Vec<Spool>,
    alarm: Alarm,
    stage: Stage,
    /// When to look again though nothing happened.
    next: Instant,
}

#[derive(Debug)]
enum Stage {
    Running,
    /// It was asked to end, then and for this reason.
    Told(Instant, End),
    /// The main process ended, and is a zombie until what it left behind is gone.
    Over(Option<End>, Leavings),
}

impl Ongoing {
    pub(super) fn new(
        process: std::process::Child,
        number: u64,
        begun: Instant,
        timeout: Option<Duration>,
        spools: Vec<Spool>,
    ) -> Self {
        let pid = Pid::from_child(&process);
        Self {
            process,
            pid,
            number,
            begun,
            timeout,
            spools,
            alarm: Alarm::of(pid),
            stage: Stage::Running,
            next: begun + TICK,
        }
    }

    /// When it must be looked at in any case.
    fn due(&self) -> Instant {
        let tick = match self.stage {
            Stage::Over(..) => return Instant::now() + SOON,
            Stage::Running => {
                let limit = self.timeout.and_then(|all| self.begun.checked_add(all));
                limit.map_or(self.next, |limit| limit.min(self.next))
            }
            Stage::Told(..) => self.next,
        };
        self.alarm.due(tick)
    }

    /// To the whole group. It may be gone by now, which is what was wanted.
    fn signal(&self, signal: Signal) {
        let _gone = rustix::process::kill_process_group(self.pid, signal);
    }

    /// The main process ended by itself or was made to.
    fn is_over(&mut self) {
        let stage = std::mem::replace(&mut self.stage, Stage::Running);
        self.stage = match stage {
            Stage::Running => Stage::Over(None, Leavings::default()),
            // Whatever it did after it was asked to end, it was late.
            Stage::Told(_, end) => Stage::Over(Some(end), Leavings::default()),
            over @ Stage::Over(..) => over,
        };
    }

    /// Tells it to end, or makes it, when its time has come.
    fn hurry(&mut self, is_cancelled: bool, late: Option<Duration>) {
        let end = match (&self.stage, late) {
            (Stage::Running, _) if is_cancelled => End::Cancelled,
            (Stage::Running, Some(all)) => End::TimedOut(all),
            (Stage::Told(when, _), _) if when.elapsed() >= GRACE => {
                return self.signal(Signal::KILL);
            }
            (Stage::Running | Stage::Told(..) | Stage::Over(..), _) => return,
        };
        self.signal(Signal::TERM);
        self.stage = Stage::Told(Instant::now(), end);
    }
}

/// Waits until one of the children, or one of the `others`, has something to say, or must be
/// looked at. Returns which of the others have.
pub(crate) fn pause<T>(children: &mut [(Ongoing, T)], others: &[BorrowedFd<'_>]) -> Vec<bool> {
    let due = children.iter().map(|(child, _)| child.due()).min();
    let limit = due.map(|due| due.saturating_duration_since(Instant::now()));
    let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
    let said = |fd: &PollFd<'_>| !fd.revents().is_empty();
    let mut fds: Vec<PollFd<'_>> = children
        .iter()
        .filter_map(|(child, _)| child.alarm.descriptor())
        .chain(others.iter().copied())
        .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
        .collect();
    let waited = poll(&mut fds, limit.as_ref()).is_ok_and(|ready| ready > 0);
    let mut said = fds.iter().map(|fd| waited && said(fd));
    let of_children: Vec<bool> = children
        .iter()
        .map(|(child, _)| child.alarm.descriptor().is_some() && said.next() == Some(true))
        .collect();
    let of_others = said.collect();
    for ((child, _), rang) in children.iter_mut().zip(of_children) {
        if rang || child.alarm.rings_by_itself(child.pid) {
            child.is_over();
            child.alarm = Alarm::Rang;
        }
    }
    of_others
}

impl Children {
    /// Looks at a child: whether it is gone, with all that it left behind, or late, or prints too
    /// much.
    pub(crate) fn look(&self, child: &mut Ongoing) -> Option<Ended> {
        if let Stage::Over(end, leavings) = &mut child.stage {
            let (pid, number) = (child.pid, child.number);
            let mark = || format!("{CHILD_MARK}={}.{number}", self.mark);
            if !self.offspring.sweep(leavings, pid, mark) {
                return None;
            }
            let (end, leaked) = (end.take(), leavings.killed());
            // While it is a zombie, its number cannot belong to another process.
            self.watchdog.ended(pid);
            let status = child.process.wait().ok();
            self.offspring.ended(pid);
            return Some(Ended {
                end: end.or_else(|| natural(status?)).unwrap_or(End::Cancelled),
                took: child.begun.elapsed(),
                leaked,
                kept: kept(&mut child.spools),
            });
        }
        let now = Instant::now();
        let elapsed = now.saturating_duration_since(child.begun);
        let late = child.timeout.filter(|all| elapsed >= *all);
        let is_late = late.is_some() && matches!(child.stage, Stage::Running);
        if now < child.next && !is_late {
            return None;
        }
        child.next = now + TICK;
        child.spools.iter_mut().for_each(Spool::trim);
        child.hurry(self.is_cancelled(), late);
        None
    }
}

/// Closes the output up. Says how much of it is kept.
fn kept(spools: &mut [Spool]) -> u64 {
    let kept = spools.iter_mut().map(Spool::close);
    kept.fold(0, u64::saturating_add)
}

/// How a process ended by itself.
fn natural(status: ExitStatus) -> Option<End> {
    let code = status.code().map(End::Exited);
    code.or_else(|| status.signal().map(End::Signalled))
}

/// What tells that a main process ended. Where the kernel does not, one has to ask it.
#[derive(Debug)]
enum Alarm {
    #[cfg(target_os = "linux")]
    Descriptor(rustix::fd::OwnedFd),
    Asking,
    Rang,
}

impl Alarm {
    #[cfg(target_os = "linux")]
    fn of(pid: Pid) -> Self {
        let flags = rustix::process::PidfdFlags::empty();
        rustix::process::pidfd_open(pid, flags).map_or(Self::Asking, Self::Descriptor)
    }

    #[cfg(not(target_os = "linux"))]
    fn of(_pid: Pid) -> Self {
        Self::Asking
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Descriptor(descriptor) => Some(rustix::fd::AsFd::as_fd(descriptor)),
            Self::Asking | Self::Rang => None,
        }
    }

    /// When to look, if there is something to look at then.
    fn due(&self, then: Instant) -> Instant {
        match self {
            #[cfg(target_os = "linux")]
            Self::Descriptor(_) => then,
            Self::Asking => then.min(Instant::now() + Duration::from_millis(5)),
            Self::Rang => then,
        }
    }

    fn rings_by_itself(&self, pid: Pid) -> bool {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        matches!(self, Self::Asking) && !matches!(waitid(WaitId::Pid(pid), options), Ok(None))
    }
}

//! What children leave behind.
//!
//! Tollgate is a subreaper: a process whose parent ended becomes its child, whatever group or
//! session it went to. So what a child left behind is in one short list of the kernel, and the
//! usual case, nothing, costs the reading of one small file.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

/// KILL is not instant; after this long something else is wrong.
const PATIENCE: Duration = Duration::from_secs(2);

/// What the main process left behind may take this long to end by itself: a `tee` behind a shell
/// still has something to write.
const LINGER: Duration = Duration::from_millis(200);

/// What is known of what one child left behind.
#[derive(Debug, Default)]
pub(super) struct Leavings {
    /// Since when there was something.
    since: Option<Instant>,
    killed: BTreeSet<i32>,
}

impl Leavings {
    /// How many processes had to be killed.
    pub(super) fn killed(&self) -> usize {
        self.killed.len()
    }
}

/// The living children that were started, to tell them from those that were left behind.
#[derive(Debug)]
pub(super) struct Offspring {
    known: Mutex<BTreeSet<i32>>,
    /// Whether those that were there before the first child are known.
    before: Once,
    /// The children of the main thread, where orphans come to; none where the kernel has no such list.
    list: Option<File>,
}

impl Offspring {
    /// From now on, what the children leave behind comes to this process.
    pub(super) fn adopt() -> Self {
        #[cfg(target_os = "linux")]
        {
            // Without it (an old kernel) groups are still killed, only `setsid` escapes.
            let _unsupported =
                rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        }
        let list = format!("/proc/self/task/{}/children", std::process::id());
        Self {
            known: Mutex::default(),
            before: Once::new(),
            list: File::open(list).ok(),
        }
    }

    /// To be called before a child is started. What is there before the first one (the watchdog,
    /// git, children of other runs) is not ours to judge.
    pub(super) fn starting(&self) {
        self.before.call_once(|| {
            let before = self.waifs().unwrap_or_default();
            self.lock().extend(before);
        });
    }

    pub(super) fn started(&self, pid: Pid) {
        self.lock().insert(pid.as_raw_nonzero().get());
    }

    pub(super) fn ended(&self, pid: Pid) {
        self.lock().remove(&pid.as_raw_nonzero().get());
    }

    /// Ends all that the child `leader`, itself a zombie, left behind, as far as that can be done
    /// at once. Says whether there is nothing left to do.
    pub(super) fn sweep(
        &self,
        leavings: &mut Leavings,
        leader: Pid,
        mark: impl FnOnce() -> String,
    ) -> bool {
        let Some(left) = self.left_by(leader, mark) else {
            // Nobody can tell what is left, so the group goes in any case.
            let _gone = rustix::process::kill_process_group(leader, Signal::KILL);
            return true;
        };
        if left.is_empty() {
            return true;
        }
        let since = leavings.since.get_or_insert_with(Instant::now).elapsed();
        if since > PATIENCE {
            return true;
        }
        if since >= LINGER {
            let _gone = rustix::process::kill_process_group(leader, Signal::KILL);
            for pid in &left {
                // A group of its own is its own children's too.
                let _none = rustix::process::kill_process_group(*pid, Signal::KILL);
                if rustix::process::kill_process(*pid, Signal::KILL).is_ok() {
                    leavings.killed.insert(pid.as_raw_nonzero().get());
                }
            }
        }
        for pid in left {
            reap(pid);
        }
        false
    }

    /// Ends all that is left: what cleared its environment and left its group.
    fn clear_strangers(&self) {
        // Without any child nothing is left behind.
        self.starting();
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let strangers = self.strangers().unwrap_or_default();
            if strangers.is_empty() {
                return;
            }
            for pid in strangers {
                let _gone = rustix::process::kill_process(pid, Signal::KILL);
                reap(pid);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// The processes that `leader` left behind: of its group, or with its mark.
    fn left_by(&self, leader: Pid, mark: impl FnOnce() -> String) -> Option<Vec<Pid>> {
        let mut strangers = self.strangers()?;
        if !strangers.is_empty() {
            let mark = mark();
            strangers.retain(|pid| {
                rustix::process::getpgid(Some(*pid)) == Ok(leader) || carries(*pid, &mark)
            });
        }
        Some(strangers)
    }

    /// Children of this process that it did not start.
    fn strangers(&self) -> Option<Vec<Pid>> {
        let known = self.lock();
        let strangers = self.waifs()?.into_iter().filter(|pid| !known.contains(pid));
        Some(strangers.filter_map(Pid::from_raw).collect())
    }

    /// The numbers in the kernel's list, as it is now.
    fn waifs(&self) -> Option<Vec<i32>> {
        let list = self.list.as_ref()?;
        let mut text = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let read = list.read_at(&mut buffer, text.len() as u64).ok()?;
            if read == 0 {
                break;
            }
            text.extend(buffer.iter().take(read));
        }
        let numbers = std::str::from_utf8(&text).ok()?.split_ascii_whitespace();
        Some(numbers.filter_map(|number| number.parse().ok()).collect())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeSet<i32>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Offspring {
    fn drop(&mut self) {
        self.clear_strangers();
    }
}

/// Whether a process has this `NAME=value` in its environment.
pub(super) fn carries(pid: Pid, mark: &str) -> bool {
    let path = format!("/proc/{}/environ", pid.as_raw_nonzero());
    std::fs::read(path).is_ok_and(|environ| {
        let mut variables = environ.split(|byte| *byte == 0);
        variables.any(|variable| variable == mark.as_bytes())
    })
}

fn reap(pid: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
    let _status = rustix::process::waitid(WaitId::Pid(pid), options);
}

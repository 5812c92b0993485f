//! A place to break things, in tests only.
//!
//! Every operation that changes the disk announces itself with [`step`] first. In the released
//! program that is nothing at all; in this crate's unit tests a `Plan` can kill the process or
//! fail the call at the n-th step, so that "killed between any two file operations" and "the
//! n-th call fails" are loops and not luck.

use std::io;

/// Announces the next operation on the disk.
#[cfg(not(test))]
#[expect(
    clippy::unnecessary_wraps,
    reason = "the tests' version of it can fail"
)]
#[inline]
pub(super) fn step(_operation: &'static str) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
pub(super) use testing::step;
#[cfg(test)]
pub(crate) use testing::{Plan, Strike, inject};

#[cfg(test)]
mod testing {
    use super::io;
    use std::cell::Cell;

    /// What happens at the chosen step.
    #[derive(Clone, Copy, Debug)]
    pub(crate) enum Strike {
        /// The process is killed as by `kill -9`.
        Kill,
        /// The operation fails once with this `errno`.
        Once(i32),
        /// This and every later operation fails with this `errno`.
        Forever(i32),
    }

    /// Which step is struck, and how.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Plan {
        /// Counted from 1.
        pub(crate) at: usize,
        /// What happens there.
        pub(crate) strike: Strike,
    }

    thread_local! {
        static PLAN: Cell<Option<Plan>> = const { Cell::new(None) };
        static STEPS: Cell<usize> = const { Cell::new(0) };
    }

    /// Sets the plan of this thread and gives back how many steps were taken since the last one.
    pub(crate) fn inject(plan: Option<Plan>) -> usize {
        PLAN.set(plan);
        STEPS.replace(0)
    }

    pub(crate) fn step(_operation: &'static str) -> io::Result<()> {
        let taken = STEPS.get() + 1;
        STEPS.set(taken);
        match PLAN.get() {
            Some(Plan {
                at,
                strike: Strike::Kill,
            }) if at == taken => {
                let me = rustix::process::getpid();
                rustix::process::kill_process(me, rustix::process::Signal::KILL)?;
                unreachable!("killed")
            }
            Some(Plan {
                at,
                strike: Strike::Once(errno),
            }) if at == taken => Err(io::Error::from_raw_os_error(errno)),
            Some(Plan {
                at,
                strike: Strike::Forever(errno),
            }) if at <= taken => Err(io::Error::from_raw_os_error(errno)),
            Some(_) | None => Ok(()),
        }
    }
}

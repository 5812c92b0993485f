//! Getting ready for children while something else is done: starting the watchdog takes a fifth of
//! what one small check takes, and the thread that starts a process waits for it.

use std::io;
use std::thread::JoinHandle;
use std::time::Instant;

use super::watch::Watchdog;
use super::{Children, new_mark};
use crate::trust::Consent;

/// A watchdog that is being started. Dropped without children, it is let go.
#[derive(Debug)]
pub(crate) struct Opening {
    mark: String,
    cut_off: Option<Instant>,
    thread: Option<JoinHandle<io::Result<Watchdog>>>,
}

impl Opening {
    /// Begins to prepare for children; see [`Children::open`].
    pub(crate) fn begin(_consent: &Consent, cut_off: Option<Instant>) -> Self {
        let mark = new_mark();
        let started = mark.clone();
        let thread = std::thread::Builder::new().spawn(move || Watchdog::start(&started));
        Self {
            mark,
            cut_off,
            thread: thread.ok(),
        }
    }

    /// Waits until children can be started.
    pub(crate) fn opened(mut self) -> io::Result<Children> {
        let watchdog = match self.thread.take().map(JoinHandle::join) {
            Some(Ok(watchdog)) => watchdog?,
            // Without a thread it is started now.
            None | Some(Err(_)) => Watchdog::start(&self.mark)?,
        };
        let mark = std::mem::take(&mut self.mark);
        Children::watched(watchdog, mark, self.cut_off)
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        if let Some(Ok(Ok(watchdog))) = self.thread.take().map(JoinHandle::join) {
            watchdog.dismiss();
            watchdog.wait();
        }
    }
}

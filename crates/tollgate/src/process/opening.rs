//! Getting ready for children while something else is done: starting the watchdog takes a fifth of
//! what one small check takes, and the thread that starts a process waits for it.

use std::io;
use std::thread::JoinHandle;
use std::time::Instant;

use super::Children;
use crate::trust::Consent;

/// Children for whom everything is being prepared.
#[derive(Debug)]
pub(crate) struct Opening {
    cut_off: Option<Instant>,
    thread: Option<JoinHandle<io::Result<Children>>>,
}

impl Opening {
    /// Begins to prepare, see [`Children::open`], when something else is done that is wanted
    /// sooner.
    pub(crate) fn begin(
        _consent: &Consent,
        cut_off: Option<Instant>,
        first: impl FnOnce() + Send + 'static,
    ) -> Self {
        let thread = std::thread::Builder::new().spawn(move || {
            first();
            Children::prepare(cut_off)
        });
        Self {
            cut_off,
            thread: thread.ok(),
        }
    }

    /// Waits until children can be started.
    pub(crate) fn opened(mut self) -> io::Result<Children> {
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(children)) => children,
            // Without a thread it is done now.
            None | Some(Err(_)) => Children::prepare(self.cut_off),
        }
    }
}

impl Drop for Opening {
    /// Nothing is left running for children that nobody wants.
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _unused = thread.join();
        }
    }
}

//! A look at the work tree that is taken while the configuration is still being read. It only
//! reads; what comes of it counts if the configuration turns out to be as expected.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};

use tollgate_core::project::Layout;

use super::config::Config;
use super::git::Git;
use super::plain::Plain;

/// A shorter index is of so few files that they are looked through sooner than anybody else has
/// begun.
const TINY: u64 = 512;

/// A longer one is of so many that nothing should wait for them.
const LONG: u64 = 8 << 10;

/// A look that somebody else takes.
#[derive(Debug)]
pub(crate) struct Ahead {
    /// Where the logs are thought to be, which are not looked at.
    logs: PathBuf,
    seen: Receiver<Option<Plain>>,
}

/// The look itself.
#[derive(Debug)]
pub(crate) struct Look {
    root: PathBuf,
    besides: PathBuf,
    seen: Sender<Option<Plain>>,
    is_long: bool,
}

impl Ahead {
    /// What will be seen, and what there is to do for it; none if it is not worth it.
    pub(crate) fn of(layout: &Layout) -> Option<(Self, Look)> {
        let root = layout.root().to_owned();
        let index = root.join(".git/index").metadata().ok()?.len();
        if index < TINY {
            return None;
        }
        let logs = root.join(layout.default_log_dir());
        let (send, receive) = channel();
        let look = Look {
            root,
            besides: logs.clone(),
            seen: send,
            is_long: index >= LONG,
        };
        let ahead = Self {
            logs,
            seen: receive,
        };
        Some((ahead, look))
    }

    /// What was seen: perhaps that git has to look. None if it does not count.
    #[expect(
        clippy::option_option,
        reason = "not to know is not to know that git has to"
    )]
    pub(super) fn seen(self, config: &Config) -> Option<Option<Plain>> {
        if self.logs != config.log_dir {
            return None;
        }
        self.seen.recv().ok()
    }
}

impl Look {
    /// Whether it takes so long that nothing else should wait for it.
    pub(crate) fn is_long(&self) -> bool {
        self.is_long
    }

    /// Takes it.
    pub(crate) fn take(self) {
        let plain = || {
            let git = Git::at(&self.root).ok()?;
            let besides = self.besides.strip_prefix(git.top()).ok();
            Plain::take(&git, besides)
        };
        let _nobody_wants_it = self.seen.send(plain());
    }
}

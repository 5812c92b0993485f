//! A look at the work tree that is taken while the configuration is still being read. It only
//! reads; what comes of it counts if the configuration turns out to be as expected.

use std::path::PathBuf;
use std::thread::JoinHandle;

use tollgate_core::project::Layout;

use super::config::Config;
use super::git::Git;
use super::plain::Plain;

/// A shorter index is of so few files that they are looked through sooner than a thread has begun.
const SHORT: u64 = 8 << 10;

/// A look that is being taken.
#[derive(Debug)]
pub(crate) struct Ahead {
    /// Where the logs are thought to be, which are not looked at.
    logs: PathBuf,
    thread: JoinHandle<Option<Plain>>,
}

impl Ahead {
    /// Begins to look, if that is worth a thread.
    pub(crate) fn begin(layout: &Layout) -> Option<Self> {
        let root = layout.root().to_owned();
        let index = root.join(".git/index").metadata().ok()?;
        if index.len() < SHORT {
            return None;
        }
        let logs = root.join(layout.default_log_dir());
        let besides = logs.clone();
        let look = move || {
            let git = Git::at(&root).ok()?;
            let besides = besides.strip_prefix(git.top()).ok();
            Plain::take(&git, besides)
        };
        let thread = std::thread::Builder::new().spawn(look).ok()?;
        Some(Self { logs, thread })
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
        self.thread.join().ok()
    }
}

//! The log directory: its lock, the numbers of runs, archives, and the debug log.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use tollgate_store::fs;
use tollgate_store::lock::{self, Acquired, Guard};
use tollgate_store::timestamp::iso;

use super::config::Config;

/// The lock's name, as the original has it.
pub(crate) const LOCK: &str = ".gauntlet-run.lock";

/// How the names of logs begin.
const LOGS: [&str; 3] = ["console.", "check_", "review_"];

/// The log directory of a project.
#[derive(Debug)]
pub(crate) struct Logs<'c> {
    config: &'c Config,
}

/// What came of trying to get the lock.
#[derive(Debug)]
pub(crate) enum Locking {
    /// It is ours.
    Held { guard: Guard, has_waited: bool },
    /// Another process has it: which process, if it says so.
    Busy(Option<String>),
}

impl<'c> Logs<'c> {
    pub(crate) fn of(config: &'c Config) -> Self {
        Self { config }
    }

    pub(crate) fn directory(&self) -> &'c Path {
        &self.config.log_dir
    }

    /// Makes sure of the directory. One of our making hides itself from git; one that was there
    /// is left as it is.
    pub(super) fn prepare(&self) -> io::Result<()> {
        if self.directory().is_dir() {
            Ok(())
        } else {
            fs::private_directory(self.directory())
        }
    }

    /// The lock's file.
    pub(crate) fn lock_file(&self) -> PathBuf {
        self.directory().join(LOCK)
    }

    /// Gets the lock, waiting for it up to `patience`. Its file says who has it; that it is there
    /// means nothing.
    pub(crate) fn lock(&self, patience: Duration) -> io::Result<Locking> {
        self.prepare()?;
        let path = self.lock_file();
        let acquire = |patience| {
            lock::acquire(&path, patience).map_err(|error| {
                if path.is_symlink() {
                    io::Error::other(format!("{LOCK} is a symbolic link; remove it"))
                } else {
                    error
                }
            })
        };
        let mut acquired = acquire(Duration::ZERO)?;
        let has_waited = matches!(acquired, Acquired::Busy) && !patience.is_zero();
        if has_waited {
            acquired = acquire(patience)?;
        }
        match acquired {
            Acquired::Held(guard) => {
                guard.file().set_len(0)?;
                guard
                    .file()
                    .write_all(std::process::id().to_string().as_bytes())?;
                Ok(Locking::Held { guard, has_waited })
            }
            Acquired::Busy => {
                let owner = std::fs::read_to_string(&path).ok();
                Ok(Locking::Busy(owner.filter(|pid| !pid.trim().is_empty())))
            }
        }
    }

    /// Names of the files in the directory that are logs of runs.
    fn names(&self) -> Vec<String> {
        let names = fs::names(self.directory()).unwrap_or_default();
        names
            .into_iter()
            .filter_map(|name| name.into_string().ok())
            .filter(|name| !name.starts_with('.') && is_log(name))
            .collect()
    }

    /// Whether gates left logs since the last archive.
    pub(crate) fn has_gate_logs(&self) -> bool {
        let names = self.names();
        names.iter().any(|name| !name.starts_with("console."))
    }

    /// How many runs left gate logs since the last archive, by the numbers in their names.
    pub(crate) fn runs_with_gates(&self) -> u64 {
        let mut names = self.names();
        names.retain(|name| !name.starts_with("console."));
        last_run(&names)
    }

    /// The number of the next run: no file has it yet.
    pub(crate) fn next_run(&self) -> u64 {
        1 + last_run(&self.names())
    }

    /// Creates a log that must not be there yet.
    pub(crate) fn create(&self, name: &str) -> io::Result<(PathBuf, File)> {
        let path = self.directory().join(name);
        let open = || {
            let mut options = File::options();
            options.read(true).append(true).create_new(true).open(&path)
        };
        let file = match open() {
            // A gate may remove the directory, as `git clean` does.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.prepare()?;
                open()?
            }
            opened => opened?,
        };
        Ok((path, file))
    }

    /// The path of a log as `Log:` lines say it.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let name = path.file_name().unwrap_or_default();
        self.config.log_dir_name.join(name).display().to_string()
    }

    /// Moves all logs to `previous/`, and older archives one further. Says how many there were.
    pub(crate) fn archive(&self) -> io::Result<usize> {
        if !self.directory().is_dir() {
            return Ok(0);
        }
        let mut logs = fs::names(self.directory())?;
        // The directory may belong to another program too.
        logs.retain(|name| is_log(&name.to_string_lossy()));
        let is_shown = |name: &OsString| name.to_str().is_some_and(|name| !name.starts_with('.'));
        if !logs.iter().any(is_shown) {
            return Ok(0);
        }
        let count = logs.iter().filter(|name| is_shown(name)).count();
        let generation = |number: u64| match number {
            0 => self.directory().join("previous"),
            number => self.directory().join(format!("previous.{number}")),
        };
        let keep = self.config.max_previous_logs;
        // Only up to the first gap: there are never as many generations as may be asked for.
        let held = (0..keep).take_while(|number| generation(*number).is_dir());
        let held = held.last().map_or(0, |last| last + 1);
        if held == keep {
            remove_directory(&generation(keep.saturating_sub(1)))?;
        }
        for number in (1..keep.min(held + 1)).rev() {
            fs::relocate(&generation(number - 1), &generation(number))?;
        }
        let target = generation(0);
        remove_directory(&target)?;
        if keep > 0 {
            std::fs::create_dir(&target)?;
            for name in logs {
                fs::relocate(&self.directory().join(&name), &target.join(&name))?;
            }
        } else {
            for name in logs {
                std::fs::remove_file(self.directory().join(name))?;
            }
        }
        Ok(count)
    }

    /// Where [`Self::archive`] puts a log; none if it keeps none.
    pub(crate) fn archived(&self, path: &Path) -> Option<PathBuf> {
        let kept = self.config.max_previous_logs > 0;
        let name = path.file_name().filter(|_| kept)?;
        Some(self.directory().join("previous").join(name))
    }

    /// A line in the debug log, if there is one. That it cannot be written stops nothing.
    pub(crate) fn debug(&self, now: Timestamp, line: &str) {
        let Some(limit) = self.config.debug_log else {
            return;
        };
        let path = self.directory().join(".debug.log");
        if self.prepare().is_ok() {
            if std::fs::metadata(&path).is_ok_and(|meta| meta.len() >= limit) {
                let _kept = fs::relocate(&path, &self.directory().join(".debug.log.1"));
            }
            let _best_effort = fs::append_line(&path, &format!("[{}] {line}", iso(now)));
        }
    }
}

/// Whether a file is a log of a run: `console.N.log`, `check_….N.log`, `review_….N.json`, or the
/// hidden copy of the latter.
fn is_log(name: &str) -> bool {
    let bare = name.strip_prefix('.').unwrap_or(name);
    LOGS.iter().any(|begin| bare.starts_with(begin)) && number(bare).is_some()
}

fn last_run(names: &[String]) -> u64 {
    let numbers = names.iter().filter_map(|name| number(name));
    numbers.max().unwrap_or(0)
}

/// N of `name.N.log`. Gates never run more often than a `u32` can count.
fn number(name: &str) -> Option<u64> {
    let (rest, end) = name.rsplit_once('.')?;
    let number = rest.rsplit('.').next()?.parse::<u32>().ok();
    number
        .filter(|_| matches!(end, "log" | "json"))
        .map(u64::from)
}

fn remove_directory(path: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

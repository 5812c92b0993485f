//! The specification's `hook-activity.log`: what the hooks did, for people and their scripts.
//!
//! The specification keeps its last 500 lines in the same file, so a log that has grown is rewritten.
//! Those who append do it under a lock, so that no line falls between the old file and the new one.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::json;

use tollgate_store::fs::{self, Appender, Durability};
use tollgate_store::journal::clean;
use tollgate_store::lock::{self, Acquired, HOOK_PATIENCE};
use tollgate_store::timestamp::iso;

/// How large the log grows before it is rotated.
const LIMIT: u64 = 1 << 20;

/// How many of its last lines a rotation keeps.
const KEPT: usize = 500;

/// The log of one project.
#[derive(Clone, Debug)]
pub struct ActivityLog {
    path: PathBuf,
    lock: PathBuf,
    limit: u64,
}

/// One line of the log; what is missing is written as `null`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Activity<'a> {
    /// The hook's specification name.
    pub hook: Option<&'a str>,
    /// What it did, for example `block`.
    pub event: Option<&'a str>,
    /// The phase it concerns.
    pub phase: Option<&'a str>,
    /// The sub-agent it concerns.
    pub agent: Option<&'a str>,
    /// Why.
    pub reason: Option<&'a str>,
}

impl ActivityLog {
    /// The log in the file `path`, whose lock lies in the project's private directory `local`.
    pub fn new(path: PathBuf, local: &Path) -> Self {
        Self {
            path,
            lock: local.join("activity.lock"),
            limit: LIMIT,
        }
    }

    /// Appends a line, without secrets.
    pub fn append(&self, now: Timestamp, activity: &Activity<'_>) -> io::Result<()> {
        let line = json!({
            "ts": iso(now),
            "hook": activity.hook.map(clean),
            "event": activity.event.map(clean),
            "phase": activity.phase.map(clean),
            "agent": activity.agent.map(clean),
            "reason": activity.reason.map(clean),
        })
        .to_string();
        // Who cannot have the lock in time writes all the same, and leaves the rotation to others.
        let held = lock::acquire(&self.lock, HOOK_PATIENCE).unwrap_or(Acquired::Busy);
        let log = Appender::open(&self.path)?;
        log.append(&line)?;
        match held {
            Acquired::Held(_lock) if log.size()? > self.limit => shorten(&log, &self.path),
            Acquired::Held(_) | Acquired::Busy => Ok(()),
        }
    }
}

/// Puts a file with the last lines in place of the log.
fn shorten(log: &Appender, path: &Path) -> io::Result<()> {
    let grown = log.read_from(0)?;
    let lines: Vec<_> = grown
        .split_inclusive(|b| *b == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
        .collect();
    let last = lines
        .get(lines.len().saturating_sub(KEPT)..)
        .unwrap_or_default();
    Ok(fs::replace(path, &last.concat(), Durability::Lazy)?)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests plant files")]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt as _;

    fn now() -> Timestamp {
        "2026-02-08T20:00:00Z".parse().unwrap()
    }

    fn log(directory: &Path) -> ActivityLog {
        ActivityLog::new(
            directory.join("hook-activity.log"),
            &directory.join("local"),
        )
    }

    #[test]
    fn a_line_is_as_the_specification_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let log = log(dir.path());
        let path = &log.path;
        let activity = Activity {
            hook: Some("branch-guard"),
            event: Some("block"),
            reason: Some("NPM_TOKEN=abc npm publish"),
            ..Activity::default()
        };
        log.append(now(), &activity).unwrap();
        assert_eq!(
            std::fs::read_to_string(path).unwrap(),
            "{\"ts\":\"2026-02-08T20:00:00.000Z\",\"hook\":\"branch-guard\",\"event\":\"block\",\
             \"phase\":null,\"agent\":null,\"reason\":\"NPM_TOKEN=[redacted] npm publish\"}\n"
        );
        assert_eq!(path.metadata().unwrap().mode() & 0o7777, 0o600);
    }

    #[test]
    fn a_grown_log_keeps_its_last_500_lines_that_are_not_blank() {
        let dir = tempfile::tempdir().unwrap();
        let log = log(dir.path());
        let path = &log.path;
        let old: Vec<_> = (0..2000)
            .map(|n| format!("{n} {}\n\n", "x".repeat(600)))
            .collect();
        std::fs::write(path, old.concat()).unwrap();
        log.append(now(), &Activity::default()).unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 500);
        assert!(lines[0].starts_with("1501 ") && lines[499].starts_with("{\"ts\""));
        // The log, and the directory of its lock.
        assert_eq!(dir.path().read_dir().unwrap().count(), 2);
    }

    #[test]
    fn no_line_is_lost_while_many_append_and_rotate() {
        let dir = tempfile::tempdir().unwrap();
        // Rotates about every 40 lines, and keeps far more than that: so nothing may be missing.
        let log = ActivityLog {
            limit: 4000,
            ..log(dir.path())
        };
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let log = log.clone();
                scope.spawn(move || {
                    for n in 0..100 {
                        let reason = format!("{thread}-{n}");
                        let activity = Activity {
                            reason: Some(&reason),
                            ..Activity::default()
                        };
                        log.append(now(), &activity).unwrap();
                    }
                });
            }
        });
        let text = std::fs::read_to_string(&log.path).unwrap();
        let mut reasons: Vec<_> = text
            .lines()
            .map(|line| {
                let line: serde_json::Value = serde_json::from_str(line).unwrap();
                line["reason"].as_str().unwrap().to_owned()
            })
            .collect();
        reasons.sort();
        reasons.dedup();
        assert_eq!(text.lines().count(), 400);
        assert_eq!(reasons.len(), 400);
    }

    #[test]
    fn a_line_is_written_without_the_lock_too() {
        let dir = tempfile::tempdir().unwrap();
        let log = log(dir.path());
        let held = lock::acquire(&log.lock, HOOK_PATIENCE).unwrap();
        let log = ActivityLog { limit: 1, ..log };
        log.append(now(), &Activity::default()).unwrap();
        log.append(now(), &Activity::default()).unwrap();
        drop(held);
        assert_eq!(
            std::fs::read_to_string(&log.path).unwrap().lines().count(),
            2
        );
    }
}

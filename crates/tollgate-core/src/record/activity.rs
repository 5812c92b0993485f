//! The specification's `hook-activity.log`: what the hooks did, for people and their scripts.
//!
//! It is rewritten, not renamed, when it has grown: the specification keeps the last 500 lines in
//! the same file. A line appended meanwhile must not fall between the old file and the new one.
//! So those who append hold a shared lock on the file and the one who rotates an exclusive one;
//! and because not everybody locks, it looks once more for late lines after the rename.

use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use jiff::Timestamp;
use rustix::fs::FlockOperation;
use serde_json::json;

use tollgate_store::fs::{self, Appender, Durability};
use tollgate_store::journal::clean;
use tollgate_store::lock::HOOK_PATIENCE;
use tollgate_store::timestamp::iso;

/// How large the log grows before it is rotated.
const LIMIT: u64 = 1 << 20;

/// How many of its last lines a rotation keeps.
const KEPT: usize = 500;

/// The log of one project.
#[derive(Clone, Debug)]
pub struct ActivityLog {
    path: PathBuf,
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
    /// The log at `<root>/.isdlc/hook-activity.log`, where its directory exists.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
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
        let (log, is_locked) = self.open()?;
        log.append(&line)?;
        if !is_locked && !log.is_at(&self.path) {
            // Another process was rotating all the time and may have looked for late lines before this
            // one: twice is better than never.
            return Appender::open(&self.path)?.append(&line);
        }
        if log.size()? > self.limit {
            rotate(&log, &self.path)?;
        }
        Ok(())
    }

    /// The log, with a shared lock on it if that can be had in time, and whether it could. Without
    /// it the line is written all the same: the one who rotates looks for late lines.
    fn open(&self) -> io::Result<(Appender, bool)> {
        let mut waited = Duration::ZERO;
        loop {
            let log = Appender::open(&self.path)?;
            let operation = FlockOperation::NonBlockingLockShared;
            let is_locked = rustix::fs::flock(log.file(), operation).is_ok();
            let is_ours = is_locked && log.is_at(&self.path);
            if is_ours || waited >= HOOK_PATIENCE {
                return Ok((log, is_ours));
            }
            if !is_locked {
                let nap = Duration::from_millis(1);
                sleep(nap);
                waited += nap;
            }
        }
    }
}

/// Keeps the last lines. Does nothing if another process is appending or rotating: there will be
/// another line.
fn rotate(log: &Appender, path: &Path) -> io::Result<()> {
    let operation = FlockOperation::NonBlockingLockExclusive;
    if rustix::fs::flock(log.file(), operation).is_err() || !log.is_at(path) {
        return Ok(());
    }
    let carried = shorten(log, path)?;
    carry_late_lines(log, path, carried)
}

/// Puts a file with the last lines in place of the log. Says how much of the old one was read.
fn shorten(log: &Appender, path: &Path) -> io::Result<u64> {
    let grown = log.read_from(0)?;
    let lines: Vec<_> = grown
        .split_inclusive(|b| *b == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
        .collect();
    let last = lines
        .get(lines.len().saturating_sub(KEPT)..)
        .unwrap_or_default();
    fs::replace(path, &last.concat(), Durability::Lazy)?;
    Ok(grown.len() as u64)
}

/// Appends to the new log what came to the old one after it was read.
fn carry_late_lines(log: &Appender, path: &Path, carried: u64) -> io::Result<()> {
    let late = log.read_from(carried)?;
    if late.is_empty() {
        return Ok(());
    }
    Appender::open(path)?.append(String::from_utf8_lossy(&late).trim_end())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests plant files")]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt as _;

    fn now() -> Timestamp {
        "2026-02-08T20:00:00Z".parse().unwrap()
    }

    #[test]
    fn a_line_is_as_the_specification_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hook-activity.log");
        let log = ActivityLog::new(&path);
        let activity = Activity {
            hook: Some("branch-guard"),
            event: Some("block"),
            reason: Some("NPM_TOKEN=abc npm publish"),
            ..Activity::default()
        };
        log.append(now(), &activity).unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "{\"ts\":\"2026-02-08T20:00:00.000Z\",\"hook\":\"branch-guard\",\"event\":\"block\",\
             \"phase\":null,\"agent\":null,\"reason\":\"NPM_TOKEN=[redacted] npm publish\"}\n"
        );
        assert_eq!(path.metadata().unwrap().mode() & 0o7777, 0o600);
    }

    #[test]
    fn a_grown_log_keeps_its_last_500_lines_that_are_not_blank() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hook-activity.log");
        let old: Vec<_> = (0..2000)
            .map(|n| format!("{n} {}\n\n", "x".repeat(600)))
            .collect();
        std::fs::write(&path, old.concat()).unwrap();
        ActivityLog::new(&path)
            .append(now(), &Activity::default())
            .unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 500);
        assert!(lines[0].starts_with("1501 ") && lines[499].starts_with("{\"ts\""));
        assert_eq!(dir.path().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn no_line_is_lost_while_many_append_and_rotate() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hook-activity.log");
        // Rotates about every 40 lines, and keeps far more than that: so nothing may be missing.
        let log = ActivityLog {
            limit: 4000,
            ..ActivityLog::new(&path)
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
        let text = std::fs::read_to_string(&path).unwrap();
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
    fn a_line_written_while_somebody_rotates_for_ever_is_there_at_least_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let rotating = Appender::open(&path).unwrap();
        rustix::fs::flock(rotating.file(), FlockOperation::NonBlockingLockExclusive).unwrap();
        let log = ActivityLog::new(&path);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| log.append(now(), &Activity::default()));
            // The stopped one goes on at any moment of the writer's.
            shorten(&rotating, &path).unwrap();
            carry_late_lines(&rotating, &path, 0).unwrap();
            writer.join().unwrap().unwrap();
        });
        assert!(!std::fs::read_to_string(&path).unwrap().is_empty());
    }

    #[test]
    fn a_late_line_of_somebody_who_does_not_lock_is_carried_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let log = Appender::open(&path).unwrap();
        let stranger = Appender::open(&path).unwrap();
        log.append("early").unwrap();
        let carried = shorten(&log, &path).unwrap();
        stranger.append("late").unwrap();
        carry_late_lines(&log, &path, carried).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "early\nlate\n");
    }
}

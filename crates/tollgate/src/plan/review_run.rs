//! The record of a review that was started, so that it is not paid for twice.
//!
//! Written before the reviewer starts and removed when its verdict is in the state. A process that finds
//! one follows a process that was killed: if the reviewer had ended well by then, its
//! verdict is taken over; otherwise the review is made again.
//!
//! A lock goes with it: one review of a plan at a time.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tollgate_store::fs::{self, Durability, ReadFault};
use tollgate_store::lock::{self, Acquired, Guard};

use super::home::Plan;
use super::reviewer::{self, Job, ReviewAnswer};
use crate::agents::claude::envelope;
use crate::hash::digest;

/// A process that only reads takes less; one that reviews does not.
const PATIENCE: Duration = Duration::from_millis(250);

/// The most that is read of a reviewer's answer.
const OUTPUT: u64 = 8 << 20;

/// The right to review a plan.
#[derive(Debug)]
pub(crate) struct ReviewRun<'a> {
    plan: &'a Plan,
    _lock: Guard,
}

/// What a review's file is recognised by: a new or rewritten file is another one.
type Seen = Option<[i64; 5]>;

/// The record.
#[derive(Serialize, Deserialize)]
struct Started {
    /// Which review it is, as a digest.
    job: String,
    /// What was in the place of its files.
    seen: Vec<Seen>,
}

impl<'a> ReviewRun<'a> {
    /// Begins. None while another process reviews this plan.
    pub(crate) fn begin(plan: &'a Plan) -> std::io::Result<Option<Self>> {
        match lock::acquire(&plan.local().join("review.lock"), PATIENCE)? {
            Acquired::Held(lock) => Ok(Some(Self { plan, _lock: lock })),
            Acquired::Busy => Ok(None),
        }
    }

    fn record(&self) -> PathBuf {
        self.plan.local().join("review.json")
    }

    fn output(&self) -> PathBuf {
        self.plan.local().join("review.out")
    }

    /// The reviewer's complaints: beside the plan, as the specification has it.
    pub(crate) fn log(&self, iteration: u64) -> PathBuf {
        self.plan.path(&format!(".review-{iteration}.log"))
    }

    /// What keeps the review from its place. Found before anybody pays for it: a link would lead
    /// the reviewer elsewhere, and a directory makes every review one that was not written.
    pub(crate) fn in_the_way(&self, job: &Job) -> Option<String> {
        let name = job.files().into_iter().next()?;
        match fs::read_own(&self.plan.path(&name), OUTPUT) {
            Err(fault @ ReadFault::NotRegular(_)) => {
                Some(format!("{name} is in the way ({fault}); remove it"))
            }
            Ok(_) | Err(ReadFault::TooLarge { .. } | ReadFault::Unreadable(_)) => None,
        }
    }

    /// Writes down that this review is started, and gives the files its output goes to.
    pub(crate) fn start(&self, job: &Job) -> std::io::Result<(File, File)> {
        let files = job.files();
        let seen = files.iter().map(|name| seen(&self.plan.path(name)));
        let record = serde_json::to_vec(&Started {
            job: self.key(job),
            seen: seen.collect(),
        })?;
        // The old output first: a record must never go with another review's verdict.
        let stdout = create(&self.output())?;
        fs::replace(&self.record(), &record, Durability::Lazy).map_err(std::io::Error::other)?;
        let stderr = create(&self.log(job.iteration))?;
        Ok((stdout, stderr))
    }

    /// What the reviewer printed.
    pub(crate) fn printed(&self) -> String {
        let contents = fs::read_own(&self.output(), OUTPUT).ok().flatten();
        let bytes = contents.map(|contents| contents.bytes).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The file that the review went to, by whichever of its names: new or rewritten since the
    /// start, and not empty.
    pub(crate) fn written(&self, job: &Job) -> Option<String> {
        let before = self.before(job)?;
        let names = job.files();
        let mut pairs = names.into_iter().zip(before);
        let found = pairs.find(|(name, before)| {
            let now = seen(&self.plan.path(name));
            now.is_some_and(|[_, _, size, _, _]| size > 0) && now != *before
        });
        found.map(|(name, _)| name)
    }

    /// The verdict of the same review, made by a process that was killed before it was written
    /// down. Only a complete answer counts: a reviewer killed with its master printed none.
    pub(crate) fn left_behind(&self, job: &Job) -> Option<(String, ReviewAnswer)> {
        let file = self.written(job)?;
        let printed = self.printed();
        envelope(&printed)?;
        let answer = reviewer::answer(&printed).ok()?;
        Some((file, answer))
    }

    fn before(&self, job: &Job) -> Option<Vec<Seen>> {
        let contents = fs::read_own(&self.record(), 1 << 20).ok()??;
        let started: Started = serde_json::from_slice(&contents.bytes).ok()?;
        (started.job == self.key(job)).then_some(started.seen)
    }

    /// The verdict is written down, or there is none: the record has served.
    pub(crate) fn end(&self) {
        // What stays behind names a review that is over and is not looked at again.
        let _left = fs::remove(&self.record());
        let _left = fs::remove(&self.output());
    }

    /// Removes the complaints of a reviewer that did its work.
    pub(crate) fn forget_log(&self, job: &Job) {
        let _left = fs::remove(&self.log(job.iteration));
    }

    fn key(&self, job: &Job) -> String {
        let task = job.task.as_ref().map(ToString::to_string);
        digest((self.plan.id(), job.review.as_str(), task, job.iteration))
    }
}

/// The plan went another way: a verdict that was not recorded is of no use any more.
pub(crate) fn forget(plan: &Plan) {
    // Usually there is none.
    let _none = fs::remove(&plan.local().join("review.json"));
}

/// Whether a finished review of this plan waits to be taken over.
pub(crate) fn is_left_behind(plan: &Plan, job: &Job) -> bool {
    if !plan.local().join("review.json").exists() {
        return false;
    }
    let run = ReviewRun::begin(plan);
    run.is_ok_and(|run| run.is_some_and(|run| run.left_behind(job).is_some()))
}

fn seen(path: &Path) -> Seen {
    let meta = path
        .symlink_metadata()
        .ok()
        .filter(std::fs::Metadata::is_file)?;
    let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    Some([
        number(meta.dev()),
        number(meta.ino()),
        number(meta.size()),
        meta.mtime(),
        meta.mtime_nsec(),
    ])
}

/// An empty file to write to and read from. A link in its place is removed, not followed.
fn create(path: &Path) -> std::io::Result<File> {
    if path.symlink_metadata().is_ok() {
        fs::remove(path)?;
    }
    OpenOptions::new()
        .read(true)
        .append(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

//! The lines of the journal about one write of the state: one for each change in it, with what was
//! there under the lock, what is there now, and what it came of.
//!
//! A write carries more than one change when others waited for the lock. Each has its own line,
//! all with the same version, in the order in which they were made.

use std::io;
use std::path::PathBuf;

use jiff::Timestamp;
use serde_json::Value;

use crate::blobs::Blobs;
use crate::document::Document;
use crate::journal::{Entry, Journal, Verdict};
use crate::outcome::{Late, Updated, Written};
use crate::patch;
use crate::timestamp::iso;

/// Writes the history of one project's state.
#[derive(Clone, Debug)]
pub struct History<'a> {
    local: PathBuf,
    /// The project of a monorepo.
    project: Option<&'a str>,
    now: Timestamp,
}

impl<'a> History<'a> {
    /// The history in a project's private directory.
    pub fn new(local: PathBuf, project: Option<&'a str>, now: Timestamp) -> Self {
        Self {
            local,
            project,
            now,
        }
    }

    /// Writes the lines about an update: those of the changes that waited, then the own one, which
    /// is `own` with version and patch.
    pub fn write(&self, updated: &Updated, own: Option<&Entry<'_>>) -> io::Result<()> {
        if updated.outcome == Written::Unchanged {
            return Ok(());
        }
        let journal = Journal::new(self.local.clone());
        let values = Blobs::values(&self.local);
        for late in &updated.late {
            let patch = patch::of(&late.steps, &values);
            self.late(&journal, late, updated.version, &patch)?;
        }
        let Some(entry) = own else {
            return Ok(());
        };
        let patch = patch::of(&updated.steps, &values);
        journal.append(&Entry {
            project: self.project,
            version: Some(updated.version),
            patch: Some(&patch).filter(|_| !updated.steps.is_empty()),
            ..*entry
        })
    }

    fn late(&self, journal: &Journal, late: &Late, version: u64, patch: &Value) -> io::Result<()> {
        let came = late
            .name
            .split('-')
            .next()
            .and_then(|nanos| nanos.parse().ok());
        let came = came.and_then(|nanos| Timestamp::from_nanosecond(nanos).ok());
        let came = came.map_or_else(String::new, |came| format!(" of {}", iso(came)));
        let reason = format!("applied late: another process held the lock at the time{came}");
        let cause = &late.cause;
        journal.append(&Entry {
            session: cause.session.as_deref(),
            call: cause.call.as_deref(),
            event: cause.event.as_deref(),
            tool: cause.tool.as_deref(),
            reason: Some(&reason),
            project: self.project,
            version: Some(version),
            patch: Some(patch),
            ..Entry::new(self.now, Verdict::Record)
        })
    }
}

/// What turned one text into another; one that is no document counts as an empty one.
pub fn compared(before: &[u8], after: &[u8], values: &Blobs) -> Value {
    if before == after {
        return Value::Array(Vec::new());
    }
    let read = |text: &[u8]| Document::parse(text).unwrap_or_default();
    patch::of(&patch::between(&read(before), &read(after)), values)
}

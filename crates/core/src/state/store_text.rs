//! The short way of an update: edits made in the text of the state, on what the caller has read
//! already if nobody touched it since.

use std::borrow::Cow;

use super::super::edit::Edit;
use super::super::lock::Guard;
use super::super::record::{Record, Seen, digest};
use super::super::splice::Spliced;
use super::super::version::version_of;
use super::{
    Attempt, Found, STATE_CAP, Stage, Store, StoreError, Updated, Version, Written, strange,
};
use crate::fs::{self, Contents, Durability, Identity, Mark};

/// The state file as somebody read it a moment ago, so that it need not be read again if nobody
/// touched it since.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// Its text.
    pub text: &'a str,
    /// Which file it was.
    pub identity: Identity,
    /// What tells whether it is still the same.
    pub mark: Mark,
}

impl Store {
    /// The short way of edits: made in the text itself. `None` if they must go the long way.
    pub(super) fn attempt_in_text(
        &self,
        guard: &Guard,
        stage: Stage,
        durability: Durability,
        edits: &[Edit],
        known: Option<Known<'_>>,
    ) -> Result<Option<Attempt>, StoreError> {
        if !self.spool.names().is_ok_and(|names| names.is_empty()) {
            return Ok(None);
        }
        let Some((bytes, identity, mark)) = self.read_or(known) else {
            return Ok(None);
        };
        let Some(mut spliced) = std::str::from_utf8(&bytes).ok().and_then(Spliced::cut) else {
            return Ok(None);
        };
        let seen = Seen {
            identity,
            version: version_of(spliced.get("state_version")),
            digest: digest(&bytes),
        };
        if spliced.apply(edits).is_none() {
            return Ok(None);
        }
        let version = (seen.version)
            .max(version_of(spliced.get("state_version")))
            .saturating_add(1);
        let counted = [Edit::set(&["state_version"], version)];
        if spliced.is_changed()
            && self.version == Version::Counted
            && spliced.apply(&counted).is_none()
        {
            return Ok(None);
        }
        let record = Record::read(guard.file());
        let mut updated = Updated {
            version: seen.version,
            outcome: Written::Unchanged,
            before: Vec::new(),
            after: String::new(),
            late: Vec::new(),
            refused: Vec::new(),
            foreign: strange(record.as_ref(), &seen),
        };
        let Some(text) = spliced.changed() else {
            return Ok(Some(Attempt::Done(updated)));
        };
        if text.len() as u64 > STATE_CAP {
            return Ok(None);
        }
        updated.version = version;
        updated.outcome = Written::Yes;
        let found = Found { bytes, seen, mark };
        let mut attempt =
            self.write(guard, stage, Some(&found), &text, updated, &[], durability)?;
        if let Attempt::Done(updated) = &mut attempt {
            updated.before = found.bytes.into_owned();
        }
        Ok(Some(attempt.having_written(text)))
    }

    /// The state file's content: what is known of it, if that still holds.
    fn read_or<'k>(
        &self,
        known: Option<Known<'k>>,
    ) -> Option<(Cow<'k, [u8]>, Identity, Option<Mark>)> {
        if let Some(Known {
            text,
            identity,
            mark,
        }) = known
            && mark.is_on(&self.state)
        {
            return Some((Cow::Borrowed(text.as_bytes()), identity, Some(mark)));
        }
        let Contents {
            bytes,
            identity,
            mark,
        } = fs::read_own(&self.state, STATE_CAP).ok()??;
        Some((Cow::Owned(bytes), identity, mark))
    }
}

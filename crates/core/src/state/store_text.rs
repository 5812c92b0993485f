//! The short way of an update: edits made in the text of the state, on what the caller has read
//! already if nobody touched it since.

use std::borrow::Cow;

use super::super::edit::Edit;
use super::super::lock::Guard;
use super::super::record::{Record, Seen, digest};
use super::super::splice::Spliced;
use super::super::version::version_of;
use super::{
    Attempt, Found, New, STATE_CAP, Stage, Store, StoreError, Updated, Version, Written, strange,
};
use crate::fs::{self, Contents, Durability, Identity, Mark, Mould};
use crate::json::Object;

/// The state file as somebody read it a moment ago, so that it need not be read again if nobody
/// touched it since.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// Its text.
    pub text: &'a str,
    /// Which file it was.
    pub identity: Identity,
    /// What tells whether it is still the same; without it, only its content does.
    pub mark: Option<Mark>,
    /// The text cut into its members, if it was.
    pub root: Option<&'a Object<'a>>,
}

impl Store {
    /// The short way of edits: made in the text itself. `None` if they must go the long way.
    ///
    /// What is known counts until the last look before the rename, which the new file would not
    /// survive if it were wrong: nothing is read again in between.
    pub(super) fn attempt_in_text<'k>(
        &self,
        guard: &Guard,
        stage: Stage,
        durability: Durability,
        edits: &[Edit],
        known: Option<Known<'k>>,
    ) -> Result<Option<Attempt<'k>>, StoreError> {
        let Some(Content {
            text,
            identity,
            mark,
            mould,
        }) = self.read_or(known)
        else {
            return Ok(None);
        };
        let root = known
            .and_then(|known| known.root)
            .filter(|_| matches!(text, Cow::Borrowed(_)));
        let Some(mut spliced) = Spliced::cut(&text, root) else {
            return Ok(None);
        };
        let seen = Seen {
            identity,
            version: version_of(spliced.get("state_version")),
            digest: digest(text.as_bytes()),
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
        let last = Record::read(guard.file());
        let mut updated = Updated {
            version: seen.version,
            outcome: Written::Unchanged,
            before: Cow::default(),
            after: String::new(),
            late: Vec::new(),
            refused: Vec::new(),
            foreign: strange(last.as_ref(), &seen),
        };
        let changed = spliced.changed();
        let found = Found {
            bytes: into_bytes(text),
            seen,
            mark,
            mould,
        };
        let Some(text) = changed else {
            let holds = self.is_still(Some(&found));
            return Ok(Some(if holds {
                Attempt::Done(updated)
            } else {
                Attempt::Conflict
            }));
        };
        if text.len() as u64 > STATE_CAP {
            return Ok(None);
        }
        updated.version = version;
        updated.outcome = Written::Yes;
        let new = New {
            text: &text,
            version,
            durability,
            found: Some(&found),
            last,
            made: &[],
        };
        let mut attempt = self.write(guard, stage, new, updated)?;
        if let Attempt::Done(updated) = &mut attempt {
            updated.before = found.bytes;
        }
        Ok(Some(attempt.having_written(text)))
    }

    /// The state file's content: what is known of it, unless another file is there by now.
    fn read_or<'k>(&self, known: Option<Known<'k>>) -> Option<Content<'k>> {
        if let Some(Known {
            text,
            identity,
            mark,
            root: _,
        }) = known
            && let Ok(metadata) = self.state.symlink_metadata()
            && Identity::of(&metadata) == identity
        {
            return Some(Content {
                text: Cow::Borrowed(text),
                identity,
                mark,
                mould: Some(Mould::from(&metadata)),
            });
        }
        let Contents {
            bytes,
            identity,
            mark,
        } = fs::read_own(&self.state, STATE_CAP).ok()??;
        Some(Content {
            text: Cow::Owned(String::from_utf8(bytes).ok()?),
            identity,
            mark,
            mould: None,
        })
    }
}

/// The state file's text, and which file it is in.
struct Content<'k> {
    text: Cow<'k, str>,
    identity: Identity,
    mark: Option<Mark>,
    mould: Option<Mould>,
}

fn into_bytes(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

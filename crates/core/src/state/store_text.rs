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
use crate::fs::{self, Contents, Durability, Identity, Mark, Mould, Pieces};
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
        let Some((text, file)) = self.read_or(known) else {
            return Ok(None);
        };
        Ok(match text {
            Cow::Borrowed(text) => {
                let root = known.and_then(|known| known.root);
                let content = Content { text, root, file };
                let made = self.splice(guard, stage, durability, edits, content)?;
                made.map(|(attempt, after)| with_texts(attempt, text.as_bytes().into(), after))
            }
            Cow::Owned(text) => {
                let content = Content {
                    text: &text,
                    root: None,
                    file,
                };
                let made = self.splice(guard, stage, durability, edits, content)?;
                // What was read here is handed on whole, and cannot be borrowed from meanwhile.
                let made = made.map(|(attempt, after)| (attempt, after.into_owned()));
                made.map(|(attempt, after)| with_texts(attempt, text.into_bytes().into(), after))
            }
        })
    }

    /// Makes edits in a text, and writes what comes of it.
    fn splice<'t>(
        &self,
        guard: &Guard,
        stage: Stage,
        durability: Durability,
        edits: &[Edit],
        Content { text, root, file }: Content<'t>,
    ) -> Result<Option<(Attempt<'static>, Pieces<'t>)>, StoreError> {
        let FoundFile {
            identity,
            mark,
            mould,
        } = file;
        let Some(mut spliced) = Spliced::cut(text, root) else {
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
            after: Pieces::default(),
            late: Vec::new(),
            refused: Vec::new(),
            foreign: strange(last.as_ref(), &seen),
        };
        let is_changed = spliced.is_changed();
        let changed = spliced.changed();
        if is_changed != changed.is_some() {
            return Ok(None);
        }
        let found = Found {
            bytes: Cow::Borrowed(text.as_bytes()),
            seen,
            mark,
            mould,
        };
        let Some(text) = changed else {
            let holds = self.is_still(Some(&found));
            let attempt = if holds {
                Attempt::Done(updated)
            } else {
                Attempt::Conflict
            };
            return Ok(Some((attempt, Pieces::default())));
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
        let attempt = self.write(guard, stage, new, updated)?;
        Ok(Some((attempt, text)))
    }

    /// The state file's content: what is known of it, unless another file is there by now.
    fn read_or<'k>(&self, known: Option<Known<'k>>) -> Option<(Cow<'k, str>, FoundFile)> {
        if let Some(Known {
            text,
            identity,
            mark,
            root: _,
        }) = known
            && let Ok(metadata) = self.state.symlink_metadata()
            && Identity::of(&metadata) == identity
        {
            let file = FoundFile {
                identity,
                mark,
                mould: Some(Mould::from(&metadata)),
            };
            return Some((Cow::Borrowed(text), file));
        }
        let Contents {
            bytes,
            identity,
            mark,
        } = fs::read_own(&self.state, STATE_CAP).ok()??;
        let file = FoundFile {
            identity,
            mark,
            mould: None,
        };
        Some((Cow::Owned(String::from_utf8(bytes).ok()?), file))
    }
}

/// The state file's text, cut already or not, and which file it is in.
struct Content<'t> {
    text: &'t str,
    root: Option<&'t Object<'t>>,
    file: FoundFile,
}

/// The file that a text was read from.
struct FoundFile {
    identity: Identity,
    mark: Option<Mark>,
    mould: Option<Mould>,
}

/// An attempt with the texts before and after it, if it wrote.
fn with_texts<'t>(
    mut attempt: Attempt<'t>,
    before: Cow<'t, [u8]>,
    after: Pieces<'t>,
) -> Attempt<'t> {
    if let Attempt::Done(updated) = &mut attempt
        && updated.outcome == Written::Yes
    {
        updated.before = before;
        updated.after = after;
    }
    attempt
}

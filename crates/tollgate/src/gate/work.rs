//! The work that a run is about, and what a run says about it in the end.

use super::changes::Pair;
use super::index::Moved;
use super::snapshot::Taken;
use crate::git::Git;

/// What changed, and against what.
#[derive(Debug)]
pub(super) struct Work {
    /// Before the index that git may still be reading.
    pub(super) pair: Pair,
    pub(super) changed: Vec<String>,
    /// Whether it is compared with a tree that was verified, not with the base.
    pub(super) narrowed: bool,
    taken: Taken,
}

/// The tree that gates were seen on.
#[derive(Debug)]
pub(super) enum Evidence {
    /// It was the same before and after.
    Seen(String),
    /// Its files were changed meanwhile, by a gate or by somebody else.
    Moved(String),
    /// git could not write it.
    Unwritten(String),
}

impl Work {
    pub(super) fn new(pair: Pair, changed: Vec<String>, taken: Taken, narrowed: bool) -> Self {
        Self {
            pair,
            changed,
            narrowed,
            taken,
        }
    }

    /// What the gates, which have ended, were seen on.
    pub(super) fn evidence(&self, git: &Git) -> Evidence {
        match self.pair.head.name() {
            Ok(tree) => match self.taken.moved(git) {
                Moved::No => Evidence::Seen(tree.to_owned()),
                Moved::Yes => Evidence::Moved(tree.to_owned()),
            },
            Err(error) => Evidence::Unwritten(error.to_string()),
        }
    }
}

impl Evidence {
    /// The tree that was there in the beginning.
    pub(super) fn tree(&self) -> Option<&str> {
        match self {
            Self::Seen(tree) | Self::Moved(tree) => Some(tree),
            Self::Unwritten(_) => None,
        }
    }

    /// Why a pass is not kept.
    pub(super) fn doubt(&self) -> Option<String> {
        match self {
            Self::Seen(_) => None,
            Self::Moved(_) => Some(
                "(Files changed while the gates ran, so the pass is not kept: they run again.)"
                    .to_owned(),
            ),
            Self::Unwritten(why) => Some(format!("(The pass is not kept: {why})")),
        }
    }
}

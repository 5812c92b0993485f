//! The work that a run is about, and what a run says about it in the end.

use super::changes::Pair;
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
pub(super) enum SeenTree {
    /// It was the same before and after.
    Same(String),
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
    pub(super) fn seen(&self, git: &Git) -> SeenTree {
        match self.pair.head.name() {
            Ok(tree) if self.taken.is_current(git) => SeenTree::Same(tree.to_owned()),
            Ok(tree) => SeenTree::Moved(tree.to_owned()),
            Err(error) => SeenTree::Unwritten(error.to_string()),
        }
    }
}

impl SeenTree {
    /// The tree that was there in the beginning.
    pub(super) fn tree(&self) -> Option<&str> {
        match self {
            Self::Same(tree) | Self::Moved(tree) => Some(tree),
            Self::Unwritten(_) => None,
        }
    }

    /// Why a pass is not kept.
    pub(super) fn doubt(&self) -> Option<String> {
        match self {
            Self::Same(_) => None,
            Self::Moved(_) => Some(
                "(Files changed while the gates ran, so the pass is not kept: they run again.)"
                    .to_owned(),
            ),
            Self::Unwritten(why) => Some(format!("(The pass is not kept: {why})")),
        }
    }
}

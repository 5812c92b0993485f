//! What Tollgate keeps of a review beside its file, which the agent edits.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::finding::{Finding, Weight};

/// What Tollgate wrote about a review, without what the reviewer printed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptReview {
    pub(super) reviewer: String,
    pub(super) run: u64,
    pub(super) value: Value,
    /// What the reviewer saw, if it gave an answer. Not kept by earlier builds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) seen: Option<Seen>,
}

/// What a review is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// The two sides of its diff.
    pub(crate) base: String,
    pub(crate) tree: String,
    /// What was asked, as a digest.
    pub(crate) asked: String,
}

impl KeptReview {
    /// Whether nothing of it has to be answered any more.
    pub(crate) fn is_settled(&self) -> bool {
        let is_advisory = |finding: Finding| finding.weight == Weight::Advisory;
        self.passed().is_some() || self.findings().all(is_advisory)
    }

    /// What was found.
    pub(super) fn findings(&self) -> impl Iterator<Item = Finding> {
        violations(&self.value).filter_map(Finding::from_json)
    }

    /// The run in which the slot passed.
    pub(super) fn passed(&self) -> Option<u64> {
        match self.value.get("status").and_then(Value::as_str) {
            Some("pass") => Some(self.run),
            Some("skipped_prior_pass") => self.value.get("passIteration").and_then(Value::as_u64),
            Some(_) | None => None,
        }
    }
}

/// The findings of a review's file, as they are written there.
pub(super) fn violations(value: &Value) -> impl Iterator<Item = &Value> {
    let list = value.get("violations").and_then(Value::as_array);
    list.into_iter().flatten()
}

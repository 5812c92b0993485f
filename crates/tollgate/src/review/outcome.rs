//! What a gate came to. Checks and reviews have the same outcomes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::cli::Usage;
use super::kept::KeptReview;

/// The answer of a gate, or of one review of a review gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    Pass,
    Fail,
    /// It ended in a way that is no answer, and that is the work's own fault: it counts as failed.
    Error,
    /// There was no verdict, through no fault of the work: it neither passes nor fails.
    Inconclusive,
    /// It was not started, because another gate failed fast or the run ended before.
    NotRun,
}

/// One review of a review gate.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    /// `claude@1`
    pub(crate) label: String,
    pub(crate) outcome: Outcome,
    pub(crate) message: String,
    pub(crate) took: Duration,
    pub(crate) log: Option<PathBuf>,
    /// The file that the agent edits.
    pub(crate) file: Option<PathBuf>,
    pub(crate) usage: Usage,
    /// What is kept of it for the next review, with its number.
    pub(crate) kept: Option<(u64, KeptReview)>,
}

/// What became of the findings of a review gate, as `file:line issue` each. A check only has
/// advisory ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    /// Seen to be fixed.
    pub(crate) fixed: Vec<String>,
    /// Skipped, with the reason.
    pub(crate) skipped: Vec<(String, String)>,
    /// Those that need no answer. A pass with one is a pass with warnings.
    pub(crate) advisory: Vec<String>,
    /// What has to be answered.
    pub(crate) open: Vec<String>,
}

impl Outcome {
    /// The word in brackets.
    pub(crate) fn tag(self) -> &'static str {
        match self {
            Self::Pass => "[PASS]",
            Self::Fail => "[FAIL]",
            Self::Error => "[ERROR]",
            Self::Inconclusive => "[INCONCLUSIVE]",
            Self::NotRun => "[SKIP]",
        }
    }

    /// As `--json`, logs and the debug log have it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Error => "error",
            Self::Inconclusive => "inconclusive",
            Self::NotRun => "not_run",
        }
    }

    /// Whether the work has to be changed.
    pub(crate) fn is_failure(self) -> bool {
        matches!(self, Self::Fail | Self::Error)
    }
}

impl Slot {
    /// A review without files.
    pub(crate) fn new(label: String, outcome: Outcome, message: impl Into<String>) -> Self {
        Self {
            label,
            outcome,
            message: message.into(),
            took: Duration::ZERO,
            log: None,
            file: None,
            usage: Usage::default(),
            kept: None,
        }
    }

    /// Where to read more. There is nothing to answer in the file of a review that was not made.
    pub(crate) fn path(&self) -> Option<&Path> {
        let (first, second) = match self.outcome {
            Outcome::Inconclusive => (&self.log, &self.file),
            Outcome::Pass | Outcome::Fail | Outcome::Error | Outcome::NotRun => {
                (&self.file, &self.log)
            }
        };
        first.as_deref().or(second.as_deref())
    }
}

impl Findings {
    /// Whether a pass with them is one with warnings.
    pub(crate) fn are_warnings(&self) -> bool {
        !self.skipped.is_empty() || !self.advisory.is_empty()
    }
}

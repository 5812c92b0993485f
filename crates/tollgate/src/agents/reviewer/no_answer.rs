//! Why a reviewer gave no answer. None of these is a verdict about the work.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoAnswer {
    pub(crate) kind: Kind,
    /// What exactly, in the reviewer's or the system's words.
    pub(crate) detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Its program is not installed.
    Missing,
    /// The question is longer than any reviewer reads.
    TooLarge,
    NotStarted,
    TimedOut,
    /// The run was over before it.
    Cancelled,
    /// It died of a signal.
    Killed,
    Failed,
    UsageLimit,
    Silent,
    /// What it printed cannot be read.
    Unreadable,
    /// There is no object of the schema in what it said.
    NoObject,
    /// There is more than one.
    SeveralObjects,
}

/// The longest detail: some command lines print a whole page of help.
const DETAIL: usize = 600;

impl Kind {
    /// With what exactly happened.
    pub(crate) fn because(self, detail: impl fmt::Display) -> NoAnswer {
        let mut detail = detail.to_string();
        if detail.len() > DETAIL {
            let end = detail.floor_char_boundary(DETAIL);
            detail.truncate(end);
            detail.push('…');
        }
        NoAnswer { kind: self, detail }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Missing => "not installed",
            Self::TooLarge => "the change is too large for one review",
            Self::NotStarted => "could not be asked",
            Self::TimedOut => "did not answer in time",
            Self::Cancelled => "was not waited for",
            Self::Killed => "died before it had answered",
            Self::Failed => "ended with an error",
            Self::UsageLimit => "usage limit reached",
            Self::Silent => "answered nothing",
            Self::Unreadable => "the answer cannot be read",
            Self::NoObject => "gave no verdict",
            Self::SeveralObjects => "gave more than one verdict",
        }
    }

    /// Whether another reviewer may well have an answer right now.
    pub(crate) fn is_about_the_reviewer(self) -> bool {
        match self {
            Self::Missing | Self::NotStarted | Self::UsageLimit => true,
            Self::TooLarge
            | Self::TimedOut
            | Self::Cancelled
            | Self::Killed
            | Self::Failed
            | Self::Silent
            | Self::Unreadable
            | Self::NoObject
            | Self::SeveralObjects => false,
        }
    }
}

impl NoAnswer {
    /// Whether the reviewer itself said what went wrong.
    pub(crate) fn tells_why(&self) -> bool {
        matches!(self.kind, Kind::Failed | Kind::UsageLimit)
    }
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.words())?;
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        Ok(())
    }
}

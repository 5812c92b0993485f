//! What is asked of a run, and what it came to.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::accepted::Weakening;
use super::changes::Scope;
use super::config::Words;
use super::evidence::Verification;
use super::jobs::Which;
use super::record::Failure;
use super::result::GateResult;
use super::status::Status;
use crate::git::GitError;
use crate::trust::Consent;

/// What is asked for.
#[derive(Debug)]
pub(crate) struct Request<'r> {
    /// Who said that the project's commands may run.
    pub(crate) consent: &'r Consent,
    pub(crate) scope: Scope,
    pub(crate) which: Which,
    /// Gates that a person leaves out, by name.
    pub(crate) skip: Vec<String>,
    /// `-g`: only gates with this name.
    pub(crate) gate: Option<String>,
    pub(crate) purpose: Purpose,
    /// When no gate may run any more.
    pub(crate) cut_off: Option<Instant>,
    pub(crate) asker: Asker,
    /// The state of the gates' inputs that the agent's turn began with.
    pub(crate) began_with: Option<String>,
    /// Where the base was when the agent's session began.
    pub(crate) session_base: Option<String>,
    /// How the gates were weakened since a person accepted them.
    pub(crate) weakened: Vec<Weakening>,
    /// `--all`: whatever is verified already.
    pub(crate) all: bool,
    /// `--json`: also how many files changed.
    pub(crate) details: bool,
    /// Runs of this turn that count against `max_retries`; none: the record knows.
    pub(crate) spent: Option<u64>,
}

/// Who asked for a run, for the journal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asker {
    pub(crate) session: Option<String>,
    pub(crate) prompt: Option<String>,
    pub(crate) trace: Option<String>,
    /// Whether an agent runs the command.
    pub(crate) is_agent: bool,
}

/// Why gates run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It was requested.
    Command,
    /// An agent wants to stop. It waits for a run that is going on, and shares its verdict.
    Stop,
}

/// What a run came to.
#[derive(Clone, Debug)]
pub(crate) struct RunResult {
    pub(crate) status: Status,
    /// What happened, for a person.
    pub(crate) message: String,
    pub(crate) console_log: Option<PathBuf>,
    /// What went wrong, for [`Status::Error`] and [`Status::LockConflict`].
    pub(crate) error: Option<String>,
    /// Those that ran.
    pub(crate) gates: Vec<GateResult>,
    /// Their files were put away with all logs since.
    pub(crate) archived: bool,
    /// Those that failed, also when another run found out.
    pub(crate) failures: Vec<Failure>,
    /// The files of reviews that failed, which the agent edits.
    pub(crate) open_reviews: Vec<PathBuf>,
    pub(crate) changed_files: usize,
    pub(crate) run_number: Option<u64>,
    /// The tree that the answer is about.
    pub(crate) tree: Option<String>,
    /// The state of the gates' inputs that the answer is about.
    pub(crate) mark: Option<String>,
    /// What can be said about all gates now; none if not requested.
    pub(crate) verification: Option<Verification>,
    /// The gates that would have run, had a person not left them out.
    pub(crate) skipped: Vec<String>,
    /// Whether somebody ended it with Ctrl-C or a signal like it.
    pub(crate) is_interrupted: bool,
}

impl RunResult {
    /// A result without gates.
    pub(crate) fn of(status: Status) -> Self {
        Self {
            status,
            message: status.message().to_owned(),
            console_log: None,
            error: None,
            gates: Vec::new(),
            archived: false,
            failures: Vec::new(),
            open_reviews: Vec::new(),
            changed_files: 0,
            run_number: None,
            tree: None,
            mark: None,
            verification: None,
            skipped: Vec::new(),
            is_interrupted: false,
        }
    }

    /// A run that could not be made.
    pub(crate) fn error(what: impl Into<String>) -> Self {
        let what = what.into();
        Self {
            message: format!("⚠ The gates could not be run: {what}"),
            error: Some(what),
            ..Self::of(Status::Error)
        }
    }

    /// Another run is going on: of this process, if it said so, which holds this lock.
    pub(super) fn locked_out(owner: Option<&str>, lock: &Path, words: Words) -> Self {
        let lock = lock.display();
        let who = match owner {
            Some(pid) => format!(" (process {pid} holds {lock})"),
            None => format!(" (another process holds {lock})"),
        };
        let what = match words {
            Words::Specification => format!("A gauntlet run is already in progress{who}."),
            Words::Own => format!("The gates are already running{who}."),
        };
        Self {
            message: format!("⏭ {what}"),
            error: Some(what),
            ..Self::of(Status::LockConflict)
        }
    }
}

impl From<GitError> for Box<RunResult> {
    fn from(error: GitError) -> Self {
        Self::new(RunResult::error(error.to_string()))
    }
}

//! How sure it is that a part of a script in a file runs.
//!
//! On a command line everything counts as intended. A script contains more than its arguments
//! select: only what certainly or very likely runs may count against its caller.

use crate::condition::test;
use crate::run::Link;
use crate::word::{Word, has};

/// Programs whose success is an answer.
const QUESTIONS: &str = "grep egrep fgrep rg command which type hash pgrep cmp diff read id getopts \
                         confirm";

/// What is known about the part of a script that is walked.
#[derive(Debug, Default)]
pub(super) struct Doubts {
    around: Vec<Doubt>,
    pub(super) outcome: Outcome,
    ended: bool,
}

/// A condition around a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doubt {
    Holds,
    /// It asks git, as in `git diff --quiet || git commit`: what follows is what the script is for.
    Likely,
    Unknown,
    Fails,
}

/// How a command ended, as far as it can be known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Outcome {
    Known(bool),
    /// A question whose answer is not known.
    Asked,
    /// The same, to git.
    AskedGit,
    /// Something that most likely went well.
    #[default]
    Done,
}

impl Doubts {
    pub(super) fn enter(&mut self, link: Link) {
        let doubt = match (link, self.outcome) {
            (Link::Then | Link::Pipe | Link::Shell | Link::Call, _)
            | (Link::And | Link::If, Outcome::Known(true) | Outcome::Done)
            | (Link::Or | Link::Else, Outcome::Known(false)) => Doubt::Holds,
            (Link::And | Link::If, Outcome::Known(false))
            | (Link::Or | Link::Else, Outcome::Known(true)) => Doubt::Fails,
            (Link::And | Link::If | Link::Or | Link::Else, Outcome::AskedGit) => Doubt::Likely,
            (Link::And | Link::If | Link::Or | Link::Else, Outcome::Asked)
            | (Link::Or | Link::Else, Outcome::Done)
            | (Link::Maybe, _) => Doubt::Unknown,
        };
        self.around.push(doubt);
    }

    /// Ends the innermost part. `before` is how what precedes it ended.
    pub(super) fn leave(&mut self, before: Outcome) {
        if matches!(self.around.pop(), Some(Doubt::Unknown | Doubt::Fails)) {
            self.outcome = before;
        }
    }

    pub(super) fn is_sure(&self) -> bool {
        let sure = |doubt: &Doubt| matches!(doubt, Doubt::Holds | Doubt::Likely);
        !self.ended && self.around.iter().all(sure)
    }

    /// Notes how a command ends, and that nothing runs after `exit`.
    pub(super) fn note(&mut self, name: &str, words: &[Word]) {
        self.outcome = match name {
            "git" => Outcome::AskedGit,
            "true" | ":" => Outcome::Known(true),
            "false" => Outcome::Known(false),
            "[" | "test" => {
                let args = words.iter().skip(1).map(Word::raw);
                let args: Vec<&str> = args.filter(|arg| *arg != "]").collect();
                test(&args).map_or(Outcome::Asked, Outcome::Known)
            }
            "exit" => {
                let certain = |doubt: &Doubt| *doubt == Doubt::Holds;
                self.ended |= self.around.iter().all(certain);
                Outcome::Done
            }
            _ if has(QUESTIONS, name) => Outcome::Asked,
            _ => Outcome::Done,
        };
    }
}

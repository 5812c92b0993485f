//! How sure it is that a part of a script in a file runs.
//!
//! On a command line everything that is written is meant. A script holds what its arguments ask
//! for, and more: only what certainly or very likely runs may count against whoever starts it.

use super::Link;
use super::output::SOME_COMMIT;
use super::walk::Walker;
use super::word::is_mark;

/// What is known about the part of a script that is walked.
#[derive(Debug, Default)]
pub(crate) struct Doubts {
    around: Vec<Doubt>,
    outcome: Outcome,
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

/// How a command ended, as far as it can be told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Outcome {
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
    pub(crate) fn enter(&mut self, link: Link) {
        let doubt = match (link, self.outcome) {
            (Link::Then | Link::Pipe, _)
            | (Link::And, Outcome::Known(true) | Outcome::Done)
            | (Link::Or | Link::Else, Outcome::Known(false)) => Doubt::Holds,
            (Link::And, Outcome::Known(false)) | (Link::Or | Link::Else, Outcome::Known(true)) => {
                Doubt::Fails
            }
            (Link::And | Link::Or | Link::Else, Outcome::AskedGit) => Doubt::Likely,
            (Link::And | Link::Or | Link::Else, Outcome::Asked)
            | (Link::Or | Link::Else, Outcome::Done)
            | (Link::Maybe, _) => Doubt::Unknown,
        };
        self.around.push(doubt);
    }

    /// Ends the innermost part. `before` is how what stands before it ended.
    pub(crate) fn leave(&mut self, before: Outcome) {
        if matches!(self.around.pop(), Some(Doubt::Unknown | Doubt::Fails)) {
            self.outcome = before;
        }
    }

    /// What was just entered is known to run, or not to.
    pub(crate) fn decide(&mut self, runs: bool) {
        if let Some(last) = self.around.last_mut() {
            *last = if runs { Doubt::Holds } else { Doubt::Fails };
        }
    }

    fn is_sure(&self) -> bool {
        let sure = |doubt: &Doubt| matches!(doubt, Doubt::Holds | Doubt::Likely);
        !self.ended && self.around.iter().all(sure)
    }
}

impl Walker<'_> {
    /// Whether what is walked now certainly, or very likely, runs.
    pub(crate) fn is_sure(&self) -> bool {
        self.doubts.as_ref().is_none_or(Doubts::is_sure)
    }

    pub(crate) fn outcome(&self) -> Outcome {
        let doubts = self.doubts.as_ref();
        doubts.map(|doubts| doubts.outcome).unwrap_or_default()
    }

    pub(crate) fn set_outcome(&mut self, outcome: Outcome) {
        if let Some(doubts) = &mut self.doubts {
            doubts.outcome = outcome;
        }
    }

    /// Notes how a command ends, and that nothing runs after `exit`.
    pub(crate) fn note_outcome(&mut self, name: &str, words: &[super::Word]) {
        let Some(doubts) = &mut self.doubts else {
            return;
        };
        let args = || words.iter().skip(1).map(super::Word::raw);
        doubts.outcome = match name {
            "git" => Outcome::AskedGit,
            "true" | ":" => Outcome::Known(true),
            "false" => Outcome::Known(false),
            "[" | "test" => {
                let args: Vec<&str> = args().filter(|arg| *arg != "]").collect();
                decided(&args).map_or(Outcome::Asked, Outcome::Known)
            }
            "grep" | "egrep" | "fgrep" | "rg" | "command" | "which" | "type" | "hash" | "pgrep"
            | "cmp" | "diff" | "read" | "id" | "getopts" | "confirm" => Outcome::Asked,
            "exit" => {
                let certain = |doubt: &Doubt| *doubt == Doubt::Holds;
                doubts.ended |= doubts.around.iter().all(certain);
                Outcome::Done
            }
            _ => Outcome::Done,
        };
    }
}

/// The answer of `test`, where its words tell it.
pub(crate) fn decided(words: &[&str]) -> Option<bool> {
    let unknown = |word: &&str| word.contains(is_mark) || word.contains(SOME_COMMIT);
    if words.iter().any(unknown) {
        return None;
    }
    let numbers = |a: &str, b: &str| Some((a.parse::<i64>().ok()?, b.parse::<i64>().ok()?));
    match words {
        [] => Some(false),
        ["!", rest @ ..] if !rest.is_empty() => decided(rest).map(|answer| !answer),
        ["-z", text] => Some(text.is_empty()),
        ["-n", text] => Some(!text.is_empty()),
        [text] => Some(!text.is_empty()),
        // In `[[ … ]]` the right side is a pattern.
        [_, "=" | "==" | "!=", pattern] if pattern.contains(['*', '?', '[']) => None,
        [a, "=" | "==", b] => Some(a == b),
        [a, "!=", b] => Some(a != b),
        [a, "-eq", b] => numbers(a, b).map(|(a, b)| a == b),
        [a, "-ne", b] => numbers(a, b).map(|(a, b)| a != b),
        [a, "-gt", b] => numbers(a, b).map(|(a, b)| a > b),
        [a, "-ge", b] => numbers(a, b).map(|(a, b)| a >= b),
        [a, "-lt", b] => numbers(a, b).map(|(a, b)| a < b),
        [a, "-le", b] => numbers(a, b).map(|(a, b)| a <= b),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::decided;

    #[test]
    fn a_test_is_decided_by_known_words_alone() {
        for (words, expected) in [
            (vec!["-z", ""], Some(true)),
            (vec!["-n", ""], Some(false)),
            (vec!["!", "-n", ""], Some(true)),
            (vec!["a", "=", "a"], Some(true)),
            (vec!["a", "!=", "a"], Some(false)),
            (vec!["2", "-gt", "1"], Some(true)),
            (vec!["x", "-gt", "1"], None),
            (vec!["a", "==", "a*"], None),
            (vec!["-f", "a"], None),
            (vec!["\u{FDD0}"], None),
            (vec![], Some(false)),
        ] {
            assert_eq!(decided(&words), expected, "{words:?}");
        }
    }
}

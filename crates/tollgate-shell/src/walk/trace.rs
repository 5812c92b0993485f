//! What the walk has found so far, and under which conditions it goes on.

use super::doubt::{Doubts, Outcome};
use crate::run::{Ending, Link, Run, Step, Survey};
use crate::word::Word;

/// More programs around each other than this are not kept.
const MAX_STARTERS: usize = 16;

/// The steps of a survey while it is made.
pub(super) struct Trace {
    steps: Vec<Step>,
    /// Some part could not be seen through.
    pub(super) opaque: bool,
    /// Conditions around what is walked now: how what precedes each ended.
    conditions: Vec<Outcome>,
    /// How many of them are none: a shell or a function around it.
    unconditional: usize,
    /// Questions for the name of the branch so far.
    branches: usize,
    /// How many around what is walked now run it for each of the files that they find.
    perhaps: usize,
    /// The programs that start the next command.
    starters: Vec<Vec<Word>>,
    /// For the script of a file, how sure its parts are to run.
    doubts: Option<Doubts>,
}

impl Trace {
    /// Of a command line, where all that is written is meant.
    pub(super) fn of_command() -> Self {
        Self {
            steps: Vec::new(),
            opaque: false,
            conditions: Vec::new(),
            unconditional: 0,
            branches: 0,
            perhaps: 0,
            starters: Vec::new(),
            doubts: None,
        }
    }

    /// Of the script of a file.
    pub(super) fn of_script() -> Self {
        Self {
            doubts: Some(Doubts::default()),
            ..Self::of_command()
        }
    }

    pub(super) fn into_survey(self, written: Vec<(String, String)>, spent: bool) -> Survey {
        Survey {
            steps: self.steps,
            opaque: self.opaque || spent,
            written,
        }
    }

    /// Adds a command.
    pub(super) fn push(&mut self, run: Run) {
        let sure = self.doubts.as_ref().is_none_or(Doubts::is_sure);
        self.steps.push(Step::Run(Run {
            sure,
            perhaps: self.perhaps > 0,
            starters: std::mem::take(&mut self.starters),
            ..run
        }));
    }

    /// Notes a program that does nothing but start the next command.
    pub(super) fn starts(&mut self, words: &[Word]) {
        if self.starters.len() < MAX_STARTERS {
            self.starters.push(words.to_vec());
        }
    }

    /// Whether a program was noted that has started nothing yet.
    pub(super) fn started_nothing(&self) -> bool {
        !self.starters.is_empty()
    }

    /// From here to the matching [`Trace::end_found`], commands run for each of the files that
    /// something finds.
    pub(super) fn begin_found(&mut self) {
        self.perhaps += 1;
    }

    pub(super) fn end_found(&mut self) {
        self.perhaps -= 1;
    }

    /// Whether no condition is around what is walked now.
    pub(super) fn is_certain(&self) -> bool {
        self.conditions.len() == self.unconditional
    }

    /// The number of one more question for the branch that is checked out.
    pub(super) fn next_branch(&mut self) -> usize {
        self.branches += 1;
        self.branches - 1
    }

    /// Notes the end of something that is no command of its own.
    pub(super) fn ends(&mut self, ending: Ending) {
        self.steps.push(Step::Ends(ending));
    }

    pub(super) fn enter(&mut self, link: Link) {
        self.steps.push(Step::Enter(link));
        self.unconditional += usize::from(is_unconditional(link));
        self.conditions.push(self.outcome());
        if let Some(doubts) = &mut self.doubts {
            doubts.enter(link);
        }
    }

    pub(super) fn leave(&mut self, link: Link) {
        self.unconditional -= usize::from(is_unconditional(link));
        let before = self.conditions.pop().unwrap_or_default();
        if let Some(doubts) = &mut self.doubts {
            doubts.leave(before);
        }
        // An empty part is no part; one command carries its condition itself.
        match self.steps.as_mut_slice() {
            // What `else` belongs to stays.
            [.., Step::Enter(_)] if !matches!(link, Link::And | Link::If) => {
                self.steps.pop();
            }
            // So does one in its own shell, unless it ends that.
            [.., Step::Enter(_), Step::Run(run)]
                if is_unconditional(link) && !matches!(run.program(), Some("exit" | "return")) =>
            {
                let run = self.steps.pop();
                self.steps.pop();
                self.steps.extend(run);
            }
            [.., Step::Enter(link), Step::Run(run)]
                if run.link == Link::Then && !is_unconditional(*link) =>
            {
                run.link = *link;
                let run = self.steps.pop();
                self.steps.pop();
                self.steps.extend(run);
            }
            _ => self.steps.push(Step::Leave),
        }
    }

    pub(super) fn outcome(&self) -> Outcome {
        let doubts = self.doubts.as_ref();
        doubts.map(|doubts| doubts.outcome).unwrap_or_default()
    }

    pub(super) fn set_outcome(&mut self, outcome: Outcome) {
        if let Some(doubts) = &mut self.doubts {
            doubts.outcome = outcome;
        }
    }

    /// Notes how a command ends.
    pub(super) fn note_outcome(&mut self, name: &str, words: &[Word]) {
        if let Some(doubts) = &mut self.doubts {
            doubts.note(name, words);
        }
    }
}

fn is_unconditional(link: Link) -> bool {
    matches!(link, Link::Shell | Link::Call)
}

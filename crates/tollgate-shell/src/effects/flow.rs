//! Which parts of a command line run: what `&&`, `if`, `exit` and `return` make of the commands before.
//!
//! On a command line everything counts as intended, so a part with an unknown condition counts
//! as run. A part counts as skipped only where that is certain: a test of known words, or of the
//! branch that is checked out.

use crate::run::{Ending, Link};

/// How a command ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Status {
    #[default]
    Unknown,
    /// It hardly ever ends otherwise.
    Likely(bool),
    Certain(bool),
}

impl Status {
    pub(super) fn likely(answer: Option<bool>) -> Self {
        answer.map_or(Self::Unknown, Self::Likely)
    }

    fn value(self) -> Option<bool> {
        match self {
            Self::Unknown => None,
            Self::Likely(well) | Self::Certain(well) => Some(well),
        }
    }

    fn inverted(self) -> Self {
        match self {
            Self::Unknown => Self::Unknown,
            Self::Likely(well) => Self::Likely(!well),
            Self::Certain(well) => Self::Certain(!well),
        }
    }
}

/// What `exit` or `return` ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Shell,
    Call,
}

/// Where a walk through the steps of a command stands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flow {
    /// How the last command ended.
    pub(super) status: Status,
    /// The same of the condition before the last conditional part.
    condition: Status,
    /// Whether a part around this one certainly does not run.
    skipped: bool,
    ended: Option<Ended>,
    /// Whether this part certainly runs if its shell does, and if its function does.
    sure_in_shell: bool,
    sure_in_call: bool,
    /// Whether an `exit` or `return` may have come before, so that the end is another.
    may_have_ended: bool,
    /// `set -e`
    pub(super) stops_at_failure: bool,
    /// Whether this part does not run if a question before it, which cannot be answered here, has
    /// another answer.
    pub(super) doubtful: bool,
    /// Whether the last command is a question.
    pub(super) asks: bool,
    /// Whether a loop may have been left before.
    pub(super) left_loop: bool,
}

/// A part that was entered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    link: Link,
    /// Whether it runs, as far as that is known.
    pub(super) runs: Option<bool>,
    /// Whether to believe in it when that is unknown.
    pub(super) likely: bool,
    before: Flow,
}

impl Flow {
    pub(super) fn new() -> Self {
        Self {
            sure_in_shell: true,
            sure_in_call: true,
            ..Self::default()
        }
    }

    /// Whether nothing runs here.
    pub(super) fn is_over(&self) -> bool {
        self.skipped || self.ended.is_some()
    }

    pub(super) fn enter(&mut self, link: Link) -> Part {
        let before = *self;
        let decides = match link {
            Link::And | Link::If => self.status,
            Link::Or => self.status.inverted(),
            Link::Else => self.condition.inverted(),
            Link::Maybe => Status::Unknown,
            Link::Then | Link::Pipe | Link::Shell | Link::Call => Status::Certain(true),
        };
        let sure = decides == Status::Certain(true);
        self.skipped |= decides == Status::Certain(false);
        self.doubtful |= match link {
            Link::And => self.asks && !sure,
            Link::If | Link::Or | Link::Else | Link::Maybe => !sure,
            Link::Then | Link::Pipe | Link::Shell | Link::Call => false,
        };
        self.sure_in_shell = link == Link::Shell || sure && self.sure_in_shell;
        self.sure_in_call = matches!(link, Link::Shell | Link::Call) || sure && self.sure_in_call;
        if matches!(link, Link::Shell | Link::Call) {
            self.may_have_ended = false;
        }
        Part {
            link,
            runs: decides.value(),
            likely: matches!(link, Link::And | Link::If),
            before,
        }
    }

    pub(super) fn leave(&mut self, part: Part) {
        let Part {
            link, runs, before, ..
        } = part;
        let inside = *self;
        *self = Self {
            condition: before.status,
            ended: inside.ended,
            may_have_ended: inside.may_have_ended,
            left_loop: inside.left_loop,
            asks: inside.asks,
            stops_at_failure: inside.stops_at_failure,
            status: match runs {
                Some(true) => inside.status,
                Some(false) => before.status,
                None => Status::Unknown,
            },
            ..before
        };
        match link {
            Link::Shell => {
                self.ended = before.ended;
                self.stops_at_failure = before.stops_at_failure;
            }
            Link::Call => self.ended = inside.ended.filter(|ended| *ended == Ended::Shell),
            Link::Then
            | Link::And
            | Link::If
            | Link::Or
            | Link::Else
            | Link::Pipe
            | Link::Maybe => return,
        }
        self.may_have_ended = before.may_have_ended;
        if inside.may_have_ended {
            self.status = Status::Unknown;
        }
    }

    /// Whether what runs here does so if the command runs to its end as written.
    pub(super) fn is_meant(&self) -> bool {
        !self.doubtful && !self.may_have_ended && !self.left_loop
    }

    /// `exit` and `return`.
    pub(super) fn end(&mut self, what: Ended) {
        let sure = match what {
            Ended::Shell => self.sure_in_shell,
            Ended::Call => self.sure_in_call,
        };
        if sure {
            self.ended = Some(what);
        } else {
            self.may_have_ended = true;
        }
    }

    pub(super) fn note(&mut self, ending: Ending) {
        self.asks = match ending {
            Ending::Well => false,
            Ending::Unknown => true,
            Ending::Inverted => self.asks,
        };
        self.status = match ending {
            Ending::Well => Status::Certain(true),
            Ending::Unknown => Status::Unknown,
            Ending::Inverted => self.status.inverted(),
        };
    }
}

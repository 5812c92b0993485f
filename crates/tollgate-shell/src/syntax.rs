//! The shape of a parsed script: what the words and operators say, before any variable has a value.
//!
//! Only what a reader of commands needs is kept. An arithmetic expression, a `[[ … ]]` test or an
//! array subscript survives as the pieces inside it that could run something.

/// Commands separated by `;`, `&` or a newline.
#[derive(Debug, Default)]
pub(crate) struct List(pub(crate) Vec<AndOr>);

/// Pipelines joined by `&&` and `||`.
#[derive(Debug)]
pub(crate) struct AndOr {
    pub(crate) pipelines: Vec<(Join, Pipeline)>,
    pub(crate) background: bool,
}

/// What precedes a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    Start,
    And,
    Or,
}

/// Commands joined by `|`.
#[derive(Debug, Default)]
pub(crate) struct Pipeline {
    pub(crate) negated: bool,
    pub(crate) stages: Vec<Command>,
}

/// One command with its redirections.
#[derive(Debug, Default)]
pub(crate) struct Command {
    pub(crate) kind: Kind,
    pub(crate) redirects: Vec<Redirect>,
}

/// What a command is made of.
#[derive(Debug)]
pub(crate) enum Kind {
    Simple {
        assigns: Vec<Assign>,
        words: Vec<RawWord>,
    },
    Group(List),
    Subshell(List),
    If {
        arms: Vec<(List, List)>,
        otherwise: List,
    },
    While {
        condition: List,
        body: List,
        until: bool,
    },
    For {
        name: String,
        items: Option<Vec<RawWord>>,
        body: List,
    },
    Case {
        subject: RawWord,
        arms: Vec<(Vec<RawWord>, List)>,
        /// Whether an arm goes on to the next: `;&`, `;;&`.
        falls: bool,
    },
    Function {
        name: String,
        body: std::rc::Rc<Command>,
    },
    /// `[[ … ]]` and `(( … ))`: only what is substituted inside can run.
    Test(Vec<RawWord>),
}

impl Default for Kind {
    fn default() -> Self {
        Self::Group(List::default())
    }
}

/// `name=value`, `name+=value`, `name=(…)`.
#[derive(Debug)]
pub(crate) struct Assign {
    pub(crate) name: String,
    pub(crate) append: bool,
    pub(crate) value: RawWord,
    pub(crate) array: Option<Vec<RawWord>>,
}

/// One redirection.
#[derive(Debug)]
pub(crate) struct Redirect {
    pub(crate) fd: Option<u32>,
    pub(crate) op: RedirectOp,
    /// The file, the descriptor or the text of a here-string.
    pub(crate) target: RawWord,
    /// The body of a heredoc, filled when the line that names it has ended.
    pub(crate) body: Option<Body>,
}

/// A heredoc's body, shared by its marker and the text after the line.
pub(crate) type Body = std::rc::Rc<std::cell::RefCell<RawWord>>;

/// The operator of a redirection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RedirectOp {
    Read,
    Write,
    Append,
    ReadWrite,
    Both,
    BothAppend,
    DupIn,
    DupOut,
    HereString,
    HereDoc,
}

/// A word as written.
#[derive(Debug, Default, Clone)]
pub(crate) struct RawWord(pub(crate) Vec<Piece>);

/// A part of a word.
#[derive(Debug, Clone)]
pub(crate) enum Piece {
    /// Outside quotes: globs, braces and a tilde are active.
    Bare(String),
    /// Inside quotes.
    Quoted(String),
    Variable {
        name: String,
        op: VarOp,
        quoted: bool,
    },
    Command {
        body: std::rc::Rc<List>,
        quoted: bool,
    },
    /// `<(…)` or `>(…)`
    Process { body: std::rc::Rc<List> },
    /// Arithmetic and the like: the value is unknown, the pieces inside still run.
    Opaque { inner: RawWord, quoted: bool },
}

/// What `${name…}` does with the value.
#[derive(Debug, Clone)]
pub(crate) enum VarOp {
    Plain,
    /// `:-` and `-`
    Default(RawWord),
    /// `:=` and `=`
    Assign(RawWord),
    /// `:+` and `+`
    Instead(RawWord),
    /// `#`, `%`, `/`, `^^`, an index, slices and the rest, with the operator.
    Other(RawWord),
    /// The value is unknown: a length.
    Unknown(RawWord),
}

impl RawWord {
    /// Whether the word holds a command that is run for its output.
    pub(crate) fn runs_something(&self) -> bool {
        let runs = |piece: &Piece| matches!(piece, Piece::Command { .. });
        self.0.iter().any(runs)
    }

    /// The text when the word is one bare piece, which is what reserved words must be.
    pub(crate) fn bare(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Piece::Bare(text)] => Some(text),
            _ => None,
        }
    }
}

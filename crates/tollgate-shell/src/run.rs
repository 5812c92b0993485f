//! What a survey finds, as data: the commands in their order, with what each is given.

use super::word::Word;

/// Everything a command line would run.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// Runs and the conditions around them, in order.
    pub steps: Vec<Step>,
    /// Some part could not be seen through: unparsable text, a cap, or unknown text given to a
    /// shell as a program.
    pub opaque: bool,
    /// The texts of files that it writes, by their absolute paths.
    pub written: Vec<(String, String)>,
}

/// One entry of a [`Survey`].
#[derive(Clone, Debug)]
pub enum Step {
    /// A command is run.
    Run(Run),
    /// What follows up to the matching [`Step::Leave`] runs under this condition.
    Enter(Link),
    /// The end of the innermost conditional part.
    Leave,
    /// Something ended that is no command of its own, and so decides what `&&` does next.
    Ends(Ending),
}

/// How something ended that is no command of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Well: an assignment.
    Well,
    /// It is unknown: arithmetic, a loop.
    Unknown,
    /// The other way round than what precedes: `!`.
    Inverted,
}

/// How a command is connected to what precedes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// It runs whatever happened before.
    Then,
    /// It runs only if what precedes succeeded: `&&`.
    And,
    /// The same as the body of an `if` or a loop, where what precedes is a question.
    If,
    /// It runs only if what precedes failed: `||`.
    Or,
    /// It runs only if the conditional part before it did not: `else`.
    Else,
    /// It runs beside the command before it, whose output it reads.
    Pipe,
    /// Whether it runs cannot be known: the arm of a `case`, a loop over unknown words.
    Maybe,
    /// It runs in its own shell, which is all that `exit` ends there.
    Shell,
    /// It is the body of a function, which is all that `return` ends there.
    Call,
}

/// One simple command.
#[derive(Clone, Debug)]
pub struct Run {
    /// The program and its arguments; empty for a redirection without a command.
    pub words: Vec<Word>,
    /// The working directory, absolute and without `.` and `..`; nothing when it is unknown.
    pub dir: Option<String>,
    /// Assignments before the command, and exported variables whose names start with `GIT_`.
    pub vars: Vec<(String, Word)>,
    /// Files that are opened for it.
    pub redirects: Vec<Redirect>,
    /// The text on its standard input, when a pipe, a heredoc or a here-string supplies it.
    pub input: Option<Word>,
    /// The text of the script file that an interpreter is given, when this command line wrote it.
    pub script: Option<Word>,
    /// Whether it certainly, or very likely, runs: always on a command line, where all that is
    /// written is meant; not everywhere in the script of a file.
    pub sure: bool,
    /// Whether it runs for each of the files that something finds, and there may be none.
    pub(crate) perhaps: bool,
    /// The programs that do nothing but start this one, the outermost first, each with its words:
    /// `sudo -u bob`, `bash -c …`.
    pub(crate) starters: Vec<Vec<Word>>,
    /// The connection to the step before.
    pub link: Link,
    /// The number that stands for the branch which is checked out when this runs, if it prints
    /// its name: later words may hold it.
    pub(crate) branch: Option<usize>,
}

/// A file opened by a redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// How it is opened.
    pub mode: Mode,
    /// The file as named.
    pub target: Word,
}

/// How a redirection opens its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// `<`
    Read,
    /// `>`, `>>`, `>|`, `&>`, `<>`
    Write,
}

impl Survey {
    /// The commands, without the conditions around them.
    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        self.steps.iter().filter_map(|step| match step {
            Step::Run(run) => Some(run),
            Step::Enter(_) | Step::Leave | Step::Ends(_) => None,
        })
    }
}

impl Run {
    /// Nothing yet, in this directory.
    pub(crate) fn empty(dir: Option<String>) -> Self {
        Self {
            words: Vec::new(),
            dir,
            vars: Vec::new(),
            redirects: Vec::new(),
            input: None,
            script: None,
            sure: true,
            perhaps: false,
            starters: Vec::new(),
            link: Link::Then,
            branch: None,
        }
    }

    /// The program's name without its directory and without `.exe`; nothing when unknown.
    pub fn program(&self) -> Option<&str> {
        program_name(self.words.first()?.literal()?)
    }

    /// The words after the program.
    pub fn args(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }
}

/// The last component of a program's path, without `.exe`.
pub fn program_name(path: &str) -> Option<&str> {
    let name = path.rsplit(['/', '\\']).next()?;
    let name = name.strip_suffix(".exe").unwrap_or(name);
    (!name.is_empty()).then_some(name)
}

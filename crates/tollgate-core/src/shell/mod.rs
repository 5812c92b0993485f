//! What a shell command would do: the simple commands it would run, in order, as far as that can
//! be told from its text.
//!
//! [`survey`] parses bash syntax with a scanner of its own and follows variables with literal
//! values, `cd`, functions, substitutions and the programs that only start another one (`env`,
//! `xargs`, `sh -c` …). It takes linear time, has hard caps, and never fails: what is beyond the
//! caps or cannot be parsed makes the survey [`opaque`](Survey::opaque). Quoted text is data and a
//! comment is nothing.
//!
//! What it deliberately does not do: run anything, read files, or know what a program means.
//! Meaning is given by [`writes`] and by `git::commits`. What a program such as `awk`, `make` or a
//! filter makes of a text is unknown; what it then does is caught by its effect, a commit by the
//! guard on git's side and a change of the state by its integrity.

mod code;
mod code_commands;
mod code_given;
mod compound;
mod doubt;
mod effects;
mod effects_copy;
mod effects_git;
mod expand;
mod files;
mod heredoc;
mod launch;
mod lex;
mod modes;
mod nested;
mod output;
mod parameter;
mod parse;
mod path;
mod redirect;
mod script;
mod sed;
mod state;
mod syntax;
mod walk;
mod word;
mod wrap;
mod wrappers;
pub mod writes;

use std::path::{Path, PathBuf};

pub(crate) use path::join;
pub(crate) use script::{
    Looks, MAX_DEPTH as MAX_SCRIPT_DEPTH, any_behind, names_script as runs_script,
};
pub use word::{Match, Word};
pub(crate) use wrap::split_words;

/// Longer commands are not parsed.
pub const MAX_COMMAND: usize = 256 * 1024;

/// Where the command would be started.
#[derive(Clone, Copy, Debug, Default)]
pub struct Start<'a> {
    /// The working directory, absolute.
    pub dir: Option<&'a Path>,
    /// The value of `HOME`.
    pub home: Option<&'a Path>,
}

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
    /// The value of `HOME`.
    pub home: Option<PathBuf>,
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
}

/// How a command is connected to what stands before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// It runs whatever happened before.
    Then,
    /// It runs only if what precedes succeeded: `&&`, the body of an `if`.
    And,
    /// It runs only if what precedes failed: `||`.
    Or,
    /// It runs only if the conditional part before it did not: `else`.
    Else,
    /// It runs beside the command before it, whose output it reads.
    Pipe,
    /// Whether it runs cannot be told: the arm of a `case`, a loop over unknown words.
    Maybe,
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
    /// The connection to the step before.
    pub link: Link,
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
            Step::Enter(_) | Step::Leave => None,
        })
    }
}

impl Run {
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
pub(crate) fn program_name(path: &str) -> Option<&str> {
    let name = path.rsplit(['/', '\\']).next()?;
    let name = name.strip_suffix(".exe").unwrap_or(name);
    (!name.is_empty()).then_some(name)
}

/// Reads a command line.
pub fn survey(command: &str, start: Start<'_>) -> Survey {
    if command.len() > MAX_COMMAND {
        return Survey {
            opaque: true,
            ..Survey::default()
        };
    }
    walk::survey(command, start)
}

/// Whether a command could run `word` (a program's name such as `git`) in any way that [`survey`]
/// would report or find opaque: a cheap check that lets many commands go unparsed.
///
/// It answers no only if nothing in the command can make words (expansions, braces, globs, shells
/// that read text) and the letters nowhere follow each other with
/// at most quotes, backslashes, line ends and NULs (which a shell drops) between them.
pub fn may_mention(command: &str, word: &str) -> bool {
    let makes_words = command
        .bytes()
        .any(|byte| matches!(byte, b'$' | b'`' | b'{' | b'*' | b'?' | b'['));
    if makes_words || command.len() > MAX_COMMAND {
        return true;
    }
    // Texts given to a shell, which may come from a decoder or be put together on the way.
    if ["sh", "eval", "source", ". "]
        .iter()
        .any(|sign| command.contains(sign))
    {
        return true;
    }
    let Some(first) = word.bytes().next() else {
        return true;
    };
    let mut rest = command.as_bytes();
    while let Some(at) = rest.iter().position(|byte| *byte == first) {
        rest = rest.get(at + 1..).unwrap_or_default();
        let mut letters = rest
            .iter()
            .filter(|byte| !matches!(byte, b'\'' | b'"' | b'\\' | b'\n' | 0));
        if word
            .bytes()
            .skip(1)
            .all(|wanted| letters.next() == Some(&wanted))
        {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests;

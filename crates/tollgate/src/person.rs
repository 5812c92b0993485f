//! Is a person there, and not an agent's shell?
//!
//! What only a person may do (trust a project's commands, allow what a guard blocks) takes a
//! [`Person`]: one at a terminal, or one who said yes in the chat. An agent's shell has no terminal;
//! one that borrows a terminal (`script`, `expect`) has the agent's marks in its environment; and one
//! that takes the marks out of it has them in the processes above it.
//!
//! This is a fence for an agent that tries the next thing that works. It is no wall against a
//! program of the same user that means harm, and nothing here pretends to be one.

use std::ffi::OsStr;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;

use tollgate_core::protocol::agent_marks;

use crate::ancestors::ancestors;
use crate::asked::{self, Answered};
use crate::random;

/// The proof of a person's word.
#[derive(Debug)]
pub(crate) enum Person {
    /// One is at the terminal, and can be asked.
    Present,
    /// One was asked in the chat what this command gives up, and said yes.
    Agreed(#[expect(dead_code, reason = "having it is the proof")] Answered),
}

/// Why there is none.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// Standard input or standard error is no terminal.
    NoTerminal,
    /// This variable says that an agent runs us; of the process with this number, if it is not
    /// our own.
    Agent(&'static str, Option<u32>),
}

impl std::fmt::Display for Absent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoTerminal => f.write_str("standard input and standard error are not a terminal"),
            Self::Agent(mark, None) => write!(f, "{mark} is set, so an agent runs this"),
            Self::Agent(mark, Some(pid)) => write!(
                f,
                "{mark} is set in process {pid}, which runs this, so it is an agent's"
            ),
        }
    }
}

impl Person {
    /// The person at the terminal.
    pub(crate) fn present() -> Result<Self, Absent> {
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            return Err(Absent::NoTerminal);
        }
        match agent() {
            Some((mark, pid)) => Err(Absent::Agent(mark, pid)),
            None => Ok(Self::Present),
        }
    }

    /// The person whose word this command of Tollgate has: one at the terminal, or one who agreed in
    /// the chat.
    pub(crate) fn for_command(what: &str) -> Result<Self, Absent> {
        Self::present().or_else(|absent| {
            let agreed = asked::answered(what).map(Self::Agreed);
            agreed.ok_or(absent)
        })
    }

    /// Asks a question that a plain "yes" answers. It was asked in the chat already.
    pub(crate) fn agrees(&self, question: &str) -> io::Result<bool> {
        match self {
            Self::Present => {
                let answer = ask(&format!("{question} [y/N] "))?;
                Ok(matches!(answer.to_lowercase().as_str(), "y" | "yes"))
            }
            Self::Agreed(_) => Ok(true),
        }
    }

    /// Asks about something that the question in the chat did not name.
    pub(crate) fn agrees_at_terminal(&self, question: &str) -> io::Result<bool> {
        match self {
            Self::Present => self.agrees(question),
            Self::Agreed(_) => Ok(false),
        }
    }

    /// Shows a new random word on the screen, to be retyped elsewhere.
    pub(crate) fn told_a_word(&self, what: &str) -> io::Result<String> {
        match self {
            Self::Present => {
                let word = word()?;
                let mut screen = io::stderr().lock();
                writeln!(screen, "{what}\nIf that is you, type {word} on the page.")?;
                screen.flush()?;
                Ok(word)
            }
            Self::Agreed(_) => Err(io::Error::other("there is no terminal")),
        }
    }

    /// Has a new random word retyped. In the chat, the yes was to exactly this.
    pub(crate) fn retypes(&self, what: &str) -> io::Result<bool> {
        match self {
            Self::Present => {
                let word = word()?;
                Ok(ask(&format!("{what}\nType {word} to confirm: "))? == word)
            }
            Self::Agreed(_) => Ok(true),
        }
    }
}

/// What the person at the terminal answers.
fn ask(question: &str) -> io::Result<String> {
    let mut screen = io::stderr().lock();
    screen.write_all(question.as_bytes())?;
    screen.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

/// The mark of the agent that runs us, if one does, and the process above us that has it, unless
/// we have it ourselves.
pub(crate) fn agent() -> Option<(&'static str, Option<u32>)> {
    let own = std::env::vars_os().find_map(|(name, value)| mark(&name, value.as_bytes()));
    own.map(|mark| (mark, None))
        .or_else(|| ancestors().find_map(|pid| Some((mark_of(pid)?, Some(pid)))))
}

/// The mark that a variable is, if it is one.
fn mark(name: &OsStr, value: &[u8]) -> Option<&'static str> {
    let found = agent_marks().find(|mark| name == *mark)?;
    (!value.is_empty() && value != b"0").then_some(found)
}

/// The mark in the environment that a process was started with. Where nobody tells (another
/// system, another user's process) there is none.
fn mark_of(pid: u32) -> Option<&'static str> {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    environment.split(|byte| *byte == 0).find_map(|variable| {
        let at = variable.iter().position(|byte| *byte == b'=')?;
        let (name, value) = variable.split_at_checked(at)?;
        mark(OsStr::from_bytes(name), value.get(1..).unwrap_or_default())
    })
}

/// A word of three syllables.
fn word() -> io::Result<String> {
    const HEADS: &[u8; 16] = b"bdfghklmnprstvwz";
    const TAILS: &[u8; 4] = b"aeio";
    let bytes: [u8; 4] = random::bytes()?;
    let letter = |set: &[u8], number: u8| {
        let at = usize::from(number) % set.len();
        char::from(set.get(at).copied().unwrap_or(b'a'))
    };
    Ok(bytes
        .iter()
        .flat_map(|byte| [letter(HEADS, byte & 15), letter(TAILS, byte >> 4)])
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_told_from_what_people_export() {
        for (name, value, is_mark) in [
            ("CLAUDECODE", "1", true),
            ("GEMINI_CLI", "1", true),
            ("CLAUDECODE", "", false),
            ("TOLLGATE_DEPTH", "0", false),
            ("GEMINI_API_KEY", "k", false),
            ("CODEX_HOME", "/h", false),
        ] {
            let found = mark(OsStr::new(name), value.as_bytes());
            assert_eq!(found.is_some(), is_mark, "{name}={value}");
        }
    }
}

//! Asking an agent's command line one question and getting one answer, without a
//! person.
//!
//! Every reviewer is started the same way: found in an absolute directory of `PATH`, in the
//! project's root, in its own process group, with the marks that make hooks inside it
//! approve at once *and* with its own hooks switched off where possible, standard output
//! and standard error apart, within a time. What differs between them (flags, the shape of what
//! they print, the text of a used-up quota) is in the agent's [`ReviewerRow`].
//!
//! [`ask`] says what the reviewer answered, or why there is no answer. It does not know what the
//! answer means: gates and plans have their own questions and read the answer with
//! [`objects::sole`].

mod command;
mod limits;
pub(crate) mod objects;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use crate::agents::AGENTS;
use crate::agents::places::find;
pub(crate) use crate::agents::reviewer::{Channel, Kind, NoAnswer, Question, Spoken, Usage};
use crate::agents::reviewer::{Heard, Invocation, Printed, ReviewerRow};
use crate::process::{Child, Children, End, Ended, Output};

/// What is kept of each stream of a reviewer. An answer is never that long; a stream of events
/// that quotes whole files may be.
const OUTPUT_CAP: u64 = 16 << 20;

/// No question is longer: Claude Code stops reading at 10 MB, Gemini at 8.
const QUESTION_LIMIT: usize = 7 << 20;

/// How much of standard error is looked at for the reason of a failure.
const STDERR_LOOK: u64 = 16 << 10;

/// Who is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reviewer {
    /// An agent.
    Agent(&'static ReviewerRow),
    /// Any program: a line for `sh`, which gets the question on its standard input. It is
    /// configuration, so the caller has made sure that a person trusts it.
    Command(String),
}

/// The name of [`Reviewer::Command`].
const COMMAND: &str = "command";

/// What came of a question.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) answer: Result<Spoken, NoAnswer>,
    pub(crate) usage: Usage,
    pub(crate) took: Duration,
    /// All that it printed on standard output.
    pub(crate) raw: String,
}

/// Whether a reviewer can be asked, without starting it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    Ready(PathBuf),
    /// None of these programs is in `PATH`.
    Missing(&'static [&'static str]),
}

/// The agents that can review.
fn rows() -> impl Iterator<Item = &'static ReviewerRow> {
    AGENTS.iter().filter_map(|agent| agent.reviewer.as_ref())
}

impl Reviewer {
    /// The reviewer of that name; `command` is the line of the reviewer `command`.
    pub(crate) fn named(name: &str, command: Option<&str>) -> Option<Self> {
        if name == COMMAND {
            return command.map(|line| Self::Command(line.to_owned()));
        }
        rows().find(|row| row.name == name).map(Self::Agent)
    }

    /// Every name there is.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        rows().map(|row| row.name).chain([COMMAND])
    }

    /// Its name in configurations and file names.
    pub(crate) fn name(&self) -> &'static str {
        self.row().map_or(COMMAND, |row| row.name)
    }

    fn row(&self) -> Option<&'static ReviewerRow> {
        match self {
            Self::Agent(row) => Some(row),
            Self::Command(_) => None,
        }
    }

    /// Whether it can be asked. Starts nothing.
    pub(crate) fn health(&self, search: &OsStr) -> Health {
        let programs: &[&str] = self.row().map_or(&["sh"], |row| row.programs);
        let found = programs.iter().find_map(|name| find(name, search));
        found.map_or(Health::Missing(programs), Health::Ready)
    }
}

/// Asks a reviewer and waits for its answer. `log` gets its standard error as it is printed, and
/// its standard output at the end.
pub(crate) fn ask(
    reviewer: &Reviewer,
    question: &Question<'_>,
    children: &Children,
    log: &File,
) -> Reply {
    let nothing = |answer| Reply {
        answer: Err(answer),
        usage: Usage::default(),
        took: Duration::ZERO,
        raw: String::new(),
    };
    let mut invocation = match prepare(reviewer, question) {
        Ok(invocation) => invocation,
        Err(answer) => return nothing(answer),
    };
    let input = invocation.input.take();
    let started = spool().and_then(|stdout| {
        let stderr = log.try_clone()?;
        let begin = stderr.metadata()?.len();
        let ended = children.run(Child {
            program: invocation.program,
            input,
            output: Output::Apart {
                stdout: stdout.try_clone()?,
                stderr,
                cap: OUTPUT_CAP,
            },
            timeout: question.timeout,
        });
        drop(invocation.files);
        Ok((ended, read_all(stdout)?, tail(log, begin)?))
    });
    match started {
        Ok((ended, bytes, stderr)) => {
            let mut log = log;
            let _best_effort = log
                .write_all(b"\n--- Output ---\n")
                .and_then(|()| log.write_all(&bytes));
            understand(reviewer, &ended, bytes, stderr)
        }
        Err(error) => nothing(Kind::NotStarted.because(error)),
    }
}

fn prepare(reviewer: &Reviewer, question: &Question<'_>) -> Result<Invocation, NoAnswer> {
    if question.prompt.len() > QUESTION_LIMIT {
        let size = format!("{} MB", question.prompt.len() >> 20);
        return Err(Kind::TooLarge.because(size));
    }
    // A model's name comes from the project's configuration; as a flag it could do anything.
    if let Some(model) = question.model.filter(|model| !is_model(model)) {
        return Err(Kind::NotStarted.because(format!("{model:?} is not the name of a model")));
    }
    let program = match reviewer.health(question.search) {
        Health::Ready(program) => program,
        Health::Missing(programs) => return Err(Kind::Missing.because(programs.join(" or "))),
    };
    let mut invocation = Invocation {
        program: crate::process::command(program),
        input: None,
        files: vec![],
        trouble: None,
    };
    invocation.program.current_dir(question.root);
    match reviewer {
        Reviewer::Command(line) => command::prepare(line, question, &mut invocation),
        Reviewer::Agent(row) => (row.prepare)(question, &mut invocation),
    }
    match invocation.trouble.take() {
        None => Ok(invocation),
        Some(error) => Err(Kind::NotStarted.because(error)),
    }
}

/// What a reviewer meant, from all that is known about its end.
pub(crate) fn understand(
    reviewer: &Reviewer,
    ended: &Ended,
    bytes: Vec<u8>,
    stderr: String,
) -> Reply {
    let is_whole = bytes.len() as u64 <= OUTPUT_CAP;
    let (stdout, is_text) = match String::from_utf8(bytes) {
        Ok(text) => (text, true),
        Err(error) => (
            String::from_utf8_lossy(error.as_bytes()).into_owned(),
            false,
        ),
    };
    let printed = Printed {
        code: match ended.end {
            End::Exited(code) => Some(code),
            End::Signalled(_) | End::TimedOut(_) | End::Cancelled | End::NotStarted(_) => None,
        },
        stdout,
        stderr,
    };
    let hear = reviewer
        .row()
        .map_or(Heard::plainly as fn(_) -> _, |row| row.hear);
    let Heard { answer, usage } = hear(&printed);
    // Whatever it printed before it died or was ended may have been a draft.
    let answer = match &ended.end {
        End::Exited(0) if !is_whole => Err(Kind::Unreadable.because("it printed too much")),
        End::Exited(0) if !is_text => Err(Kind::Unreadable.because("it printed no UTF-8")),
        End::Exited(0) => answer.and_then(|spoken| limits::hides_in(reviewer, spoken)),
        End::Exited(_) => Err(answer.err().filter(NoAnswer::tells_why).unwrap_or_else(|| {
            let said = last_line(&printed.stderr);
            Kind::Failed.because(format!("{}{said}", ended.describe()))
        })),
        End::Signalled(_) => Err(Kind::Killed.because(ended.describe())),
        End::TimedOut(_) => Err(Kind::TimedOut.because(ended.describe())),
        End::Cancelled => Err(Kind::Cancelled.because(ended.describe())),
        End::NotStarted(error) => Err(Kind::NotStarted.because(error)),
    };
    Reply {
        answer: answer.map_err(|answer| limits::recognise(reviewer, answer, &printed)),
        usage,
        took: ended.took,
        raw: printed.stdout,
    }
}

fn is_model(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('-')
        && name.len() <= 200
        && name.chars().all(|c| !c.is_control() && !c.is_whitespace())
}

/// A file without a name. It is opened for appending, as [`Output`] wants it.
fn spool() -> io::Result<File> {
    let named = tempfile::NamedTempFile::new()?;
    File::options().read(true).append(true).open(named.path())
}

fn read_all(mut file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(OUTPUT_CAP + 4096).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The end of what was written to `log` since it had the length `begin`.
fn tail(log: &File, begin: u64) -> io::Result<String> {
    let mut log = log;
    let length = log.metadata()?.len();
    log.seek(SeekFrom::Start(
        begin.max(length.saturating_sub(STDERR_LOOK)),
    ))?;
    let mut bytes = Vec::new();
    log.take(STDERR_LOOK).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn last_line(text: &str) -> String {
    let line = text.lines().rev().find(|line| !line.trim().is_empty());
    line.map_or(String::new(), |line| format!(": {}", line.trim()))
}

//! Asking an agent's command line one question and getting one answer, without anybody at the
//! keyboard.
//!
//! Every reviewer is started the same way: found in an absolute directory of `PATH`, in the
//! project's root, in a process group of its own, with the marks that make hooks inside it
//! approve at once *and* with its own hooks switched off where it can be told to, standard output
//! and standard error apart, within a time. What differs between them (flags, the shape of what
//! they print, how a used-up quota sounds) is one file and one row of [`CLIS`] each.
//!
//! [`ask`] says what the reviewer answered, or why there is no answer. It does not know what the
//! answer means: gates and plans have their own questions and read the answer with
//! [`objects::sole`].

pub(crate) mod claude;
mod codex;
mod command;
mod copilot;
mod cursor;
mod gemini;
mod limits;
mod no_answer;
pub(crate) mod objects;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::process::{Child, Children, End, Ended, Output};
pub(crate) use no_answer::{Kind, NoAnswer};

/// What is kept of each stream of a reviewer. An answer is never that long; a stream of events
/// that quotes whole files may be.
const OUTPUT_CAP: u64 = 16 << 20;

/// No question is longer: Claude Code stops reading at 10 MB, Gemini at 8.
const QUESTION_LIMIT: usize = 7 << 20;

/// The longest argument. Linux refuses one of 128 KiB; a longer text goes to standard input.
const ARGUMENT_LIMIT: usize = 100 << 10;

/// How much of standard error is looked at for the reason of a failure.
const STDERR_LOOK: u64 = 16 << 10;

/// An agent that Tollgate knows how to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cli {
    Claude,
    Codex,
    Gemini,
    Copilot,
    Cursor,
}

/// Who is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reviewer {
    /// An agent.
    Cli(Cli),
    /// Any program: a line for `sh`, which gets the question on its standard input. It is
    /// configuration, so the caller has made sure that a person trusts it.
    Command(String),
}

/// All that is particular about one agent.
struct Row {
    cli: Cli,
    /// Its name in configurations and file names.
    name: &'static str,
    /// What its program is called, the first that is found.
    programs: &'static [&'static str],
    prepare: fn(&Question<'_>, &mut Invocation),
    hear: fn(&Printed) -> Heard,
}

#[rustfmt::skip]
static CLIS: [Row; 5] = [
    Row { cli: Cli::Claude, name: "claude", programs: &["claude"], prepare: claude::prepare, hear: claude::hear },
    Row { cli: Cli::Codex, name: "codex", programs: &["codex"], prepare: codex::prepare, hear: codex::hear },
    Row { cli: Cli::Gemini, name: "gemini", programs: &["gemini"], prepare: gemini::prepare, hear: gemini::hear },
    Row { cli: Cli::Copilot, name: "github-copilot", programs: &["copilot"], prepare: copilot::prepare, hear: copilot::hear },
    // `agent` is what the installer also calls it, but it is anybody's name.
    Row { cli: Cli::Cursor, name: "cursor", programs: &["cursor-agent", "agent"], prepare: cursor::prepare, hear: cursor::hear },
];

/// The name of [`Reviewer::Command`].
const COMMAND: &str = "command";

/// One question.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question<'q> {
    pub(crate) prompt: &'q str,
    /// The JSON Schema of the answer, for reviewers that can be held to one. Strict: every
    /// object lists all its keys as required and allows no others.
    pub(crate) schema: &'q str,
    pub(crate) model: Option<&'q str>,
    /// Where it runs and may read.
    pub(crate) root: &'q Path,
    /// `PATH`.
    pub(crate) search: &'q OsStr,
    pub(crate) timeout: Option<Duration>,
}

/// What came of a question.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) answer: Result<Spoken, NoAnswer>,
    pub(crate) usage: Usage,
    pub(crate) took: Duration,
    /// All that it printed on standard output.
    pub(crate) raw: String,
}

/// What a reviewer said, without the wrapping of its command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spoken {
    pub(crate) text: String,
    pub(crate) channel: Channel,
}

/// How the text came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    /// The command line held the model to the schema: the text is the JSON and nothing else.
    Schema,
    /// The model wrote what it wanted.
    Prose,
    /// The command line was to hold the model to the schema and did not manage to.
    Missed,
}

/// What an answer cost, as far as the reviewer says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Usage {
    pub(crate) cost_usd: Option<f64>,
    pub(crate) input_tokens: Option<u64>,
    pub(crate) output_tokens: Option<u64>,
}

impl Usage {
    /// Of two questions together.
    pub(crate) fn plus(self, other: Self) -> Self {
        fn sum<N: std::ops::Add<Output = N>>(one: Option<N>, other: Option<N>) -> Option<N> {
            match (one, other) {
                (Some(one), Some(other)) => Some(one + other),
                (one, other) => one.or(other),
            }
        }
        Self {
            cost_usd: sum(self.cost_usd, other.cost_usd),
            input_tokens: sum(self.input_tokens, other.input_tokens),
            output_tokens: sum(self.output_tokens, other.output_tokens),
        }
    }
}

/// Whether a reviewer can be asked, without starting it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    Ready(PathBuf),
    /// None of these programs is in `PATH`.
    Missing(&'static [&'static str]),
}

/// How a reviewer is started.
struct Invocation {
    program: Command,
    input: Option<String>,
    /// Files that it reads, removed when it ended.
    files: Vec<tempfile::TempDir>,
    /// Why one of them could not be written.
    trouble: Option<io::Error>,
}

/// What a reviewer printed.
struct Printed {
    stdout: String,
    /// The end of it.
    stderr: String,
    code: Option<i32>,
}

/// What was understood of it.
struct Heard {
    answer: Result<Spoken, NoAnswer>,
    usage: Usage,
}

impl Reviewer {
    /// The reviewer of that name; `command` is the line of the reviewer `command`.
    pub(crate) fn named(name: &str, command: Option<&str>) -> Option<Self> {
        if name == COMMAND {
            return command.map(|line| Self::Command(line.to_owned()));
        }
        let row = CLIS.iter().find(|row| row.name == name)?;
        Some(Self::Cli(row.cli))
    }

    /// Every name there is.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        CLIS.iter().map(|row| row.name).chain([COMMAND])
    }

    /// Its name in configurations and file names.
    pub(crate) fn name(&self) -> &'static str {
        self.row().map_or(COMMAND, |row| row.name)
    }

    fn row(&self) -> Option<&'static Row> {
        match self {
            Self::Cli(cli) => CLIS.iter().find(|row| row.cli == *cli),
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
    match (reviewer, reviewer.row()) {
        (Reviewer::Command(line), _) => command::prepare(line, question, &mut invocation),
        (Reviewer::Cli(_), row) => {
            if let Some(row) = row {
                (row.prepare)(question, &mut invocation);
            }
        }
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
        .map_or(command::hear as fn(_) -> _, |row| row.hear);
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

/// A program in an absolute directory of `PATH`. A relative one would be the project's choice.
pub(crate) fn find(name: &str, search: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(search)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(name))
        .find(|path| {
            path.metadata()
                .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        })
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

impl Invocation {
    /// The question as an argument if it fits, else on standard input.
    fn say(&mut self, flag: &str, prompt: &str) {
        if prompt.len() <= ARGUMENT_LIMIT && !prompt.contains('\0') {
            self.program.arg(flag).arg(prompt);
        } else {
            self.input = Some(prompt.to_owned());
        }
    }

    /// A file with this text; returns its path.
    fn file(&mut self, text: &str) -> PathBuf {
        let written = tempfile::Builder::new()
            .prefix("tollgate-review-")
            .tempdir()
            .and_then(|directory| {
                let path = directory.path().join("file.json");
                File::create_new(&path)?.write_all(text.as_bytes())?;
                Ok((directory, path))
            });
        match written {
            Ok((directory, path)) => {
                self.files.push(directory);
                path
            }
            Err(error) => {
                self.trouble = Some(error);
                PathBuf::new()
            }
        }
    }
}

impl Heard {
    fn nothing(answer: NoAnswer) -> Self {
        Self {
            answer: Err(answer),
            usage: Usage::default(),
        }
    }

    /// What is printed is what is said.
    fn plainly(printed: &Printed) -> Self {
        Self {
            answer: spoken(&printed.stdout, Channel::Prose),
            usage: Usage::default(),
        }
    }
}

/// A text as an answer, unless there is nothing in it.
fn spoken(text: &str, channel: Channel) -> Result<Spoken, NoAnswer> {
    match text.trim() {
        "" => Err(Kind::Silent.because("")),
        text => Ok(Spoken {
            text: text.to_owned(),
            channel,
        }),
    }
}

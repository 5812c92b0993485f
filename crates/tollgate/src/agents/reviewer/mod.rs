//! An agent as a reviewer: what it is asked, and what is understood of what it prints.
//!
//! Each agent that can review has a [`ReviewerRow`]. `review::cli` starts it and judges how it ended.

mod no_answer;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Serialize;

pub(crate) use no_answer::{Kind, NoAnswer};

/// The longest argument. Linux refuses one of 128 KiB; a longer text goes to standard input.
pub(crate) const ARGUMENT_LIMIT: usize = 100 << 10;

/// All that is particular about one agent as a reviewer.
#[derive(Debug)]
pub(crate) struct ReviewerRow {
    /// Its name in configurations and file names.
    pub(crate) name: &'static str,
    /// What its program is called, the first that is found.
    pub(crate) programs: &'static [&'static str],
    pub(crate) prepare: fn(&Question<'_>, &mut Invocation),
    /// What is understood of what it printed.
    pub(crate) hear: fn(&Printed) -> Heard,
    /// How a used-up quota sounds besides the words that all use: parts of a message, in small
    /// letters.
    pub(crate) limits: &'static [&'static str],
    /// A file in the agent's home that exists when a person is logged in.
    pub(crate) login_file: &'static str,
    /// Variables that stand for a login.
    pub(crate) login_variables: &'static [&'static str],
}

impl PartialEq for ReviewerRow {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for ReviewerRow {}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Question<'q> {
    pub(crate) prompt: &'q str,
    /// The JSON Schema of the answer, for reviewers that can be held to one. Strict: every
    /// object lists all its keys as required and allows no others.
    pub(crate) schema: &'q str,
    pub(crate) model: Option<&'q str>,
    /// Where it runs and may read.
    pub(crate) root: &'q Path,
    pub(crate) search: &'q OsStr,
    pub(crate) timeout: Option<Duration>,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
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

pub(crate) struct Invocation {
    pub(crate) program: Command,
    pub(crate) input: Option<String>,
    /// Files that it reads, removed when it ended.
    pub(crate) files: Vec<tempfile::TempDir>,
    /// Why one of them could not be written.
    pub(crate) trouble: Option<io::Error>,
}

pub(crate) struct Printed {
    pub(crate) stdout: String,
    /// The end of it.
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
}

pub(crate) struct Heard {
    pub(crate) answer: Result<Spoken, NoAnswer>,
    pub(crate) usage: Usage,
}

impl Invocation {
    /// The question as an argument if it fits, else on standard input.
    pub(super) fn say(&mut self, flag: &str, prompt: &str) {
        if prompt.len() <= ARGUMENT_LIMIT && !prompt.contains('\0') {
            self.program.arg(flag).arg(prompt);
        } else {
            self.input = Some(prompt.to_owned());
        }
    }

    /// A file with this text; returns its path.
    pub(super) fn file(&mut self, text: &str) -> PathBuf {
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
    pub(super) fn nothing(answer: NoAnswer) -> Self {
        Self {
            answer: Err(answer),
            usage: Usage::default(),
        }
    }

    /// What is printed is what is said.
    pub(crate) fn plainly(printed: &Printed) -> Self {
        Self {
            answer: spoken(&printed.stdout, Channel::Prose),
            usage: Usage::default(),
        }
    }
}

/// A text as an answer, unless there is nothing in it.
pub(super) fn spoken(text: &str, channel: Channel) -> Result<Spoken, NoAnswer> {
    match text.trim() {
        "" => Err(Kind::Silent.because("")),
        text => Ok(Spoken {
            text: text.to_owned(),
            channel,
        }),
    }
}

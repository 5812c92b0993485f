//! Languages and their tools: which there are, and how each is tested and linted.
//!
//! A tool is proposed where the project shows that it uses it: by the tool's own configuration, by
//! a script of that name, or by what continuous integration runs. What every project of a language
//! has (a test command) needs no more than the manifest.

mod node;
mod python;
mod table;

use super::directory::Directory;

/// A language, or a runner of tasks, in one directory.
#[derive(Debug)]
pub(crate) struct Toolchain {
    /// What it is, for people: `TypeScript with pnpm`.
    pub(crate) name: String,
    /// The file that told.
    pub(crate) file: String,
    pub(crate) checks: Vec<Check>,
}

/// A command that tells whether the work is good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) role: Role,
    pub(crate) command: String,
}

/// What a check is for. In the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    Format,
    Lint,
    Types,
    Build,
    Test,
}

impl Role {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Format => "format",
            Self::Lint => "lint",
            Self::Types => "types",
            Self::Build => "build",
            Self::Test => "test",
        }
    }
}

impl Check {
    pub(super) fn new(role: Role, command: impl Into<String>) -> Self {
        Self {
            role,
            command: command.into(),
        }
    }

    /// The program that is started first.
    pub(crate) fn program(&self) -> &str {
        let mut words = self.command.split_whitespace();
        words
            .find(|word| !word.contains('='))
            .unwrap_or(&self.command)
    }
}

impl Toolchain {
    pub(super) fn new(
        name: impl Into<String>,
        file: impl Into<String>,
        checks: Vec<Check>,
    ) -> Self {
        Self {
            name: name.into(),
            file: file.into(),
            checks,
        }
    }
}

/// JavaScript and Python, which need more than a row, come after so many rows of the table: of
/// two languages in one directory the first gets the short names of checks.
const ROWS_BEFORE: usize = 2;

/// The languages of one directory.
pub(super) fn find(directory: &Directory<'_>) -> Vec<Toolchain> {
    let (native, others) = table::LANGUAGES.split_at(ROWS_BEFORE);
    let found = native.iter().map(|language| language.find(directory));
    found
        .chain([node::node(directory), python::python(directory)])
        .chain(others.iter().map(|language| language.find(directory)))
        .flatten()
        .collect()
}

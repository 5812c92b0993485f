//! Languages and their tools: which there are, and how each is tested and linted.
//!
//! A tool is proposed where the project shows that it uses it: by the tool's own configuration, by
//! a script of that name, or by what continuous integration runs. What every project of a language
//! has (a test command) needs no more than the manifest.

mod node;
mod python;
mod table;
mod workspace;

use super::directory::Directory;
pub(super) use workspace::Workspace;

/// A language, or a runner of tasks, in one directory.
#[derive(Debug)]
pub(crate) struct Toolchain {
    /// What it is, for people: `TypeScript with pnpm`.
    pub(crate) name: String,
    /// The file that shows it.
    pub(crate) file: String,
    pub(crate) checks: Vec<Check>,
}

/// A command that tells whether the work is good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) role: Role,
    pub(crate) command: String,
    /// The files that call for it, as patterns from the root on; it runs in the root then. Empty:
    /// it runs in its directory, and every file there calls for it.
    pub(crate) inputs: Vec<String>,
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
            inputs: Vec::new(),
        }
    }

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

/// Whether a directory's JavaScript has its own lock file, so that nothing above installs it.
pub(super) fn is_locked(directory: &Directory<'_>) -> bool {
    node::lock(directory).is_some()
}

/// The directories that a `go.work` uses, as it writes them: `./a`.
pub(super) fn go_modules(directory: &Directory<'_>) -> Vec<String> {
    used_modules(&directory.text("go.work").unwrap_or_default())
}

fn used_modules(text: &str) -> Vec<String> {
    let mut is_inside = false;
    let mut modules = Vec::new();
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        let rest = line
            .strip_prefix("use")
            .filter(|rest| rest.starts_with([' ', '\t', '(']));
        let rest = rest.map_or(line, str::trim);
        match rest {
            ")" => is_inside = false,
            "(" if line != rest => is_inside = true,
            path if is_inside || line != rest => {
                modules.extend((!path.is_empty()).then(|| path.trim_matches('"').to_owned()));
            }
            _ => {}
        }
    }
    modules
}

pub(super) fn find(directory: &Directory<'_>) -> Vec<Toolchain> {
    let (native, others) = table::LANGUAGES.split_at(ROWS_BEFORE);
    let found = native.iter().map(|language| language.find(directory));
    found
        .chain([node::node(directory), python::python(directory)])
        .chain(others.iter().map(|language| language.find(directory)))
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_modules_of_a_go_work_are_what_it_uses() {
        let text =
            "go 1.22\n\nuse ./tools // x\nuse (\n\t./api\n\n\t\"./web\"\n)\nreplace a => ./b\n";
        assert_eq!(used_modules(text), ["./tools", "./api", "./web"]);
    }
}

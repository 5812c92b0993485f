//! Python: pytest, tox, nox or unittest, and the linters that the project configures.

use super::super::directory::Directory;
use super::{Check, Role, Toolchain};

const MANIFESTS: &[&str] = &[
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "Pipfile",
    "tox.ini",
];

/// Who runs a command in the project's environment, by the file that tells.
const RUNNERS: &[(&str, &str)] = &[
    ("uv.lock", "uv run "),
    ("poetry.lock", "poetry run "),
    ("pdm.lock", "pdm run "),
    ("Pipfile", "pipenv run "),
];

/// A linter: its files, its table in `pyproject.toml`, its role, its command.
type Tool = (&'static [&'static str], &'static str, Role, &'static str);

const TOOLS: &[Tool] = &[
    (
        &["ruff.toml", ".ruff.toml"],
        "[tool.ruff",
        Role::Lint,
        "ruff check .",
    ),
    (&[".flake8"], "[tool.flake8", Role::Lint, "flake8"),
    (
        &[],
        "[tool.ruff.format]",
        Role::Format,
        "ruff format --check .",
    ),
    (&[], "[tool.black]", Role::Format, "black --check ."),
    (
        &["mypy.ini", ".mypy.ini"],
        "[tool.mypy]",
        Role::Types,
        "mypy .",
    ),
    (
        &["pyrightconfig.json"],
        "[tool.pyright]",
        Role::Types,
        "pyright",
    ),
];

pub(super) fn python(directory: &Directory<'_>) -> Option<Toolchain> {
    let file = directory.first(MANIFESTS)?;
    let runner = RUNNERS.iter().find(|(file, _)| directory.has(file));
    let runner = runner.map_or("", |(_, runner)| *runner);
    let mut checks: Vec<Check> = Vec::new();
    for (files, table, role, command) in TOOLS {
        let configured = directory.first(files).is_some()
            || directory.says("pyproject.toml", table)
            || directory.clues.ci_runs(command);
        let taken = checks.iter().any(|check| check.role == *role);
        if configured && !taken {
            checks.push(Check::new(*role, format!("{runner}{command}")));
        }
    }
    checks.extend(test(directory, runner));
    let name = match runner.split_whitespace().next() {
        Some(runner) => format!("Python with {runner}"),
        None => "Python".to_owned(),
    };
    Some(Toolchain::new(name, file, checks))
}

fn test(directory: &Directory<'_>, runner: &str) -> Option<Check> {
    let named = |what: &str| {
        [
            "pyproject.toml",
            "setup.cfg",
            "setup.py",
            "requirements.txt",
            "requirements-dev.txt",
            "dev-requirements.txt",
            "Pipfile",
            "tox.ini",
        ]
        .iter()
        .any(|file| directory.says(file, what))
    };
    let pytest = directory.first(&["pytest.ini", "conftest.py", "tests/conftest.py"]);
    let tests = directory.first(&["tests", "test"]);
    let are_functions = || tests.is_some_and(|tests| are_functions(directory, tests));
    let command = if pytest.is_some() || named("pytest") || are_functions() {
        // Through Python if no tool manages the environment: that finds the project's modules.
        let python = if runner.is_empty() {
            "python3 -m "
        } else {
            runner
        };
        format!("{python}pytest")
    } else if directory.has("tox.ini") {
        format!("{runner}tox")
    } else if directory.has("noxfile.py") {
        format!("{runner}nox")
    } else if let Some(tests) = tests {
        let python = if runner.is_empty() {
            "python3"
        } else {
            "python"
        };
        // From the root, unittest goes only into packages, and finding no test is a success for it.
        let start = if directory.has(&format!("{tests}/__init__.py")) {
            String::new()
        } else {
            format!(" -s {tests}")
        };
        format!("{runner}{python} -m unittest discover{start}")
    } else {
        return None;
    };
    Some(Check::new(Role::Test, command))
}

/// Whether the tests are functions, which pytest runs and unittest passes over.
fn are_functions(directory: &Directory<'_>, tests: &str) -> bool {
    let texts: Vec<String> = directory.texts(tests, "py");
    let say = |what: &str| {
        let mut lines = texts.iter().flat_map(|text| text.lines());
        lines.any(|line| line.starts_with(what))
    };
    let unittest = ["import unittest", "from unittest"];
    let functions = [
        "def test_",
        "async def test_",
        "import pytest",
        "from pytest",
    ];
    functions.iter().any(|what| say(what)) && !unittest.iter().any(|what| say(what))
}

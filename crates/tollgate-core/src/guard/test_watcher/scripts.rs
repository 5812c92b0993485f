//! A project's own ways to run its tests: a package's script, a target, a file of that name.

use super::runners::{after_options, verb};
use tollgate_shell::{Run, Word};

/// Options of package managers that take the next word along.
pub(super) const PACKAGE_OPTIONS: &[&str] = &[
    "--filter",
    "-F",
    "--prefix",
    "-C",
    "--cwd",
    "-w",
    "--workspace",
];

/// A package's or a Makefile's own way to run its tests.
pub(super) fn is_script(program: &str, args: &[&str]) -> bool {
    let first = verb(args);
    match program {
        "npm" | "pnpm" | "yarn" | "bun" => {
            let mut words = after_options(args, PACKAGE_OPTIONS).unwrap_or_default();
            // `yarn workspace api test`
            if let ["workspace", _, rest @ ..] = words {
                words = rest;
            }
            let first = verb(words);
            let mut after = words.iter().skip_while(|arg| **arg != first).skip(1);
            let script = after.find(|arg| !arg.starts_with('-')).copied();
            matches!(first, "test" | "t" | "tst")
                || (matches!(first, "run" | "run-script") && script.is_some_and(names_tests))
                || (program != "npm" && names_tests(first))
        }
        "make" | "gmake" => {
            !has_flag(args, 'n') && args.iter().any(|arg| names_tests(arg) || *arg == "check")
        }
        "just" | "task" => {
            !args.contains(&"-n") && args.iter().any(|arg| names_tests(arg) || *arg == "check")
        }
        "rake" => {
            let only_lists = args.iter().any(|arg| matches!(*arg, "-n" | "-T" | "-P"));
            !only_lists && args.iter().any(|arg| names_tests(arg) || *arg == "spec")
        }
        "tox" | "nox" => !args.contains(&"-l") && any_environment_tests(args),
        "ctest" => {
            let shows = |arg: &&str| *arg == "-N" || arg.starts_with("--show-only");
            !args.iter().any(shows)
        }
        "bats" => !args.iter().any(|arg| matches!(*arg, "-c" | "--count")),
        "robot" => !args.contains(&"--dryrun"),
        "prove" | "behave" | "behat" | "cucumber" | "cucumber-js" | "jasmine" | "nose2" => true,
        "bazel" | "bazelisk" => first == "test" && !args.contains(&"--nobuild"),
        "sbt" | "lein" | "stack" | "cabal" | "nx" | "ng" | "hatch" | "django-admin" => {
            first == "test"
        }
        "turbo" => args.iter().any(|arg| names_tests(arg)),
        "sh" | "bash" | "zsh" | "dash" => !args.contains(&"-n") && is_test_script(first),
        "deno" => first == "task" && args.iter().any(|arg| names_tests(arg)),
        "swift" | "mix" | "rails" | "composer" | "zig" | "dart" | "flutter" => first == "test",
        _ => false,
    }
}

/// Whether a 0 of a command says nothing about its tests: make ignores their failures, or the
/// package need not have such a script.
pub(super) fn may_hide_failures(run: &Run) -> bool {
    let args: Vec<&str> = run.args().iter().filter_map(Word::literal).collect();
    match run.program() {
        Some("make" | "gmake") => has_flag(&args, 'i') || args.contains(&"--ignore-errors"),
        Some("npm" | "pnpm" | "yarn" | "bun") => args.contains(&"--if-present"),
        Some(_) | None => false,
    }
}

/// Whether make is given a flag, alone or with others: `-n`, `-kn`.
fn has_flag(args: &[&str], flag: char) -> bool {
    /// Those that take no value.
    const FLAGS: &str = "bBdeikmnpqrRsStvw";
    let mut groups = args.iter().filter_map(|arg| arg.strip_prefix('-'));
    groups.any(|group| group.contains(flag) && group.chars().all(|one| FLAGS.contains(one)))
}

/// What is done around tests. A success of it is no success of a test.
const AROUND: &str = "assemble black build clean compile config data database db debug deps dependencies \
    docker docs down env environment fixture fixtures flake8 fmt format gen generate help \
    helpers image images init install isort lint list migrate mock mocks mypy open prepare \
    process pylint report reports reset ruff seed serve server services setup start stop \
    teardown typecheck types ui up update utils watch";

fn is_around(word: &str) -> bool {
    AROUND.split(' ').any(|around| around == word)
}

/// The words of a name: `test`, `db` and `reset` of `test:db-reset`.
fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split([':', '-', '_'])
}

/// Whether a target or a package's script runs tests by its name: `test`, `test:unit`,
/// `e2e-smoke`, and not `test-deps` or `test:watch`.
fn names_tests(name: &str) -> bool {
    let first = words(name).next().unwrap_or(name);
    !words(name).skip(1).any(is_around)
        && (matches!(first, "test" | "tests" | "e2e") || name.ends_with(":test"))
}

/// Whether a task of gradle whose name ends with `Test` only prepares them: `compileTest`.
pub(super) fn prepares_tests(task: &str) -> bool {
    is_around(task.split(char::is_uppercase).next().unwrap_or_default())
}

/// Whether tox or nox is asked for an environment that may test: for all of them, or for one whose
/// name tells of nothing else.
fn any_environment_tests(args: &[&str]) -> bool {
    let mut named: Vec<&str> = Vec::new();
    let mut is_named = false;
    for arg in args {
        let (option, value) = arg.split_once('=').unwrap_or((arg, ""));
        let asks = matches!(option, "-e" | "-s" | "--session" | "--sessions");
        if asks && !value.is_empty() {
            named.extend(value.split(','));
        } else if arg.starts_with('-') {
            is_named = asks;
        } else if is_named {
            named.extend(arg.split(','));
        }
    }
    named.is_empty() || named.iter().any(|name| !words(name).any(is_around))
}

/// Whether a file is called like the script that runs a project's tests: `./test.sh`, `bin/test`.
pub(super) fn is_test_script(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name
        .strip_suffix(".sh")
        .or_else(|| name.strip_suffix(".bash"));
    // Without a directory, or in the system's, `test` is the shell's own word.
    let is_ours = path.contains('/') && !path.starts_with('/');
    let Some(stem) = stem.or_else(|| is_ours.then_some(name)) else {
        return false;
    };
    let stem = stem.replace('_', "-");
    matches!(
        stem.as_str(),
        "test" | "tests" | "test-all" | "run-test" | "run-tests" | "runtests" | "run-all-tests"
    )
}

/// `make: Nothing to be done for 'test'.`, `make: 'test' is up to date.`: there is a directory of
/// that name, and no test was run.
pub(super) fn is_idle_make(line: &str) -> bool {
    let said = line.strip_prefix("make: ");
    let target = said.and_then(|said| {
        let said = said
            .strip_prefix("Nothing to be done for ")
            .or_else(|| said.strip_suffix(" is up to date."))?;
        Some(said.trim_matches(['\'', '`', '.']))
    });
    target.is_some_and(|target| names_tests(target) || target == "check")
}

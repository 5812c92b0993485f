//! A project's own ways to run its tests: a package's script, a target, a file of that name.

use super::runners::{after_options, verb};

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
        "make" | "gmake" | "just" | "task" => {
            args.iter().any(|arg| names_tests(arg) || *arg == "check")
        }
        "rake" => args.iter().any(|arg| names_tests(arg) || *arg == "spec"),
        "tox" | "nox" => !args.contains(&"-l"),
        "ctest" => !args.contains(&"-N"),
        "bats" | "prove" | "behave" | "behat" | "cucumber" | "cucumber-js" | "robot"
        | "jasmine" | "nose2" => true,
        "sbt" | "lein" | "stack" | "cabal" | "bazel" | "bazelisk" | "nx" | "ng" | "hatch"
        | "django-admin" => first == "test",
        "turbo" => args.iter().any(|arg| names_tests(arg)),
        "sh" | "bash" | "zsh" | "dash" => is_test_script(first),
        "deno" => first == "task" && args.iter().any(|arg| names_tests(arg)),
        "swift" | "mix" | "rails" | "composer" | "zig" | "dart" | "flutter" => first == "test",
        _ => false,
    }
}

/// Whether a target or a package's script runs tests by its name: `test`, `test:unit`,
/// `e2e-smoke`, and not `test-deps` or `test:watch`.
fn names_tests(name: &str) -> bool {
    /// What is done around tests. A success of it is no success of a test.
    const AROUND: &str = "build clean compile config data database db debug deps dependencies docker docs \
        down env environment fixture fixtures fmt format gen generate help image images \
        init install lint list migrate mock mocks open prepare report reports reset seed \
        serve server services setup start stop teardown typecheck types ui up update \
        watch";
    let mut words = name.split([':', '-', '_']);
    let first = words.next().unwrap_or(name);
    let is_around = words.any(|word| AROUND.split(' ').any(|around| around == word));
    !is_around && (matches!(first, "test" | "tests" | "e2e") || name.ends_with(":test"))
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

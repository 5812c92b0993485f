//! Which commands are test runs.
//!
//! A command is a test run if it starts a test runner: a program with certain arguments, found
//! by reading the command as a shell would. A runner's name in a file name, in quotes or in a
//! search pattern is no run, and neither is a runner that only lists its tests.

use super::summary::{self, Summary};
use super::{jvm, scripts};
use tollgate_shell::{Run, program_name};

#[derive(Debug)]
pub(crate) struct Runner {
    pub(crate) name: &'static str,
    /// Whether a program with these arguments is a run of it.
    runs: fn(&str, &[&str]) -> bool,
    /// Arguments with which nothing is tested.
    idle: &'static [&'static str],
    /// How its summary is read.
    read: fn(&str) -> Option<Summary>,
}

/// A program that runs tests, and how what it prints is read.
pub(crate) const RUNNERS: &[Runner] = &[
    Runner {
        name: "cargo nextest",
        runs: |program, args| {
            (program == "cargo-nextest" && args.iter().any(|arg| matches!(*arg, "run" | "r")))
                || (program == "cargo"
                    && verb(args) == "nextest"
                    && args.iter().any(|arg| matches!(*arg, "run" | "r")))
                || (program == "cargo" && verb(args) == "llvm-cov" && args.contains(&"nextest"))
        },
        idle: &["--no-run"],
        read: summary::nextest,
    },
    Runner {
        name: "cargo test",
        runs: |program, args| {
            program == "cargo" && matches!(verb(args), "test" | "t" | "tarpaulin" | "llvm-cov")
        },
        idle: &["--no-run", "--list"],
        read: summary::cargo,
    },
    Runner {
        name: "pytest",
        runs: |program, _| matches!(program, "pytest" | "py.test"),
        idle: &["--collect-only", "--co", "--fixtures", "--markers"],
        read: summary::pytest,
    },
    Runner {
        name: "unittest",
        runs: |program, args| {
            program == "unittest" || (program == "manage.py" && verb(args) == "test")
        },
        idle: &[],
        read: summary::unittest,
    },
    Runner {
        name: "go test",
        runs: |program, args| (program == "go" && verb(args) == "test") || program == "gotestsum",
        idle: &["-list", "-c"],
        read: summary::go,
    },
    Runner {
        name: "node --test",
        runs: |program, args| {
            matches!(program, "node" | "nodejs" | "tsx") && args.contains(&"--test")
        },
        idle: &[],
        read: summary::node,
    },
    Runner {
        name: "jest",
        runs: |program, args| {
            program == "jest" || (program == "react-scripts" && verb(args) == "test")
        },
        idle: &["--listTests", "--showConfig", "--clearCache", "--init"],
        read: summary::jest,
    },
    Runner {
        name: "vitest",
        runs: |program, args| {
            program == "vitest" && !matches!(verb(args), "list" | "init" | "bench")
        },
        idle: &[],
        read: summary::vitest,
    },
    Runner {
        name: "mocha",
        runs: |program, args| {
            matches!(program, "mocha" | "_mocha") || (program == "cypress" && verb(args) == "run")
        },
        idle: &["--dry-run"],
        read: summary::mocha,
    },
    Runner {
        name: "playwright",
        runs: |program, args| program == "playwright" && verb(args) == "test",
        idle: &["--list"],
        read: summary::playwright,
    },
    Runner {
        name: "maven",
        runs: |program, args| {
            let is_goal = |arg: &&str| {
                matches!(*arg, "test" | "verify" | "integration-test") || arg.ends_with(":test")
            };
            matches!(program, "mvn" | "mvnw" | "mvnd" | "mvnw.cmd") && args.iter().any(is_goal)
        },
        idle: &[
            "-DskipTests",
            "-DskipTests=true",
            "-Dmaven.test.skip",
            "-Dmaven.test.skip=true",
        ],
        read: jvm::maven,
    },
    Runner {
        name: "gradle",
        runs: |program, args| {
            let is_task = |task: &str| {
                let task = task.rsplit(':').next().unwrap_or(task);
                // `check -x test` checks, and tests nothing.
                let tests = task == "test" || task == "check" && !excludes_tests(args);
                tests || (task.ends_with("Test") && !scripts::prepares_tests(task))
            };
            let mut skipped = false;
            matches!(program, "gradle" | "gradlew" | "gradlew.bat")
                && args.iter().any(|arg| {
                    let is_excluded = std::mem::replace(
                        &mut skipped,
                        matches!(*arg, "-x" | "--exclude-task" | "-p"),
                    );
                    !is_excluded && is_task(arg)
                })
        },
        idle: &["--dry-run", "-m"],
        read: jvm::gradle,
    },
    Runner {
        name: "dotnet test",
        runs: |program, args| program == "dotnet" && matches!(verb(args), "test" | "vstest"),
        idle: &["--list-tests", "-t"],
        read: summary::dotnet,
    },
    Runner {
        name: "rspec",
        runs: |program, _| program == "rspec",
        idle: &["--dry-run"],
        read: summary::rspec,
    },
    Runner {
        name: "phpunit",
        runs: |program, args| {
            matches!(program, "phpunit" | "pest" | "paratest" | "simple-phpunit")
                || (program == "artisan" && verb(args) == "test")
        },
        idle: &["--list-tests", "--list-suites"],
        read: summary::pest,
    },
    Runner {
        name: "junit",
        runs: |program, args| {
            let launches = |arg: &&str| {
                arg.contains("junit-platform-console")
                    || arg.contains("junit.platform.console")
                    || arg.ends_with("runner.JUnitCore")
            };
            program == "java" && args.iter().any(launches)
        },
        idle: &["discover", "engines"],
        read: jvm::junit,
    },
    Runner {
        name: "bun test",
        runs: |program, args| program == "bun" && verb(args) == "test",
        idle: &[],
        read: summary::bun,
    },
    Runner {
        name: "deno test",
        runs: |program, args| program == "deno" && verb(args) == "test",
        idle: &["--no-run"],
        read: summary::deno,
    },
    Runner {
        name: "a script",
        runs: scripts::is_script,
        idle: &[
            "--dry-run",
            "--list",
            "--notest",
            "--listTests",
            "--just-print",
        ],
        read: any,
    },
];

/// Arguments with which no program does its work.
const HELP: &[&str] = &["--help", "--version", "-h"];

impl Runner {
    pub(crate) fn of(run: &Run) -> Option<&'static Self> {
        let words = run.words.iter();
        let words: Vec<&str> = words
            .map(|word| word.literal().unwrap_or_default())
            .collect();
        let (program, args) = started(&words, 0)?;
        // A file has its name, and not that of a program; `verb` has no place for it.
        let (program, args) = match words.first() {
            Some(file) if scripts::is_test_script(file) => ("sh", words.as_slice()),
            _ => (program, args),
        };
        let runner = RUNNERS.iter().find(|runner| (runner.runs)(program, args))?;
        let is_idle = |arg: &&str| HELP.contains(arg) || runner.idle.contains(arg);
        (!args.iter().any(is_idle)).then_some(runner)
    }

    /// What its output, without colours, says at the end. A custom reporter may leave
    /// nothing but the counts.
    pub(crate) fn read(&self, text: &str) -> Option<Summary> {
        (self.read)(text).or_else(|| summary::bare_counts(text))
    }
}

/// The first argument that is no option and no `+toolchain`.
pub(super) fn verb<'a>(args: &[&'a str]) -> &'a str {
    let mut args = args.iter().filter(|arg| !arg.starts_with(['-', '+']));
    args.next().copied().unwrap_or_default()
}

/// Whether a gradle command leaves the task `test` out.
fn excludes_tests(args: &[&str]) -> bool {
    args.windows(2).any(|pair| match pair {
        [option, task] => {
            matches!(*option, "-x" | "--exclude-task") && task.rsplit(':').next() == Some("test")
        }
        _ => false,
    })
}

/// The summary of whichever runner a script started; of several the worst counts.
fn any(text: &str) -> Option<Summary> {
    // Pest writes what jest writes, and nothing is counted twice.
    let is_named = |runner: &&Runner| !matches!(runner.name, "a script" | "phpunit");
    let read = RUNNERS
        .iter()
        .filter(is_named)
        .filter_map(|runner| (runner.read)(text));
    let all = read.chain(summary::phpunit(text)).reduce(Summary::and);
    all.or_else(|| summary::none(summary::any_line(text, scripts::is_idle_make)))
}

/// The program that words start in the end, seen through the programs that only find another
/// one, and its arguments.
fn started<'w, 'a>(words: &'w [&'a str], depth: u32) -> Option<(&'a str, &'w [&'a str])> {
    /// `npx npx npx …` ends somewhere.
    const MAX_DEPTH: u32 = 8;
    let (first, args) = words.split_first()?;
    let program = program_name(first)?;
    let version = |c: char| c.is_ascii_digit() || c == '.';
    let next = match program.trim_end_matches(version) {
        _ if depth > MAX_DEPTH => None,
        "npx" | "pnpx" | "bunx" => after_options(args, &["-p", "--package", "-c"]),
        "npm" | "pnpm" | "yarn" | "bun" => {
            let rest = after_options(args, scripts::PACKAGE_OPTIONS);
            let rest = rest.map(|rest| match rest.split_first() {
                Some((&("exec" | "dlx" | "x" | "run" | "workspace"), rest)) => rest,
                _ => rest,
            });
            rest.filter(|rest| starts_runner(rest))
        }
        "uv" | "poetry" | "pipenv" | "hatch" | "pdm" | "rye" | "conda" | "nyc" | "c"
        | "cross-env" | "dotenv" | "env-cmd" | "docker" | "docker-compose" => {
            let at = args.iter().position(|word| starts_runner(&[word]));
            at.and_then(|at| args.get(at..))
        }
        "python" | "py" | "coverage" => {
            let module = args.iter().position(|arg| *arg == "-m");
            let module = module.and_then(|at| args.get(at + 1..));
            module.or_else(|| after_options(args, &["-W", "-X"]))
        }
        "node" | "nodejs" | "php" | "ruby" if !args.contains(&"--test") => {
            let valued = ["-r", "--require", "--import", "--loader", "-d", "-S"];
            after_options(args, &valued)
        }
        _ => None,
    };
    match next {
        Some(next) => started(next, depth + 1),
        None => Some((stem(program), args)),
    }
}

/// `jest` of `jest.js` and `vitest.mjs`; other dots belong to the name.
fn stem(program: &str) -> &str {
    let mut endings = [".js", ".mjs", ".cjs", ".phar", ".cmd"].iter();
    let bare = endings.find_map(|ending| program.strip_suffix(ending));
    bare.unwrap_or(program)
}

/// Whether the first word is a runner's program, or one that finds it.
fn starts_runner(words: &[&str]) -> bool {
    let name = words.first().and_then(|word| program_name(word));
    name.is_some_and(|name| {
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        matches!(
            stem(name),
            "pytest"
                | "py.test"
                | "python"
                | "jest"
                | "vitest"
                | "mocha"
                | "_mocha"
                | "playwright"
                | "cypress"
                | "node"
                | "tsx"
                | "rspec"
                | "phpunit"
                | "react-scripts"
                | "npm"
                | "yarn"
                | "pnpm"
                | "cargo"
                | "go"
                | "tox"
                | "nyc"
                | "cross-env"
        )
    })
}

/// What follows the options; those named take the next word along.
pub(super) fn after_options<'w, 'a>(args: &'w [&'a str], valued: &[&str]) -> Option<&'w [&'a str]> {
    let mut rest = args;
    while let Some((first, after)) = rest.split_first() {
        let is_assignment = first.contains('=') && !first.starts_with(['/', '.']);
        if !first.starts_with('-') && !is_assignment {
            return Some(rest);
        }
        rest = if valued.contains(first) {
            after.get(1..).unwrap_or_default()
        } else {
            after
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_shell::{World, survey};

    fn runner(command: &str) -> Option<&'static str> {
        let survey = survey(command, &World::unknown());
        survey.runs().find_map(Runner::of).map(|runner| runner.name)
    }

    #[test]
    fn a_script_counts_the_tests_of_its_runner_once() {
        let jest = "Tests:       1 skipped, 3 passed, 4 total\n";
        assert_eq!(any(jest), summary::jest(jest));
        let phpunit = "OK (5 tests, 8 assertions)\n";
        assert_eq!(any(phpunit), summary::phpunit(phpunit));
    }

    /// F11: `cat jest.config.js` was a test run, and a passing `cargo test` had failed.
    #[test]
    fn f11_a_run_is_a_program_not_a_word() {
        for (command, expected) in [
            ("cargo test", "cargo test"),
            (
                "cd crates/x && cargo +nightly test -p y --locked",
                "cargo test",
            ),
            ("cargo t", "cargo test"),
            ("cargo +nightly t", "cargo test"),
            ("cargo -q t", "cargo test"),
            ("cargo nextest run -p x", "cargo nextest"),
            ("RUST_LOG=1 timeout 60 cargo test", "cargo test"),
            ("pytest -q tests", "pytest"),
            ("python -m pytest", "pytest"),
            ("python3.11 -X dev -m pytest -x", "pytest"),
            ("poetry run pytest", "pytest"),
            ("uv run --with x pytest", "pytest"),
            ("coverage run -m pytest", "pytest"),
            ("python -m unittest discover", "unittest"),
            ("python manage.py test app", "unittest"),
            ("go test ./...", "go test"),
            ("node --test", "node --test"),
            ("node --import tsx --test src/", "node --test"),
            ("c8 node --test", "node --test"),
            ("npx jest --ci", "jest"),
            ("npx --yes jest", "jest"),
            ("yarn jest", "jest"),
            ("node_modules/.bin/jest", "jest"),
            ("node node_modules/jest/bin/jest.js", "jest"),
            ("pnpm exec vitest run", "vitest"),
            ("npx mocha", "mocha"),
            ("nyc mocha", "mocha"),
            ("npx cypress run", "mocha"),
            ("npx playwright test", "playwright"),
            ("mvn -q test", "maven"),
            ("./mvnw verify", "maven"),
            ("./gradlew :app:test", "gradle"),
            ("gradle check", "gradle"),
            ("dotnet test", "dotnet test"),
            ("bundle exec rspec", "rspec"),
            ("./vendor/bin/phpunit", "phpunit"),
            ("php artisan test", "phpunit"),
            ("gradle connectedDebugAndroidTest", "gradle"),
            ("npm test", "a script"),
            ("npm test -- -n 4", "a script"),
            ("npm --prefix app t", "a script"),
            ("yarn tst", "a script"),
            ("tox", "a script"),
            ("tox -e py311,lint", "a script"),
            ("nox -s lint tests", "a script"),
            ("make -i test", "a script"),
            ("npm run test:unit -- --ci", "a script"),
            ("npm run e2e", "a script"),
            ("yarn test", "a script"),
            ("pnpm test", "a script"),
            ("make test", "a script"),
            ("sh -c 'cargo test'", "cargo test"),
            ("npm --prefix app test", "a script"),
            ("pnpm --filter api test", "a script"),
            ("yarn workspace api test", "a script"),
            ("./test.sh", "a script"),
            ("scripts/run_tests.sh -v", "a script"),
            ("bash run-tests.sh", "a script"),
            ("bin/test", "a script"),
            ("bats test/", "a script"),
            ("bazel test //...", "a script"),
            ("npx nx test api", "a script"),
            ("sbt test", "a script"),
        ] {
            assert_eq!(runner(command), Some(expected), "{command}");
        }
        for command in [
            "cat jest.config.js",
            "git log --grep pytest",
            "grep -rn 'npm test' .",
            "echo cargo test",
            "cargo build --tests",
            "cargo test --no-run",
            "cargo test -- --list",
            "pytest --collect-only",
            "npx jest --listTests",
            "npm run build",
            "npm install jest",
            "npm run latest",
            "git checkout test",
            "mvn -DskipTests verify",
            "gradle build -x test",
            "pip install pytest",
            "python test_x.py",
            "node x.test.js",
            "ls test",
            "dotnet test --list-tests",
            "cat > t.sh <<'E'\nnpm test\nE",
            "cargo nextest list",
            "make test-deps",
            "make test_clean",
            "npm run test:db:reset",
            "npm run test:watch",
            "yarn test --listTests",
            "tox -l",
            "tox -e lint",
            "tox run -e lint,mypy -- -x",
            "nox -s docs",
            "nox --session=black",
            "gradle compileTest",
            "gradle cleanTest",
            "make -n test",
            "make -kn test",
            "npm run test-utils",
            "rake -T test",
            "robot --dryrun x",
            "bats --count test",
            "ctest --show-only",
            "ctest --show-only=json-v1",
            "bazel test --nobuild //...",
            "ctest -N",
            "sh -n test.sh",
            "test -f x",
            "/usr/bin/test -f x",
            "[ -f tests ]",
            "./setup-test-env.sh",
            "./create_test_db.sh",
            "cat ./test.sh",
            "chmod +x test.sh",
        ] {
            assert_eq!(runner(command), None, "{command}");
        }
    }
}

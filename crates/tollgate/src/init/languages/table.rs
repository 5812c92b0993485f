//! Languages whose checks are rows of a table: each by the files that show it.

use serde_json::Value;

use super::super::directory::Directory;
use super::{Check, Role, Toolchain};

/// A language: its name, the files that show it, and its checks. Of a role the first check counts
/// whose sign is there; a build counts where nothing is tested.
pub(super) struct Language {
    name: &'static str,
    /// One of these; `*.end` is any file with that ending.
    files: &'static [&'static str],
    checks: &'static [(Role, Sign, &'static str)],
}

/// What shows that a project uses a tool.
enum Sign {
    Always,
    /// One of these files or directories is there.
    Has(&'static [&'static str]),
    /// This file contains one of these texts.
    Says(&'static str, &'static [&'static str]),
    /// Continuous integration runs it.
    CiRuns(&'static str),
    /// It has one of these files, or continuous integration runs it, or the program is here.
    Used(&'static [&'static str], &'static str, &'static str),
    /// `composer.json` has this script, and it does something.
    Composer(&'static str),
}

use Role::{Build, Format, Lint, Test, Types};
use Sign::{Always, CiRuns, Composer, Has, Says, Used};

const RUSTFMT: Sign = Used(&["rustfmt.toml", ".rustfmt.toml"], "cargo fmt", "cargo-fmt");
const CLIPPY: Sign = Used(
    &["clippy.toml", ".clippy.toml"],
    "cargo clippy",
    "cargo-clippy",
);
const GOLANGCI: Sign = Has(&[
    ".golangci.yml",
    ".golangci.yaml",
    ".golangci.toml",
    ".golangci.json",
]);
const CTEST: Sign = Says("CMakeLists.txt", &["enable_testing", "include(CTest)"]);

pub(super) const LANGUAGES: &[Language] = &[
    Language {
        name: "Rust",
        files: &["Cargo.toml"],
        checks: &[
            (Format, RUSTFMT, "cargo fmt --all --check"),
            (
                Lint,
                CLIPPY,
                "cargo clippy{workspace} --all-targets -- -D warnings",
            ),
            (Test, Always, "cargo test{workspace}"),
        ],
    },
    Language {
        name: "Go",
        files: &["go.mod", "go.work"],
        checks: &[
            (Lint, GOLANGCI, "golangci-lint run{work}"),
            (Lint, Always, "go vet {modules}"),
            (Test, Always, "go test {modules}"),
        ],
    },
    Language {
        name: "Deno",
        files: &["deno.json", "deno.jsonc"],
        checks: &[(Lint, Always, "deno lint"), (Test, Always, "deno test")],
    },
    Language {
        name: "Java with Maven",
        files: &["pom.xml"],
        checks: &[
            (Test, Has(&["mvnw"]), "./mvnw -q -B verify"),
            (Test, Always, "mvn -q -B verify"),
        ],
    },
    Language {
        name: "Java or Kotlin with Gradle",
        files: &[
            "settings.gradle.kts",
            "settings.gradle",
            "build.gradle.kts",
            "build.gradle",
        ],
        checks: &[
            (Test, Has(&["gradlew"]), "./gradlew check"),
            (Test, Always, "gradle check"),
        ],
    },
    Language {
        name: "Scala with sbt",
        files: &["build.sbt"],
        checks: &[(Test, Always, "sbt test")],
    },
    Language {
        name: "Ruby",
        files: &["Gemfile"],
        checks: &[
            (Lint, Has(&[".rubocop.yml"]), "bundle exec rubocop"),
            (Test, Has(&[".rspec", "spec"]), "bundle exec rspec"),
            (Test, Has(&["bin/rails"]), "bin/rails test"),
            (Test, Has(&["Rakefile"]), "bundle exec rake test"),
        ],
    },
    Language {
        name: "PHP with Composer",
        files: &["composer.json"],
        checks: &[
            (Lint, Composer("lint"), "composer run-script lint"),
            (
                Types,
                Has(&["phpstan.neon", "phpstan.neon.dist"]),
                "vendor/bin/phpstan analyse",
            ),
            (Test, Composer("test"), "composer run-script test"),
            (
                Test,
                Has(&["phpunit.xml", "phpunit.xml.dist"]),
                "vendor/bin/phpunit",
            ),
        ],
    },
    Language {
        name: "Elixir",
        files: &["mix.exs"],
        checks: &[
            (
                Format,
                Has(&[".formatter.exs"]),
                "mix format --check-formatted",
            ),
            (Lint, Has(&[".credo.exs"]), "mix credo"),
            (Test, Always, "mix test"),
        ],
    },
    Language {
        name: ".NET",
        files: &["*.sln", "*.slnx", "*.csproj", "*.fsproj", "*.vbproj"],
        checks: &[
            (
                Format,
                CiRuns("dotnet format"),
                "dotnet format --verify-no-changes",
            ),
            (Test, Always, "dotnet test"),
        ],
    },
    Language {
        name: "Swift",
        files: &["Package.swift"],
        checks: &[
            (Lint, Has(&[".swiftlint.yml"]), "swiftlint lint --strict"),
            (Test, Has(&["Tests"]), "swift test"),
            (Build, Always, "swift build"),
        ],
    },
    Language {
        name: "Dart",
        files: &["pubspec.yaml"],
        checks: &[
            (Lint, Always, "{dart} analyze"),
            (Test, Has(&["test"]), "{dart} test"),
        ],
    },
    Language {
        name: "Zig",
        files: &["build.zig"],
        checks: &[
            // A build without that step would fail, whatever the code is like.
            (Test, Says("build.zig", &["\"test\""]), "zig build test"),
            (Build, Always, "zig build"),
        ],
    },
    Language {
        name: "CMake",
        files: &["CMakeLists.txt"],
        checks: &[
            (
                Test,
                CTEST,
                "cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure",
            ),
            (Build, Always, "cmake -S . -B build && cmake --build build"),
        ],
    },
];

impl Language {
    /// The language and its checks, if it is in a directory.
    pub(super) fn find(&self, directory: &Directory<'_>) -> Option<Toolchain> {
        let file = self
            .files
            .iter()
            .find_map(|file| match file.strip_prefix("*.") {
                Some(end) => directory.with_extension(end),
                None => directory.has(file).then(|| (*file).to_owned()),
            })?;
        let is_workspace = directory.says("Cargo.toml", "[workspace]");
        // `./...` in the root of a `go.work` is an error where no module lies there.
        let used: Vec<String> = super::go_modules(directory)
            .iter()
            .map(|module| format!("{module}/..."))
            .collect();
        let (modules, work) = match used.join(" ") {
            none if none.is_empty() => ("./...".to_owned(), String::new()),
            used => (used.clone(), format!(" {used}")),
        };
        let is_flutter = directory.says("pubspec.yaml", "sdk: flutter");
        let mut checks: Vec<Check> = Vec::new();
        for (role, sign, command) in self.checks {
            let is_taken = checks
                .iter()
                .any(|check| check.role == *role || (*role == Build && check.role == Test));
            if is_taken || !sign.is_in(directory) {
                continue;
            }
            let command = command
                .replace(
                    "{workspace}",
                    if is_workspace { " --workspace" } else { "" },
                )
                .replace("{work}", &work)
                .replace("{modules}", &modules)
                .replace("{dart}", if is_flutter { "flutter" } else { "dart" });
            checks.push(Check::new(*role, command));
        }
        let name = match self.name {
            "Dart" if is_flutter => "Flutter",
            name => name,
        };
        Some(Toolchain::new(name, file, checks))
    }
}

impl Sign {
    fn is_in(&self, directory: &Directory<'_>) -> bool {
        let clues = directory.clues;
        match self {
            Always => true,
            Has(files) => directory.first(files).is_some(),
            Says(file, texts) => texts.iter().any(|text| directory.says(file, text)),
            CiRuns(command) => clues.ci_runs(command),
            Used(files, command, program) => {
                directory.first(files).is_some()
                    || clues.ci_runs(command)
                    || clues.has_program(program)
            }
            Composer(name) => {
                let manifest = directory.json("composer.json").unwrap_or_default();
                // A blank one would pass without having tested anything.
                let is_real =
                    |line: &Value| line.as_str().is_some_and(|line| !line.trim().is_empty());
                match manifest.get("scripts").and_then(|all| all.get(name)) {
                    Some(Value::Array(lines)) => lines.iter().any(is_real),
                    Some(line) => is_real(line),
                    None => false,
                }
            }
        }
    }
}

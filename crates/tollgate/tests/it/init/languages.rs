//! What is proposed for each language, and that it runs: green and red, as the project is.

use super::Repository;

/// A project: its files, the programs it needs, and how these are called.
struct Sample {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    programs: &'static [&'static str],
    calls: &'static [&'static str],
}

const SAMPLES: &[Sample] = &[
    Sample {
        name: "Rust",
        files: &[
            ("Cargo.toml", "[package]\nname = \"x\"\n"),
            ("rustfmt.toml", ""),
        ],
        programs: &["cargo"],
        calls: &["cargo fmt --all --check", "cargo test"],
    },
    Sample {
        name: "Rust workspace with CI",
        files: &[
            ("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n"),
            ("a/Cargo.toml", "[package]\nname = \"a\"\n"),
            (
                ".github/workflows/ci.yml",
                "run: cargo clippy -- -D warnings\n",
            ),
        ],
        programs: &["cargo"],
        calls: &[
            "cargo clippy --workspace --all-targets -- -D warnings",
            "cargo test --workspace",
        ],
    },
    Sample {
        name: "npm",
        files: &[(
            "package.json",
            r#"{"scripts":{"test":"jest","lint":"eslint .","typecheck":"tsc --noEmit","start":"x"}}"#,
        )],
        programs: &["npm"],
        calls: &["npm run lint", "npm run typecheck", "npm test"],
    },
    Sample {
        name: "npm with a build",
        files: &[
            (
                "package.json",
                r#"{"scripts":{"test":"x","build":"vite build"},"devDependencies":{"typescript":"5"}}"#,
            ),
            ("tsconfig.json", "{}"),
        ],
        programs: &["npm", "npx"],
        calls: &["npm run build", "npm test", "npx --no-install tsc --noEmit"],
    },
    Sample {
        name: "a build that compiles checks types",
        files: &[
            (
                "package.json",
                r#"{"scripts":{"build":"tsc && vite build"},"devDependencies":{"typescript":"5"}}"#,
            ),
            ("tsconfig.json", "{}"),
        ],
        programs: &["npm", "npx"],
        calls: &["npm run build"],
    },
    Sample {
        name: "npm without a test",
        files: &[(
            "package.json",
            r#"{"scripts":{"test":"echo \"Error: no test specified\" && exit 1","build":"x"}}"#,
        )],
        programs: &["npm"],
        calls: &["npm run build"],
    },
    Sample {
        name: "pnpm",
        files: &[
            (
                "package.json",
                r#"{"scripts":{"test":"vitest","format:check":"p"}}"#,
            ),
            ("pnpm-lock.yaml", ""),
            ("tsconfig.json", "{}"),
        ],
        programs: &["pnpm"],
        calls: &["pnpm run format:check", "pnpm test"],
    },
    Sample {
        name: "yarn by its own word",
        files: &[(
            "package.json",
            r#"{"packageManager":"yarn@4.1.0","scripts":{"test":"react-scripts test"}}"#,
        )],
        programs: &["yarn"],
        calls: &["yarn test"],
    },
    Sample {
        name: "bun",
        files: &[
            ("package.json", r#"{"scripts":{"test":"x"}}"#),
            ("bun.lock", ""),
        ],
        programs: &["bun"],
        calls: &["bun run test"],
    },
    Sample {
        name: "Python with ruff, mypy and pytest",
        files: &[(
            "pyproject.toml",
            "[tool.ruff]\n[tool.ruff.format]\n[tool.mypy]\n[tool.pytest.ini_options]\n",
        )],
        programs: &["ruff", "mypy", "python3"],
        calls: &[
            "mypy .",
            "python3 -m pytest",
            "ruff check .",
            "ruff format --check .",
        ],
    },
    Sample {
        name: "Python with uv",
        files: &[
            (
                "pyproject.toml",
                "[dependency-groups]\ndev = [\"pytest\"]\n",
            ),
            ("uv.lock", ""),
        ],
        programs: &["uv"],
        calls: &["uv run pytest"],
    },
    Sample {
        name: "Python with tox",
        files: &[("tox.ini", "[tox]\n")],
        programs: &["tox"],
        calls: &["tox"],
    },
    Sample {
        name: "Python with unittest",
        files: &[
            ("setup.py", ""),
            ("tests/test_a.py", "from unittest import TestCase\n"),
        ],
        programs: &["python3"],
        calls: &["python3 -m unittest discover -s tests"],
    },
    Sample {
        name: "Python with unittest in a package",
        files: &[("setup.py", ""), ("tests/__init__.py", "")],
        programs: &["python3"],
        calls: &["python3 -m unittest discover"],
    },
    Sample {
        name: "Python with tests that are functions",
        files: &[
            ("setup.py", ""),
            ("test/test_a.py", "def test_a():\n    assert False\n"),
        ],
        programs: &["python3"],
        calls: &["python3 -m pytest"],
    },
    Sample {
        name: "Go",
        files: &[("go.mod", "module x\n")],
        programs: &["go"],
        calls: &["go test ./...", "go vet ./..."],
    },
    Sample {
        name: "Go with a linter",
        files: &[("go.mod", "module x\n"), (".golangci.yml", "")],
        programs: &["go", "golangci-lint"],
        calls: &["go test ./...", "golangci-lint run"],
    },
    Sample {
        name: "make goes before the language",
        files: &[
            ("go.mod", "module x\n"),
            ("Makefile", ".PHONY: test\ntest:\n\tgo test\n"),
        ],
        programs: &["go", "make"],
        calls: &["go vet ./...", "make test"],
    },
    Sample {
        name: "just",
        files: &[("justfile", "test:\n  x\nlint *args:\n  y\n")],
        programs: &["just"],
        calls: &["just lint", "just test"],
    },
    Sample {
        name: "Maven",
        files: &[("pom.xml", "<project/>")],
        programs: &["mvn"],
        calls: &["mvn -q -B verify"],
    },
    Sample {
        name: "Gradle",
        files: &[("build.gradle.kts", "")],
        programs: &["gradle"],
        calls: &["gradle check"],
    },
    Sample {
        name: "Ruby",
        files: &[("Gemfile", ""), (".rspec", ""), (".rubocop.yml", "")],
        programs: &["bundle"],
        calls: &["bundle exec rspec", "bundle exec rubocop"],
    },
    Sample {
        name: "PHP",
        files: &[(
            "composer.json",
            r#"{"scripts":{"test":"phpunit","lint":"x"}}"#,
        )],
        programs: &["composer"],
        calls: &["composer run-script lint", "composer run-script test"],
    },
    Sample {
        name: ".NET",
        files: &[("Shop.sln", ""), ("src/Shop.csproj", "")],
        programs: &["dotnet"],
        calls: &["dotnet test"],
    },
    Sample {
        name: "Elixir",
        files: &[("mix.exs", ""), (".formatter.exs", "")],
        programs: &["mix"],
        calls: &["mix format --check-formatted", "mix test"],
    },
    Sample {
        name: "two languages in the root",
        files: &[
            ("go.mod", "module x\n"),
            ("package.json", r#"{"scripts":{"test":"x"}}"#),
        ],
        programs: &["go", "npm"],
        calls: &["go test ./...", "go vet ./...", "npm test"],
    },
    Sample {
        name: "a workspace whose root has no test",
        files: &[
            (
                "package.json",
                r#"{"workspaces":["packages/*"],"scripts":{"lint":"eslint ."}}"#,
            ),
            (
                "packages/ui/package.json",
                r#"{"name":"@a/ui","scripts":{"test":"x","lint":"y"}}"#,
            ),
            (
                "packages/web/package.json",
                r#"{"name":"@a/web","scripts":{"test":"x"},"dependencies":{"@a/ui":"*"}}"#,
            ),
        ],
        programs: &["npm"],
        calls: &[
            "npm run lint",
            "npm run test --workspace packages/ui",
            "npm run test --workspace packages/web",
        ],
    },
    Sample {
        name: "a pnpm workspace",
        files: &[
            ("package.json", "{}"),
            (
                "pnpm-workspace.yaml",
                "packages:\n  - apps/*\n  - '!apps/old'\n",
            ),
            ("pnpm-lock.yaml", ""),
            ("apps/web/package.json", r#"{"scripts":{"test":"x"}}"#),
            ("apps/old/package.json", r#"{"name":"old"}"#),
        ],
        programs: &["pnpm"],
        calls: &["pnpm --filter ./apps/web run test"],
    },
    Sample {
        name: "Go modules below a Go module",
        files: &[("go.mod", "module x\n"), ("tools/gen/go.mod", "module y\n")],
        programs: &["go"],
        calls: &[
            "go test ./...",
            "go test ./...",
            "go vet ./...",
            "go vet ./...",
        ],
    },
    Sample {
        name: "a Go workspace",
        files: &[
            ("go.work", "go 1.22\nuse (\n\t./api\n\t./cli\n)\n"),
            ("api/go.mod", "module a\n"),
            ("cli/go.mod", "module c\n"),
        ],
        programs: &["go"],
        calls: &["go test ./api/... ./cli/...", "go vet ./api/... ./cli/..."],
    },
    Sample {
        name: "Python packages in subdirectories",
        files: &[
            ("services/api/pyproject.toml", "[tool.pytest.ini_options]\n"),
            ("services/jobs/pyproject.toml", "[tool.pyright]\n"),
            ("services/jobs/tests/test_a.py", ""),
        ],
        programs: &["python3", "pyright"],
        calls: &[
            "pyright",
            "python3 -m pytest",
            "python3 -m unittest discover -s tests",
        ],
    },
    Sample {
        name: "a language per directory",
        files: &[
            ("backend/go.mod", "module x\n"),
            ("apps/web/package.json", r#"{"scripts":{"test":"x"}}"#),
            ("node_modules/y/package.json", r#"{"scripts":{"test":"y"}}"#),
        ],
        programs: &["go", "npm"],
        calls: &["go test ./...", "go vet ./...", "npm test"],
    },
];

#[test]
fn every_language_is_set_up_validated_and_run_green_and_red() {
    for Sample {
        name,
        files,
        programs,
        calls,
    } in SAMPLES
    {
        let repository = Repository::with(files);
        for program in *programs {
            repository.tool(program);
        }
        repository.init(&[]);
        let valid = repository.tollgate(&["validate"]);
        assert_eq!(
            (valid.code, valid.stderr.as_str()),
            (0, ""),
            "{name}: {valid:?}"
        );
        touch(&repository, files, "once");
        let green = repository.tollgate(&["run"]);
        assert_eq!(green.code, 0, "{name}: {green:?}");
        assert_eq!(repository.calls(), *calls, "{name}");
        repository.file("broken", "");
        touch(&repository, files, "twice");
        let red = repository.tollgate(&["run"]);
        assert_eq!(red.code, 1, "{name}: {red:?}");
        assert!(red.stdout.contains("not verified ("), "{name}: {red:?}");
    }
}

/// Changes every part of the project, so that every check is called for.
fn touch(repository: &Repository, files: &[(&str, &str)], text: &str) {
    for (path, _) in files {
        if let Some((directory, _)) = path.rsplit_once('/') {
            repository
                .project
                .file(&format!("{directory}/changed"), text);
        }
    }
}

#[test]
fn checks_of_a_part_run_in_its_directory() {
    let repository = Repository::with(&[("backend/go.mod", "module x\n")]);
    repository.program("go", "#!/bin/sh\ntest -f go.mod\n");
    repository.init(&[]);
    repository.file("backend/main.go", "package main\n");
    let run = repository.tollgate(&["run"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("pass  backend-test ("), "{run:?}");
}

#[test]
fn a_command_that_waits_for_changes_is_told_not_to() {
    let repository = Repository::with(&[(
        "package.json",
        r#"{"scripts":{"test":"react-scripts test"}}"#,
    )]);
    repository.init(&[]);
    let config = repository.read("tollgate.toml");
    assert!(config.contains("run = \"CI=true npm test\""), "{config}");
}

/// P37: `init` assumed `origin/main`, left its logs to git, wrote invalid YAML and needed a
/// terminal.
///
/// A blank command would be an error, or a check that passes without having tested anything.
#[test]
fn p37_a_blank_command_is_no_check() {
    for (path, text) in [
        (
            "package.json",
            r#"{"scripts":{"test":"","lint":"  ","typecheck":"\t\n","build":""}}"#,
        ),
        ("composer.json", r#"{"scripts":{"test":"","lint":" "}}"#),
        ("composer.json", r#"{"scripts":{"test":[],"lint":[""]}}"#),
    ] {
        let repository = Repository::with(&[(path, text)]);
        repository.tool("npm").tool("composer");
        repository.init(&[]);
        let config = repository.read("tollgate.toml");
        assert!(!config.contains("\nrun = "), "{text}: {config}");
        let valid = repository.tollgate(&["validate"]);
        assert_eq!((valid.code, valid.stderr.as_str()), (0, ""), "{text}");
        assert_eq!(repository.tollgate(&["run"]).code, 0, "{text}");
        assert_eq!(repository.calls(), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn manifests_that_cannot_be_read_are_no_reason_to_fail() {
    for (path, text) in [
        ("package.json", "{ not json"),
        ("package.json", "[]"),
        ("composer.json", "\u{feff}{\"scripts\":[1]}"),
        ("Makefile", ":\n\t:::\n=\n"),
        ("Taskfile.yml", "tasks:\n"),
    ] {
        let repository = Repository::with(&[(path, text)]);
        repository.init(&[]);
        let valid = repository.tollgate(&["validate"]);
        assert_eq!(valid.code, 0, "{path}: {valid:?}");
        let run = repository.tollgate(&["run"]);
        assert_eq!(run.code, 0, "{path}: {run:?}");
    }
}

#[test]
fn a_manifest_that_cannot_be_read_is_not_passed_over() {
    let repository = Repository::with(&[("package.json", "{ \"scripts\": ")]);
    let proposal = repository.proposal();
    let languages = proposal["languages"].to_string();
    assert!(languages.contains("the file is not JSON"), "{languages}");
}

/// A member of a workspace depends on the members that it needs and on the one lock file; a change
/// of another member does not call for it.
#[test]
fn members_of_a_workspace_are_called_for_by_what_they_need() {
    let repository = Repository::with(&[
        ("package.json", r#"{"workspaces":["packages/*"]}"#),
        ("package-lock.json", "{}"),
        (
            "packages/ui/package.json",
            r#"{"name":"@a/ui","scripts":{"test":"x"}}"#,
        ),
        (
            "packages/web/package.json",
            r#"{"name":"@a/web","scripts":{"test":"x"},"dependencies":{"@a/ui":"*"}}"#,
        ),
    ]);
    repository.tool("npm").init(&[]);
    repository.git(&["add", "-A"]);
    repository.commit("init");
    assert_eq!(repository.tollgate(&["run"]).code, 0);
    repository.calls();
    let ui = "npm run test --workspace packages/ui";
    let web = "npm run test --workspace packages/web";
    for (path, expected) in [
        ("packages/web/a.js", &[web] as &[&str]),
        ("packages/ui/a.js", &[ui, web]),
        ("package-lock.json", &[ui, web]),
        ("other/a.js", &[]),
    ] {
        repository.file(path, path);
        let run = repository.tollgate(&["run"]);
        assert_eq!(run.code, 0, "{path}: {run:?}");
        assert_eq!(repository.calls(), expected, "{path}");
    }
}

#[test]
fn a_large_workspace_has_one_gate_for_all_members() {
    let repository = Repository::with(&[("package.json", r#"{"workspaces":["packages/*"]}"#)]);
    for number in 0..12 {
        let path = format!("packages/p{number:02}/package.json");
        repository.file(&path, r#"{"scripts":{"test":"x"}}"#);
    }
    let gates = repository.proposal()["gates"].clone();
    assert_eq!(gates.as_array().unwrap().len(), 1, "{gates}");
    assert_eq!(gates[0]["run"], "npm run test --workspaces --if-present");
}

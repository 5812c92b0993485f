//! Fresh projects: what is proposed, which files are written, and what the first run says.

use super::Repository;

/// Sets a project up and runs the gates once; all that a person sees, and the files.
fn first_minutes(files: &[(&str, &str)], programs: &[&str]) -> String {
    let repository = Repository::with(files);
    for program in programs {
        repository.tool(program);
    }
    let init = repository.init(&[]);
    let run = repository.tollgate(&["run"]);
    assert_eq!(run.code, 0, "{run:?}");
    let written: Vec<_> = repository
        .files()
        .into_keys()
        .filter(|path| !files.iter().any(|(there, _)| there == path))
        .filter(|path| !path.starts_with(".tollgate/l"))
        .collect();
    let root = repository.root().display().to_string();
    // Checks may end in any order.
    let mut passed: Vec<&str> = run
        .stdout
        .lines()
        .map(|line| line.split(" (").next().unwrap_or(line))
        .map(|line| line.split(" in ").next().unwrap_or(line))
        .collect();
    passed.sort_unstable();
    format!(
        "$ tollgate init --yes\n{}\nfiles: {}\n\n$ tollgate run\n{}\n",
        without_reviewers(&init.stdout.replace(&root, "[root]")),
        written.join(", "),
        passed.join("\n")
    )
}

/// The text without the names of the reviewers that could be installed: they are the agents' table.
fn without_reviewers(text: &str) -> String {
    let (before, rest) = text.split_once("! no reviewer").unwrap();
    let (_, after) = rest.split_once("to add\n").unwrap();
    format!("{before}! no reviewer (…)\n{after}")
}

#[test]
fn rust() {
    insta::assert_snapshot!(first_minutes(
        &[
            ("Cargo.toml", "[package]\nname = \"x\"\n"),
            ("rustfmt.toml", ""),
            ("clippy.toml", ""),
            ("src/lib.rs", ""),
        ],
        &["cargo"],
    ));
}

#[test]
fn python() {
    insta::assert_snapshot!(first_minutes(
        &[
            (
                "pyproject.toml",
                "[tool.ruff]\n[tool.ruff.format]\n[tool.mypy]\n[tool.pytest.ini_options]\n",
            ),
            ("uv.lock", ""),
            ("x/__init__.py", ""),
        ],
        &["uv"],
    ));
}

#[test]
fn typescript() {
    insta::assert_snapshot!(first_minutes(
        &[
            (
                "package.json",
                r#"{"scripts":{"test":"vitest run","lint":"eslint .","build":"vite build"},"devDependencies":{"typescript":"5"}}"#,
            ),
            ("package-lock.json", "{}"),
            ("tsconfig.json", "{}"),
            ("src/a.ts", ""),
        ],
        &["npm", "npx"],
    ));
}

#[test]
fn go() {
    insta::assert_snapshot!(first_minutes(
        &[("go.mod", "module x\n"), ("main.go", "package main\n")],
        &["go"],
    ));
}

#[test]
fn monorepo() {
    insta::assert_snapshot!(first_minutes(
        &[
            (
                "package.json",
                r#"{"workspaces":["packages/*"],"scripts":{"lint":"eslint ."}}"#,
            ),
            ("package-lock.json", "{}"),
            (
                "packages/ui/package.json",
                r#"{"name":"@a/ui","scripts":{"test":"x","build":"y"}}"#,
            ),
            (
                "packages/web/package.json",
                r#"{"name":"@a/web","scripts":{"test":"x"},"dependencies":{"@a/ui":"*"}}"#,
            ),
            ("backend/go.mod", "module x\n"),
            (
                "jobs/pyproject.toml",
                "[tool.mypy]\n[tool.pytest.ini_options]\n"
            ),
        ],
        &["npm", "go", "mypy", "python3"],
    ));
}

use std::path::Path;

use crate::{Action, Certainty, Effect, Files, World, effects, survey};

/// A machine with these files; what ends with a slash is a directory.
struct Machine(&'static [&'static str]);

impl Files for Machine {
    fn exists(&self, path: &Path) -> bool {
        let is_there = |known: &&str| Path::new(known).starts_with(path);
        self.0.iter().any(is_there)
    }

    fn is_directory(&self, path: &Path) -> bool {
        let is_directory = |known: &&str| {
            let known_path = Path::new(known);
            known_path.starts_with(path) && (known_path != path || known.ends_with('/'))
        };
        self.0.iter().any(is_directory)
    }
}

/// In `/p`, where these are.
const MACHINE: Machine = Machine(&["/p/src/x", "/p/docs/a.md", "/p/a", "/p/t.tgz", "/p/empty/"]);

fn shown(effect: &Effect) -> Option<String> {
    let what = match &effect.action {
        Action::Write(target) => format!("writes {target}"),
        Action::Delete(target) => format!("deletes {target}"),
        Action::Fetch { host } => format!("fetches {}", host.as_deref().unwrap_or("?")),
        Action::Push { branches, .. } => format!("pushes {branches:?}"),
        Action::Read(_) | Action::Run { .. } | Action::Commit { .. } | Action::Opaque => {
            return None;
        }
    };
    Some(match effect.certainty {
        Certainty::Certain => what,
        Certainty::Possible => format!("~{what}"),
        Certainty::Unknown => format!("?{what}"),
    })
}

/// What a command changes, fetches and pushes, in order.
fn changes(command: &str) -> Vec<String> {
    let world = World {
        dir: Some(Path::new("/p")),
        home: Some(Path::new("/h")),
        files: &MACHINE,
    };
    let effects = effects(&survey(command, &world), &world);
    effects.iter().filter_map(shown).collect()
}

#[track_caller]
fn check(rows: &[(&str, &[&str])]) {
    for (command, expected) in rows {
        assert_eq!(changes(command), *expected, "{command}");
    }
}

#[test]
fn a_directory_that_may_have_been_made_is_where_commands_work() {
    check(&[
        // The shell stays where it was.
        (
            "cd nowhere; rm a",
            &["~deletes /p/nowhere/a", "~deletes /p/a"],
        ),
        (
            "cargo new app && cd app && touch src/new",
            &["~writes /p/app/src/new"],
        ),
        (
            "npx create-react-app app && cd app && rm src/x",
            &["~fetches ?", "~deletes /p/app/src/x"],
        ),
    ]);
}

#[test]
fn copies_and_moves_name_what_is_there_afterwards() {
    check(&[
        ("mv a b", &["deletes /p/a/", "writes /p/b/"]),
        ("mv a docs", &["deletes /p/a/", "writes /p/docs/a/"]),
        ("git mv a b", &["deletes /p/a/", "writes /p/b/"]),
        ("cp -r src b", &["writes /p/b/"]),
        ("rsync -avn src/ docs/", &[]),
        (
            "rsync -a --delete src/ docs/",
            &[
                "~deletes /p/docs/…",
                "~writes /p/docs/",
                "~writes /p/docs/…",
            ],
        ),
    ]);
}

#[test]
fn programs_that_start_others_are_seen_through() {
    check(&[
        ("fd . src -x rm", &["~deletes …"]),
        ("pnpm dlx touch new", &["writes /p/new"]),
        ("yarn dlx touch new", &["writes /p/new"]),
        ("bunx touch new", &["~writes /p/new"]),
        ("uvx touch new", &["~writes /p/new"]),
        ("git ls-files '*.md' | xargs rm -f", &["~deletes /p/…"]),
        (
            "git ls-files 'docs/*.md' | xargs rm -f",
            &["~deletes /p/docs/…"],
        ),
        (
            "git ls-files docs | xargs rm -rf",
            &["~deletes /p/docs/", "~deletes /p/docs/…/"],
        ),
    ]);
}

#[test]
fn git_says_what_it_brings() {
    check(&[
        ("git checkout -b x", &[]),
        ("git switch -c x", &[]),
        ("git switch --create x", &[]),
        ("git submodule status", &[]),
        ("git bisect log", &[]),
        ("git stash list", &[]),
        (
            "git switch -c x origin/main",
            &["~writes /p/…", "~deletes /p/…"],
        ),
        ("git checkout -f -b x", &["~writes /p/…", "~deletes /p/…"]),
        (
            "git init --initial-branch main dir",
            &["writes /p/dir", "~writes /p/dir/…"],
        ),
        (
            "git push --repo origin main",
            &["~fetches ?", "~pushes [None]"],
        ),
    ]);
}

#[test]
fn formatters_change_what_they_are_given() {
    check(&[
        ("black a", &["writes /p/a"]),
        ("black --check a", &[]),
        ("black -l 100 src", &["~writes /p/src/…"]),
        ("ruff format a", &["writes /p/a"]),
        ("ruff format --check a", &[]),
        ("ruff check a", &[]),
        ("ruff check --fix a", &["writes /p/a"]),
        ("eslint a", &[]),
        ("npx eslint --fix a", &["~writes /p/a", "~fetches ?"]),
        ("isort a", &["writes /p/a"]),
        ("rustfmt a", &["writes /p/a"]),
        ("clang-format -i a", &["writes /p/a"]),
        ("shfmt -i 2 a", &[]),
        ("shfmt -i 2 -w a", &["writes /p/a"]),
        ("autopep8 -i a", &["writes /p/a"]),
        ("goimports -w a", &["writes /p/a"]),
        ("prettier --write src", &["~writes /p/src/…"]),
        ("gofmt -w src", &["~writes /p/src/…"]),
        ("biome check --write src", &["~writes /p/src/…"]),
        ("yq -i '.a=1' a", &["writes /p/a"]),
    ]);
}

#[test]
fn downloads_are_kept_where_options_say() {
    check(&[
        (
            "curl --retry 3 -LO https://x.org/a.tgz",
            &["writes /p/a.tgz", "~fetches x.org"],
        ),
        (
            "curl --max-time 10 -O https://x.org/a.tgz",
            &["writes /p/a.tgz", "~fetches x.org"],
        ),
        (
            "cd docs && wget https://a.b/x.sql",
            &["~writes /p/docs/x.sql", "~fetches a.b"],
        ),
        (
            "wget -P docs https://a.b/x.sql",
            &["~writes /p/docs/x.sql", "~fetches a.b"],
        ),
        ("wget -qO- https://a.b/x", &["~fetches a.b"]),
        ("wget --spider https://a.b/", &["~fetches a.b"]),
        (
            "wget -r -P docs https://a.b/",
            &["~writes /p/docs/…", "~fetches a.b"],
        ),
    ]);
}

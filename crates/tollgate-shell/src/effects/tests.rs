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

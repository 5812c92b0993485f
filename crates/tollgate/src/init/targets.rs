//! Makefile, justfile and Taskfile: what the project itself calls testing and linting.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;

use super::directory::Directory;
use super::languages::{Check, Role, Toolchain};

/// What a target of this name is for.
const ROLES: &[(Role, &[&str])] = &[
    (
        Role::Format,
        &["format-check", "fmt-check", "check-format", "check-fmt"],
    ),
    (Role::Lint, &["lint"]),
    (Role::Types, &["typecheck", "type-check", "types"]),
    (Role::Test, &["test", "tests", "check"]),
];

/// A runner of tasks: its files, its program, and how targets are read from them.
type Runner = (
    &'static [&'static str],
    &'static str,
    fn(&str) -> Vec<String>,
);

const RUNNERS: &[Runner] = &[
    (&["justfile", "Justfile", ".justfile"], "just", rules),
    (&["GNUmakefile", "Makefile", "makefile"], "make", rules),
    (&["Taskfile.yml", "Taskfile.yaml"], "task", tasks),
];

/// The project's own runner of tasks, if it has one with a target that we know.
pub(super) fn find(directory: &Directory<'_>) -> Option<Toolchain> {
    RUNNERS.iter().find_map(|(names, program, read)| {
        let file = directory.first(names)?;
        let targets = read(&directory.text(file)?);
        let checks: Vec<Check> = ROLES
            .iter()
            .filter_map(|(role, names)| {
                let name = names
                    .iter()
                    .find(|name| targets.iter().any(|target| target == *name))?;
                Some(Check::new(*role, format!("{program} {name}")))
            })
            .collect();
        (!checks.is_empty()).then(|| Toolchain::new(*program, file, checks))
    })
}

/// The names in front of a colon at the beginning of a line: rules of make, recipes of just.
fn rules(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for line in text.lines() {
        let Some((head, rest)) = line.split_once(':') else {
            continue;
        };
        let indented = line.starts_with([' ', '\t', '#', '.']);
        // `name := value` and `name ::= value` are variables.
        if indented || rest.trim_start_matches(':').starts_with('=') || head.contains('=') {
            continue;
        }
        let head = head.trim_start_matches('@');
        let plain = |name: &&str| !name.is_empty() && !name.contains(['$', '%', '/', '"', '\'']);
        names.extend(head.split_whitespace().filter(plain).map(str::to_owned));
    }
    names
}

/// The names of a Taskfile's tasks.
fn tasks(text: &str) -> Vec<String> {
    #[derive(Default, serde::Deserialize)]
    struct Taskfile {
        #[expect(clippy::zero_sized_map_values, reason = "only the names count")]
        tasks: BTreeMap<String, IgnoredAny>,
    }
    let file: Taskfile = serde_saphyr::from_str(text).unwrap_or_default();
    file.tasks.into_keys().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_names_in_front_of_a_colon() {
        let text = ".PHONY: all\nCC := gcc\nV ?= a:b\nall test: build\n\tcc: x\n$(OUT): y\nlint::\n# no: no\n";
        assert_eq!(rules(text), ["all", "test", "lint"]);
        let just = "set shell := [\"sh\"]\n@lint *args:\n  x\ntest: lint\n";
        assert!(rules(just).contains(&"lint".to_owned()));
        assert!(rules(just).contains(&"test".to_owned()));
    }

    #[test]
    fn tasks_are_the_keys_one_level_in() {
        let text = "version: '3'\ntasks:\n  # lint\n  test:\n    cmds: [x]\n    deps: [y]\n  \"lint\":\n    cmds:\n      - z\nvars:\n  check: 1\n";
        assert_eq!(tasks(text), ["lint", "test"]);
    }
}

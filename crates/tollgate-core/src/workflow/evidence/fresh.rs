//! Whether the files are still those on which the tests passed.
//!
//! A pass that the hooks saw records the tree it was seen on. A later change makes it out of date,
//! unless no test can depend on it: documents, and the directories of agents and of this program.

use tollgate_store::json::{Node, Object};

/// Where the record of a phase's tests keeps the tree that they passed on.
pub const TREE: &str = "verified_tree";

/// What changed since a tree, relative to the project; nothing if it is unknown.
pub type Since<'e> = &'e dyn Fn(&str) -> Option<Vec<String>>;

/// How many of the changed files are named.
const NAMED: usize = 3;

/// Homes of agents and of processes, and where documents are.
const UNTESTED: [&str; 12] = [
    ".claude",
    ".codex",
    ".copilot",
    ".cursor",
    ".gauntlet",
    ".gemini",
    ".isdlc",
    ".taskie",
    ".tollgate",
    "docs",
    "doc",
    "gauntlet_logs",
];

/// Why a pass of tests does not count any more.
pub(super) fn stale(tests: &Object<'_>, since: Since<'_>) -> Option<String> {
    let tree = tests.get(TREE).and_then(Node::str)?;
    let mut changed = since(&tree)?;
    changed.retain(|path| is_tested(path));
    if changed.is_empty() {
        return None;
    }
    let count = changed.len();
    let files = if count == 1 { "file" } else { "files" };
    let more = if count > NAMED { ", …" } else { "" };
    changed.truncate(NAMED);
    Some(format!(
        "Test iteration is out of date: {count} {files} changed since the tests passed ({}{more}). \
         Run the tests again.",
        changed.join(", ")
    ))
}

/// Whether a test could tell that this file changed.
fn is_tested(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or_default();
    let is_prose = [".md", ".txt", ".rst", ".adoc"]
        .iter()
        .any(|end| path.to_ascii_lowercase().ends_with(end));
    // Requirements of Python and the lists of CMake are no prose.
    let is_list = ["requirements", "CMakeLists"].iter().any(|name| {
        path.rsplit('/')
            .next()
            .unwrap_or_default()
            .starts_with(name)
    });
    !UNTESTED.contains(&first) && (!is_prose || is_list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_test_could_see_makes_a_pass_stale() {
        let tests = Object::parse("{\"verified_tree\":\"t\"}").unwrap();
        let said = |paths: &[&str]| {
            stale(&tests, &|tree| {
                assert_eq!(tree, "t");
                Some(paths.iter().map(|path| (*path).to_owned()).collect())
            })
        };
        let nothing = [
            "docs/x.js",
            ".isdlc/a",
            "README.md",
            "a/b.TXT",
            ".claude/hooks/x",
        ];
        assert_eq!(said(&nothing), None);
        assert_eq!(said(&[]), None);
        for path in [
            "src/a.rs",
            "requirements.txt",
            "a/CMakeLists.txt",
            "src/docs/x.js",
        ] {
            let text = said(&["README.md", path]).unwrap();
            assert!(
                text.contains(&format!("1 file changed since the tests passed ({path})")),
                "{text}"
            );
        }
        let text = said(&["a", "b", "c", "d"]).unwrap();
        assert!(
            text.contains("4 files changed since the tests passed (a, b, c, …)"),
            "{text}"
        );
        // An unknown answer says nothing, as with a pass that was not seen.
        assert_eq!(stale(&tests, &|_| None), None);
        let unseen = Object::parse("{\"completed\":true}").unwrap();
        assert_eq!(stale(&unseen, &|_| panic!("nobody asks")), None);
    }
}

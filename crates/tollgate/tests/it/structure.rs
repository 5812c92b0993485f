//! Rules of the code that no compiler checks: each is a rule of ARCHITECTURE.md.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The crates that deciding an event executes, and what their code must not do.
const DECIDING: [&str; 3] = ["tollgate-shell", "tollgate-store", "tollgate-core"];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The Rust files below a directory.
fn files(directory: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
    found
}

/// The source files below a directory, without tests and comments.
fn sources(directory: &Path) -> Vec<(PathBuf, String)> {
    let mut found = files(directory);
    found.retain(|(path, _)| !path.to_str().unwrap().ends_with("tests.rs"));
    for (_, text) in &mut found {
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap();
        let lines = code
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        *text = lines.collect::<Vec<_>>().join("\n");
    }
    found
}

/// A test of the workspace.
pub(crate) struct Test {
    file: PathBuf,
    pub(crate) name: String,
    /// The first line of its doc comment.
    doc: Option<String>,
}

impl Test {
    /// The module that it is in, without its crate: `plans::commands`.
    pub(crate) fn module(&self) -> String {
        let path = self.file.with_extension("");
        let names = path
            .components()
            .map(|part| part.as_os_str().to_str().unwrap());
        let names: Vec<&str> = names.collect();
        let is_root = |name: &&str| matches!(*name, "src" | "tests");
        // A file may be called like its directory.
        let above = names.split_last().unwrap().1;
        let root = above.iter().rposition(is_root).unwrap();
        let inside = &names[root + 1..];
        let inside = inside.iter().filter(|name| !matches!(**name, "it" | "mod"));
        inside.copied().collect::<Vec<_>>().join("::")
    }
}

/// All tests of the workspace.
pub(crate) fn tests() -> Vec<Test> {
    let mut found = Vec::new();
    for (file, text) in files(&crates()) {
        let (mut doc, mut marked) = (None, false);
        for line in text.lines().map(str::trim) {
            if let Some(said) = line.strip_prefix("///") {
                doc.get_or_insert_with(|| said.trim().to_owned());
            } else if line.starts_with("#[") {
                marked |= line == "#[test]";
            } else {
                let name = line
                    .strip_prefix("fn ")
                    .and_then(|rest| rest.split('(').next());
                if let Some(name) = name.filter(|_| marked) {
                    found.push(Test {
                        file: file.clone(),
                        name: name.to_owned(),
                        doc: doc.take(),
                    });
                }
                (doc, marked) = (None, false);
            }
        }
    }
    found
}

/// Whether a test's name begins with the id of a specification or of a list of defects, such as
/// `ac_004c`, `ts_015`, `ts008`, `bug_0016`, `p44` or `d5b`.
fn begins_with_an_id(name: &str) -> bool {
    let mut number = name.trim_start_matches(|letter: char| letter.is_ascii_lowercase());
    let letters = name.strip_suffix(number).unwrap_or_default();
    if matches!(letters, "ac" | "ts" | "ir" | "bug" | "gh" | "inv") {
        number = number.strip_prefix('_').unwrap_or(number);
    } else if letters.len() != 1 {
        return false;
    }
    number.starts_with(|first: char| first.is_ascii_digit())
}

/// Who meets an id need not have the list that it is from.
#[test]
fn a_test_with_an_id_says_what_the_id_is_about() {
    let tests = tests();
    let with_id = tests.iter().filter(|test| begins_with_an_id(&test.name));
    let (said, silent): (Vec<_>, Vec<_>) =
        with_id.partition(|test| test.doc.as_deref().is_some_and(|doc| doc.contains(": ")));
    let silent: Vec<_> = silent
        .iter()
        .map(|test| format!("{}: {}", test.file.display(), test.name))
        .collect();
    assert!(silent.is_empty(), "without a doc line: {silent:#?}");
    assert!(said.len() > 400, "only {} tests have an id", said.len());
}

fn top_module(source: &Path, file: &Path) -> String {
    let inside = file.strip_prefix(source).unwrap();
    let first = inside.components().next().unwrap().as_os_str();
    let first = first.to_str().unwrap();
    first.strip_suffix(".rs").unwrap_or(first).to_owned()
}

/// The top-level modules that a text names behind `crate::`.
fn named(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for rest in text.split("crate::").skip(1) {
        let group = rest
            .strip_prefix('{')
            .and_then(|rest| rest.split('}').next());
        for part in
            group
                .unwrap_or(rest)
                .split(',')
                .take(if group.is_some() { usize::MAX } else { 1 })
        {
            let name: String = part
                .trim_start()
                .chars()
                .take_while(|c| c.is_ascii_lowercase() || *c == '_')
                .collect();
            names.insert(name);
        }
    }
    names
}

/// Modules that depend on each other in a circle cannot be read, tested or moved one by one.
#[test]
fn modules_have_no_circular_dependencies() {
    for name in DECIDING.into_iter().chain(["tollgate"]) {
        let source = crates().join(name).join("src");
        let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (file, text) in sources(&source) {
            let module = top_module(&source, &file);
            if !matches!(module.as_str(), "lib" | "main") {
                uses.entry(module).or_default().extend(named(&text));
            }
        }
        // Takes away whoever uses nobody that is left, until nothing changes.
        loop {
            let left: BTreeSet<String> = uses.keys().cloned().collect();
            let before = uses.len();
            uses.retain(|module, used| {
                used.retain(|other| left.contains(other) && other != module);
                !used.is_empty()
            });
            if uses.len() == before {
                break;
            }
        }
        assert!(uses.is_empty(), "{name}: a circle among {uses:#?}");
    }
}

/// Deciding an event starts no process and no thread, prints nothing, and is given the time.
#[test]
fn deciding_crates_are_pure() {
    let forbidden = [
        "process::Command",
        "thread::spawn",
        "println!(",
        "print!(",
        "Timestamp::now()",
        "SystemTime::now()",
    ];
    for name in DECIDING {
        for (file, text) in sources(&crates().join(name).join("src")) {
            for word in forbidden {
                assert!(!text.contains(word), "{}: {word}", file.display());
            }
        }
    }
}

/// A file is split where its concept splits, as a module of its own.
#[test]
fn no_module_has_a_path_of_its_own() {
    for name in DECIDING.into_iter().chain(["tollgate"]) {
        for (file, text) in sources(&crates().join(name).join("src")) {
            assert!(!text.contains("#[path"), "{}", file.display());
        }
    }
}

/// A file that no module declares is not compiled: dead, and nobody notices.
#[test]
fn every_source_file_is_declared_as_a_module() {
    for name in DECIDING.into_iter().chain(["tollgate"]) {
        let source = crates().join(name).join("src");
        for (path, _) in sources(&source) {
            let is_folder = path.file_name().is_some_and(|name| name == "mod.rs");
            let module = if is_folder {
                path.parent().unwrap().to_owned()
            } else {
                path.with_extension("")
            };
            let declared = format!("mod {};", module.file_name().unwrap().display());
            let above = module.parent().unwrap();
            let parents = if above == source {
                [above.join("lib.rs"), above.join("main.rs")]
            } else {
                [above.join("mod.rs"), above.with_extension("rs")]
            };
            let declares = |parent: &PathBuf| {
                std::fs::read_to_string(parent).is_ok_and(|text| text.contains(&declared))
            };
            let is_root = path.ends_with("src/lib.rs") || path.ends_with("src/main.rs");
            assert!(
                is_root || parents.iter().any(declares),
                "no module declares {}",
                path.display()
            );
        }
    }
}

/// Only the store renames files, only `git.rs` starts git.
#[test]
fn git_is_started_in_one_place() {
    for (file, text) in sources(&crates().join("tollgate/src")) {
        let starts = text.contains("command(\"git\")") || text.contains("Command::new(\"git\")");
        assert!(!starts || file.ends_with("git.rs"), "{}", file.display());
    }
}

/// "Verified" has one source: nothing but the evidence prints its sign, and nobody else calls a gate
/// verified by reading what is kept.
#[test]
fn one_module_says_verified() {
    let source = crates().join("tollgate/src");
    for (path, text) in sources(&source) {
        let is_evidence = path.starts_with(source.join("gate/evidence"));
        // Other programs' words, and the sign itself.
        let has_sign = text.contains('✔');
        assert!(
            !has_sign || is_evidence,
            "{} has a ✔ of its own",
            path.display()
        );
        let judges = text.contains("Verification::Verified {") && text.contains(".outcome");
        assert!(!judges || is_evidence, "{} judges evidence", path.display());
    }
}

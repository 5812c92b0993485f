//! Rules of the code that no compiler checks: each is a rule of ARCHITECTURE.md.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The crates that deciding an event executes, and what their code must not do.
const DECIDING: [&str; 3] = ["tollgate-shell", "tollgate-store", "tollgate-core"];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The source files below a directory, without tests.
fn sources(directory: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        let name = entry.file_name().into_string().unwrap();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|end| end == "rs") && !name.ends_with("tests.rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod ").next().unwrap();
            let lines = code
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            found.push((path, lines.collect::<Vec<_>>().join("\n")));
        }
    }
    found
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

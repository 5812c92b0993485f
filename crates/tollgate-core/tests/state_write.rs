//! Would this command change `.isdlc/state.json`? Every row of the corpus was labelled by running
//! it.

use std::path::Path;

use tollgate_core::git::Disk;
use tollgate_shell::{Touch, World, effects, survey, touches};

const CORPUS: &str = include_str!("corpus/state-write.jsonl");

/// In the notes of rows in which what is unpacked, copied or found cannot be told: "unknown" is
/// right for them.
const UNKNOWN: &str = "[unknown]";

/// In the notes of rows that write and are not seen through: the state's integrity shows them.
const UNSEEN: &str = "[unseen]";

#[test]
fn every_row_of_the_corpus_is_told_right() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    std::fs::create_dir(root.join(".isdlc")).unwrap();
    std::fs::File::create(root.join(".isdlc/state.json")).unwrap();
    // Rows go there; where it is missing, bash would not go on.
    std::fs::create_dir(root.join("sub")).unwrap();
    let mut wrong = Vec::new();
    let mut rows = 0;
    for line in CORPUS.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| row[key].as_str().unwrap();
        let (id, command) = (text("id"), text("command"));
        rows += 1;
        let expected = match (
            row["writes_state"].as_bool().unwrap(),
            text("note").contains(UNKNOWN),
        ) {
            (true, _) if text("note").contains(UNSEEN) => Touch::None,
            (true, true) => Touch::Unknown,
            (true, false) => Touch::Writes,
            (false, _) => Touch::None,
        };
        let world = World {
            dir: Some(&root),
            home: None,
            files: &Disk::default(),
        };
        let survey = survey(command, &world);
        let found = touches(
            &effects(&survey, &world),
            &[Path::new(".isdlc/state.json")],
            &root,
            &world,
        );
        if found != expected {
            wrong.push(format!("{id}: {found:?}, not {expected:?}: {command:?}"));
        }
    }
    assert!(rows >= 90, "only {rows} rows");
    assert!(
        wrong.is_empty(),
        "{} of {rows}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn every_protected_file_counts() {
    let root = Path::new("/nowhere/p");
    let targets = [
        Path::new(".isdlc/monorepo.json"),
        Path::new(".isdlc/projects/a/state.json"),
    ];
    for (command, expected) in [
        ("echo x > .isdlc/monorepo.json", Touch::Writes),
        ("echo x > .isdlc/projects/a/state.json", Touch::Writes),
        ("echo x > .isdlc/projects/b/state.json", Touch::None),
        ("rm -rf .isdlc/projects", Touch::Writes),
        (
            "for p in a b; do echo > .isdlc/projects/$p/state.json; done",
            Touch::Writes,
        ),
        ("echo > .isdlc/projects/$P/state.json", Touch::Unknown),
        ("cd \"$X\" && rm .isdlc/monorepo.json", Touch::Unknown),
        ("rm .isdlc/projects/*/state.json", Touch::Writes),
        ("cat .isdlc/monorepo.json", Touch::None),
        ("tar xf a.tar", Touch::Unknown),
        ("git reset --hard", Touch::Unknown),
        ("echo x > \"$OUT\"", Touch::None),
    ] {
        let world = World {
            dir: Some(root),
            home: None,
            files: &Disk::default(),
        };
        let survey = survey(command, &world);
        assert_eq!(
            touches(&effects(&survey, &world), &targets, root, &world),
            expected,
            "{command}"
        );
    }
}

/// What lies in shared memory is a file, though its path begins as those of devices do.
#[test]
fn a_state_in_shared_memory_counts() {
    let root = Path::new("/dev/shm/p");
    for (command, expected) in [
        ("echo x > .isdlc/state.json", Touch::Writes),
        ("echo x > /dev/shm/p/.isdlc/state.json", Touch::Writes),
        ("echo x > /dev/null", Touch::None),
    ] {
        let world = World {
            dir: Some(root),
            home: None,
            files: &Disk::default(),
        };
        let survey = survey(command, &world);
        let found = touches(
            &effects(&survey, &world),
            &[Path::new(".isdlc/state.json")],
            root,
            &world,
        );
        assert_eq!(found, expected, "{command}");
    }
}

//! Would this command make a commit on `main`? Every row of the corpus was labelled by running it,
//! except those of programs that were not there, which say so.

use std::path::Path;
use std::process::Command;

use tollgate_core::git::{Disk, Head, Repository};
use tollgate_shell::{Relation, World, follow, survey};

/// In the notes of rows that commit and are not seen through: the guard on git's side stops them.
const UNSEEN: &str = "[unseen]";

const CORPUS: &str = include_str!("corpus/shell-commit.jsonl");

/// The repository the rows expect: on `main`, with branches, aliases, a linked work tree and a
/// second repository beside it.
const SETUP: &str = "set -e
git init -q -b main repo; cd repo
git commit -q --allow-empty -m one
git branch topic; git branch feature/x; git branch wt
git config alias.ci commit; git config alias.lg 'log --oneline'
mkdir sub
cd ..; git init -q -b main other; git -C other commit -q --allow-empty -m one
git -C repo worktree add -q ../wt wt";

#[expect(
    clippy::unwrap_used,
    reason = "a fixture that cannot be made fails the test"
)]
fn fixture() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let status = Command::new("sh")
        .args(["-c", SETUP])
        .current_dir(dir.path())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "a")
        .env("GIT_AUTHOR_EMAIL", "a@example.org")
        .env("GIT_COMMITTER_NAME", "a")
        .env("GIT_COMMITTER_EMAIL", "a@example.org")
        .status()
        .unwrap();
    assert!(status.success());
    dir
}

fn lands_on_main(command: &str, root: &Path) -> (bool, bool) {
    let repo = root.join("repo");
    let world = World {
        dir: Some(&repo),
        home: Some(root),
        files: &Disk::default(),
    };
    let survey = survey(command, &world);
    let commits = follow(&survey, &world).commits;
    let main = Head::Branch("main".to_owned());
    let lands = commits
        .iter()
        .any(|commit| commit.relation == Relation::Here && commit.heads.contains(&main));
    (lands, survey.opaque)
}

#[test]
fn every_row_of_the_corpus_is_told_right() {
    let dir = fixture();
    let root = dir.path().canonicalize().unwrap();
    let mut wrong = Vec::new();
    let (mut rows, mut unseen) = (0, 0);
    for line in CORPUS.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| row[key].as_str().unwrap();
        let (id, command, note) = (text("id"), text("command"), text("note"));
        rows += 1;
        let expected = row["is_commit"].as_bool().unwrap();
        let (found, opaque) = lands_on_main(command, &root);
        // Other ways onto the branch, and commits elsewhere, are not for the branch guard.
        let other_way = expected && (id.starts_with("porc-") || id.starts_with("plumb-"));
        let expected = expected && !other_way && !note.contains(UNSEEN);
        unseen += usize::from(note.contains(UNSEEN));
        let either = note.contains("[opaque]") || note.contains("unreachable");
        if found != expected && !either {
            let kind = if expected { "missed" } else { "false alarm" };
            wrong.push(format!("{kind} {id} (opaque: {opaque}): {command:?}"));
        }
    }
    println!("{rows} rows, {unseen} of them not seen through");
    assert!(rows >= 200, "only {rows} rows");
    assert!(
        wrong.is_empty(),
        "{} of {rows}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn a_linked_work_tree_is_the_same_repository_on_another_branch() {
    let dir = fixture();
    let root = dir.path().canonicalize().unwrap();
    let at = |name: &str| Repository::discover(&root.join(name)).unwrap();
    let (here, linked, other) = (at("repo/sub"), at("wt"), at("other"));
    assert_eq!(here.head(), Head::Branch("main".to_owned()));
    assert_eq!(linked.head(), Head::Branch("wt".to_owned()));
    assert!(here.same_repository(&linked));
    assert!(!here.same_repository(&other));
    assert!(here.checked_out_elsewhere("wt"));
    assert!(!here.checked_out_elsewhere("topic"));
    assert!(linked.checked_out_elsewhere("main"));
    assert!(linked.branch_exists("feature/x"));
    assert_eq!(here.last_seen("topic"), None);
}

//! Commits that text does not show (`[unseen]` in the corpora), each run by bash with real git during
//! an agent's turn: the guard on git's side keeps them off main. So none is missed by text and git's
//! side together.

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use serde_json::Value;

use super::git_side::command;
use super::git_side_turns::{in_a_turn, is_in_place};
use crate::project::{git, put, run};

const CORPORA: [&str; 3] = [
    include_str!("../../corpus/practice.jsonl"),
    include_str!("../../../../tollgate-core/tests/corpus/shell-commit.jsonl"),
    include_str!("../../../../tollgate-core/tests/corpus/shell-files.jsonl"),
];

/// Some rows start what never ends.
const SECONDS: &str = "10";

const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

fn unseen() -> Vec<Value> {
    let lines = CORPORA.iter().flat_map(|corpus| corpus.lines());
    let rows = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.filter(|row| {
        // Of commands from practice, the exceptions are those that text misses.
        let note = row["note"].as_str().or(row["exception"].as_str());
        let commits = row["is_commit"] == true || row["commits"] == true;
        commits && note.is_some_and(|note| note.contains("[unseen]"))
    })
    .collect()
}

/// What came of a row's command.
enum Outcome {
    /// An agent's git moved main.
    Lands,
    Stopped,
    /// Nor does a person's: a program is absent.
    NothingHere,
}

/// Runs a row's command in a copy of the repository, by an agent and then by a person.
fn outcome(row: &Value, repository: &Path) -> Outcome {
    let directory = tempfile::tempdir().unwrap();
    let copy = directory.path().join("repo");
    let copied = Command::new("cp")
        .arg("-a")
        .args([repository, &copy])
        .status();
    assert!(copied.unwrap().success());
    for (name, text) in row["files"].as_object().into_iter().flatten() {
        let path = put(&copy.join(name), text.as_str().unwrap());
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(path, mode).unwrap();
    }
    let before = git(&copy, &["rev-parse", "main"]);
    let lands = |agent: bool| {
        let mut shell = command(&copy, "exec timeout -k 1 \"$0\" bash -c \"$1\"", agent);
        shell.args([SECONDS, row["command"].as_str().unwrap()]);
        shell.env("TERM", "xterm").env("PATH", PATH);
        run(shell, b"");
        git(&copy, &["rev-parse", "main"]) != before
    };
    match (lands(true), lands(false)) {
        (true, _) => Outcome::Lands,
        (false, true) => Outcome::Stopped,
        (false, false) => Outcome::NothingHere,
    }
}

#[test]
fn commits_that_text_does_not_show_stay_off_main() {
    let project = in_a_turn();
    is_in_place(&project);
    project.file("a.txt", "a\n");
    project.git(&["add", "a.txt"]);
    let rows = unseen();
    let (skipped, landed) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let left = Mutex::new(rows.iter());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(row) = { left.lock().unwrap().next() } {
                    let list = match outcome(row, project.root()) {
                        Outcome::Stopped => continue,
                        Outcome::Lands => &landed,
                        Outcome::NothingHere => &skipped,
                    };
                    let line = format!("{} {}", row["id"], row["command"]);
                    list.lock().unwrap().push(line);
                }
            });
        }
    });
    let (skipped, landed) = (skipped.into_inner().unwrap(), landed.into_inner().unwrap());
    println!(
        "{} rows, {} of them skipped, because they make no commit on this machine:\n{}",
        rows.len(),
        skipped.len(),
        skipped.join("\n")
    );
    assert!(rows.len() - skipped.len() > 60, "too few can be run");
    assert!(
        landed.is_empty(),
        "{} land:\n{}",
        landed.len(),
        landed.join("\n")
    );
}

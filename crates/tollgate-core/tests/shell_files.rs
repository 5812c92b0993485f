//! What a command does through files that it names: scripts and `package.json`. Every row
//! of the corpus is put to the scanner, and then run by bash beside real repositories: both must
//! say what its label says.
#![cfg(test)]

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tollgate_core::git::{Disk, Head};
use tollgate_shell::{Relation, Touch, World, follow, survey, touches};

const CORPUS: &str = include_str!("corpus/shell-files.jsonl");

/// In the notes of rows that do what they say and are not seen through.
const UNSEEN: &str = "[unseen]";
/// In the notes of rows that need npm.
const NPM: &str = "[npm]";

/// On `main`, with something staged and a state, beside another repository.
const SETUP: &str = "set -e
for r in repo other; do
  git init -q -b main $r; git -C $r commit -q --allow-empty -m one
  echo a > $r/staged.txt; git -C $r add staged.txt
done
mkdir repo/.isdlc; echo '{}' > repo/.isdlc/state.json";

fn bash(script: &str, dir: &Path, home: &Path) -> Output {
    // npm would look for a newer one of itself.
    Command::new("timeout")
        .args(["-s", "KILL", "120", "bash", "-c", script])
        .current_dir(dir)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", home)
        .env("NO_UPDATE_NOTIFIER", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "a")
        .env("GIT_AUTHOR_EMAIL", "a@example.org")
        .env("GIT_COMMITTER_NAME", "a")
        .env("GIT_COMMITTER_EMAIL", "a@example.org")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// The repositories with the files of a row.
fn planted(row: &Value) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let made = bash(SETUP, dir.path(), dir.path());
    assert!(made.status.success(), "{made:?}");
    for (name, text) in row["files"].as_object().unwrap() {
        let path = dir.path().join("repo").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = text.as_str().unwrap();
        let mode = if text.starts_with("#!") { 0o755 } else { 0o644 };
        plant(&path, text, mode);
    }
    dir
}

#[expect(clippy::disallowed_methods, reason = "fixtures are not state")]
fn plant(path: &Path, text: &str, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Whether the scanner sees a commit on `main`, and a write of the state.
fn told(command: &str, root: &Path) -> (bool, bool) {
    let repo = root.join("repo");
    let world = World {
        dir: Some(&repo),
        home: Some(root),
        files: &Disk::default(),
    };
    let survey = survey(command, &world);
    let main = Head::Branch("main".to_owned());
    let followed = follow(&survey, &world);
    let mut landed = followed.commits.iter();
    let commit =
        landed.any(|commit| commit.relation == Relation::Here && commit.heads.contains(&main));
    let state = Path::new(".isdlc/state.json");
    (
        commit,
        touches(&followed.effects, &[state], &repo, &world) == Touch::Writes,
    )
}

/// The same as it happens.
fn done(command: &str, root: &Path) -> (bool, bool) {
    let repo = root.join("repo");
    let look = || {
        let main = bash("git rev-parse main", &repo, root).stdout;
        (main, std::fs::read(repo.join(".isdlc/state.json")).ok())
    };
    let (main, state) = look();
    let marked = "printf '{ }' > .isdlc/state.json";
    assert!(bash(marked, &repo, root).status.success());
    let before = std::fs::read(repo.join(".isdlc/state.json")).ok();
    assert_ne!(before, state);
    bash(command, &repo, root);
    let (main_after, state_after) = look();
    (main_after != main, state_after != before)
}

#[test]
fn scanner_and_bash_both_say_what_every_row_says() {
    let npm = bash("command -v npm", Path::new("/"), Path::new("/"));
    let npm = npm.status.success();
    if !npm {
        println!("npm is not there: its rows are not run, only read");
    }
    let mut wrong = Vec::new();
    let (mut rows, mut unseen) = (0, 0);
    for line in CORPUS.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| row[key].as_str().unwrap();
        let (id, command, note) = (text("id"), text("command"), text("note"));
        let flag = |key: &str| row[key].as_bool().unwrap();
        let label = (flag("is_commit"), flag("writes_state"));
        rows += 1;
        let dir = planted(&row);
        let root = dir.path().canonicalize().unwrap();
        let told = told(command, &root);
        unseen += usize::from(note.contains(UNSEEN));
        let expected = if note.contains(UNSEEN) {
            (false, false)
        } else {
            label
        };
        if told != expected {
            wrong.push(format!("{id}: told {told:?}, not {expected:?}: {command}"));
        }
        if npm || !note.contains(NPM) {
            let done = done(command, &root);
            if done != label {
                wrong.push(format!("{id}: did {done:?}, not {label:?}: {command}"));
            }
        }
    }
    println!("{rows} rows, {unseen} of them not seen through");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

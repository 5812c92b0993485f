//! What git does not look at by itself, and gates see: files that it was told to leave alone, and
//! the work trees of repositories inside.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Gates, OK};
use crate::project::git;

const EVERYWHERE: &str = "base_branch: main\nstop_hook: { run_interval_minutes: 0 }\nentry_points:\n  - path: .\n    checks: [ok]\n";

/// The files that changed, as `detect` tells them; and `run` sees as many, which asks git in
/// another way.
#[track_caller]
fn changed(gates: &Gates, expected: &[&str]) {
    let (found, _) = gates.json(&["detect"]);
    assert_eq!(found["changed_files"], json!(expected), "{found}");
    let (run, _) = gates.json(&["run"]);
    assert_eq!(run["changed_files"], json!(expected.len()), "{run}");
}

/// All that is there is on `main`, and passed.
fn settled(gates: &Gates) {
    gates.commit("settled");
    gates.git(&["branch", "-q", "-f", "main", "work"]);
    gates.tollgate(&["run"]).exits(0);
    changed(gates, &[]);
}

fn stopped(gates: &Gates) -> Value {
    gates.stop_raw(b"{}").0["status"].clone()
}

/// A repository at `sub` with one file in it.
fn with_inner() -> (Gates, PathBuf) {
    let gates = Gates::raw(&[OK], EVERYWHERE);
    let inner = gates.path("sub");
    std::fs::create_dir(&inner).unwrap();
    git(&inner, &["init", "-q", "-b", "main"]);
    gates.file("sub/code/a", "a\n");
    commit(&inner, "one");
    settled(&gates);
    (gates, inner)
}

fn commit(inner: &Path, message: &str) {
    git(inner, &["add", "-A"]);
    git(inner, &["commit", "-q", "-m", message]);
}

#[test]
fn a_file_that_git_was_told_not_to_look_at_is_looked_at() {
    for mark in ["--assume-unchanged", "--skip-worktree"] {
        for version in ["2", "4"] {
            let gates = Gates::raw(&[OK], EVERYWHERE);
            settled(&gates);
            gates.git(&["update-index", "--index-version", version]);
            gates.git(&["update-index", mark, "src/a.txt"]);
            changed(&gates, &[]);
            gates.file("src/a.txt", "not seen by git\n");
            assert_eq!(gates.git(&["status", "--short"]), "", "{mark}");
            changed(&gates, &["src/a.txt"]);
            changed(&gates, &[]);
            // A pass is bound to it.
            gates.file("src/a.txt", "once more\n");
            changed(&gates, &["src/a.txt"]);
            std::fs::remove_file(gates.path("src/a.txt")).unwrap();
            changed(&gates, &["src/a.txt"]);
            // The person's own marks stay.
            let marks = gates.git(&["ls-files", "-v", "src/a.txt"]);
            assert!(!marks.starts_with('H'), "{marks}");
        }
    }
}

#[test]
fn what_is_not_checked_out_is_not_missing_and_what_lies_there_counts() {
    let gates = Gates::raw(&[OK], EVERYWHERE);
    gates.file("other/x", "x\n");
    settled(&gates);
    gates.git(&["sparse-checkout", "set", "src", ".gauntlet"]);
    assert!(!gates.exists("other/x"));
    changed(&gates, &[]);
    gates.file("src/a.txt", "changed\n");
    changed(&gates, &["src/a.txt"]);
    gates.file("other/x", "y\n");
    gates.file("other/new", "1");
    changed(&gates, &["other/new", "other/x"]);
}

#[test]
fn what_lies_in_a_repository_inside_counts() {
    let (gates, inner) = with_inner();
    gates.file("sub/code/a", "edited\n");
    changed(&gates, &["sub/code/a"]);
    changed(&gates, &[]);
    gates.file("sub/code/a", "edited again\n");
    changed(&gates, &["sub/code/a"]);
    assert_eq!(stopped(&gates), "passed");
    gates.file("sub/untracked", "1");
    changed(&gates, &["sub/untracked"]);
    gates.file("sub/.gitignore", "untracked\n");
    changed(&gates, &["sub/.gitignore", "sub/untracked"]);
    // What was seen stays seen when it is committed.
    commit(&inner, "two");
    let status = gates.json(&["run"]).0["status"].clone();
    assert_eq!(status, "no_changes");
    std::fs::remove_dir_all(&inner).unwrap();
    changed(&gates, &["sub"]);
}

#[test]
fn a_repository_without_a_commit_counts() {
    let gates = Gates::raw(&[OK], EVERYWHERE);
    settled(&gates);
    let inner = gates.path("sub");
    std::fs::create_dir(&inner).unwrap();
    git(&inner, &["init", "-q", "-b", "main"]);
    gates.file("sub/a", "a\n");
    changed(&gates, &["sub/a"]);
    gates.file("sub/a", "b\n");
    changed(&gates, &["sub/a"]);
}

#[test]
fn a_repository_inside_is_an_entry_point_like_any_directory() {
    let (gates, _inner) = with_inner();
    gates.file(
        ".gauntlet/config.yml",
        "base_branch: main\nentry_points:\n  - path: sub/code\n    checks: [ok]\n  - path: sub/docs\n    checks: [ok]\n",
    );
    gates.file("sub/code/b", "b\n");
    let (run, _) = gates.json(&["run"]);
    assert_eq!(run["gates"][0]["id"], "check:sub/code:ok", "{run}");
    assert_eq!(run["gates"].as_array().unwrap().len(), 1, "{run}");
}

#[test]
fn a_repository_in_a_repository_inside_counts() {
    let (gates, inner) = with_inner();
    let innermost = inner.join("deep");
    std::fs::create_dir(&innermost).unwrap();
    git(&innermost, &["init", "-q", "-b", "main"]);
    gates.file("sub/deep/a", "a\n");
    commit(&innermost, "one");
    commit(&inner, "with another");
    settled(&gates);
    gates.file("sub/deep/a", "b\n");
    changed(&gates, &["sub/deep/a"]);
    changed(&gates, &[]);
}

/// Agents put work trees of a repository into its own work tree.
#[test]
fn another_work_tree_of_the_repository_is_other_work() {
    let gates = Gates::raw(&[OK], EVERYWHERE);
    settled(&gates);
    gates.git(&["worktree", "add", "-q", "trees/one", "main"]);
    gates.json(&["run"]);
    gates.file("trees/one/src/a.txt", "other work\n");
    changed(&gates, &[]);
}

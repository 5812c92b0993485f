//! What changed: every kind of change, every kind of repository.

use serde_json::{Value, json};

use super::{BAD, FIXABLE, Gates, OK};
use crate::project::git;

const EVERYWHERE: &str = "base_branch: main\nentry_points:\n  - path: .\n    checks: [ok]\n";

fn detected(gates: &Gates, args: &[&str]) -> Vec<String> {
    let all = [&["detect"], args].concat();
    let (found, _) = gates.json(&all);
    let files = found["changed_files"]
        .as_array()
        .unwrap_or_else(|| panic!("{found}"));
    files
        .iter()
        .map(|file| file.as_str().unwrap().to_owned())
        .collect()
}

/// How many files `run` sees, which asks git in another way.
fn seen_by_run(gates: &Gates, args: &[&str]) -> Value {
    let all = [&["run"], args].concat();
    gates.json(&all).0["changed_files"].clone()
}

#[test]
fn committed_staged_unstaged_untracked_deleted_and_renamed() {
    let gates = Gates::raw(&[OK], EVERYWHERE);
    gates.git(&["checkout", "-q", "main"]);
    std::fs::remove_file(gates.path("src/b.txt")).unwrap();
    for name in ["deleted", "renamed", "edited", "staged", "same"] {
        gates.file(&format!("src/{name}"), format!("{name}\n").repeat(20));
    }
    gates.commit("base");
    gates.git(&["checkout", "-q", "-B", "work"]);
    gates.file("src/committed", "1");
    gates.git(&["mv", "src/renamed", "src/moved"]);
    gates.commit("work");
    gates.file("src/edited", "2");
    gates.file("src/staged", "2");
    gates.git(&["add", "src/staged"]);
    std::fs::remove_file(gates.path("src/deleted")).unwrap();
    gates.file("src/untracked", "1");
    gates.file("ünï code/\"q\" \n", "1");
    gates.file(".gitignore", "ignored\n");
    gates.file("src/ignored", "1");
    let expected = [
        ".gitignore",
        "src/committed",
        "src/deleted",
        "src/edited",
        "src/moved",
        "src/renamed",
        "src/staged",
        "src/untracked",
        "ünï code/\"q\" \n",
    ];
    assert_eq!(detected(&gates, &[]), expected);
    assert_eq!(seen_by_run(&gates, &[]), json!(expected.len()));
    assert_eq!(
        detected(&gates, &["-u"]),
        [
            ".gitignore",
            "src/deleted",
            "src/edited",
            "src/staged",
            "src/untracked",
            "ünï code/\"q\" \n"
        ]
    );
    assert_eq!(
        detected(&gates, &["-c", "HEAD"]),
        ["src/committed", "src/moved", "src/renamed"]
    );
    assert_eq!(seen_by_run(&gates, &["-c", "HEAD"]), json!(3));
}

#[test]
fn what_was_undone_again_is_no_change() {
    let gates = Gates::raw(&[OK], EVERYWHERE);
    gates.file("src/a.txt", "changed\n");
    gates.commit("change");
    gates.file("src/a.txt", "a\n");
    std::fs::remove_file(gates.path("src/b.txt")).unwrap();
    assert_eq!(detected(&gates, &[]), [""; 0]);
    assert_eq!(seen_by_run(&gates, &[]), json!(0));
}

#[test]
fn a_base_that_went_on_does_not_count() {
    let gates = Gates::raw(&[OK], EVERYWHERE);
    gates.commit("work");
    gates.git(&["checkout", "-q", "main"]);
    gates.file("src/of-main", "1");
    gates.commit("main goes on");
    gates.git(&["checkout", "-q", "work"]);
    assert_eq!(detected(&gates, &[]), ["src/b.txt"]);
    assert_eq!(seen_by_run(&gates, &[]), json!(1));
}

#[test]
fn a_shallow_clone_compares_with_the_base_itself() {
    let gates = Gates::raw(&[OK], EVERYWHERE);
    gates.commit("work");
    let clone = tempfile::tempdir().unwrap();
    let url = format!("file://{}", gates.root().display());
    git(
        clone.path(),
        &[
            "clone",
            "-q",
            "--depth",
            "1",
            "--no-single-branch",
            "-b",
            "work",
            &url,
            ".",
        ],
    );
    git(clone.path(), &["branch", "-q", "main", "origin/main"]);
    let mut command = gates.command(&["detect", "--json"]);
    command.current_dir(clone.path());
    let run = crate::project::run(command, b"");
    let found: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
    assert_eq!(found["changed_files"], json!(["src/b.txt"]));
}

#[test]
fn a_linked_worktree_has_its_own_changes() {
    let gates = Gates::raw(&[OK], EVERYWHERE);
    let place = tempfile::tempdir().unwrap();
    let tree = place.path().join("tree");
    gates.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "linked",
        tree.to_str().unwrap(),
        "main",
    ]);
    std::fs::File::create(tree.join("src/linked.txt")).unwrap();
    let mut command = gates.command(&["run", "--json"]);
    command.current_dir(tree.join("src"));
    let run = crate::project::run(command, b"");
    let result: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
    assert_eq!(
        (&result["status"], &result["changed_files"]),
        (&json!("passed"), &json!(1))
    );
    assert!(tree.join("gauntlet_logs").is_dir() && !gates.exists("gauntlet_logs"));
}

#[test]
fn a_submodule_is_a_change_when_it_moves() {
    let gates = Gates::raw(&[OK], EVERYWHERE);
    let sub = gates.path("sub");
    std::fs::create_dir(&sub).unwrap();
    git(&sub, &["init", "-q", "-b", "main"]);
    git(&sub, &["commit", "-q", "--allow-empty", "-m", "one"]);
    gates.commit("with a submodule");
    gates.git(&["branch", "-q", "-f", "main", "work"]);
    assert_eq!(detected(&gates, &[]), [""; 0]);
    git(&sub, &["commit", "-q", "--allow-empty", "-m", "two"]);
    assert_eq!(detected(&gates, &[]), ["sub"]);
    assert_eq!(seen_by_run(&gates, &[]), json!(1));
}

#[test]
fn a_project_in_a_part_of_a_repository_sees_its_part() {
    let gates = Gates::raw(&[OK], EVERYWHERE);
    gates.file("part/.gauntlet/config.yml", EVERYWHERE);
    gates.file("part/.gauntlet/checks/ok.yml", "command: test -e ../src");
    gates.commit("part");
    gates.git(&["branch", "-q", "-f", "main", "work"]);
    gates.file("part/x", "1");
    gates.file("outside", "1");
    let mut command = gates.command(&["run", "--json"]);
    command.current_dir(gates.path("part"));
    let run = crate::project::run(command, b"");
    let result: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
    assert_eq!(
        (&result["status"], &result["changed_files"]),
        (&json!("passed"), &json!(1))
    );
}

#[test]
fn git_s_own_variables_do_not_lead_astray() {
    let gates = Gates::raw(&[OK], EVERYWHERE);
    let other = tempfile::tempdir().unwrap();
    git(other.path(), &["init", "-q"]);
    let mut command = gates.command(&["run", "--json"]);
    command
        .env("GIT_DIR", other.path().join(".git"))
        .env("GIT_INDEX_FILE", other.path().join("index"))
        .env("GIT_WORK_TREE", other.path());
    for name in ["LITERAL", "GLOB", "ICASE"] {
        command.env(format!("GIT_{name}_PATHSPECS"), "1");
    }
    let run = crate::project::run(command, b"");
    let result: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
    assert_eq!(result["changed_files"], json!(1), "{result}");
}

#[test]
fn the_pull_request_of_ci_is_compared_with_its_base() {
    let gates = Gates::raw(
        &[BAD],
        "base_branch: nowhere\nentry_points:\n  - path: src\n    checks: [bad]\n",
    );
    gates.commit("work");
    let work = gates.git(&["rev-parse", "HEAD"]);
    // The base went on, and here it is only known as `origin/target`.
    gates.git(&["checkout", "-q", "-b", "elsewhere", "main"]);
    gates.file("src/of-the-base", "1");
    gates.commit("the base goes on");
    gates.git(&["update-ref", "refs/remotes/origin/target", "elsewhere"]);
    gates.git(&["checkout", "-q", "work"]);
    let found = |variables: &[(&str, &str)]| {
        let mut command = gates.command(&["detect", "--json"]);
        command.envs(variables.iter().copied());
        let run = crate::project::run(command, b"");
        let found: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
        found["changed_files"].clone()
    };
    let ci = [("GITHUB_ACTIONS", "true"), ("GITHUB_BASE_REF", "target")];
    let tested = [ci[0], ci[1], ("GITHUB_SHA", work.trim())];
    assert_eq!(found(&ci), json!(["src/b.txt"]));
    assert_eq!(found(&tested), json!(["src/b.txt"]));
    // The commit that is tested need not be checked out.
    gates.git(&["checkout", "-q", "elsewhere"]);
    assert_eq!(found(&tested), json!(["src/b.txt"]));
}

#[test]
fn an_unreadable_file_does_not_hide_the_others() {
    use std::os::unix::fs::PermissionsExt as _;
    let gates = Gates::raw(&[OK], EVERYWHERE);
    let secret = gates.file("src/secret", "x");
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o000)).unwrap();
    gates.tollgate(&["run"]).exits(0).says("[PASS]  check:.:ok");
}

#[test]
fn odd_entries_of_the_index_hide_nothing() {
    // Announced and empty: not staged, and not touched either.
    let gates = Gates::raw(&[OK], EVERYWHERE);
    gates.commit("work");
    gates.file("src/empty", "");
    gates.git(&["add", "-N", "src/empty"]);
    assert_eq!(seen_by_run(&gates, &[]), json!(2));
    // Staged, and then changed once more or back.
    let gates = Gates::raw(&[OK], EVERYWHERE);
    gates.file("src/a.txt", "changed\n");
    gates.git(&["add", "-A"]);
    gates.file("src/a.txt", "again\n");
    assert_eq!(seen_by_run(&gates, &[]), json!(2));
    let gates = Gates::raw(&[OK], EVERYWHERE);
    gates.file("src/a.txt", "changed\n");
    gates.git(&["add", "src/a.txt"]);
    gates.file("src/a.txt", "a\n");
    assert_eq!(seen_by_run(&gates, &[]), json!(1));
    // In the middle of a merge.
    let gates = Gates::raw(&[OK], EVERYWHERE);
    gates.file("src/a.txt", "ours\n");
    gates.commit("ours");
    gates.git(&["checkout", "-q", "main"]);
    gates.file("src/a.txt", "theirs\n");
    gates.git(&["commit", "-q", "-am", "theirs"]);
    gates.git(&["checkout", "-q", "work"]);
    let mut merge = std::process::Command::new("git");
    merge.arg("-C").arg(gates.root());
    merge.args([
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@t",
        "merge",
        "-q",
        "main",
    ]);
    assert!(!merge.output().unwrap().status.success());
    assert_eq!(seen_by_run(&gates, &[]), json!(2));
}

#[test]
fn a_project_below_the_top_of_its_repository_sees_its_own() {
    let gates = Gates::raw(&[OK], EVERYWHERE);
    let below = gates.path("below");
    for name in ["config.yml", "checks/ok.yml"] {
        let text = gates.read(&format!(".gauntlet/{name}"));
        gates.file(&format!("below/.gauntlet/{name}"), &text);
    }
    gates.commit("work");
    gates.git(&["branch", "-f", "main", "work"]);
    gates.file("elsewhere", "1");
    gates.file("below/one", "1");
    gates.file("below/two", "1");
    gates.git(&["add", "below/two"]);
    let mut command = gates.command(&["run", "--json"]);
    command.current_dir(&below);
    let run = crate::project::run(command, b"").exits(0);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answer["changed_files"], 2, "{answer}");
}

#[test]
fn a_pass_on_files_that_changed_meanwhile_is_not_kept() {
    let gates = Gates::raw(
        &[("format", "command: echo x >> src/b.txt")],
        &EVERYWHERE.replace("ok", "format"),
    );
    let answer = gates.json(&["run"]).0;
    assert_eq!(answer["status"], "passed", "{answer}");
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains("what they said is not kept"), "{answer}");
    // It is run again, also if somebody puts the file back to what was never checked.
    gates.file("src/b.txt", "b\n");
    let answer = gates.json(&["run"]).0;
    assert_eq!(answer["gates"].as_array().unwrap().len(), 1, "{answer}");
    // Nothing changes: nothing is to be run.
    gates.check("format", "command: \"true\"");
    let answer = gates.json(&["run"]).0;
    assert!(
        !answer["message"].as_str().unwrap().contains("not kept"),
        "{answer}"
    );
    assert_eq!(gates.json(&["run"]).0["status"], "no_changes");
}

#[test]
fn detect_tells_what_a_run_would_do() {
    let gates = Gates::new(&[OK, FIXABLE]);
    let would_run = |args: &[&str]| -> Vec<String> {
        let (found, _) = gates.json(&[&["detect"], args].concat());
        let gates = found["gates"].as_array().unwrap().iter();
        gates
            .map(|gate| gate["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(would_run(&[]), ["ok", "fixable"]);
    gates.tollgate(&["run"]).exits(1);
    // Without any change, what never passed runs.
    std::fs::remove_file(gates.path("src/b.txt")).unwrap();
    assert_eq!(would_run(&[]), ["ok", "fixable"]);
    gates
        .tollgate(&["detect"])
        .exits(0)
        .says("No changes detected.\n\nWould run 2 gate(s):");
    gates.file("src/fixed", "");
    gates.tollgate(&["run"]).exits(0);
    // After a pass, only what changed since counts.
    assert!(would_run(&[]).is_empty());
    gates
        .tollgate(&["detect"])
        .exits(2)
        .says("No changes detected since the last run that passed.");
    gates
        .tollgate(&["run"])
        .exits(0)
        .says("No changes detected.");
    assert_eq!(
        would_run(&["-u"]),
        ["ok", "fixable"],
        "asked for less, not since a pass"
    );
    gates.file("src/c.txt", "c\n");
    gates
        .tollgate(&["detect"])
        .exits(0)
        .says("Changed files since the last run that passed (1):\n  - src/c.txt\n");
    gates.check("ok", "command: echo another");
    assert_eq!(
        detected(&gates, &[]).len(),
        3,
        "other gates than those that passed"
    );
}

//! What is shown, what is written, and what never is.

use std::path::Path;

use super::Repository;
use crate::project::{TOLLGATE, run};

fn go() -> Repository {
    let repository = Repository::with(&[("go.mod", "module x\n")]);
    repository.tool("go");
    repository
}

#[test]
fn every_file_is_shown_before_it_is_written() {
    let repository = go();
    repository.tool("claude");
    repository.file("CLAUDE.md", "");
    let before = repository.files();
    let run = repository.tollgate(&["init", "--dry-run"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(repository.files(), before, "--dry-run writes nothing");
    let root = repository.root().display().to_string();
    for line in run.stdout.lines().skip(1) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    insta::assert_snapshot!(run.stdout.replace(&root, "[root]"));
    repository.init(&[]);
    for (path, text) in repository.files() {
        if before.contains_key(&path) || path.starts_with(".tollgate/local/") {
            continue;
        }
        assert!(run.stdout.contains(&format!("+ {path}\n")), "{path}");
        for line in text.lines() {
            assert!(run.stdout.contains(line), "{path}: {line}");
        }
    }
}

#[test]
fn a_second_init_changes_nothing() {
    let repository = go();
    repository.init(&[]);
    let before = repository.files();
    let run = repository.init(&[]);
    assert!(
        run.stdout
            .contains("Everything is there; nothing was written"),
        "{run:?}"
    );
    assert_eq!(repository.files(), before);
    let forced = repository.init(&["--force"]);
    assert!(forced.stdout.contains("nothing was written"), "{forced:?}");
    assert_eq!(repository.files(), before);
}

/// A limit on the size of files ends a process in the middle of its first write.
#[test]
fn ended_while_it_writes_it_leaves_no_half_file() {
    let repository = go();
    let whole = go();
    whole.init(&[]);
    let limited = format!("ulimit -f 0; exec {TOLLGATE} init --yes");
    let shell = Path::new("/bin/sh");
    let command = repository.command_of(shell, &["-c", &limited]);
    assert_ne!(run(command, b"").code, 0);
    let known = whole.files();
    for (path, text) in repository.files() {
        let is_temporary = path.contains(".tollgate-tmp-");
        assert!(
            is_temporary || known.get(&path) == Some(&text) || path == "go.mod",
            "{path}: {text:?}"
        );
    }
    repository.init(&[]);
    let without_local = |repository: &Repository| {
        let mut files = repository.files();
        files.retain(|path, _| !path.starts_with(".tollgate/local/"));
        files
    };
    assert_eq!(without_local(&repository), without_local(&whole));
}

/// P37: `init` assumed `origin/main`, left its logs to git, wrote invalid YAML and needed a
/// terminal.
#[test]
fn p37_what_tollgate_keeps_for_itself_is_hidden_from_git() {
    let repository = go();
    repository.init(&[]);
    let status = repository.git(&["status", "--porcelain", "-uall"]);
    assert!(status.contains(".tollgate/config.yml"), "{status}");
    assert!(!status.contains("local"), "{status}");
    repository.tollgate(&["run"]);
    let status = repository.git(&["status", "--porcelain", "-uall"]);
    assert!(!status.contains("logs"), "{status}");
}

#[test]
fn files_of_others_stay_as_they_are_even_by_force() {
    let repository = go();
    repository
        .project
        .file(".tollgate/checks/test.yml", "command: 'true' # mine\n");
    repository.init(&["--force"]);
    assert_eq!(
        repository.read(".tollgate/checks/test.yml"),
        "command: 'true' # mine\n"
    );
    assert!(repository.path(".tollgate/config.yml").is_file());
    assert_eq!(repository.tollgate(&["validate"]).code, 0);
    let edited = repository.read(".tollgate/config.yml") + "max_retries: 5\n";
    repository.file(".tollgate/config.yml", &edited);
    repository
        .project
        .file("package.json", r#"{"scripts":{"test":"x"}}"#);
    let before = repository.files();
    repository.init(&["--force"]);
    let after = repository.files();
    assert_eq!(after, before, "an edited configuration is the person's");
}

#[test]
fn force_brings_what_init_wrote_up_to_date() {
    let repository = go();
    repository.init(&[]);
    repository
        .project
        .file("package.json", r#"{"scripts":{"test":"x"}}"#);
    let run = repository.init(&[]);
    assert!(run.stdout.contains("nothing was written"), "{run:?}");
    let run = repository.init(&["--force"]);
    assert!(run.stdout.contains("~ .tollgate/config.yml"), "{run:?}");
    let config = repository.read(".tollgate/config.yml");
    assert!(config.contains("javascript-test"), "{config}");
    assert_eq!(repository.tollgate(&["validate"]).code, 0);
}

#[test]
fn without_a_record_no_file_is_ours() {
    let repository = go();
    repository.init(&[]);
    std::fs::remove_dir_all(repository.path(".tollgate/local")).unwrap();
    repository
        .project
        .file("package.json", r#"{"scripts":{"test":"x"}}"#);
    let before = repository.files();
    repository.init(&["--force"]);
    assert_eq!(repository.files(), before);
}

#[test]
fn only_what_was_asked_for_is_written() {
    for (only, path) in [
        ("gates", ".tollgate/config.yml"),
        ("workflow", ".tollgate/workflow/config/workflows.json"),
        ("plans", ".tollgate/plans.json"),
    ] {
        let repository = go();
        repository.init(&["--only", only]);
        let files = repository.files();
        assert!(files.contains_key(path), "{only}: {files:?}");
        for other in ["config.yml", "workflow/config/workflows.json", "plans.json"] {
            let other = format!(".tollgate/{other}");
            assert_eq!(files.contains_key(&other), other == path, "{only}: {other}");
        }
    }
}

/// P37: `init` assumed `origin/main`, left its logs to git, wrote invalid YAML and needed a
/// terminal.
#[test]
fn p37_without_anybody_to_ask_nothing_is_written() {
    let repository = go();
    let before = repository.files();
    // An answer that was written beforehand is nobody's.
    for stdin in ["", "y\ny\ny\n"] {
        let run = run(repository.command(&["init"]), stdin.as_bytes());
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains("there is nobody to ask"), "{run:?}");
        assert!(run.stderr.contains("--yes"), "{run:?}");
        assert_eq!(repository.files(), before);
    }
}

#[test]
fn a_file_in_the_way_is_named() {
    let repository = go();
    repository
        .project
        .file(".tollgate/checks", "no directory\n");
    let run = repository.tollgate(&["init", "--yes"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains(".tollgate/checks"), "{run:?}");
}

#[test]
fn what_is_missing_is_said() {
    let repository = Repository::with(&[("go.mod", "module x\n")]);
    let run = repository.init(&[]);
    assert!(run.stdout.contains("! `go` is not on PATH here"), "{run:?}");
    assert!(run.stdout.contains("no reviewer is installed"), "{run:?}");
    let run = Repository::empty().init(&[]);
    assert!(
        run.stdout.contains("nothing was found that tests"),
        "{run:?}"
    );
}

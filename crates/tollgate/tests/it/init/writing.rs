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
    for args in [&[] as &[&str], &["--force"]] {
        let run = repository.init(args);
        let said = "Everything is set up; nothing was written";
        assert!(run.stdout.contains(said), "{run:?}");
        assert_eq!(repository.files(), before);
    }
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
    assert_eq!(status, "?? .tollgate/.gitignore\n?? tollgate.toml");
    repository.tollgate(&["run"]);
    repository.file(".tollgate/workflow/state.json", "{}");
    repository.file(".tollgate/workflow/projects/api/state.json", "{}");
    repository.file(".tollgate/plans/a/plan.md", "# A\n");
    let status = repository.git(&["status", "--porcelain", "-uall"]);
    assert_eq!(
        status, "?? .tollgate/.gitignore\n?? .tollgate/plans/a/plan.md\n?? tollgate.toml",
        "plans are part of the project, the state is not"
    );
}

#[test]
fn a_configuration_of_a_person_stays_even_by_force() {
    for mine in [None, Some("[gates.mine]\nrun = \"true\"\n")] {
        let repository = go();
        if let Some(text) = mine {
            repository.file("tollgate.toml", text);
        } else {
            repository.init(&[]);
            let edited = repository.read("tollgate.toml") + "# mine\n";
            repository.file("tollgate.toml", &edited);
        }
        let before = repository.files();
        for args in [&["init", "--yes"] as &[&str], &["init", "--yes", "--force"]] {
            let run = repository.tollgate(args);
            assert_eq!(run.code, 1, "{run:?}");
            for part in [
                "refused: tollgate.toml exists already; nothing was written",
                "`tollgate config set KEY VALUE`",
                "replaces the file if nobody edited it",
            ] {
                assert!(run.stderr.contains(part), "{part}: {run:?}");
            }
            assert_eq!(repository.files(), before);
        }
    }
}

#[test]
fn another_gitignore_stays_as_it_is() {
    let repository = go();
    repository.file(".tollgate/.gitignore", "mine\n");
    repository.init(&[]);
    assert_eq!(repository.read(".tollgate/.gitignore"), "mine\n");
    assert!(repository.exists("tollgate.toml"));
}

#[test]
fn force_brings_what_init_wrote_up_to_date() {
    let repository = go();
    repository.init(&[]);
    repository.file("package.json", r#"{"scripts":{"test":"x"}}"#);
    let run = repository.tollgate(&["init", "--yes"]);
    assert!(run.stderr.contains("nothing was written"), "{run:?}");
    let run = repository.init(&["--force"]);
    assert!(run.stdout.contains("~ tollgate.toml"), "{run:?}");
    let config = repository.read("tollgate.toml");
    assert!(config.contains("[gates.javascript-test]"), "{config}");
    assert_eq!(repository.tollgate(&["validate"]).code, 0);
}

#[test]
fn without_a_record_no_file_is_ours() {
    let repository = go();
    repository.init(&[]);
    std::fs::remove_dir_all(repository.path(".tollgate/local")).unwrap();
    repository.file("package.json", r#"{"scripts":{"test":"x"}}"#);
    let before = repository.files();
    let run = repository.tollgate(&["init", "--yes", "--force"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert_eq!(repository.files(), before);
}

#[test]
fn a_workflow_and_plans_are_written_only_if_asked_for() {
    let tables = ["[gates]", "[workflow.change]", "[plans]"];
    for (args, expected) in [
        (&[] as &[&str], [true, false, false]),
        (&["--workflow"], [true, true, false]),
        (&["--plans"], [true, false, true]),
        (&["--workflow", "--plans"], [true, true, true]),
        (&["--only", "gates"], [true, false, false]),
        (&["--only", "workflow"], [false, true, false]),
        (&["--only", "plans"], [false, false, true]),
    ] {
        let repository = go();
        repository.init(args);
        let files = repository.files();
        let text = &files["tollgate.toml"];
        assert_eq!(
            tables.map(|table| text.contains(table)),
            expected,
            "{args:?}"
        );
        let ours = files
            .keys()
            .filter(|path| !path.starts_with(".tollgate/local/"));
        let ours: Vec<_> = ours.collect();
        assert_eq!(ours, [".tollgate/.gitignore", "go.mod", "tollgate.toml"]);
        let valid = repository.tollgate(&["validate"]);
        assert_eq!((valid.code, valid.stderr.as_str()), (0, ""), "{args:?}");
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
        assert!(
            run.stderr.contains("there is no terminal to ask at"),
            "{run:?}"
        );
        assert!(run.stderr.contains("--yes"), "{run:?}");
        assert_eq!(repository.files(), before);
    }
}

#[test]
fn a_person_at_a_terminal_is_asked_about_each_step() {
    let repository = go();
    let (screen, code) = repository
        .terminal(&["init"])
        .shows("Write tollgate.toml? [Y/n] ")
        .types("n")
        .ends();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("Nothing was written."), "{screen}");
    assert!(!repository.exists("tollgate.toml"));
    repository.file("CLAUDE.md", "");
    let (screen, code) = repository
        .terminal(&["init"])
        .shows("Write tollgate.toml? [Y/n] ")
        .types("y")
        .shows("Change these settings? [Y/n] ")
        .types("n")
        .shows("git-safety and destructive")
        .shows("nothing is blocked)? [Y/n] ")
        .types("y")
        .ends();
    assert_eq!(code, 0, "{screen}");
    let questions = screen.matches("/n]").count() + screen.matches("/N]").count();
    assert_eq!(questions, 3, "{screen}");
    assert!(screen.contains("pass  test"), "{screen}");
    assert!(screen.contains("No agent is registered"), "{screen}");
    let rules = repository.tollgate(&["rules", "list"]).stdout;
    assert!(rules.contains("force-push"), "{rules}");
    assert!(!rules.contains("enforce"), "{rules}");
    assert_eq!(repository.calls(), ["go test ./...", "go vet ./..."]);
    assert!(!repository.exists(".claude"), "a no to the agents is no");
    // With an agent, it ends with what holds from now on; an empty line is a yes.
    let repository = go();
    repository.file("CLAUDE.md", "");
    let (screen, code) = repository
        .terminal(&["init"])
        .shows("Write tollgate.toml? [Y/n] ")
        .types("")
        .shows("Change these settings? [Y/n] ")
        .types("")
        .shows("nothing is blocked)? [Y/n] ")
        .types("n")
        .ends();
    assert_eq!(code, 0, "{screen}");
    let held = "Your agent cannot stop while these are red: lint, test.";
    assert!(screen.contains(held), "{screen}");
    assert!(screen.contains("Try it: "), "{screen}");
    assert!(repository.exists(".claude/settings.json"), "{screen}");
}

/// With a workflow, the guard on git's side is the third question; the rules are then named only.
#[test]
fn no_project_is_asked_more_than_three_questions() {
    let repository = go();
    repository.file("CLAUDE.md", "");
    repository.file(".tollgate/workflow/config/README.md", "");
    let (screen, code) = repository
        .terminal(&["init"])
        .shows("Write tollgate.toml? [Y/n] ")
        .types("")
        .shows("Change these settings? [Y/n] ")
        .types("")
        .shows("Install these git hooks? [Y/n] ")
        .types("")
        .ends();
    assert_eq!(code, 0, "{screen}");
    let questions = screen.matches("/n]").count() + screen.matches("/N]").count();
    assert_eq!(questions, 3, "{screen}");
    let rules = "tollgate rules add git-safety --mode watch";
    assert!(screen.contains(rules), "{screen}");
}

#[test]
fn a_file_in_the_way_is_named() {
    let repository = go();
    repository.file(".tollgate", "no directory\n");
    let run = repository.tollgate(&["init", "--yes"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains(".tollgate"), "{run:?}");
    assert!(!repository.exists("tollgate.toml"));
}

#[test]
fn what_is_missing_is_said() {
    let repository = Repository::with(&[("go.mod", "module x\n")]);
    let run = repository.init(&[]);
    assert!(run.stdout.contains("! `go` is not on PATH here"), "{run:?}");
    assert!(run.stdout.contains("no reviewer is installed"), "{run:?}");
    let repository = Repository::empty();
    let run = repository.init(&[]);
    assert!(
        run.stdout
            .contains("no command that tests or lints this project was found"),
        "{run:?}"
    );
    let config = repository.read("tollgate.toml");
    assert!(config.contains("# [gates.test]\n# run = "), "{config}");
}

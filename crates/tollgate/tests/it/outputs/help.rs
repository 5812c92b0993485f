//! The help of every command.

use super::filters;
use crate::project::TestProject;

/// All commands, by the manual.
fn commands(project: &TestProject) -> Vec<String> {
    let page = project.must(&["man"]).stdout;
    let names = page
        .lines()
        .filter_map(|line| line.strip_prefix(r"tollgate\-"));
    let names = names.filter_map(|line| line.strip_suffix("(1)"));
    names.map(|name| name.replace('\\', "")).collect()
}

/// The commands that a help lists.
fn listed(help: &str) -> Vec<String> {
    let list = help.split("\nCommands:\n").nth(1).unwrap_or_default();
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names = lines.filter(|line| !line.starts_with("   "));
    names
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// The help of a command and of all below it.
fn help(project: &TestProject, command: &str) -> String {
    let words: Vec<_> = command.split(' ').chain(["--help"]).collect();
    let run = project.must(&words);
    assert_eq!(run.stderr, "", "{run:?}");
    for part in ["Example:\n  tollgate ", "Exit codes: 0"] {
        assert!(run.stdout.contains(part), "{command}: {part}");
    }
    for line in run.stdout.lines() {
        assert!(line.chars().count() <= 100, "{line:?} of {command}");
    }
    let mut said = format!("$ tollgate {command} --help\n{}\n", run.stdout);
    for name in listed(&run.stdout) {
        said += &help(project, &format!("{command} {name}"));
    }
    said
}

#[test]
fn every_command_has_its_help() {
    let project = TestProject::empty();
    let all = project.must(&["--help"]).stdout;
    filters(&project).bind(|| insta::assert_snapshot!("help", all));
    for line in all.lines() {
        assert!(line.chars().count() <= 100, "{line:?}");
    }
    let commands = commands(&project);
    assert!(commands.len() > 30, "{commands:?}");
    for command in commands {
        let said = help(&project, &command);
        filters(&project).bind(|| insta::assert_snapshot!(format!("help-{command}"), said));
    }
}

/// A command that nobody knows, one without its words, an option of another.
#[test]
fn what_is_mistyped() {
    super::assert_shows!(
        TestProject::empty(),
        &[
            "stauts",
            "phase",
            "phase complete --sumary x",
            "run extra",
            ""
        ]
    );
}

/// A script trusts the help.
#[test]
fn commands_exit_as_their_help_says() {
    let rule = "[[rule]]\nid = \"x\"\ndeny = { run = [\"rm\"] }\n";
    let project = TestProject::empty().on_branch("main").with_toml(rule);
    project.must(&["workflow", "start", "feature", "Gift cards"]);
    project.must(&["plan", "new", "cards"]);
    for (args, code, said) in [
        (
            &["rules", "explain", "rm x"][..],
            0,
            "0 done; 2 could not run",
        ),
        (
            &["state", "blame", "nothere"],
            1,
            "0 done; 1 it never changed; 2 could not run",
        ),
        (
            &["plan", "review", "--dry-run"],
            1,
            "0 a review is due; 1 none is; 2 could not run",
        ),
    ] {
        project.tollgate(args).exits(code);
        let command: Vec<_> = args.iter().take(2).chain(&["--help"]).copied().collect();
        project.must(&command).says(&format!("Exit codes: {said}"));
    }
}

//! Facts 1.19, and the corpus of commands that were labelled by running them.

use serde_json::{Value, json};

use crate::events::bash;
use crate::project::TestProject;

const NAME: &str = "state-file-guard";
const BLOCKED: &str = "BASH STATE GUARD: Direct writes to state.json via Bash are not permitted.";

fn project() -> TestProject {
    let project = TestProject::new();
    project.file(".isdlc/state.json", "{}");
    // Rows go there; where it is missing, bash would not go on.
    project.file("sub/a", "");
    project
}

#[test]
fn the_whole_corpus() {
    let project = project();
    let corpus = include_str!("../../../../tollgate-core/tests/corpus/state-write.jsonl");
    let mut wrong = Vec::new();
    for line in corpus.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let run = project.guard(NAME, &bash(row["command"].as_str().unwrap()));
        assert_eq!(run.code, 0, "{row} {run:?}");
        // What the text does not show, the state's integrity does.
        let unseen = row["note"].as_str().unwrap().contains("[unseen]");
        let blocked = row["writes_state"] == json!(true) && !unseen;
        if run.stdout.is_empty() == blocked {
            wrong.push(format!("{row} {run:?}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(corpus.lines().count() >= 200);
}

#[test]
fn the_block_shows_the_command_and_what_to_do() {
    let project = project();
    let long = format!("echo '{}' > .isdlc/state.json", "x".repeat(300));
    let reason = project.guard(NAME, &bash(&long)).blocks(BLOCKED);
    assert!(reason.contains("Write and Edit tools"), "{reason}");
    let shown = reason.split("Command: ").nth(1).unwrap();
    assert_eq!(shown.chars().count(), 200);
    assert_eq!(project.codes(), ["SFG-001"]);
    assert!(
        project
            .read(".isdlc/hook-activity.log")
            .contains(r#""hook":"state-file-guard","event":"block""#)
    );
}

/// F5: any `>` near the state file was blocked, and `rm`, `truncate` or `cd` beforehand were not.
#[test]
fn f5_routes_that_the_letters_do_not_show() {
    let project = project();
    for command in [
        "rm .isdlc/state.json",
        "truncate -s0 .isdlc/state.json",
        "dd if=/dev/null of=.isdlc/state.json",
        "perl -pi -e s/a/b/ .isdlc/state.json",
        "cd .isdlc && echo x > state.json",
        "git checkout HEAD -- .isdlc/state.json",
        "mv .isdlc old",
        "sh -c 'echo > .isdlc/state.json'",
    ] {
        project.guard(NAME, &bash(command)).blocks(BLOCKED);
    }
}

#[test]
fn a_command_that_deletes_everything_is_told_what_it_deletes() {
    let project = TestProject::empty().at_home_in_project();
    project.file(".isdlc/state.json", "{}");
    std::fs::create_dir(project.path("src")).unwrap();
    let root = project.root().display().to_string();
    let above = project.root().parent().unwrap().display().to_string();
    let whole =
        format!("This command deletes the whole project ({root}), with the state of its workflow.");
    let file_system = "This command deletes the root of the file system, with this project and the state of its workflow.";
    let holds = format!(
        "This command deletes the directory {above}, with this project and the state of its workflow."
    );
    for (command, said) in [
        ("rm -rf /", file_system),
        ("rm -rf /*", file_system),
        ("rm -fr --no-preserve-root /", file_system),
        ("sudo rm -r -f / ", file_system),
        ("sh -c 'rm -rf /'", file_system),
        ("rm -rf .", &whole),
        ("rm -rf ./", &whole),
        ("rm -rf ../project", &whole),
        ("cd src && rm -rf ..", &whole),
        ("shopt -s dotglob; rm -rf *", &whole),
        (&format!("rm -rf {root}"), &whole),
        ("rm -rf ~", &whole),
        ("rm -rf ..", &holds),
        (&format!("rm -rf {above}"), &holds),
    ] {
        let reason = project.guard(NAME, &bash(command)).blocks(said);
        assert!(!reason.contains("state.json"), "{reason}");
        assert!(reason.ends_with(&format!("Command: {command}")), "{reason}");
    }
    assert!(project.codes().iter().all(|code| code == "SFG-001"));
    // Of the workflow's own files it stays a write.
    for command in ["rm -rf .isdlc", "rm -rf .isdlc/*", "mv ../project /tmp/x"] {
        project.guard(NAME, &bash(command)).blocks(BLOCKED);
    }
}

#[test]
fn the_home_directory_is_named_when_it_is_deleted() {
    let project = project();
    let reason = project.guard(NAME, &bash("rm -rf ~")).blocks(&format!(
        "This command deletes the home directory ({}), with what Tollgate keeps there about the person.",
        project.home().display()
    ));
    assert!(!reason.contains("Write and Edit tools"), "{reason}");
    assert_eq!(project.codes(), ["SFG-003"]);
}

/// GH-276: `2>/dev/null` was taken for a write of the state.
/// F5: any `>` near the state file was blocked, and `rm`, `truncate` or `cd` beforehand were not.
#[test]
fn gh_276_f5_reading_is_fine() {
    let project = project();
    for command in [
        "cat .isdlc/state.json 2>/dev/null",
        "jq '.a > 1' .isdlc/state.json",
        "grep '>' .isdlc/state.json",
        "cp .isdlc/state.json /tmp/copy.json",
        "echo 'echo > .isdlc/state.json'",
        "git diff .isdlc/state.json | head > /dev/null",
    ] {
        project.guard(NAME, &bash(command)).says_nothing();
    }
}

/// BUG-0016: a script that only reads the state was blocked.
#[test]
fn bug_0016_a_script_that_only_reads_is_fine() {
    let project = project();
    let read = r#"node -e "const s = JSON.parse(require('fs').readFileSync('.isdlc/state.json')); process.stdout.write(s.a)""#;
    project.guard(NAME, &bash(read)).says_nothing();
    let write = r#"node -e "require('fs').writeFileSync('.isdlc/state.json', '{}')""#;
    project.guard(NAME, &bash(write)).blocks(BLOCKED);
}

#[test]
fn the_other_records_are_protected_too() {
    let project = project();
    project.file(".isdlc/projects/api/state.json", "{}");
    project.file(".tollgate/local/journal.jsonl", "");
    project
        .guard(NAME, &bash("echo '{}' > .isdlc/projects/api/state.json"))
        .blocks(BLOCKED);
    project
        .guard(NAME, &bash("rm -rf .isdlc/projects"))
        .blocks(BLOCKED);
    project
        .guard(NAME, &bash("echo '{}' > .isdlc/monorepo.json"))
        .blocks("BASH STATE GUARD: Direct writes to monorepo.json via Bash");
    for command in [
        "rm -rf .tollgate/local",
        "echo > .tollgate/local/journal.jsonl",
        "rm .tollgate/local/state/*",
        "mv .tollgate /tmp/x",
        "cd .tollgate/local && touch new",
        "python3 -c \"open('.tollgate/local/once','w')\"",
    ] {
        project
            .guard(NAME, &bash(command))
            .blocks("BASH STATE GUARD: Direct writes to .tollgate/local via Bash");
    }
    for command in [
        "cat .tollgate/local/journal.jsonl",
        "ls .tollgate/local",
        "echo > .tollgate/config.yml",
        "rm -rf .tollgate/plans",
    ] {
        project.guard(NAME, &bash(command)).says_nothing();
    }
}

#[test]
fn what_may_change_anything_is_judged_by_its_effect_unless_it_names_the_file() {
    let project = project();
    for command in ["git reset --hard", "tar xf a.tar", "make"] {
        project.guard(NAME, &bash(command)).says_nothing();
    }
    let reason = project
        .guard(NAME, &bash("cp -a backup/.isdlc/. .isdlc/"))
        .blocks(BLOCKED);
    assert!(reason.contains("cannot be seen in full"), "{reason}");
}

#[test]
fn no_state_is_needed_and_other_projects_are_not_ours() {
    let project = TestProject::new();
    project
        .guard(NAME, &bash("echo '{}' > .isdlc/state.json"))
        .blocks(BLOCKED);
    project
        .guard(
            NAME,
            &bash("mkdir -p /tmp/p/.isdlc && echo '{}' > /tmp/p/.isdlc/state.json"),
        )
        .says_nothing();
}

#[test]
fn the_state_of_a_project_that_has_none_yet_is_a_state() {
    let project = project();
    for command in [
        "echo '{}' > .isdlc/projects/new/state.json",
        "cd .isdlc && tee projects/new/state.json < x",
    ] {
        project.guard(NAME, &bash(command)).blocks(BLOCKED);
    }
    for command in [
        "echo '{}' > .isdlc/projects/new/notes.json",
        "echo '{}' > other/projects/new/state.json",
        "cat .isdlc/projects/new/state.json > copy.json",
    ] {
        project.guard(NAME, &bash(command)).says_nothing();
    }
}

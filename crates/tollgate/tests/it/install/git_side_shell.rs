//! What the hook decides in the shell, without Tollgate: a person's git, and every change that has
//! no branch in it.

use std::path::Path;
use std::process::Command;

use super::git_side::{command, executable, guarded, guarded_by, hook, main_of, repository, shell};
use crate::project::put;
use crate::project::{Run, TestProject, git, run, with_branch};

const COMMIT: &str = "git commit -q --allow-empty -m x";
const BLOCKED: &str = "CHANGE OF MAIN BLOCKED";
const ZERO: &str = "0000000000000000000000000000000000000000";
const SOME: &str = "1111111111111111111111111111111111111111";

/// A repository whose guard is a program that writes down how often it was started.
fn counting() -> TestProject {
    let project = repository();
    let program = project.path("bin dir/tollgate-counts");
    let counts = project.path(".git/starts");
    executable(
        &program,
        &format!("#!/bin/sh\necho \"$*\" >> '{}'\n", counts.display()),
    );
    guarded_by(&project, &program);
    project
}

fn starts(project: &TestProject) -> usize {
    std::fs::read_to_string(project.path(".git/starts")).map_or(0, |text| text.lines().count())
}

/// A branch of its own with some commits, and main one commit further.
fn several_commits(project: &TestProject) {
    let line = "git switch -q -c several && for i in 1 2 3 4 5; do echo $i > $i && git add $i && \
                git commit -q -m $i; done; git switch -q main && git commit -q --allow-empty -m m && \
                git switch -q several";
    let ran = shell(project.root(), line, false);
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn a_persons_git_does_not_start_the_program() {
    let project = counting();
    several_commits(&project);
    for line in [
        "git rebase -q main",
        "git merge -q --no-ff -m x feature/x",
        "git fetch -q . main:other",
        "git tag v1 && git branch -D other",
        "git stash -q; git worktree add -q ../person-$$ main && git worktree remove ../person-$$",
        "CLAUDECODE= CODEX_CI=0 git commit -q --allow-empty -m x",
    ] {
        let ran = shell(project.root(), line, false);
        assert_eq!(ran.code, 0, "{line}: {ran:?}");
        assert!(!ran.stderr.contains("tollgate"), "{line}: {ran:?}");
    }
    assert_eq!(starts(&project), 0);
}

#[test]
fn an_agents_git_starts_the_program_once_for_each_change_of_a_branch() {
    let project = counting();
    several_commits(&project);
    shell(project.root(), COMMIT, true);
    assert_eq!(starts(&project), 1);
    // HEAD moves for each commit, the branch only at the end.
    let ran = shell(project.root(), "git rebase -q main", true);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(starts(&project), 2);
    let line = "git tag v1 && git fetch -q . main:refs/remotes/origin/main && git switch -q main";
    shell(project.root(), line, true);
    assert_eq!(starts(&project), 2);
}

/// The hook itself, as git would start it.
fn hook_with(shell: &str, project: &TestProject, agent: bool, state: &str, input: &str) -> Run {
    let mut words = shell.split(' ');
    let mut hook = Command::new(words.next().unwrap());
    hook.args(words)
        .args([".git/hooks/reference-transaction", state])
        .current_dir(project.root())
        .env_clear()
        // Nothing is found there: only the shell itself can answer.
        .env("PATH", "/nonexistent");
    if agent {
        hook.env("AI_AGENT", "1");
    }
    run(hook, input.as_bytes())
}

#[test]
fn the_quick_way_needs_nothing_but_a_shell_of_any_kind() {
    let project = counting();
    let to_main = format!("{ZERO} {SOME} HEAD\n{ZERO} {SOME} refs/heads/main\n");
    let elsewhere = format!("{ZERO} {SOME} HEAD\n{ZERO} ref:refs/heads/x refs/remotes/o/HEAD\n");
    let mut tried = 0;
    for shell in [
        "/bin/sh",
        "/bin/dash",
        "/bin/bash --posix",
        "/bin/busybox sh",
        "/bin/ksh",
    ] {
        if !Path::new(shell.split(' ').next().unwrap()).exists() {
            continue;
        }
        tried += 1;
        std::fs::remove_file(project.path(".git/starts")).ok();
        for (agent, state, input) in [
            (false, "prepared", to_main.as_str()),
            (true, "committed", &to_main),
            (true, "aborted", &to_main),
            (true, "preparing", &to_main),
            (true, "prepared", &elsewhere),
            (true, "prepared", ""),
        ] {
            let ran = hook_with(shell, &project, agent, state, input);
            assert!(
                ran.code == 0 && ran.stderr.is_empty(),
                "{shell} {state}: {ran:?}"
            );
            assert_eq!(starts(&project), 0, "{shell} {agent} {state} {input}");
        }
        hook_with(shell, &project, true, "prepared", &to_main);
        assert_eq!(
            project.read(".git/starts"),
            format!("git-guard prepared {ZERO} {SOME} refs/heads/main\n"),
            "{shell}"
        );
    }
    assert!(tried > 0);
}

#[test]
fn main_is_found_among_many_references() {
    for (before, after) in [(0, 40), (3, 40), (19, 3), (20, 3), (21, 3), (300, 300)] {
        let project = guarded();
        let was = main_of(&project);
        let line = format!(
            "new=$(git rev-parse feature/x); {{ for i in $(seq {before}); do \
             echo create refs/remotes/a/$i $new; done; echo update refs/heads/main $new; \
             for i in $(seq {after}); do echo create refs/tags/z$i $new; done; }} | \
             git update-ref --stdin"
        );
        let ran = shell(project.root(), &line, true);
        assert!(ran.stderr.contains(BLOCKED), "{before} {after}: {ran:?}");
        assert_eq!(main_of(&project), was);
        let ran = shell(project.root(), &line, false);
        assert_eq!(ran.code, 0, "{before} {after}: {ran:?}");
        assert_ne!(main_of(&project), was);
    }
}

#[test]
fn a_displaced_hook_counts_for_people_and_agents() {
    let others =
        "#!/bin/sh\n[ \"$1\" = prepared ] || exit 0\nif grep -q refs/tags/no; then exit 3; fi\n";
    for agent in [false, true] {
        let project = repository();
        executable(&hook(&project), others);
        assert_eq!(project.run(&["install", "--git", "--yes"], b"").code, 0);
        for (line, refused) in [
            ("git tag yes", false),
            ("git tag no", true),
            (
                "git switch -q feature/x && git commit -q --allow-empty -m x",
                false,
            ),
        ] {
            let ran = shell(project.root(), line, agent);
            assert_eq!(ran.code != 0, refused, "{line} {agent}: {ran:?}");
        }
    }
}

#[test]
fn a_project_below_the_repositorys_top_is_covered_in_a_path_with_blanks() {
    let top = tempfile::tempdir().unwrap();
    let top = top.path().join("my work");
    let below = top.join("the project");
    put(
        &below.join(".isdlc/state.json"),
        with_branch("active").to_string(),
    );
    git(&top, &["init", "-q", "-b", "main"]);
    git(&top, &["commit", "-q", "--allow-empty", "-m", "first"]);
    git(&top, &["branch", "feature/x"]);
    let mut install = TestProject::empty().command(&["install", "--git", "--yes"]);
    install.current_dir(&below);
    let ran = run(install, b"");
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = shell(&below, COMMIT, true);
    assert!(ran.stderr.contains(BLOCKED), "{ran:?}");
    assert_eq!(shell(&below, COMMIT, false).code, 0);
    // From a linked work tree beside it.
    let line = "git switch -q feature/x && git worktree add -q '../a linked one' main";
    assert_eq!(shell(&top, line, true).code, 0);
    let linked = top.with_file_name("a linked one").join("the project");
    put(
        &linked.join(".isdlc/state.json"),
        with_branch("active").to_string(),
    );
    let ran = shell(&linked, COMMIT, true);
    assert!(ran.stderr.contains(BLOCKED), "{ran:?}");
    assert_eq!(shell(&linked, COMMIT, false).code, 0);
}

#[test]
fn a_submodule_is_another_repository() {
    let project = guarded();
    let other = TestProject::empty().on_branch("main");
    let line = format!(
        "git switch -q feature/x && git -c protocol.file.allow=always submodule add -q {} sub && \
         git commit -q -m sub && cd sub && git commit -q --allow-empty -m x && git push -q . HEAD:other",
        other.root().display()
    );
    let ran = shell(project.root(), &line, true);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!ran.stderr.contains("tollgate"), "{ran:?}");
}

#[test]
fn without_a_place_for_the_journal_the_answer_is_the_same_and_it_is_told() {
    let project = guarded();
    put(&project.path(".tollgate"), "no directory");
    let ran = shell(project.root(), COMMIT, true);
    assert!(ran.stderr.contains(BLOCKED), "{ran:?}");
    assert!(
        ran.stderr.contains("the journal cannot be written"),
        "{ran:?}"
    );
    let ran = shell(project.root(), COMMIT, false);
    assert!(ran.code == 0 && ran.stderr.is_empty(), "{ran:?}");
}

#[test]
fn a_program_that_is_gone_is_named_to_the_agent_and_stops_nobody() {
    let project = counting();
    std::fs::remove_file(project.path("bin dir/tollgate-counts")).unwrap();
    let ran = shell(project.root(), COMMIT, true);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("bin dir/tollgate-counts"), "{ran:?}");
    assert!(ran.stderr.contains("`tollgate install --git`"), "{ran:?}");
    let ran = run(command(project.root(), COMMIT, false), b"");
    assert!(ran.code == 0 && ran.stderr.is_empty(), "{ran:?}");
}

//! Rules on git's side: what an agent really commits and pushes, whatever command hides it.

use std::path::PathBuf;

use serde_json::json;

use super::git_side::{command, executable, shell, uninstall};
use super::git_side_proposed::install;
use super::git_side_turns::{aside, is_aside, is_in_place};
use crate::events::{Event as _, bash, named};
use crate::project::{Run, TestProject, run};
use crate::terminal::Terminal;

const NO_COMMIT: &str = r#"
[[rule]]
id = "no-commit-to-main"
deny = { commit = { branch = ["main"] } }
reason = "Main is what everybody builds on."
instead = "Commit to a branch of your own."
match = ["git commit -m x"]
"#;

const PUSHES: &str = r#"
[[rule]]
id = "no-force-push"
deny = { push = { force = true, branch = ["main", "release/*"] } }
match = ["git push -f origin main"]

[[rule]]
id = "branches-stay"
deny = { push = { delete = true } }
match = ["git push origin :old"]

[[rule]]
id = "one-remote"
deny = { push = { remote = ["mirror"] } }
match = ["git push mirror main"]
"#;

/// A repository with these rules and the guard, as `install` leaves it: on main, with a branch `work`
/// and the bare repositories `origin` and `mirror`.
fn guarded(rules: &str) -> TestProject {
    let project = TestProject::empty().on_branch("main").with_toml(rules);
    project.file(".gitignore", "*.git\n.tollgate\n.claude\n.isdlc\n");
    project.commit("rules");
    for remote in ["origin", "mirror"] {
        let name = format!("{remote}.git");
        project.git(&["init", "-q", "--bare", &name]);
        let place = project.path(&name);
        project.git(&["remote", "add", remote, place.to_str().unwrap()]);
    }
    project.git(&["push", "-q", "origin", "main", "main:release/1", "main:old"]);
    project.git(&["branch", "work"]);
    install(&project);
    project
}

fn begin_turn(project: &TestProject) {
    let event = bash("./release.sh").in_session("s");
    project.hook(&event).says_nothing();
}

/// A line that an agent's script runs, in its turn.
fn agent(project: &TestProject, line: &str) -> Run {
    let mut line = command(project.root(), line, true);
    line.env("HOME", project.home());
    run(line, b"")
}

fn pre_push(project: &TestProject) -> PathBuf {
    project.path(".git/hooks/pre-push")
}

#[test]
fn install_proposes_the_guard_where_a_rule_needs_it() {
    for (rules, is_needed) in [
        (NO_COMMIT.to_owned(), true),
        (PUSHES.to_owned(), true),
        (format!("{NO_COMMIT}mode = \"watch\"\n"), false),
        (
            "[[rule]]\nid = \"a\"\ndeny = { write = [\"a\"] }\n".to_owned(),
            false,
        ),
    ] {
        let project = TestProject::empty().on_branch("main").with_toml(&rules);
        let ran = install(&project);
        assert_eq!(aside(&project).exists(), is_needed, "{rules}: {ran:?}");
        assert_eq!(
            ran.stdout.contains("commits or pushes"),
            is_needed,
            "{rules}: {ran:?}"
        );
    }
    let project = TestProject::empty().on_branch("main").with_toml(NO_COMMIT);
    let install = project.command(&["install", "--agent", "claude-code"]);
    let (screen, code) = Terminal::start(&install)
        .shows("Change these settings? [Y/n]")
        .types("y")
        .shows("Install these git hooks? [Y/n]")
        .types("")
        .ends();
    assert!(code == 0 && aside(&project).exists(), "{screen}");
}

#[test]
fn a_commit_that_a_rule_forbids_is_refused_however_it_is_hidden() {
    let project = guarded(NO_COMMIT);
    let main = || project.git(&["rev-parse", "main"]);
    let before = main();
    begin_turn(&project);
    is_in_place(&project);
    for line in [
        "printf 'git commit -q --allow-empty -m x\\n' > s && sh s",
        "git -c alias.x='!git commit -q --allow-empty -m x' x",
        "git update-ref HEAD $(git commit-tree -p HEAD -m x HEAD^{tree})",
        "python3 -c 'import subprocess; subprocess.run([\"git\", \"commit\", \"-q\", \"--allow-empty\", \"-m\", \"x\"], check=True)'",
        "git checkout -q --detach && git commit -q --allow-empty -m x && git branch -f main HEAD",
    ] {
        let ran = agent(&project, line);
        assert_ne!(ran.code, 0, "{line}: {ran:?}");
        for words in [
            "RULE:no-commit-to-main",
            "a commit to main is blocked",
            "Main is what everybody builds on.",
            "Next: Commit to a branch of your own.",
        ] {
            assert!(ran.stderr.contains(words), "{line}: {words}: {ran:?}");
        }
        assert_eq!(main(), before, "{line}");
        shell(project.root(), "git switch -q main", false);
    }
    let entry = project.journal().pop().unwrap();
    assert_eq!(entry["code"], "RULE:no-commit-to-main");
    assert_eq!(entry["event"], "reference-transaction");
    let list = project.must(&["rules", "list"]);
    assert!(list.stdout.contains("fired 5×"), "{list:?}");
}

/// What git refuses, the text of the command does not promise; where it cannot tell, git decides.
#[test]
fn commits_by_other_commands_than_commit_are_known_on_both_sides() {
    let project = guarded(NO_COMMIT);
    let ahead = "echo m > m && git add m && git commit -q -m m && git switch -q -C work && \
                 echo w > w && git add w && git commit -q -m w && git switch -q main";
    shell(project.root(), ahead, false);
    begin_turn(&project);
    let before = project.git(&["rev-parse", "main"]);
    for (line, is_blocked) in [
        ("git merge -q --no-ff -m x work", true),
        ("git cherry-pick -x work", true),
        ("git revert --no-edit HEAD", true),
        (
            "git format-patch -q --stdout HEAD..work | git am -q --signoff",
            true,
        ),
        ("git merge -q --ff-only work", false),
        ("git merge -q --squash work", false),
        ("git merge -q --no-ff --no-commit work", false),
        ("git cherry-pick -n work", false),
        // Here it only moves main on.
        ("git merge -q work", false),
        ("git rebase -q work", false),
        (
            "git switch -q work && git merge -q --no-ff -m x main",
            false,
        ),
    ] {
        let run = project.hook(&bash(line).in_session("s"));
        assert_eq!(
            run.stdout.contains("RULE:no-commit-to-main"),
            is_blocked,
            "{line}: {run:?}"
        );
        let ran = agent(&project, line);
        assert_eq!(ran.code != 0, is_blocked, "{line}: {ran:?}");
        let undo = "git merge --abort; git cherry-pick --abort; git revert --abort; git am --abort; \
                    git reset -q --hard; git switch -q main; git reset -q --hard";
        shell(
            project.root(),
            &format!("({undo}) 2>&1; git reset -q --hard {before}"),
            false,
        );
    }
    // Where main has commits of its own, the same merge makes one, which git alone knows.
    shell(project.root(), "git commit -q --allow-empty -m own", false);
    let line = "git merge -q -m x work";
    let run = project.hook(&bash(line).in_session("s"));
    assert!(!run.stdout.contains("RULE:no-commit-to-main"), "{run:?}");
    let ran = agent(&project, line);
    assert!(
        ran.code != 0 && ran.stderr.contains("RULE:no-commit-to-main"),
        "{ran:?}"
    );
    let strict = format!("{NO_COMMIT}unknown = \"deny\"\n");
    project.file("tollgate.toml", &strict);
    project.hook(&bash(line).in_session("s")).denies();
}

#[test]
fn what_makes_no_commit_there_passes_and_a_person_is_not_asked() {
    let project = guarded(NO_COMMIT);
    begin_turn(&project);
    for line in [
        "git switch -q work && git commit -q --allow-empty -m x && git switch -q main",
        "git merge -q --ff-only work",
        "git reset -q --hard HEAD~1",
        "git branch other && git branch -D other",
        "git switch -q -c main2 && git switch -q main",
        "git fetch -q origin && git pack-refs --all",
        "git tag v1",
    ] {
        let ran = agent(&project, line);
        assert!(ran.code == 0 && ran.stderr.is_empty(), "{line}: {ran:?}");
    }
    let ran = shell(project.root(), "git commit -q --allow-empty -m x", false);
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn a_push_that_a_rule_forbids_is_refused_by_what_the_remote_would_get() {
    let project = guarded(PUSHES);
    begin_turn(&project);
    project.git(&["commit", "-q", "--amend", "--allow-empty", "-m", "another"]);
    let script = |line: &str| format!("printf '%s\\n' '{line}' > s && sh s");
    for (line, rule) in [
        ("git push -f origin main", "no-force-push"),
        ("git push origin +main:release/1", "no-force-push"),
        ("git push --force-with-lease origin main", "no-force-push"),
        ("git push origin :old", "branches-stay"),
        ("git push -q mirror work", "one-remote"),
    ] {
        let ran = agent(&project, &script(line));
        let code = format!("RULE:{rule}");
        assert!(
            ran.code != 0 && ran.stderr.contains(&code),
            "{line}: {ran:?}"
        );
        let entry = project.journal().pop().unwrap();
        assert_eq!(
            (&entry["code"], &entry["event"]),
            (&json!(code), &json!("pre-push"))
        );
    }
    for line in [
        "git push -q origin work",
        "git switch -q work && git commit -q --allow-empty -m x && git push -q -f origin work",
        "git push -q origin main:new",
        "git tag v1 && git push -q origin v1",
    ] {
        let ran = agent(&project, &script(line));
        assert_eq!(ran.code, 0, "{line}: {ran:?}");
    }
    let ran = shell(project.root(), "git push -q -f origin main", false);
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn conditions_hold_for_git_as_far_as_git_knows_them() {
    let rule = |condition: &str| {
        format!("[[rule]]\nid = \"r\"\ndeny = {{ commit = true }}\n{condition}\n")
    };
    for (condition, is_refused) in [
        ("when = { branch = [\"main\"] }", true),
        ("when = { branch = [\"other\"] }", false),
        ("when = { agent = [\"claude-code\"] }", true),
        ("unless = { agent = [\"claude-code\"] }", false),
        ("until = 2020-01-01", false),
        // Git does not know: the agent's own event decided.
        ("unless = { subagent = [\"committer\"] }", false),
        ("when = { subagent = [\"reviewer\"] }", false),
        ("after = { read = [\"secret\"] }", false),
    ] {
        let project = guarded(&rule(condition));
        begin_turn(&project);
        let ran = agent(&project, "git commit -q --allow-empty -m x");
        assert_eq!(ran.code != 0, is_refused, "{condition}: {ran:?}");
    }
    let project = guarded(&rule("after = { read = [\"secret\"] }"));
    project.hook(&bash("cat secret").in_session("s"));
    let line = "CLAUDE_CODE_SESSION_ID=s git commit -q --allow-empty -m x";
    let ran = agent(&project, line);
    assert!(ran.stderr.contains("RULE:r"), "{ran:?}");
}

#[test]
fn what_a_person_allows_or_was_asked_about_passes_git_too() {
    let project = guarded(NO_COMMIT);
    begin_turn(&project);
    let commit = "git commit -q --allow-empty -m x";
    project.allow(&["RULE:no-commit-to-main", "--once"]);
    assert_eq!(agent(&project, commit).code, 0);
    assert_ne!(agent(&project, commit).code, 0);
    let project = guarded(&NO_COMMIT.replace("deny", "ask"));
    begin_turn(&project);
    assert_ne!(agent(&project, commit).code, 0);
    let event = bash(commit)
        .in_session("s")
        .with("permission_mode", "default");
    project.hook(&event).says("\"ask\"");
    assert_eq!(agent(&project, commit).code, 0);
}

#[test]
fn the_hooks_are_in_place_while_a_rule_needs_them_and_somebody_elses_are_kept() {
    let project = TestProject::empty().on_branch("main").with_toml(PUSHES);
    executable(
        &pre_push(&project),
        "#!/bin/sh\necho \"theirs $1\" >&2\ncat >&2\n",
    );
    let theirs = std::fs::read_to_string(pre_push(&project)).unwrap();
    project.commit("rules");
    project.git(&["init", "-q", "--bare", "origin.git"]);
    let place = project.path("origin.git");
    project.git(&["remote", "add", "origin", place.to_str().unwrap()]);
    install(&project);
    is_aside(&project);
    assert_eq!(std::fs::read_to_string(pre_push(&project)).unwrap(), theirs);
    begin_turn(&project);
    for is_agent in [true, false] {
        let line = format!("git push origin main:b{is_agent}");
        let ran = shell(project.root(), &line, is_agent);
        assert!(
            ran.code == 0 && ran.stderr.contains("theirs origin"),
            "{ran:?}"
        );
        assert!(ran.stderr.contains("refs/heads/main"), "{ran:?}");
    }
    let ran = shell(project.root(), "git push origin :btrue", true);
    assert!(ran.stderr.contains("RULE:branches-stay"), "{ran:?}");
    assert!(!ran.stderr.contains("theirs"), "{ran:?}");
    let stop = named("Stop").in_session("s").with("transcript_path", "/t");
    project.hook(&stop);
    assert_eq!(std::fs::read_to_string(pre_push(&project)).unwrap(), theirs);
    uninstall(&project, &[]);
    assert_eq!(std::fs::read_to_string(pre_push(&project)).unwrap(), theirs);
    assert!(!aside(&project).exists());
}

#[test]
fn a_guard_of_an_older_version_is_completed() {
    let project = guarded(PUSHES);
    begin_turn(&project);
    std::fs::remove_file(pre_push(&project)).unwrap();
    let doctor = project.run(&["doctor"], b"");
    assert!(doctor.stdout.contains("git-hook-broken"), "{doctor:?}");
    project.run(&["doctor", "--fix"], b"");
    begin_turn(&project);
    let ran = agent(&project, "git push origin :old");
    assert!(ran.stderr.contains("RULE:branches-stay"), "{ran:?}");
}

//! The guard on git's side, with real git: what an agent cannot move, and that a person is not
//! hindered.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::project::put;
use crate::project::{Run, TestProject, run, with_branch};
use crate::terminal::Terminal;
use crate::workflow::bench::Bench;

/// A repository on main with a workflow whose branch is `feature/x`, one commit ahead.
pub(super) fn repository() -> TestProject {
    let project = TestProject::new()
        .state(&with_branch("active"))
        .on_branch("main");
    project.git(&["checkout", "-q", "-b", "feature/x"]);
    project.file("feature.txt", "x\n");
    project.git(&["add", "feature.txt"]);
    project.git(&["commit", "-q", "-m", "feature"]);
    project.git(&["checkout", "-q", "main"]);
    project
}

pub(super) fn guarded() -> TestProject {
    let project = repository();
    install(&project);
    project
}

fn install(project: &TestProject) -> Run {
    let ran = project.run(&["install", "--git", "--yes"], b"");
    assert_eq!(ran.code, 0, "{ran:?}");
    ran
}

/// Uninstalls as a person does, at a terminal; what it shows there.
pub(super) fn uninstall(project: &TestProject, args: &[&str]) -> String {
    let args = [&["uninstall", "--yes"], args].concat();
    let (screen, code) = Terminal::start(&project.command(&args)).ends();
    assert_eq!(code, 0, "{screen}");
    screen
}

/// Runs a shell line in a directory, as an agent or as a person.
pub(super) fn shell(directory: &Path, line: &str, agent: bool) -> Run {
    run(command(directory, line, agent), b"")
}

/// The same, not started yet.
pub(super) fn command(directory: &Path, line: &str, agent: bool) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", line])
        .current_dir(directory)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_EDITOR", "true");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "Test");
        command.env(format!("GIT_{who}_EMAIL"), "test@example.org");
    }
    if agent {
        command.env("CLAUDECODE", "1");
    }
    command
}

/// Ways to move main from main.
const ROUTES: &[&str] = &[
    "git commit -q --allow-empty -m x",
    "git commit -q --allow-empty --no-verify -m x",
    "git commit -q --amend -m x",
    "git merge -q --no-ff -m x feature/x",
    "git merge -q --ff-only feature/x",
    "git cherry-pick feature/x",
    "git rebase -q feature/x",
    "git reset -q --hard feature/x",
    "git revert --no-edit HEAD",
    "git pull -q . feature/x",
    "git format-patch -q --stdout main..feature/x | git am -q",
    "git update-ref refs/heads/main $(git rev-parse feature/x)",
    "git update-ref HEAD $(git commit-tree -p HEAD -m x HEAD^{tree})",
    "git switch -q feature/x && git branch -f main feature/x",
    "git switch -q feature/x && git fetch -q . feature/x:main",
    "git switch -q feature/x && git push -q . feature/x:main",
    "git switch -q feature/x && git checkout -q -B main feature/x",
    "git switch -q feature/x && git branch -D main",
    "git switch -q feature/x && git pack-refs --all && git branch -D main",
    "git switch -q feature/x && git pack-refs --all && git update-ref -d refs/heads/main $(git rev-parse main)",
    "git switch -q feature/x && git pack-refs --all --no-prune && git update-ref -d refs/heads/main $(git rev-parse main)",
    "git pack-refs --all && git commit -q --allow-empty -m x",
    "git switch -q feature/x && git branch -m main old",
    "git switch -q feature/x && git symbolic-ref refs/heads/main refs/heads/feature/x",
    "printf 'create refs/heads/master %s\\n' $(git rev-parse HEAD) | git update-ref --stdin",
    "git -c alias.x='commit -q --allow-empty -m x' x",
    "git -c alias.x='!git commit -q --allow-empty -m x' x",
    "printf 'git commit -q --allow-empty -m x\\n' > s && chmod +x s && ./s",
    "G=git; eval \"$G com\"'mit -q --allow-empty -m x'",
    "python3 -c 'import subprocess; subprocess.run([\"git\", \"commit\", \"-q\", \"--allow-empty\", \"-m\", \"x\"], check=True)'",
];

/// What everybody may do.
const HARMLESS: &[&str] = &[
    "git switch -q feature/x && git commit -q --allow-empty -m x",
    "git switch -q feature/x && git merge -q main",
    "git switch -q feature/x && git rebase -q main",
    "git switch -q -c other && git commit -q --allow-empty -m x && git branch -f third other",
    "git tag v1 && git tag -d v1",
    "echo y > feature2.txt && git add feature2.txt && git stash -q && git stash pop -q",
    "git pack-refs --all && git gc -q",
    "git checkout -q --detach && git commit -q --allow-empty -m x",
    "git reset -q --hard HEAD",
    "git fetch -q . feature/x:refs/remotes/origin/main",
    "git worktree add -q ../linked-$$ feature/x && git worktree remove --force ../linked-$$",
    "git status && git log -1 && git diff",
];

pub(super) fn main_of(project: &TestProject) -> String {
    project.git(&["rev-parse", "refs/heads/main"])
}

#[test]
fn an_agent_moves_main_by_no_route() {
    for route in ROUTES {
        let project = guarded();
        let before = main_of(&project);
        let ran = shell(project.root(), route, true);
        assert_ne!(ran.code, 0, "{route}: {ran:?}");
        assert!(
            ran.stderr.contains("CHANGE OF MAIN BLOCKED"),
            "{route}: {ran:?}"
        );
        assert!(
            ran.stderr.contains("git checkout feature/x"),
            "{route}: {ran:?}"
        );
        assert_eq!(main_of(&project), before, "{route}");
        assert!(project.codes().contains(&"GG-001".to_owned()), "{route}");
    }
}

#[test]
fn a_person_moves_main_by_every_route() {
    for route in ROUTES {
        let project = guarded();
        let ran = shell(project.root(), route, false);
        assert_eq!(ran.code, 0, "{route}: {ran:?}");
        assert!(project.journal().is_empty(), "{route}");
    }
}

#[test]
fn what_leaves_main_alone_is_left_alone() {
    let project = guarded();
    for line in HARMLESS {
        shell(project.root(), "git switch -q main", false);
        let before = main_of(&project);
        let ran = shell(project.root(), line, true);
        assert_eq!(ran.code, 0, "{line}: {ran:?}");
        assert!(!ran.stderr.contains("tollgate"), "{line}: {ran:?}");
        assert_eq!(main_of(&project), before, "{line}");
    }
    assert!(project.journal().is_empty());
}

#[test]
fn every_agent_is_known_by_its_marks() {
    for mark in [
        "CLAUDECODE",
        "CODEX_SANDBOX",
        "CODEX_THREAD_ID",
        "GEMINI_CLI",
        "COPILOT_CLI",
        "CURSOR_AGENT",
        "AI_AGENT",
    ] {
        let project = guarded();
        let line = format!("{mark}=1 git commit -q --allow-empty -m x");
        let ran = shell(project.root(), &line, false);
        assert!(
            ran.stderr.contains("CHANGE OF MAIN BLOCKED"),
            "{mark}: {ran:?}"
        );
    }
}

/// What docs/install.md says about Gemini CLI: with these variables git runs no hook at all.
#[test]
fn an_agent_that_switches_gits_hooks_off_is_not_seen() {
    let project = guarded();
    let line = "export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=; \
                GEMINI_CLI=1 git commit -q --allow-empty -m x";
    let ran = shell(project.root(), line, false);
    assert!(ran.code == 0 && ran.stderr.is_empty(), "{ran:?}");
    // From such a shell nothing is installed into the work tree.
    let project = repository()
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "core.hooksPath")
        .env("GIT_CONFIG_VALUE_0", "");
    let ran = project.run(&["install", "--git", "--yes"], b"");
    assert!(
        ran.code == 2 && ran.stderr.contains("core.hooksPath is empty"),
        "{ran:?}"
    );
    assert!(!project.path("reference-transaction").exists());
}

#[test]
fn without_a_running_workflow_main_is_open() {
    for state in [
        json!({}),
        json!({ "active_workflow": null }),
        with_branch("merged"),
        json!({ "active_workflow": { "type": "fix" } }),
    ] {
        let project = guarded();
        project.file(".isdlc/state.json", state.to_string());
        let ran = shell(project.root(), "git commit -q --allow-empty -m x", true);
        assert_eq!(ran.code, 0, "{state}: {ran:?}");
    }
}

#[test]
fn the_branch_that_the_workflow_came_from_is_closed_like_main() {
    let project = guarded();
    let branch = json!({ "name": "feature/x", "status": "active", "created_from": "develop" });
    project.file(
        ".isdlc/state.json",
        json!({ "active_workflow": { "git_branch": branch } }).to_string(),
    );
    project.git(&["checkout", "-q", "-b", "develop"]);
    let ran = shell(project.root(), "git commit -q --allow-empty -m x", true);
    assert!(ran.stderr.contains("move 'develop'"), "{ran:?}");
}

#[test]
fn linked_work_trees_are_covered_with_and_without_a_state_of_their_own() {
    let project = guarded();
    project.git(&["checkout", "-q", "feature/x"]);
    let linked = project.root().join("../").join(format!(
        "{}-linked",
        project.root().file_name().unwrap().to_string_lossy()
    ));
    project.git(&["worktree", "add", "-q", linked.to_str().unwrap(), "main"]);
    assert!(!linked.join(".isdlc").exists());
    let line = "git commit -q --allow-empty -m x";
    let refused = shell(&linked, line, true);
    let allowed = shell(&linked, line, false);
    // The other way round: the guard is installed from the linked one and covers both.
    let mut command = project.command(&["uninstall", "--git", "--yes"]);
    command.current_dir(&linked);
    let (screen, code) = Terminal::start(&command).ends();
    std::fs::remove_dir_all(&linked).unwrap();
    assert!(
        refused.stderr.contains("CHANGE OF MAIN BLOCKED"),
        "{refused:?}"
    );
    assert_eq!(allowed.code, 0, "{allowed:?}");
    assert_eq!(code, 0, "{screen}");
    assert!(!project.path(".git/hooks/reference-transaction").exists());
}

#[test]
fn from_a_subdirectory_and_from_outside_it_is_the_same_repository() {
    let project = guarded();
    std::fs::create_dir_all(project.path("src/deep")).unwrap();
    let outside = tempfile::tempdir().unwrap();
    let root = project.root().display();
    for (place, line) in [
        (
            project.path("src/deep"),
            "git commit -q --allow-empty -m x".to_owned(),
        ),
        (
            outside.path().to_owned(),
            format!("git -C {root} commit -q --allow-empty -m x"),
        ),
        (
            outside.path().to_owned(),
            format!("git --git-dir={root}/.git --work-tree={root} commit -q --allow-empty -m x"),
        ),
        (
            outside.path().to_owned(),
            format!("git --git-dir={root}/.git update-ref refs/heads/main feature/x"),
        ),
    ] {
        let ran = shell(&place, &line, true);
        assert!(
            ran.stderr.contains("CHANGE OF MAIN BLOCKED"),
            "{line}: {ran:?}"
        );
    }
}

pub(super) fn hook(project: &TestProject) -> PathBuf {
    project.path(".git/hooks/reference-transaction")
}

/// A hook of somebody else's that writes down what it is told, and refuses tags called `no`.
const OTHERS: &str = "#!/bin/sh\ncd .git\necho \"$@\" >> told\ntee -a told | grep -q refs/tags/no && exit 3\nexit 0\n";

pub(super) fn executable(path: &Path, text: &str) {
    put(path, text);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Installs the guard with this program behind it.
pub(super) fn guarded_by(project: &TestProject, program: &Path) {
    let program = program.to_str().unwrap();
    let args = ["install", "--git", "--yes", "--command", program];
    let ran = project.run(&args, b"");
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn a_hook_that_is_there_goes_on_as_before() {
    let plain = repository();
    let project = repository();
    for project in [&plain, &project] {
        executable(&hook(project), OTHERS);
    }
    let ran = install(&project);
    assert!(ran.stderr.contains("runs after the guard"), "{ran:?}");
    // It is told the same as without the guard.
    for project in [&plain, &project] {
        shell(
            project.root(),
            "git update-ref refs/heads/a HEAD && git branch -D a",
            false,
        );
    }
    let told = |project: &TestProject| {
        let zero = "0".repeat(40);
        let head = project.git(&["rev-parse", "main"]);
        project
            .read(".git/told")
            .replace(&head, "HEAD")
            .replace(&zero, "0")
    };
    assert!(!told(&plain).is_empty());
    assert_eq!(told(&project), told(&plain));
    let refused = shell(project.root(), "git tag no", false);
    assert_ne!(refused.code, 0, "{refused:?}");
    let ours = shell(project.root(), "git commit -q --allow-empty -m x", true);
    assert!(ours.stderr.contains("CHANGE OF MAIN BLOCKED"), "{ours:?}");
    uninstall(&project, &["--git"]);
    assert_eq!(std::fs::read_to_string(hook(&project)).unwrap(), OTHERS);
    assert_eq!(
        hook(&project).metadata().unwrap().permissions().mode() & 0o777,
        0o755
    );
    assert!(
        !project
            .path(".git/hooks/reference-transaction.before-tollgate")
            .exists()
    );
}

#[test]
fn a_linked_hook_and_one_that_is_not_executable_come_back_as_they_were() {
    let project = repository();
    executable(&project.path("tools/hook.sh"), OTHERS);
    std::fs::create_dir_all(project.path(".git/hooks")).unwrap();
    symlink("../../tools/hook.sh", hook(&project)).unwrap();
    install(&project);
    shell(project.root(), "git tag v1", false);
    assert!(project.read(".git/told").contains("refs/tags/v1"));
    uninstall(&project, &[]);
    assert_eq!(
        std::fs::read_link(hook(&project)).unwrap(),
        Path::new("../../tools/hook.sh")
    );

    let project = repository();
    put(&hook(&project), OTHERS);
    install(&project);
    shell(project.root(), "git tag v1", false);
    assert!(
        !project.path(".git/told").exists(),
        "git would not have run it either"
    );
    uninstall(&project, &["--git"]);
    assert_eq!(
        hook(&project).metadata().unwrap().permissions().mode() & 0o111,
        0
    );
}

fn hooks_listing(project: &TestProject) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let entries = project
        .path(".git")
        .join("hooks")
        .read_dir()
        .into_iter()
        .flatten();
    for entry in entries {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        found.push((path, bytes));
    }
    found.sort();
    found
}

#[test]
fn twice_is_once_and_nothing_is_left() {
    for with_directory in [true, false] {
        let project = repository();
        let directory = project.path(".git/hooks");
        if with_directory {
            std::fs::create_dir_all(&directory).unwrap();
        } else if directory.exists() {
            std::fs::remove_dir_all(&directory).unwrap();
        }
        let before = hooks_listing(&project);
        install(&project);
        let once = hooks_listing(&project);
        let ran = install(&project);
        assert!(ran.stdout.contains("there already"), "{ran:?}");
        assert_eq!(hooks_listing(&project), once);
        uninstall(&project, &["--git"]);
        assert_eq!(hooks_listing(&project), before);
        assert_eq!(directory.exists(), with_directory);
        let again = uninstall(&project, &["--git"]);
        assert!(again.contains("no guard"), "{again}");
    }
}

#[test]
fn the_configured_place_of_hooks_is_respected() {
    let project = repository();
    project.git(&["config", "core.hooksPath", ".githooks"]);
    let ran = install(&project);
    assert!(ran.stderr.contains("is inside of the work tree"), "{ran:?}");
    assert!(project.path(".githooks/reference-transaction").exists());
    assert!(!hook(&project).exists());
    let ran = shell(project.root(), "git commit -q --allow-empty -m x", true);
    assert!(ran.stderr.contains("CHANGE OF MAIN BLOCKED"), "{ran:?}");
    uninstall(&project, &["--git"]);
    assert!(!project.path(".githooks").exists());

    let shared = tempfile::tempdir().unwrap();
    project.git(&["config", "core.hooksPath", shared.path().to_str().unwrap()]);
    let ran = install(&project);
    assert!(
        ran.stderr
            .contains("every repository that uses this directory"),
        "{ran:?}"
    );
    let ran = shell(project.root(), "git merge -q feature/x", true);
    assert!(ran.stderr.contains("CHANGE OF MAIN BLOCKED"), "{ran:?}");

    project.git(&["config", "core.hooksPath", "/dev/null"]);
    let ran = project.run(&["install", "--git", "--yes"], b"");
    assert!(
        ran.code == 2 && ran.stderr.contains("git runs no hooks"),
        "{ran:?}"
    );
}

#[test]
fn our_faults_let_git_go_on() {
    let line = "git commit -q --allow-empty -m x";
    // A state that cannot be read.
    let project = guarded();
    project.file(".isdlc/state.json", "{ \"active_workflow\": ");
    let ran = shell(project.root(), line, true);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("could not decide"), "{ran:?}");
    assert_eq!(project.codes(), ["state-unreadable"]);
    // A program that is gone, crashes, or does not know the command.
    for (text, said) in [
        (None, "its program is gone"),
        (Some("#!/bin/sh\nkill -9 $$\n"), ""),
        (Some("#!/bin/sh\nexit 2\n"), ""),
        (Some("#!/bin/sh\nexit 101\n"), ""),
        (Some("not a program"), ""),
    ] {
        let project = repository();
        let program = project.path("bin/tollgate-other");
        executable(&program, "#!/bin/sh\n");
        guarded_by(&project, &program);
        match text {
            Some(text) => executable(&program, text),
            None => std::fs::remove_file(&program).unwrap(),
        }
        let ran = shell(project.root(), line, true);
        assert_eq!(ran.code, 0, "{text:?}: {ran:?}");
        assert!(ran.stderr.contains(said), "{text:?}: {ran:?}");
    }
}

#[test]
fn a_dry_run_shows_the_hook_and_a_place_without_git_is_refused() {
    let project = repository();
    let before = hooks_listing(&project);
    let ran = project.run(&["install", "--git", "--dry-run"], b"");
    assert!(
        ran.code == 0 && ran.stdout.contains("+#!/bin/sh"),
        "{ran:?}"
    );
    let ran = project.run(&["install", "--git"], b"");
    assert!(ran.code == 2 && ran.stderr.contains("--yes"), "{ran:?}");
    assert_eq!(hooks_listing(&project), before);
    let ran = TestProject::empty().run(&["install", "--git", "--yes"], b"");
    assert!(
        ran.code == 2 && ran.stderr.contains("is not in a git repository"),
        "{ran:?}"
    );
}

#[test]
fn an_agent_may_end_the_workflow_by_command_but_not_take_the_guard_out() {
    let project = TestProject::empty()
        .on_branch("main")
        .env("CLAUDECODE", "1");
    std::fs::create_dir(project.path(".tollgate")).unwrap();
    let bench = Bench::of(project, ".tollgate/workflow/state.json");
    install(&bench.project);
    bench.ok(&["workflow", "start", "fix", "Basket loses items"]);
    let (root, branch) = (bench.root(), "bugfix/BUG-0001-basket-loses-items");
    bench.file("fix.rs", "// fixed\n");
    let ran = shell(root, "git add fix.rs && git commit -q -m Fix", true);
    assert_eq!(ran.code, 0, "{ran:?}");
    let by_hand = format!("git switch -q main && git merge -q {branch}");
    let ran = shell(root, &by_hand, true);
    assert!(ran.stderr.contains("CHANGE OF MAIN BLOCKED"), "{ran:?}");
    shell(root, &format!("git switch -q {branch}"), true);
    let ran = bench.tollgate(&["uninstall", "--git", "--yes"]);
    assert!(
        ran.code == 2 && ran.stderr.contains("for a person at a terminal"),
        "{ran:?}"
    );
    for _ in 0..3 {
        bench.begin();
        bench.write_documents();
        bench.complete();
    }
    bench.ok(&["workflow", "finalize", "--merge"]);
    assert_eq!(
        bench.git(&["log", "-1", "--format=%s", "main"]),
        format!("Merge {branch}: Basket loses items")
    );
    // And with the workflow over, main is open again.
    let ran = shell(root, "git commit -q --allow-empty -m x", true);
    assert_eq!(ran.code, 0, "{ran:?}");
}

/// As after a pull request: the person pulls and deletes the branch, and the agent goes on.
#[test]
fn a_branch_that_was_merged_and_deleted_no_longer_keeps_main_closed() {
    let project = guarded();
    let commit = "git commit -q --allow-empty -m x";
    let root = project.root();
    assert_ne!(shell(root, commit, true).code, 0);
    let squash = "git merge -q --squash feature/x && git commit -q -m 'feature (#1)'";
    assert_eq!(shell(root, squash, false).code, 0);
    assert_ne!(shell(root, commit, true).code, 0);
    assert_eq!(shell(root, "git branch -q -D feature/x", false).code, 0);
    let ran = shell(root, commit, true);
    assert_eq!(ran.code, 0, "{ran:?}");
    // One that was thrown away still does.
    let project = guarded();
    let root = project.root();
    assert_eq!(shell(root, "git branch -q -D feature/x", false).code, 0);
    let ran = shell(root, commit, true);
    assert_ne!(ran.code, 0);
    assert!(ran.stderr.contains("a person ends it"), "{ran:?}");
}

//! What a person allowed for branch-guard holds for the guard on git's side, too.

use super::git_side::{command, guarded, main_of};
use crate::events::{Event as _, Protocol, bash};
use crate::project::{Run, TestProject, run};
use crate::terminal::Terminal;

const COMMIT: &str = "git commit -q --allow-empty -m x";
const BLOCKED: &str = "CHANGE OF MAIN BLOCKED";

/// A guarded repository, and a person's home outside of it.
struct Allowing {
    project: TestProject,
}

impl std::ops::Deref for Allowing {
    type Target = TestProject;

    fn deref(&self) -> &TestProject {
        &self.project
    }
}

impl Allowing {
    fn new() -> Self {
        Self { project: guarded() }
    }

    /// A person allows it and retypes the word.
    fn allow(&self, how: &[&str]) {
        self.project.allow(&[&["BG-001"], how].concat());
    }

    fn agent(&self, line: &str) -> Run {
        let mut line = command(self.root(), line, true);
        line.env("HOME", self.home());
        run(line, b"")
    }

    /// What the hook says to the agent's command, before git runs.
    fn hook(&self, id: &str) -> Run {
        let event = bash(COMMIT).from(Protocol::ClaudeCode).call(id);
        run(self.command(&["hook"]), event.to_string().as_bytes())
    }

    #[track_caller]
    fn moves(&self, line: &str) -> Run {
        let before = main_of(&self.project);
        let ran = self.agent(line);
        assert_eq!(ran.code, 0, "{line}: {ran:?}");
        assert_ne!(main_of(&self.project), before, "{line}");
        ran
    }

    #[track_caller]
    fn refuses(&self, line: &str) -> Run {
        let before = main_of(&self.project);
        let ran = self.agent(line);
        assert!(ran.stderr.contains(BLOCKED), "{line}: {ran:?}");
        assert_eq!(main_of(&self.project), before, "{line}");
        ran
    }
}

#[test]
fn what_is_allowed_for_a_while_moves_main_until_it_is_taken_back() {
    let allowing = Allowing::new();
    let ran = allowing.refuses(COMMIT);
    assert!(
        ran.stderr.contains("`tollgate allow BG-001 --once"),
        "{ran:?}"
    );
    allowing.allow(&["--for", "30m"]);
    let ran = allowing.moves(COMMIT);
    assert!(ran.stderr.contains("'main' stays where it is"), "{ran:?}");
    assert!(ran.stderr.contains("allowed BG-001 until"), "{ran:?}");
    assert!(ran.stderr.contains(": agreed"), "{ran:?}");
    allowing.moves("git merge -q --no-ff -m x feature/x");
    let journal = allowing.journal();
    let warned = |line: &&serde_json::Value| line["code"] == "GG-001" && line["verdict"] == "warn";
    assert_eq!(journal.iter().filter(warned).count(), 2, "{journal:?}");
    let mut revoke = allowing.command(&["allow", "--revoke", "BG-001"]);
    revoke.env("HOME", allowing.home());
    assert_eq!(run(revoke, b"").code, 0);
    allowing.refuses(COMMIT);
}

#[test]
fn what_is_allowed_once_holds_for_one_command_and_for_what_git_makes_of_it() {
    let allowing = Allowing::new();
    allowing.allow(&["--once"]);
    let ran = allowing.hook("toolu_1");
    assert!(!ran.stdout.contains("deny"), "{ran:?}");
    allowing.moves(COMMIT);
    allowing.refuses(COMMIT);
    allowing.hook("toolu_2").denies();
}

#[test]
fn a_script_that_no_hook_sees_through_uses_it_up_on_gits_side() {
    let allowing = Allowing::new();
    allowing.allow(&["--once"]);
    allowing.file("release.sh", COMMIT);
    allowing.moves("sh release.sh");
    allowing.refuses("sh release.sh");
    allowing.hook("toolu_1").denies();
}

#[test]
fn an_override_that_git_has_not_used_yet_can_be_taken_back() {
    let allowing = Allowing::new();
    allowing.allow(&["--once"]);
    allowing.hook("toolu_1");
    let mut revoke = allowing.command(&["allow", "--revoke", "BG-001"]);
    revoke.env("HOME", allowing.home());
    let ran = run(revoke, b"");
    assert_eq!(ran.code, 0, "{ran:?}");
    allowing.refuses(COMMIT);
}

#[test]
fn what_was_allowed_for_something_else_or_is_no_commit_stays_refused() {
    let allowing = Allowing::new();
    allowing.allow(&["--for", "30m"]);
    for line in [
        "git switch -q feature/x && git branch -D main",
        "git switch -q feature/x && git branch -m main old",
        "git switch -q feature/x && git symbolic-ref refs/heads/main refs/heads/feature/x",
    ] {
        let ran = allowing.refuses(line);
        assert!(!ran.stderr.contains("tollgate allow"), "{ran:?}");
    }
    let other = Allowing::new();
    let mut allow = other
        .project
        .command(&["allow", "BG-002", "--for", "30m", "--reason", "agreed"]);
    allow.env("HOME", other.home());
    let (screen, code) = Terminal::start(&allow).retypes().ends();
    assert_eq!(code, 0, "{screen}");
    other.refuses(COMMIT);
}

#[test]
fn overrides_that_cannot_be_read_allow_nothing_and_are_told() {
    let allowing = Allowing::new();
    allowing.allow(&["--for", "30m"]);
    let shelf = allowing.home().join(".local/state/tollgate/overrides");
    for entry in std::fs::read_dir(shelf).unwrap().flatten() {
        if entry.path().extension().is_some_and(|kind| kind == "json") {
            crate::project::put(&entry.path(), "{ torn");
        }
    }
    let ran = allowing.refuses(COMMIT);
    assert!(ran.stderr.contains("is not known"), "{ran:?}");
    assert!(
        allowing
            .project
            .codes()
            .contains(&"overrides-unreadable".to_owned())
    );
}

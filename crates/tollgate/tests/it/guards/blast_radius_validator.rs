//! Facts 1.17.

use serde_json::{Value, json};

use super::skill;
use crate::events::{Event as _, Protocol, task};
use crate::project::{TestProject, running};

const NAME: &str = "blast-radius-validator";
const HOME: &str = "docs/requirements/REQ-1";
const TABLE: &str = "\
| File | Change | Why |
|---|---|---|
| `src/a.rs` | MODIFY | core |
| `src/b.rs` | CREATE | new |
| `src/c.rs` | DELETE | old |
| `src/d.rs` | NO CHANGE | - |
";

fn state() -> Value {
    let mut state = running("06-implementation", "in_progress");
    state["active_workflow"]["artifact_folder"] = json!("REQ-1");
    state
}

/// On a branch of its own, nothing changed yet.
fn project() -> TestProject {
    let project = TestProject::new().state(&state());
    project.file("src/a.rs", "a");
    project.file("src/c.rs", "c");
    project.git(&["init", "-q", "-b", "main"]);
    project.git(&["add", "src"]);
    project.git(&["commit", "-q", "-m", "init"]);
    project.git(&["checkout", "-q", "-b", "feature/x"]);
    project.file(&format!("{HOME}/impact-analysis.md"), TABLE);
    project
}

fn advance() -> Value {
    task("sdlc-orchestrator", "advance to the next phase")
}

fn incomplete(open: usize) -> String {
    format!("BLAST RADIUS COVERAGE INCOMPLETE: {open} of 3 affected files are unaddressed.")
}

/// The line stands at the end, where a long message was cut off.
#[test]
fn a_long_block_keeps_its_next_step() {
    let project = project();
    let row = |number| {
        format!("| `src/a_rather_long_directory/module_{number:04}/file.rs` | MODIFY | x |\n")
    };
    let rows: String = (0..200).map(row).collect();
    let table = format!("| File | Change | Why |\n|---|---|---|\n{rows}");
    project.file(&format!("{HOME}/impact-analysis.md"), table);
    let event = advance().from(Protocol::ClaudeCode);
    let answer = project.guard(NAME, &event).json();
    let reason = &answer["hookSpecificOutput"]["permissionDecisionReason"];
    let reason = reason.as_str().unwrap();
    assert!(reason.encode_utf16().count() <= 10_000, "{}", reason.len());
    let (text, next) = reason.split_once("\n\nNext: ").unwrap();
    assert!(
        text.ends_with("[Tollgate cut the rest of this message.]"),
        "{text}"
    );
    assert_eq!(next.matches("module_").count(), 10, "{next}");
    assert!(
        next.contains("do the same for the other 190 files of impact-analysis.md, then"),
        "{next}"
    );
}

/// F1: blast-radius-validator asked for commits in a phase that must not commit.
#[test]
fn f1_changes_count_before_they_are_committed() {
    let project = project();
    let reason = project.guard(NAME, &advance()).blocks(&incomplete(3));
    for line in [
        "  - src/a.rs (expected: MODIFY)",
        "  - src/b.rs (expected: CREATE)",
        "  - src/c.rs (expected: DELETE)",
    ] {
        assert!(reason.contains(line), "{reason}");
    }
    assert!(!reason.contains("src/d.rs"));
    assert_eq!(project.codes(), ["BRV-001"]);
    // Changed in the working tree, new and untracked, removed and staged.
    project.file("src/a.rs", "A");
    project.guard(NAME, &advance()).blocks(&incomplete(2));
    project.file("src/b.rs", "b");
    project.guard(NAME, &advance()).blocks(&incomplete(1));
    project.git(&["rm", "-q", "src/c.rs"]);
    project.guard(NAME, &advance()).says_nothing();
    // Committed is fine, too; so is a main that went on meanwhile.
    project.git(&["add", "src"]);
    project.git(&["commit", "-q", "-m", "work"]);
    project.guard(NAME, &advance()).says_nothing();
    project
        .guard(NAME, &skill("isdlc", "advance"))
        .says_nothing();
}

/// F1: blast-radius-validator asked for commits in a phase that must not commit.
#[test]
fn f1_work_in_the_phase_is_never_blocked() {
    let project = project();
    for event in [
        task(
            "software-developer",
            "Execute Phase 06, then validate GATE-06",
        ),
        task("general-purpose", "advance"),
        task("sdlc-orchestrator", "report"),
        skill("isdlc", "status"),
    ] {
        project.guard(NAME, &event).says_nothing();
    }
    project
        .guard(NAME, &skill("isdlc", "advance"))
        .blocks(&incomplete(3));
}

#[test]
fn what_another_branch_did_is_not_this_ones_work() {
    let project = project();
    project.git(&["checkout", "-q", "main"]);
    project.file("src/a.rs", "from main");
    project.git(&["commit", "-q", "-am", "main goes on"]);
    project.git(&["checkout", "-q", "feature/x"]);
    project.guard(NAME, &advance()).blocks(&incomplete(3));
}

/// GH-1, BUG-0019: files were deferred without a reason instead of changed.
#[test]
fn gh_1_bug_0019_a_deferral_needs_a_reason() {
    let project = project();
    let coverage = format!("{HOME}/blast-radius-coverage.md");
    project.file(&coverage, "| `src/a.rs` | MODIFY | deferred | next release |\n| `src/b.rs` | CREATE | deferred | |\n| `src/c.rs` | DELETE | covered | yes |\n");
    let reason = project.guard(NAME, &advance()).blocks(&incomplete(2));
    assert!(!reason.contains("src/a.rs"), "{reason}");
}

/// GH-127, BUG-0055: impact tables of four columns were not read, in silence.
#[test]
fn gh_127_bug_0055_four_columns_count_and_no_rows_are_told() {
    let project = project();
    let analysis = format!("{HOME}/impact-analysis.md");
    project.file(
        &analysis,
        "| # | File | Change | Why |\n|---|---|---|---|\n| 1 | `src/a.rs` | MODIFY | core |\n",
    );
    project
        .guard(NAME, &advance())
        .blocks("BLAST RADIUS COVERAGE INCOMPLETE: 1 of 1");
    project.file(&analysis, "Everything changes.\n");
    project
        .guard(NAME, &advance())
        .warns("[blast-radius-validator] WARNING: The impact analysis lists no files.");
    assert_eq!(project.codes(), ["BRV-001", "BRV-002"]);
    project.file(&analysis, "| `src/a.rs` | NO CHANGE |\n");
    project.guard(NAME, &advance()).says_nothing();
}

#[test]
fn only_the_implementation_of_a_feature_is_watched() {
    for (key, value) in [
        ("type", "fix"),
        ("current_phase", "08-code-review"),
        ("artifact_folder", "../x"),
        ("artifact_folder", "REQ-2"),
    ] {
        let project = project();
        let mut state = state();
        state["active_workflow"][key] = json!(value);
        project.file(".isdlc/state.json", state.to_string());
        project.guard(NAME, &advance()).says_nothing();
    }
}

#[test]
fn where_git_cannot_tell_the_agent_goes_on_and_the_person_is_told() {
    let project = TestProject::new().state(&state());
    project.file(&format!("{HOME}/impact-analysis.md"), TABLE);
    project
        .guard(NAME, &advance())
        .warns("Tollgate: git cannot tell what changed");
    assert_eq!(project.codes(), ["git-unavailable"]);
}

/// R26: a branch name from the state was handed to a shell.
#[test]
fn r26_a_branch_name_is_never_a_command_or_an_option() {
    for name in ["x; touch PWNED", "$(touch PWNED)", "--output=PWNED", "main"] {
        let project = project();
        let mut state = state();
        state["active_workflow"]["git_branch"] = json!({ "created_from": name });
        project.file(".isdlc/state.json", state.to_string());
        project.guard(NAME, &advance()).blocks(&incomplete(3));
        assert!(!project.path("PWNED").exists(), "{name}");
    }
}

#[test]
fn a_git_that_hangs_is_ended_in_time() {
    let project = project();
    let git = project.file("bin/git", "#!/bin/sh\nsleep 60 & sleep 60\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&git, mode).unwrap();
    let path = format!("{}:/usr/bin:/bin", project.path("bin").display());
    let project = project.env("PATH", &path);
    let start = std::time::Instant::now();
    project
        .guard(NAME, &advance())
        .warns("Tollgate: git cannot tell what changed");
    assert!(start.elapsed() < std::time::Duration::from_secs(9));
}

//! Faults in a project.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::Ward;
use crate::events::{Event as _, task};
use crate::project::git;

#[test]
fn the_gates_configuration_is_wrong() {
    let ward = Ward::new();
    ward.file(".tollgate/config.yml", "entry_points: [\n");
    ward.has("gates-invalid");
}

#[test]
fn the_commands_are_not_trusted() {
    let ward = Ward::empty();
    ward.install_for("user");
    ward.file(
        ".tollgate/config.yml",
        "entry_points:\n  - path: .\n    checks: [a]\n",
    );
    ward.file(".tollgate/checks/a.yml", "command: touch ran\n");
    ward.has("not-trusted");
    assert!(!ward.path("ran").exists());
}

fn with_reviewer(ward: &Ward) {
    ward.file(
        ".tollgate/config.yml",
        "cli: { default_preference: [codex] }\nentry_points:\n  - path: .\n    reviews: [a]\n",
    );
    ward.file(".tollgate/reviews/a.md", "Look.\n");
}

#[test]
fn a_reviewer_is_missing() {
    let ward = Ward::new();
    with_reviewer(&ward);
    ward.has("reviewer-missing");
}

#[test]
fn a_reviewer_is_not_logged_in() {
    let ward = Ward::new();
    with_reviewer(&ward);
    ward.program("codex", "#!/bin/sh\ntouch \"$0.ran\"\n");
    ward.has("reviewer-logged-out");
    assert!(
        !ward.home().join("../bin/codex.ran").exists(),
        "asking costs"
    );
    ward.at_home(".codex/auth.json", "{}");
    ward.is_healthy();
}

#[test]
fn the_state_is_no_json() {
    let ward = Ward::new();
    ward.file(".tollgate/workflow/state.json", "{ broken");
    ward.has("state-corrupt");
}

#[test]
fn the_state_breaks_the_rules() {
    let ward = Ward::at_work();
    ward.is_healthy();
    let file = ward.path(".tollgate/workflow/state.json");
    let text = std::fs::read_to_string(&file).unwrap();
    let mut state: serde_json::Value = serde_json::from_str(&text).unwrap();
    state["current_phase"] = json!("16-quality-loop");
    ward.file(".tollgate/workflow/state.json", state.to_string());
    ward.has_and_repairs("state-rules");
}

#[test]
fn a_broken_state_lies_aside() {
    let ward = Ward::new();
    ward.file(
        ".tollgate/workflow/state.json.corrupt-20261116T010203Z",
        "{",
    );
    ward.has("state-set-aside");
}

#[test]
fn changes_that_wait_for_the_lock() {
    let ward = Ward::at_work();
    let lock = ward.path(".tollgate/local/state/lock");
    let held = std::fs::File::options()
        .read(true)
        .write(true)
        .open(&lock)
        .unwrap();
    held.lock().unwrap();
    // An event whose change has to wait, because somebody holds the lock.
    let event = task("requirements-analyst", "go")
        .in_session("s")
        .call("1")
        .with("transcript_path", "/t")
        .with("permission_mode", "default")
        .done(json!({ "content": "done" }));
    ward.hook(&event);
    let names = ward.names();
    assert_eq!(names, ["lock-held"], "{names:?}");
    held.unlock().unwrap();
    ward.has_and_repairs("changes-waiting");
}

#[test]
fn others_can_read_the_journal() {
    let ward = Ward::at_work();
    let local = ward.path(".tollgate/local");
    std::fs::set_permissions(&local, std::fs::Permissions::from_mode(0o755)).unwrap();
    ward.has_and_repairs("local-mode");
}

#[test]
fn git_can_see_what_is_local() {
    let ward = Ward::at_work();
    std::fs::remove_file(ward.path(".tollgate/local/.gitignore")).unwrap();
    ward.has_and_repairs("local-not-ignored");
}

#[test]
fn git_sees_nothing_of_directories_that_hide_themselves() {
    let ward = Ward::at_work();
    let local = ward.path(".tollgate/local");
    std::fs::remove_dir_all(&local).unwrap();
    std::fs::create_dir_all(local.join("state")).unwrap();
    std::fs::set_permissions(&local, std::fs::Permissions::from_mode(0o700)).unwrap();
    crate::project::put(&local.join("state/.gitignore"), "*\n");
    let names = ward.names();
    assert!(
        !names.contains(&"local-not-ignored".to_owned()),
        "{names:?}"
    );
    crate::project::put(&local.join("notes"), "");
    ward.has("local-not-ignored");
}

#[test]
fn what_is_local_is_committed() {
    let ward = Ward::at_work();
    git(ward.root(), &["add", "-f", ".tollgate/local/journal.jsonl"]);
    ward.has("local-tracked");
}

/// Found by the hostile trial: git waits for ever where one of its files is a pipe.
#[test]
fn git_never_answers() {
    let ward = Ward::at_work();
    let config = ward.path(".git/config");
    std::fs::remove_file(&config).unwrap();
    crate::project::pipe(&config);
    ward.has("git-silent");
}

#[test]
fn somebody_was_killed_while_writing() {
    let ward = Ward::new();
    ward.file(".tollgate/workflow/.tollgate-tmp-1234-1", "half");
    ward.has_and_repairs("left-behind");
}

#[test]
fn a_review_was_begun_and_not_ended() {
    let ward = Ward::at_work();
    ward.file(".tollgate/local/plans/cart/review.json", "{}");
    ward.has("review-left-behind");
}

#[test]
fn faults_of_the_last_day_are_told_and_older_ones_are_not() {
    let ward = Ward::at_work();
    let line = |ts: String| json!({ "ts": ts, "verdict": "fault", "code": "state-corrupt", "reason": "no JSON" });
    let now = jiff::Timestamp::now();
    let journal = ward.path(".tollgate/local/journal.jsonl");
    let before = std::fs::read_to_string(&journal).unwrap();
    let old = line((now - jiff::SignedDuration::from_hours(25)).to_string());
    ward.file(".tollgate/local/journal.jsonl", format!("{before}{old}\n"));
    ward.is_healthy();
    let new = line((now - jiff::SignedDuration::from_hours(1)).to_string());
    ward.file(
        ".tollgate/local/journal.jsonl",
        format!("{before}{old}\n{new}\n"),
    );
    ward.has("journal-faults");
}

#[test]
fn the_guard_on_gits_side_is_broken() {
    let ward = Ward::new();
    let run = ward.tollgate(&["install", "--git", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    ward.is_healthy();
    let hook = ward.path(".git/hooks/reference-transaction");
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o644)).unwrap();
    ward.has_and_repairs("git-hook-broken");
}

#[test]
fn the_guard_on_gits_side_is_bypassed() {
    let ward = Ward::new();
    assert_eq!(ward.tollgate(&["install", "--git", "--yes"]).code, 0);
    git(ward.root(), &["config", "core.hooksPath", ".husky"]);
    ward.has("git-hook-bypassed");
}

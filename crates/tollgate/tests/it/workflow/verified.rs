//! A phase that needs verified gates is completed with them, or not as verified: by the commands, in the
//! state, and in what is kept of it.

use serde_json::{Value, json};

use crate::events::{Event as _, named};
use crate::project::TestProject;

const GATES: &str = "[gates]\nbase = \"main\"\n[gates.test]\nrun = \"test -f ok\"\n";

/// What `tollgate init --workflow` writes, without a branch.
const CHANGE: &str = r#"
[workflow.change]
label = "Small change"
branch = false
phases = [
    { name = "plan", writes = ["docs/**"] },
    { name = "implement", needs = ["gates"] },
    { name = "review", needs = ["gates", "docs/{artifact_folder}/review.md"] },
]
"#;

const COMPLETE: [&str; 4] = ["phase", "complete", "--summary", "x"];

fn project(toml: &str) -> TestProject {
    let project = TestProject::empty().with_repository();
    project.file("tollgate.toml", toml);
    project.file("src/lib.rs", "");
    project.file(".gitignore", ".tollgate\n");
    project.commit("first");
    project
}

/// In the phase `implement` of the workflow `change`.
fn implementing(toml: &str) -> TestProject {
    let project = project(toml);
    project.must(&["workflow", "start", "change", "a change"]);
    project.must(&COMPLETE).says("phase plan is completed: x");
    project.must(&["phase", "begin"]);
    project
}

fn json(project: &TestProject, path: &str) -> Value {
    serde_json::from_str(&project.read(path)).unwrap()
}

/// What was kept of the workflow: its entry in the history, and its record in the archive.
fn kept(project: &TestProject) -> (Value, Value) {
    let history = json(project, ".tollgate/workflow/state.json")["workflow_history"][0].clone();
    let archive = json(project, ".tollgate/workflow/state-archive.json");
    (history, archive["records"][0].clone())
}

#[test]
fn red_gates_keep_a_phase_open_and_say_what_to_do() {
    let project = implementing(&format!("{GATES}{CHANGE}"));
    // Nobody ran them, and then they failed.
    let state = project.read(".tollgate/workflow/state.json");
    for _ in 0..2 {
        project
            .tollgate(&COMPLETE)
            .exits(1)
            .says("phase 'implement' is not done:")
            .says("gates are not verified: ")
            .says("`tollgate run` runs them");
        assert_eq!(project.read(".tollgate/workflow/state.json"), state);
        project.tollgate(&["run"]).exits(1);
    }
    project
        .must(&["phase", "brief"])
        .says("- gates: verified on the tree as it is (`tollgate run`)");
}

#[test]
fn green_gates_verify_a_phase_and_everything_that_is_kept_of_it() {
    let project = implementing(&format!("{GATES}{CHANGE}"));
    project.file("ok", "");
    project.must(&["run"]);
    project
        .must(&COMPLETE)
        .says("phase implement is completed and verified: x");
    project.must(&["phase", "begin"]);
    // What a phase is to write counts, too.
    project
        .tollgate(&COMPLETE)
        .exits(1)
        .says("- docs/REQ-0001-a-change/review.md does not exist");
    project.file("docs/REQ-0001-a-change/review.md", "# Review\n");
    project.must(&["run"]);
    project.must(&COMPLETE);
    let status = project.must(&["workflow", "status"]);
    status
        .says("● plan       x\n")
        .says("✔ implement  completed and verified: x");
    let phases = project.must(&["workflow", "status", "--json"]).json()["phases"].clone();
    assert_eq!(phases[0]["gates"], json!(null));
    assert_eq!(phases[1]["gates"], json!({ "verified": true }));
    project
        .must(&["workflow", "finalize"])
        .says("3 of 3 phases completed")
        .says("verified when completed: implement, review\n");
    let (entry, record) = kept(&project);
    assert_eq!(entry["metrics"]["phases_verified"], 2);
    assert_eq!(
        entry["metrics"]["gates_passed_first_try"], 2,
        "the plan ran none"
    );
    assert_eq!(record["phase_summary"][0].get("verified"), None);
    assert_eq!(record["phase_summary"][1]["verified"], true);
}

/// What the first version said: 3 of 3 phases completed, 3 gates passed at the first try.
#[test]
fn nothing_that_is_kept_claims_a_gate_that_nobody_ran() {
    let project = project(GATES);
    project.file(
        ".tollgate/workflow/config/workflows.json",
        json!({ "workflows": { "change": {
            "phases": ["plan", "implement", "review"], "gate_mode": "permissive",
            "phase_rules": { "implement": { "needs": ["gates"] }, "review": { "needs": ["gates", "docs/review.md"] } },
        } } })
        .to_string(),
    );
    project.must(&["workflow", "start", "change", "a change"]);
    project.must(&COMPLETE).says("phase plan is completed: x");
    for phase in ["implement", "review"] {
        project.must(&["phase", "begin"]);
        project
            .must(&COMPLETE)
            .says(&format!("phase {phase} is completed, not verified: x"))
            .says("not met, but the workflow is permissive: - gates are not verified");
    }
    project
        .must(&["workflow", "status"])
        .says("● implement  completed, not verified: x")
        .says("● review     completed, not verified: x");
    let finalized = project
        .must(&["workflow", "finalize"])
        .says("3 of 3 phases completed")
        .says("completed, not verified: implement, review")
        .says("gates: not verified");
    assert!(!finalized.stdout.contains("verified when completed"));
    let (entry, record) = kept(&project);
    assert_eq!(entry["metrics"]["gates_passed_first_try"], 0);
    assert_eq!(entry["metrics"]["phases_verified"], 0);
    for at in [1, 2] {
        assert_eq!(record["phase_summary"][at]["verified"], false);
        assert_eq!(entry["phase_snapshots"][at]["gate_passed"], json!(null));
    }
}

#[test]
fn a_project_without_gates_goes_on_and_is_not_verified() {
    let project = implementing(CHANGE);
    project
        .must(&COMPLETE)
        .says("phase implement is completed, not verified: x")
        .says("not verified: no gates are configured");
    let status = project.must(&["workflow", "status", "--json"]).json();
    let gates = json!({ "verified": false, "why": "no gates are configured" });
    assert_eq!(status["phases"][1]["gates"], gates);
}

#[test]
fn the_built_in_workflows_need_documents_and_verified_gates() {
    let project = project(GATES);
    project.must(&["workflow", "start", "fix", "a fix", "--no-branch"]);
    let folder = "docs/requirements/BUG-0001-a-fix";
    project
        .tollgate(&COMPLETE)
        .exits(1)
        .says(&format!("- {folder}/diagnosis.md does not exist"));
    project.file(&format!("{folder}/diagnosis.md"), "# Written\n");
    project.must(&COMPLETE);
    project.must(&["phase", "begin"]);
    project
        .tollgate(&COMPLETE)
        .exits(1)
        .says("phase 'implementation' is not done:")
        .says("gates are not verified");
    project.file("ok", "");
    project.must(&["run"]);
    project
        .must(&COMPLETE)
        .says("phase implementation is completed and verified");
    // What changes afterwards is verified again.
    project.must(&["phase", "begin"]);
    project.file("src/lib.rs", "// changed\n");
    project
        .tollgate(&COMPLETE)
        .exits(1)
        .says("phase 'review' is not done:")
        .says("gates are not verified")
        .says(&format!("- {folder}/review.md does not exist"));
}

/// `gate_mode` of a workflow in `tollgate.toml`.
#[test]
fn a_permissive_workflow_completes_a_phase_as_not_verified() {
    let change = CHANGE.replace(
        "branch = false",
        "branch = false\ngate_mode = \"permissive\"",
    );
    assert_ne!(change, CHANGE);
    let project = implementing(&format!("{GATES}{change}"));
    project
        .must(&COMPLETE)
        .says("phase implement is completed, not verified: x");
    let status = project.must(&["workflow", "status"]).stdout;
    assert!(status.contains("● implement"), "{status}");
    assert!(status.contains("completed, not verified"), "{status}");
}

#[test]
fn in_a_home_of_the_original_its_own_text_decides() {
    let project = TestProject::new().with_repository();
    project.file("tollgate.toml", GATES);
    project.commit("first");
    project.must(&["workflow", "start", "fix", "a fix", "--no-branch"]);
    project
        .must(&COMPLETE)
        .says("phase 01-requirements is completed: x");
}

#[test]
fn a_phase_that_is_done_again_is_verified_again() {
    let project = implementing(&format!("{GATES}{CHANGE}"));
    let path = ".tollgate/workflow/state.json";
    let mut state = json(&project, path);
    state["supervised_mode"] = json!({ "enabled": true });
    project.file(path, state.to_string());
    project.file("ok", "");
    project.must(&["run"]);
    project.must(&COMPLETE);
    project.must(&["phase", "redo", "--guidance", "shorter"]);
    assert_eq!(
        json(&project, path)["phases"]["implement"].get("gates"),
        None
    );
    std::fs::remove_file(project.path("ok")).unwrap();
    project
        .tollgate(&COMPLETE)
        .exits(1)
        .says("gates are not verified");
}

/// The specification's own prompts have agents write `completed` into the state. Gates are not verified by
/// that.
#[test]
fn an_agent_completes_no_phase_by_writing_that_it_is() {
    let project = implementing(&format!("{GATES}{CHANGE}"));
    let event = |name: &str| {
        named(name)
            .in_session("s")
            .in_directory(project.root())
            .with("transcript_path", "/t")
    };
    project.hook(&event("UserPromptSubmit").with("prompt", "go on"));
    let path = ".tollgate/workflow/state.json";
    let before = project.read(path);
    let mut state = json(&project, path);
    let version = state["state_version"].as_u64().unwrap();
    state["state_version"] = json!(version + 1);
    state["active_workflow"]["current_phase_index"] = json!(2);
    state["active_workflow"]["phase_status"]["implement"] = json!("completed");
    state["phases"]["implement"]["status"] = json!("completed");
    state["phases"]["implement"]["summary"] = json!("x");
    state["phases"]["implement"]["gates"] = json!({ "verified": true });
    project.file(path, state.to_string());
    let tool = json!({ "tool_name": "Bash", "tool_input": { "command": "make" }, "tool_response": { "stdout": "" } });
    let run = project.hook(&event("PostToolUse").with_all(&tool));
    assert!(run.stdout.contains("tollgate phase complete"), "{run:?}");
    assert_eq!(project.read(path), before);
}

/// A check and a review, whose reviewer gives the person's answer.
const REVIEW: &str = "[gates]\nbase = \"main\"\nreviewers = [\"command\"]\n[gates.test]\nrun = \"true\"\n\
    [gates.q]\nprompt = \"Look\"\ncommand = \"cat >> $HOME/asked; cat $HOME/answer\"\n";

const PASS: &str = r#"{"status":"pass","violations":[]}"#;
const FAIL: &str = r#"{"status":"fail","violations":[{"file":"src/lib.rs","line":1,"issue":"bug","priority":"high"}]}"#;

/// What the reviewer was shown so far.
fn asked(project: &TestProject) -> String {
    std::fs::read_to_string(project.home().join("asked")).unwrap_or_default()
}

/// On the base branch, without a remote, a commit made a review "not applicable", and the phase was
/// completed as verified with work that no reviewer had seen.
#[test]
fn a_commit_on_the_base_is_reviewed_before_its_phase_is_verified() {
    let project = project(&format!("{REVIEW}{CHANGE}"));
    project.must(&["workflow", "start", "change", "a change"]);
    project.must(&COMPLETE);
    project.must(&["phase", "begin"]);
    let asked = || asked(&project);
    // Nothing changed since the base: there is nothing to review.
    project.tollgate(&["run"]).exits(0).says("✔ verified");
    assert_eq!(asked(), "");
    project.must(&["status"]).says("(1 check, 0 reviews)");
    project.at_home("answer", FAIL);
    project.file("src/lib.rs", "bad code\n");
    project.commit("work");
    project
        .tollgate(&COMPLETE)
        .exits(1)
        .says("not verified: test: stale");
    project.tollgate(&["status", "--exit-code"]).exits(1);
    project.tollgate(&["run"]).exits(1).says("1 failed");
    assert!(asked().contains("+bad code"), "{}", asked());
    project.tollgate(&COMPLETE).exits(1).says("q: failed");
    // With an answer that it passes, it is verified, and nothing is left to review.
    project.at_home("answer", PASS);
    project.file("src/lib.rs", "good code\n");
    project.commit("better");
    project.tollgate(&["run"]).exits(0).says("✔ verified");
    project.must(&COMPLETE).says("gates: verified on this tree");
}

/// A run on another branch in between changes nothing about that.
#[test]
fn a_commit_on_the_base_is_reviewed_after_work_on_another_branch() {
    let project = project(REVIEW);
    project.tollgate(&["run"]).exits(0).says("✔ verified");
    project.git(&["checkout", "-q", "-b", "other"]);
    project.file("src/other.rs", "other code\n");
    project.commit("other");
    project.at_home("answer", PASS);
    project.tollgate(&["run"]).exits(0).says("✔ verified");
    // Back on the base, nothing is to be reviewed.
    project.git(&["checkout", "-q", "main"]);
    let before = asked(&project);
    assert!(before.contains("+other code"), "{before}");
    project.tollgate(&["run"]).exits(0);
    assert_eq!(asked(&project), before);
    project.at_home("answer", FAIL);
    project.file("src/lib.rs", "bad code\n");
    project.commit("work");
    project.tollgate(&["run"]).exits(1).says("1 failed");
    assert!(asked(&project).contains("+bad code"));
}

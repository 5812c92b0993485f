//! State is guarded by effect: whatever route a change takes, the next event finds it.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::events::{Event as _, named};
use crate::project::{Run, TestProject, running, running_on_branch};

const STATE: &str = "{\"state_version\":1,\"active_workflow\":{\"current_phase_index\":5}}\n";

fn event(project: &TestProject, name: &str, tool: &Value) -> Value {
    named(name)
        .in_session("s")
        .in_directory(project.root())
        .with("transcript_path", "/t")
        .with_all(tool)
}

fn watched() -> TestProject {
    let project = TestProject::new();
    project.file(".isdlc/state.json", STATE);
    let prompt = json!({ "prompt": "go on" });
    project
        .hook(&event(&project, "UserPromptSubmit", &prompt))
        .says_nothing();
    project
}

/// The next event after something happened: a harmless one.
fn next(project: &TestProject) -> Run {
    let tool = json!({ "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_response": { "stdout": "" } });
    project.hook(&event(project, "PostToolUse", &tool))
}

#[track_caller]
fn undone(project: &TestProject, why: &str) {
    let run = next(project);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
    let context = answer["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .unwrap();
    assert!(context.starts_with("STATE RESTORED: "), "{context}");
    assert!(context.contains(why), "{context}");
    assert!(context.contains("tollgate phase"), "{context}");
    assert!(
        answer["systemMessage"]
            .as_str()
            .unwrap()
            .contains("STATE RESTORED"),
        "{answer}"
    );
    assert_eq!(project.read(".isdlc/state.json"), STATE);
    assert_eq!(project.codes().last().unwrap(), "SW-001");
    next(project).says_nothing();
}

#[test]
fn an_illegal_change_is_undone_and_kept_aside() {
    for (text, why) in [
        ("{}", "Unversioned write rejected"),
        (
            "{\"state_version\":0,\"active_workflow\":{\"current_phase_index\":5}}",
            "Version mismatch",
        ),
        (
            "{\"state_version\":1,\"active_workflow\":{\"current_phase_index\":2}}",
            "Phase index regression",
        ),
        (
            "{\"state_version\":2,\"active_workflow\":{\"current_phase_index\":9}}",
            "one phase at a time",
        ),
        (
            "{\"state_version\":2,\"active_workflow\":null}",
            "Workflow removed",
        ),
        ("", "not a JSON object"),
        ("not json", "not a JSON object"),
        // One level down, where nobody looks until the store writes.
        (
            "{\n  \"state_version\": 2,\n  \"notes\": {\"a\": 1, },\n  \"active_workflow\": {\"current_phase_index\": 5}\n}",
            "trailing comma",
        ),
    ] {
        let project = watched();
        project.file(".isdlc/state.json", text);
        undone(&project, why);
        let kept = std::fs::read_dir(project.path(".tollgate/local/state")).unwrap();
        let kept = kept
            .flatten()
            .find(|entry| entry.file_name().to_string_lossy().starts_with("rejected-"));
        assert_eq!(std::fs::read_to_string(kept.unwrap().path()).unwrap(), text);
    }
}

#[test]
fn a_state_that_is_no_utf_8_is_undone() {
    let project = watched();
    let latin = b"{\"state_version\":2,\"note\":\"caf\xe9\",\"active_workflow\":{\"current_phase_index\":5}}";
    project.file(".isdlc/state.json", latin);
    undone(&project, "not UTF-8");
    let kept = std::fs::read_dir(project.path(".tollgate/local/state")).unwrap();
    let mut kept = kept.flatten().map(|entry| entry.path());
    let kept = kept.find(|path| path.to_string_lossy().contains("/rejected-"));
    assert_eq!(std::fs::read(kept.unwrap()).unwrap(), latin);
}

/// Some editors begin a file with one; it says nothing.
#[test]
fn a_byte_order_mark_hides_no_change_and_is_none() {
    let marked = |text: &str| format!("\u{feff}{text}");
    let project = watched();
    project.file(".isdlc/state.json", marked(STATE));
    next(&project).says_nothing();
    assert_eq!(project.read(".isdlc/state.json"), marked(STATE));
    // The last good version has the mark now.
    project.file(
        ".isdlc/state.json",
        "{\"state_version\":0,\"active_workflow\":{\"current_phase_index\":1}}",
    );
    assert!(next(&project).stdout.contains("STATE RESTORED"));
    assert_eq!(project.read(".isdlc/state.json"), marked(STATE));
    // Nor does one in what the phases require.
    let (project, state) = with_failed_tests();
    let required = ".isdlc/config/iteration-requirements.json";
    project.file(required, marked(&project.read(required)));
    project.file(".isdlc/state.json", ended(&state).to_string());
    let told = next(&project).stdout;
    assert!(told.contains("its gate is closed"), "{told}");
}

/// Keys that nobody knows are kept, whatever is in them.
#[test]
fn half_a_character_in_a_key_survives_a_recorded_event() {
    let mut state = running("06-implementation", "in_progress");
    state["state_version"] = json!(1);
    let project = TestProject::new();
    let text = serde_json::to_string_pretty(&state).unwrap();
    let odd = text.replacen("{\n", "{\n  \"\\ud83d\": 1,\n", 1);
    project.file(".isdlc/state.json", odd);
    let tool = json!({
        "tool_name": "Task", "tool_use_id": "t", "tool_response": { "content": "done" },
        "tool_input": { "subagent_type": "software-developer", "prompt": "Implement the task." },
    });
    project.hook(&event(&project, "PostToolUse", &tool));
    let after = project.read(".isdlc/state.json");
    assert!(after.contains("\"state_version\": 2"), "{after}");
    assert!(after.contains("\"\\ud83d\": 1"), "{after}");
}

#[test]
fn what_vanishes_comes_back() {
    let project = watched();
    std::fs::remove_file(project.path(".isdlc/state.json")).unwrap();
    undone(&project, "removed");
    std::fs::remove_dir_all(project.path(".isdlc")).unwrap();
    undone(&project, "removed");
}

#[test]
fn a_legal_step_is_adopted_and_journalled_as_the_agents() {
    let project = watched();
    let step = "{\"state_version\":2,\"active_workflow\":{\"current_phase_index\":6}}";
    project.file(".isdlc/state.json", step);
    next(&project).says_nothing();
    assert_eq!(project.read(".isdlc/state.json"), step);
    let line = project.journal().pop().unwrap();
    assert_eq!(
        (line["verdict"].as_str(), line["code"].as_str()),
        (Some("change"), Some("SW-002"))
    );
    // From now on this is the good version.
    project.file(".isdlc/state.json", STATE);
    next(&project);
    assert_eq!(project.read(".isdlc/state.json"), step);
}

#[test]
fn a_persons_change_between_sessions_is_adopted_with_a_notice() {
    let project = watched();
    project.file(".isdlc/state.json", "{\"mine\": true}");
    let run = project.hook(&event(
        &project,
        "SessionStart",
        &json!({ "source": "startup" }),
    ));
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(
        answer["systemMessage"]
            .as_str()
            .unwrap()
            .contains("not by a command of the agent; the change was adopted")
    );
    assert_eq!(project.read(".isdlc/state.json"), "{\"mine\": true}");
    // The workflow went with it.
    assert_eq!(project.codes(), ["SW-003", "SW-005"]);
}

#[test]
fn a_mode_that_hides_the_state_is_put_back() {
    let project = watched();
    let path = project.path(".isdlc/state.json");
    let before = std::fs::metadata(&path).unwrap().mode();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    next(&project);
    assert_eq!(std::fs::metadata(&path).unwrap().mode(), before);
}

#[test]
fn before_a_command_that_names_the_state_it_is_remembered() {
    let project = TestProject::new();
    project.file(".isdlc/state.json", STATE);
    let tool = |command: &str| json!({ "tool_name": "Bash", "tool_input": { "command": command } });
    project
        .hook(&event(&project, "PreToolUse", &tool("ls -la")))
        .says_nothing();
    assert!(!project.path(".tollgate").exists());
    project.hook(&event(
        &project,
        "PreToolUse",
        &tool("sed -i s/5/1/ .isdlc/state.json"),
    ));
    project.file(".isdlc/state.json", "{}");
    undone(&project, "Unversioned");
}

const TESTS: &str = "/phases/06-implementation/iteration_requirements/test_iteration";

/// A workflow whose tests have failed, in a session that has begun.
fn with_failed_tests() -> (TestProject, Value) {
    let state = json!({
        "state_version": 7,
        "current_phase": "06-implementation",
        "active_workflow": {
            "type": "feature", "started_at": "2026-01-01T00:00:00.000Z",
            "phases": ["05-test-strategy", "06-implementation"],
            "current_phase": "06-implementation", "current_phase_index": 1,
            "phase_status": { "05-test-strategy": "completed", "06-implementation": "in_progress" },
        },
        "phases": { "06-implementation": { "status": "in_progress", "iteration_requirements": {
            "test_iteration": { "completed": false, "current_iteration": 2, "last_test_result": "failed" },
        } } },
    });
    let project = TestProject::new().state(&state);
    project.file(
        ".isdlc/config/iteration-requirements.json",
        r#"{"phase_requirements":{"06-implementation":{"test_iteration":{"enabled":true,"max_iterations":10}}}}"#,
    );
    project.hook(&event(
        &project,
        "SessionStart",
        &json!({ "source": "startup" }),
    ));
    (project, state)
}

/// The state with evidence that nobody saw, and something of the agent's own.
fn forged(state: &Value) -> Value {
    let mut forged = state.clone();
    *forged.pointer_mut(TESTS).unwrap() =
        json!({ "completed": true, "current_iteration": 1, "last_test_result": "passed" });
    forged["notes"] = json!("mine");
    forged
}

#[track_caller]
fn claims_are_taken_back(project: &TestProject, state: &Value) {
    let after: Value = serde_json::from_str(&project.read(".isdlc/state.json")).unwrap();
    assert_eq!(after.pointer(TESTS), state.pointer(TESTS));
    assert_eq!(after["notes"], "mine", "the rest of the change stays");
    assert_eq!(project.codes().last().unwrap(), "SW-004");
}

/// E4: agents forged evidence, versions and rollbacks in the state, or wrote it under another path.
#[test]
fn e4_forged_evidence_is_taken_back_after_a_write_and_the_agent_is_told() {
    let (project, state) = with_failed_tests();
    let content = forged(&state).to_string();
    let tool = json!({
        "tool_name": "Write", "tool_use_id": "w",
        "tool_input": { "file_path": project.path(".isdlc/state.json"), "content": content },
    });
    project.hook(&event(&project, "PreToolUse", &tool)).allows();
    project.file(".isdlc/state.json", &content);
    let run = project.hook(&event(&project, "PostToolUse", &tool));
    assert!(run.stdout.contains("STATE RESTORED"), "{run:?}");
    assert!(
        run.stdout.contains("iteration_requirements.test_iteration"),
        "{run:?}"
    );
    claims_are_taken_back(&project, &state);
}

/// E4: agents forged evidence, versions and rollbacks in the state, or wrote it under another path.
#[test]
fn e4_forged_evidence_of_a_shell_command_is_taken_back() {
    let (project, state) = with_failed_tests();
    project.file(".isdlc/state.json", forged(&state).to_string());
    assert!(next(&project).stdout.contains("STATE RESTORED"));
    claims_are_taken_back(&project, &state);
    next(&project).says_nothing();
}

/// E4: agents forged evidence, versions and rollbacks in the state, or wrote it under another path.
#[test]
fn e4_a_command_in_the_same_line_as_the_forgery_does_not_believe_it() {
    let (project, state) = with_failed_tests();
    project.file(".isdlc/state.json", forged(&state).to_string());
    let mut command = project.command(&["phase", "complete", "--summary", "done"]);
    command.env("CLAUDECODE", "1");
    let run = crate::project::run(command, b"");
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("GATE BLOCKED"), "{run:?}");
    claims_are_taken_back(&project, &state);
}

/// Between two events, nobody else looks.
#[test]
fn a_persons_command_names_what_another_process_changed() {
    let (project, mut state) = with_failed_tests();
    state["state_version"] = json!(9);
    state["active_workflow"]["current_phase_index"] = json!(2);
    state["notes"] = json!("not by a person");
    project.file(".isdlc/state.json", state.to_string());
    let run = project.tollgate(&["phase", "begin", "06-implementation"]);
    assert!(
        run.stderr
            .contains("not by a command of the agent; the change was adopted"),
        "{run:?}"
    );
    let line = project.journal().remove(0);
    assert_eq!(line["code"], "SW-003");
    assert!(line["patch"].to_string().contains("notes"), "{line}");
}

fn prompt(project: &TestProject, session: &str) -> Run {
    let event = named("UserPromptSubmit")
        .in_session(session)
        .in_directory(project.root())
        .with("transcript_path", "/t")
        .with("prompt", "go on");
    project.hook(&event)
}

#[test]
fn a_workflow_that_gets_its_folder_later_is_not_gone() {
    let workflow = json!({ "type": "feature", "description": "Login page" });
    let project = TestProject::new().state(&json!({ "active_workflow": workflow }));
    prompt(&project, "s");
    let mut named = workflow;
    named["artifact_folder"] = json!("REQ-0001-login-page");
    let project = project.state(&json!({ "active_workflow": named }));
    next(&project).says_nothing();
    prompt(&project, "s").says_nothing();
    // Another one in its place is another one.
    let other = json!({ "type": "feature", "description": "Search", "artifact_folder": "REQ-2" });
    let project = project.state(&json!({ "active_workflow": other }));
    let run = prompt(&project, "s");
    // One notice does not hide another.
    assert!(run.stdout.contains("the change was adopted"), "{run:?}");
    assert!(
        run.stdout
            .contains("the workflow REQ-0001-login-page that this project had is gone"),
        "{run:?}"
    );
}

#[test]
fn sessions_at_once_hear_of_a_loss_once_each() {
    let project = TestProject::empty().with_toml("[gates.test]\nrun = \"true\"\n");
    let sessions: Vec<String> = (0..8).map(|n| format!("s{n}")).collect();
    prompt(&project, "s0");
    std::fs::remove_file(project.path("tollgate.toml")).unwrap();
    project.file(".tollgate/local/x", "");
    let told = || -> usize {
        std::thread::scope(|scope| {
            let runs = sessions.iter().map(|session| {
                let project = &project;
                scope.spawn(move || prompt(project, session))
            });
            let runs: Vec<_> = runs.collect();
            let told = runs.into_iter().map(|run| run.join().unwrap());
            told.filter(|run| {
                run.stdout
                    .contains("the gates that this project had are gone")
            })
            .count()
        })
    };
    assert_eq!(told(), 8);
    assert_eq!(told(), 0);
}

/// A project that is used every day may have nothing new to remember for months.
#[test]
fn what_is_remembered_of_a_project_in_use_is_kept() {
    let project = TestProject::empty().with_toml("[gates.test]\nrun = \"true\"\n");
    prompt(&project, "s");
    let kept = project.home().join(".local/state/tollgate/projects");
    let json =
        |entry: &std::fs::DirEntry| entry.path().extension().is_some_and(|end| end == "json");
    let mut entries = kept.read_dir().unwrap().map(Result::unwrap);
    let file = entries.find(json).unwrap().path();
    let old = std::time::SystemTime::now() - std::time::Duration::from_hours(100 * 24);
    let age = |file: &std::path::Path| {
        let file = std::fs::File::options().write(true).open(file).unwrap();
        file.set_modified(old).unwrap();
    };
    age(&file);
    let other = kept.join("other.json");
    crate::project::put(&other, "{}");
    age(&other);
    prompt(&project, "s");
    assert!(file.metadata().unwrap().modified().unwrap() > old);
    // What nobody reads goes with the next change.
    std::fs::remove_file(project.path("tollgate.toml")).unwrap();
    prompt(&project, "s");
    assert!(file.exists() && !other.exists());
}

/// A command that an agent runs.
fn as_agent(project: &TestProject, args: &[&str]) -> Run {
    let mut command = project.command(args);
    command.env("CLAUDECODE", "1");
    crate::project::run(command, b"")
}

/// E4: agents forged evidence, versions and rollbacks in the state, or wrote it under another path.
#[test]
fn e4_a_repair_does_not_make_a_forgery_its_own() {
    let (project, state) = with_failed_tests();
    let mut forged = forged(&state);
    forged["active_agent"] = json!("nobody");
    project.file(".isdlc/state.json", forged.to_string());
    let run = as_agent(&project, &["workflow", "audit", "--repair"]);
    assert!(run.stderr.contains("STATE RESTORED"), "{run:?}");
    let after: Value = serde_json::from_str(&project.read(".isdlc/state.json")).unwrap();
    assert_eq!(after.pointer(TESTS), state.pointer(TESTS));
    assert_eq!(after["active_agent"], "software-developer");
    let run = as_agent(&project, &["phase", "complete", "--summary", "done"]);
    assert_eq!(run.code, 1, "{run:?}");
}

/// E4: agents forged evidence, versions and rollbacks in the state, or wrote it under another path.
#[test]
fn e4_an_agent_does_not_take_back_what_was_seen() {
    let (project, _) = with_failed_tests();
    let test = |output: &str| {
        let tool = json!({
            "tool_name": "Bash", "tool_input": { "command": "cargo test" },
            "tool_response": { "stdout": output, "stderr": "" },
        });
        project.hook(&event(&project, "PostToolUse", &tool));
    };
    test("test result: ok. 3 passed; 0 failed; 0 ignored");
    test("test result: FAILED. 2 passed; 1 failed; 0 ignored");
    let before = project.read(".isdlc/state.json");
    let run = as_agent(&project, &["state", "undo", "--force"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("what Tollgate recorded"), "{run:?}");
    assert_eq!(project.read(".isdlc/state.json"), before);
    // A person may.
    let run = crate::project::run(project.command(&["state", "undo"]), b"");
    assert_eq!(run.code, 0, "{run:?}");
    let after: Value = serde_json::from_str(&project.read(".isdlc/state.json")).unwrap();
    assert_eq!(after.pointer(TESTS).unwrap()["completed"], true);
}

/// E4: agents forged evidence, versions and rollbacks in the state, or wrote it under another path.
#[test]
fn e4_no_branch_is_merged_on_a_forgery() {
    let (project, mut state) = with_failed_tests();
    let project = project.on_branch("main");
    project.git(&["switch", "-q", "-c", "feature/x"]);
    project.file("work.txt", "x");
    project.git(&["add", "work.txt"]);
    project.git(&["commit", "-qm", "work"]);
    state["active_workflow"]["git_branch"] =
        json!({ "name": "feature/x", "created_from": "main", "status": "active" });
    let project = project.state(&state);
    project.hook(&event(
        &project,
        "SessionStart",
        &json!({ "source": "startup" }),
    ));
    let mut done = ended(&state);
    done["phases"]["05-test-strategy"] = json!({ "status": "completed" });
    project.file(".isdlc/state.json", done.to_string());
    let run = as_agent(&project, &["workflow", "finalize", "--merge"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("is not completed"), "{run:?}");
    assert!(!project.git(&["log", "--oneline", "main"]).contains("work"));
}

/// E4: agents forged evidence, versions and rollbacks in the state, or wrote it under another path.
#[test]
fn e4_what_tollgate_saw_itself_is_evidence() {
    let (project, _) = with_failed_tests();
    let tool = json!({
        "tool_name": "Bash", "tool_use_id": "b", "tool_input": { "command": "cargo test" },
        "tool_response": { "stdout": "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out", "stderr": "" },
    });
    project.hook(&event(&project, "PostToolUse", &tool));
    next(&project);
    let after: Value = serde_json::from_str(&project.read(".isdlc/state.json")).unwrap();
    assert_eq!(
        after.pointer(TESTS).unwrap()["completed"],
        true,
        "{after:#}"
    );
}

#[test]
fn an_escalation_is_not_turned_into_a_pass_and_gates_do_not_get_softer() {
    let (project, mut state) = with_failed_tests();
    *state.pointer_mut(TESTS).unwrap() = json!({
        "completed": true, "status": "escalated", "current_iteration": 3, "last_test_result": "failed",
    });
    // A person's change, between sessions.
    let project = project.state(&state);
    project.hook(&event(
        &project,
        "SessionStart",
        &json!({ "source": "startup" }),
    ));
    for (place, claim) in [
        (format!("{TESTS}/status"), "success"),
        ("/active_workflow/gate_mode".to_owned(), "permissive"),
        ("/active_workflow/type".to_owned(), "fix"),
        (
            "/active_workflow/started_at".to_owned(),
            "2020-01-01T00:00:00.000Z",
        ),
    ] {
        let mut claimed = state.clone();
        let (parent, key) = place.rsplit_once('/').unwrap();
        claimed.pointer_mut(parent).unwrap()[key] = json!(claim);
        claimed["notes"] = json!("mine");
        project.file(".isdlc/state.json", claimed.to_string());
        assert!(next(&project).stdout.contains("STATE RESTORED"), "{place}");
        claims_are_taken_back(&project, &state);
        let after: Value = serde_json::from_str(&project.read(".isdlc/state.json")).unwrap();
        assert_eq!(
            after["active_workflow"], state["active_workflow"],
            "{place}"
        );
    }
}

/// The state with its phase ended by hand.
fn ended(state: &Value) -> Value {
    let mut ended = state.clone();
    ended["state_version"] = json!(8);
    ended["active_workflow"]["current_phase_index"] = json!(2);
    ended["active_workflow"]["phase_status"]["06-implementation"] = json!("completed");
    ended["phases"]["06-implementation"]["status"] = json!("completed");
    ended
}

/// IR-004: the requirements of a phase are checked before it is left.
#[test]
fn ir_004_a_phase_that_is_ended_by_hand_passes_the_same_gate() {
    let (project, state) = with_failed_tests();
    let mut hidden = ended(&state);
    hidden["phases"]["06-implementation"]["status"] = json!("in_progress");
    hidden["active_workflow"]["phase_status"]["06-implementation"] = json!("in_progress");
    let mut spelled = hidden.clone();
    spelled["active_workflow"]["current_phase_index"] = json!(2.0);
    // By its status, with forged evidence besides, and by the index alone, however that is spelled.
    for change in [ended(&state), ended(&forged(&state)), hidden, spelled] {
        project.file(".isdlc/state.json", change.to_string());
        let told = next(&project).stdout;
        assert!(
            told.contains("its gate is closed (test_iteration)"),
            "{told}"
        );
        let after: Value = serde_json::from_str(&project.read(".isdlc/state.json")).unwrap();
        assert_eq!(after, state);
        next(&project).says_nothing();
    }
    // With the tests passed it is a legal step.
    let tool = json!({
        "tool_name": "Bash", "tool_use_id": "b", "tool_input": { "command": "cargo test" },
        "tool_response": { "stdout": "test result: ok. 3 passed; 0 failed; 0 ignored", "stderr": "" },
    });
    project.hook(&event(&project, "PostToolUse", &tool));
    let passed: Value = serde_json::from_str(&project.read(".isdlc/state.json")).unwrap();
    let mut done = ended(&passed);
    done["state_version"] = json!(9);
    project.file(".isdlc/state.json", done.to_string());
    next(&project).says_nothing();
    let after: Value = serde_json::from_str(&project.read(".isdlc/state.json")).unwrap();
    assert_eq!(after, done);
}

/// IR-004: the requirements of a phase are checked before it is left.
#[test]
fn ir_004_a_permissive_workflow_may_be_ended_by_hand() {
    let (project, mut state) = with_failed_tests();
    state["active_workflow"]["gate_mode"] = json!("permissive");
    let project = project.state(&state);
    project.hook(&event(
        &project,
        "SessionStart",
        &json!({ "source": "startup" }),
    ));
    let done = ended(&state);
    project.file(".isdlc/state.json", done.to_string());
    next(&project).says_nothing();
    let after: Value = serde_json::from_str(&project.read(".isdlc/state.json")).unwrap();
    assert_eq!(after, done);
}

/// E17: a workflow of another type counted as none.
#[test]
fn e17_a_workflow_of_the_wrong_type_gives_way_to_the_last_good_version() {
    for wrong in [json!("x"), json!([]), json!(7), json!(true)] {
        for key in ["active_workflow", "phases"] {
            let (project, state) = with_failed_tests();
            let mut broken = state.clone();
            broken[key] = wrong.clone();
            project.file(".isdlc/state.json", broken.to_string());
            let run = next(&project);
            assert!(
                run.stdout.contains(&format!("{key} is ")),
                "{wrong} {run:?}"
            );
            let after: Value = serde_json::from_str(&project.read(".isdlc/state.json")).unwrap();
            assert_eq!(after, state);
        }
    }
}

/// Every row of the corpus, really run, with no guard looking at its text. What counts is what
/// it did, not what its label says.
#[test]
fn every_route_of_the_corpus_is_caught_by_its_effect() {
    let corpus = include_str!("../../../tollgate-core/tests/corpus/state-write.jsonl");
    let (mut changed, mut untouched, mut wrong) = (0, 0, Vec::new());
    for line in corpus.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let command = row["command"].as_str().unwrap();
        let project = watched();
        project.file("s.txt", "x\n");
        project.git(&["init", "-q", "-b", "main"]);
        project.git(&["add", "-A"]);
        project.git(&["commit", "-q", "-m", "init"]);
        next(&project).says_nothing();
        let before = look(&project);
        run_bash(&project, command);
        let is_changed = look(&project) != before;
        let run = next(&project);
        let restored = look(&project).map(|(text, mode, _)| (text, mode))
            == before.map(|(text, mode, _)| (text, mode));
        let adopted = project.codes().iter().any(|code| code == "SW-002");
        if is_changed {
            changed += 1;
        } else {
            untouched += 1;
        }
        // Whoever removes all there is leaves no project, and nothing to put back. The guards stop
        // such a command by its text.
        let homes = [".isdlc", ".tollgate"].map(|home| project.path(home));
        let is_left = homes.iter().any(|home| home.exists());
        let right = if is_changed {
            restored || adopted || !is_left
        } else {
            run.stdout.is_empty()
        };
        if !right {
            wrong.push(format!("{row}\n   changed: {is_changed}, {run:?}"));
        }
    }
    println!("{changed} changed the state, {untouched} did not");
    assert!(
        changed > 100,
        "only {changed} rows changed the state: is bash there?"
    );
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// The state's content, mode and inode.
fn look(project: &TestProject) -> Option<(String, u32, u64)> {
    let path = project.path(".isdlc/state.json");
    let meta = std::fs::symlink_metadata(&path).ok()?;
    Some((
        std::fs::read_to_string(&path).unwrap_or_default(),
        meta.mode(),
        meta.ino(),
    ))
}

/// Runs a command as an agent's shell would, for two seconds at most, without a network.
fn run_bash(project: &TestProject, command: &str) {
    let _status = Command::new("timeout")
        .args(["-k", "1", "2", "bash", "-c", command])
        .current_dir(project.root())
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", project.home())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("http_proxy", "http://127.0.0.1:9")
        .env("https_proxy", "http://127.0.0.1:9")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
}

/// A session in a project whose workflow has a branch, and its state.
fn with_branch_of_its_own() -> (TestProject, Value) {
    let mut state = running_on_branch("06-implementation");
    state["active_workflow"]["git_branch"]["created_from"] = json!("main");
    let project = TestProject::new().state(&state).on_branch("main");
    project.hook(&event(
        &project,
        "SessionStart",
        &json!({ "source": "startup" }),
    ));
    (project, state)
}

/// Only the workflow's own commands say where its work goes: one word of an agent in `git_branch`
/// would open main.
#[test]
fn a_change_of_the_branch_by_an_agent_is_undone_whatever_it_says() {
    for (field, value) in [
        ("status", json!("merged")),
        ("status", json!("abandoned")),
        ("status", json!("open")),
        ("status", json!(null)),
        ("name", json!("main")),
        ("name", json!("feature/y")),
        ("created_from", json!("feature/x")),
    ] {
        let (project, mut state) = with_branch_of_its_own();
        let before = project.read(".isdlc/state.json");
        state["active_workflow"]["git_branch"][field] = value.clone();
        project.file(".isdlc/state.json", state.to_string());
        project.git(&["branch", "feature/x"]);
        let commit = json!({ "tool_name": "Bash", "tool_input": { "command": "git commit -m x" } });
        let reason = project
            .hook(&event(&project, "PreToolUse", &commit))
            .denies();
        assert!(
            reason.contains("COMMIT TO MAIN BLOCKED"),
            "{field} {value}: {reason}"
        );
        assert!(project.codes().contains(&"SW-001".to_owned()), "{field}");
        assert_eq!(project.read(".isdlc/state.json"), before, "{field} {value}");
    }
}

#[test]
fn a_write_or_edit_that_changes_the_branch_is_blocked() {
    let (project, mut state) = with_branch_of_its_own();
    let path = project.path(".isdlc/state.json");
    let edit = json!({ "tool_name": "Edit", "tool_input": { "file_path": path,
        "old_string": "\"status\": \"active\"", "new_string": "\"status\": \"merged\"" } });
    let reason = project.hook(&event(&project, "PreToolUse", &edit)).denies();
    assert!(
        reason.contains("git_branch.status changed from 'active' to 'merged'"),
        "{reason}"
    );
    state["active_workflow"]["git_branch"]["name"] = json!("feature/y");
    let write = json!({ "tool_name": "Write",
        "tool_input": { "file_path": path, "content": state.to_string() } });
    let reason = project
        .hook(&event(&project, "PreToolUse", &write))
        .denies();
    assert!(reason.contains("git_branch.name changed"), "{reason}");
}

#[test]
fn a_branch_that_is_recorded_for_the_first_time_or_ends_with_its_workflow_is_legal() {
    // As the original's orchestrator does it: the workflow first, then its branch.
    let project = TestProject::new().state(&running("06-implementation", "in_progress"));
    let start = json!({ "source": "startup" });
    project.hook(&event(&project, "SessionStart", &start));
    project.file(
        ".isdlc/state.json",
        running_on_branch("06-implementation").to_string(),
    );
    next(&project);
    assert!(!project.codes().contains(&"SW-001".to_owned()));
    let (project, mut state) = with_branch_of_its_own();
    let branch = json!({ "name": "feature/x", "status": "merged" });
    state["workflow_history"] =
        json!([{ "type": "feature", "status": "completed", "git_branch": branch }]);
    state["active_workflow"] = json!(null);
    project.file(".isdlc/state.json", state.to_string());
    next(&project);
    assert!(!project.codes().contains(&"SW-001".to_owned()));
    // A person between sessions changes what they like.
    let (project, mut state) = with_branch_of_its_own();
    state["active_workflow"]["git_branch"]["status"] = json!("merged");
    project.file(".isdlc/state.json", state.to_string());
    project.hook(&event(&project, "SessionStart", &start));
    assert_eq!(project.codes(), ["SW-003"]);
}

#[test]
fn a_notebook_edit_of_a_state_file_is_judged_like_an_edit() {
    let (project, state) = with_branch_of_its_own();
    let path = project.path(".isdlc/state.json");
    let edit = |state: &Value| {
        let input = json!({ "notebook_path": path, "new_source": state.to_string() });
        event(
            &project,
            "PreToolUse",
            &json!({ "tool_name": "NotebookEdit", "tool_input": input }),
        )
    };
    project.hook(&edit(&state)).says_nothing();
    let mut old = state.clone();
    old["state_version"] = json!(0);
    let reason = project.hook(&edit(&old)).denies();
    assert!(reason.contains("Version mismatch"), "{reason}");
    let mut merged = state;
    merged["active_workflow"]["git_branch"]["status"] = json!("merged");
    let reason = project.hook(&edit(&merged)).denies();
    assert!(reason.contains("git_branch.status changed"), "{reason}");
    // A real notebook is none of its business.
    let input = json!({ "notebook_path": project.path("a.ipynb"), "new_source": "1" });
    let other = json!({ "tool_name": "NotebookEdit", "tool_input": input });
    project
        .hook(&event(&project, "PreToolUse", &other))
        .says_nothing();
}

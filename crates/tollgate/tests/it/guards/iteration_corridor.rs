//! Facts 1.8; specification 001 IR-013, TS-004, TS-005.

use serde_json::{Value, json};

use super::{ADVANCE, escalation, in_phase, skill, state, with_requirements};
use crate::events::{bash, task};
use crate::project::{TestProject, running};

const NAME: &str = "iteration-corridor";
const TESTS: &str = "ITERATION CORRIDOR: Tests are failing (iteration 2/5). Fix the code and re-run tests before doing anything else.";
const CONSTITUTION: &str = "ITERATION CORRIDOR: Constitutional validation in progress for Articles [I, IV]. Validate and fix artifacts before proceeding.";

fn required() -> Value {
    json!({
        "test_iteration": { "enabled": true, "max_iterations": 10 },
        "constitutional_validation": { "enabled": true, "articles": ["I", "IV"] },
    })
}

fn failing() -> Value {
    json!({
        "status": "in_progress",
        "iteration_requirements": { "test_iteration": {
            "completed": false, "current_iteration": 2, "max_iterations": 5,
            "last_test_result": "failed", "last_test_command": "npm test",
            "history": [{ "error": "old" }, { "error": "TypeError: x is undefined" }],
        } },
    })
}

fn checking(status: &str) -> Value {
    json!({
        "status": "in_progress",
        "iteration_requirements": { "test_iteration": { "completed": true, "current_iteration": 1 } },
        "constitutional_validation": { "completed": false, "status": status, "iterations_used": 1 },
    })
}

fn corridor(data: &Value) -> TestProject {
    in_phase("06-implementation", &required(), data)
}

/// TS-004: while tests fail the gate stays closed, and work on them goes on.
#[test]
fn ts004_failing_tests_close_the_way_on_and_nothing_else() {
    let project = corridor(&failing());
    let reason = project
        .guard(NAME, &task("general-purpose", ADVANCE))
        .blocks(TESTS);
    assert!(
        reason.contains("\nLast error: TypeError: x is undefined\n"),
        "{reason}"
    );
    assert!(
        reason.contains("\nLast test command: npm test\n"),
        "{reason}"
    );
    assert!(
        reason.ends_with("Blocked action: Task for 'general-purpose': Advance to the next phase"),
        "{reason}"
    );
    assert_eq!(project.codes(), ["IC-001"]);
    project
        .guard(NAME, &skill("isdlc", "advance"))
        .blocks(TESTS);
    for free in [
        bash("npm test && proceed to gate"),
        json!({ "tool_name": "Write", "tool_input": { "file_path": "gate.md", "content": "advance" } }),
        task("general-purpose", "Find out why the test fails"),
        skill("isdlc", "status"),
        skill("commit", "advance"),
    ] {
        project.guard(NAME, &free).says_nothing();
    }
}

/// TS-005: while the constitutional validation is open the gate stays closed.
#[test]
fn ts005_an_open_constitutional_validation_closes_it_too() {
    let project = corridor(&checking("in_progress"));
    let reason = project
        .guard(NAME, &task("general-purpose", "hand off the work"))
        .blocks(CONSTITUTION);
    assert!(reason.contains("\nStatus: in_progress\n"), "{reason}");
    assert_eq!(project.codes(), ["IC-002"]);
    project
        .guard(NAME, &task("general-purpose", "Read the constitution file"))
        .says_nothing();
}

#[test]
fn rule_5_when_there_is_a_corridor() {
    let with = |path: &str, value: Value| {
        let mut data = failing();
        data["iteration_requirements"]["test_iteration"][path] = value;
        data
    };
    let event = task("general-purpose", ADVANCE);
    for free in [
        with("completed", json!(true)),
        with("status", json!("escalated")),
        with("last_test_result", json!("passed")),
        json!({ "status": "in_progress" }),
    ] {
        let project = corridor(&free);
        // Completed tests open the next corridor, so the constitution is out of the way here.
        let mut free = free.clone();
        free["constitutional_validation"] = json!({ "completed": true, "status": "compliant" });
        project.file(".isdlc/state.json", &{
            let mut state = state(&project);
            state["phases"]["06-implementation"] = free;
            state.to_string()
        });
        project.guard(NAME, &event).says_nothing();
    }
    // Tests are done and nobody has begun to look at the constitution.
    let mut data = checking("x");
    data.as_object_mut()
        .unwrap()
        .remove("constitutional_validation");
    let reason = corridor(&data).guard(NAME, &event).blocks(CONSTITUTION);
    assert!(reason.contains("Status: not_started"));
    // Escalated tests lead on only when somebody approved.
    data["iteration_requirements"]["test_iteration"]["status"] = json!("escalated");
    corridor(&data).guard(NAME, &event).says_nothing();
    data["iteration_requirements"]["test_iteration"]["escalation_approved"] = json!(true);
    corridor(&data).guard(NAME, &event).blocks(CONSTITUTION);
    for done in [
        json!({ "completed": true }),
        json!({ "status": "escalated" }),
    ] {
        let mut data = checking("x");
        data["constitutional_validation"] = done;
        corridor(&data).guard(NAME, &event).says_nothing();
    }
}

#[test]
fn rule_6_which_words_move_on() {
    let project = corridor(&failing());
    for on in [
        "Advance",
        "Pass GATE-06 now",
        "go to the next   phase",
        "proceed",
        "move to phase 08",
        "progress to review",
        "delegate this to QA",
        "hand off",
        "handoff the work",
        "the phase complete marker",
        "declare complete",
        "run the gate-check",
    ] {
        project
            .guard(NAME, &task("general-purpose", on))
            .blocks(TESTS);
        let event = json!({ "tool_name": "Task", "tool_input": { "subagent_type": "x", "prompt": "", "description": on } });
        project.guard(NAME, &event).blocks(TESTS);
    }
    for other in [
        "Investigate the navigation and aggregate the delegates' results in gate-blocker.cjs",
        "Use advanced types",
        "Fix it and do not advance to the next phase",
    ] {
        project
            .guard(NAME, &task("general-purpose", other))
            .says_nothing();
    }
    // Agents that only read move nothing on.
    project
        .guard(NAME, &task("Explore", "where do we advance the gate?"))
        .says_nothing();
}

#[test]
fn rules_1_to_3_when_it_has_nothing_to_say() {
    let event = task("general-purpose", ADVANCE);
    TestProject::new().guard(NAME, &event).says_nothing();
    let mut off = running("06-implementation", "in_progress");
    off["iteration_enforcement"] = json!({ "enabled": false });
    off["phases"]["06-implementation"] = failing();
    let config = json!({ "phase_requirements": { "06-implementation": required() } });
    with_requirements(&off, &config)
        .guard(NAME, &event)
        .says_nothing();
    off["iteration_enforcement"] = json!({ "enabled": true });
    with_requirements(&off, &config)
        .guard(NAME, &event)
        .blocks("ITERATION CORRIDOR");
    off["active_workflow"] = json!(null);
    off["current_phase"] = json!(null);
    with_requirements(&off, &config)
        .guard(NAME, &event)
        .says_nothing();
    // A phase that nobody requires anything of is noted; a project without requirements is not.
    let project = in_phase("06-implementation", &required(), &failing());
    project.file(
        ".claude/hooks/config/iteration-requirements.json",
        r#"{"phase_requirements":{}}"#,
    );
    let told = project.guard(NAME, &event).warns("[SELF-HEAL] iteration-corridor: No requirements for phase '06-implementation'. Allowing action.");
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(
        project
            .read(".isdlc/hook-activity.log")
            .contains("self-heal")
    );
    let project = TestProject::new().state(&running("06-implementation", "in_progress"));
    project.guard(NAME, &event).says_nothing();
}

#[test]
fn rule_8_a_block_is_escalated_once_a_minute_and_twenty_are_kept() {
    let project = corridor(&failing());
    let event = task("general-purpose", ADVANCE);
    let reason = project.guard(NAME, &event).blocks(TESTS);
    let entry = escalation(&project);
    assert_eq!(entry["type"], "corridor_blocked");
    assert_eq!(entry["hook"], NAME);
    assert_eq!(entry["phase"], "06-implementation");
    assert_eq!(entry["detail"], json!(reason));
    assert!(entry["timestamp"].as_str().unwrap().ends_with('Z'));
    project.guard(NAME, &event).blocks(TESTS);
    escalation(&project);
    // An older one of the same kind is no reason for silence, and there are never more than 20.
    let old: Vec<Value> = (0..20)
        .map(|_| json!({ "type": "corridor_blocked", "hook": NAME, "phase": "06-implementation", "timestamp": super::minutes_ago(2) }))
        .collect();
    let mut now = state(&project);
    now["pending_escalations"] = json!(old);
    project.file(".isdlc/state.json", now.to_string());
    project.guard(NAME, &event).blocks(TESTS);
    let list = state(&project)["pending_escalations"].clone();
    assert_eq!(list.as_array().unwrap().len(), 20);
    assert_eq!(list[19]["detail"], json!(reason));
    // What is no list does not keep the block from being written down.
    now["pending_escalations"] = json!("none");
    project.file(".isdlc/state.json", now.to_string());
    project.guard(NAME, &event).blocks(TESTS);
    escalation(&project);
}

/// R29: blocks of some guards were not logged, and details were dropped.
#[test]
fn r29_the_block_is_in_the_log() {
    let project = corridor(&failing());
    project
        .guard(NAME, &task("general-purpose", ADVANCE))
        .blocks(TESTS);
    let log = project.read(".isdlc/hook-activity.log");
    assert!(
        log.contains(r#""hook":"iteration-corridor","event":"block","phase":"06-implementation""#),
        "{log}"
    );
}

/// E18: a token in a blocked command was written to a log that everybody may read.
#[test]
fn e18_secrets_in_a_prompt_do_not_get_into_the_state() {
    let project = corridor(&failing());
    let prompt = "Advance with API_TOKEN=hunter2hunter2";
    project
        .guard(NAME, &task("general-purpose", prompt))
        .blocks(TESTS);
    let detail = escalation(&project)["detail"].to_string();
    assert!(detail.contains("API_TOKEN=[redacted]"), "{detail}");
}

/// BUG-0008: delegations were blocked for words such as "complete" or "GATE-06" in their prompt.
#[test]
fn bug_0008_delegating_the_phase_is_no_attempt_to_leave_it() {
    let prompt = "Execute Phase 06. Delegate as needed. Constitutional validation, then validate GATE-06 and proceed when complete.";
    for data in [failing(), checking("pending")] {
        corridor(&data)
            .guard(NAME, &task("software-developer", prompt))
            .says_nothing();
    }
}

/// D2: setup words somewhere in a prompt switched the guards of delegations off.
#[test]
fn d2_a_setup_word_counts_only_as_the_command_itself() {
    let project = corridor(&failing());
    for words in [
        "The initial definition is done, advance",
        "Constitutional checks are complete: advance",
        "statusbar installed. Proceed",
    ] {
        project
            .guard(NAME, &task("general-purpose", words))
            .blocks(TESTS);
    }
    for setup in [
        "status of the gate",
        "/discover and proceed",
        "init: next phase list",
    ] {
        project
            .guard(NAME, &task("sdlc-orchestrator", setup))
            .says_nothing();
    }
}

/// GH-65, BUG-0031: `analyze` and `add` were blocked for the word "gate" in their text.
/// F7: the verb of `/isdlc` is its first word that is no flag; the original searched the whole
/// text.
#[test]
fn gh_65_bug_0031_f7_the_verb_decides_not_the_words() {
    let project = corridor(&failing());
    for words in [
        "analyze \"gate-blocker and advance\"",
        "add advance button",
        "status",
    ] {
        project.guard(NAME, &skill("isdlc", words)).says_nothing();
    }
    for verb in ["advance --status", "--verbose advance", "gate-check"] {
        project.guard(NAME, &skill("isdlc", verb)).blocks(TESTS);
    }
}

/// F6: what is recorded under an old key of a phase was not seen.
/// TS-008: `13-test-deploy`, an old key, means `12-test-deploy` everywhere.
#[test]
fn f6_ts008_an_old_phase_key_finds_requirements_and_state() {
    for (named, filed) in [
        ("13-test-deploy", "13-test-deploy"),
        ("13-test-deploy", "12-test-deploy"),
        ("12-test-deploy", "13-test-deploy"),
    ] {
        let mut state = running(named, "in_progress");
        state["phases"] = json!({ filed: failing() });
        let config = json!({ "phase_requirements": { "12-test-deploy": required() } });
        let project = with_requirements(&state, &config);
        let run = project.guard(NAME, &task("general-purpose", ADVANCE));
        assert!(!run.stderr.contains("No requirements"), "{run:?}");
        let note = "[SELF-HEAL] iteration-corridor: Phase key '13-test-deploy' normalized to '12-test-deploy'.";
        assert_eq!(
            run.stderr.contains(note),
            named == "13-test-deploy",
            "{run:?}"
        );
        run.blocks(TESTS);
    }
}

/// BUG-0005: guards read the phase at the top of the state first, and acted on the wrong one.
/// TS-006: a stale `current_phase` at the top is not read where the workflow has its own.
#[test]
fn bug_0005_ts006_the_workflows_phase_counts() {
    let mut state = running("06-implementation", "in_progress");
    state["current_phase"] = json!("01-requirements");
    state["phases"]["06-implementation"] = failing();
    let config =
        json!({ "phase_requirements": { "06-implementation": required(), "01-requirements": {} } });
    with_requirements(&state, &config)
        .guard(NAME, &task("x", ADVANCE))
        .blocks(TESTS);
}

/// D9: `workflow_overrides` were merged in three ways, and under old phase keys not at all.
#[test]
fn d9_the_workflows_overrides_are_seen() {
    let mut state = running("06-implementation", "in_progress");
    state["phases"]["06-implementation"] = failing();
    let config = json!({
        "phase_requirements": { "06-implementation": required() },
        "workflow_overrides": { "feature": { "05-implementation": { "test_iteration": { "enabled": false } } } },
    });
    with_requirements(&state, &config)
        .guard(NAME, &task("x", ADVANCE))
        .says_nothing();
}

//! Defects that the commands of the workflow and the installer keep away.

use serde_json::{Value, json};

use super::{command, new_project, state, works};
use crate::events::task;
use crate::project::{TestProject, run};
use crate::workflow::bench::{Bench, write_documents};

const STATE: &str = ".isdlc/state.json";

/// BUG-0006: a phase was delegated to before anything said that it is in progress.
#[test]
fn bug_0006_a_phase_is_in_progress_before_anybody_works_in_it() {
    let bench = Bench::started(&["01-requirements", "03-architecture"]);
    bench.complete();
    // The end of a phase says nothing about the next one …
    let between = bench.state();
    assert_eq!(between["phases"]["03-architecture"]["status"], "pending");
    assert_eq!(between["current_phase"], "01-requirements");
    bench
        .project
        .hook(&task("solution-architect", "design it"))
        .blocks("OUT-OF-ORDER PHASE DELEGATION");
    // … and its beginning is written before it is delegated.
    bench.begin();
    let begun = bench.state();
    assert_eq!(begun["phases"]["03-architecture"]["status"], "in_progress");
    assert_eq!(begun["active_agent"], "solution-architect");
    bench
        .project
        .hook(&task("solution-architect", "design it"))
        .allows();
}

/// BUG-0016, GH-60: starting a workflow ran all of its phases.
#[test]
fn bug_0016_gh_60_a_start_is_the_start_of_one_phase() {
    let bench = Bench::started(&["01-requirements", "03-architecture", "06-implementation"]);
    for phase in ["03-architecture", "06-implementation"] {
        assert_eq!(bench.state()["phases"][phase]["status"], "pending");
        bench.refused(2, &["phase", "begin", phase]);
    }
    bench
        .project
        .hook(&task("software-developer", "carry on through all phases"))
        .blocks("OUT-OF-ORDER PHASE DELEGATION");
    bench.complete();
    // One end does not end the next phase as well.
    bench.refused(2, &["phase", "complete", "--summary", "all of it"]);
}

/// BUG-0027, BUG-0035: the index of skills was empty, because manifests have two shapes.
#[test]
fn bug_0027_bug_0035_skills_are_listed_in_both_shapes() {
    for (skills, lines) in [
        (
            json!(["DEV-001", "DEV-002"]),
            "AVAILABLE SKILLS:\n- DEV-001\n- DEV-002\n",
        ),
        (
            json!([{ "id": "DEV-001", "name": "code", "description": "writes it" }, { "name": "tests" }, "DEV-003", 7]),
            "AVAILABLE SKILLS:\n- DEV-001: code - writes it\n- tests\n- DEV-003\n",
        ),
    ] {
        let bench = Bench::with_phases(&["06-implementation"]);
        let manifest = json!({ "ownership": {
            "qa-engineer": { "phase": "08-code-review", "skills": ["QA-001"] },
            "Software-Developer": { "phase": "06-implementation", "skills": skills },
        } });
        bench.file(
            ".claude/hooks/config/skills-manifest.json",
            manifest.to_string(),
        );
        bench.ok(&["workflow", "start", "t", "Add a shop"]);
        let brief = bench.ok(&["phase", "brief"]);
        assert!(brief.contains(lines), "{brief}");
        assert!(!brief.contains("QA-001"), "{brief}");
    }
    let none = Bench::started(&["06-implementation"]);
    assert!(!none.ok(&["phase", "brief"]).contains("SKILLS"));
}

/// BUG-0033, BUG-0034, GH-277: an ended workflow was still shown as running.
#[test]
fn bug_0033_bug_0034_gh_277_an_ended_workflow_is_over_in_every_view() {
    let project = new_project();
    works(&project, &["workflow", "start", "fix", "Gift cards"]);
    for _ in 0..2 {
        write_documents(&project);
        works(&project, &["phase", "complete", "--summary", "ok"]);
        works(&project, &["phase", "begin"]);
    }
    let view = |args: &[&str]| run(project.command(args), b"").stdout;
    let report = || -> Value { serde_json::from_str(&view(&["report", "--json"])).unwrap() };
    assert_eq!(report()["workflow"]["description"], "Gift cards");
    assert!(view(&["status"]).contains("Gift cards"));
    // Finalizing takes more than the end of some phase.
    let early = command(&project, &["workflow", "finalize"]);
    assert_eq!(early.code, 2, "{early:?}");
    write_documents(&project);
    works(&project, &["phase", "complete", "--summary", "ok"]);
    works(&project, &["workflow", "finalize"]);
    assert_eq!(report()["workflow"]["state"], "idle");
    for args in [&["status"][..], &["statusline"]] {
        let shown = view(args);
        assert!(!shown.contains("Gift cards"), "{args:?} {shown}");
    }
    let top = view(&["top", "--once"]);
    assert!(top.contains("none is running"), "{top}");
    let status: Value = serde_json::from_str(&view(&["workflow", "status", "--json"])).unwrap();
    assert_eq!(status["running"], false, "{status:#}");
    assert_eq!(
        state(&project)["workflow_history"][0]["description"],
        "Gift cards"
    );
    works(&project, &["workflow", "audit"]);
    // And the next one can start.
    works(&project, &["workflow", "start", "fix", "Again"]);
}

/// A Write by a real agent, before or after it happened.
fn write(project: &TestProject, event: &str, content: &str) -> crate::project::Run {
    project.hook(&json!({
        "hook_event_name": event, "session_id": "s", "tool_name": "Write",
        "tool_input": { "file_path": project.path(STATE), "content": content },
        "tool_response": { "type": "update" },
    }))
}

/// BUG-0007/0.3: a write of `null` or a number switched the version check off.
#[test]
fn bug_0007_0_3_what_is_no_object_does_not_become_the_state() {
    let disk = json!({ "state_version": 9, "active_workflow": {
        "current_phase": "06-implementation", "current_phase_index": 4 } });
    for content in ["null", "7", "\"x\"", "[]", "true", "not json"] {
        let project = TestProject::new().state(&disk);
        // There is nothing to compare, so the write itself is not blocked (but a list, which for
        // the specification is an object without a version); what it did is undone.
        let before = write(&project, "PreToolUse", content);
        assert_eq!(before.stdout.is_empty(), content != "[]", "{before:?}");
        project.file(STATE, content);
        let told = write(&project, "PostToolUse", content).stdout;
        assert!(told.contains("not a JSON object"), "{content}: {told}");
        let now: Value = serde_json::from_str(&project.read(STATE)).unwrap();
        assert_eq!(
            now["active_workflow"]["current_phase_index"], 4,
            "{content}"
        );
        assert_eq!(project.codes().last().unwrap(), "SW-001", "{content}");
    }
}

/// BUG-0017/0.10: a write without a version replaced a state that has one.
#[test]
fn bug_0017_0_10_an_unversioned_write_does_not_replace_a_versioned_state() {
    let project = TestProject::new().state(&json!({ "state_version": 9, "phases": {} }));
    for content in [r#"{"phases":{}}"#, r#"{"state_version":null,"phases":{}}"#] {
        let reason = write(&project, "PreToolUse", content).denies();
        assert!(reason.starts_with("Unversioned write rejected: disk state has state_version 9"));
    }
    write(&project, "PreToolUse", r#"{"state_version":9,"phases":{}}"#).allows();
    let unversioned = TestProject::new().state(&json!({ "phases": {} }));
    write(&unversioned, "PreToolUse", r#"{"phases":{}}"#).allows();
}

/// Every field that a guard reads, with nothing in it.
fn nothing() -> Value {
    let fields = [
        "state_version",
        "current_phase",
        "active_workflow",
        "phases",
        "iteration_enforcement",
        "skill_enforcement",
        "skill_usage_log",
        "pending_delegation",
        "pending_escalations",
        "discovery_context",
        "code_review",
        "cloud_configuration",
        "workflow_history",
        "history",
        "chat_explore_active",
        "iteration_config",
    ];
    fields
        .iter()
        .map(|field| ((*field).to_owned(), Value::Null))
        .collect()
}

/// BUG-0009-batch-d: `null` in the state or the event was not expected.
#[test]
fn bug_0009_batch_d_null_is_nothing_everywhere() {
    let mut workflow = nothing();
    workflow["active_workflow"] = json!({
        "type": null, "current_phase": null, "current_phase_index": null, "phases": null,
        "phase_status": null, "git_branch": null, "supervised_review": null, "options": null,
        "sizing": null, "artifact_folder": null, "started_at": null,
    });
    for state in [nothing(), workflow] {
        for (kind, tool, input) in [
            (
                "PreToolUse",
                "Task",
                json!({ "subagent_type": "software-developer", "prompt": "advance" }),
            ),
            (
                "PreToolUse",
                "Task",
                json!({ "subagent_type": "sdlc-orchestrator", "prompt": "advance" }),
            ),
            (
                "PreToolUse",
                "Task",
                json!({ "subagent_type": null, "prompt": null }),
            ),
            (
                "PreToolUse",
                "Skill",
                json!({ "skill": "isdlc", "args": "advance" }),
            ),
            (
                "PreToolUse",
                "Bash",
                json!({ "command": "git commit -m x" }),
            ),
            (
                "PreToolUse",
                "Write",
                json!({ "file_path": "a.txt", "content": null }),
            ),
            (
                "PostToolUse",
                "Task",
                json!({ "subagent_type": null, "prompt": "discover" }),
            ),
            ("PostToolUse", "Bash", json!({ "command": "cargo test" })),
        ] {
            let project = TestProject::new().state(&state).on_branch("main");
            let run = project.hook(&json!({
                "hook_event_name": kind, "session_id": "s", "tool_name": tool,
                "tool_input": input, "tool_response": null,
            }));
            run.says_nothing();
            assert_eq!(
                project.codes(),
                Vec::<String>::new(),
                "{kind} {tool} {input}"
            );
        }
    }
}

/// D10: timeouts in agents' settings are seconds; the original wrote milliseconds.
#[test]
fn d10_the_timeouts_in_settings_are_seconds() {
    let desk = TestProject::with_tollgate_on_path();
    let run = desk.tollgate(&["install", "--agent", "claude", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    let settings: Value = serde_json::from_str(&desk.text(".claude/settings.json")).unwrap();
    let mut seen = 0;
    for (event, groups) in settings["hooks"].as_object().unwrap() {
        for hook in groups
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|group| group["hooks"].as_array().unwrap())
        {
            let seconds = hook["timeout"].as_u64().unwrap();
            let expected = match event.as_str() {
                "Stop" => 5..=900,
                // Codex gives the end of a session no more.
                "SessionEnd" => 3..=3,
                _ => 5..=10,
            };
            assert!(expected.contains(&seconds), "{event}: {seconds}");
            seen += 1;
        }
    }
    assert!(seen >= 4, "{settings:#}");
}

//! §13.2, common-phase-detection, 10 cases: what counts as handing a phase to somebody, seen
//! through phase-sequence-guard in a workflow that is in another phase.

use serde_json::json;

use crate::events::{bash, task};
use crate::project::{Run, TestProject, running};

/// The guard's answer in a workflow whose phase nobody below works in.
fn ask(agent: &str, prompt: &str) -> Run {
    let project = TestProject::new().state(&running("10-cicd", "in_progress"));
    project.guard("phase-sequence-guard", &task(agent, prompt))
}

#[track_caller]
fn is_phase(run: Run, phase: &str) {
    let reason = run.blocks("OUT-OF-ORDER");
    assert!(
        reason.ends_with(&format!("Target phase:  {phase}")),
        "{reason}"
    );
}

/// Case 1: `subagent_type` is an agent of the manifest.
#[test]
fn t01_a_known_agent_is_a_delegation() {
    is_phase(
        ask("software-developer", "implement feature"),
        "06-implementation",
    );
}

/// Case 2: an agent's name is found in other spellings.
#[test]
fn t02_an_agents_name_is_normalised() {
    is_phase(ask("05-software-developer", "x"), "06-implementation");
    is_phase(ask("Software_Developer", "x"), "06-implementation");
}

#[test]
fn an_agents_name_may_have_blanks_or_other_separators() {
    for name in [
        "software developer",
        "Software  Developer",
        "software.developer",
        "isdlc:Software Developer",
    ] {
        is_phase(ask(name, "x"), "06-implementation");
    }
    for prompt in [
        "You are the software developer. Go on.",
        "Act as qa engineer",
    ] {
        ask("general-purpose", prompt).blocks("OUT-OF-ORDER");
    }
    for (agent, prompt) in [
        ("software", "x"),
        ("developers of software", "x"),
        ("general-purpose", "You are the software reviewer"),
        ("general-purpose", "You are not the software developer"),
    ] {
        ask(agent, prompt).says_nothing();
    }
}

#[test]
fn a_phase_key_may_be_given_with_an_equals_sign() {
    for line in [
        "phase key = 06-implementation",
        "Phase key: 06-implementation",
        "phase_key=06-implementation",
        "- **Phase key** = `06-implementation`",
    ] {
        is_phase(ask("general-purpose", line), "06-implementation");
    }
    for line in [
        "the phase key 06-implementation",
        "phase keys = 06-implementation",
        "phasekey = 06-implementation",
    ] {
        ask("general-purpose", line).says_nothing();
    }
}

/// Case 3: orchestrators and setup agents are no phase agents.
#[test]
fn t03_setup_and_steering_agents_are_none() {
    ask("discover-orchestrator", "discover project").says_nothing();
    ask("sdlc-orchestrator", "run the software-developer").says_nothing();
}

/// Case 4: setup commands are no delegations.
#[test]
fn t04_setup_commands_are_none() {
    for command in [
        "discover",
        "constitution",
        "init",
        "setup",
        "configure",
        "configure-cloud",
        "new project",
        "project setup",
        "install",
        "status",
    ] {
        ask("", &format!("{command} with software-developer")).says_nothing();
        ask("", &format!("/{}", command.to_uppercase())).says_nothing();
    }
}

/// Case 5: other tools are no delegations.
#[test]
fn t05_other_tools_are_none() {
    let project = TestProject::new().state(&running("10-cicd", "in_progress"));
    project
        .guard("phase-sequence-guard", &bash("software-developer"))
        .says_nothing();
}

/// Case 6: without `subagent_type` an agent's name in the prompt counts.
#[test]
fn t06_an_agents_name_in_the_prompt_counts_when_no_agent_is_asked() {
    is_phase(
        ask("", "let the software-developer implement it"),
        "06-implementation",
    );
}

/// Case 7: without `subagent_type` a phase's key in the prompt counts.
#[test]
fn t07_a_phase_in_the_prompt_counts_when_no_agent_is_asked() {
    is_phase(
        ask("", "please work on phase 03-architecture"),
        "03-architecture",
    );
    is_phase(ask("", "work on 01-requirements"), "01-requirements");
}

/// Case 8: the description is read like the prompt.
#[test]
fn t08_a_description_counts_like_the_prompt() {
    let project = TestProject::new().state(&running("10-cicd", "in_progress"));
    let event = json!({ "tool_name": "Task", "tool_input": { "prompt": "go", "description": "qa-engineer" } });
    is_phase(
        project.guard("phase-sequence-guard", &event),
        "08-code-review",
    );
}

/// Case 9: an event without any of these is no delegation.
#[test]
fn t09_nothing_at_all_is_none() {
    ask("", "").says_nothing();
    let project = TestProject::new().state(&running("10-cicd", "in_progress"));
    for input in [
        json!({}),
        json!(null),
        json!("x"),
        json!({ "prompt": 7, "subagent_type": [] }),
    ] {
        let event = json!({ "tool_name": "Task", "tool_input": input });
        project.guard("phase-sequence-guard", &event).allows();
    }
}

/// Case 10: without a manifest only known phases in the text count.
#[test]
fn t10_without_a_manifest_only_known_phases_in_text_count() {
    let project = TestProject::bare().state(&running("10-cicd", "in_progress"));
    project
        .guard(
            "phase-sequence-guard",
            &task("software-developer", "implement"),
        )
        .says_nothing();
    is_phase(
        project.guard("phase-sequence-guard", &task("", "do 06-implementation")),
        "06-implementation",
    );
}

/// D2: setup words somewhere in a prompt switched the guards of delegations off.
#[test]
fn d2_setup_words_in_the_text_hide_no_delegation() {
    for words in [
        "GATE REQUIREMENTS: constitutional_validation of Articles I and II",
        "write the type definitions",
        "the initial status: hooks are installed",
    ] {
        is_phase(ask("qa-engineer", words), "08-code-review");
        let prompt = format!("Phase key: 08-code-review\n{words}");
        is_phase(ask("general-purpose", &prompt), "08-code-review");
    }
}

/// F2: a folder's number or another agent's name in a prompt was taken for a delegation.
#[test]
fn f2_an_agents_name_in_somebody_elses_prompt_is_none() {
    for text in [
        "Summarise what software-developer and qa-engineer did.",
        "Find where the software-developer is defined.",
    ] {
        for agent in ["Explore", "general-purpose", "Plan", "our-own-critic"] {
            ask(agent, text).says_nothing();
        }
    }
}

/// F2: a folder's number or another agent's name in a prompt was taken for a delegation.
#[test]
fn f2_words_that_look_like_phases_are_none() {
    for text in [
        "REQ-0020-phase-handshake-audit",
        "utf-16-le",
        "base64-encoded",
        "2026-02-report",
        "phase 20-unknown",
    ] {
        ask("", text).says_nothing();
        ask("general-purpose", text).says_nothing();
    }
}

#[test]
fn keys_of_phases_and_names_of_agents_need_not_be_in_lower_case() {
    let mut state = running("R1-behavior-extraction", "in_progress");
    state["active_workflow"]["type"] = json!("reverse-engineer");
    let project = TestProject::new().state(&state);
    let ask =
        |agent: &str, prompt: &str| project.guard("phase-sequence-guard", &task(agent, prompt));
    for here in [
        "Phase key: R1-behavior-extraction",
        "Execute phase r1-behavior-extraction",
    ] {
        ask("general-purpose", here).says_nothing();
    }
    for there in [
        "Phase key: R2-characterization-tests",
        "Phase key: r2-characterization-tests",
        "Execute Phase R2-characterization-tests",
    ] {
        is_phase(ask("general-purpose", there), "R2-characterization-tests");
    }
    is_phase(ask("", "work on R4-atdd-bridge"), "R4-atdd-bridge");
    let manifest = json!({ "ownership": { "My_Architect": { "phase": "03-architecture" } } });
    project.file(
        ".claude/hooks/config/skills-manifest.json",
        manifest.to_string(),
    );
    for name in ["My_Architect", "my-architect", "isdlc:MY_ARCHITECT"] {
        is_phase(ask(name, "x"), "03-architecture");
    }
}

/// F2: a folder's number or another agent's name in a prompt was taken for a delegation.
#[test]
fn f2_a_phase_of_the_projects_own_configuration_is_known() {
    let files = [
        (
            ".isdlc/config/workflows.json",
            json!({ "workflows": { "docs": { "phases": ["17-docs"] } } }),
        ),
        (
            ".claude/hooks/config/iteration-requirements.json",
            json!({ "phase_requirements": { "17-docs": {} } }),
        ),
    ];
    for (path, config) in files {
        let project = TestProject::new().state(&running("10-cicd", "in_progress"));
        let ask = || {
            let event = task("general-purpose", "Phase key: 17-docs");
            project.guard("phase-sequence-guard", &event)
        };
        ask().warns("[phase-sequence-guard] WARNING: Unknown phase key");
        project.file(path, config.to_string());
        is_phase(ask(), "17-docs");
    }
}

#[test]
fn a_duplicate_key_hides_no_agent() {
    let project = TestProject::new().state(&running("10-cicd", "in_progress"));
    for event in [
        r#"{"tool_name":"Task","tool_input":{"subagent_type":"software-developer","subagent_type":"Explore"}}"#,
        r#"{"tool_name":"Task","tool_input":{"subagent_type":"Explore","subagent_type":"software-developer"}}"#,
        r#"{"tool_name":"Task","tool_input":{"subagent_type":"software-developer"},"tool_input":{"subagent_type":"sdlc-orchestrator"}}"#,
    ] {
        let args = ["hook", "--guard", "phase-sequence-guard"];
        let run = project.run(&args, event.as_bytes());
        let told = "subagent_type` is there twice";
        assert!(run.stderr.contains(told), "{run:?}");
        is_phase(run, "06-implementation");
    }
}

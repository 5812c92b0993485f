//! The other guards, each alone by its name: every numbered rule of the facts with both
//! outcomes, and a named test for every defect that must not come back.

mod agent_settings;
mod alone;
mod blast_radius_validator;
mod branch_guard;
mod constitution_validator;
mod constitutional_iteration_validator;
mod debug_lines;
mod delegation_gate;
mod explore_readonly_enforcer;
mod gate_artifacts;
mod gate_blocker;
mod gate_requirements;
mod iteration_corridor;
mod person_guard;
mod phase_timeout;
mod rules;
mod state_file_guard;
mod test_adequacy_blocker;
mod together;
mod tools_by_name;

use serde_json::{Value, json};

use crate::project::{TestProject, running};

/// Asks for the next phase in prose.
const ADVANCE: &str = "Advance to the next phase";

/// A project in `phase` of a feature workflow, of which only `required` is required. The
/// phase's data is `data`.
fn in_phase(phase: &str, required: &Value, data: &Value) -> TestProject {
    let mut state = running(phase, "in_progress");
    state["phases"][phase] = data.clone();
    with_requirements(
        &state,
        &json!({ "phase_requirements": { phase: required } }),
    )
}

/// A project with this state and these iteration requirements.
fn with_requirements(state: &Value, requirements: &Value) -> TestProject {
    let project = TestProject::new().state(state);
    let place = ".claude/hooks/config/iteration-requirements.json";
    project.file(place, requirements.to_string());
    project
}

/// A bare event: a skill with arguments.
fn skill(name: &str, args: &str) -> Value {
    json!({ "tool_name": "Skill", "tool_input": { "skill": name, "args": args } })
}

fn state(project: &TestProject) -> Value {
    serde_json::from_str(&project.read(".isdlc/state.json")).unwrap()
}

/// The one escalation of a project.
#[track_caller]
fn escalation(project: &TestProject) -> Value {
    let state = state(project);
    let list = state["pending_escalations"].as_array().unwrap();
    assert_eq!(list.len(), 1, "{list:?}");
    list[0].clone()
}

/// A moment this many minutes ago.
fn minutes_ago(minutes: i64) -> String {
    let at = jiff::Timestamp::now() - jiff::SignedDuration::from_mins(minutes);
    at.to_string()
}

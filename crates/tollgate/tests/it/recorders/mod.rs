//! The guards that record or warn, by the numbered rules of facts §1 and the defects of §5 and
//! §6 that must not come back.

mod atdd_completeness_validator;
mod log_skill_usage;
mod menu_halt_enforcer;
mod menu_tracker;
mod output_format_validator;
mod phase_transition_enforcer;
mod review_reminder;
mod skill_delegation_enforcer;
mod skill_validator;
mod test_results;
mod test_watcher;
mod together;
mod workflow_completion_enforcer;

use serde_json::{Value, json};

use crate::events::{bash, task};
use crate::project::{Run, TestProject};

/// A finished Task.
pub(crate) fn finished(agent: &str, prompt: &str, result: &str) -> Value {
    let mut event = task(agent, prompt);
    event["tool_result"] = json!(result);
    event
}

/// A Bash command that ran, with a result in the specification's shape.
pub(crate) fn ran(command: &str, result: Value) -> Value {
    let mut event = bash(command);
    event["tool_result"] = result;
    event
}

/// The project's state as it is now.
pub(crate) fn state(project: &TestProject) -> Value {
    serde_json::from_str(&project.read(".isdlc/state.json")).unwrap()
}

/// What a hook told the agent: allowed, with text on stdout.
#[track_caller]
pub(crate) fn tells(run: &Run, first_line: &str) {
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(run.stdout.lines().next(), Some(first_line), "{run:?}");
}

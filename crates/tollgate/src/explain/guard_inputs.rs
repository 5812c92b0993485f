//! Which fields of the state a guard looks at, with their values.

use serde_json::Value;
use tollgate_store::document::Document;

/// Guard and fields. `{}` is the current phase, `PHASE` the fields that name it.
const INPUTS: &[(&str, &[&str])] = &[
    (
        "phase-timeout",
        &[
            PHASE,
            "phases.{}.started_at",
            "phases.{}.timing.started_at",
            "phases.{}.started",
        ],
    ),
    (
        "iteration-corridor",
        &[PHASE, TESTS, VALIDATION, "iteration_enforcement"],
    ),
    ("phase-sequence-guard", &[PHASE]),
    (
        "phase-loop-controller",
        &[PHASE, "phases.{}.status", "active_workflow.phase_status.{}"],
    ),
    ("plan-surfacer", &[PHASE]),
    (
        "gate-blocker",
        &[
            PHASE,
            "active_workflow.current_phase_index",
            "active_workflow.phases",
            "active_workflow.status",
            "active_workflow.supervised_review",
            "phases.{}.iteration_requirements",
            VALIDATION,
            "iteration_enforcement",
        ],
    ),
    (
        "constitution-validator",
        &[PHASE, VALIDATION, "iteration_enforcement"],
    ),
    (
        "constitutional-iteration-validator",
        &[PHASE, VALIDATION, "iteration_enforcement"],
    ),
    (
        "test-adequacy-blocker",
        &[PHASE, "discovery_context.coverage_summary"],
    ),
    (
        "blast-radius-validator",
        &[
            PHASE,
            "active_workflow.type",
            "active_workflow.artifact_folder",
            "active_workflow.git_branch.created_from",
        ],
    ),
    (
        "branch-guard",
        &[
            PHASE,
            "active_workflow.git_branch.name",
            "active_workflow.git_branch.status",
            "active_workflow.phases",
        ],
    ),
    ("explore-readonly-enforcer", &["chat_explore_active"]),
    (
        "state-write-validator",
        &[
            "state_version",
            "active_workflow.current_phase_index",
            "active_workflow.phase_status",
        ],
    ),
    (
        "walkthrough-tracker",
        &["discovery_context.walkthrough_completed"],
    ),
    ("phase-transition-enforcer", &[PHASE]),
    ("menu-halt-enforcer", &[PHASE]),
    ("menu-tracker", &[PHASE]),
    ("test-watcher", &[PHASE, TESTS]),
    (
        "review-reminder",
        &["code_review.enabled", "code_review.team_size"],
    ),
    (
        "atdd-completeness-validator",
        &[
            "active_workflow.options.atdd_mode",
            "active_workflow.atdd_mode",
        ],
    ),
    (
        "delegation-gate",
        &["pending_delegation", "active_workflow.current_phase_index"],
    ),
];

const PHASE: &str = "PHASE";
const NAMES_OF_PHASE: [&str; 2] = ["active_workflow.current_phase", "current_phase"];
const TESTS: &str = "phases.{}.iteration_requirements.test_iteration";
const VALIDATION: &str = "phases.{}.constitutional_validation";

/// The fields that a guard looks at, and what they say in this state; nothing for one that is not
/// set.
pub(crate) fn guard_inputs(guard: &str, state: &Document) -> Vec<(String, Option<Value>)> {
    let phase = state
        .str(&["active_workflow", "current_phase"])
        .or_else(|| state.str(&["current_phase"]))
        .unwrap_or("?");
    let row = INPUTS.iter().find(|(name, _)| *name == guard);
    let fields = row.map_or(&[][..], |(_, fields)| fields).iter();
    let fields = fields.flat_map(|field| match *field {
        PHASE => NAMES_OF_PHASE.to_vec(),
        field => vec![field],
    });
    fields
        .map(|field| {
            let keys = field.split('.');
            let keys: Vec<&str> = keys
                .map(|key| if key == "{}" { phase } else { key })
                .collect();
            (keys.join("."), state.get(&keys).cloned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::INPUTS;
    use tollgate_core::guard::Guard;

    #[test]
    fn only_guards_that_exist_look_at_something() {
        for (name, _) in INPUTS {
            assert!(Guard::named(name).is_some(), "{name}");
        }
    }
}

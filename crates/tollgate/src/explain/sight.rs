//! What each guard looks at in the state, so that an explanation can show the values.

use serde_json::Value;
use tollgate_core::state::document::Document;

/// A field and what it says; nothing if it is not set.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) value: Option<Value>,
}

const PHASE: &[&str] = &["active_workflow.current_phase", "current_phase"];

/// Guard and fields. `{}` is the current phase.
const LOOKS: &[(&str, &[&str])] = &[
    (
        "phase-timeout",
        &[
            "phases.{}.started_at",
            "phases.{}.timing.started_at",
            "phases.{}.started",
        ],
    ),
    (
        "iteration-corridor",
        &[
            "phases.{}.iteration_requirements.test_iteration",
            "phases.{}.constitutional_validation",
            "iteration_enforcement",
        ],
    ),
    ("phase-sequence-guard", &[]),
    (
        "phase-loop-controller",
        &["phases.{}.status", "active_workflow.phase_status.{}"],
    ),
    ("plan-surfacer", &[]),
    (
        "gate-blocker",
        &[
            "active_workflow.current_phase_index",
            "active_workflow.phases",
            "active_workflow.status",
            "active_workflow.supervised_review",
            "phases.{}.iteration_requirements",
            "phases.{}.constitutional_validation",
            "iteration_enforcement",
        ],
    ),
    (
        "constitution-validator",
        &[
            "phases.{}.constitutional_validation",
            "iteration_enforcement",
        ],
    ),
    (
        "constitutional-iteration-validator",
        &[
            "phases.{}.constitutional_validation",
            "iteration_enforcement",
        ],
    ),
    (
        "test-adequacy-blocker",
        &["discovery_context.coverage_summary"],
    ),
    (
        "blast-radius-validator",
        &[
            "active_workflow.type",
            "active_workflow.artifact_folder",
            "active_workflow.git_branch.created_from",
        ],
    ),
    (
        "branch-guard",
        &[
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
    (
        "test-watcher",
        &["phases.{}.iteration_requirements.test_iteration"],
    ),
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

/// The guards that ask for the phase the workflow is in.
const IN_A_PHASE: &[&str] = &[
    "phase-timeout",
    "iteration-corridor",
    "phase-sequence-guard",
    "phase-loop-controller",
    "plan-surfacer",
    "gate-blocker",
    "constitution-validator",
    "constitutional-iteration-validator",
    "test-adequacy-blocker",
    "blast-radius-validator",
    "branch-guard",
    "phase-transition-enforcer",
    "menu-halt-enforcer",
    "menu-tracker",
    "test-watcher",
];

/// What a guard looks at, with the values in this state.
pub(crate) fn looks_at(guard: &str, state: &Document) -> Vec<Seen> {
    let phase = state
        .str(&["active_workflow", "current_phase"])
        .or_else(|| state.str(&["current_phase"]))
        .unwrap_or("?");
    let row = LOOKS.iter().find(|(name, _)| *name == guard);
    let general = if IN_A_PHASE.contains(&guard) {
        PHASE
    } else {
        &[]
    };
    let fields = general
        .iter()
        .chain(row.map_or(&[][..], |(_, fields)| fields));
    fields
        .map(|field| {
            let keys: Vec<&str> = field
                .split('.')
                .map(|key| if key == "{}" { phase } else { key })
                .collect();
            Seen {
                path: keys.join("."),
                value: state.get(&keys).cloned(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{IN_A_PHASE, LOOKS};
    use tollgate_core::guard::Guard;

    #[test]
    fn only_guards_that_exist_look_at_something() {
        let named = LOOKS.iter().map(|(name, _)| name).chain(IN_A_PHASE);
        for name in named {
            assert!(Guard::named(name).is_some(), "{name}");
        }
    }
}

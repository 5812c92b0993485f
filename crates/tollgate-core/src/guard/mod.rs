//! The guards: one row each in a table, one file each beside this one.
//!
//! A guard is a pure function from a [`Scene`] to an [`Opinion`]. The table says when it runs;
//! `--guard`, the documentation and the tests are made from the same rows.

mod advance;
mod atdd_completeness_validator;
mod blast_radius_validator;
mod branch_guard;
mod constitution_validator;
mod constitutional_iteration_validator;
mod delegation_gate;
mod discover_menu_guard;
mod escalation;
mod explore_readonly_enforcer;
mod gate_blocker;
mod iteration_corridor;
mod log_skill_usage;
mod menu_halt_enforcer;
mod menu_tracker;
mod output_format_validator;
mod overrides;
mod phase_loop_controller;
mod phase_sequence_guard;
mod phase_timeout;
mod phase_transition_enforcer;
mod plan_surfacer;
mod record;
mod remedies;
mod review_reminder;
mod self_heal;
mod skill_delegation_enforcer;
mod skill_validator;
mod state_file_guard;
mod state_write_validator;
mod test_adequacy_blocker;
mod test_watcher;
mod walkthrough_tracker;
mod workflow_completion_enforcer;

use std::fmt;

pub use branch_guard::{Closed, closed, closes};
pub use overrides::{Override, blocking, override_of};
pub use remedies::remedy;

use crate::protocol::{Event, EventKind, ToolCall};
use crate::scene::Scene;
use crate::verdict::{Opinion, Outcome, Report};

/// One guard.
#[derive(Debug)]
pub struct Guard {
    /// Its name in the specification, and after `--guard`.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// When it runs.
    pub on: &'static [(EventKind, Class)],
    /// The codes of its findings, with what each means.
    pub codes: &'static [(&'static str, &'static str)],
    check: fn(&Scene<'_>) -> Opinion,
}

/// What a tool call is, as far as the table of guards cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// a shell command
    Shell,
    /// a change of a file, in whole or in part
    File,
    /// work for a sub-agent
    Delegate,
    /// a skill
    Skill,
    /// another tool, or no tool
    Other,
}

/// Every guard, in the order in which an event meets them.
///
/// The sequence guard goes before the loop controller: to an agent that delegates to the wrong
/// phase, "mark that phase as in progress" would be the wrong advice.
pub static GUARDS: &[Guard] = &[
    phase_timeout::GUARD,
    iteration_corridor::GUARD,
    skill_validator::GUARD,
    phase_sequence_guard::GUARD,
    phase_loop_controller::GUARD,
    plan_surfacer::GUARD,
    gate_blocker::GUARD,
    constitution_validator::GUARD,
    constitutional_iteration_validator::GUARD,
    test_adequacy_blocker::GUARD,
    blast_radius_validator::GUARD,
    branch_guard::GUARD,
    state_file_guard::GUARD,
    explore_readonly_enforcer::GUARD,
    state_write_validator::GUARD,
    log_skill_usage::GUARD,
    menu_tracker::GUARD,
    walkthrough_tracker::GUARD,
    discover_menu_guard::GUARD,
    phase_transition_enforcer::GUARD,
    menu_halt_enforcer::GUARD,
    skill_delegation_enforcer::GUARD,
    test_watcher::GUARD,
    review_reminder::GUARD,
    atdd_completeness_validator::GUARD,
    output_format_validator::GUARD,
    workflow_completion_enforcer::GUARD,
    delegation_gate::GUARD,
];

/// Asks the guards in their order; the first block ends it, warnings add up.
pub fn judge<'g>(scene: &Scene<'_>, guards: impl IntoIterator<Item = &'g Guard>) -> Outcome {
    judge_lifting(scene, guards, |_| None)
}

/// The same, where a block may be lifted: `lift` is asked only about a block, and the warning it
/// gives takes the block's place. The guards behind it are still asked.
pub fn judge_lifting<'g>(
    scene: &Scene<'_>,
    guards: impl IntoIterator<Item = &'g Guard>,
    mut lift: impl FnMut(&Report) -> Option<Report>,
) -> Outcome {
    let mut outcome = Outcome::default();
    for guard in guards {
        if outcome.add(guard.name, guard.check(scene)) {
            let Some(warning) = outcome.block.as_ref().and_then(&mut lift) else {
                break;
            };
            outcome.block = None;
            outcome.warnings.push(warning);
        }
    }
    outcome
}

impl Guard {
    /// The guard of this name. The file names of the original (`branch-guard.cjs`) work too, so
    /// that old registrations need only another program.
    pub fn named(name: &str) -> Option<&'static Self> {
        let name = name.strip_suffix(".cjs").unwrap_or(name);
        GUARDS.iter().find(|guard| guard.name == name)
    }

    /// The kind of event that the guard looks at, if it is asked only once something is over.
    pub fn only_afterwards(&self) -> Option<EventKind> {
        let first = self.on.first()?.0;
        let over = |kind: &EventKind| {
            matches!(
                kind,
                EventKind::PostTool | EventKind::PostToolFailure | EventKind::Stop
            )
        };
        self.on.iter().all(|(kind, _)| over(kind)).then_some(first)
    }

    /// Whether the guard looks at such an event.
    pub fn watches(&self, event: &Event<'_>) -> bool {
        let class = Class::of(event);
        self.on
            .iter()
            .any(|(kind, tool)| *kind == event.kind && *tool == class)
    }

    /// The guard's opinion; an event it does not watch is allowed.
    pub fn check(&self, scene: &Scene<'_>) -> Opinion {
        if self.watches(scene.event) {
            (self.check)(scene)
        } else {
            Opinion::allow()
        }
    }
}

impl Class {
    /// The class of an event's tool call.
    pub fn of(event: &Event<'_>) -> Self {
        match event.tool.as_ref().map(|tool| &tool.call) {
            Some(ToolCall::Shell { .. }) => Self::Shell,
            Some(
                ToolCall::Write { .. }
                | ToolCall::Edit { .. }
                | ToolCall::Patch { .. }
                | ToolCall::Delete { .. }
                | ToolCall::Notebook { .. },
            ) => Self::File,
            Some(ToolCall::Delegate { .. }) => Self::Delegate,
            Some(ToolCall::Skill { .. }) => Self::Skill,
            Some(ToolCall::Other) | None => Self::Other,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shell => "Bash",
            Self::File => "Write, Edit",
            Self::Delegate => "Task",
            Self::Skill => "Skill",
            Self::Other => "*",
        })
    }
}

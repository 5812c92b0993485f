//! The guards: one row each in a table, one file each beside this one.
//!
//! A guard is a pure function from an [`EventContext`] to a [`Decision`]. Its row says when it runs, what it can
//! say and what helps then, who may lift it, and an event that it must react to; `--guard`, `explain`,
//! `allow`, the self-test, the documentation and the tests are made from the same rows. To add a
//! guard, add a file and its row.

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
pub mod fields;
mod gate_blocker;
mod in_order;
mod iteration_corridor;
mod log_skill_usage;
mod menu_halt_enforcer;
mod menu_tracker;
mod output_format_validator;
mod person_guard;
mod phase_loop_controller;
mod phase_sequence_guard;
mod phase_timeout;
mod phase_transition_enforcer;
mod phase_writes;
mod plan_surfacer;
mod record;
mod review_reminder;
mod row;
mod sample;
mod self_heal;
mod skill_delegation_enforcer;
mod skill_validator;
mod state_file_guard;
mod state_write_validator;
mod test_adequacy_blocker;
mod test_watcher;
mod validation;
mod walkthrough_tracker;
mod workflow_completion_enforcer;

pub use branch_guard::{Closed, Main, closes, main_branch};
pub use person_guard::{PHASE_SKIP, PersonsCommand, WORKFLOW_CANCEL, given_up};
pub use row::{Class, Guard};
pub use sample::{Must, NOW as SAMPLE_NOW, Sample};

use crate::context::EventContext;
use crate::decision::{Code, Decision, Finding};
use crate::integrity;
use crate::protocol::{EventKind, ToolCall};
use crate::undecided;

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
    person_guard::GUARD,
    state_file_guard::GUARD,
    explore_readonly_enforcer::GUARD,
    phase_writes::GUARD,
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

/// Asks the guards in their order. The first block is the answer, and those behind it only add to
/// its next step; warnings add up.
pub fn judge<'g>(
    context: &EventContext<'_>,
    guards: impl IntoIterator<Item = &'g Guard>,
) -> Decision {
    judge_lifting(context, guards, |_| None)
}

/// The same, where a block may be lifted: `lift` is asked only about a block, and the warning it
/// gives takes the block's place. One that a person lifts in the chat becomes a question where the
/// agent holds to it. The guards behind it are still asked.
pub fn judge_lifting<'g>(
    context: &EventContext<'_>,
    guards: impl IntoIterator<Item = &'g Guard>,
    mut lift: impl FnMut(&Finding) -> Option<Finding>,
) -> Decision {
    let mut decision = Decision::allow();
    let mut guards = guards.into_iter();
    for guard in guards.by_ref() {
        decision.add(guard.check(context));
        if let Some(block) = &decision.block {
            let lifted = match lift(block) {
                Some(warning) => Decision::warn([warning]),
                None => match block.in_chat().filter(|_| context.asks_hold()) {
                    Some(question) => Decision {
                        ask: Some(question),
                        ..Decision::default()
                    },
                    None => break,
                },
            };
            decision.block = None;
            decision.add(lifted);
        }
    }
    // An agent that does what the block says must not meet the next one.
    let blocks = guards.filter_map(|guard| guard.check(context).block?.next);
    if let Some(block) = &mut decision.block {
        block.next = block
            .next
            .take()
            .map(|first| blocks.fold(first, crate::next::Next::and));
    }
    decision
}

/// Everything that guards, the watch over the state and the deadline can say.
pub fn codes() -> impl Iterator<Item = &'static Code> {
    let guards = GUARDS.iter().flat_map(|guard| guard.codes);
    guards.chain(integrity::CODES).chain(undecided::CODES)
}

/// The row of a code.
pub fn code(id: &str) -> Option<&'static Code> {
    codes().find(|code| code.id == id)
}

/// What to do about a finding.
pub fn remedy(id: &str) -> Option<&'static str> {
    code(id).map(|code| code.remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A guard whose word is "blocks" has a code that blocks, and one that only warns has none.
    #[test]
    fn guards_that_say_they_block_do() {
        for guard in GUARDS {
            let blocks = guard.codes.iter().any(|code| code.lifted_by.is_some());
            let says = guard.about.starts_with("blocks ");
            assert_eq!(blocks, says, "{}: {}", guard.name, guard.about);
        }
    }

    #[test]
    fn every_code_is_there_once() {
        let mut ids: Vec<_> = codes().map(|code| code.id).collect();
        ids.sort_unstable();
        let count = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }
}

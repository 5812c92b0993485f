//! Why an event was stopped, and the smallest change with which it would have passed.
//!
//! Every suggestion is tried with the guards. It is data ([`Change`]), it is made to a
//! copy of the project ([`sandbox`]), and the guards are asked again: what does not help is not
//! suggested, and of what helps together every part that is not needed is left out.

mod case;
mod change;
mod fixes;
mod guard_inputs;
mod sandbox;

pub(crate) use case::{Case, Judged, UNASKED, Unasked};
pub(crate) use change::Change;
pub(crate) use guard_inputs::guard_inputs;

use tollgate_core::decision::Finding;
use tollgate_core::guard::remedy;

/// How often one fix may uncover the next obstacle.
const ROUNDS: usize = 12;

/// What would have to be different.
#[derive(Debug, Default)]
pub(crate) struct Way {
    pub(crate) changes: Vec<Change>,
    /// How to get there, one line per obstacle: what its message says comes next, else what its code
    /// says in general.
    pub(crate) steps: Vec<String>,
    /// Whether the guards were asked again and let it pass.
    pub(crate) tried: bool,
}

/// What the event must get past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal<'a> {
    /// No guard blocks it.
    Unblocked,
    /// Nor does this guard warn.
    Without(&'a str),
}

/// What comes next at an obstacle, and what gets past it.
type Step = (Option<String>, Vec<Change>);

/// The smallest change that is known to help.
pub(crate) fn way_out(case: &Case, goal: Goal<'_>) -> Way {
    let mut done: Vec<Step> = Vec::new();
    let mut at = case.clone();
    for _ in 0..ROUNDS {
        let Ok(judged) = at.judge() else {
            break;
        };
        let Some((guard, finding)) = obstacle(&judged, goal) else {
            leave_out(case, goal, &mut done);
            return Way {
                tried: !done.is_empty(),
                steps: done.iter().filter_map(|(next, _)| next.clone()).collect(),
                changes: changes(&done),
            };
        };
        let Some((changes, changed)) = first_that_helps(&at, guard, finding) else {
            break;
        };
        at = changed;
        done.push((next_of(finding), changes));
    }
    Way::default()
}

/// What a finding says comes next; without a word of its own, what helps with its code.
pub(crate) fn next_of(finding: &Finding) -> Option<String> {
    let own = finding.next.as_ref().map(ToString::to_string);
    own.or_else(|| remedy(&finding.code).map(str::to_owned))
}

fn changes(steps: &[Step]) -> Vec<Change> {
    steps.iter().flat_map(|(_, all)| all.clone()).collect()
}

/// The first finding that stands in the way.
pub(crate) fn obstacle<'j>(
    judged: &'j Judged,
    goal: Goal<'_>,
) -> Option<(&'static str, &'j Finding)> {
    judged.answers.iter().find_map(|(guard, said)| {
        let warns = || {
            said.warnings
                .first()
                .filter(|_| goal == Goal::Without(guard))
        };
        let stops = said.block.as_ref().or(said.ask.as_ref());
        Some((*guard, stops.or_else(warns)?))
    })
}

/// The first fix with which this guard does not say this any more.
fn first_that_helps(case: &Case, guard: &str, finding: &Finding) -> Option<(Vec<Change>, Case)> {
    fixes::of(case, finding).into_iter().find_map(|changes| {
        let changed = case.with(&changes)?;
        let judged = changed.judge().ok()?;
        let again = judged
            .findings(guard)
            .any(|found| found.code == finding.code && found.reason == finding.reason);
        (!again).then_some((changes, changed))
    })
}

/// Takes out what turned out not to be needed, step by step and then change by change.
fn leave_out(case: &Case, goal: Goal<'_>, done: &mut Vec<Step>) {
    let passes = |steps: &[Step]| {
        case.with(&changes(steps))
            .and_then(|case| case.judge().ok())
            .is_some_and(|judged| obstacle(&judged, goal).is_none())
    };
    for step in (0..done.len()).rev() {
        let mut fewer = done.clone();
        fewer.remove(step);
        if !fewer.is_empty() && passes(&fewer) {
            *done = fewer;
        }
    }
    for step in 0..done.len() {
        let count = done.get(step).map_or(0, |(_, changes)| changes.len());
        for change in (0..count).rev() {
            let mut fewer = done.clone();
            let Some((_, changes)) = fewer.get_mut(step) else {
                continue;
            };
            if changes.len() > 1 {
                changes.remove(change);
                if passes(&fewer) {
                    *done = fewer;
                }
            }
        }
    }
}

//! The delegation gate at a stop: a workflow command that is still owed to its orchestrator.

use tollgate_core::decision::{Decision, Fault, Finding};
use tollgate_core::project::Layout;
use tollgate_core::protocol::Event;

use crate::ledger::{Bound, Ledger, UNWRITTEN};

/// Under this name it is in the ledger.
const BY: &str = "delegation";

/// It blocks once per turn, as far as the ledger lets it. It does not depend on the work: what it wants
/// is done or not.
pub(super) fn decide(event: &Event<'_>, layout: &Layout, owed: Finding) -> Decision {
    let Some(mut ledger) = Ledger::at_stop(layout, event) else {
        return Decision::block(owed);
    };
    if ledger.turn().last_by(BY).is_some() {
        return Decision::warn([owed]);
    }
    let fault = format!("{}: {}", owed.code, owed.reason);
    let Err(bound) = ledger.block(BY, Some(&fault), &fault) else {
        return Decision::block(owed);
    };
    let released = format!("{} {bound}: released.", owed.text);
    let mut decision = Decision::warn([Finding {
        text: released,
        ..owed
    }]);
    if let Bound::Unwritten(_) = bound {
        let fault = Fault::new(UNWRITTEN, bound.to_string());
        decision.faults.push(fault);
    }
    decision
}

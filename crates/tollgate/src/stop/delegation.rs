//! The delegation gate at a stop: a workflow command that is still owed to its orchestrator.

use tollgate_core::decision::{Decision, Fault, Finding};
use tollgate_core::project::Layout;
use tollgate_core::protocol::Event;

use crate::ledger::Ledger;

/// Under this name it is in the ledger.
const BY: &str = "delegation";

/// It blocks as often as the ledger lets it. It does not depend on the work: what it wants is done or
/// not.
pub(super) fn decide(event: &Event<'_>, layout: &Layout, owed: Finding) -> Decision {
    let Some(mut ledger) = Ledger::at_stop(layout, event) else {
        return Decision::block(owed);
    };
    let fault = format!("{}: {}", owed.code, owed.reason);
    if ledger.block(BY, Some(&fault), &fault).is_err() {
        return Decision::warn([owed]);
    }
    let mut decision = Decision::block(owed);
    if let Err(error) = ledger.save() {
        let text = format!("the session's ledger cannot be written: {error}");
        decision.faults.push(Fault::new("ledger-unwritten", text));
    }
    decision
}

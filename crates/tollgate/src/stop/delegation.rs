//! The delegation gate at a stop: a workflow command that is still owed to its orchestrator.

use tollgate_core::decision::{Decision, Fault, Finding};
use tollgate_core::project::Layout;
use tollgate_core::protocol::Event;

use crate::ledger::Ledger;

/// Under this name it is in the ledger.
const BY: &str = "delegation";

/// It blocks if nobody else did, and as often as the ledger lets it. It does not depend on the
/// work: what it wants is done or not.
pub(super) fn decide(event: &Event<'_>, layout: &Layout, owed: Finding, outcome: &mut Decision) {
    if outcome.block.is_some() {
        return outcome.warnings.push(owed);
    }
    let Some(mut ledger) = Ledger::at_stop(layout, event) else {
        outcome.block = Some(owed);
        return;
    };
    let fault = format!("{}: {}", owed.code, owed.reason);
    if !ledger.block(BY, Some(&fault), &fault) {
        return outcome.warnings.push(owed);
    }
    if let Err(error) = ledger.save() {
        let text = format!("the session's ledger cannot be written: {error}");
        outcome.faults.push(Fault::new("ledger-unwritten", text));
    }
    outcome.block = Some(owed);
}

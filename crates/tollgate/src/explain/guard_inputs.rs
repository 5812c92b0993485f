//! Which fields of the state a guard reads, with their values.

use serde_json::Value;
use tollgate_core::guard::{Guard, fields::PHASE};
use tollgate_store::document::Document;

const NAMES_OF_PHASE: [&str; 2] = ["active_workflow.current_phase", "current_phase"];

/// The fields that a guard reads, and what they say in this state; nothing for one that is not
/// set.
pub(crate) fn guard_inputs(guard: &str, state: &Document) -> Vec<(String, Option<Value>)> {
    let phase = state
        .str(&["active_workflow", "current_phase"])
        .or_else(|| state.str(&["current_phase"]))
        .unwrap_or("?");
    let fields = Guard::named(guard)
        .map_or(&[][..], |guard| guard.reads)
        .iter();
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

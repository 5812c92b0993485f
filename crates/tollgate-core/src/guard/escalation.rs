//! What the orchestrator must bring before the person: `pending_escalations` of the state.

use jiff::SignedDuration;
use serde_json::json;

use crate::context::EventContext;
use crate::workflow::phases;
use crate::workflow::transition::MAX_ESCALATIONS;
use tollgate_store::edit::Edit;
use tollgate_store::json::Node;
use tollgate_store::redact::redact;
use tollgate_store::timestamp;

/// The same one again within this time is not news.
const REPEAT: SignedDuration = SignedDuration::from_secs(60);

/// A block that becomes an escalation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Escalation<'a> {
    /// What it is, for example `gate_blocked`.
    pub(super) kind: &'a str,
    pub(super) hook: &'a str,
    pub(super) phase: &'a str,
    pub(super) detail: &'a str,
}

impl Escalation<'_> {
    /// The change that puts it on the list; nothing if it is there since a moment ago.
    pub(super) fn raise(self, context: &EventContext<'_>) -> Option<Edit> {
        let listed = context.state()?.get("pending_escalations");
        let known = listed.and_then(Node::array).unwrap_or_default();
        if known.iter().any(|entry| self.repeats(*entry, context)) {
            return None;
        }
        let entry = json!({
            "type": self.kind,
            "hook": self.hook,
            "phase": self.phase,
            // It quotes what an agent said, and the state file is often committed.
            "detail": redact(self.detail),
            "timestamp": timestamp::iso(context.now()),
        });
        let path = &["pending_escalations"];
        let is_list = listed.is_none_or(|node| node.is_null() || node.array().is_some());
        Some(if is_list {
            Edit::push_capped(path, entry, MAX_ESCALATIONS)
        } else {
            // What is there is not a list.
            Edit::set(path, json!([entry]))
        })
    }

    fn repeats(self, entry: Node<'_>, context: &EventContext<'_>) -> bool {
        let Some(entry) = entry.object() else {
            return false;
        };
        let same_phase = || {
            entry
                .str("phase")
                .is_some_and(|phase| phases::same(&phase, self.phase))
        };
        let recent = || {
            let at = entry.str("timestamp").and_then(|at| timestamp::parse(&at));
            // Both ways: a clock that was set back must not silence it forever.
            at.is_some_and(|at| context.now().duration_since(at).abs() < REPEAT)
        };
        entry.is("type", self.kind) && entry.is("hook", self.hook) && same_phase() && recent()
    }
}

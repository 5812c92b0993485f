//! What is asked when an agent wants to stop, in order: the plan loop. (The gates and the
//! delegation gate join it here.)

use std::path::Path;

use jiff::Timestamp;
use tollgate_core::env::Env;
use tollgate_core::json::Node;
use tollgate_core::project::Layout;
use tollgate_core::protocol::{Event, EventKind, Wire};
use tollgate_core::verdict::{Fault, Outcome};

/// Decides a stop; other events are not looked at.
pub(crate) fn decide(
    event: &Event<'_>,
    layout: &Layout,
    env: &Env,
    now: Timestamp,
    outcome: &mut Outcome,
) {
    if event.kind == EventKind::Stop && is_gated(event) && layout.plans_home().is_dir() {
        crate::plan::drive::stop(event, layout, env, now, outcome);
    }
}

/// A stop that only asks the person something, waits for tasks in the background, or ends
/// planning, is not gated.
fn is_gated(event: &Event<'_>) -> bool {
    let last = event.last_message.and_then(Node::str);
    let asks = last.is_some_and(|text| text.trim_end().ends_with('?'));
    let plans = event.permission_mode.as_deref() == Some("plan");
    !(asks || plans || event.background_tasks > 0)
}

/// What is said about a stop outside of any project. Specification 002 wants to hear of a
/// directory that does not exist.
pub(crate) fn nowhere(event: &Event<'_>) -> Outcome {
    let mut outcome = Outcome::default();
    if let (Wire::Taskie, Some(cwd)) = (event.wire, &event.cwd)
        && !Path::new(cwd.as_ref()).is_dir()
    {
        let text = format!("Cannot change to project directory: {cwd}");
        outcome.faults.push(Fault::new("cwd-missing", text));
    }
    outcome
}

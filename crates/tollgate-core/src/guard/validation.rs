//! How a phase's work is checked against the constitution (in Tollgate's own words the project's
//! principles), and where the agent records it: the one record that the agent makes itself.

use serde_json::json;

use super::EventContext;
use crate::next::{Next, Step};
use crate::workflow::evidence::{self, CONSTITUTION};
use tollgate_store::json::Node;

/// The way to a finished validation of the phase. One that was escalated is a person's to decide.
pub(super) fn next(
    context: &EventContext<'_>,
    code: &str,
    phase: &str,
    articles: &[String],
) -> Next {
    let state = context.state();
    let entry = state
        .and_then(|state| state.phase(phase))
        .unwrap_or_default();
    let record = entry.object(CONSTITUTION).unwrap_or_default();
    if evidence::is_escalated(&record) && !evidence::is_approved(&record) {
        return Next::allow(code);
    }
    let used = record
        .get("iterations_used")
        .and_then(Node::u64)
        .unwrap_or(0);
    let (checked, listed) = if articles.is_empty() {
        (vec!["all".to_owned()], String::new())
    } else {
        (articles.to_vec(), format!(" ({})", articles.join(", ")))
    };
    let work = context.words(
        format!("check the work of the phase against the constitution{listed}"),
        format!("check the work of the phase against the project's principles{listed}"),
    );
    let value = json!({
        "completed": true,
        "status": "compliant",
        "iterations_used": used.saturating_add(1),
        "articles_checked": checked,
    });
    let key = state.map_or(phase, |state| state.phase_key(phase));
    Next::retry([
        Step::Work(work),
        Step::Set {
            field: format!("phases.{key}.{CONSTITUTION}"),
            value: value.to_string(),
            file: context.shown_state_file(),
        },
    ])
}

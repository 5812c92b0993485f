//! What is asked when an agent wants to stop, in order: the plan loop, the gates, the delegation
//! gate. The first that blocks ends it, and whatever else there is to say is reported. Nobody
//! blocks without asking the [`Ledger`], and all of them share one deadline.

use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tollgate_core::env::Env;
use tollgate_core::project::Layout;
use tollgate_core::protocol::{self, Event, EventKind, Wire};
use tollgate_core::verdict::{Fault, Finding, Outcome, Report};

use crate::gate::Status;
use crate::gate::stop::{self, Answer, Deadline};
use crate::ledger::Ledger;

/// Registrations that Tollgate writes give a stop 900 s; it answers before that.
const PATIENCE: Duration = Duration::from_secs(870);

/// The name that reports carry.
const GATES: &str = "gates";

/// Under this name the delegation gate is in the ledger.
const DELEGATION: &str = "delegation";

/// Decides a stop, and notes at a session's start what its gates are. The outcome has what the
/// guards said; the delegation gate is the one among them that blocks stops. `is_whole` unless the
/// registration is for one guard alone. Gives the gates' own words, if they were asked.
pub(crate) fn decide(
    event: &Event<'_>,
    layout: &Layout,
    env: &Env,
    now: Timestamp,
    is_whole: bool,
    outcome: &mut Outcome,
) -> Option<protocol::Answer> {
    let owed = outcome.block.take_if(|_| event.kind == EventKind::Stop);
    let answer = if is_whole {
        journey(event, layout, env, now, outcome)
    } else {
        None
    };
    let own_words = answer.as_ref().map(Answer::in_its_own_words);
    if let Some(answer) = answer {
        add(answer, outcome);
    }
    if let Some(owed) = owed.filter(|_| is_gated(event)) {
        delegate(event, layout, owed, outcome);
    }
    own_words
}

/// The plan loop, then the gates.
fn journey(
    event: &Event<'_>,
    layout: &Layout,
    env: &Env,
    now: Timestamp,
    outcome: &mut Outcome,
) -> Option<Answer> {
    match event.kind {
        EventKind::SessionStart if !layout.gates_config().is_file() => None,
        EventKind::SessionStart => {
            if let Some(session) = &event.session {
                stop::meet(layout, env, session);
            }
            None
        }
        EventKind::Stop if !is_gated(event) => None,
        EventKind::Stop => {
            let begun = Instant::now();
            if layout.plans_home().is_dir() {
                crate::plan::drive::stop(event, layout, env, now, outcome);
            }
            // Work that a reviewer wants changed is not checked yet.
            let is_free = outcome.block.is_none();
            is_free.then(|| {
                // The host's patience is one, whoever used it up.
                let deadline = Deadline {
                    begun,
                    patience: PATIENCE,
                };
                stop::decide(layout, env, event, deadline, &|_| ())
            })
        }
        EventKind::PreTool
        | EventKind::PostTool
        | EventKind::PostToolFailure
        | EventKind::Prompt
        | EventKind::SubagentStop
        | EventKind::SessionEnd
        | EventKind::Other => None,
    }
}

/// The delegation gate blocks if nobody else did, and as often as the ledger lets it. It has no
/// look at the work: what it wants is done or not.
fn delegate(event: &Event<'_>, layout: &Layout, owed: Report, outcome: &mut Outcome) {
    if outcome.block.is_some() {
        return outcome.warnings.push(owed);
    }
    let Some(mut ledger) = Ledger::at_stop(layout, event) else {
        outcome.block = Some(owed);
        return;
    };
    let fault = format!("{}: {}", owed.finding.code, owed.finding.reason);
    if !ledger.block(DELEGATION, &fault, &fault) {
        return outcome.warnings.push(owed);
    }
    if let Err(error) = ledger.save() {
        let text = format!("the session's ledger cannot be written: {error}");
        outcome.faults.push(Fault::new("ledger-unwritten", text));
    }
    outcome.block = Some(owed);
}

/// A stop that only asks the person something, waits for tasks in the background, or ends
/// planning, is not gated.
fn is_gated(event: &Event<'_>) -> bool {
    let last = event.last_message.and_then(tollgate_core::json::Node::str);
    let asks = last.is_some_and(|text| text.trim_end().ends_with('?'));
    let plans = event.permission_mode.as_deref() == Some("plan");
    !(asks || plans || event.background_tasks > 0)
}

/// Adds an answer to what else was decided.
fn add(answer: Answer, outcome: &mut Outcome) {
    let Answer {
        status,
        message,
        reason,
        is_news,
        notes,
    } = answer;
    if let Some(reason) = reason {
        outcome.block = Some(Report {
            guard: GATES,
            finding: Finding::new("GATE-FAILED", reason, message),
        });
    } else if status == Status::Error {
        outcome.faults.push(Fault::new("gates-not-run", message));
    } else if is_news {
        outcome.warnings.push(Report {
            guard: GATES,
            finding: Finding::new("GATE-NOTICE", message.clone(), message),
        });
    }
    let notes = notes
        .into_iter()
        .map(|note| Fault::new("gates-configuration", note));
    outcome.faults.extend(notes);
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

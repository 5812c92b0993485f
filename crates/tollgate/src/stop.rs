//! What is asked when an agent wants to stop, in order: the plan loop, then the gates. (The
//! delegation gate joins them here.)

use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tollgate_core::env::Env;
use tollgate_core::project::Layout;
use tollgate_core::protocol::{Event, EventKind, Wire};
use tollgate_core::verdict::{Fault, Finding, Outcome, Report};

use crate::gate::Status;
use crate::gate::stop::{self, Answer, Deadline};
use crate::overrides::Overrides;
use crate::plan::drive::{self, Asked};
use crate::trust::{self, Registration};

/// Registrations that Tollgate writes give a stop 900 s; it answers before that.
const DEADLINE: Duration = Duration::from_secs(870);

/// The name that reports carry.
const GATES: &str = "gates";

/// The code of gates that block.
const FAILED: &str = "GATE-FAILED";

/// Decides a stop, and notes at a session's start what its gates are. What the plan has to say is
/// in the outcome; the gates' answer, if they were asked, is given back.
pub(crate) fn decide(
    event: &Event<'_>,
    layout: &Layout,
    env: &Env,
    now: Timestamp,
    outcome: &mut Outcome,
    registration: Registration,
) -> Option<Answer> {
    match event.kind {
        EventKind::SessionStart if !layout.gates_config().is_file() => None,
        EventKind::SessionStart => {
            if let Some(session) = &event.session {
                stop::meet(layout, env, session);
            }
            None
        }
        EventKind::Stop => {
            let begun = Instant::now();
            let has_plans = layout.plans_home().is_dir();
            if !is_gated(event) {
                if has_plans {
                    drive::stop(event, layout, env, now, Asked::Ungated, outcome);
                }
                return None;
            }
            let consent = registration.consent(layout, env);
            if has_plans {
                let asked = Asked::Gated(consent.as_ref());
                drive::stop(event, layout, env, now, asked, outcome);
            }
            let overrides = Overrides { layout, env, now };
            if let Some(block) = &outcome.block
                && let Some(warning) = overrides.lift(event, block, &mut outcome.faults)
            {
                outcome.block = None;
                outcome.warnings.push(warning);
            }
            // Work that a reviewer wants changed is not checked yet.
            let is_free = outcome.block.is_none();
            // The host's patience is one, whoever used it up.
            let left = Deadline(DEADLINE.saturating_sub(begun.elapsed()));
            match consent {
                Ok(consent) if is_free => {
                    let mut answer = stop::decide(layout, env, event, left, &consent);
                    if answer.reason.is_some()
                        && let Some(allowed) = overrides.allowed(event, FAILED, &mut outcome.faults)
                    {
                        answer.allow(&allowed.words());
                    }
                    Some(answer)
                }
                Err(untrusted) if is_free && untrusted.has_gates => Some(untrusted.answer()),
                Ok(_) | Err(_) => None,
            }
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

/// A stop that only asks the person something, waits for tasks in the background, or ends
/// planning, is not gated.
fn is_gated(event: &Event<'_>) -> bool {
    let last = event.last_message.and_then(tollgate_core::json::Node::str);
    let asks = last.is_some_and(|text| text.trim_end().ends_with('?'));
    let plans = event.permission_mode.as_deref() == Some("plan");
    !(asks || plans || event.background_tasks > 0)
}

/// Adds an answer to what else was decided.
pub(crate) fn add(answer: Answer, outcome: &mut Outcome) {
    let Answer {
        status,
        message,
        reason,
        is_news,
        notes,
        is_untrusted,
    } = answer;
    if let Some(reason) = reason {
        outcome.block = Some(Report {
            guard: GATES,
            finding: Finding::new(FAILED, reason, message),
        });
    } else if is_untrusted {
        let finding = Finding::new(trust::CODE, message.clone(), message);
        let report = Report {
            guard: trust::NAME,
            finding,
        };
        // The plan's reviewer may have said it before.
        if !outcome.warnings.contains(&report) {
            outcome.warnings.push(report);
        }
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

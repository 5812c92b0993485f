//! What is asked when an agent wants to stop, in order: the plan loop, the gates, the delegation
//! gate. The first that blocks ends it, and whatever else there is to say is reported. Nobody
//! blocks without asking the [`crate::ledger`], and all of them share one deadline.

mod delegation;
pub(crate) mod gates;
mod reason;

use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tollgate_core::decision::{Decision, Fault, Finding};
use tollgate_core::env::Env;
use tollgate_core::project::Layout;
use tollgate_core::protocol::{self, Event, EventKind, Protocol};
use tollgate_core::record::Record;

use crate::gate::Status;
use crate::overrides::Overrides;
use crate::plan::drive::{self, Asked};
use crate::project_commands;
use crate::trust::{self, Consent, Registration};
use gates::{Deadline, GatesAnswer};

/// Registrations that Tollgate writes give a stop 900 s; it answers before that.
pub(crate) const PATIENCE: Duration = Duration::from_secs(870);

/// The name that reports carry.
const GATES: &str = "gates";

/// The code of gates that block.
const FAILED: &str = "GATE-FAILED";

/// How a block begins if the agent's last message is a question.
const ASK_AGAIN: &str = "If you need an answer, ask again without changing anything; you will be let through as not verified.";

/// Decides a stop, and notes at a session's start what its gates are. The outcome has what the
/// guards said; the delegation gate is the one among them that blocks stops. `whole` unless the
/// registration is for one guard alone. Gives the gates' own words, if they were asked.
pub(crate) fn decide(
    event: &Event<'_>,
    layout: &Layout,
    env: &Env,
    now: Timestamp,
    whole: Option<Registration>,
    outcome: &mut Decision,
) -> Option<protocol::Answer> {
    let owed = outcome.block.take_if(|_| event.kind == EventKind::Stop);
    let answer =
        whole.and_then(|registration| journey(event, layout, env, now, outcome, registration));
    let own_words = answer.as_ref().map(GatesAnswer::in_its_own_words);
    if let Some(answer) = answer {
        add(answer, outcome);
    }
    let is_free = outcome.block.is_none();
    if let Some(owed) = owed.filter(|_| ungated(event).is_none()) {
        delegation::decide(event, layout, owed, outcome);
    }
    // The text of the gates begins with it already.
    if let Some(block) = outcome.block.as_mut().filter(|block| block.guard != GATES) {
        block.text = for_a_question(event, std::mem::take(&mut block.text));
    }
    // Gates that hold do not speak for the delegation gate.
    own_words.filter(|_| !is_free || outcome.block.is_none())
}

/// The plan loop, then the gates.
fn journey(
    event: &Event<'_>,
    layout: &Layout,
    env: &Env,
    now: Timestamp,
    outcome: &mut Decision,
    registration: Registration,
) -> Option<GatesAnswer> {
    match event.kind {
        EventKind::SessionStart if !layout.gates_config().is_file() => None,
        EventKind::SessionStart => {
            if let Some(session) = &event.session {
                gates::meet(layout, env, event.protocol, session);
            }
            None
        }
        EventKind::Stop => {
            let begun = Instant::now();
            let has_plans = layout.plans_home().is_dir();
            if let Some(why) = ungated(event) {
                if has_plans {
                    drive::stop(event, layout, env, now, Asked::Ungated, outcome);
                }
                return gates::ungated(layout, env, why).filter(|answer| answer.is_news);
            }
            let consent = project_commands::consent(registration, layout, env);
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
            let deadline = Deadline {
                begun,
                patience: PATIENCE,
            };
            match consent {
                Ok(consent) if is_free => {
                    let faults = &mut outcome.faults;
                    Some(ask_gates(event, &overrides, deadline, &consent, faults))
                }
                Err(untrusted) if is_free && untrusted.has_gates => {
                    Some(GatesAnswer::untrusted(untrusted.line))
                }
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

/// What the gates say, and whether a person lets it pass.
fn ask_gates(
    event: &Event<'_>,
    overrides: &Overrides<'_>,
    deadline: Deadline,
    consent: &Consent,
    faults: &mut Vec<Fault>,
) -> GatesAnswer {
    let mut answer = gates::decide(overrides.layout, overrides.env, event, deadline, consent);
    if answer.reason.is_some()
        && let Some(allowed) = overrides.allowed(event, FAILED, faults)
    {
        answer.allow(&allowed.words());
    }
    answer.reason = answer.reason.map(|reason| for_a_question(event, reason));
    answer
}

/// The gates alone, as settings of the original ask for them. What they say is written down as
/// if `tollgate hook` had asked.
pub(crate) fn gates_alone(
    event: &Event<'_>,
    text: &str,
    layout: &Layout,
    env: &Env,
    deadline: Deadline,
) -> GatesAnswer {
    let now = Timestamp::now();
    let mut faults = Vec::new();
    let mut answer = if let Some(why) = ungated(event) {
        gates::ungated(layout, env, why).unwrap_or_else(|| GatesAnswer::plain(Status::NoConfig))
    } else {
        // The original's registration is in the project, and so covered by the agent's trust.
        match project_commands::consent(Registration::OneProject, layout, env) {
            Ok(consent) => {
                let overrides = Overrides { layout, env, now };
                ask_gates(event, &overrides, deadline, &consent, &mut faults)
            }
            Err(untrusted) => GatesAnswer::untrusted(untrusted.line),
        }
    };
    let mut outcome = Decision {
        faults,
        ..Decision::default()
    };
    add(answer.clone(), &mut outcome);
    if !outcome.is_silent() {
        Record::of(event)
            .within(env.trace.as_deref())
            .after(deadline.begun.elapsed())
            .about(text, None)
            .write(layout, &mut outcome, now);
    }
    for fault in outcome.faults {
        let text = fault.text.into_owned();
        if text != answer.message && !answer.notes.contains(&text) {
            answer.notes.push(text);
        }
    }
    answer
}

/// Why a stop is not gated, if it is not: the agent only plans, or its sub-agents still work.
fn ungated(event: &Event<'_>) -> Option<&'static str> {
    if event.permission_mode.as_deref() == Some("plan") {
        Some("the agent is in plan mode")
    } else if event.working_subagents > 0 {
        Some("sub-agents still work in the background")
    } else {
        None
    }
}

/// The text of a block. If the agent's last message is a question, it begins with how to get an
/// answer.
fn for_a_question(event: &Event<'_>, text: String) -> String {
    let last = event.last_message.and_then(tollgate_store::json::Node::str);
    if last.is_some_and(|last| last.trim_end().ends_with('?')) {
        format!("{ASK_AGAIN}\n\n{text}")
    } else {
        text
    }
}

/// Adds an answer to what else was decided.
fn add(answer: GatesAnswer, outcome: &mut Decision) {
    let GatesAnswer {
        status,
        message,
        reason,
        is_news,
        notes,
        is_untrusted,
    } = answer;
    if let Some(reason) = reason {
        outcome.block = Some(Finding::new(FAILED, reason, message).by(GATES));
    } else if is_untrusted {
        let finding = Finding::new(trust::CODE, message.clone(), message).by(trust::NAME);
        // The plan's reviewer may have said it before.
        if !outcome.warnings.contains(&finding) {
            outcome.warnings.push(finding);
        }
    } else if status == Status::Error {
        outcome.faults.push(Fault::new("gates-not-run", message));
    } else if is_news {
        let finding = Finding::new("GATE-NOTICE", message.clone(), message);
        outcome.warnings.push(finding.by(GATES));
    }
    let notes = notes
        .into_iter()
        .map(|note| Fault::new("gates-configuration", note));
    outcome.faults.extend(notes);
}

/// What is said about a stop outside of any project. Specification 002 wants to hear of a
/// directory that does not exist.
pub(crate) fn nowhere(event: &Event<'_>) -> Decision {
    let mut outcome = Decision::default();
    if let (Protocol::Taskie, Some(cwd)) = (event.protocol, &event.cwd)
        && !Path::new(cwd.as_ref()).is_dir()
    {
        let text = format!("Cannot change to project directory: {cwd}");
        outcome.faults.push(Fault::new("cwd-missing", text));
    }
    outcome
}

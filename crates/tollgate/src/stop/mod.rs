//! What is asked when an agent wants to stop, in order: the plan loop, the gates, the delegation
//! gate. The first that blocks ends it, and whatever else there is to say is reported. Nothing
//! blocks without asking the [`crate::ledger`]. Plan reviews and gates share one deadline.

mod delegation;
pub(crate) mod gates;
mod plan;
mod reason;

use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tollgate_core::decision::{Decision, Fault};
use tollgate_core::env::Env;
use tollgate_core::project::Layout;
use tollgate_core::protocol::{Event, EventKind, Protocol};
use tollgate_core::record::Record;

use crate::gate::Status;
use crate::git_guard::turns;
use crate::ledger::writes;
use crate::overrides::Overrides;
use crate::project_commands;
use crate::trust::Registration;
use gates::Deadline;
use plan::Asked;

/// Registrations that Tollgate writes give a stop 900 s; it answers before that.
pub(crate) const PATIENCE: Duration = Duration::from_secs(870);

/// How a block begins if the agent's last message is a question.
const ASK_AGAIN: &str = "If you need an answer, ask again without changing anything; you will be let through as not verified.";

/// Decides a stop, and notes what the gates and their inputs are when a session or a turn begins. The decision has what the
/// guards said; the delegation gate is the one among them that blocks stops. `whole` unless the
/// registration is for one guard alone.
pub(crate) fn decide(
    event: &Event<'_>,
    layout: &Layout,
    env: &Env,
    now: Timestamp,
    whole: Option<Registration>,
    decision: &mut Decision,
) {
    match event.kind {
        EventKind::SessionStart | EventKind::Prompt => {
            if let Some(session) = event.session.as_ref().filter(|_| whole.is_some())
                && layout.gates_config().is_file()
            {
                // A prompt in the middle of a turn begins none: a command can forge the event.
                let is_prompt = event.kind == EventKind::Prompt
                    && turns::is_at_work(event, layout, now) != Some(true);
                gates::meet(layout, env, event.protocol, session, is_prompt);
            }
        }
        EventKind::Stop => {
            let owed = decision.block.take();
            if let Some(registration) = whole {
                let overrides = Overrides { layout, env, now };
                plan_and_gates(event, &overrides, registration, decision);
            }
            match owed.filter(|_| ungated(event).is_none()) {
                Some(owed) if decision.block.is_some() => decision.warnings.push(owed),
                Some(owed) => decision.add(delegation::decide(event, layout, owed)),
                None => {}
            }
            answer_a_question(event, decision);
        }
        EventKind::PostTool => writes::note(layout, event),
        EventKind::PreTool
        | EventKind::PostToolFailure
        | EventKind::SubagentStop
        | EventKind::SessionEnd
        | EventKind::ConfigChange
        | EventKind::Other => {}
    }
}

/// The plan loop, then the gates, unless the plan blocks: work that a reviewer wants changed is not
/// checked yet.
fn plan_and_gates(
    event: &Event<'_>,
    overrides: &Overrides<'_>,
    registration: Registration,
    decision: &mut Decision,
) {
    // The agent has one limit for the stop, whoever uses it up.
    let deadline = Deadline {
        begun: Instant::now(),
        patience: PATIENCE,
    };
    let Overrides { layout, env, now } = *overrides;
    if let Some(why) = ungated(event).or_else(|| unconfirmed(env)) {
        decision.add(plan::decide(
            event,
            layout,
            env,
            now,
            (Asked::Ungated, deadline),
        ));
        decision.add(gates::ungated(layout, env, why));
        return;
    }
    let consent = project_commands::consent(registration, layout, env);
    let asked = Asked::Gated(consent.as_ref());
    decision.add(plan::decide(event, layout, env, now, (asked, deadline)));
    if let Some(block) = decision.block.take() {
        match overrides.lift(event, &block, &mut decision.faults) {
            Some(warning) => decision.warnings.push(warning),
            None => decision.block = Some(block),
        }
    }
    if decision.block.is_some() {
        return;
    }
    let said = match consent {
        Ok(consent) => gates::decide(overrides, event, deadline, &consent),
        Err(untrusted) if untrusted.has_gates => gates::untrusted(untrusted.line),
        Err(_) => return,
    };
    // The plan's reviewer may have said before that the project is not trusted.
    let said = Decision {
        warnings: said
            .warnings
            .into_iter()
            .filter(|warning| !decision.warnings.contains(warning))
            .collect(),
        ..said
    };
    decision.add(said);
}

/// The gates alone, as settings of the original ask for them. What they say is written down as
/// if `tollgate hook` had asked.
pub(crate) fn gates_alone(
    event: &Event<'_>,
    text: &str,
    layout: &Layout,
    env: &Env,
    deadline: Deadline,
) -> Decision {
    let now = Timestamp::now();
    let mut decision = if let Some(why) = ungated(event) {
        gates::ungated(layout, env, why)
    } else {
        // The original's registration is in the project, and so covered by the agent's trust.
        match project_commands::consent(Registration::OneProject, layout, env) {
            Ok(consent) => {
                let overrides = Overrides { layout, env, now };
                gates::decide(&overrides, event, deadline, &consent)
            }
            Err(untrusted) => gates::untrusted(untrusted.line),
        }
    };
    answer_a_question(event, &mut decision);
    if !decision.is_silent() {
        Record::of(event)
            .within(env.trace.as_deref())
            .after(deadline.begun.elapsed())
            .about(text, None)
            .write(layout, &mut decision, now);
    }
    decision
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

/// Why nothing is started where the environment says that Tollgate started the agent and no Tollgate
/// confirms it: if it is so all the same, a review would review itself forever.
fn unconfirmed(env: &Env) -> Option<&'static str> {
    env.is_nested().then_some(
        "a variable says that Tollgate started the agent, and no running Tollgate confirms it",
    )
}

/// If the agent's last message is a question, a block begins with how to get an answer.
fn answer_a_question(event: &Event<'_>, decision: &mut Decision) {
    let last = event.last_message.and_then(tollgate_store::json::Node::str);
    if let Some(block) = &mut decision.block
        && last.is_some_and(|last| last.trim_end().ends_with('?'))
    {
        block.text = format!("{ASK_AGAIN}\n\n{}", block.text);
    }
}

/// What is said about a stop outside of any project. Specification 003 has an answer for every stop,
/// 002 wants to hear of a directory that does not exist.
pub(crate) fn nowhere(event: &Event<'_>) -> Decision {
    if event.protocol == Protocol::Gauntlet && event.kind == EventKind::Stop {
        return gates::plain(Status::NoConfig);
    }
    let mut outcome = Decision::default();
    if let (Protocol::Taskie, Some(cwd)) = (event.protocol, &event.cwd)
        && !Path::new(cwd.as_ref()).is_dir()
    {
        let text = format!("Cannot change to project directory: {cwd}");
        outcome.faults.push(Fault::new("cwd-missing", text));
    }
    outcome
}

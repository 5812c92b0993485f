//! What Tollgate asks of every agent: one table, from which each agent's file writes its own
//! shape. The README's sample is made from it, too.

use tollgate_core::protocol::EventKind;

/// One thing that an agent is asked to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Registration {
    /// What it tells.
    pub(crate) event: EventKind,
    /// Which tools it concerns, where the event is about one.
    pub(crate) matcher: Option<&'static str>,
    /// How long it waits for the answer. Tollgate's own deadlines are shorter.
    pub(crate) seconds: u32,
}

/// Everything that an agent should tell, in the order it is written down.
///
/// `PreToolUse` is where guards stop things. After a tool, test runs are recorded and changes of
/// the state found by whatever route they came. The start of a session remembers the state and
/// proves the guards alive. `Stop` runs plans and gates, which takes as long as they take.
pub(crate) const REGISTRATIONS: [Registration; 5] = [
    tool(EventKind::PreTool),
    tool(EventKind::PostTool),
    tool(EventKind::PostToolFailure),
    Registration {
        event: EventKind::SessionStart,
        matcher: None,
        seconds: 10,
    },
    Registration {
        event: EventKind::Stop,
        matcher: None,
        seconds: 900,
    },
];

const fn tool(event: EventKind) -> Registration {
    Registration {
        event,
        matcher: Some("*"),
        seconds: 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_core::protocol::Protocol;

    /// The last rows of the measured matrix (agent-protocols 3.11): an agent that waited in vain
    /// runs the tool, so Tollgate answers before; one that was stopped too often in a row stops
    /// listening, so Tollgate lets go before.
    #[test]
    fn tollgate_answers_before_every_agents_timeout_and_lets_go_before_their_cap() {
        for registration in REGISTRATIONS {
            let ours = if registration.event == EventKind::Stop {
                crate::stop::PATIENCE
            } else {
                crate::stdin::PATIENCE + tollgate_store::lock::HOOK_PATIENCE
            };
            let theirs = std::time::Duration::from_secs(registration.seconds.into());
            assert!(ours < theirs, "{registration:?}");
        }
        // Codex and Gemini have no cap.
        let caps = [
            (Protocol::Claude, 8),
            (Protocol::Copilot, 8),
            (Protocol::Cursor, 5),
        ];
        for (wire, cap) in caps {
            assert!(wire.row().max_blocks <= cap, "{wire:?}");
        }
    }
}

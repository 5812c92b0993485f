//! The events that Tollgate is registered for: one table, from which each agent's file writes its own
//! shape. The sample in docs/install.md has the same content; a test compares them.

use tollgate_core::protocol::EventKind;

/// One event that an agent sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Registration {
    pub(crate) event: EventKind,
    /// Which tools it concerns, where the event is about one.
    pub(crate) matcher: Option<&'static str>,
    /// How long it waits for the answer. Tollgate's own deadlines are shorter.
    pub(crate) seconds: u32,
}

/// Every event, in the order it is written down.
///
/// `PreToolUse` is where guards stop things. After a tool, test runs are recorded and changes of
/// the state found by whatever route they came. The start of a session remembers the state and
/// proves the guards alive. `Stop` runs plans and gates, which takes as long as they take. The end
/// of a session ends a turn that had no stop, because a person interrupted it: the guard on git's
/// side goes aside. A change of the settings, where the agent tells it, can be refused: without it a
/// session would go on without any hook.
pub(crate) const REGISTRATIONS: [Registration; 7] = [
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
    Registration {
        event: EventKind::SessionEnd,
        matcher: None,
        // No agent waits longer than Codex lets it: 3 seconds.
        seconds: 3,
    },
    Registration {
        event: EventKind::ConfigChange,
        matcher: None,
        seconds: 10,
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
    use tollgate_store::lock::HOOK_PATIENCE;

    /// The last rows of the measured matrix (agent-protocols 3.11): an agent that waited in vain
    /// runs the tool, so Tollgate answers before; one that was stopped too often in a row stops
    /// listening, so Tollgate lets go before.
    #[test]
    fn tollgate_answers_before_every_agents_timeout_and_lets_go_before_their_cap() {
        for registration in REGISTRATIONS {
            let ours = if registration.event == EventKind::Stop {
                crate::stop::PATIENCE
            } else if registration.event == EventKind::SessionEnd {
                // Nothing is decided any more; the state and the git hook are locked in turn.
                2 * HOOK_PATIENCE
            } else {
                crate::stdin::PATIENCE + HOOK_PATIENCE
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
        for (protocol, cap) in caps {
            assert!(protocol.row().max_blocks <= cap, "{protocol:?}");
        }
    }
}

//! Registrations that Tollgate takes the place of: those of the three originals.

use tollgate_core::guard::Guard;

use super::command::CommandLine;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Original {
    /// `node …/.claude/hooks/branch-guard.cjs` and its like.
    Isdlc,
    /// `agent-gauntlet stop-hook`, however it is started.
    Gauntlet,
    /// `bash …/stop-hook.sh` of the Taskie plugin.
    Taskie,
}

impl Original {
    /// Whose registration a command is, if it is one's.
    pub(crate) fn of(command: &CommandLine) -> Option<Self> {
        let words = || std::iter::once(&command.program).chain(&command.args);
        if words().any(|word| is_isdlc(word)) {
            return Some(Self::Isdlc);
        }
        let gauntlet = |word: &String| {
            let name = word.rsplit('/').next().unwrap_or_default();
            let name = name.split('@').next().unwrap_or_default();
            name == "agent-gauntlet"
        };
        if words().any(gauntlet) {
            return Some(Self::Gauntlet);
        }
        let taskie = |word: &String| {
            let name = word.rsplit('/').next().unwrap_or_default();
            name == "validate-ground-rules.sh"
                || (name == "stop-hook.sh" && word.to_ascii_lowercase().contains("taskie"))
        };
        words().any(taskie).then_some(Self::Taskie)
    }

    /// What people call it.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Isdlc => "iSDLC",
            Self::Gauntlet => "Gauntlet",
            Self::Taskie => "Taskie",
        }
    }
}

/// A file of the original that nothing in Tollgate stands for: it was never switched on.
const ROUTER: &str = "model-provider-router";

/// The original's dispatchers: each ran all guards of one event.
const DISPATCHERS: &[(&str, &str)] = &[
    ("pre-task-dispatcher", "PreToolUse"),
    ("pre-skill-dispatcher", "PreToolUse"),
    ("post-task-dispatcher", "PostToolUse"),
    ("post-bash-dispatcher", "PostToolUse"),
    ("post-write-edit-dispatcher", "PostToolUse"),
];

/// The event that the original's dispatcher of this name ran the guards of.
pub(crate) fn dispatcher_event(name: &str) -> Option<&'static str> {
    let mut known = DISPATCHERS.iter().filter(|(known, _)| *known == name);
    known.next().map(|(_, event)| *event)
}

/// A hook file of the original, in its directory.
fn is_isdlc(word: &str) -> bool {
    let Some((directory, name)) = word.rsplit_once('/') else {
        return false;
    };
    let Some(stem) = name.strip_suffix(".cjs") else {
        return false;
    };
    directory.contains(".claude/hooks")
        && (Guard::named(stem).is_some() || dispatcher_event(stem).is_some() || stem == ROUTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_originals_registrations_are_recognised_and_others_are_not() {
        let of = |line: &str| CommandLine::in_shell(line).iter().find_map(Original::of);
        for (line, expected) in [
            (
                "node $CLAUDE_PROJECT_DIR/.claude/hooks/branch-guard.cjs",
                Some(Original::Isdlc),
            ),
            (
                "node \"$CLAUDE_PROJECT_DIR\"/.claude/hooks/dispatchers/pre-task-dispatcher.cjs",
                Some(Original::Isdlc),
            ),
            ("agent-gauntlet stop-hook", Some(Original::Gauntlet)),
            (
                "bunx agent-gauntlet@0.6.0 stop-hook",
                Some(Original::Gauntlet),
            ),
            ("npx -y agent-gauntlet stop-hook", Some(Original::Gauntlet)),
            (
                "bash ~/.claude/plugins/taskie/hooks/stop-hook.sh",
                Some(Original::Taskie),
            ),
            (
                "bash ${CLAUDE_PLUGIN_ROOT}/hooks/validate-ground-rules.sh",
                Some(Original::Taskie),
            ),
            ("node .claude/hooks/mine.cjs", None),
            ("bash hooks/stop-hook.sh", None),
            ("tollgate hook", None),
            ("echo agent", None),
        ] {
            assert_eq!(of(line), expected, "{line}");
        }
    }
}

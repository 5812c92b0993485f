//! The names of dialects and events.

use std::fmt;

use super::{EventKind, Protocol};

impl Protocol {
    /// The dialect that `--protocol` calls `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|protocol| protocol.as_str() == name)
    }

    /// What `--protocol` calls it.
    pub const fn as_str(self) -> &'static str {
        self.row().name
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What most agents call the events that guards watch, folded as in [`same`]. Others have names of
/// their own in their rows.
const EVENTS: &[(&str, EventKind)] = &[
    // Claude Code, Codex, Copilot, Cursor's imports, Kiro
    ("pretooluse", EventKind::PreTool),
    ("posttooluse", EventKind::PostTool),
    ("posttoolusefailure", EventKind::PostToolFailure),
    ("userpromptsubmit", EventKind::Prompt),
    ("stop", EventKind::Stop),
    ("subagentstop", EventKind::SubagentStop),
    ("sessionstart", EventKind::SessionStart),
    ("sessionend", EventKind::SessionEnd),
    ("configchange", EventKind::ConfigChange),
    // Tollgate's own
    ("pretool", EventKind::PreTool),
    ("posttool", EventKind::PostTool),
    ("posttoolfailure", EventKind::PostToolFailure),
    ("prompt", EventKind::Prompt),
];

/// What agents call the events that no guard watches, folded in the same way. A name that is not here
/// either is that of an unknown event.
const UNWATCHED: &str = "notification posttoolbatch userpromptexpansion userprompttransformed \
    stopfailure subagentstart precompact postcompact premodelswitch postmodelswitch \
    permissionrequest permissiondenied setup teammateidle taskcreated taskcompleted elicitation \
    elicitationresult worktreecreate worktreeremove instructionsloaded cwdchanged \
    filechanged directoryadded messagedisplay interrupt beforemodel aftermodel \
    beforetoolselection precompress afteragentresponse afteragentthought beforetabfileread \
    aftertabfileedit workspaceopen erroroccurred sessiondelete todocreated todocompleted";

impl EventKind {
    /// The kind of the event that any dialect calls `name`; [`EventKind::Other`] for the many
    /// that no guard watches.
    pub fn from_name(name: &str) -> Self {
        let own = Protocol::ALL.iter();
        let own = own.flat_map(|protocol| protocol.row().events);
        let mut all = EVENTS.iter().chain(own);
        let found = all.find(|(known, _)| same(known, name));
        found.map_or(Self::Other, |(_, kind)| *kind)
    }

    /// Whether any dialect has an event of this name.
    pub(super) fn is_name(name: &str) -> bool {
        Self::from_name(name) != Self::Other
            || UNWATCHED
                .split_ascii_whitespace()
                .any(|known| same(known, name))
    }

    /// The name that Claude Code gave it and most agents took over. Empty for
    /// [`EventKind::Other`], which is no single event.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PreTool => "PreToolUse",
            Self::PostTool => "PostToolUse",
            Self::PostToolFailure => "PostToolUseFailure",
            Self::Prompt => "UserPromptSubmit",
            Self::Stop => "Stop",
            Self::SubagentStop => "SubagentStop",
            Self::SessionStart => "SessionStart",
            Self::SessionEnd => "SessionEnd",
            Self::ConfigChange => "ConfigChange",
            Self::Other => "",
        }
    }

    /// Whether a tool is about to run, or ran.
    pub const fn is_tool(self) -> bool {
        matches!(self, Self::PreTool | Self::PostTool | Self::PostToolFailure)
    }

    /// Whether an agent or a sub-agent wants to end.
    pub const fn is_stop(self) -> bool {
        matches!(self, Self::Stop | Self::SubagentStop)
    }
}

/// Whether `name` is `folded`, apart from case and punctuation: a registration that a person wrote
/// says `pre-tool-use` as well as `PreToolUse`.
fn same(folded: &str, name: &str) -> bool {
    name.bytes()
        .filter(u8::is_ascii_alphanumeric)
        .map(|byte| byte.to_ascii_lowercase())
        .eq(folded.bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_protocol_is_found_by_its_name() {
        for protocol in Protocol::ALL.iter().copied() {
            assert_eq!(Protocol::from_name(protocol.as_str()), Some(protocol));
        }
        assert_eq!(Protocol::from_name("Claude"), None);
        assert_eq!(Protocol::from_name(""), None);
    }

    #[test]
    fn names_of_any_dialect_and_spelling_are_known() {
        for (name, kind) in [
            ("PreToolUse", EventKind::PreTool),
            ("preToolUse", EventKind::PreTool),
            ("pre_tool_use", EventKind::PreTool),
            ("BeforeTool", EventKind::PreTool),
            ("AfterAgent", EventKind::Stop),
            ("stop", EventKind::Stop),
            ("agentStop", EventKind::Stop),
            ("StopFailure", EventKind::Other),
            ("PostToolBatch", EventKind::Other),
            ("BeforeModel", EventKind::Other),
            ("", EventKind::Other),
        ] {
            assert_eq!(EventKind::from_name(name), kind, "{name}");
        }
    }

    #[test]
    fn a_name_that_no_dialect_has_is_known_to_be_none() {
        for name in [
            "PreToolUse",
            "Notification",
            "BeforeModel",
            "user_prompt_transformed",
        ] {
            assert!(EventKind::is_name(name), "{name}");
        }
        for name in [
            "",
            "Frobnicate",
            "PreToolUseX",
            "notification posttoolbatch",
        ] {
            assert!(!EventKind::is_name(name), "{name}");
        }
    }

    #[test]
    fn the_usual_name_of_a_kind_leads_back_to_it() {
        for (_, kind) in EVENTS {
            assert_eq!(EventKind::from_name(kind.as_str()), *kind);
        }
    }
}

//! What a call of any tool of any agent would do, but for shell commands, which
//! [`tollgate_shell::effects`] reads.

use std::path::PathBuf;

use crate::protocol::{Tool, ToolCall};
use tollgate_shell::{Action, Certainty, Effect, Target};

/// The effects of a call that is no shell command. `absolute` makes the paths that the agent wrote
/// absolute.
pub(crate) fn tool_effects(tool: &Tool<'_>, absolute: &dyn Fn(&str) -> PathBuf) -> Vec<Effect> {
    let target = |path: &str| Target::file(&absolute(path).to_string_lossy());
    let files = tool.files();
    let effects = files.iter().map(|path| {
        let target = target(path);
        let action = match &tool.call {
            ToolCall::Delete { .. } => Action::Delete(target),
            ToolCall::Shell { .. }
            | ToolCall::Write { .. }
            | ToolCall::Edit { .. }
            | ToolCall::Patch { .. }
            | ToolCall::Notebook { .. }
            | ToolCall::Delegate { .. }
            | ToolCall::Skill { .. }
            | ToolCall::Other => Action::Write(target),
        };
        Effect {
            action,
            certainty: Certainty::Certain,
            source: format!("{} {path}", tool.name),
        }
    });
    effects.collect()
}

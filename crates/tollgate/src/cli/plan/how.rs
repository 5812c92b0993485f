//! `tollgate plan how`: an action step by step, for agents that do not have the plugin.

use std::process::ExitCode;

use crate::plan::phase::Action;
use crate::plan::prompts;

/// The name of what holds for every action.
const GROUND_RULES: &str = "ground-rules";

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The action, or `ground-rules` for the rules of all actions
    #[arg(value_parser = what)]
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    GroundRules,
    Steps(Action),
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let text = match arguments.what {
        What::GroundRules => prompts::GROUND_RULES,
        What::Steps(action) => prompts::steps(action),
    };
    // What the plugin includes is a command away.
    let text = text
        .replace(
            "@${CLAUDE_PLUGIN_ROOT}/ground-rules.md",
            "tollgate plan how ground-rules",
        )
        .replace(
            "@${CLAUDE_PLUGIN_ROOT}/actions/{action}.md",
            "tollgate plan how {action}",
        );
    anstream::print!("{text}");
    ExitCode::SUCCESS
}

fn what(name: &str) -> Result<What, String> {
    if name == GROUND_RULES {
        return Ok(What::GroundRules);
    }
    let action = super::action(name).map_err(|names| format!("{names}, {GROUND_RULES}"))?;
    Ok(What::Steps(action))
}

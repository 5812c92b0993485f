//! `tollgate rules export`: what agents' own permissions can say of the rules, so that protection
//! remains where hooks are off.

use std::process::ExitCode;

use super::super::plain::Plain;
use super::super::{BOLD, CommandResult, DIM, GOOD, WARN};
use super::Project;
use crate::rules::native::{Extent, NATIVE, Native};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// The agents, separated by commas
    #[arg(long, value_delimiter = ',', required = true, value_parser = ["claude-code", "codex", "gemini"])]
    agent: Vec<String>,
    /// Print only the file of the agent
    #[arg(long)]
    print: bool,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let project = Project::right()?;
    let wanted = |native: &&Native| arguments.agent.iter().any(|name| name == native.agent);
    for native in NATIVE.iter().filter(wanted) {
        let (text, extents) = (native.write)(&project.merged.rules);
        if arguments.print {
            anstream::print!("{text}");
            continue;
        }
        out!(
            "{BOLD}{}{BOLD:#}  {DIM}{}{DIM:#}",
            native.agent,
            native.file
        );
        anstream::println!("{text}");
        for (id, extent) in &extents {
            let (style, word) = match extent {
                Extent::Full => (GOOD, "full"),
                Extent::Partial => (WARN, "partial"),
                Extent::None => (WARN, "not expressible"),
            };
            out!("  {style}{word:<15}{style:#}  {}", Plain(id));
        }
    }
    Ok(ExitCode::SUCCESS)
}

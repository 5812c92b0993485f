//! `tollgate schema`: what editors need to complete and check the configuration files.

use std::process::ExitCode;

use super::super::{CommandResult, Trouble, one_of};
use crate::config::reference::markdown;
use crate::gate::config::schemas;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// tollgate for tollgate.toml; config, check, review, global or ci for the YAML files of a project
    /// without it [default: all of them, by name]
    file: Option<String>,
    /// No effect: a schema is always JSON
    #[arg(long)]
    json: bool,
    /// Print the page docs/config.md
    #[arg(long, conflicts_with = "file")]
    markdown: bool,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let Arguments { file, .. } = arguments;
    if arguments.markdown {
        anstream::print!("{}", markdown());
        return Ok(ExitCode::SUCCESS);
    }
    let all = schemas();
    let value = match file {
        None => all
            .into_iter()
            .map(|(name, schema)| (name.to_owned(), schema))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Some(wanted) => {
            let names = one_of(all.iter().map(|(name, _)| *name));
            let found = all.into_iter().find(|(name, _)| name == wanted);
            let none = || Trouble::new(format!("there is no schema {wanted:?}")).hint(names);
            found.ok_or_else(none)?.1
        }
    };
    anstream::println!("{value:#}");
    Ok(ExitCode::SUCCESS)
}

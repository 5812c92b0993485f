//! `tollgate schema`: what editors need to complete and check the configuration files.

use std::process::ExitCode;

use super::super::{Answer, Trouble};
use crate::config::reference::markdown;
use crate::gate::config::schemas;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// tollgate for tollgate.toml; config, check, review, global or ci for the files of an existing
    /// home [default: all of them, by name]
    file: Option<String>,
    /// Accepted for the sake of uniformity: a schema is JSON
    #[arg(long)]
    json: bool,
    /// Print the reference of tollgate.toml in docs/config.md
    #[arg(long, conflicts_with = "file")]
    markdown: bool,
}

pub(super) fn run(arguments: &Arguments) -> Answer {
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
            let names: Vec<_> = all.iter().map(|(name, _)| *name).collect();
            let found = all.into_iter().find(|(name, _)| name == wanted);
            let Some((_, schema)) = found else {
                return Err(Trouble::new(format!("there is no file {wanted:?}"))
                    .hint(format!("one of {}", names.join(", "))));
            };
            schema
        }
    };
    anstream::println!("{value:#}");
    Ok(ExitCode::SUCCESS)
}

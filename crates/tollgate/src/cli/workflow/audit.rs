//! `tollgate workflow audit`

use crate::cli::Answer;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Answer {
    let _ = arguments.json;
    Ok(std::process::ExitCode::SUCCESS)
}

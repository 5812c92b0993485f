//! `tollgate status`: everything that is known about the project, on one screen.

mod overview;
mod print;

use std::process::ExitCode;

use super::Answer;
use overview::Overview;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Answer {
    let env = crate::hook::environment();
    let overview = Overview::of(&env).ok_or_else(super::no_project)?;
    if arguments.json {
        anstream::println!("{:#}", overview.to_json());
    } else {
        print::all(&overview);
    }
    Ok(ExitCode::SUCCESS)
}

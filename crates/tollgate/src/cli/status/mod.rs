//! `tollgate status`: everything that is known about the project, on one screen.

mod overview;
mod print;

use std::process::ExitCode;

use super::CommandResult;
use crate::gate::evidence::Verification;
use overview::Overview;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Exit with 0 if the gates are verified, 1 if they are not, 2 if that cannot be told
    #[arg(long)]
    exit_code: bool,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let env = crate::environment::current();
    let overview = Overview::of(&env).ok_or_else(super::no_project)?;
    if arguments.json {
        anstream::println!("{:#}", overview.to_json());
    } else {
        print::all(&overview);
    }
    if !arguments.exit_code {
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::from(match &overview.gates {
        None => Verification::Not(String::new()).exit(),
        Some(Ok(gates)) => gates.verification.exit(),
        Some(Err(_)) => Verification::Unknown(String::new()).exit(),
    }))
}

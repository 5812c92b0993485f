//! `tollgate status`: everything that is known about the project, on one screen.

mod overview;
mod print;

use std::process::ExitCode;

use super::global::{Verbosity, verbosity};
use super::{BOLD, CommandResult, HINT};
use crate::gate::evidence::Verification;
use overview::Overview;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Exit with 0 if the gates are verified, 1 if they are not, 2 if it is unknown
    #[arg(long)]
    exit_code: bool,
}

pub(super) fn run(arguments: &Arguments) -> CommandResult {
    let env = crate::environment::current();
    let overview = Overview::of(&env).ok_or_else(super::no_project)?;
    if arguments.json {
        anstream::println!("{:#}", overview.to_json());
    } else if verbosity() == Verbosity::Quiet {
        print::gates(&overview);
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

/// `tollgate` alone: where things are, and what to do next.
pub(super) fn with_next_step() -> ExitCode {
    let env = crate::environment::current();
    let next = if let Some(overview) = Overview::of(&env) {
        print::all(&overview);
        next_step(&overview)
    } else {
        out!("Tollgate is not set up in this directory.");
        "`tollgate init` sets it up, `tollgate demo` shows what it does".to_owned()
    };
    out!("{HINT}next{HINT:#}       {next}");
    out!("{BOLD}tollgate --help{BOLD:#} lists all commands.");
    ExitCode::SUCCESS
}

fn next_step(overview: &Overview) -> String {
    match &overview.gates {
        Some(Err(_)) => "`tollgate validate` says what is wrong with the configuration".to_owned(),
        _ if overview.agents.is_empty() => {
            "`tollgate install` registers Tollgate with your agents".to_owned()
        }
        None => "`tollgate init` proposes gates for this project".to_owned(),
        Some(Ok(gates)) if gates.verification.exit() != 0 => {
            "`tollgate run` runs the gates that are not verified".to_owned()
        }
        Some(Ok(_)) => "work with your agent; `tollgate top` shows what is decided".to_owned(),
    }
}

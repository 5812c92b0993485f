//! `tollgate status`: everything that is known about the project, on one screen.

mod overview;
mod print;

use std::process::ExitCode;

use super::{CommandResult, JsonArguments};
use overview::Overview;

pub(super) fn run(arguments: &JsonArguments) -> CommandResult {
    let env = crate::environment::current();
    let overview = Overview::of(&env).ok_or_else(super::no_project)?;
    if arguments.json {
        anstream::println!("{:#}", overview.to_json());
    } else {
        print::all(&overview);
    }
    Ok(ExitCode::SUCCESS)
}

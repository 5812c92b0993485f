//! `tollgate status`: everything that is known about the project, on one screen.

mod print;

use std::process::ExitCode;

use jiff::Timestamp;
use tollgate_core::project::Layout;

use super::global::{Verbosity, verbosity};
use super::{BOLD, CommandResult, HINT, Trouble};
use crate::gate::evidence::Verification;
use crate::project_view::{Configured, Gates, Observer, ProjectView};

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
    let now = Timestamp::now();
    let view = view(now).ok_or_else(super::no_project)?;
    if arguments.json {
        let text = serde_json::to_string_pretty(&view);
        let text = text.map_err(|error| Trouble::new(error.to_string()))?;
        anstream::println!("{text}");
    } else if verbosity() == Verbosity::Quiet {
        print::gates(&view.gates, now);
    } else {
        print::all(&view, now);
    }
    if !arguments.exit_code {
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::from(exit(&view.gates)))
}

fn view(now: Timestamp) -> Option<ProjectView> {
    let env = crate::environment::current();
    let layout = Layout::find(&env, env.cwd.as_deref())?;
    Some(Observer::brief(layout, env).view(now))
}

/// What the gates came to, as an exit code.
fn exit(gates: &Gates) -> u8 {
    match (gates.configured, &gates.verdict) {
        (Configured::Wrong, _) => Verification::Unknown(String::new()).exit(),
        (Configured::Yes, Some(verdict)) => verdict.exit(),
        (Configured::No, _) | (Configured::Yes, None) => Verification::Not(String::new()).exit(),
    }
}

/// `tollgate` alone: where things are, and what to do next.
pub(super) fn with_next_step() -> ExitCode {
    let now = Timestamp::now();
    let next = if let Some(view) = view(now) {
        print::all(&view, now);
        next_step(&view)
    } else {
        out!("Tollgate is not set up in this directory.");
        "`tollgate init` sets it up, `tollgate demo` shows what it does".to_owned()
    };
    out!("{HINT}next{HINT:#}       {next}");
    out!("{BOLD}tollgate --help{BOLD:#} lists all commands.");
    ExitCode::SUCCESS
}

fn next_step(view: &ProjectView) -> String {
    match view.gates.configured {
        Configured::Wrong => "`tollgate validate` says what is wrong with the configuration",
        _ if view.agents.is_empty() => "`tollgate install` registers Tollgate with your agents",
        Configured::No => "`tollgate init` proposes gates for this project",
        Configured::Yes if exit(&view.gates) != 0 => {
            "`tollgate run` runs the gates that are not verified"
        }
        Configured::Yes => "work with your agent; `tollgate top` shows what is decided",
    }
    .to_owned()
}

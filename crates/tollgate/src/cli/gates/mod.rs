//! The commands about gates: names, flags, outputs and exit codes of the original.
//!
//! Exit codes: `run`, `check`, `review` 0 if nothing is wrong, else 1; `detect` 0 if gates would
//! run, 2 if there is nothing to do; 1 wherever the configuration or git keeps a command from
//! its work.

mod ci;
mod detect;
mod health;
mod list;
mod progress;
mod run;
mod schema;
mod stop_hook;
mod validate;

use std::ffi::OsString;
use std::process::ExitCode;

use tollgate_core::env::Env;
use tollgate_core::project::Layout;

use super::plain::{Plain, PlainLines};
use super::{Answer, ERROR, HINT, WARN};
use crate::gate::Scope;
use crate::gate::config::{Config, ConfigError};
use crate::gate::jobs::Which;
use crate::gate::reset::reset;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Run the gates that the changes call for
    Run(run::Arguments),
    /// Run only the checks that the changes call for
    Check(run::Arguments),
    /// Run only the reviews that the changes call for
    Review(run::Arguments),
    /// Archive the logs and start over
    Clean(JsonArguments),
    /// Show what changed and which gates would run
    Detect(detect::Arguments),
    /// List the gates and what they guard
    List(JsonArguments),
    /// Check the configuration files
    Validate(validate::Arguments),
    /// Check the configuration files and whether the reviewers are installed
    Health(JsonArguments),
    /// What continuous integration needs
    Ci(ci::Arguments),
    /// Decide the agent's stop on standard input (what settings of the original register)
    StopHook(JsonArguments),
    /// Print the JSON Schema of a configuration file
    Schema(schema::Arguments),
}

#[derive(Debug, Default, clap::Args)]
pub(super) struct JsonArguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What the work is compared with.
#[derive(Debug, Default, clap::Args)]
struct ScopeArguments {
    /// Compare with this branch or commit [default: that of the configuration]
    #[arg(short, long, value_name = "REF")]
    base_branch: Option<String>,
    /// Look only at what this commit changed
    #[arg(short, long, value_name = "SHA")]
    commit: Option<String>,
    /// Look only at what is not committed
    #[arg(short, long)]
    uncommitted: bool,
}

impl ScopeArguments {
    fn scope(&self) -> Scope {
        Scope {
            base_branch: self.base_branch.clone(),
            commit: self.commit.clone(),
            uncommitted: self.uncommitted,
        }
    }
}

/// Reads the arguments of a command that agents and scripts start again and again, without
/// building the whole command line of Tollgate, which takes a third of its own work. None for all
/// else, help and mistakes too: then the whole one answers.
pub(super) fn read_alone(args: impl Iterator<Item = OsString>) -> Option<Command> {
    fn read<A: clap::Args + Default>(args: &[OsString]) -> Option<A> {
        match args {
            [_] => Some(A::default()),
            args => parse(args),
        }
    }
    // What clap takes for the program's name is the command's.
    let args: Vec<OsString> = args.skip(1).collect();
    let args = args.as_slice();
    Some(match args.first()?.to_str()? {
        "run" => Command::Run(read(args)?),
        "check" => Command::Check(read(args)?),
        "review" => Command::Review(read(args)?),
        "detect" => Command::Detect(read(args)?),
        "stop-hook" => Command::StopHook(read(args)?),
        _ => return None,
    })
}

fn parse<A: clap::Args>(args: &[OsString]) -> Option<A> {
    let alone = A::augment_args(clap::Command::new("alone"));
    let matches = alone.try_get_matches_from(args).ok()?;
    A::from_arg_matches(&matches).ok()
}

/// The commands that are not runs are not made part of this (`inline(never)`): they would stand
/// between what a run of gates runs, and every part of the program that is touched is a page fault.
pub(super) fn run(command: &Command) -> Answer {
    match command {
        Command::Run(arguments) => Ok(run::run(arguments, Which::All)),
        Command::Check(arguments) => Ok(run::run(arguments, Which::Checks)),
        Command::Review(arguments) => Ok(run::run(arguments, Which::Reviews)),
        Command::Clean(arguments) => Ok(clean(arguments)),
        Command::Detect(arguments) => Ok(detect::run(arguments)),
        Command::List(arguments) => Ok(list::run(arguments)),
        Command::Validate(arguments) => validate::run(arguments),
        Command::Health(arguments) => Ok(health::run(arguments)),
        Command::Ci(arguments) => ci::run(arguments),
        Command::StopHook(_) => Ok(stop_hook::run()),
        Command::Schema(arguments) => schema::run(arguments),
    }
}

/// A project with its configuration.
struct Project {
    layout: Layout,
    env: Env,
    config: Config,
}

impl Project {
    /// The project here, or what to say instead.
    fn load() -> Result<Self, ConfigError> {
        let env = crate::hook::environment();
        let here = env.cwd.clone().unwrap_or_default();
        let layout = Layout::find(&env, env.cwd.as_deref())
            .ok_or_else(|| ConfigError::Missing(here.join(".gauntlet/config.yml")))?;
        let config = Config::load(&layout, &env)?;
        Ok(Self {
            layout,
            env,
            config,
        })
    }

    /// The same with its warnings told, or the error told and the exit code.
    fn open(as_json: bool) -> Result<Self, ExitCode> {
        let project = Self::load().map_err(|error| unconfigured(&error, as_json))?;
        for problem in &project.config.warnings {
            anstream::eprintln!("{WARN}warning{WARN:#}: {}", Plain(&problem.to_string()));
        }
        Ok(project)
    }
}

/// Says that a command cannot do its work without a configuration.
fn unconfigured(error: &ConfigError, as_json: bool) -> ExitCode {
    let code = fail(error, as_json);
    hint(error);
    code
}

/// Says what to do about a configuration that is not there.
fn hint(error: &ConfigError) {
    if let Some(next) = error.next() {
        anstream::eprintln!("{HINT}hint{HINT:#}: {next}");
    }
}

/// Says why a command cannot do its work.
fn fail(error: &impl std::fmt::Display, as_json: bool) -> ExitCode {
    if as_json {
        let error = serde_json::json!({ "status": "error", "error": error.to_string() });
        anstream::println!("{error:#}");
    }
    // It quotes what files say, and files may say anything.
    anstream::eprintln!("{ERROR}Error:{ERROR:#} {}", PlainLines(&error.to_string()));
    ExitCode::FAILURE
}

#[inline(never)]
fn clean(arguments: &JsonArguments) -> ExitCode {
    let project = match Project::open(arguments.json) {
        Ok(project) => project,
        Err(code) => return code,
    };
    match reset(&project.layout, &project.config) {
        Ok(archived) => {
            if arguments.json {
                anstream::println!("{:#}", serde_json::json!({ "archived": archived }));
            } else if archived {
                anstream::println!("Logs archived successfully.");
            } else {
                anstream::println!("No logs to archive.");
            }
            ExitCode::SUCCESS
        }
        Err(error) => fail(&error, arguments.json),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without arguments nothing is parsed, so what clap would make of none must be the default.
    #[test]
    fn no_arguments_are_the_default() {
        fn is_so<A: clap::Args + Default + std::fmt::Debug>() {
            let parsed: A = parse(&["alone".into()]).unwrap();
            assert_eq!(format!("{parsed:?}"), format!("{:?}", A::default()));
        }
        is_so::<run::Arguments>();
        is_so::<detect::Arguments>();
        is_so::<JsonArguments>();
    }
}

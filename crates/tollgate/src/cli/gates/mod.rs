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

use std::process::ExitCode;

use tollgate_core::env::Env;
use tollgate_core::project::Layout;

use super::plain::Plain;
use super::{CommandResult, JsonArguments, Trouble, TroubleKind, WARN};
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

/// What the work is compared with.
#[derive(Debug, clap::Args)]
struct ScopeArguments {
    /// Compare with this branch or commit [default: that of the configuration]
    #[arg(short, long, value_name = "REF")]
    base_branch: Option<String>,
    /// Only what this commit changed
    #[arg(short, long, value_name = "SHA")]
    commit: Option<String>,
    /// Only what is not committed
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

pub(super) fn run(command: &Command) -> CommandResult {
    match command {
        Command::Run(arguments) => run::run(arguments, Which::All),
        Command::Check(arguments) => run::run(arguments, Which::Checks),
        Command::Review(arguments) => run::run(arguments, Which::Reviews),
        Command::Clean(arguments) => clean(arguments),
        Command::Detect(arguments) => detect::run(arguments),
        Command::List(arguments) => list::run(arguments),
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
        let env = crate::environment::current();
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

    /// The same, with its warnings printed.
    fn open(json: bool) -> Result<Self, Trouble> {
        let project = Self::load().map_err(|error| unconfigured(&error, json))?;
        for problem in &project.config.warnings {
            anstream::eprintln!("{WARN}warning{WARN:#}: {}", Plain(&problem.to_string()));
        }
        Ok(project)
    }
}

/// A command cannot do its work without a configuration.
fn unconfigured(error: &ConfigError, json: bool) -> Trouble {
    Trouble {
        next: error.next().map(Into::into),
        ..failed(error, json)
    }
}

/// Why a command cannot do its work.
fn failed(error: &impl std::fmt::Display, json: bool) -> Trouble {
    Trouble {
        kind: TroubleKind::Gates { json },
        ..Trouble::new(error.to_string())
    }
}

fn clean(arguments: &JsonArguments) -> CommandResult {
    let project = Project::open(arguments.json)?;
    let archived = reset(&project.layout, &project.config);
    let archived = archived.map_err(|error| failed(&error, arguments.json))?;
    if arguments.json {
        anstream::println!("{:#}", serde_json::json!({ "archived": archived }));
    } else if archived {
        anstream::println!("Logs archived successfully.");
    } else {
        anstream::println!("No logs to archive.");
    }
    Ok(ExitCode::SUCCESS)
}

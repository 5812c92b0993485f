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

use super::plain::{Plain, PlainLines};
use super::{Answer, DIM, ERROR, HINT, JsonArguments, WARN};
use crate::gate::Scope;
use crate::gate::config::{Config, ConfigError, Problem, Weight, Words};
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

    /// The same with its warnings told, or the error told and the exit code.
    fn open(as_json: bool) -> Result<Self, ExitCode> {
        let project = Self::load().map_err(|error| unconfigured(&error, as_json))?;
        project.config.warnings.iter().for_each(tell);
        project.propose_migration();
        Ok(project)
    }
}

impl Project {
    /// Names the way from the files of version 0.1 to `tollgate.toml`.
    fn propose_migration(&self) {
        let is_old = self.config.words == Words::Specification
            && self.layout.gates_home_name() == ".tollgate";
        if is_old {
            anstream::eprintln!(
                "{HINT}hint{HINT:#}: `tollgate init --migrate` makes one tollgate.toml of .tollgate/config.yml"
            );
        }
    }
}

/// Says that a command cannot do its work without a configuration. The original ends with 1 then,
/// and so does its home.
fn unconfigured(error: &ConfigError, as_json: bool) -> ExitCode {
    if error.is_in_toml()
        && let ConfigError::Wrong(problems) = error
    {
        if as_json {
            let list: Vec<_> = problems.iter().map(Problem::to_json).collect();
            let error = error.to_string();
            let all = serde_json::json!({ "status": "error", "error": error, "problems": list });
            anstream::println!("{all:#}");
        }
        for problem in problems {
            tell(problem);
        }
        return ExitCode::from(2);
    }
    let code = fail(error, as_json);
    hint(error);
    code
}

/// Says what is wrong in a file, with the line that it is about.
pub(super) fn tell(problem: &Problem) {
    let style = match problem.weight {
        Weight::Error => ERROR,
        Weight::Warning => WARN,
        Weight::Note => HINT,
    };
    let word = problem.weight.word();
    anstream::eprintln!("{style}{word}{style:#}: {}", Plain(&problem.to_string()));
    if let Some(text) = &problem.text {
        let line = problem.place.line;
        anstream::eprintln!("{DIM}{line:>5} | {}{DIM:#}", Plain(text));
    }
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

//! The commands about gates: names, flags, outputs and exit codes of the original.
//!
//! Exit codes: `run`, `check`, `review` 0 if nothing is wrong, else 1; `detect` 0 if gates would
//! run, 2 if there is nothing to do; 1 wherever the configuration or git keeps a command from
//! its work.

mod annotations;
mod ci;
mod detect;
mod health;
mod junit;
mod last_line;
mod lines;
mod list;
mod progress;
mod run;
mod schema;
mod skip;
mod stop_hook;
mod validate;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tollgate_core::env::Env;
use tollgate_core::project::{Layout, lexical};

use super::plain::Plain;
use super::{CommandResult, DIM, ERROR, HINT, JsonArguments, Trouble, TroubleKind, WARN};
use crate::gate::Scope;
use crate::gate::config::{Config, ConfigError, Problem, Weight, Words};
use crate::gate::jobs::Which;
use crate::gate::record::has_open_findings;
use crate::gate::reset::{archive_default, reset};
use crate::init::CONFIG;

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
    /// List the gates
    List(JsonArguments),
    /// Check the configuration files
    Validate(validate::Arguments),
    /// Check the configuration files and whether the reviewers are installed
    Health(JsonArguments),
    /// Run the gates in continuous integration
    Ci(ci::Arguments),
    /// Decide the agent's stop on standard input (for existing settings; new ones use `hook`)
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
    /// Only what changed since this commit
    #[arg(long, value_name = "REV")]
    since: Option<String>,
    /// Only the gates that check these files
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["commit", "uncommitted", "since"])]
    files: Vec<PathBuf>,
}

impl ScopeArguments {
    /// What is asked for, in the project with this root.
    fn scope(&self, root: &Path) -> Scope {
        let here = std::env::current_dir().unwrap_or_else(|_| root.to_owned());
        let inside = |file: &PathBuf| {
            let path = lexical(&here.join(file));
            let inside = path.strip_prefix(root).unwrap_or(&path);
            inside.to_string_lossy().into_owned()
        };
        Scope {
            base_branch: self.base_branch.clone(),
            commit: self.commit.clone(),
            uncommitted: self.uncommitted,
            since: self.since.clone(),
            files: self.files.iter().map(inside).collect(),
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
            .ok_or_else(|| ConfigError::Missing(here.join(CONFIG)))?;
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
        project.config.warnings.iter().for_each(report);
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
            err!(
                "{HINT}hint{HINT:#}: `tollgate init --migrate` makes one tollgate.toml of .tollgate/config.yml"
            );
        }
    }
}

/// A command cannot do its work without a configuration. The original ends with 1 then, and so does
/// its home.
fn unconfigured(error: &ConfigError, json: bool) -> Trouble {
    if error.is_in_toml()
        && let ConfigError::Wrong(problems) = error
    {
        if json {
            let list: Vec<_> = problems.iter().map(Problem::to_json).collect();
            let error = error.to_string();
            let all = serde_json::json!({ "status": "error", "error": error, "problems": list });
            anstream::println!("{all:#}");
        }
        problems.iter().for_each(report);
        return Trouble {
            kind: TroubleKind::Reported,
            ..Trouble::new(error.to_string())
        };
    }
    Trouble {
        next: error.next().map(Into::into),
        ..failed(error, words_of(error), json)
    }
}

/// In whose words is said what is wrong.
fn words_of(error: &ConfigError) -> Words {
    match error {
        ConfigError::Missing(path) if path.ends_with(CONFIG) => Words::Own,
        ConfigError::Wrong(_) if error.is_in_toml() => Words::Own,
        ConfigError::Missing(_) | ConfigError::Wrong(_) => Words::Specification,
    }
}

/// Prints what is wrong in a file, with the line that it is about.
pub(super) fn report(problem: &Problem) {
    let style = match problem.weight {
        Weight::Error => ERROR,
        Weight::Warning => WARN,
        Weight::Note => HINT,
    };
    let word = problem.weight.word();
    err!("{style}{word}{style:#}: {}", Plain(&problem.to_string()));
    if let Some(text) = &problem.text {
        let line = problem.place.line;
        err!("{DIM}{line:>5} | {}{DIM:#}", Plain(text));
    }
}

/// Why a command cannot do its work, in the words of its home.
fn failed(error: &impl std::fmt::Display, words: Words, json: bool) -> Trouble {
    Trouble {
        kind: TroubleKind::Gates { words, json },
        ..Trouble::new(error.to_string())
    }
}

fn clean(arguments: &JsonArguments) -> CommandResult {
    let loaded = Project::load();
    let words = loaded.as_ref().map(|project| project.config.words);
    let archived = match &loaded {
        // The original's logs can be cleaned wherever they are.
        Err(ConfigError::Missing(_)) => {
            let env = crate::environment::current();
            let project = Layout::find(&env, env.cwd.as_deref());
            let root = project.map(|layout| layout.root().to_owned());
            archive_default(&root.or(env.cwd).unwrap_or_default())
        }
        Ok(_) | Err(ConfigError::Wrong(_)) => {
            let project = Project::open(arguments.json)?;
            if has_open_findings(&project.layout, &project.env) {
                super::trust::no_agent("clean")?;
            }
            reset(&project.layout, &project.config, &project.env)
        }
    };
    let archived = archived.map_err(|error| {
        failed(
            &error,
            words.unwrap_or(Words::Specification),
            arguments.json,
        )
    })?;
    if arguments.json {
        anstream::println!("{:#}", serde_json::json!({ "archived": archived }));
    } else if archived {
        out!("Logs archived successfully.");
    } else {
        out!("No logs to archive.");
    }
    Ok(ExitCode::SUCCESS)
}
